//! Length scales, scale and noise of a process on observed rows: Adam on the density of rows that are left out, given their
//! neighbours, which are found anew as the length scales move.

use super::search::Index;
use gp::{LocalGradient, LocalProcess, LocalSpace, Matern};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// The least variance of a label's noise, of standardised targets: copies of a row may agree by chance.
const NOISE_FLOOR: f64 = 5e-4;
/// Rows that a thread takes at a time; sums are of such blocks, so they do not depend on the threads.
const BLOCK: usize = 16;
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

/// Both families, the better of them by the squared errors of rows that were left out.
pub(crate) fn fit(
    pools: &[Rows<'_>],
    start: LocalProcess,
    k: usize,
    effort: Effort,
    seed: u64,
) -> LocalProcess {
    let rough = climb(pools, start, k, effort, seed);
    let other = LocalProcess { family: Matern::ThreeHalves, ..rough.clone() };
    let other = climb(pools, other, k, Effort { rounds: effort.rounds.div_ceil(2), ..effort }, seed ^ 1);
    let judge = |process: &LocalProcess| -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 2);
        let chosen = choose(pools, 4000, &mut rng);
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
    if judge(&other) < judge(&rough) { other } else { rough }
}

fn climb(pools: &[Rows<'_>], mut process: LocalProcess, k: usize, effort: Effort, seed: u64) -> LocalProcess {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
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
            process.log_noise = process.log_noise.clamp(NOISE_FLOOR.ln(), 2.0);
            process.log_scale = process.log_scale.clamp(-7.0, 4.0);
            process.log_lengths.iter_mut().for_each(|log| *log = log.clamp(-5.0, 8.0));
        }
    }
    process
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
        let nearest = Index::new(rows.coordinates, &weights).nearest(&queries, Some(&own), k);
        here.into_iter().zip(nearest).for_each(|(at, nearest)| found[at] = nearest);
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
