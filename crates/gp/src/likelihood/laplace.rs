//! The probit likelihood `p(y|f) = Φ(y f)`, `y ∈ {−1, +1}`, of one output over a batch: Laplace's approximation of the
//! evidence, with its gradient.

mod conjugate;
mod vector;

use crate::Error;
use crate::normal_cdf::expand;
use conjugate::{Conjugate, SolveIPlusWk};
use linalg::block_inverse::BlockInverse;
use linalg::gemm::{Triangle, copy_lower, mirror};
use linalg::simd::vectorised;
use linalg::{Cholesky, Mat, MatMut, MatRef, Real};
use vector::multiply;

/// Work space for batches of exactly `n` rows, one output at a time.
#[derive(Debug)]
pub(crate) struct Laplace<T: Real> {
    threads: usize,
    k: Mat<T>,                  // [N, N]  both triangles
    rough_k: Mat<f32>,          // [N, N]  the same, for steps that need no more
    b_inverse: BlockInverse<T>, // [N, N]  of B = I + W½KW½
    chol: Cholesky<T>,          // [N, N]  of an ill-conditioned B
    log_determinant: f64,       // log|B|
    root_w: Vec<f64>,           // [N]  diagonal of W½
    prior: Prior,
    at: Point,
    trial: Point,
    step: Vec<f64>,   // [N]  of β
    k_step: Vec<f64>, // [N]  of f
    conjugate: Conjugate,
    pub(crate) beta: Vec<f64>,   // [N]  K⁻¹(f̂−a)
    pub(crate) d_mean: Vec<f64>, // [N]  gradient of the loss by the prior mean a
}

/// Loss of one output over a batch, and what it took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaplaceValue {
    /// `−log Z`: a sum over the rows.
    pub(crate) loss: f64,
    /// Newton steps taken.
    pub(crate) steps: usize,
}

/// What the rows are given, in double precision `[N]`.
#[derive(Debug)]
struct Prior {
    mean: Vec<f64>,
    y: Vec<f64>,
    weights: Vec<f64>,
}

/// A latent function `f = a + Kβ` with the likelihood's derivatives there `[N]`.
#[derive(Debug)]
struct Point {
    beta: Vec<f64>,
    k_beta: Vec<f64>, // f − a
    log_p: Vec<f64>,
    u: Vec<f64>,     // ∇ log p(y|f)
    w: Vec<f64>,     // −∇∇ log p(y|f)
    third: Vec<f64>, // ∇∇∇ log p(y|f)
    psi: f64,        // log p(y|f) − ½ βᵀKβ
}

/// Half of these suffice, by test; a search that meets the limit ends where it is.
const MAX_STEPS: usize = 40;
/// A curvature below this counts as zero: denormal entries would make the products of B 200 times slower.
const SMALLEST_W: f64 = 1e-24;
/// The relative precision that products in single precision allow.
const FINEST: f64 = 1e-5;

impl<T: Real> Laplace<T> {
    pub(crate) fn with_size(n: usize, threads: usize) -> Self {
        let vector = || vec![0.0; n];
        Self {
            threads,
            k: Mat::zeros(n, n),
            rough_k: Mat::zeros(n, n),
            b_inverse: BlockInverse::with_size(n),
            chol: Cholesky::with_size(n),
            log_determinant: 0.0,
            root_w: vector(),
            prior: Prior { mean: vector(), y: vector(), weights: vector() },
            at: Point::with_size(n),
            trial: Point::with_size(n),
            step: vector(),
            k_step: vector(),
            conjugate: Conjugate::with_size(n),
            beta: vector(),
            d_mean: vector(),
        }
    }

    /// Laplace approximation of the negative log evidence of labels `y` (±1) under the prior `f ~ N(a, K)` with
    /// `a = mean`, `K = cov` (Rasmussen & Williams 2006, algorithms 3.1 and 5.1, with a prior mean).
    ///
    /// ```text
    /// log Z ≈ log p(y|f̂) − ½ (f̂−a)ᵀK⁻¹(f̂−a) − ½ log|B|      f̂ = argmax ψ      B = I + W½KW½
    /// ```
    /// The `log p` of a row is multiplied by its weight. Leaves `beta` and `d_mean`, and adds the gradient by K to the
    /// lower triangle of `g`. Newton begins at zero: an earlier mode as start saved almost no time, and a run would then
    /// depend on more than a checkpoint holds.
    /// K is never inverted and may be singular: O(N²) for most Newton steps, O(N³) for the last with the gradient.
    pub(crate) fn evaluate(
        &mut self,
        mean: &[T],
        y: &[T],
        weights: Option<&[f64]>,
        g: MatMut<'_, T>,
    ) -> Result<LaplaceValue, Error> {
        self.prior.set(mean, y, weights);
        self.begin()?;
        let steps = self.newton()?;
        for ((to, beta), step) in self.beta.iter_mut().zip(&self.at.beta).zip(&self.step) {
            *to = beta + step;
        }
        Ok(LaplaceValue { loss: self.pull_back(g), steps })
    }

