//! Length scales, scale and noise of a process on observed rows: Adam on the density of rows that are left out, given their
//! neighbours, which are found anew as the length scales move.

use super::search::Index;
use gp::{LocalGradient, LocalProcess, LocalSpace, Matern};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The least variance of a label's noise, as a part of the labels' variance: copies of a row may agree by chance.
const NOISE_FLOOR: f64 = 1e-6;
/// Labels that vary less are constant, of standardised targets.
pub(crate) const LEAST_SPREAD: f64 = 1e-9;
/// Rows that a thread takes at a time; sums are of such blocks, so they do not depend on the threads.
const BLOCK: usize = 16;
/// A smoother family or a longer search must lower the error to this part: few rows prefer one by chance.
const WORTH: f64 = 0.97;
/// How often a search of at least this many rows goes on.
const LONGER: u64 = 6;
const MANY: usize = 1000;
/// Rows that judge a search.
const MOST_JUDGED: usize = 4000;
/// Adam's step.
const RATE: f64 = 0.08;

/// How long to search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// How often neighbours are found anew.
    pub(crate) rounds: usize,
    /// Steps of a round.
    pub(crate) steps: usize,
    /// Rows of a step.
    pub(crate) rows: usize,
}

/// Rows in some coordinates, with labels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// `[N, d]`
    pub(crate) coordinates: &'a [f32],
    /// `[N]`
    pub(crate) labels: &'a [f32],
    /// d
    pub(crate) width: usize,
    /// Rows with the same number here are not each other's neighbours `[N]`; empty where any may be.
    pub(crate) apart: &'a [u32],
}

impl Rows<'_> {
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(crate) fn row(&self, i: usize) -> &[f32] {
        &self.coordinates[i * self.width..][..self.width]
    }

    /// Differences of some rows from a point, `[k, d]`, and their labels.
    pub(crate) fn around(&self, x: &[f32], rows: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let differences = rows
            .iter()
            .flat_map(|&j| self.row(j as usize).iter().zip(x).map(|(a, b)| f64::from(*a) - f64::from(*b)))
            .collect();
        (differences, rows.iter().map(|&j| f64::from(self.labels[j as usize])).collect())
    }
}

/// Which pool a row is of, and which of it.
pub(crate) type Place = (usize, usize);

