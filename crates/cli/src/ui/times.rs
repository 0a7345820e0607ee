//! How long each epoch took. Kept in a file beside the model: inside it, the same seed would not give the same bytes.

use crate::output_file::beside;
use inducing::model::ModelHeader;
use inducing::train::Event;
use inducing::train::{EpochRecord, Phase};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// What comes after the model's name.
const ENDING: &str = ".times.jsonl";
/// No epoch takes a year.
const LONGEST: f64 = 3e7;

/// Seconds of epochs.
#[derive(Debug)]
pub(crate) struct Times {
    lines: Vec<Line>,
    began: Instant,
    last: BTreeMap<usize, Instant>,
}

/// One epoch of one network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    network: usize,
    phase: Phase,
    epoch: usize,
    seconds: f64,
}

impl Times {
    /// Starts the clock.
    pub(crate) fn new() -> Self {
        Self { lines: Vec::new(), began: Instant::now(), last: BTreeMap::new() }
    }

    /// What a run left beside its model, if it is readable.
    pub(crate) fn load(model: &Path) -> Self {
        let text = std::fs::read_to_string(beside(model, ENDING)).unwrap_or_default();
        let sane = |line: &Line| (0.0..LONGEST).contains(&line.seconds);
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(sane).collect();
        Self { lines, ..Self::new() }
    }

    /// Notes when an epoch ends.
    pub(crate) fn on_event(&mut self, event: &Event<'_>) {
        if let Event::Record { network: (network, _), record } = event {
            let before = self.last.insert(*network, Instant::now()).unwrap_or(self.began);
            let seconds = before.elapsed().as_secs_f64();
            self.lines.push(Line { network: *network, phase: record.phase, epoch: record.epoch, seconds });
        }
    }

    /// Writes the file.
    pub(crate) fn save(&self, model: &Path) -> Result<(), data::DataError> {
        data::write_atomically(&beside(model, ENDING), |file| {
            for line in &self.lines {
                writeln!(file, "{}", serde_json::to_string(line).expect("a line is plain data"))?;
            }
            Ok(())
        })
    }

    /// Seconds of each epoch of each network, where they are known; the latest line about an epoch counts.
    pub(crate) fn by_epoch(&self, header: &ModelHeader) -> Vec<Vec<Option<f64>>> {
        let histories = std::iter::once(&header.history).chain(header.others.iter().map(|o| &o.history));
        let of_network = |(network, history): (usize, &Vec<EpochRecord>)| {
            let of_epoch = |record: &EpochRecord| {
                let same = |line: &&Line| {
                    (line.network, line.phase, line.epoch) == (network, record.phase, record.epoch)
                };
                self.lines.iter().rev().find(same).map(|line| line.seconds)
            };
            history.iter().map(of_epoch).collect()
        };
        histories.enumerate().map(of_network).collect()
    }
}
