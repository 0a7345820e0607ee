//! Records of one row: mean and deviation over the repeats.

use crate::experiment::FOLDS;
use crate::records::Record;
use crate::variant::Variant;
use std::collections::{BTreeMap, BTreeSet};

/// Which records belong together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) preset: &'a str,
    /// A point of the ablation, or a part that is held out; `None` is the table's own.
    pub(crate) variant: Option<Variant>,
    pub(crate) noise: Option<f64>,
}

/// Mean and deviation of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    pub(crate) mean: f64,
    /// `None` of a single repeat.
    pub(crate) std: Option<f64>,
}

impl Figure {
    /// In another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { mean: factor * self.mean, std: self.std.map(|std| factor * std) }
    }
}

/// What the records of a place say together.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    pub(crate) repeats: usize,
    pub(crate) scores: BTreeMap<String, Figure>,
    /// Of the fastest repeat: others may have had to share the machine.
    pub(crate) seconds: f64,
    pub(crate) steps: f64,
    pub(crate) threads: usize,
    pub(crate) inputs: usize,
    /// Rows of the test part.
    pub(crate) test_rows: usize,
    /// Epochs after which runs stopped at the paper's figure, and epochs that were asked for.
    pub(crate) stopped: Option<(BTreeSet<usize>, usize)>,
    /// Records of earlier configurations, which do not count.
    pub(crate) outdated: usize,
}

impl Place<'_> {
    fn holds(&self, record: &Record) -> bool {
        let variant = match self.variant {
            Some(variant) => record.variant == variant.name(),
            None => !record.variant.starts_with('m'),
        };
        record.experiment == self.experiment
            && record.preset == self.preset
            && record.noise == self.noise
            && variant
    }
}

/// Sums up; `None` where there is no whole repeat. Of several configurations that of the newest record counts.
pub(crate) fn summary(records: &[Record], place: Place<'_>) -> Option<Summary> {
    let own: Vec<&Record> = records.iter().filter(|record| place.holds(record)).collect();
    let newest = own.iter().max_by_key(|record| (record.finished, record.seed))?;
    let (current, outdated): (Vec<&Record>, Vec<&Record>) =
        own.iter().partition(|record| record.fingerprint == newest.fingerprint);
    let mut repeats: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
    for record in current {
        repeats.entry(record.seed).or_default().push(record);
    }
    repeats.retain(|_, parts| !parts[0].variant.starts_with('f') || parts.len() == FOLDS);
    if repeats.is_empty() {
        return None;
    }
    let names: BTreeSet<&String> =
        repeats.values().flatten().flat_map(|record| record.scores.keys()).collect();
    let of_repeat = |parts: &Vec<&Record>, name: &str| {
        let values: Vec<f64> = parts.iter().filter_map(|part| part.scores.get(name).copied()).collect();
        (values.len() == parts.len()).then(|| figure(&values).mean)
    };
    let score = |name: &&String| {
        let values: Option<Vec<f64>> = repeats.values().map(|parts| of_repeat(parts, name)).collect();
        Some(((*name).clone(), figure(&values?)))
    };
    let totals = |of: &dyn Fn(&Record) -> f64| -> Vec<f64> {
        repeats.values().map(|parts| parts.iter().map(|&part| of(part)).sum()).collect()
    };
    let stopped = repeats.values().flatten().filter_map(|record| Some((record.epochs, record.stopped_of?)));
    let stopped: Vec<(usize, usize)> = stopped.collect();
    Some(Summary {
        repeats: repeats.len(),
        scores: names.iter().filter_map(score).collect(),
        seconds: totals(&|record| record.seconds).into_iter().fold(f64::INFINITY, f64::min),
        steps: figure(&totals(&|record| record.steps as f64)).mean,
        threads: newest.threads,
        inputs: newest.inputs,
        test_rows: newest.rows[2],
        stopped: stopped.first().map(|&(_, of)| (stopped.iter().map(|(epoch, _)| *epoch).collect(), of)),
        outdated: outdated.len(),
    })
}

fn figure(values: &[f64]) -> Figure {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    Figure { mean, std: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()) }
}