    /// Takes K from the lower triangle of `cov`, for all outputs.
    pub(crate) fn set_covariance(&mut self, cov: MatRef<'_, T>) {
        copy_lower(cov, self.k.as_mut());
        mirror(self.k.as_mut(), Triangle::Lower);
        for j in 0..cov.ncols() {
            let to = self.rough_k.as_mut().col_mut(j).iter_mut();
            to.zip(self.k.as_ref().col(j)).for_each(|(to, k)| *to = k.to_f32());
        }
    }

    /// Begins at zero.
    fn begin(&mut self) -> Result<(), Error> {
        self.at.beta.fill(0.0);
        self.at.k_beta.fill(0.0);
        self.at.expand(&self.prior);
        if !self.at.psi.is_finite() {
            return Err(Error::NotFinite { what: "the prior mean of a batch" });
        }
        Ok(())
    }

    /// Newton's method on ψ: by conjugate gradients while the steps are large, then with the inverse that the gradient
    /// needs in any case. Leaves B⁻¹ at the last point, and the step that was too small to be taken.
    fn newton(&mut self) -> Result<usize, Error> {
        let tolerance = if T::MANTISSA > 30 { 1e-9 } else { 1e-5 };
        let (mut steps, mut rough, mut precision) = (0, true, 0.1);
        loop {
            for (root, w) in self.root_w.iter_mut().zip(&self.at.w) {
                *root = w.sqrt();
            }
            // (I + WK) step = u − β: a correction, so that no solver's rounding limits the mode's precision.
            for ((step, u), beta) in self.step.iter_mut().zip(&self.at.u).zip(&self.at.beta) {
                *step = u - beta;
            }
            if rough {
                let solve = SolveIPlusWk {
                    k: self.rough_k.as_ref(),
                    root_w: &self.root_w,
                    precision,
                    step: &mut self.step,
                    space: &mut self.conjugate,
                };
                rough = pulp::Arch::new().dispatch(solve);
                if !rough {
                    continue;
                }
            } else {
                self.invert()?;
                self.solve_i_plus_wk();
            }
            multiply(self.k.as_ref(), &self.step, &mut self.k_step);
            let length = largest(&self.k_step) / (1.0 + largest(&self.at.k_beta));
            let taken = length > tolerance && steps < MAX_STEPS && self.take_step();
            if !taken && !rough {
                if length > tolerance {
                    self.step.fill(0.0);
                    self.k_step.fill(0.0);
                }
                return Ok(steps);
            }
            // A step leaves about its square.
            rough = rough && taken && length * length > tolerance;
            precision = (0.1 * length).clamp(FINEST, 0.1);
            steps += usize::from(taken);
        }
    }

    /// Inverts B at the current point. Rounding of a huge K may need a jitter, which does not move the mode.
    fn invert(&mut self) -> Result<(), Error> {
        let (n, root_w) = (self.root_w.len(), &self.root_w[..]);
        let trace: f64 = (0..n).map(|i| 1.0 + self.at.w[i] * self.k[(i, i)].to_f64()).sum();
        let (mean_diagonal, mut jitter) = (trace / n as f64, 0.0);
        loop {
            fill(self.k.as_ref(), root_w, 1.0 + jitter, self.b_inverse.lower_mut());
            if let Some(log_determinant) = self.b_inverse.invert(1.0, self.threads) {
                self.log_determinant = log_determinant;
                return Ok(());
            }
            // What was refused may have been written over.
            fill(self.k.as_ref(), root_w, 1.0 + jitter, self.b_inverse.lower_mut());
            mirror(self.b_inverse.lower_mut(), Triangle::Lower);
            if self.chol.try_factor(self.b_inverse.get(), T::default()) {
                self.log_determinant = self.chol.log_determinant();
                self.b_inverse.invert_by(&self.chol, self.threads);
                return Ok(());
            }
            let next = if jitter > 0.0 { 10.0 * jitter } else { 1e-6 * mean_diagonal };
            if next >= mean_diagonal || next.is_nan() {
                return Err(Error::NotPositiveDefinite { matrix: "I + W½KW½", size: n, jitter });
            }
            jitter = next;
        }
    }

    /// `step ← (I + WK)⁻¹ step = step − W½B⁻¹W½K step`.
    fn solve_i_plus_wk(&mut self) {
        let [x, b_inverse_x] = self.conjugate.two();
        multiply(self.k.as_ref(), &self.step, x);
        scale(x, &self.root_w);
        multiply(self.b_inverse.get(), x, b_inverse_x);
        for ((step, root), x) in self.step.iter_mut().zip(&self.root_w).zip(b_inverse_x) {
            *step -= root * *x;
        }
    }

    /// Moves along the step, halved until ψ does not fall; false when no part of it is an improvement.
    fn take_step(&mut self) -> bool {
        let slack = 1e-13 * (1.0 + self.at.psi.abs());
        let mut fraction = 1.0;
        while fraction > 1e-4 {
            let (at, trial) = (&self.at, &mut self.trial);
            for i in 0..at.beta.len() {
                trial.beta[i] = at.beta[i] + fraction * self.step[i];
                trial.k_beta[i] = at.k_beta[i] + fraction * self.k_step[i];
            }
            trial.expand(&self.prior);
            if trial.psi >= at.psi - slack {
                std::mem::swap(&mut self.at, &mut self.trial);
                return true;
            }
            fraction *= 0.5;
        }
        false
    }

