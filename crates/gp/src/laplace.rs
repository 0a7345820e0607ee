//! The probit likelihood `p(y|f) = Φ(y f)`, `y ∈ {−1, +1}`, of one output over a batch: Laplace's approximation of the
//! evidence, with its gradient.

use crate::matrix::{column, column_mut, dot, product, vectorised};
use crate::normal::expand;
use crate::{Error, Real};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, MatMut, MatRef, Par};

/// Work space for batches of exactly `n` rows, one output at a time.
#[derive(Debug)]
pub(crate) struct Laplace<T: Real> {
    threads: usize,
    k: Mat<T>,        // [N, N]  both triangles
    l: Mat<T>,        // [N, N], lower: L Lᵀ = B = I + W½KW½, then B⁻¹
    inverse: Mat<T>,  // [N, N]  L⁻¹
    root_w: Vec<f64>, // [N]  diagonal of W½
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

/// Half of these suffice, by test; a climb that meets the limit ends where it is.
const MAX_STEPS: usize = 40;
/// A curvature below this counts as zero: denormal entries would make the products of B 200 times slower.
const SMALLEST_W: f64 = 1e-24;
/// Rows of a product that are computed together.
const STRIP: usize = 32;

impl<T: Real> Laplace<T> {
    pub(crate) fn with_size(n: usize, threads: usize) -> Self {
        let square = || Mat::zeros(n, n);
        let vector = || vec![0.0; n];
        Self {
            threads,
            k: square(),
            l: square(),
            inverse: square(),
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
    /// K is never inverted and may be singular: O(N²) for most Newton steps, O(4N³/3) for the last with the gradient.
    pub(crate) fn evaluate(
        &mut self,
        cov: MatRef<'_, T>,
        mean: &[T],
        y: &[T],
        weights: Option<&[f64]>,
        g: MatMut<'_, T>,
    ) -> Result<LaplaceValue, Error> {
        self.prior.set(mean, y, weights);
        self.k.copy_from_triangular_lower(cov);
        self.k.as_mut().transpose_mut().copy_from_strict_triangular_lower(cov);
        self.begin()?;
        let steps = self.climb()?;
        for ((to, beta), step) in self.beta.iter_mut().zip(&self.at.beta).zip(&self.step) {
            *to = beta + step;
        }
        Ok(LaplaceValue { loss: self.pull_back(g), steps })
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

    /// Newton's method on ψ: by conjugate gradients while the steps are large, then with the factor that the gradient
    /// needs in any case. Leaves the factor of B at the last point, and the step that was too small to be taken.
    fn climb(&mut self) -> Result<usize, Error> {
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
                let (k, step, k_step) = (self.k.as_ref(), &mut self.step, &mut self.k_step);
                rough = self.conjugate.damp(k, &self.root_w, precision, step, k_step);
                if !rough {
                    continue;
                }
            } else {
                self.factor()?;
                self.damp();
                multiply(self.k.as_ref(), &self.step, &mut self.k_step);
            }
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
            precision = (0.1 * length).min(0.1);
            steps += usize::from(taken);
        }
    }

    /// Factors B at the current point. Rounding of a huge K may need a jitter, which does not move the mode.
    fn factor(&mut self) -> Result<(), Error> {
        let (n, root_w) = (self.root_w.len(), &self.root_w[..]);
        let trace: f64 = (0..n).map(|i| 1.0 + self.at.w[i] * self.k[(i, i)].to_f64()).sum();
        let (mean_diagonal, mut jitter) = (trace / n as f64, 0.0);
        loop {
            vectorised(
                #[inline(always)]
                || {
                    for j in 0..n {
                        let (k, to) =
                            (&column(self.k.as_ref(), j)[j..], &mut column_mut(self.l.as_mut(), j)[j..]);
                        for ((to, k), root) in to.iter_mut().zip(k).zip(&root_w[j..]) {
                            *to = T::of(root_w[j] * root * k.to_f64());
                        }
                        to[0] += T::of(1.0 + jitter);
                    }
                },
            );
            let params = Default::default();
            let mut memory = MemBuffer::new(cholesky_in_place_scratch::<T>(n, Par::Seq, params));
            let (regularisation, stack) = (LltRegularization::default(), MemStack::new(&mut memory));
            let result = cholesky_in_place(self.l.as_mut(), regularisation, Par::Seq, stack, params);
            let next = if jitter > 0.0 { 10.0 * jitter } else { 1e-6 * mean_diagonal };
            match result {
                Ok(_) => return Ok(()),
                Err(_) if next < mean_diagonal => jitter = next,
                Err(_) => return Err(Error::NotPositiveDefinite { matrix: "I + W½KW½", size: n, jitter }),
            }
        }
    }

    /// `step ← (I + WK)⁻¹ step = step − W½B⁻¹W½K step`.
    fn damp(&mut self) {
        let x = &mut self.conjugate.x;
        multiply(self.k.as_ref(), &self.step, x);
        scale(x, &self.root_w);
        solve_lower(self.l.as_ref(), x);
        solve_upper(self.l.as_ref(), x);
        scale(x, &self.root_w);
        self.step.iter_mut().zip(x).for_each(|(step, x)| *step -= *x);
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
        invert_lower_triangular(self.inverse.as_mut(), self.l.as_ref(), Par::Seq);
        let mut loss = -self.at.psi;
        for j in 0..n {
            loss += self.l[(j, j)].to_f64().ln(); // ½ log|B|
            let inverse = &column(self.inverse.as_ref(), j)[j..];
            let kept = dot(inverse, inverse).to_f64(); // (B⁻¹)ⱼⱼ = 1 − WⱼΣⱼⱼ
            let w = self.at.w[j];
            let s_2 = if w > 0.0 { 0.5 * (1.0 - kept) * self.at.third[j] / w } else { 0.0 };
            // To first order the step that was not taken is in the loss and in u.
            loss -= s_2 * self.k_step[j];
            self.at.u[j] -= w * self.k_step[j];
            self.step[j] = s_2;
        }
        self.damp();
        self.square_inverse();
        let (u, q, root_w, d_mean) =
            (&self.at.u[..n], &self.step[..n], &self.root_w[..n], &mut self.d_mean[..n]);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..n {
                    let (by_u, by_q, by_root) = (-0.5 * (u[j] + q[j]), -0.5 * u[j], 0.5 * root_w[j]);
                    let (b_inverse, g) =
                        (&column(self.l.as_ref(), j)[j..n], &mut column_mut(g.as_mut(), j)[j..n]);
                    let (u, q, root_w) = (&u[j..], &q[j..], &root_w[j..]);
                    for i in 0..g.len() {
                        let r = by_root * root_w[i] * b_inverse[i].to_f64();
                        g[i] += T::of(r + by_u * u[i] + by_q * q[i]);
                    }
                    d_mean[j] = 2.0 * by_u;
                }
            },
        );
        loss
    }

