//! Which range a number has, and on which scale it is modelled best.

use crate::config::{Bounds, DataConfig, TargetTransform};
use crate::error::Error;
use crate::metrics::gaussian_nll;
use crate::neighbours::Index;
use data::{Notice, Table, TargetColumn, TargetScale, Transform};
use std::collections::HashSet;

/// Rows that a scale is chosen by, at most.
const MOST_ROWS: usize = 4000;
/// Fewer rows say nothing.
const FEWEST_ROWS: usize = 50;
/// More inputs are no table.
const MOST_INPUTS: usize = 512;
/// Nats that another scale must gain a row: the density of a stack bends by itself, and means are better on the plain scale.
const WORTH: f64 = 0.5;
const NEIGHBOURS: usize = 10;

/// The encoded inputs of all rows.
#[derive(Clone, Copy)]
pub(super) struct Encoded<'a> {
    pub(super) x: &'a [f32],
    pub(super) width: usize,
}

/// The scale of a target: its range is declared or recognised, its transform given or chosen by what it gains on rows that are
/// left out.
pub(super) fn scaled(
    target: &TargetColumn,
    table: &Table,
    train: &[usize],
    encoded: Encoded<'_>,
    config: &DataConfig,
) -> Result<(TargetColumn, Vec<Notice>), Error> {
    let data::Column::Number(all) = table.column(&target.name)? else {
        return Ok((target.clone(), Vec::new()));
    };
    let values: Vec<f64> = train.iter().map(|&row| all[row]).collect();
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &y| (a.min(y), b.max(y)));
    let mut notices = Vec::new();
    let bounds = match config.bounds {
        Some(bounds) => {
            let outside =
                |y: &f64| bounds.lower.is_some_and(|l| *y < l) || bounds.upper.is_some_and(|u| *y > u);
            if let Some(y) = values.iter().copied().find(outside) {
                return Err(super::check::refusal(&format!(
                    "`{}` has the value {y}, outside of the bounds {bounds}\nhint: correct `--bounds`, or the value",
                    target.name
                )));
            }
            bounds
        }
        None => recognised(low, high, values.len()),
    };
    let transform = match config.target_transform {
        TargetTransform::None => Transform::Identity,
        // Rounded values have their probability on a few of them; a logarithm only drives those apart.
        TargetTransform::Auto if are_rounded(&values) => Transform::Identity,
        TargetTransform::Auto => {
            let candidates = candidates(&values, bounds);
            best(candidates, &values, train, encoded)
        }
        TargetTransform::Log if low < 0.0 => {
            return Err(super::check::refusal(&format!(
                "data.target_transform = \"log\" is for numbers from 0 on, and `{}` has {low}\nhint: \"asinh\" is for both signs",
                target.name
            )));
        }
        TargetTransform::Log => log(&values),
        TargetTransform::Logit => match (bounds.lower, bounds.upper) {
            (Some(lower), Some(upper)) => logit(lower, upper),
            _ => {
                return Err(super::check::refusal(
                    "data.target_transform = \"logit\" needs both bounds\nhint: declare them, such as `--bounds 0,100`",
                ));
            }
        },
        TargetTransform::Asinh => asinh(&values),
    };
    let scale = TargetScale { transform, lower: bounds.lower, upper: bounds.upper, reach: None };
    if config.bounds.is_none() && bounds != Bounds::default() {
        let (lower, upper) = (bounds.lower, bounds.upper);
        notices.push(Notice::BoundsRecognised { column: target.name.clone(), lower, upper });
    }
    if config.target_transform == TargetTransform::Auto && transform != Transform::Identity {
        let scale = match transform {
            Transform::Log { .. } => "log",
            Transform::Logit { .. } => "logit",
            _ => "asinh",
        };
        notices.push(Notice::TransformChosen { column: target.name.clone(), scale: scale.into() });
    }
    Ok((target.on_scale(scale, &values), notices))
}

/// The range that values from `low` to `high` suggest.
fn recognised(low: f64, high: f64, rows: usize) -> Bounds {
    let fills = |upper: f64| high <= upper && high > 0.95 * upper && low < 0.05 * upper;
    match low >= 0.0 && rows >= FEWEST_ROWS {
        false => Bounds::default(),
        true => Bounds { lower: Some(0.0), upper: [1.0, 100.0].into_iter().find(|&upper| fills(upper)) },
    }
}

