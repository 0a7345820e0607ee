//! What the targets are, given the latent function: the loss of a batch and its gradient by the function's mean and
//! covariance.
//!
//! ```text
//! gaussian  y = f + noise               rows coupled or not, in closed form
//! probit    p(y|f) = Φ(y f)             coupled: Laplace's approximation      not: in closed form
//! logit     softmax, logistic           never coupled
//! ```

mod gaussian;
mod laplace;

use crate::link::{Link, class_loss};
use crate::{Error, Process};
use gaussian::Gaussian;
use laplace::{Laplace, LaplaceValue};
use linalg::{Mat, MatRef, Real};
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

/// What the targets are, given the latent function.
#[derive(Debug, Clone, Copy)]
pub enum Likelihood<'a> {
    /// `y = f + noise`.
    Gaussian {
        /// log σ of each output `[C]`.
        log_sigma: &'a [f64],
        /// Weight of each row's log-likelihood `[N]`; empty for 1. A coupled batch has none.
        weights: &'a [f64],
    },
    /// `p(y|f) = Φ(y f)` for labels ±1, one-vs-all where there are several outputs. A coupled batch is joined by
    /// Laplace's approximation, output by output; uncoupled rows have their own class's probability in closed form.
    Probit {
        /// Weight of each row's log-likelihood `[N]`; empty for 1.
        weights: &'a [f64],
    },
    /// Softmax, or the logistic function for two classes; rows are never coupled.
    Logit {
        /// Weight of each row's log-likelihood `[N]`; empty for 1.
        weights: &'a [f64],
    },
}

/// The latent function at a batch.
#[derive(Clone, Copy)]
pub(crate) struct BatchLatent<'a, T: Real> {
    pub(crate) mean: MatRef<'a, T>, // [N, C]  ŷ
    pub(crate) cov: MatRef<'a, T>,  // [N, N]  K_xx − K_xz B, the same for all outputs
}

/// The loss of a batch, and its gradient; owns the work space.
#[derive(Debug)]
pub(crate) struct BatchLikelihood<T: Real> {
    threads: usize,
    pub(crate) g: Mat<T>,           // [N, N]  ∂cov, lower
    pub(crate) m_bar: Mat<T>,       // [N, C]  ∂ŷ
    pub(crate) log_sigma: Vec<f64>, // [C]  ∂log σ
    gaussian: Option<Gaussian<T>>,
    laplace: Option<Laplace<T>>,
}

impl<T: Real> BatchLikelihood<T> {
    pub(crate) fn new(n: usize, c: usize, threads: usize) -> Self {
        let (g, m_bar, log_sigma) = (Mat::zeros(n, n), Mat::zeros(n, c), vec![0.0; c]);
        Self { threads, g, m_bar, log_sigma, gaussian: None, laplace: None }
    }

    /// Sums the outputs' losses; fills `G` and `m̄`, all divided by N. Returns Newton steps too.
    pub(crate) fn evaluate(
        &mut self,
        process: &Process<'_, T>,
        latent: BatchLatent<'_, T>,
        y: &[T],
    ) -> Result<(f64, usize), Error> {
        let (n, c) = (latent.mean.nrows(), latent.mean.ncols());
        if process.couples() {
            self.g.fill(T::default());
        } else {
            (0..n).for_each(|i| self.g[(i, i)] = T::default()); // all that is read and written
        }
        self.log_sigma.fill(0.0);
        let (mut loss, mut steps) = (0.0, 0);
        match (process.likelihood, process.coupling) {
            (Likelihood::Probit { weights }, Coupling::Rows) => {
                loss = self.own_class(Link::Probit, latent, y, weights);
            }
            (Likelihood::Logit { weights }, _) => loss = self.own_class(Link::Logit, latent, y, weights),
            (Likelihood::Probit { weights }, Coupling::Batch) => {
                for output in 0..c {
                    let value = self.laplace(output, latent, &column_of(y, c, output), weights)?;
                    loss += value.loss;
                    steps = steps.max(value.steps);
                }
            }
            (Likelihood::Gaussian { log_sigma, weights }, coupling) => {
                for (output, &log_sigma) in log_sigma.iter().enumerate() {
                    let y = column_of(y, c, output);
                    loss += self.gaussian(output, latent, &y, (log_sigma, weights), coupling)?;
                }
            }
        }
        let share = 1.0 / n as f64;
        for j in 0..n {
            let end = if process.couples() { n } else { j + 1 };
            self.g.col_mut(j)[j..end].iter_mut().for_each(|g| *g *= T::from_f64(share));
        }
        for output in 0..c {
            self.m_bar.col_mut(output).iter_mut().for_each(|m_bar| *m_bar *= T::from_f64(share));
            self.log_sigma[output] *= share;
        }
        Ok((loss * share, steps))
    }