    /// Lower triangle of `B⁻¹ = L⁻ᵀL⁻¹` into `l`, in strips of rows that leave out most of the zeros.
    fn square_inverse(&mut self) {
        let (n, inverse) = (self.l.nrows(), self.inverse.as_ref());
        for start in (0..n).step_by(STRIP) {
            let rows = STRIP.min(n - start);
            let right = inverse.submatrix(start, 0, n - start, start + rows);
            let left = right.subcols(start, rows).transpose();
            let out = self.l.as_mut().submatrix_mut(start, 0, rows, start + rows);
            product(out, left, right, 1.0, self.threads);
        }
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

/// Conjugate gradients on `B x = W½K step` (Hestenes & Stiefel 1952) `[N]`.
#[derive(Debug)]
struct Conjugate {
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    scaled: Vec<f64>,   // W½ direction
    k_scaled: Vec<f64>, // K W½ direction
}

impl Conjugate {
    pub(crate) fn with_size(n: usize) -> Self {
        let vector = || vec![0.0; n];
        Self { x: vector(), residual: vector(), direction: vector(), scaled: vector(), k_scaled: vector() }
    }

    /// `step ← (I + WK)⁻¹ step = step − W½x` to a relative precision, and `k_step ← K step`; false when that takes as
    /// long as a factor.
    fn damp<T: Real>(
        &mut self,
        k: MatRef<'_, T>,
        root_w: &[f64],
        precision: f64,
        step: &mut [f64],
        k_step: &mut [f64],
    ) -> bool {
        let n = root_w.len();
        let (x, residual, direction) = (&mut self.x[..n], &mut self.residual[..n], &mut self.direction[..n]);
        let (scaled, k_scaled) = (&mut self.scaled[..n], &mut self.k_scaled[..n]);
        let (step, k_step) = (&mut step[..n], &mut k_step[..n]);
        multiply(k, step, k_step);
        for i in 0..n {
            residual[i] = root_w[i] * k_step[i];
        }
        x.fill(0.0);
        direction.copy_from_slice(residual);
        let mut square = dot(residual, residual);
        for _ in 0..4 + n / 8 {
            // Of x, not of the right-hand side, which is larger by the condition of B: x = W½ k_step in the end.
            if square <= precision * precision * dot(x, x) {
                return true;
            }
            for i in 0..n {
                scaled[i] = root_w[i] * direction[i];
            }
            multiply(k, scaled, k_scaled);
            let rate = square / (dot(direction, direction) + dot(scaled, k_scaled));
            vectorised(
                #[inline(always)]
                || {
                    for i in 0..n {
                        x[i] += rate * direction[i];
                        step[i] -= rate * scaled[i];
                        k_step[i] -= rate * k_scaled[i];
                        residual[i] -= rate * (direction[i] + root_w[i] * k_scaled[i]);
                    }
                },
            );
            let next = dot(residual, residual);
            for i in 0..n {
                direction[i] = residual[i] + next / square * direction[i];
            }
            square = next;
        }
        false
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

fn scale(x: &mut [f64], by: &[f64]) {
    x.iter_mut().zip(by).for_each(|(x, by)| *x *= by);
}

/// Columns that are read together: each vector register of the other operand then serves that many.
const WIDTH: usize = 4;

/// `C` columns from `j` on, below row `top`.
#[inline(always)]
fn columns<T: Real, const C: usize>(matrix: MatRef<'_, T>, j: usize, top: usize) -> [&[T]; C] {
    std::array::from_fn(|c| &column(matrix, j + c)[top..])
}

/// `out += Σ_c factors_c · columns_c`.
#[inline(always)]
fn add_columns<T: Real, const C: usize>(out: &mut [f64], columns: [&[T]; C], factors: [f64; C]) {
    let n = out.len();
    let columns = columns.map(|column| &column[..n]);
    for i in 0..n {
        for c in 0..C {
            out[i] = columns[c][i].to_f64().times_plus(factors[c], out[i]);
        }
    }
}

/// `xᵀ columns_c` for each.
#[inline(always)]
fn dots<T: Real, const C: usize>(x: &[f64], columns: [&[T]; C]) -> [f64; C] {
    const LANES: usize = 8;
    let n = x.len();
    let columns = columns.map(|column| &column[..n]);
    let mut lanes = [[0.0; LANES]; C];
    let whole = n / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for c in 0..C {
            for (lane, sum) in lanes[c].iter_mut().enumerate() {
                let i = start + lane;
                *sum = columns[c][i].to_f64().times_plus(x[i], *sum);
            }
        }
    }
    let mut sums = lanes.map(|lanes| lanes.iter().sum::<f64>());
    for i in whole..n {
        for c in 0..C {
            sums[c] = columns[c][i].to_f64().times_plus(x[i], sums[c]);
        }
    }
    sums
}

/// `out = K x` in double precision.
fn multiply<T: Real>(k: MatRef<'_, T>, x: &[f64], out: &mut [f64]) {
    let whole = x.len() / WIDTH * WIDTH;
    vectorised(
        #[inline(always)]
        || {
            out.fill(0.0);
            for j in (0..whole).step_by(WIDTH) {
                add_columns::<T, WIDTH>(out, columns(k, j, 0), std::array::from_fn(|c| x[j + c]));
            }
            for (j, &x) in x.iter().enumerate().skip(whole) {
                add_columns::<T, 1>(out, columns(k, j, 0), [x]);
            }
        },
    )
}

/// `x ← L⁻¹x` in double precision.
fn solve_lower<T: Real>(l: MatRef<'_, T>, x: &mut [f64]) {
    #[inline(always)]
    fn block<T: Real, const C: usize>(l: MatRef<'_, T>, j: usize, x: &mut [f64]) {
        let (head, rest) = x[j..].split_at_mut(C);
        for (c, column) in columns::<T, C>(l, j, j).into_iter().enumerate() {
            head[c] /= column[c].to_f64();
            for row in c + 1..C {
                head[row] -= column[row].to_f64() * head[c];
            }
        }
        add_columns::<T, C>(rest, columns(l, j, j + C), std::array::from_fn(|c| -head[c]));
    }
    let (n, whole) = (x.len(), x.len() / WIDTH * WIDTH);
    vectorised(
        #[inline(always)]
        || {
            // Not `for_each`: a closure handed to an iterator is not compiled for the vector unit.
            for j in (0..whole).step_by(WIDTH) {
                block::<T, WIDTH>(l, j, x);
            }
            for j in whole..n {
                block::<T, 1>(l, j, x);
            }
        },
    )
}

/// `x ← L⁻ᵀx` in double precision.
fn solve_upper<T: Real>(l: MatRef<'_, T>, x: &mut [f64]) {
    #[inline(always)]
    fn block<T: Real, const C: usize>(l: MatRef<'_, T>, j: usize, x: &mut [f64]) {
        let (head, rest) = x[j..].split_at_mut(C);
        let below = dots::<T, C>(rest, columns(l, j, j + C));
        for (c, column) in columns::<T, C>(l, j, j).into_iter().enumerate().rev() {
            head[c] -= below[c];
            for row in c + 1..C {
                head[c] -= column[row].to_f64() * head[row];
            }
            head[c] /= column[c].to_f64();
        }
    }
    let (n, whole) = (x.len(), x.len() / WIDTH * WIDTH);
    vectorised(
        #[inline(always)]
        || {
            for j in (whole..n).rev() {
                block::<T, 1>(l, j, x);
            }
            for j in (0..whole).step_by(WIDTH).rev() {
                block::<T, WIDTH>(l, j, x);
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::{FRAC_1_SQRT_2PI, cdf, log_cdf, log_cdf_derivatives};
    use crate::{Link, class_loss};
    use proptest::prelude::*;

    /// One output's batch in double precision.
    #[derive(Clone)]
    struct Problem {
        cov: Mat<f64>,
        mean: Vec<f64>,
        y: Vec<f64>,
        weights: Option<Vec<f64>>,
    }

    struct Answer {
        loss: f64,
        steps: usize,
        d_mean: Vec<f64>,
        g: Mat<f64>,
        beta: Vec<f64>,
    }

    /// Uniform on (−1, 1), from a seed.
    fn uniform(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    /// `scale · exp(−‖a−b‖²)` over points on a line.
    fn rbf(points: &[f64], scale: f64) -> Mat<f64> {
        Mat::from_fn(points.len(), points.len(), |i, j| scale * (-(points[i] - points[j]).powi(2)).exp())
    }

    impl Problem {
        /// Points in [−3, 3] with random means and labels.
        fn random(n: usize, scale: f64, reach: f64, seed: u64) -> Self {
            let mut random = uniform(seed);
            let points: Vec<f64> = (0..n).map(|_| 3.0 * random()).collect();
            let mean = (0..n).map(|_| reach * random()).collect();
            let y = (0..n).map(|_| random().signum()).collect();
            Self { cov: rbf(&points, scale), mean, y, weights: None }
        }

        fn evaluate_as<T: Real>(&self) -> Answer {
            let n = self.y.len();
            let convert = |x: &[f64]| -> Vec<T> { x.iter().map(|&x| T::of(x)).collect() };
            // Above the diagonal stands what must never be read.
            let cov = Mat::from_fn(n, n, |i, j| T::of(if i >= j { self.cov[(i, j)] } else { f64::NAN }));
            let mut g = Mat::<T>::zeros(n, n);
            let mut laplace = Laplace::with_size(n, 1);
            let (mean, y, weights) = (convert(&self.mean), convert(&self.y), self.weights.as_deref());
            let value = laplace
                .evaluate(cov.as_ref(), &mean, &y, weights, g.as_mut())
                .expect("B is positive definite");
            let g = Mat::from_fn(n, n, |i, j| if i >= j { g[(i, j)].to_f64() } else { 0.0 });
            Answer { loss: value.loss, steps: value.steps, d_mean: laplace.d_mean, g, beta: laplace.beta }
        }

        fn evaluate(&self) -> Answer {
            self.evaluate_as::<f64>()
        }
    }

    /// Fourth-order central difference.
    fn slope(step: f64, loss: impl Fn(f64) -> f64) -> f64 {
        (8.0 * (loss(step) - loss(-step)) - (loss(2.0 * step) - loss(-2.0 * step))) / (12.0 * step)
    }

    fn assert_gradient(name: &str, problem: &Problem) {
        let n = problem.y.len();
        let answer = problem.evaluate();
        let loss = |change: &dyn Fn(&mut Problem)| {
            let mut changed = problem.clone();
            change(&mut changed);
            changed.evaluate().loss
        };
        let mut pairs = Vec::new();
        for i in 0..n {
            pairs.push((answer.d_mean[i], slope(1e-3, |h| loss(&|p| p.mean[i] += h)), format!("a[{i}]")));
            for j in 0..=i {
                let twice = if i == j { 1.0 } else { 2.0 };
                let numeric = slope(1e-3, |h| loss(&|p| p.cov[(i, j)] += h));
                pairs.push((twice * answer.g[(i, j)], numeric, format!("K[{i},{j}]")));
            }
        }
        let size = pairs.iter().fold(0.0, |size: f64, pair| size.max(pair.1.abs()));
        for (analytic, numeric, what) in pairs {
            // Of the largest entry: the loss's rounding over the step, and the fifth derivative times step⁴.
            // Measured: 2e-11.
            assert!(
                (analytic - numeric).abs() < 1e-9 * size,
                "{name}, {what}: {analytic:e}, not {numeric:e}"
            );
        }
    }

    #[test]
    fn gradients_equal_central_differences() {
        let easy = Problem::random(8, 1.0, 1.0, 1);
        let right = Problem { y: vec![1.0; 8], mean: vec![2.5; 8], ..easy.clone() };
        let wrong = Problem { y: vec![-1.0; 8], mean: vec![6.0; 8], ..easy.clone() };
        let mut contradictory = Problem { cov: rbf(&[0.3; 8], 2.0), ..easy.clone() };
        contradictory.y = (0..8).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let weighted =
            Problem { weights: Some((0..8).map(|i| 0.3 * f64::from(i)).collect()), ..easy.clone() };
        let wide = Problem::random(8, 50.0, 10.0, 2);
        let mut certain = easy.clone();
        (0..8).for_each(|j| (certain.cov[(3, j)], certain.cov[(j, 3)]) = (0.0, 0.0)); // a row without variance
        let problems = [
            ("easy", easy),
            ("all on the right side", right),
            ("all on the wrong side", wrong),
            ("contradictory", contradictory),
            ("weighted", weighted),
            ("wide", wide),
            ("certain", certain),
        ];
        for (name, problem) in &problems {
            assert_gradient(name, problem);
        }
    }

    #[test]
    fn gradients_hold_across_the_strips_of_the_products_and_in_a_used_work_space() {
        let n = 77;
        let problem = Problem::random(n, 3.0, 3.0, 8);
        let mut random = uniform(9);
        let d_mean: Vec<f64> = (0..n).map(|_| random()).collect();
        let d_cov = Mat::from_fn(n, n, |_, _| random());
        let moved = |h: f64| {
            let mut moved = problem.clone();
            (0..n).for_each(|i| moved.mean[i] += h * d_mean[i]);
            (0..n).for_each(|j| (j..n).for_each(|i| moved.cov[(i, j)] += h * d_cov[(i, j)]));
            moved
        };
        let mut laplace = Laplace::with_size(n, 1);
        let mut evaluate = |problem: &Problem| {
            let mut g = Mat::zeros(n, n);
            let (mean, y) = (&problem.mean, &problem.y);
            let value = laplace.evaluate(problem.cov.as_ref(), mean, y, None, g.as_mut());
            (value.expect("B is positive definite").loss, laplace.d_mean.clone(), g)
        };
        let (loss, by_mean, by_cov) = evaluate(&problem);
        let mut expected: f64 = (0..n).map(|i| by_mean[i] * d_mean[i]).sum();
        for j in 0..n {
            expected += by_cov[(j, j)] * d_cov[(j, j)];
            expected += (j + 1..n).map(|i| 2.0 * by_cov[(i, j)] * d_cov[(i, j)]).sum::<f64>();
            assert!((0..j).all(|i| by_cov[(i, j)] == 0.0), "only the lower triangle is written");
        }
        let losses = [1e-4, -1e-4, 2e-4, -2e-4].map(|h| evaluate(&moved(h)).0);
        let numeric = (8.0 * (losses[0] - losses[1]) - (losses[2] - losses[3])) / 12e-4;
        assert!((expected / numeric - 1.0).abs() < 1e-8, "{expected} {numeric}");
        let (again, mean_again, cov_again) = evaluate(&problem);
        assert!(again == loss && mean_again == by_mean && cov_again == by_cov);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn newton_converges_from_zero_in_twenty_steps(
            n in 1..60usize, log_scale in -9.0..4.7, reach in 0.0..50.0, seed: u64
        ) {
            let mut problem = Problem::random(n, f64::exp(log_scale), reach, seed);
            if seed % 2 == 0 {
                problem.weights = Some((0..n).map(|i| 0.1 * (1.0 + (i % 50) as f64)).collect());
            }
            let answer = problem.evaluate();
            prop_assert!(answer.steps <= 20, "{} steps", answer.steps);
            // At the mode β = ∇log p(y|a + Kβ).
            for i in 0..n {
                let f = problem.mean[i] + (0..n).map(|j| problem.cov[(i, j)] * answer.beta[j]).sum::<f64>();
                let weight = problem.weights.as_ref().map_or(1.0, |weights| weights[i]);
                let u = weight * problem.y[i] * log_cdf_derivatives(problem.y[i] * f).d1;
                prop_assert!((u - answer.beta[i]).abs() < 1e-8 * (1.0 + u.abs()), "{u} {}", answer.beta[i]);
            }
            prop_assert!(answer.loss > -1e-9 && answer.loss.is_finite());
        }
    }

    #[test]
    fn without_variance_the_evidence_is_the_likelihood() {
        let mut problem = Problem::random(9, 0.0, 5.0, 4);
        problem.cov = Mat::zeros(9, 9);
        let likelihood: f64 = problem.mean.iter().zip(&problem.y).map(|(a, y)| log_cdf(y * a)).sum();
        assert!((problem.evaluate().loss + likelihood).abs() < 1e-13);
    }

    /// `log ∫ Φ(y f) N(f; a, k) df` by the trapezoid rule, whose error is far below rounding for such an integrand.
    fn integrated(a: f64, k: f64, y: f64) -> f64 {
        let (points, reach) = (4000, 12.0);
        let width = 2.0 * reach / f64::from(points);
        let sum: f64 = (0..=points)
            .map(|i| {
                let s = f64::from(i) * width - reach;
                (-0.5 * s * s).exp() * cdf(y * (a + k.sqrt() * s))
            })
            .sum();
        (sum * width * FRAC_1_SQRT_2PI).ln()
    }

    #[test]
    fn evidence_of_one_row_equals_the_integral_exactly_or_within_laplace_s_error() {
        for k in [0.0, 0.01, 0.3, 1.0, 4.0, 30.0] {
            for a in [-4.0, -1.5, 0.0, 0.7, 3.0] {
                let problem =
                    Problem { cov: Mat::from_fn(1, 1, |_, _| k), mean: vec![a], y: vec![1.0], weights: None };
                let exact = -integrated(a, k, 1.0);
                let rows = class_loss(Link::Probit, &[a], k, 1, &mut [0.0]).0;
                assert!((rows - exact).abs() < 1e-10, "rows: {rows}, not {exact}");
                // Measured: 0.001 at k = 0.3, 0.009 at 1, 0.07 at 4, 0.23 at 30, of either sign.
                let laplace = problem.evaluate().loss;
                let bound = (0.018 * k).min(0.25);
                assert!((laplace - exact).abs() <= bound + 1e-10, "k {k}, a {a}: {laplace}, not {exact}");
            }
        }
    }

    #[test]
    fn single_precision_agrees_with_double() {
        for (seed, scale) in [(5, 0.1), (6, 1.0), (7, 20.0)] {
            let mut double = Problem::random(50, scale, 4.0, seed);
            // Both see the same numbers.
            double.cov = Mat::from_fn(50, 50, |i, j| f64::from(double.cov[(i, j)] as f32));
            double.mean.iter_mut().for_each(|a| *a = f64::from(*a as f32));
            let single = double.evaluate_as::<f32>();
            let double = double.evaluate();
            // Measured: 2e-8, 7e-7, 2e-6.
            assert!((single.loss / double.loss - 1.0).abs() < 2e-7, "{} {}", single.loss, double.loss);
            for i in 0..50 {
                assert!((single.d_mean[i] - double.d_mean[i]).abs() < 1e-5);
                for j in 0..=i {
                    assert!((single.g[(i, j)] - double.g[(i, j)]).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn means_that_are_not_finite_are_an_error() {
        let mut laplace = Laplace::<f64>::with_size(1, 1);
        let (cov, mut g) = (Mat::from_fn(1, 1, |_, _| 1.0), Mat::zeros(1, 1));
        for mean in [f64::NAN, f64::INFINITY] {
            let result = laplace.evaluate(cov.as_ref(), &[mean], &[-1.0], None, g.as_mut());
            assert!(matches!(result, Err(Error::NotFinite { .. })));
        }
    }
}
