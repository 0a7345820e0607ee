//! `ign suggest`: a pool in, rows worth a label out.

use crate::folder::Folder;
use crate::tables::{column, header, labelled, linear, numbers, texts};

const ENSEMBLE: &str =
    "--set train.crossfit_folds=2 --set train.crossfit_repeats=1 --set neighbours.count=32";

/// Rows like those of `t.csv` with names, and one, `stray`, unlike all of them.
const POOL: &str =
    "id,b,a,score\nr1,0.5,0.5,007\nr2,0.4,0.6,x\nr3,0.1,0.9,\nstray,-70,90,1\nr5,0.9,0.1,2\nr6,0.2,0.3,3\n";

/// A folder with the table `t.csv`, the model `e.ign` of its `y` that keeps rows, and `pool.csv`.
fn with_ensemble() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", linear(120));
    folder.write("pool.csv", POOL);
    folder.train(&format!("t.csv --target y -o e.ign --no-report --quiet {ENSEMBLE}")).succeeds();
    folder
}

#[test]
fn rows_are_suggested_best_first_with_their_numbers_predictions_and_kept_columns() {
    let folder = with_ensemble();
    let run = folder.ign("suggest e.ign pool.csv -n 3").succeeds();
    assert_eq!(header(&run.stdout), ["row", "score", "mean", "std", "std_latent", "familiarity"]);
    assert_eq!(run.stderr, "");
    let (rows, scores) = (column(&run.stdout, "row"), column(&run.stdout, "score"));
    assert_eq!((rows.len(), rows[0]), (3, 4.0), "{}", run.stdout); // counted from 1
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]));
    // What is predicted is what `ign predict` says.
    let predicted = folder.ign("predict --columns all e.ign pool.csv").succeeds().stdout;
    for name in ["mean", "std", "std_latent", "familiarity"] {
        let (own, all) = (column(&run.stdout, name), column(&predicted, name));
        assert!(own.iter().zip(&rows).all(|(own, row)| *own == all[*row as usize - 1]), "{name}");
    }
    // A copied column keeps its name and its spelling, in the rows' order.
    let kept = folder.ign("suggest e.ign pool.csv -n 6 --keep id,score,id").succeeds().stdout;
    let names = ["row", "score_suggested", "mean", "std", "std_latent", "familiarity", "id", "score"];
    assert_eq!(header(&kept), names);
    let all = ["r1", "r2", "r3", "stray", "r5", "r6"];
    for ((row, id), cell) in column(&kept, "row").iter().zip(texts(&kept, "id")).zip(texts(&kept, "score")) {
        assert_eq!(id, all[*row as usize - 1]);
        assert!(id != "r1" || cell == "007");
    }
}

#[test]
fn every_format_holds_the_same_rows_and_every_run_writes_the_same_bytes() {
    let folder = with_ensemble();
    folder.ign("suggest e.ign pool.csv -n 4 --keep id -o s.csv --threads 1").succeeds();
    let run = folder.ign("suggest e.ign pool.csv -n 4 --keep id -o s.parquet").succeeds();
    assert_eq!(run.stderr, "4 of 6 rows suggested in s.parquet\n");
    let lines = folder.ign("suggest e.ign pool.csv -n 4 --keep id --output-format jsonl").succeeds().stdout;
    let text = folder.text("s.csv");
    let piped = folder.ign_reading("suggest e.ign - -n 4 --keep id", POOL.as_bytes()).succeeds();
    assert_eq!(text, piped.stdout);
    let again = folder.ign("suggest e.ign pool.csv -n 4 --keep id --quiet -o again.parquet").succeeds();
    assert_eq!((again.stderr.as_str(), folder.read("s.parquet")), ("", folder.read("again.parquet")));
    for (line, id) in lines.lines().zip(texts(&text, "id")) {
        let row: serde_json::Value = serde_json::from_str(line).expect("an object a line");
        assert_eq!(row["id"], id.as_str());
    }
}

#[test]
fn the_largest_and_the_smallest_value_are_looked_for_on_their_own_sides() {
    let folder = with_ensemble();
    folder.write("inside.csv", "a,b\n0.5,0.5\n0.98,0.02\n0.02,0.98\n0.4,0.6\n"); // 2a − b: 0.5, 1.94, −0.94, 0.2
    let first = |flags: &str| {
        let out = folder.ign(&format!("suggest e.ign inside.csv -n 1 {flags}")).succeeds().stdout;
        (column(&out, "row")[0], column(&out, "score")[0])
    };
    assert_eq!(first("--maximise").0, 2.0);
    assert_eq!(first("--minimise").0, 3.0);
    let (row, score) = first("--maximise --best -5");
    assert!(row == 2.0 && score > 5.0, "{score}"); // from −5 to almost 2
}

#[test]
fn classes_come_with_label_probabilities_and_familiarity() {
    let folder = Folder::new();
    folder.write("t.csv", labelled(150, &["low", "high"]));
    folder.write("pool.csv", POOL);
    folder.train(&format!("t.csv --target y -o e.ign --no-report --quiet {ENSEMBLE}")).succeeds();
    let out = folder.ign("suggest e.ign pool.csv -n 2 --keep id").succeeds().stdout;
    let names = header(&out);
    assert_eq!(names[..5], ["row", "score", "label", "p_high", "p_low"], "{names:?}");
    assert_eq!(names[names.len() - 2..], ["familiarity", "id"]);
    assert_eq!(texts(&out, "id")[0], "stray");
    folder.refuses("suggest e.ign pool.csv --maximise", &["classes have no largest", "--maximise"]);
    folder.refuses("suggest e.ign pool.csv --target z", &["`z` is not predicted", "predicts y"]);
}

