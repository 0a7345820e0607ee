//! Files of a search for settings: the best model, its settings, a line for each trial, the page.
//!
//! The model is written before the trial's line, so that a search that is cut off between the two runs that trial again.

pub(crate) mod board;

use crate::failure::Failure;
use crate::output_file::{beside, in_place_of_ign};
use inducing::dataset::Prepared;
use inducing::tune::{Scoring, Trial, Tuned};
use inducing::{Config, Model, Settings};
use report::{TrialRecord, TrialsRecord, render_trials};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where a search writes.
pub(crate) struct TrialFiles {
    pub(crate) model: PathBuf,
    /// `price.ign.trials.jsonl`
    pub(crate) records: PathBuf,
    /// `price.tuned.toml`
    pub(crate) settings: PathBuf,
    /// `price.trials.html`
    pub(crate) page: PathBuf,
}

/// The first line of the records.
#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Plan {
    score: Scoring,
    data: String,
    config: Config,
}

/// What was searched, and the trials in the order in which they ended.
pub(crate) struct Records {
    plan: Plan,
    pub(crate) trials: Vec<Trial>,
}

impl TrialFiles {
    pub(crate) fn beside(model: &Path) -> Self {
        Self {
            model: model.to_owned(),
            records: beside(model, ".trials.jsonl"),
            settings: in_place_of_ign(model, ".tuned.toml"),
            page: in_place_of_ign(model, ".trials.html"),
        }
    }

    pub(crate) fn all(&self) -> [&Path; 4] {
        [&self.model, &self.records, &self.settings, &self.page]
    }

    /// New records, or those of an earlier run of the same plan. Nothing is written before a trial is done, so that a search
    /// that cannot begin leaves what was there.
    pub(crate) fn begin(
        &self,
        prepared: &Prepared,
        config: &Config,
        score: Scoring,
        resume: bool,
    ) -> Result<(Records, Vec<Trial>), Failure> {
        let plan = Plan { score, data: prepared.fingerprint(), config: config.clone() };
        let trials = if resume && self.records.exists() { self.read(&plan)? } else { Vec::new() };
        Ok((Records { plan, trials: trials.clone() }, trials))
    }

    fn write(&self, records: &Records) -> Result<(), Failure> {
        Ok(data::write_atomically(&self.records, |file| {
            writeln!(file, "{}", serde_json::to_string(&records.plan).expect("a plan is plain data"))?;
            for trial in &records.trials {
                writeln!(file, "{}", serde_json::to_string(trial).expect("a trial is plain data"))?;
            }
            Ok(())
        })?)
    }

    fn read(&self, plan: &Plan) -> Result<Vec<Trial>, Failure> {
        let text = std::fs::read_to_string(&self.records).map_err(|source| inducing::Error::Io {
            action: "read",
            path: self.records.clone(),
            source,
            hint: "start over without `--resume`",
        })?;
        let mut lines = text.lines();
        let first = lines.next().and_then(|line| serde_json::from_str::<Plan>(line).ok());
        if first.is_none_or(|first| first != *plan) {
            return Err(Failure::Usage(format!(
                "{} is of other data, settings or another score\nhint: resume with the same command, or start over without `--resume`",
                self.records.display()
            )));
        }
        Ok(lines.map_while(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Keeps a trial, and its model and settings if they are the best.
    pub(crate) fn keep(
        &self,
        records: &mut Records,
        trial: &Trial,
        best: Option<&Model>,
        settings: &Settings,
    ) -> Result<(), Failure> {
        if let Some(model) = best {
            model.save(&self.model)?;
            let text = settings.to_toml()?;
            data::write_atomically(&self.settings, |file| file.write_all(text.as_bytes()))?;
        }
        // A trial that was run again replaces its line.
        records.trials.retain(|other| other.number != trial.number);
        records.trials.push(trial.clone());
        self.write(records)
    }

    /// Writes the page.
    pub(crate) fn write_page(&self, records: &Records, tuned: &Tuned, data: &str) -> Result<(), Failure> {
        let header = tuned.model.header();
        let start = serde_json::to_value(&records.plan.config).expect("a configuration is plain data");
        let keys = records.trials.iter().flat_map(|trial| trial.settings.keys());
        let value = |key: &String| {
            let value = start.pointer(&format!("/{}", key.replace('.', "/")));
            (key.clone(), value.map_or_else(String::new, plain))
        };
        let trial = |trial: &Trial| TrialRecord {
            number: trial.number,
            score: trial.score,
            seconds: trial.seconds,
            settings: trial.settings.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
        };
        let targets = header.schema.target_names().join(", ");
        let rows =
            if header.metrics.contains_key("out_of_fold") { "out of fold" } else { "of the validation part" };
        let score = board::name(records.plan.score);
        let record = TrialsRecord {
            title: format!("Settings for {targets}"),
            subtitle: format!("{data}, {} trials, chosen by {score} {rows}", records.trials.len()),
            generator: format!("ign {}", env!("CARGO_PKG_VERSION")),
            score: score.into(),
            larger_is_better: records.plan.score.is_larger_better(),
            start: keys.map(value).collect::<BTreeMap<_, _>>(),
            trials: records.trials.iter().map(trial).collect(),
            best_settings: tuned.settings.to_toml()?,
        };
        Ok(data::write_atomically(&self.page, |file| file.write_all(render_trials(&record).as_bytes()))?)
    }
}

/// A value without quotes.
pub(crate) fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string().replace(',', ", "), str::to_owned)
}
