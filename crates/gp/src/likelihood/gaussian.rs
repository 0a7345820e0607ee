//! The Gaussian likelihood of one output over a batch, with its gradient.

use crate::Error;
use linalg::block_inverse::BlockInverse;
use linalg::vector::{add_multiple, dot};
use linalg::{Cholesky, MatMut, MatRef, Real};

/// Work space for batches of exactly `n` rows.
#[derive(Debug)]
pub(crate) struct Gaussian<T: Real> {
    s_inverse: BlockInverse<T>, // [N, N]  S⁻¹
    s_chol: Cholesky<T>,        // [N, N]  of an ill-conditioned S
    pub(crate) v: Vec<T>,       // [N]  S⁻¹ e
}

/// `½ eᵀS⁻¹e + ½ log|S| + N/2 log 2π` and its derivative by σ².
pub(crate) struct GaussianValue {
    pub(crate) loss: f64,
    pub(crate) d_noise: f64,
}

impl<T: Real> Gaussian<T> {
    pub(crate) fn with_size(n: usize) -> Self {
        let v = vec![T::default(); n];
        Self { s_inverse: BlockInverse::with_size(n), s_chol: Cholesky::with_size(n), v }
    }

    /// Negative log-likelihood of the residual `e` under `S = cov + noise·I` (paper eq. 5, sign corrected).
    ///
    /// Leaves `v = S⁻¹e` (the gradient by the mean is `−v`) and adds `G = ½(S⁻¹ − v vᵀ)`, the gradient by
    /// `S`, to the lower triangle of `g`.
    pub(crate) fn evaluate(
        &mut self,
        cov: MatRef<'_, T>,
        noise: f64,
        e: &[T],
        mut g: MatMut<'_, T>,
        threads: usize,
    ) -> Result<GaussianValue, Error> {
        let n = e.len();
        let mut s = self.s_inverse.lower_mut();
        for j in 0..n {
            let to = &mut s.as_mut().col_mut(j)[j..];
            to.copy_from_slice(&cov.col(j)[j..]);
            to[0] += T::from_f64(noise);
        }
        let log_determinant = match self.s_inverse.invert(noise, threads) {
            Some(log_determinant) => {
                self.v.fill(T::default());
                for (j, &e) in e.iter().enumerate() {
                    add_multiple(&mut self.v, e, self.s_inverse.get().col(j));
                }
                log_determinant
            }
            None => {
                self.s_chol.factor(cov, noise).map_err(Error::factoring("K_x|z + σ²I"))?;
                self.s_inverse.invert_by(&self.s_chol, threads);
                // By the factor, not by the inverse: large parts of an ill-conditioned S⁻¹e cancel.
                self.v.copy_from_slice(e);
                self.s_chol.solve(MatMut::from_column_major_slice_mut(&mut self.v, n, 1));
                self.s_chol.log_determinant()
            }
        };
        let s_inverse = self.s_inverse.get();
        let (v, half) = (&self.v[..], T::from_f64(0.5));
        let mut trace_inverse = 0.0;
        for j in 0..n {
            let (s_inverse, g) = (&s_inverse.col(j)[j..], &mut g.as_mut().col_mut(j)[j..]);
            add_multiple(g, half, s_inverse);
            add_multiple(g, -half * v[j], &v[j..]);
            trace_inverse += s_inverse[0].to_f64();
        }
        let quadratic = dot(e, v).to_f64();
        let constant = n as f64 * (2.0 * std::f64::consts::PI).ln();
        Ok(GaussianValue {
            loss: 0.5 * (quadratic + log_determinant + constant),
            d_noise: 0.5 * (trace_inverse - dot(v, v).to_f64()),
        })
    }

    /// The same for independent rows, each with its weight: `S = diag(cov) + noise·I`.
    pub(crate) fn evaluate_rows(
        &mut self,
        cov: MatRef<'_, T>,
        noise: f64,
        (e, weights): (&[T], &[f64]),
        mut g: MatMut<'_, T>,
    ) -> GaussianValue {
        let constant = (2.0 * std::f64::consts::PI).ln();
        let mut value = GaussianValue { loss: 0.0, d_noise: 0.0 };
        for (i, e) in e.iter().map(|e| e.to_f64()).enumerate() {
            let variance = cov[(i, i)].to_f64();
            // Rounding may take it below zero; what is not a number stays none.
            let s = if variance < 0.0 { 0.0 } else { variance } + noise;
            let weight = weights.get(i).copied().unwrap_or(1.0);
            let v = e / s;
            let d_s = 0.5 * weight * (1.0 / s - v * v);
            self.v[i] = T::from_f64(weight * v);
            g[(i, i)] += T::from_f64(d_s);
            value.loss += 0.5 * weight * (e * v + s.ln() + constant);
            value.d_noise += d_s;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linalg::Mat;

    #[test]
    fn a_row_of_weight_two_counts_as_two_rows() {
        let rows = |e: &[f64], weights: &[f64]| {
            let n = e.len();
            let mut cov = Mat::zeros(n, n);
            (0..n).for_each(|i| cov[(i, i)] = 0.3 + e[i].abs());
            let (mut g, mut gaussian) = (Mat::zeros(n, n), Gaussian::with_size(n));
            let value = gaussian.evaluate_rows(cov.as_ref(), 0.2, (e, weights), g.as_mut());
            (value.loss, value.d_noise, gaussian.v, (0..n).map(|i| g[(i, i)]).collect::<Vec<f64>>())
        };
        let (twice, weighted) = (rows(&[0.5, -1.0, -1.0], &[]), rows(&[0.5, -1.0], &[1.0, 2.0]));
        assert!((twice.0 - weighted.0).abs() < 1e-12 && (twice.1 - weighted.1).abs() < 1e-12);
        assert_eq!([weighted.2[1], weighted.3[1]], [2.0 * twice.2[1], 2.0 * twice.3[1]]);
    }
}