#[test]
fn images_come_with_their_files_and_graphs_with_their_numbers() {
    let folder = Folder::with_image_model();
    let out = folder.ign("suggest m.ign pets -n 3").succeeds().stdout;
    assert_eq!(header(&out).last().expect("a column"), "file");
    let files = texts(&out, "file");
    assert!(files.len() == 3 && files.iter().all(|file| file.ends_with(".png")), "{files:?}");
    folder.refuses("suggest m.ign pets --keep file", &["images have no columns to keep", "file's name"]);
    folder.write("pool.csv", POOL);
    folder.refuses("suggest m.ign pool.csv", &["m.ign reads images, and pool.csv has none"]);
    let line = |n: usize, label: &str| {
        format!("{{\"nodes\": {n}, \"edges\": [[0, {}]], \"label\": \"{label}\"}}\n", n - 1)
    };
    let graphs: String = (0..60).map(|i| line(2 + i % 7, ["few", "many"][usize::from(i % 7 > 3)])).collect();
    folder.write("g.jsonl", graphs);
    folder.train("g.jsonl -o g.ign --quiet --set encoder.graph.width=8").succeeds();
    let out = folder.ign("suggest g.ign g.jsonl -n 2").succeeds().stdout;
    assert!(column(&out, "row").iter().all(|row| (1.0..=60.0).contains(row)));
    folder.refuses("suggest g.ign g.jsonl --keep label", &["graphs have no columns to keep"]);
}

#[test]
fn a_model_that_keeps_no_rows_suggests_too_and_needs_the_best_value() {
    let folder = Folder::with_model();
    folder.write("pool.csv", POOL);
    let (names, _) = numbers(&folder.ign("suggest m.ign pool.csv -n 2").succeeds().stdout);
    assert_eq!(names, ["row", "score", "mean", "std", "std_latent"]);
    folder.refuses(
        "suggest m.ign pool.csv --minimise",
        &["keeps no training rows", "--best", "--without-neighbours"],
    );
    folder.ign("suggest m.ign pool.csv --minimise --best 0.5").succeeds();
    folder.refuses("suggest m.ign pool.csv --minimise --best nan", &["NaN", "finite number"]);
    folder.refuses("suggest m.ign pool.csv --best 1", &["--maximise", "--minimise"]);
    folder.refuses("suggest m.ign pool.csv --maximise --minimise", &["cannot be used with"]);
}

#[test]
fn of_several_targets_one_is_named_to_be_maximised() {
    let folder = Folder::new();
    let rows: String = linear(120).lines().skip(1).map(|row| format!("{row},{}\n", row.len())).collect();
    folder.write("t.csv", format!("a,b,y,z\n{rows}"));
    folder.write("pool.csv", POOL);
    folder.train("t.csv --target y --target z -o m.ign --no-report --quiet").succeeds();
    let out = folder.ign("suggest m.ign pool.csv -n 1").succeeds().stdout;
    assert_eq!(header(&out)[..4], ["row", "score", "y_mean", "y_std"]);
    folder.refuses("suggest m.ign pool.csv --maximise --best 1", &["y, z", "--target"]);
    folder.ign("suggest m.ign pool.csv --maximise --best 1 --target z").succeeds();
    folder.refuses("suggest m.ign pool.csv --target x", &["`x` is not predicted", "y, z"]);
}

#[test]
fn a_short_pool_is_suggested_whole_with_a_note_and_an_empty_one_is_refused() {
    let folder = Folder::with_model();
    folder.write("pool.csv", POOL);
    let run = folder.ign("suggest m.ign pool.csv").succeeds();
    assert_eq!(run.stdout.lines().count(), 7);
    assert!(run.stderr.contains("note: the pool has 6 rows: all are suggested"), "{}", run.stderr);
    assert_eq!(folder.ign("suggest m.ign pool.csv -q").succeeds().stderr, "");
    folder.write("none.csv", "a,b\n");
    folder.refuses("suggest m.ign none.csv -o s.csv", &["none.csv: there is not one row"]);
    folder.write("nothing.csv", "");
    folder.refuses("suggest m.ign nothing.csv -o s.csv", &["nothing.csv: the file is empty"]);
    folder.refuses("suggest m.ign pool.csv -n 0", &["--count", "1.."]);
}

#[test]
fn pools_outputs_and_columns_that_are_not_there_are_named() {
    let folder = Folder::with_model();
    folder.write("pool.csv", POOL);
    folder.refuses("suggest m.ign missing.csv -o s.csv", &["missing.csv: no such file"]);
    folder.refuses("suggest missing.ign pool.csv", &["missing.ign"]);
    folder.refuses("suggest m.ign pool.csv --keep idd", &["pool.csv: column `idd`", "did you mean `id`?"]);
    folder.refuses("suggest m.ign pool.csv -o s.xls", &["what format should s.xls have?"]);
    folder.refuses("suggest m.ign pool.csv -o pool.csv", &["it would overwrite the input pool.csv"]);
    folder.refuses("suggest m.ign pool.csv -o no/s.csv", &["there is no folder no"]);
    folder.refuses("suggest m.ign pool.csv t.csv", &["takes one input, and 2 were named"]);
    folder.write("short.csv", "a,id\n1,r1\n");
    folder.refuses("suggest m.ign short.csv -o s.csv", &["short.csv: column `b`", "not among the 2 columns"]);
    folder.write("words.csv", "a,b\n1,2\n1,two\n");
    folder.refuses("suggest m.ign words.csv -o s.csv", &["words.csv:3: column `b`: expected a number"]);
}

#[test]
fn the_help_explains_the_flags() {
    let help = Folder::new().ign("suggest --help").succeeds().stdout;
    for words in ["--maximise", "--minimise", "--best", "--keep", "teach most", "expected improvement"] {
        assert!(help.contains(words), "no `{words}` in {help}");
    }
}
