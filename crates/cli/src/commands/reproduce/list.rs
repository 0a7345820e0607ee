//! `ign reproduce --list`.

use super::catalogue::ALL;
use super::experiments::{ABLATED, ABLATION, EVERYTHING, Experiment, GROUPS, Origin};
use super::machine::duration;
use super::source::Sets;
use crate::commands::Failure;
use crate::output::print;
use serde_json::json;

/// Prints every experiment, what it needs, and whether that is there.
pub(crate) fn list(sets: &Sets, as_json: bool) -> Result<(), Failure> {
    for experiment in &ALL {
        let (data, missing) = (needs(experiment), sets.missing(experiment.origin));
        let presets: Vec<&str> = experiment.presets.iter().map(|preset| preset.name()).collect();
        let seconds: Vec<f64> =
            experiment.seconds.iter().take(presets.len()).map(|run| run * experiment.runs() as f64).collect();
        if as_json {
            let line = json!({
                "name": experiment.name, "data": data, "there": missing.is_none(), "missing": missing,
                "presets": presets, "seconds": seconds,
            });
            print(&line.to_string())?;
            continue;
        }
        let there = missing.unwrap_or_else(|| "there".into());
        let guesses = presets.iter().zip(seconds);
        let guesses: Vec<String> =
            guesses.map(|(preset, seconds)| format!("{preset} about {}", duration(seconds))).collect();
        print(&format!("{:20} {data}: {there}; {}", experiment.name, guesses.join(", ")))?;
    }
    if as_json {
        return Ok(());
    }
    for (name, title, members) in GROUPS {
        print(&format!("{name:20} {title}: {}", members.join(" ")))?;
    }
    print(&format!("{ABLATION:20} inducing points against variance: {}", ABLATED.join(" ")))?;
    print(&format!("{EVERYTHING:20} all of these"))
}

fn needs(experiment: &Experiment) -> String {
    match experiment.origin {
        Origin::Simulated(function, rows) => format!("{rows} rows of {}, made here", function.name()),
        other => other.named().map_or(String::new(), |set| format!("set {}", set.name())),
    }
}
