//! What a terminal receives: names from a model file may hold escape sequences, which are shown and not sent.

use crate::folder::Folder;
use crate::tables::labelled;

/// Turns text red; the other one clears the screen in terminals that obey C1 controls.
const HOSTILE: [&str; 2] = ["\u{1b}[31mlow", "to\u{9b}2Jp"];

fn with_hostile_classes() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", labelled(120, &HOSTILE));
    folder.train("t.csv --target y -o m.ign --quiet").succeeds();
    folder
}

#[test]
fn escape_sequences_in_class_names_are_shown_and_not_sent() {
    let folder = with_hostile_classes();
    for command in [
        "info m.ign",
        "info m.ign --json",
        "info m.ign --config",
        "evaluate m.ign t.csv",
        "evaluate m.ign t.csv --json",
        "evaluate m.ign t.csv --ood t.csv",
        "inspect m.ign --data t.csv",
        "inspect m.ign --data t.csv --json",
    ] {
        let run = folder.ign(command).succeeds();
        for text in [&run.stdout, &run.stderr] {
            let sent = text.chars().find(|letter| letter.is_control() && *letter != '\n');
            assert_eq!(sent, None, "`ign {command}` sends a control character:\n{text:?}");
        }
    }
    assert!(folder.ign("info m.ign").succeeds().stdout.contains("\\u{1b}[31mlow"));
    let run = folder.train("t.csv --target y -o again.ign").succeeds();
    assert!(!run.stderr.contains('\u{1b}') && !run.stdout.contains('\u{1b}'), "{run:?}");
}

#[test]
fn programs_still_read_the_names_as_they_are() {
    let folder = with_hostile_classes();
    let info = folder.ign("info m.ign --json").succeeds().json();
    let text = info.to_string();
    for name in HOSTILE {
        let quoted = serde_json::Value::from(name).to_string();
        assert!(text.contains(&quoted), "no {quoted} in {text}");
    }
    let predictions = folder.ign("predict m.ign t.csv").succeeds().stdout;
    assert!(predictions.contains(HOSTILE[0]), "data are written as they are");
}

/// `/dev/zero` never ends.
#[cfg(target_os = "linux")]
#[test]
fn an_endless_configuration_is_refused() {
    let folder = Folder::with_model();
    folder.refuses_to_train("t.csv --target y -o n.ign --config /dev/zero", &["/dev/zero", "bytes"]);
}
