//! Inducing points with their pseudo-labels, the examples around them, and what leans on them.

use super::{Around, Moved, Pool, Side};
use crate::number::number;
use crate::record::*;
use ign::encoder::Mode;
use ign::{Features, Model, PseudoLabel, RefineOptions, RefinedInputs};
use std::collections::{BTreeMap, BTreeSet};

/// The inducing points of each network, and the examples that their neighbours are.
pub fn inducing(model: &Model, around: &Around<'_>) -> (Vec<NetworkRecord>, Vec<Example>) {
    let mut pool = Pool::new(around);
    let judged = model.encode(around.judged.inputs, around.judged.rows);
    let networks = networks(model, &judged, &[], &mut pool);
    (networks, pool.examples)
}

pub(super) fn networks(
    model: &Model,
    judged: &Features,
    seconds: &[Vec<Option<f64>>],
    pool: &mut Pool<'_>,
) -> Vec<NetworkRecord> {
    let around = pool.around;
    let header = model.header();
    let labels = model.pseudo_labels();
    let (near, leaning) = if labels.is_empty() {
        (Vec::new(), Vec::new())
    } else {
        let (a, b) = (&around.known, &around.judged);
        let known = if std::ptr::eq(a.inputs, b.inputs) && a.rows == b.rows {
            judged
        } else {
            &model.encode(a.inputs, a.rows)
        };
        (model.neighbourhoods(known, around.nearest), model.neighbourhoods(judged, 0))
    };
    let first = (&header.history, header.best_epoch);
    let others = header.others.iter().map(|other| (&other.history, other.best_epoch));
    let of_network = |(k, (history, best_epoch)): (usize, (&Vec<_>, usize))| {
        let name = match (header.others.is_empty(), header.schema.classes()) {
            (false, Some(classes)) => format!("{} against the rest", classes[k]),
            _ => String::new(),
        };
        let seconds = seconds.get(k).cloned().unwrap_or_default();
        let mut record = NetworkRecord {
            name,
            inducing: Vec::new(),
            distinct: 0,
            history: history.clone(),
            seconds,
            best_epoch,
        };
        let (Some(labels), Some(near), Some(leaning)) = (labels.get(k), near.get(k), leaning.get(k)) else {
            return record;
        };
        let nearest: Vec<usize> = near.nearest.iter().map(|list| around.known.rows[list[0].row]).collect();
        record.distinct = nearest.iter().collect::<BTreeSet<_>>().len();
        let mut by_leaning: Vec<usize> = (0..labels.len()).collect();
        by_leaning.sort_by_key(|&i| std::cmp::Reverse(leaning.leaning[i]));
        let shown: BTreeSet<usize> = by_leaning.into_iter().take(around.shown).collect();
        let starts: Vec<(usize, usize)> = shown.iter().map(|&i| (i, nearest[i])).collect();
        let mut refined = match around.refine {
            Some(options) => refine(model, &around.known, k, &starts, options),
            None => BTreeMap::new(),
        };
        for (i, label) in labels.iter().enumerate() {
            let (label, class) = words(model, k, label);
            let neighbour = |near: &ign::Neighbour| {
                let row = around.known.rows[near.row];
                Neighbour {
                    example: pool.known(row),
                    similarity: near.similarity,
                    distance: near.distance,
                    truth: around.known.show.truth(row),
                }
            };
            let nearest = match shown.contains(&i) {
                true => near.nearest[i].iter().map(neighbour).collect(),
                false => Vec::new(),
            };
            let refined = refined.remove(&i).map(|(example, [before, after])| {
                pool.examples.push(example);
                Refined { example: pool.examples.len() - 1, before, after }
            });
            record.inducing.push(InducingRecord {
                label,
                class,
                nearest,
                leaning: leaning.leaning[i],
                refined,
            });
        }
        record
    };
    std::iter::once(first).chain(others).enumerate().map(of_network).collect()
}

/// Examples moved towards inducing points, with the distances before and after; `starts` are points and rows.
fn refine(
    model: &Model,
    known: &Side<'_>,
    network: usize,
    starts: &[(usize, usize)],
    options: RefineOptions,
) -> BTreeMap<usize, (Example, [f64; 2])> {
    let refined = model.refine(network, known.inputs, starts, options, &mut |_, _| true);
    let Some(refined) = refined else { return BTreeMap::new() };
    let rows: Vec<usize> = starts.iter().map(|(_, row)| *row).collect();
    let before = known.inputs.gather(&rows, Mode::Predict);
    let example = |(i, &(point, row)): (usize, &(usize, usize))| {
        let to = match &refined.inputs {
            RefinedInputs::Images(bytes) => {
                let each = bytes.len() / starts.len();
                Moved::Picture(&bytes[i * each..(i + 1) * each])
            }
            RefinedInputs::Table(x) => {
                let width = x.len() / starts.len();
                let at = i * width..(i + 1) * width;
                Moved::Row { from: &before[at.clone()], to: &x[at] }
            }
        };
        (point, (known.show.moved(row, to), [refined.before[i], refined.after[i]]))
    };
    starts.iter().enumerate().map(example).collect()
}

/// A pseudo-label in words, and its class.
fn words(model: &Model, network: usize, label: &PseudoLabel) -> (String, Option<usize>) {
    let schema = &model.header().schema;
    let classes = schema.classes().unwrap_or_default();
    let sure = |class: &str, p: f64| format!("{class} ({:.0} %)", 100.0 * p);
    match label {
        PseudoLabel::Numbers(values) => match (&values[..], schema.numbers()) {
            ([only], _) => (number(*only), None),
            (several, targets) => {
                let named = several.iter().zip(targets);
                let parts: Vec<String> =
                    named.map(|(value, target)| format!("{} {}", target.name, number(*value))).collect();
                (parts.join(", "), None)
            }
        },
        PseudoLabel::Classes(p) => {
            let class = ign::class_metrics::predicted(p);
            (sure(&classes[class], p[class]), Some(class))
        }
        PseudoLabel::OneAgainstTheRest(p) if *p >= 0.5 => (sure(&classes[network], *p), Some(network)),
        PseudoLabel::OneAgainstTheRest(p) => (sure("the rest", 1.0 - p), None),
    }
}
