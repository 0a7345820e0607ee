//! The Gaussian likelihood of one output over a batch, with its gradient.

use crate::cholesky::Cholesky;
use crate::matrix::{column, column_mut, dot, lower_product, zeros};
use crate::{Error, Real};
use faer::{Accum, Mat, MatMut, MatRef};
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
    s: Mat<T>,            // [N, N], lower
    s_chol: Cholesky<T>,  // [N, N]
    inverse: Mat<T>,      // [N, N]  L⁻¹ of S = L Lᵀ
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
        Self { s: square(), s_chol: Cholesky::with_size(n), inverse: square(), v: zeros(n, 1) }
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
        for j in 0..n {
            column_mut(self.s.as_mut(), j)[j..].copy_from_slice(&column(cov, j)[j..]);
        }
        self.s_chol.factor_with_ladder("K_x|z + σ²I", self.s.as_ref(), noise)?;
        self.s_chol.inverse_factor(self.inverse.as_mut());
        let whitened: Vec<T> = (0..n)
            .map(|i| (0..=i).map(|j| self.inverse[(i, j)] * e[j]).sum()) // L⁻¹e
            .collect();
        for j in 0..n {
            self.v[(j, 0)] = dot(&column(self.inverse.as_ref(), j)[j..], &whitened[j..]);
        }
        let inverse = self.inverse.as_ref();
        lower_product(g.as_mut(), Accum::Add, inverse.transpose(), inverse, 0.5, threads);
        let v = column(self.v.as_ref(), 0);
        for j in 0..n {
            let half = T::of(-0.5) * v[j];
            column_mut(g.as_mut(), j)[j..].iter_mut().zip(&v[j..]).for_each(|(g, &v)| *g += half * v);
        }
        let trace_inverse: f64 = (0..n)
            .map(|j| {
                let x = &column(self.inverse.as_ref(), j)[j..];
                dot(x, x).to_f64()
            })
            .sum();
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
