//! A reader that goes away is no error: `ign … | head -1`.

use crate::folder::Folder;

/// Expects exit code 0 of the left side of a pipe, and silence. `PIPESTATUS` is not POSIX; a file is.
#[track_caller]
fn ends_in_peace(folder: &Folder, command: &str) {
    let run = folder.shell(&format!("{{ $IGN {command}; echo $? > code; }} | {{ read line; }}"));
    assert_eq!(folder.text("code").trim(), "0", "{}", run.stderr);
    assert_eq!(run.stderr, "", "`ign {command}`");
}

#[test]
fn a_prediction_whose_reader_goes_away_is_a_success() {
    let folder = Folder::with_model();
    let text = folder.text("t.csv");
    let (header, rows) = text.split_once('\n').expect("a header");
    folder.write("long.csv", format!("{header}\n{}", rows.repeat(200))); // far more than a pipe holds
    for format in ["csv", "jsonl"] {
        ends_in_peace(&folder, &format!("predict m.ign long.csv --output-format {format}"));
    }
}

#[test]
fn a_generated_table_whose_reader_goes_away_is_a_success() {
    let folder = Folder::new();
    ends_in_peace(&folder, "data generate levy --rows 50000");
}

#[test]
fn words_for_people_whose_reader_goes_away_are_a_success() {
    let folder = Folder::with_model();
    for command in [
        "info m.ign",
        "info m.ign --json",
        "evaluate m.ign t.csv",
        "evaluate m.ign t.csv --json",
        "data list",
    ] {
        // A reader that is gone before the first byte.
        let run = folder.shell(&format!("{{ sleep 0.1; $IGN {command}; echo $? > code; }} | true"));
        assert_eq!(folder.text("code").trim(), "0", "`ign {command}`: {}", run.stderr);
        assert_eq!(run.stderr, "", "`ign {command}`");
    }
}

#[test]
fn a_full_disk_behind_standard_output_is_an_error_and_no_panic() {
    let folder = Folder::with_model();
    for command in
        ["predict m.ign t.csv", "data generate levy --rows 9", "info m.ign", "evaluate m.ign t.csv --json"]
    {
        let run = folder.shell(&format!("$IGN {command} > /dev/full"));
        assert!(!run.stderr.contains("panicked"), "`ign {command}`: {}", run.stderr);
        assert_eq!(run.code, Some(2), "`ign {command}`: {}", run.stderr);
        assert!(run.stderr.contains("No space left"), "`ign {command}`: {}", run.stderr);
    }
}
