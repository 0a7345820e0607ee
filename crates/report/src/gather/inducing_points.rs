//! Inducing points with their pseudo-labels, nearest examples and assigned inputs.

use super::{ExampleCollector, InducingRequest, InputSet, Origin, RefinedValues};
use crate::number_format::format_number;
use crate::record::*;
use inducing::Error;
use inducing::explain::{Neighbour, PseudoLabel, RefineOptions, RefinedInputs};
use inducing::model::{Features, Model};
use inducing::nn::Mode;
use inducing::train::{EpochRecord, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// The inducing points of each network, and the examples that they refer to.
pub fn gather_inducing_points(
    model: &Model,
    request: &InducingRequest<'_>,
) -> Result<(Vec<NetworkRecord>, Vec<Example>), Error> {
    let mut collector = ExampleCollector::new(request);
    let features = model.encode(request.evaluated.inputs, request.evaluated.rows)?;
    let networks = networks(model, &features, &[], &mut collector)?;
    Ok((networks, collector.examples))
}

pub(super) fn networks(
    model: &Model,
    features: &Features,
    seconds: &[Vec<Option<f64>>],
    collector: &mut ExampleCollector<'_>,
) -> Result<Vec<NetworkRecord>, Error> {
    let request = collector.request;
    let header = model.header();
    let labels = model.pseudo_labels();
    let (near, assigned) = if labels.is_empty() {
        (Vec::new(), Vec::new())
    } else {
        let (a, b) = (&request.reference, &request.evaluated);
        let reference = match std::ptr::eq(a.inputs, b.inputs) && a.rows == b.rows {
            true => features,
            false => &model.encode(a.inputs, a.rows)?,
        };
        (model.neighbourhoods(reference, request.nearest), model.neighbourhoods(features, 0))
    };
    let first = (&header.history, header.best_epoch);
    let others = header.others.iter().map(|other| (&other.history, other.best_epoch));
    let of_network = |(k, (history, best_epoch)): (usize, (&Vec<EpochRecord>, usize))| {
        let name = match header.schema.classes() {
            Some(classes) if model.is_one_vs_rest() => format!("{} vs. rest", classes[k]),
            _ => String::new(),
        };
        let seconds = seconds.get(k).map_or(&[][..], Vec::as_slice);
        let epoch = |(e, record): (usize, &EpochRecord)| epoch(record, seconds.get(e).copied().flatten());
        let mut record = NetworkRecord {
            name,
            inducing: Vec::new(),
            distinct_nearest: 0,
            history: history.iter().enumerate().map(epoch).collect(),
            best_epoch,
        };
        let (Some(labels), Some(near), Some(assigned)) = (labels.get(k), near.get(k), assigned.get(k)) else {
            return Ok(record);
        };
        let assigned = &assigned.assigned;
        let nearest: Vec<usize> =
            near.nearest.iter().map(|list| request.reference.rows[list[0].row]).collect();
        record.distinct_nearest = nearest.iter().collect::<BTreeSet<_>>().len();
        let mut by_assigned: Vec<usize> = (0..labels.len()).collect();
        by_assigned.sort_by_key(|&i| std::cmp::Reverse(assigned[i]));
        let shown: BTreeSet<usize> = by_assigned.into_iter().take(request.max_shown).collect();
        let starts: Vec<(usize, usize)> = shown.iter().map(|&i| (i, nearest[i])).collect();
        let mut refined = match request.refine {
            Some(options) => refine(model, &request.reference, k, &starts, options)?,
            None => BTreeMap::new(),
        };
        for (i, label) in labels.iter().enumerate() {
            let (pseudo_label, class) = describe(model, k, label);
            let neighbour = |near: &Neighbour| {
                let row = request.reference.rows[near.row];
                NearestExample {
                    example: collector.index(Origin::Reference, row),
                    similarity: near.similarity,
                    distance: near.distance,
                    truth: request.reference.examples.truth(row),
                }
            };
            let nearest = match shown.contains(&i) {
                true => near.nearest[i].iter().map(neighbour).collect(),
                false => Vec::new(),
            };
            let refined = refined.remove(&i).map(|(example, [distance_before, distance_after])| {
                collector.examples.push(example);
                RefinedExample { example: collector.examples.len() - 1, distance_before, distance_after }
            });
            let point = InducingPointRecord { pseudo_label, class, nearest, assigned: assigned[i], refined };
            record.inducing.push(point);
        }
        Ok(record)
    };
    // Members of an ensemble are alike: the first stands for all.
    let shown = if header.ensemble.is_some() { 1 } else { usize::MAX };
    std::iter::once(first).chain(others).take(shown).enumerate().map(of_network).collect()
}

fn epoch(record: &EpochRecord, seconds: Option<f64>) -> TrainingEpoch {
    TrainingEpoch {
        phase: match record.phase {
            Phase::Pretraining => TrainingPhase::Pretraining,
            Phase::Likelihood => TrainingPhase::Training,
        },
        epoch: record.epoch,
        steps: record.steps,
        loss: record.loss,
        rmse: record.rmse,
        nll: record.nll,
        accuracy: record.accuracy,
        noise: record.noise,
        kernel: record.kernel,
        seconds,
    }
}

/// Examples refined towards inducing points, with the distances before and after, by inducing point; `starts` are
/// pairs of an inducing point and a row.
fn refine(
    model: &Model,
    reference: &InputSet<'_>,
    network: usize,
    starts: &[(usize, usize)],
    options: RefineOptions,
) -> Result<BTreeMap<usize, (Example, [f64; 2])>, Error> {
    let refined = model.refine(network, reference.inputs, starts, options, &mut |_, _| true)?;
    let Some(refined) = refined else { return Ok(BTreeMap::new()) };
    let rows: Vec<usize> = starts.iter().map(|(_, row)| *row).collect();
    let before = reference.inputs.numbers(reference.inputs.width(), &rows, Mode::Predict)?;
    let example = |(i, &(point, row)): (usize, &(usize, usize))| {
        let to = match &refined.inputs {
            RefinedInputs::Images(bytes) => {
                let each = bytes.len() / starts.len();
                RefinedValues::Image(&bytes[i * each..(i + 1) * each])
            }
            RefinedInputs::Table(x) => {
                let width = x.len() / starts.len();
                let at = i * width..(i + 1) * width;
                RefinedValues::Row { from: &before[at.clone()], to: &x[at] }
            }
        };
        (point, (reference.examples.refined(row, to), [refined.before[i], refined.after[i]]))
    };
    Ok(starts.iter().enumerate().map(example).collect())
}

/// A pseudo-label in words, and its class.
fn describe(model: &Model, network: usize, label: &PseudoLabel) -> (String, Option<usize>) {
    let schema = &model.header().schema;
    let classes = schema.classes().unwrap_or_default();
    let with_percent = |class: &str, p: f64| format!("{class} ({:.0} %)", 100.0 * p);
    match label {
        PseudoLabel::Numbers(values) => match (&values[..], schema.numbers()) {
            ([only], _) => (format_number(*only), None),
            (several, targets) => {
                let named = several.iter().zip(targets);
                let parts: Vec<String> = named
                    .map(|(value, target)| format!("{} {}", target.name, format_number(*value)))
                    .collect();
                (parts.join(", "), None)
            }
        },
        PseudoLabel::Classes(p) => {
            let class = inducing::metrics::predicted(p);
            (with_percent(&classes[class], p[class]), Some(class))
        }
        PseudoLabel::OneVsRest(p) if *p >= 0.5 => (with_percent(&classes[network], *p), Some(network)),
        PseudoLabel::OneVsRest(p) => (with_percent("rest", 1.0 - p), None),
    }
}
