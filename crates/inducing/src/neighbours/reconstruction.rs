//! Principal components of training images: what they cannot draw of an image, no training image has.
//!
//! ```text
//! e(x) = ‖(x − m) − VᵀV(x − m)‖²        V [p, d]: the directions in which training images vary most
//! ```
//! V by subspace iteration, O(n·d·p) a round.

use linalg::gemm::{Plus, product};
use linalg::{MatMut, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Components at most.
pub(crate) const COMPONENTS: usize = 64;
/// Images that decide them at most.
pub(crate) const MOST_IMAGES: usize = 4000;
/// Rounds of the iteration: the space need not be exact, only the same for everybody.
const ROUNDS: usize = 6;

/// m and V.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reconstruction {
    /// `[d]`
    pub(crate) mean: Vec<f32>,
    /// Row-major `[p, d]`, orthonormal.
    pub(crate) components: Vec<f32>,
}

impl Reconstruction {
    /// Of images `x [n, d]`; none where there are too few to leave anything out.
    pub(crate) fn fit(x: &[f32], d: usize, seed: u64) -> Option<Self> {
        let n = x.len() / d.max(1);
        let p = COMPONENTS.min(d / 2).min(n / 4);
        if p == 0 {
            return None;
        }
        let mut mean = vec![0.0_f64; d];
        for row in x.chunks_exact(d) {
            mean.iter_mut().zip(row).for_each(|(mean, &x)| *mean += f64::from(x) / n as f64);
        }
        let mean: Vec<f32> = mean.into_iter().map(|x| x as f32).collect();
        let centred: Vec<f32> =
            x.chunks_exact(d).flat_map(|row| row.iter().zip(&mean).map(|(x, m)| x - m)).collect();
        let centred = MatRef::from_row_major_slice(&centred, n, d);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut components: Vec<f32> = (0..p * d).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut scores = vec![0.0_f32; n * p];
        for _ in 0..ROUNDS {
            orthonormalise(&mut components, d)?;
            let by = MatRef::from_row_major_slice(&components, p, d);
            let out = MatMut::from_row_major_slice_mut(&mut scores, n, p);
            product(out, Plus::Nothing, centred, by.transpose(), 1.0);
            let scores = MatRef::from_row_major_slice(&scores, n, p);
            let out = MatMut::from_row_major_slice_mut(&mut components, p, d);
            product(out, Plus::Nothing, scores.transpose(), centred, 1.0 / n as f32);
        }
        orthonormalise(&mut components, d)?;
        Some(Self { mean, components })
    }

    /// e of some rows `x [n, d]`.
    pub(crate) fn errors(&self, x: &[f32]) -> Vec<f64> {
        let d = self.mean.len();
        let of_row = |row: &[f32]| {
            let rest: Vec<f64> =
                row.iter().zip(&self.mean).map(|(x, m)| f64::from(*x) - f64::from(*m)).collect();
            let all: f64 = rest.iter().map(|x| x * x).sum();
            let drawn = self
                .components
                .chunks_exact(d)
                .map(|v| v.iter().zip(&rest).map(|(v, x)| f64::from(*v) * x).sum::<f64>().powi(2));
            (all - drawn.sum::<f64>()).max(0.0)
        };
        x.chunks_exact(d).map(of_row).collect()
    }
}

/// Gram–Schmidt on rows `[p, d]`, twice; `None` where one is a combination of the others.
fn orthonormalise(rows: &mut [f32], d: usize) -> Option<()> {
    for i in 0..rows.len() / d {
        let (done, rest) = rows.split_at_mut(i * d);
        let row = &mut rest[..d];
        for _ in 0..2 {
            for other in done.chunks_exact(d) {
                let along: f64 = row.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                row.iter_mut().zip(other).for_each(|(a, b)| *a -= along as f32 * b);
            }
            let norm = row.iter().map(|a| f64::from(*a).powi(2)).sum::<f64>().sqrt();
            if !(norm.is_finite() && norm > 1e-12) {
                return None;
            }
            row.iter_mut().for_each(|a| *a = (f64::from(*a) / norm) as f32);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_the_directions_of_the_images_is_drawn_and_the_rest_is_left() {
        // Rows in four of eight dimensions, around a mean: as many directions as there are components.
        let (n, d) = (200, 8);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut point = || {
            let along: [f32; 4] = [3.0, 2.0, 1.5, 1.0].map(|size: f32| rng.random_range(-size..size));
            (0..d).map(|j| 0.5 + along[j / 2] * if j % 2 == 0 { 1.0 } else { -1.0 }).collect::<Vec<f32>>()
        };
        let x: Vec<f32> = (0..n).flat_map(|_| point()).collect();
        let fitted = Reconstruction::fit(&x, d, 0).expect("enough rows");
        assert!(fitted.errors(&x).iter().all(|e| *e < 1e-6));
        // Both pixels of a pair the same is what no row does: two of them, one each from the mean.
        let other: Vec<f32> = (0..d).map(|j| if j < 2 { 1.5 } else { 0.5 }).collect();
        assert!((fitted.errors(&other)[0] - 2.0).abs() < 0.1, "{:?}", fitted.errors(&other));
        let gram = |i: usize, j: usize| -> f32 {
            (0..d).map(|k| fitted.components[i * d + k] * fitted.components[j * d + k]).sum()
        };
        assert!((gram(0, 0) - 1.0).abs() < 1e-5 && gram(0, 1).abs() < 1e-5);
    }

    #[test]
    fn an_image_of_another_kind_has_a_large_error() {
        let (n, d) = (400, 16);
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let noise = |scale: f32, rng: &mut ChaCha8Rng| scale * rng.random_range(-1.0..1.0_f32);
        let x: Vec<f32> = (0..n * d).map(|at| noise(if at % d < 6 { 3.0 } else { 0.1 }, &mut rng)).collect();
        let fitted = Reconstruction::fit(&x, d, 0).expect("enough rows");
        assert_eq!(fitted.components.len(), 8 * d);
        let usual = fitted.errors(&x).into_iter().fold(0.0, f64::max);
        let other: Vec<f32> = (0..d).map(|j| if j < 6 { 0.0 } else { 2.0 }).collect();
        assert!(fitted.errors(&other)[0] > 20.0 * usual, "{usual} {:?}", fitted.errors(&other));
    }
}
