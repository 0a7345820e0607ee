//! `ign tune`: its files, its end, and how it goes on.

use crate::folder::{Folder, TINY};
use crate::interruption::Running;
use crate::tables::linear;
use serde_json::Value;

/// A table, and tiny settings as a file: single keys would not be searched.
fn with_settings() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", linear(120));
    let mut text = String::new();
    for line in TINY.split_whitespace().filter(|word| *word != "--set") {
        text += &format!("{line}\n");
    }
    folder.write("tiny.toml", text);
    folder
}

fn trials(folder: &Folder) -> Vec<Value> {
    let text = folder.text("m.ign.trials.jsonl");
    text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

const TUNE: &str = "tune t.csv --target y --config tiny.toml -o m.ign";

#[test]
fn a_search_writes_the_best_model_its_settings_a_line_for_each_trial_and_a_page() {
    let folder = with_settings();
    let run = folder.ign(&format!("{TUNE} --trials 4")).succeeds();
    assert_eq!(
        folder.names(),
        ["m.ign", "m.ign.trials.jsonl", "m.trials.html", "m.tuned.toml", "t.csv", "tiny.toml"]
    );
    let trials = trials(&folder);
    assert_eq!(trials.len(), 4);
    assert_eq!(trials[0]["settings"], serde_json::json!({}));
    let best = trials.iter().filter_map(|trial| trial["score"].as_f64()).fold(f64::INFINITY, f64::min);
    let header = folder.ign("info m.ign --json").succeeds().json();
    assert_eq!(header["metrics"]["validation"]["y"]["nll"].as_f64(), Some(best), "{header}");
    assert!(run.stdout.contains("[train]") && run.stdout.contains("m.tuned.toml"), "{}", run.stdout);
    assert!(run.stdout.trim_end().ends_with("m.trials.html"), "{}", run.stdout);
    let page = folder.text("m.trials.html");
    assert!(page.contains("Score over time") && !page.contains("<script"), "{page}");
    folder.ign("train t.csv --config m.tuned.toml --quiet --no-report -o again.ign").succeeds();
    assert!(folder.read("m.ign") == folder.read("again.ign"), "the settings of the best give its model");
}

#[test]
fn a_resumed_search_adds_trials_and_repeats_none() {
    let folder = with_settings();
    folder.ign(&format!("{TUNE} --trials 6 --quiet --no-report")).succeeds();
    let whole = trials(&folder);
    folder.ign(&format!("{TUNE} --trials 3 --quiet --no-report")).succeeds();
    assert_eq!(trials(&folder).len(), 3, "without `--resume` it starts over");
    let run = folder.ign(&format!("{TUNE} --trials 6 --resume --json --no-report")).succeeds();
    let resumed = trials(&folder);
    assert_eq!(resumed.len(), 6);
    for (a, b) in whole.iter().zip(&resumed) {
        assert_eq!((&a["settings"], &a["score"]), (&b["settings"], &b["score"]));
    }
    let result = run.json();
    assert_eq!((result["trials"].as_array().map(Vec::len), &result["end"]), (Some(6), &"trials".into()));
    // A line that was cut off is a trial that did not end.
    let text = folder.text("m.ign.trials.jsonl");
    folder.write("m.ign.trials.jsonl", &text[..text.len() - 20]);
    folder.ign(&format!("{TUNE} --trials 6 --resume --quiet --no-report")).succeeds();
    assert_eq!(trials(&folder).len(), 6);
}

#[test]
fn an_interrupted_search_keeps_the_best_model_and_says_so() {
    let folder = with_settings();
    let mut run = Running::new(folder.command(&format!("{TUNE} --budget 10m")));
    run.wait_for("trial 1: ");
    run.signal("INT");
    assert_eq!(run.end(), Some(130), "{}", run.seen);
    assert!(run.seen.contains("m.ign is the best of them") && run.seen.contains("--resume"), "{}", run.seen);
    let done = trials(&folder).len();
    assert!(done >= 2, "{}", run.seen);
    folder.ign("predict m.ign t.csv").succeeds();
    folder.ign(&format!("{TUNE} --trials {} --resume --quiet", done + 1)).succeeds();
    assert_eq!(trials(&folder).len(), done + 1);
}

#[test]
fn a_search_that_makes_no_sense_is_refused_before_it_begins() {
    let folder = with_settings();
    for (more, words) in [
        ("--folds 3", &["--folds"][..]),
        ("--score accuracy", &["`accuracy`", "numbers", "crps"]),
        ("--budget soon", &["--budget"]),
        ("--preset paper --set train.validation_share=0", &["no rows to choose by"]),
    ] {
        folder.refuses(&format!("tune t.csv --target y -o m.ign {more}"), words);
    }
    folder.ign(&format!("{TUNE} --trials 1 --quiet --no-report")).succeeds();
    folder.refuses(&format!("{TUNE} --trials 2 --resume --seed 4"), &["other data, settings", "--resume"]);
    folder.refuses(&format!("{TUNE} --trials 2 --resume --score rmse"), &["another score"]);
}