/// The best family by the squared errors of rows that were left out: smoother ones are tried as long as they help. Functions
/// without noise gain from a longer search.
pub(crate) fn fit(
    pools: &[Rows<'_>],
    start: LocalProcess,
    k: usize,
    effort: Effort,
    seed: u64,
) -> LocalProcess {
    let judge = |process: &LocalProcess| -> f64 {
        let chosen = match pools.iter().map(Rows::len).sum::<usize>() {
            n if n > MOST_JUDGED => choose(pools, MOST_JUDGED, &mut ChaCha8Rng::seed_from_u64(seed ^ 2)),
            _ => {
                pools.iter().enumerate().flat_map(|(p, pool)| (0..pool.len()).map(move |i| (p, i))).collect()
            }
        };
        let found = neighbours(pools, process, &chosen, k);
        let square = |space: &mut LocalSpace, (&(pool, i), found): (&Place, &Vec<u32>)| {
            let rows = pools[pool];
            let (differences, labels) = rows.around(rows.row(i), found);
            let mean = process.condition(&differences, &labels, space).map_or(0.0, |(mean, _)| mean);
            (f64::from(rows.labels[i]) - mean).powi(2)
        };
        let squares = chosen.par_iter().zip(&found).map_init(LocalSpace::default, square);
        squares.collect::<Vec<f64>>().iter().sum()
    };
    let mut best = climb(pools, start, k, effort, seed);
    let mut error = judge(&best);
    let shorter = Effort { rounds: effort.rounds.div_ceil(2), ..effort };
    for (family, salt) in [(Matern::ThreeHalves, 1), (Matern::FiveHalves, 3)] {
        let smoother = climb(pools, LocalProcess { family, ..best.clone() }, k, shorter, seed ^ salt);
        let its_error = judge(&smoother);
        if its_error >= WORTH * error {
            break;
        }
        (best, error) = (smoother, its_error);
    }
    let longer = if pools.iter().map(Rows::len).sum::<usize>() < MANY { 0 } else { LONGER };
    for salt in 4..4 + longer {
        let longer = climb(pools, best.clone(), k, shorter, seed ^ salt);
        let its_error = judge(&longer);
        if its_error >= WORTH * error {
            break;
        }
        (best, error) = (longer, its_error);
    }
    best
}

fn climb(pools: &[Rows<'_>], mut process: LocalProcess, k: usize, effort: Effort, seed: u64) -> LocalProcess {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let log_spread = spread(pools).max(LEAST_SPREAD).ln();
    let parameters = process.log_lengths.len() + 2;
    let (mut first, mut second, mut t) = (vec![0.0; parameters], vec![0.0; parameters], 0);
    let total = (effort.rounds * effort.steps) as f64;
    for _ in 0..effort.rounds {
        let chosen = choose(pools, effort.steps * effort.rows, &mut rng);
        let found = neighbours(pools, &process, &chosen, k);
        for (chosen, found) in chosen.chunks(effort.rows).zip(found.chunks(effort.rows)) {
            let LocalGradient { log_lengths, log_scale, log_noise, .. } =
                gradient(pools, &process, chosen, found);
            t += 1;
            // Half a cosine down, and a weak pull of the scales towards one.
            let rate = RATE * (0.55 + 0.45 * (std::f64::consts::PI * f64::from(t) / total).cos());
            let moved =
                process.log_lengths.iter_mut().chain([&mut process.log_scale, &mut process.log_noise]);
            let by = log_lengths.iter().chain([&log_scale, &log_noise]);
            for (((theta, by), first), second) in moved.zip(by).zip(&mut first).zip(&mut second) {
                let by = -by / chosen.len() as f64;
                *first = 0.9 * *first + 0.1 * by;
                *second = 0.99 * *second + 0.01 * by * by;
                let (m, v) = (*first / (1.0 - 0.9_f64.powi(t)), *second / (1.0 - 0.99_f64.powi(t)));
                *theta -= rate * m / (v.sqrt() + 1e-8);
            }
            process.log_noise = process.log_noise.clamp(log_spread + NOISE_FLOOR.ln(), log_spread + 2.0);
            process.log_scale = process.log_scale.clamp(log_spread - 7.0, log_spread + 4.0);
            process.log_lengths.iter_mut().for_each(|log| *log = log.clamp(-5.0, 8.0));
        }
    }
    process
}

/// Mean square of the labels.
pub(crate) fn spread(pools: &[Rows<'_>]) -> f64 {
    let squares = pools.iter().flat_map(|pool| pool.labels).map(|y| f64::from(*y).powi(2));
    squares.sum::<f64>() / pools.iter().map(Rows::len).sum::<usize>() as f64
}

/// Some rows at random.
fn choose(pools: &[Rows<'_>], count: usize, rng: &mut ChaCha8Rng) -> Vec<Place> {
    let place = |_| {
        let pool = rng.random_range(0..pools.len());
        (pool, rng.random_range(0..pools[pool].len()))
    };
    (0..count).map(place).collect()
}

/// The nearest others of some rows, within their pools.
pub(crate) fn neighbours(
    pools: &[Rows<'_>],
    process: &LocalProcess,
    chosen: &[Place],
    k: usize,
) -> Vec<Vec<u32>> {
    let weights: Vec<f32> = process.inverse_lengths().into_iter().map(|w| w as f32).collect();
    let mut found = vec![Vec::new(); chosen.len()];
    for (pool, rows) in pools.iter().enumerate() {
        let here: Vec<usize> = (0..chosen.len()).filter(|&at| chosen[at].0 == pool).collect();
        let own: Vec<usize> = here.iter().map(|&at| chosen[at].1).collect();
        let queries: Vec<f32> =
            own.iter().flat_map(|&i| rows.row(i).iter().zip(&weights).map(|(x, w)| x * w)).collect();
        if rows.apart.is_empty() {
            let nearest = Index::new(rows.coordinates, &weights).nearest(&queries, Some(&own), k);
            here.into_iter().zip(nearest).for_each(|(at, nearest)| found[at] = nearest);
            continue;
        }
        for label in rows.apart.iter().copied().collect::<BTreeSet<u32>>() {
            let others: Vec<u32> =
                (0..rows.len()).filter(|&i| rows.apart[i] != label).map(|i| i as u32).collect();
            let coordinates: Vec<f32> = others.iter().flat_map(|&i| rows.row(i as usize)).copied().collect();
            let asked: Vec<usize> = (0..own.len()).filter(|&j| rows.apart[own[j]] == label).collect();
            let queries: Vec<f32> =
                asked.iter().flat_map(|&j| &queries[j * rows.width..][..rows.width]).copied().collect();
            let nearest = Index::new(&coordinates, &weights).nearest(&queries, None, k);
            for (j, nearest) in asked.into_iter().zip(nearest) {
                found[here[j]] = nearest.into_iter().map(|i| others[i as usize]).collect();
            }
        }
    }
    found
}

/// Distances of a row from some others, in length scales.
pub(crate) fn distances(rows: Rows<'_>, process: &LocalProcess, i: usize, others: &[u32]) -> Vec<f64> {
    let weights = process.inverse_lengths();
    let to = |&j: &u32| {
        let pairs = rows.row(j as usize).iter().zip(rows.row(i)).zip(&weights);
        pairs.map(|((a, b), w)| (f64::from(a - b) * w).powi(2)).sum::<f64>().sqrt()
    };
    others.iter().map(to).collect()
}

/// The density of some rows and its gradient; a row with something that is not finite does not count.
fn gradient(
    pools: &[Rows<'_>],
    process: &LocalProcess,
    chosen: &[Place],
    found: &[Vec<u32>],
) -> LocalGradient {
    let block = |(chosen, found): (&[Place], &[Vec<u32>])| {
        let (mut space, mut sum) = (LocalSpace::default(), LocalGradient::default());
        for (&(pool, i), found) in chosen.iter().zip(found) {
            let rows = pools[pool];
            let (differences, labels) = rows.around(rows.row(i), found);
            let y = f64::from(rows.labels[i]);
            let _ = process.add_log_density(&differences, &labels, y, &mut space, &mut sum);
        }
        sum
    };
    let parts: Vec<LocalGradient> =
        chosen.par_chunks(BLOCK).zip(found.par_chunks(BLOCK)).map(block).collect();
    let mut sum = LocalGradient { log_lengths: vec![0.0; process.log_lengths.len()], ..Default::default() };
    for part in parts {
        sum.value += part.value;
        sum.log_scale += part.log_scale;
        sum.log_noise += part.log_noise;
        sum.log_lengths.iter_mut().zip(&part.log_lengths).for_each(|(sum, x)| *sum += x);
    }
    sum
}
