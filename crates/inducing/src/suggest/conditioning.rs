//! A process on the rows of a pool, conditioned on one row after another.
//!
//! ```text
//! C_ij = √(v_i v_j)·ρ(r_ij)          before: the model's own variances v, correlated by distance
//! C    ← C − c_s c_sᵀ/(C_ss + τ_s)    after row s was observed with noise τ_s; c_s is column s of C
//! ```
//! Neither matrix is formed. Of the factor of the observed rows only one column a step is computed,
//!
//! ```text
//! l_k = (C_{:,s} − Σ_{j<k} l_j[s]·l_j)/√(diag C[s] + τ_s)        diag C ← diag C − l_k²
//! ```
//! O(n(k + d)) for row k, O(n·count²) for all of them. Sums of a row do not depend on threads or on the other rows.

use gp::Matern;
use rayon::prelude::*;

/// Rows that a thread takes at a time.
const BLOCK: usize = 1024;

/// How distances become correlations: ρ(r), `r² = Σ_j w_j²(a_j − b_j)²`.
#[derive(Debug, Clone)]
pub(super) struct Metric {
    /// w `[d]`: one over each coordinate's length scale.
    pub(super) weights: Vec<f64>,
    /// ρ
    pub(super) family: Matern,
}

/// The process.
#[derive(Debug)]
pub(super) struct PoolProcess<'a> {
    x: &'a [f32],           // [n, d]
    metric: Metric,         // ρ
    root: Vec<f64>,         // [n]     √v
    noise: Vec<f64>,        // [n]     τ
    var: Vec<f64>,          // [n]     diag C
    columns: Vec<Vec<f64>>, // [k][n]  L
}

impl Metric {
    /// ρ of two rows.
    pub(super) fn correlation(&self, a: &[f32], b: &[f32]) -> f64 {
        let squares = a
            .iter()
            .zip(b)
            .zip(&self.weights)
            .map(|((a, b), w)| (w * (f64::from(*a) - f64::from(*b))).powi(2));
        self.family.correlation(squares.sum::<f64>().sqrt())
    }
}

impl<'a> PoolProcess<'a> {
    /// Of rows `x [n, d]` with latent variances v and noise τ of a label, both `[n]`.
    pub(super) fn new(x: &'a [f32], metric: Metric, var: Vec<f64>, noise: Vec<f64>) -> Self {
        let root = var.iter().map(|v| v.sqrt()).collect();
        Self { x, metric, root, noise, var, columns: Vec::new() }
    }

    /// What is left of each row's variance, `diag C [n]`.
    pub(super) fn var(&self) -> &[f64] {
        &self.var
    }

    /// Conditions on row s.
    pub(super) fn observe(&mut self, s: usize) {
        let pivot = (self.var[s] + self.noise[s]).sqrt();
        let mut column = vec![0.0; self.var.len()];
        // Without variance and noise its value was known: nothing is learned.
        if pivot > 0.0 {
            let d = self.metric.weights.len();
            let own: Vec<f64> = self.columns.iter().map(|l| l[s]).collect();
            let (x, metric, root, columns) = (self.x, &self.metric, &self.root, &self.columns);
            let x_s = &x[s * d..][..d];
            let blocks = column.par_chunks_mut(BLOCK).zip(self.var.par_chunks_mut(BLOCK));
            blocks.enumerate().for_each(|(block, (column, var))| {
                let rows = block * BLOCK..block * BLOCK + column.len();
                for (c, i) in column.iter_mut().zip(rows.clone()) {
                    *c = root[s] * root[i] * metric.correlation(x_s, &x[i * d..][..d]);
                }
                for (l, own) in columns.iter().zip(&own) {
                    column.iter_mut().zip(&l[rows.clone()]).for_each(|(c, l)| *c -= own * l);
                }
                for (c, v) in column.iter_mut().zip(var) {
                    *c /= pivot;
                    *v = (*v - *c * *c).max(0.0);
                }
            });
        }
        self.columns.push(column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linalg::{Cholesky, MatMut, MatRef};
    use rand::{RngExt, SeedableRng};

    const N: usize = 40;

    fn metric() -> Metric {
        Metric { weights: vec![0.7, 1.9], family: Matern::ThreeHalves }
    }

    /// Rows, variances and noise.
    fn pool(seed: u64) -> (Vec<f32>, Vec<f64>, Vec<f64>) {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let x = (0..2 * N).map(|_| rng.random_range(-2.0..2.0)).collect();
        let mut positive = || (0..N).map(|_| rng.random_range(0.01..2.0)).collect();
        (x, positive(), positive())
    }

    /// `C_ii − c_Siᵀ (C_SS + τ)⁻¹ c_Si` with all matrices formed.
    fn direct(x: &[f32], v: &[f64], noise: &[f64], observed: &[usize]) -> Vec<f64> {
        let k = observed.len();
        let c = |i: usize, j: usize| {
            (v[i] * v[j]).sqrt() * metric().correlation(&x[2 * i..][..2], &x[2 * j..][..2])
        };
        let with_noise =
            |p: usize, q: usize| c(observed[p], observed[q]) + if p == q { noise[observed[p]] } else { 0.0 };
        let c_ss: Vec<f64> = (0..k * k).map(|at| with_noise(at / k, at % k)).collect();
        let mut factor = Cholesky::with_size(k);
        factor.factor(MatRef::from_column_major_slice(&c_ss, k, k), 0.0).expect("positive definite");
        (0..N)
            .map(|i| {
                let c_si: Vec<f64> = observed.iter().map(|&s| c(s, i)).collect();
                let mut solved = c_si.clone();
                factor.solve(MatMut::from_column_major_slice_mut(&mut solved, k, 1));
                c(i, i) - c_si.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>()
            })
            .collect()
    }

    #[test]
    fn conditioning_row_by_row_equals_direct_conditioning_on_all_of_them() {
        for seed in 0..5 {
            let (x, v, noise) = pool(seed);
            let mut process = PoolProcess::new(&x, metric(), v.clone(), noise.clone());
            let observed = [3, 17, 39, 0, 8, 25, 11];
            for (k, &row) in observed.iter().enumerate() {
                process.observe(row);
                let expected = direct(&x, &v, &noise, &observed[..=k]);
                // Both round to 1e-16 of variances around one, some dozens of times.
                assert!(
                    process.var().iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12),
                    "{seed} {k}"
                );
            }
        }
    }

    #[test]
    fn an_observation_never_raises_a_variance_and_leaves_a_copy_what_noise_leaves() {
        let (mut x, mut v, mut noise) = pool(9);
        x.copy_within(10..12, 20); // row 10 is a copy of row 5
        (v[10], noise[10]) = (v[5], noise[5]);
        let mut process = PoolProcess::new(&x, metric(), v.clone(), noise.clone());
        process.observe(5);
        assert!(process.var().iter().zip(&v).all(|(after, before)| after <= before));
        let left = v[5] * noise[5] / (v[5] + noise[5]);
        assert!((process.var()[10] - left).abs() < 1e-12 && (process.var()[5] - left).abs() < 1e-12);
    }

    #[test]
    fn rows_without_variance_and_noise_teach_nothing_and_are_no_division_by_zero() {
        let (x, ..) = pool(1);
        let mut process = PoolProcess::new(&x, metric(), vec![0.0; N], vec![0.0; N]);
        process.observe(0);
        process.observe(1);
        assert!(process.var().iter().all(|&v| v == 0.0));
    }
}
