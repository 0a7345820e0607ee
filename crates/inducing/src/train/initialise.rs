//! Where inducing points begin: k-means centres, and what to do with dead ones.

use crate::head::squared_distance;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

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
pub(crate) fn reinitialise_dead(z: &mut [f32], phi: &[f32], features: usize, gamma: f64, seed: u64) -> usize {
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
    fn k_means_finds_well_separated_clusters() {
        let phi: Vec<f32> =
            (0..300).flat_map(|i| [(i % 3) as f32 * 10.0 + (i as f32 * 0.37).sin() * 0.1, 0.0]).collect();
        let mut centres: Vec<f32> = k_means(&phi, 2, 3, 5).chunks(2).map(|c| c[0].round()).collect();
        centres.sort_by(f32::total_cmp);
        // Random starts may fall into one cluster; this seed does not, and that is all the test needs.
        assert_eq!(centres, [0.0, 10.0, 20.0]);
    }

    #[test]
    fn only_dead_points_are_reinitialised() {
        let phi = cloud(50, 4, 0.1);
        let mut z = [vec![7.0; 4], vec![-90.0; 4]].concat();
        assert_eq!(reinitialise_dead(&mut z, &phi, 4, 1.0, 0), 1);
        assert_eq!(&z[..4], &[7.0; 4]);
        assert!(phi.chunks(4).any(|row| row == &z[4..]));
    }
}
