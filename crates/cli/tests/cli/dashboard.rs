//! `--dashboard` where there is no terminal: tests have none. And where the program was built without it.

use crate::folder::Folder;
use crate::tables::linear;

fn with_table() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", linear(80));
    folder
}

#[cfg(feature = "dashboard")]
#[test]
fn without_a_terminal_a_note_and_the_usual_lines_take_its_place() {
    let folder = with_table();
    let run = folder.train("t.csv --target y -o m.ign --dashboard").succeeds();
    assert!(run.stderr.contains("note: no dashboard: it needs a terminal on standard error"), "{run:?}");
    assert!(
        run.stderr.contains("pretraining epoch 1:") && run.stderr.contains("likelihood epoch 2:"),
        "{run:?}"
    );
    assert!(!run.stderr.contains('\x1b') && !run.stdout.contains('\x1b'), "no escape sequences: {run:?}");
    folder.train("t.csv --target y -o plain.ign --quiet").succeeds();
    assert!(folder.read("m.ign") == folder.read("plain.ign"), "watching changes nothing");
}

#[cfg(feature = "dashboard")]
#[test]
fn json_output_has_no_dashboard_and_stays_one_object() {
    let folder = with_table();
    let run = folder.train("t.csv --target y -o m.ign --dashboard --json").succeeds();
    assert!(run.json()["metrics"].is_object());
    assert_eq!(run.stderr.matches("no dashboard").count(), 1, "{run:?}");
    assert!(run.stderr.contains("`--json`"), "{run:?}");
}

#[cfg(feature = "dashboard")]
#[test]
fn folds_have_lines_and_say_so() {
    let run = with_table().train("t.csv --target y -o m.ign --dashboard --folds 2").succeeds();
    assert!(run.stderr.contains("note: folds print one line each"), "{run:?}");
    assert!(run.stderr.contains("fold 2 of 2"), "{run:?}");
}

#[test]
fn quiet_and_dashboard_contradict_each_other() {
    with_table()
        .refuses_to_train("t.csv --target y -o m.ign --dashboard --quiet", &["--dashboard", "--quiet"]);
    Folder::new().refuses("demo --dashboard --quiet", &["--dashboard", "--quiet"]);
}

#[cfg(not(feature = "dashboard"))]
#[test]
fn a_build_without_the_dashboard_names_the_feature() {
    with_table()
        .refuses_to_train("t.csv --target y -o m.ign --dashboard", &["no dashboard", "feature `dashboard`"]);
    Folder::new().refuses("demo --dashboard", &["no dashboard", "feature `dashboard`"]);
}
