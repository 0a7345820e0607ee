//! Tables in several files: trained on as one, scored one by one.

use crate::folder::Folder;
use crate::tables::{column, linear};

/// `t.csv` and the same rows in `shards/0.csv` to `shards/3.csv`.
fn parted() -> Folder {
    let folder = Folder::new();
    let text = linear(200);
    folder.write("t.csv", &text);
    let (header, rows) = text.split_once('\n').expect("a header");
    let rows: Vec<&str> = rows.lines().collect();
    for (k, part) in rows.chunks(50).enumerate() {
        folder.put(&format!("shards/{k}.csv"), format!("{header}\n{}\n", part.join("\n")));
    }
    folder
}

#[test]
fn shards_make_the_model_of_the_whole_table() {
    let folder = parted();
    folder.train("t.csv --target y -o whole.ign --quiet --no-report").succeeds();
    folder.train("shards/*.csv --target y -o pattern.ign --quiet --no-report").succeeds();
    folder.train("shards --target y -o folder.ign --quiet --no-report").succeeds();
    assert_eq!(folder.read("whole.ign"), folder.read("pattern.ign"));
    assert_eq!(folder.read("whole.ign"), folder.read("folder.ign"));
    folder.train("shards/*.csv --target y --quiet --no-report").succeeds();
    assert!(folder.names().contains(&"shards.ign".to_owned()), "{:?}", folder.names());
}

#[test]
fn every_shard_gets_an_output_and_those_that_are_there_stay() {
    let folder = parted();
    folder.train("t.csv --target y -o m.ign --quiet --no-report").succeeds();
    folder.ign("predict m.ign t.csv -o whole.csv --quiet").succeeds();
    let run = folder.ign("predict m.ign shards/*.csv --out-dir out --shard 2/3").succeeds();
    assert!(run.stderr.contains("50 rows predicted into out"), "{}", run.stderr);
    folder.write("out/1.csv", "kept");
    let run = folder.ign("predict m.ign shards --out-dir out").succeeds();
    assert!(
        run.stderr.contains("150 rows predicted") && run.stderr.contains("1 output was there already"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.text("out/1.csv"), "kept");
    std::fs::remove_file(folder.path("out/1.csv")).expect("there");
    folder.ign("predict m.ign shards --out-dir out --quiet").succeeds();
    let whole = column(&folder.text("whole.csv"), "mean");
    let parts: Vec<f64> =
        (0..4).flat_map(|k| column(&folder.text(&format!("out/{k}.csv")), "mean")).collect();
    assert_eq!(whole, parts, "a row's prediction does not depend on the rows beside it");
    // Outputs of one folder are of one model.
    folder.train("t.csv --target y -o other.ign --quiet --no-report --seed 5").succeeds();
    folder.refuses("predict other.ign shards --out-dir out", &["holds predictions of another model"]);
    for other in ["--digits 3", "--output-format jsonl", "--columns all"] {
        folder.refuses(&format!("predict m.ign shards --out-dir out {other}"), &["digits or format"]);
    }
}

#[test]
fn outputs_in_parquet_have_all_digits() {
    let folder = parted();
    folder.train("t.csv --target y -o m.ign --quiet --no-report").succeeds();
    for command in [
        "shards/0.csv -o in/0.parquet --output-format parquet --keep a,b",
        "in --out-dir out",
        "in/0.parquet -o one.parquet",
    ] {
        std::fs::create_dir_all(folder.path("in")).expect("writable");
        folder.ign(&format!("predict m.ign {command} --quiet")).succeeds();
    }
    assert_eq!(folder.read("out/0.parquet"), folder.read("one.parquet"));
}

#[test]
fn outputs_lie_in_folders_as_the_files_of_a_pattern_do() {
    let folder = parted();
    folder.train("t.csv --target y -o m.ign --quiet --no-report").succeeds();
    folder.put("shards/2025/0.csv", folder.text("shards/0.csv"));
    folder.put("shards/2026/0.csv", folder.text("shards/1.csv"));
    folder.ign("predict m.ign shards/20*/*.csv --out-dir out --quiet").succeeds();
    folder.ign("predict m.ign shards/**/*.csv --out-dir all --quiet").succeeds();
    folder.ign("predict m.ign ./shards/?.csv --out-dir here --quiet").succeeds();
    let names = folder.names();
    for name in ["out/2025/0.csv", "out/2026/0.csv", "all/0.csv", "all/2025/0.csv", "here/3.csv"] {
        assert!(names.contains(&name.to_owned()), "{name} in {names:?}");
    }
}

#[test]
fn shards_that_cannot_be_scored_are_refused() {
    let folder = parted();
    folder.train("t.csv --target y -o m.ign --quiet --no-report").succeeds();
    folder.put("more/0.csv", folder.text("shards/0.csv"));
    folder.refuses("predict m.ign shards/0.csv more/0.csv --out-dir out", &["two files would write"]);
    folder.refuses("predict m.ign none/*.csv --out-dir out", &["no file matches", "hint:"]);
    folder.refuses("predict m.ign shards --out-dir shards", &["would be overwritten"]);
    folder.refuses("predict m.ign shards --shard 1/2", &["--out-dir"]);
    folder.refuses("predict m.ign shards --shard 1/2 -o s.csv", &["--out-dir"]);
    // No input is written over, by whatever name it goes.
    for command in ["predict m.ign shards -o shards/1.csv", "train shards/*.csv --target y -o shards/1.csv"] {
        folder.refuses(command, &["would overwrite the input"]);
    }
    folder.refuses("predict m.ign shards --out-dir shards/out", &["lies in the folder of the input"]);
    folder.put("full/1.csv", "not ours");
    folder.refuses("predict m.ign shards --out-dir full", &["which this command did not write"]);
    folder.refuses("predict m.ign shards shards/0.csv --out-dir out", &["two files would write"]);
    folder.refuses("predict m.ign shards --out-dir out --shard 3/2", &["`3/2` is no part"]);
    folder.put("both/t.csv", folder.text("shards/0.csv"));
    folder.put("both/more/t.csv", folder.text("shards/1.csv"));
    folder.refuses("train both --target y", &["both holds tables and other things", "'both/**/*.csv'"]);
    folder.put("shards/2.csv", "y\n1\n");
    folder.refuses("train shards --target y -o x.ign", &["2.csv", "the column is missing here"]);
}

#[test]
fn a_request_that_fails_does_not_bind_the_folder_of_outputs() {
    let folder = parted();
    folder.train("t.csv --target y -o m.ign --quiet --no-report").succeeds();
    assert_eq!(folder.ign("predict m.ign shards --out-dir out --keep none").code, Some(2));
    folder.ign("predict m.ign shards --out-dir out --quiet").succeeds();
}

#[test]
fn processes_of_mpirun_do_not_do_the_same_work_twice() {
    let folder = Folder::with_model();
    let command = |words: &str| {
        let mut command = folder.command(words);
        command.env("OMPI_COMM_WORLD_RANK", "0").env("OMPI_COMM_WORLD_SIZE", "2");
        command.output().expect("the program starts")
    };
    let refused = command("predict m.ign t.csv");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("hint: `ign train` parts networks"));
    // Of one file the first process takes it.
    assert!(command("predict m.ign t.csv --out-dir out --quiet").status.success());
    assert!(folder.names().contains(&"out/t.csv".to_owned()));
}
