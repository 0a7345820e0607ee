//! Where inducing points begin: feature scale, k-means centres, and what to do with dead ones.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// A fixed map after the encoder, set once: `Φ = (g(x) − shift)·scale`.
///
/// The kernel saturates when features lie too far apart: the labels of a batch then explain each other, the
/// loss looks excellent and the inducing points learn nothing. So the median squared distance of random pairs is
/// brought to [`MEDIAN_SQUARED_DISTANCE`] before the likelihood begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureScale {
    /// `[D]`
    pub shift: Vec<f32>,
    /// One factor for all features.
    pub scale: f32,
}

/// With γ = 1 the kernel of a random pair is then about exp(−1).
pub(crate) const MEDIAN_SQUARED_DISTANCE: f64 = 1.0;

impl FeatureScale {
    /// Leaves features as they are.
    pub(crate) fn identity(features: usize) -> Self {
        Self { shift: vec![0.0; features], scale: 1.0 }
    }

    /// Centres features and brings random pairs to the wanted distance.
    pub(crate) fn fit(phi: &[f32], features: usize, seed: u64) -> Self {
        let rows = phi.len() / features;
        let mut shift = vec![0.0_f64; features];
        for row in phi.chunks_exact(features) {
            shift.iter_mut().zip(row).for_each(|(s, &x)| *s += f64::from(x) / rows as f64);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut distances: Vec<f64> = (0..2000)
            .map(|_| {
                let (a, b) = (rng.random_range(0..rows), rng.random_range(0..rows));
                squared_distance(&phi[a * features..][..features], &phi[b * features..][..features])
            })
            .filter(|&d| d > 0.0)
            .collect();
        distances.sort_by(f64::total_cmp);
        let median = distances.get(distances.len() / 2).copied().unwrap_or(MEDIAN_SQUARED_DISTANCE);
        Self {
            shift: shift.into_iter().map(|s| s as f32).collect(),
            scale: (MEDIAN_SQUARED_DISTANCE / median).sqrt() as f32,
        }
    }

    /// `(g − shift)·scale`, in place.
    pub(crate) fn apply(&self, phi: &mut [f32]) {
        for row in phi.chunks_exact_mut(self.shift.len()) {
            row.iter_mut().zip(&self.shift).for_each(|(x, s)| *x = (*x - s) * self.scale);
        }
    }

    /// From the gradient by scaled features to the one by the encoder's.
    pub(crate) fn pull_back(&self, d_phi: &mut [f32]) {
        if self.scale != 1.0 {
            d_phi.iter_mut().for_each(|d| *d *= self.scale);
        }
    }
}

fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&x, &y)| f64::from(x - y).powi(2)).sum()
}

/// `count` centres of the rows of `phi` by Lloyd's k-means from random rows; an empty cluster keeps its centre.
pub(crate) fn k_means(phi: &[f32], features: usize, count: usize, seed: u64) -> Vec<f32> {
    const ROUNDS: usize = 5;
    const SAMPLE: usize = 8192;
    let mut rows: Vec<usize> = (0..phi.len() / features).collect();
    rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let row = |i: usize| &phi[i * features..][..features];
    let mut centres: Vec<f32> = (0..count).flat_map(|k| row(rows[k % rows.len()]).to_vec()).collect();
    rows.truncate(SAMPLE);
    for _ in 0..ROUNDS {
        let mut sums = vec![0.0_f64; centres.len()];
        let mut counts = vec![0_usize; count];
        for &i in &rows {
            let nearest = nearest(row(i), &centres, features);
            counts[nearest] += 1;
            sums[nearest * features..][..features]
                .iter_mut()
                .zip(row(i))
                .for_each(|(s, &x)| *s += f64::from(x));
        }
        for (k, &members) in counts.iter().enumerate().filter(|(_, members)| **members > 0) {
            for j in k * features..(k + 1) * features {
                centres[j] = (sums[j] / members as f64) as f32;
            }
        }
    }
    centres
}

/// Index of the centre next to `x`: `argmin ‖c‖² − 2cᵀx`.
fn nearest(x: &[f32], centres: &[f32], features: usize) -> usize {
    let mut best = (f32::INFINITY, 0);
    for (k, centre) in centres.chunks_exact(features).enumerate() {
        let mut lanes = [0.0_f32; 16];
        for (a, b) in x.chunks(16).zip(centre.chunks(16)) {
            for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
                *lane += (a - b) * (a - b);
            }
        }
        let distance = lanes.iter().sum::<f32>();
        if distance < best.0 {
            best = (distance, k);
        }
    }
    best.1
}

/// Moves inducing points that no feature comes near (kernel below 1e-3 of its largest value) onto random
/// features; returns how many. `gamma` is the kernel's.
pub(crate) fn reseed_dead(z: &mut [f32], phi: &[f32], features: usize, gamma: f64, seed: u64) -> usize {
    let limit = 1e3_f64.ln() / gamma;
    let rows = phi.len() / features;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut moved = 0;
    for point in z.chunks_exact_mut(features) {
        let dead = !phi.chunks_exact(features).any(|row| squared_distance(row, point) < limit);
        if dead {
            let row = rng.random_range(0..rows);
            point.copy_from_slice(&phi[row * features..][..features]);
            moved += 1;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(rows: usize, features: usize, spread: f32) -> Vec<f32> {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        (0..rows * features).map(|_| 7.0 + spread * (rng.random::<f32>() - 0.5)).collect()
    }

    #[test]
    fn scaled_features_are_centred_and_a_random_pair_has_the_wanted_distance() {
        for spread in [1e-3, 1.0, 1e3] {
            let mut phi = cloud(500, 8, spread);
            let scale = FeatureScale::fit(&phi, 8, 0);
            scale.apply(&mut phi);
            let again = FeatureScale::fit(&phi, 8, 1); // other pairs: the median moves by a few per cent
            assert!((again.scale - 1.0).abs() < 0.1, "{}", again.scale);
            assert!(again.shift.iter().all(|s| s.abs() < 1e-2));
        }
    }

    #[test]
    fn k_means_finds_well_separated_clusters() {
        let phi: Vec<f32> =
            (0..300).flat_map(|i| [(i % 3) as f32 * 10.0 + (i as f32 * 0.37).sin() * 0.1, 0.0]).collect();
        let mut centres: Vec<f32> = k_means(&phi, 2, 3, 5).chunks(2).map(|c| c[0].round()).collect();
        centres.sort_by(f32::total_cmp);
        // Random starts may fall into one cluster; this seed does not, and that is all the test needs.
        assert_eq!(centres, [0.0, 10.0, 20.0]);
    }

    #[test]
    fn only_dead_points_are_reseeded() {
        let phi = cloud(50, 4, 0.1);
        let mut z = [vec![7.0; 4], vec![-90.0; 4]].concat();
        assert_eq!(reseed_dead(&mut z, &phi, 4, 1.0, 0), 1);
        assert_eq!(&z[..4], &[7.0; 4]);
        assert!(phi.chunks(4).any(|row| row == &z[4..]));
    }
}
