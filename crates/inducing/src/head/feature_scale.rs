//! The fixed map between encoder and process.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// A fixed map after the encoder, set once: `Φ = (g(x) − shift)·scale`.
///
/// The kernel saturates when features lie too far apart: the labels of a batch then explain each other, the
/// loss looks excellent and the inducing points learn nothing. So the median squared distance of random pairs is
/// brought to one before the likelihood begins.
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

/// `‖a − b‖²`
pub(crate) fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&x, &y)| f64::from(x - y).powi(2)).sum()
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
}
