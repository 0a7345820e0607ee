//! The Gaussian likelihood of one output over a batch, with its gradient.

use crate::cholesky::Cholesky;
use crate::matrix::{column, column_mut, dot, multiply_add, zeros};
use crate::{Error, Real};
use faer::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};

/// Which rows of a batch the likelihood couples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coupling {
    /// All of them, through the full covariance given the inducing points: the paper's likelihood.
    Batch,
    /// None: each row's own predictive density, which is what a prediction is later judged by. The labels of a
    /// batch cannot explain each other, so the inducing points have to.
    Rows,
}

/// Work space for batches of exactly `n` rows.
#[derive(Debug)]
pub(crate) struct Gaussian<T: Real> {
    s_chol: Cholesky<T>,  // [N, N]
    inverse: Mat<T>,      // [N, N]  L⁻¹ of S = L Lᵀ
    s_inverse: Mat<T>,    // [N, N], lower: S⁻¹
    pub(crate) v: Mat<T>, // [N, 1]  S⁻¹ e
}

/// `½ eᵀS⁻¹e + ½ log|S| + N/2 log 2π` and its derivative by σ².
pub(crate) struct GaussianValue {
    pub(crate) loss: f64,
    pub(crate) d_noise: f64,
}

impl<T: Real> Gaussian<T> {
    pub(crate) fn with_size(n: usize) -> Self {
        let square = || zeros(n, n);
        Self { s_chol: Cholesky::with_size(n), inverse: square(), s_inverse: square(), v: zeros(n, 1) }
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
        self.s_chol.factor_with_ladder("K_x|z + σ²I", cov, noise)?;
        self.s_chol.inverse_factor(self.inverse.as_mut());
        let inverse = self.inverse.as_ref();
        Cholesky::inverse(inverse, self.s_inverse.as_mut(), threads);
        let mut whitened = vec![T::default(); n]; // L⁻¹e
        for (j, &e) in e.iter().enumerate() {
            multiply_add(&mut whitened[j..], e, &column(inverse, j)[j..]);
        }
        let mut trace_inverse = 0.0;
        for j in 0..n {
            self.v[(j, 0)] = dot(&column(inverse, j)[j..], &whitened[j..]);
            trace_inverse += self.s_inverse[(j, j)].to_f64();
        }
        let (v, half) = (column(self.v.as_ref(), 0), T::of(0.5));
        for j in 0..n {
            let g = &mut column_mut(g.as_mut(), j)[j..];
            multiply_add(g, half, &column(self.s_inverse.as_ref(), j)[j..]);
            multiply_add(g, -half * v[j], &v[j..]);
        }
        let quadratic = dot(&whitened, &whitened).to_f64();
        let constant = n as f64 * (2.0 * std::f64::consts::PI).ln();
        Ok(GaussianValue {
            loss: 0.5 * (quadratic + self.s_chol.log_determinant() + constant),
            d_noise: 0.5 * (trace_inverse - dot(v, v).to_f64()),
        })
    }

    /// The same for independent rows: `S = diag(cov) + noise·I`.
    pub(crate) fn evaluate_rows(
        &mut self,
        cov: MatRef<'_, T>,
        noise: f64,
        e: &[T],
        mut g: MatMut<'_, T>,
    ) -> GaussianValue {
        let constant = (2.0 * std::f64::consts::PI).ln();
        let mut value = GaussianValue { loss: 0.0, d_noise: 0.0 };
        for (i, e) in e.iter().map(|e| e.to_f64()).enumerate() {
            let s = cov[(i, i)].to_f64().max(0.0) + noise;
            let v = e / s;
            let d_s = 0.5 * (1.0 / s - v * v);
            self.v[(i, 0)] = T::of(v);
            g[(i, i)] += T::of(d_s);
            value.loss += 0.5 * (e * v + s.ln() + constant);
            value.d_noise += d_s;
        }
        value
    }
}
