//! What can be reproduced, what it needs, and whether that is there.

use crate::catalogue::ALL;
use crate::datasets::Datasets;
use crate::experiment::{ABLATED, ABLATION, EVERYTHING, Experiment, GROUPS, Origin};
use serde::Serialize;
use std::path::PathBuf;

/// One experiment of the catalogue.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// On the command line.
    pub name: &'static str,
    /// Where its data come from.
    pub data: String,
    /// Whether these are there.
    pub there: bool,
    /// Why not.
    pub missing: Option<String>,
    /// Presets that it runs with unless others are asked for.
    pub presets: Vec<&'static str>,
    /// Rough seconds of one repeat with each of these.
    pub seconds: Vec<f64>,
}

/// All experiments, in the paper's order, then those away from the data.
pub fn list(data_dir: Option<PathBuf>) -> Vec<Listed> {
    let datasets = Datasets::new(data_dir);
    let listed = |experiment: &Experiment| {
        let missing = datasets.missing(experiment.origin);
        let (presets, runs) = (experiment.presets(None), experiment.variants().len() as f64);
        Listed {
            name: experiment.name,
            data: needs(experiment),
            there: missing.is_none(),
            missing,
            seconds: presets.iter().map(|&preset| runs * experiment.seconds(preset)).collect(),
            presets: presets.iter().map(|preset| preset.name()).collect(),
        }
    };
    ALL.iter().map(listed).collect()
}

/// Names that stand for several experiments, and what they stand for.
pub fn groups() -> Vec<(&'static str, String)> {
    let tables =
        GROUPS.iter().map(|(name, title, members)| (*name, format!("{title}: {}", members.join(" "))));
    let ablation = (ABLATION, format!("inducing points against variance: {}", ABLATED.join(" ")));
    tables.chain([ablation, (EVERYTHING, "all of these".to_owned())]).collect()
}

fn needs(experiment: &Experiment) -> String {
    match experiment.origin {
        Origin::Simulated(function, rows) => format!("{rows} rows of {}, simulated", function.name()),
        Origin::Wave => "rows around a wave, simulated".to_owned(),
        other => other.named().map_or(String::new(), |set| format!("set {}", set.name())),
    }
}