    /// One output of a regression.
    fn gaussian(
        &mut self,
        output: usize,
        latent: BatchLatent<'_, T>,
        y: &[T],
        (log_sigma, weights): (f64, &[f64]),
        coupling: Coupling,
    ) -> Result<f64, Error> {
        let gaussian = self.gaussian.get_or_insert_with(|| Gaussian::with_size(y.len()));
        let e: Vec<T> = y.iter().zip(latent.mean.col(output)).map(|(&y, &mean)| y - mean).collect();
        let noise = (2.0 * log_sigma).exp();
        let value = match coupling {
            Coupling::Batch => gaussian.evaluate(latent.cov, noise, &e, self.g.as_mut(), self.threads)?,
            Coupling::Rows => gaussian.evaluate_rows(latent.cov, noise, (&e, weights), self.g.as_mut()),
        };
        self.log_sigma[output] = 2.0 * noise * value.d_noise;
        let m_bar = self.m_bar.col_mut(output);
        m_bar.iter_mut().zip(&gaussian.v).for_each(|(m_bar, &v)| *m_bar = -v);
        Ok(value.loss)
    }

    /// One class against the others.
    fn laplace(
        &mut self,
        output: usize,
        latent: BatchLatent<'_, T>,
        y: &[T],
        weights: &[f64],
    ) -> Result<LaplaceValue, Error> {
        let (n, threads) = (y.len(), self.threads);
        let laplace = self.laplace.get_or_insert_with(|| Laplace::with_size(n, threads));
        if output == 0 {
            laplace.set_covariance(latent.cov);
        }
        let weights = (!weights.is_empty()).then_some(weights);
        let value = laplace.evaluate(latent.mean.col(output), y, weights, self.g.as_mut())?;
        let m_bar = self.m_bar.col_mut(output);
        m_bar.iter_mut().zip(&laplace.d_mean).for_each(|(m_bar, &d)| *m_bar = T::from_f64(d));
        Ok(value)
    }

    /// Each row's own class among all.
    fn own_class(&mut self, link: Link, latent: BatchLatent<'_, T>, y: &[T], weights: &[f64]) -> f64 {
        let c = latent.mean.ncols();
        let (mut loss, mut mean, mut d_mean) = (0.0, vec![0.0; c], vec![0.0; c]);
        for (i, y) in y.chunks_exact(c).enumerate() {
            let positive = y.iter().position(|&y| y > T::default());
            let label = if c == 1 { usize::from(positive.is_some()) } else { positive.unwrap_or(0) };
            let weight = weights.get(i).copied().unwrap_or(1.0);
            mean.iter_mut().enumerate().for_each(|(output, mean)| *mean = latent.mean[(i, output)].to_f64());
            let (row_loss, d_var) = class_loss(link, &mean, latent.cov[(i, i)].to_f64(), label, &mut d_mean);
            loss += weight * row_loss;
            self.g[(i, i)] = T::from_f64(weight * d_var);
            for (output, d) in d_mean.iter().enumerate() {
                self.m_bar[(i, output)] = T::from_f64(weight * d);
            }
        }
        loss
    }
}

/// One column of a row-major `[N, C]`.
fn column_of<T: Real>(y: &[T], c: usize, output: usize) -> Vec<T> {
    y.iter().skip(output).step_by(c).copied().collect()
}
