//! Fits what joins class probabilities and neighbours to rows that the members had not seen.

use crate::config::Config;
use crate::metrics::{average, row_nll};
use crate::model::{ClassStack, Distances};
use crate::neighbours::{Effort, Place, Rows, distances, fit, neighbours};
use gp::{LocalProcess, Matern};
use rayon::prelude::*;

/// Classes whose indicators decide the length scales.
const MOST_CLASSES: usize = 10;
/// Rows that the grid looks at.
const MOST_ROWS: usize = 5000;

/// Rows that join probabilities with neighbours.
#[derive(Clone, Copy)]
pub(crate) struct JoinedRows<'a> {
    /// `[N, d]`
    pub(crate) x: &'a [f32],
    /// d
    pub(crate) width: usize,
    /// `[N]`
    pub(crate) labels: &'a [u32],
    /// See [`Rows::apart`](crate::neighbours::Rows::apart).
    pub(crate) apart: &'a [u32],
    /// Weights of the rows; empty for 1.
    pub(crate) weights: &'a [f64],
}

/// `p [N, K]` are out-of-fold probabilities of rows; they become those with neighbours. Also how familiar every row is. The
/// process of a stack that was fitted `before` stays.
pub(crate) fn fit_classes(
    JoinedRows { x, width, labels, apart, weights }: JoinedRows<'_>,
    p: &mut [f64],
    config: &Config,
    before: Option<&ClassStack>,
) -> (ClassStack, Vec<f64>) {
    let n = labels.len();
    let k = p.len() / n;
    let count = before.map_or(config.neighbours.count.min(n - 1), |before| before.count);
    let frequencies: Vec<f64> =
        (0..k).map(|c| average(n, weights)(&|i| f64::from(u8::from(labels[i] as usize == c)))).collect();
    // Length scales by a process on what the frequencies leave of every class's indicator.
    let indicators: Vec<Vec<f32>> = (usize::from(k == 2)..k.min(MOST_CLASSES))
        .map(|c| {
            labels.iter().map(|&l| f32::from(u8::from(l as usize == c)) - frequencies[c] as f32).collect()
        })
        .collect();
    let pools: Vec<Rows<'_>> =
        indicators.iter().map(|labels| Rows { coordinates: x, labels, width, apart }).collect();
    let spread = pools.iter().flat_map(|pool| pool.labels).map(|y| f64::from(*y).powi(2)).sum::<f64>();
    let spread = spread / (n * pools.len()) as f64;
    let start = LocalProcess {
        family: Matern::Half,
        groups: (0..width).collect(),
        log_lengths: vec![(width as f64).sqrt().ln(); width],
        log_scale: spread.max(1e-3).ln(),
        log_noise: (0.2 * spread).max(1e-3).ln(),
    };
    let effort = Effort { rounds: 10, steps: 15, rows: (n / 8).clamp(16, 256) };
    let process = match before {
        Some(before) => before.process.clone(),
        None => fit(&pools, start, count, effort, config.seed),
    };
    let all: Vec<Place> = (0..n).map(|i| (0, i)).collect();
    let found = neighbours(&pools[..1], &process, &all, count);
    let r: Vec<Vec<f64>> =
        (0..n).into_par_iter().map(|i| distances(pools[0], &process, i, &found[i])).collect();
    let usual = Distances::new(r.iter().map(|r| Distances::of_row(r)).collect());
    let (prior, reach, reconstruction) = (None, 1.0, None);
    let mut stack =
        ClassStack { process, count, prior, reach, frequencies, distances: usual, reconstruction };
    let near: Vec<Near> = found
        .iter()
        .zip(r)
        .map(|(found, r)| Near { r, classes: found.iter().map(|&j| labels[j as usize] as usize).collect() })
        .collect();
    fit_prior(&mut stack, p, &near, (labels, weights));
    let rows = p.chunks_exact_mut(k).zip(&near);
    let familiarity = rows.map(|(p, near)| stack.join(p, &near.r, &near.classes, None)).collect();
    (stack, familiarity)
}

/// Distances and classes of a row's neighbours.
pub(super) struct Near {
    pub(super) r: Vec<f64>,
    pub(super) classes: Vec<usize>,
}

/// How much the neighbours' classes count beside probabilities `p [N, K]`, by a grid; rows without weights weigh 1.
pub(super) fn fit_prior(
    stack: &mut ClassStack,
    p: &[f64],
    near: &[Near],
    (labels, weights): (&[u32], &[f64]),
) {
    let (n, k) = (labels.len(), p.len() / labels.len());
    let sample: Vec<usize> = (0..n).step_by(n.div_ceil(MOST_ROWS)).collect();
    let weights: Vec<f64> = sample.iter().filter_map(|&i| weights.get(i).copied()).collect();
    let nll = |stack: &ClassStack| {
        average(sample.len(), &weights)(&|at| {
            let i = sample[at];
            let mut p = p[i * k..][..k].to_vec();
            stack.join(&mut p, &near[i].r, &near[i].classes, None);
            row_nll(&p, labels[i] as usize)
        })
    };
    let grid: Vec<(f64, f64)> = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6]
        .into_iter()
        .flat_map(|reach| [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0].map(|prior| (prior, reach)))
        .collect();
    let tried: Vec<(f64, f64, f64)> = grid
        .into_par_iter()
        .map(|(prior, reach)| (nll(&ClassStack { prior: Some(prior), reach, ..stack.clone() }), prior, reach))
        .collect();
    let best = tried.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    // Forty-two candidates find something in few rows even where there is nothing.
    let margin = 1.0 / sample.len() as f64;
    if let Some((value, prior, reach)) = best
        && value < nll(stack) - margin
    {
        (stack.prior, stack.reach) = (Some(prior), reach);
    }
}
