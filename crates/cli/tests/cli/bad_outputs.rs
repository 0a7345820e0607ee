//! Places that cannot be written to. The old file stays, and nothing else appears.

use crate::folder::{Folder, TINY};

#[test]
fn an_impossible_place_for_a_model_is_refused_before_training() {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("sub")).expect("a temporary folder is writable");
    folder.refuses_to_train(
        "t.csv --target y -o none/m.ign",
        &["none/m.ign", "there is no folder none", "--out"],
    );
    folder.refuses_to_train("t.csv --target y -o sub", &["sub", "it is a folder", "--out"]);
    folder.refuses_to_train("t.csv --target y -o t.csv/m.ign", &["t.csv/m.ign"]);
}

#[test]
fn a_model_never_overwrites_its_table() {
    let folder = Folder::with_model();
    folder.refuses_to_train("t.csv --target y -o t.csv", &["t.csv", "--out"]);
    folder.refuses_to_train("t.csv --target y -o ./t.csv", &["t.csv", "--out"]);
}

#[test]
fn an_impossible_place_for_predictions_is_refused() {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("sub")).expect("a temporary folder is writable");
    folder.refuses("predict m.ign t.csv -o none/p.csv", &["none/p.csv", "no such folder"]);
    folder.refuses("predict m.ign t.csv -o sub", &["sub", "directory"]);
}

#[test]
fn a_full_disk_is_told_with_the_file() {
    let folder = Folder::with_model();
    folder.refuses("predict m.ign t.csv -o /dev/full", &["/dev/full", "No space left"]);
    folder
        .refuses("predict m.ign t.csv -o /dev/full --output-format parquet", &["/dev/full", "No space left"]);
    folder.refuses("data generate levy -o /dev/full", &["/dev/full", "No space left"]);
}

/// A limit on the size of files stands in for a full disk: `write` fails in the middle of the file, and SIGXFSZ, which
/// comes with it, must not kill the program. 4 blocks are 2 or 4 KiB, less than model and predictions need.
fn with_little_space(folder: &Folder, command: &str) -> crate::folder::Run {
    folder.shell(&format!("ulimit -f 4; exec $IGN {command}"))
}

#[test]
fn a_disk_that_fills_up_while_a_model_is_saved_leaves_the_old_model() {
    let folder = Folder::with_model();
    let before = folder.files();
    assert!(before["m.ign"].as_ref().is_some_and(|bytes| bytes.len() > 4096), "the limit must strike");
    let run = with_little_space(&folder, &format!("train t.csv --target y -o m.ign {TINY} --seed 1 --quiet"));
    run.is_refused(&["m.ign"]);
    assert!(folder.files() == before, "{:?}", folder.names());
    // The same without an old model.
    let run = with_little_space(&folder, &format!("train t.csv --target y -o n.ign {TINY} --quiet"));
    run.is_refused(&["n.ign"]);
    assert!(folder.files() == before, "{:?}", folder.names());
}

#[test]
fn a_disk_that_fills_up_while_predictions_are_written_leaves_the_old_ones() {
    let folder = Folder::with_model();
    folder.write("p.csv", "old");
    folder.write("p.parquet", "old");
    let before = folder.files();
    // Compressed or in blocks, 200 rows would fit.
    let text = folder.text("t.csv");
    let (header, rows) = text.split_once('\n').expect("a header");
    folder.write("long.csv", format!("{header}\n{}", rows.repeat(100)));
    for out in ["p.csv", "p.parquet"] {
        with_little_space(&folder, &format!("predict m.ign long.csv -o {out}")).is_refused(&[out]);
        assert_eq!(folder.read(out), b"old");
    }
    let after: Vec<String> = folder.names().into_iter().filter(|name| name != "long.csv").collect();
    assert_eq!(after, before.into_keys().collect::<Vec<_>>());
}

#[test]
fn a_link_to_a_model_stays_a_link() {
    let folder = Folder::with_model();
    std::os::unix::fs::symlink(folder.path("m.ign"), folder.path("link.ign")).expect("links work");
    let before = folder.read("m.ign");
    folder.train("t.csv --target y -o link.ign --seed 1 --quiet").succeeds();
    assert!(std::fs::symlink_metadata(folder.path("link.ign")).expect("there").is_symlink());
    assert_ne!(folder.read("m.ign"), before);
}