/// Whether there are few values for so many rows.
fn are_rounded(values: &[f64]) -> bool {
    const FEW: f64 = 0.1;
    let distinct: HashSet<u64> = values.iter().map(|y| y.to_bits()).collect();
    (distinct.len() as f64) < FEW * values.len() as f64
}

fn candidates(values: &[f64], bounds: Bounds) -> Vec<Transform> {
    match (bounds.lower, bounds.upper) {
        (Some(lower), Some(upper)) => vec![logit(lower, upper)],
        (Some(lower), None) if lower >= 0.0 => vec![log(values)],
        _ => vec![asinh(values)],
    }
}

/// Zeros, and what is tiny beside the rest, are moved by as much as the smallest of the others.
fn log(values: &[f64]) -> Transform {
    let mut positive: Vec<f64> = values.iter().copied().filter(|y| *y > 0.0).collect();
    positive.sort_unstable_by(f64::total_cmp);
    let Some(&median) = positive.get(positive.len() / 2) else { return Transform::Identity };
    let has_zeros = positive.len() < values.len();
    match (has_zeros, positive[0] > 1e-3 * median) {
        (false, true) => Transform::Log { offset: 0.0 },
        (_, true) => Transform::Log { offset: positive[0] },
        (_, false) => Transform::Log { offset: 1e-3 * median },
    }
}

/// A little beyond both ends, which occur.
fn logit(lower: f64, upper: f64) -> Transform {
    let margin = 0.01 * (upper - lower);
    Transform::Logit { lower: lower - margin, upper: upper + margin }
}

fn asinh(values: &[f64]) -> Transform {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let quantile = |p: f64| sorted[((sorted.len() - 1) as f64 * p) as usize];
    let width = (quantile(0.75) - quantile(0.25)) / 2.0;
    if width > 0.0 { Transform::Asinh { centre: quantile(0.5), width } } else { Transform::Identity }
}

/// The scale whose density is best, by the nearest rows that are not a row itself.
fn best(candidates: Vec<Transform>, values: &[f64], train: &[usize], encoded: Encoded<'_>) -> Transform {
    let Encoded { x, width } = encoded;
    if train.len() < FEWEST_ROWS || !(1..=MOST_INPUTS).contains(&width) {
        return Transform::Identity;
    }
    let places: Vec<usize> = (0..train.len()).step_by(train.len().div_ceil(MOST_ROWS)).collect();
    let own: Vec<f32> = places.iter().flat_map(|&i| &x[train[i] * width..][..width]).copied().collect();
    let all: Vec<usize> = (0..places.len()).collect();
    let found = Index::new(&own, &vec![1.0; width]).nearest(&own, Some(&all), NEIGHBOURS);
    let nll = |transform: Transform| {
        let u: Vec<f64> = places.iter().map(|&i| transform.apply(values[i])).collect();
        let errors: Vec<f64> = found
            .iter()
            .enumerate()
            .map(|(i, found)| {
                u[i] - found.iter().map(|&j| u[j as usize]).sum::<f64>() / found.len().max(1) as f64
            })
            .collect();
        // The noise may depend on the level: five parts of the rows by what the neighbours say.
        let mut order: Vec<usize> = all.clone();
        order.sort_by(|&a, &b| (u[a] - errors[a]).total_cmp(&(u[b] - errors[b])));
        let size = order.len().div_ceil(5);
        let mut sum = 0.0;
        for part in order.chunks(size) {
            let square = part.iter().map(|&i| errors[i].powi(2)).sum::<f64>() / part.len() as f64;
            let std = square.sqrt().max(1e-9);
            sum += part
                .iter()
                .map(|&i| gaussian_nll(errors[i], 0.0, std) - transform.log_slope(values[places[i]]))
                .sum::<f64>();
        }
        sum / places.len() as f64
    };
    let plain = nll(Transform::Identity);
    candidates
        .into_iter()
        .map(|transform| (nll(transform), transform))
        .filter(|(value, _)| *value < plain - WORTH)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(Transform::Identity, |(_, transform)| transform)
}