    /// The loss, and its gradient with the part through f̂:
    ///
    /// ```text
    /// Σ = (K⁻¹ + W)⁻¹      s₂ = ∂(−½ log|B|)/∂f̂ = ½ diag(Σ) ∘ ∇∇∇log p      q = (I + WK)⁻¹ s₂
    /// −∂a = u + q          −∂K = ½(u uᵀ − W½B⁻¹W½ + q uᵀ + u qᵀ)
    /// ```
    fn pull_back(&mut self, mut g: MatMut<'_, T>) -> f64 {
        let n = self.root_w.len();
        let mut loss = 0.5 * self.log_determinant - self.at.psi;
        for j in 0..n {
            let kept = self.b_inverse.get()[(j, j)].to_f64(); // 1 − WⱼΣⱼⱼ
            let w = self.at.w[j];
            let s_2 = if w > 0.0 { 0.5 * (1.0 - kept) * self.at.third[j] / w } else { 0.0 };
            // To first order the step that was not taken is in the loss and in u.
            loss -= s_2 * self.k_step[j];
            self.at.u[j] -= w * self.k_step[j];
            self.step[j] = s_2;
        }
        self.solve_i_plus_wk();
        let (u, q, root_w, d_mean) =
            (&self.at.u[..n], &self.step[..n], &self.root_w[..n], &mut self.d_mean[..n]);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..n {
                    let (by_u, by_q, by_root) = (-0.5 * (u[j] + q[j]), -0.5 * u[j], 0.5 * root_w[j]);
                    let (b_inverse, g) =
                        (&self.b_inverse.get().col(j)[j..n], &mut g.as_mut().col_mut(j)[j..n]);
                    let (u, q, root_w) = (&u[j..], &q[j..], &root_w[j..]);
                    for i in 0..g.len() {
                        let r = by_root * root_w[i] * b_inverse[i].to_f64();
                        g[i] += T::from_f64(r + by_u * u[i] + by_q * q[i]);
                    }
                    d_mean[j] = 2.0 * by_u;
                }
            },
        );
        loss
    }
}

impl Prior {
    fn set<T: Real>(&mut self, mean: &[T], y: &[T], weights: Option<&[f64]>) {
        for (to, from) in [(&mut self.mean, mean), (&mut self.y, y)] {
            assert_eq!(to.len(), from.len(), "as many rows as the work space has");
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_f64());
        }
        match weights {
            Some(weights) => self.weights.copy_from_slice(weights),
            None => self.weights.fill(1.0),
        }
    }
}

impl Point {
    pub(crate) fn with_size(n: usize) -> Self {
        let vector = || vec![0.0; n];
        Self {
            beta: vector(),
            k_beta: vector(),
            log_p: vector(),
            u: vector(),
            w: vector(),
            third: vector(),
            psi: 0.0,
        }
    }

    /// Everything that follows from `beta` and `k_beta`.
    fn expand(&mut self, prior: &Prior) {
        let n = self.beta.len();
        let (mean, y, weights) = (&prior.mean[..n], &prior.y[..n], &prior.weights[..n]);
        let (beta, k_beta, log_p) = (&self.beta[..n], &self.k_beta[..n], &mut self.log_p[..n]);
        let (u, w, third) = (&mut self.u[..n], &mut self.w[..n], &mut self.third[..n]);
        self.psi = vectorised(
            #[inline(always)]
            move || {
                for i in 0..n {
                    let derivatives = expand(y[i] * (mean[i] + k_beta[i]));
                    let curvature = -weights[i] * derivatives.d2;
                    u[i] = weights[i] * y[i] * derivatives.d1;
                    w[i] = if curvature < SMALLEST_W { 0.0 } else { curvature };
                    third[i] = weights[i] * y[i] * derivatives.d3;
                    log_p[i] = weights[i] * derivatives.value - 0.5 * beta[i] * k_beta[i];
                }
                log_p.iter().sum()
            },
        );
    }
}

/// Lower triangle of `diagonal·I + W½KW½`.
fn fill<T: Real>(k: MatRef<'_, T>, root_w: &[f64], diagonal: f64, mut to: MatMut<'_, T>) {
    vectorised(
        #[inline(always)]
        || {
            for (j, &root_j) in root_w.iter().enumerate() {
                let (k, to) = (&k.col(j)[j..], &mut to.as_mut().col_mut(j)[j..]);
                for ((to, k), root) in to.iter_mut().zip(k).zip(&root_w[j..]) {
                    *to = T::from_f64(root_j * root * k.to_f64());
                }
                to[0] += T::from_f64(diagonal);
            }
        },
    );
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

fn scale(x: &mut [f64], by: &[f64]) {
    x.iter_mut().zip(by).for_each(|(x, by)| *x *= by);
}

#[cfg(test)]
mod tests;
