//! The probit likelihood `p(y|f) = Φ(y f)`, `y ∈ {−1, +1}`: stable `log Φ` with derivatives, the Laplace approximation
//! of one output's evidence over a batch, and the exact evidence of single rows; all with gradients.

use crate::cholesky::Cholesky;
use crate::matrix::{column, column_mut, vectorised};
use crate::{Error, Real};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use std::f64::consts::FRAC_1_SQRT_2;

/// `log Φ(z)` and its derivatives by z. See [`log_cdf_derivatives`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogCdf {
    /// `log Φ(z)`
    pub value: f64,
    /// First derivative, `h = N(z)/Φ(z)`: between 0 and `|z| + 1`.
    pub d1: f64,
    /// Second derivative, `−h(z + h)`: between −1 and 0.
    pub d2: f64,
    /// Third derivative, `h((z + h)(z + 2h) − 1)`: between 0 and 0.3.
    pub d3: f64,
}

/// Distribution function Φ of the standard normal, without cancellation in its lower tail.
///
/// ```
/// assert_eq!(gp::cdf(0.0), 0.5);
/// assert!((gp::cdf(-10.0) / 7.619853024160527e-24 - 1.0).abs() < 1e-13);
/// ```
pub fn cdf(z: f64) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let upper = tail(z.abs());
            let (square, rest) = half_square(upper.x);
            let outside = (-square).exp() * small_exp(-rest) * FRAC_1_SQRT_2PI / upper.hazard;
            if z < 0.0 { outside } else { 1.0 - outside }
        },
    )
}

/// `log Φ(z)`, to full relative precision in both tails (right of 21 it is a zero instead of `−10⁻¹⁰⁰` and less).
pub fn log_cdf(z: f64) -> f64 {
    log_cdf_derivatives(z).value
}

/// `log Φ(z)` and its first three derivatives, each to a relative 1e-14 for |z| up to 1e15.
///
/// Neither the inverse Mills ratio `N(z)/Φ(z)` of the far left nor the differences that the derivatives are
/// made of are computed as differences of large numbers.
///
/// ```
/// let far = gp::log_cdf_derivatives(-1e3); // log Φ ≈ −z²/2 there
/// assert!((far.d1 - 1e3).abs() < 2e-3 && (far.d2 + 1.0).abs() < 2e-6);
/// ```
pub fn log_cdf_derivatives(z: f64) -> LogCdf {
    vectorised(
        #[inline(always)]
        || expand(z),
    )
}

/// `1/√(2π)`
const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;

/// How far a normal variable that exceeds `x ≥ 0` exceeds it: moments of `s > 0` with density `∝ exp(−xs − s²/2)`.
struct Tail {
    x: f64, // as used: not above 1e15
    mean: f64,
    third: f64,  // third central moment
    hazard: f64, // N(x)/Φ(−x) = x + mean
}

/// Numerator and denominator of `ρ₃(x)`, from the constant term; relative error 1e-17 on [0, ∞).
///
/// Interpolation at 24 Chebyshev nodes in `t = 5/(5 + x)`. All coefficients are positive, so that nothing cancels.
const RHO_3: ([f64; 12], [f64; 13]) = (
    [
        1.595_769_121_605_730_7,
        1.955_120_375_450_046,
        1.232_494_769_260_218_5,
        0.516_585_824_092_581_5,
        0.158_144_603_785_643_77,
        0.036_884_604_222_361_18,
        0.006_665_169_023_184_291,
        0.000_932_379_965_286_128,
        9.911_560_434_626_794e-5,
        7.660_702_466_760_169e-6,
        3.908_792_537_297_938e-7,
        1.014_442_893_893_990_2e-8,
    ],
    [
        1.0,
        1.509_392_087_720_085_2,
        1.154_844_847_228_185_8,
        0.584_099_869_293_886_7,
        0.215_709_659_061_137_36,
        0.060_969_653_244_369_15,
        0.013_487_713_946_700_55,
        0.002_351_271_285_009_650_3,
        0.000_320_939_962_192_963_1,
        3.355_970_712_038_708e-5,
        2.567_093_394_172_001_6e-6,
        1.302_930_845_765_979e-7,
        3.381_476_312_979_967_3e-9,
    ],
);

/// Moments `J_k = ∫₀^∞ sᵏ exp(−xs − s²/2) ds` have ratios `ρ_k = J_k/J_{k−1} = k/(x + ρ_{k+1})`. From the ratio ρ₃ the
/// recurrence runs downwards, where it shrinks errors; the central moments then cancel by small factors only.
#[inline(always)]
fn tail(x: f64) -> Tail {
    let x = if x > 1e15 { 1e15 } else { x };
    let (p, q) = (polynomial(&RHO_3.0, x), polynomial(&RHO_3.1, x)); // ρ₃ = p/q
    let a = x.times_plus(q, p); //       ρ₂ = 2q/a, ρ₂ρ₃ = 2p/a
    let b = x.times_plus(a, 2.0 * q); // ρ₁ = a/b
    let (rho_1, two) = (a / b, 2.0 / a);
    let (rho_2, rho_2_rho_3) = (two * q, two * p);
    let third = rho_1 * (rho_2_rho_3 - rho_1 * (3.0 * rho_2 - 2.0 * rho_1));
    Tail { x, mean: rho_1, third, hazard: x + rho_1 }
}

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    for k in (0..N - 1).rev() {
        sum = sum.times_plus(x, coefficients[k]);
    }
    sum
}

/// `x²/2` as the sum of a number and a rest below `x²/2²⁶`: of a large argument exp sees every rounding.
#[inline(always)]
fn half_square(x: f64) -> (f64, f64) {
    let high = f64::from_bits(x.to_bits() & !0x7ff_ffff); // 26 bits: its square is exact
    (0.5 * high * high, 0.5 * (x - high) * (x + high))
}

/// `exp x` for |x| < 1e-4.
#[inline(always)]
fn small_exp(x: f64) -> f64 {
    1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0)))
}

/// See [`log_cdf_derivatives`]; without branches, so that loops over it vectorise.
#[inline(always)]
fn expand(z: f64) -> LogCdf {
    let x = z.abs();
    let upper = tail(x);
    let (square, rest) = half_square(upper.x);
    let density = f64::exp_of_negative(-square) * small_exp(-rest) * FRAC_1_SQRT_2PI;
    let outside = density / upper.hazard; // Φ(−x)
    let right = density / (1.0 - outside);
    let moved = x + right;
    let left = z < 0.0;

    // ln(2ⁿ(1 + f)) with 1 + f in [√½, √2]: of 1 − Φ(−x) on the right, of the hazard on the left.
    const BIAS: u64 = 1023 << 52;
    let bits = upper.hazard.to_bits();
    let exponent = (bits + (BIAS - FRAC_1_SQRT_2.to_bits())) >> 52;
    let mantissa = f64::from_bits(bits.wrapping_sub(exponent << 52).wrapping_add(BIAS));
    let halved = outside > 1.0 - FRAC_1_SQRT_2;
    let (n_right, f_right) = if halved { (-1.0, 1.0 - 2.0 * outside) } else { (0.0, -outside) };
    // An integer below 2⁵² in the low bits of the number 2⁵².
    let n_left = f64::from_bits(exponent | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let (n, f) = if left { (n_left, mantissa - 1.0) } else { (n_right, f_right) };
    let logarithm = n.times_plus(f64::LN2_HIGH, log_of_one_plus(f) + n * f64::LN2_LOW);

    let half_log_2pi = 0.918_938_533_204_672_7;
    LogCdf {
        value: if left { -(0.5 * x * x) - (half_log_2pi + logarithm) } else { logarithm },
        d1: if left { x + upper.mean } else { right },
        d2: if left { -upper.mean * (x + upper.mean) } else { -right * moved },
        d3: if left { upper.third } else { right * (moved * (moved + right) - 1.0) },
    }
}

/// `log(1 + f)` for `1 + f` in [√½, √2], as fdlibm does it: the series of `2 artanh s` at `s = f/(2 + f)`.
#[inline(always)]
fn log_of_one_plus(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let square = s * s;
    let mut series = 2.0 / 21.0;
    for k in (1..10).rev() {
        series = series.times_plus(square, 2.0 / (2 * k + 1) as f64);
    }
    let half = 0.5 * f * f;
    f - (half - s * (half + square * series))
}

/// Work space for batches of exactly `n` rows, one output at a time.
#[derive(Debug)]
pub(crate) struct Laplace<T: Real> {
    threads: usize,
    b: Mat<T>,           // [N, N], lower: B = I + W½KW½
    b_chol: Cholesky<T>, // [N, N]
    inverse: Mat<T>,     // [N, N]  L⁻¹ of B = L Lᵀ, then L⁻¹W½
    root_w: Vec<T>,      // [N]     diagonal of W½
    prior: Prior,
    at: Point,
    trial: Point,
    step: Vec<f64>,              // [N]  of β
    k_step: Vec<f64>,            // [N]  of f
    scratch: Vec<f64>,           // [N]
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

impl<T: Real> Laplace<T> {
    pub(crate) fn with_size(n: usize, threads: usize) -> Self {
        let square = || Mat::zeros(n, n);
        let vector = || vec![0.0; n];
        Self {
            threads,
            b: square(),
            b_chol: Cholesky::with_size(n),
            inverse: square(),
            root_w: vec![T::default(); n],
            prior: Prior { mean: vector(), y: vector(), weights: vector() },
            at: Point::with_size(n),
            trial: Point::with_size(n),
            step: vector(),
            k_step: vector(),
            scratch: vector(),
            d_mean: vector(),
        }
    }

    /// Laplace approximation of the negative log evidence of labels `y` (±1) under the prior `f ~ N(a, K)` with
    /// `a = mean`, `K = cov` (Rasmussen & Williams 2006, algorithms 3.1 and 5.1, with a prior mean).
    ///
    /// ```text
    /// log Z ≈ log p(y|f̂) − ½ (f̂−a)ᵀK⁻¹(f̂−a) − ½ log|B|      f̂ = argmax ψ      B = I + W½KW½
    /// ```
    /// The `log p` of a row is multiplied by its weight. `start` is `K⁻¹(f̂−a)` of an earlier mode or zeros, and
    /// becomes that of this one. Leaves `d_mean` and adds the gradient by K to the lower triangle of `g`.
    /// K is never inverted and may be singular: O(N³/3) for a Newton step, O(2N³/3) for the gradient.
    pub(crate) fn evaluate(
        &mut self,
        cov: MatRef<'_, T>,
        mean: &[T],
        y: &[T],
        weights: Option<&[f64]>,
        start: &mut [f64],
        g: MatMut<'_, T>,
    ) -> Result<LaplaceValue, Error> {
        self.prior.set(mean, y, weights);
        self.begin(cov, start)?;
        let steps = self.climb(cov)?;
        for ((start, beta), step) in start.iter_mut().zip(&self.at.beta).zip(&self.step) {
            *start = beta + step;
        }
        Ok(LaplaceValue { loss: self.pull_back(cov, g), steps })
    }

    /// The same for independent rows, where it is exact: `Z = Π Φ(y a/√(1 + k))` with `k = diag(cov)`.
    pub(crate) fn evaluate_rows(
        &mut self,
        cov: MatRef<'_, T>,
        mean: &[T],
        y: &[T],
        weights: Option<&[f64]>,
        mut g: MatMut<'_, T>,
    ) -> LaplaceValue {
        self.prior.set(mean, y, weights);
        let Prior { mean, y, weights } = &self.prior;
        let mut loss = 0.0;
        for i in 0..mean.len() {
            let variance = 1.0 + cov[(i, i)].to_f64().max(0.0);
            let slope = y[i] / variance.sqrt();
            let z = slope * mean[i];
            let log_p = log_cdf_derivatives(z);
            let d_z = -weights[i] * log_p.d1;
            loss -= weights[i] * log_p.value;
            self.d_mean[i] = d_z * slope;
            g[(i, i)] -= T::of(0.5 * d_z * z / variance);
        }
        LaplaceValue { loss, steps: 0 }
    }

    /// Begins at the better one of `start` and zero.
    fn begin(&mut self, cov: MatRef<'_, T>, start: &[f64]) -> Result<(), Error> {
        self.at.beta.fill(0.0);
        self.at.k_beta.fill(0.0);
        self.at.expand(&self.prior);
        if !self.at.psi.is_finite() {
            return Err(Error::NotFinite { what: "the prior mean of a batch" });
        }
        if start.iter().any(|&beta| beta != 0.0) {
            self.trial.beta.copy_from_slice(start);
            multiply(cov, start, &mut self.trial.k_beta);
            self.trial.expand(&self.prior);
            if self.trial.psi > self.at.psi {
                std::mem::swap(&mut self.at, &mut self.trial);
            }
        }
        Ok(())
    }

    /// Newton's method on ψ. Leaves the factor of B at the last point, and the step that was too small to be taken.
    fn climb(&mut self, cov: MatRef<'_, T>) -> Result<usize, Error> {
        let tolerance = if T::MANTISSA > 30 { 1e-9 } else { 1e-5 };
        let mut steps = 0;
        loop {
            self.factor(cov)?;
            // (I + WK) step = u − β: a correction, so that the factor's rounding does not limit the mode's precision.
            for ((step, u), beta) in self.step.iter_mut().zip(&self.at.u).zip(&self.at.beta) {
                *step = u - beta;
            }
            self.damp(cov);
            multiply(cov, &self.step, &mut self.k_step);
            if largest(&self.k_step) <= tolerance * (1.0 + largest(&self.at.k_beta)) {
                return Ok(steps);
            }
            if steps == MAX_STEPS || !self.take_step() {
                self.step.fill(0.0);
                self.k_step.fill(0.0);
                return Ok(steps);
            }
            steps += 1;
        }
    }

    /// Factors B at the current point.
    fn factor(&mut self, cov: MatRef<'_, T>) -> Result<(), Error> {
        for (root, &w) in self.root_w.iter_mut().zip(&self.at.w) {
            *root = T::of(w.sqrt());
        }
        for (j, &root) in self.root_w.iter().enumerate() {
            let to = &mut column_mut(self.b.as_mut(), j)[j..];
            for ((to, &k), &other) in to.iter_mut().zip(&column(cov, j)[j..]).zip(&self.root_w[j..]) {
                *to = root * other * k;
            }
            to[0] += T::of(1.0);
        }
        self.b_chol.factor_with_ladder("I + W½KW½", self.b.as_ref(), 0.0).map(|_| ())
    }

    /// `step ← (I + WK)⁻¹ step = step − W½B⁻¹W½K step`.
    fn damp(&mut self, cov: MatRef<'_, T>) {
        let (x, l) = (&mut self.scratch, self.b_chol.lower());
        multiply(cov, &self.step, x);
        scale(x, &self.root_w);
        solve_lower(l, x);
        solve_upper(l, x);
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
    fn pull_back(&mut self, cov: MatRef<'_, T>, mut g: MatMut<'_, T>) -> f64 {
        let n = self.root_w.len();
        self.b_chol.inverse_factor(self.inverse.as_mut(), self.threads);
        let mut loss = 0.5 * self.b_chol.log_determinant() - self.at.psi;
        for j in 0..n {
            let inverse = &mut column_mut(self.inverse.as_mut(), j)[j..];
            let kept: f64 = sum_of_squares(inverse); // (B⁻¹)ⱼⱼ = 1 − WⱼΣⱼⱼ
            let s_2 =
                if self.at.w[j] > 0.0 { 0.5 * (1.0 - kept) * self.at.third[j] / self.at.w[j] } else { 0.0 };
            let root = self.root_w[j];
            inverse.iter_mut().for_each(|x| *x *= root);
            // To first order the last step, which was not taken, is in the loss and in u.
            loss -= s_2 * self.k_step[j];
            self.at.u[j] -= self.at.w[j] * self.k_step[j];
            self.step[j] = s_2;
        }
        self.damp(cov);
        let (u, q) = (&self.at.u, &self.step);
        let inverse = self.inverse.as_ref();
        triangular::matmul(
            g.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            inverse.transpose(),
            BlockStructure::TriangularUpper,
            inverse,
            BlockStructure::TriangularLower,
            T::of(0.5),
            Par::Seq,
        );
        for j in 0..n {
            let (by_u, by_q) = (-0.5 * (u[j] + q[j]), -0.5 * u[j]);
            let g = &mut column_mut(g.as_mut(), j)[j..];
            for ((g, u), q) in g.iter_mut().zip(&u[j..]).zip(&q[j..]) {
                *g += T::of(by_u * u + by_q * q);
            }
            self.d_mean[j] = -(u[j] + q[j]);
        }
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
    fn with_size(n: usize) -> Self {
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

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

fn scale<T: Real>(x: &mut [f64], by: &[T]) {
    x.iter_mut().zip(by).for_each(|(x, by)| *x *= by.to_f64());
}

fn sum_of_squares<T: Real>(x: &[T]) -> f64 {
    x.iter().map(|x| x.to_f64() * x.to_f64()).sum()
}

/// `out = K x` from the lower triangle of K, in double precision.
fn multiply<T: Real>(k: MatRef<'_, T>, x: &[f64], out: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            out.fill(0.0);
            for (j, &x_j) in x.iter().enumerate() {
                let column = &column(k, j)[j..];
                let mut lanes = [0.0; LANES];
                let (head, tail) = column[1..].split_at((column.len() - 1) / LANES * LANES);
                let (out_head, out_tail) = out[j + 1..].split_at_mut(head.len());
                let (x_head, x_tail) = x[j + 1..].split_at(head.len());
                for ((k, x), out) in head
                    .chunks_exact(LANES)
                    .zip(x_head.chunks_exact(LANES))
                    .zip(out_head.chunks_exact_mut(LANES))
                {
                    for lane in 0..LANES {
                        let k = k[lane].to_f64();
                        lanes[lane] = k.times_plus(x[lane], lanes[lane]);
                        out[lane] = k.times_plus(x_j, out[lane]);
                    }
                }
                let mut sum = column[0].to_f64() * x_j;
                for ((k, x), out) in tail.iter().zip(x_tail).zip(out_tail) {
                    sum += k.to_f64() * x;
                    *out += k.to_f64() * x_j;
                }
                out[j] += sum + lanes.iter().sum::<f64>();
            }
        },
    )
}

/// Independent sums of a dot product.
const LANES: usize = 8;

/// `x ← L⁻¹x` in double precision.
fn solve_lower<T: Real>(l: MatRef<'_, T>, x: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            for j in 0..x.len() {
                let column = &column(l, j)[j..];
                let (head, rest) = x[j..].split_at_mut(1);
                head[0] /= column[0].to_f64();
                for (x, l) in rest.iter_mut().zip(&column[1..]) {
                    *x = (-head[0]).times_plus(l.to_f64(), *x);
                }
            }
        },
    )
}

/// `x ← L⁻ᵀx` in double precision.
fn solve_upper<T: Real>(l: MatRef<'_, T>, x: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            for j in (0..x.len()).rev() {
                let column = &column(l, j)[j..];
                let (head, rest) = x[j..].split_at_mut(1);
                let mut lanes = [0.0; LANES];
                let (l_blocks, x_blocks) = (column[1..].chunks_exact(LANES), rest.chunks_exact(LANES));
                for (l, x) in l_blocks.remainder().iter().zip(x_blocks.remainder()) {
                    head[0] -= l.to_f64() * x;
                }
                for (l, x) in l_blocks.zip(x_blocks) {
                    for lane in 0..LANES {
                        lanes[lane] = l[lane].to_f64().times_plus(x[lane], lanes[lane]);
                    }
                }
                head[0] = (head[0] - lanes.iter().sum::<f64>()) / column[0].to_f64();
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// z, log Φ(z), its three derivatives, Φ(z) (0 where it underflows), by mpmath with 700 digits.
    const TABLE: &str = "
        -1000.0 -500007.82669481216 1000.000999998 -0.999999000006 1.999976000299996e-09 0.0
        -300.0 -45006.62273211866 300.00333325926334 -0.999988889629561 7.406419890239581e-08 0.0
        -50.5 -1279.966303604255 50.51978648111454 -0.9996088011190107 1.545672603737358e-05 0.0
        -38.0 -726.5572160188201 38.02627946657587 -0.9993103402465338 3.614816327127331e-05 0.0
        -20.0 -203.91715537109727 20.049753068527853 -0.9975367383849478 0.00024272657893584202 2.7536241186062337e-89
        -8.3 -37.49421742374825 8.417213965503613 -0.9866150273890658 0.002980881397089171 5.205569744890254e-17
        -5.0 -15.064998393988725 5.186503967125842 -0.9673035653828878 0.0108257645063567 2.866515718791939e-07
        -3.0 -6.607726221510349 3.2830986549304364 -0.9294408132147319 0.03147067283084249 0.0013498980316300946
        -1.7 -3.1107960975524813 2.1103579219281876 -0.8660020913671393 0.07258727059371692 0.04456546275854304
        -1.0 -1.8410216450092636 1.525135276160981 -0.8009023344296512 0.11693119540604884 0.15865525393145705
        -0.5 -1.1759117615936185 1.1410777703680646 -0.731519592844121 0.16260392517612296 0.3085375387259869
        -0.1 -0.7761545927302733 0.8626174715309362 -0.6578471550373318 0.2065387120295765 0.460172162722971
        -1e-08 -0.693147188538791 0.7978845671690631 -0.6366197745477175 0.21801361299728333 0.4999999960105772
        0.0 -0.6931471805599453 0.7978845608028654 -0.6366197723675814 0.21801361414499015 0.5
        0.001 -0.6923496142726883 0.7972480500564331 -0.6364017013688413 0.2181283825827461 0.500398942213911
        0.1 -0.6165050101150263 0.7353317485057806 -0.6142459552111468 0.22944195153136593 0.539827837277029
        0.3 -0.4814101615884812 0.6172208536127345 -0.5661278382182529 0.2514693129707456 0.6179114221889527
        0.5 -0.3689464152886564 0.5091604338370335 -0.5138245643036329 0.27099012446870785 0.6914624612740131
        1.0 -0.17275377902344988 0.2875999709391784 -0.3703137142233946 0.2957181701822712 0.8413447460685429
        2.5 -0.006229025485860002 0.017637825486916735 -0.04440565660519877 0.09494275446974908 0.9937903346742238
        5.0 -2.866516129637636e-07 1.4867199409049056e-06 -7.433601914860711e-06 3.568131173676705e-05 0.9999997133484281
        8.0 -6.220960574271786e-16 5.052271083536895e-15 -4.0418168668295186e-14 3.1829307826282504e-13 0.9999999999999993
        12.0 -1.776482112077679e-33 2.1463837356630602e-32 -2.5756604827956722e-31 3.0693287419981763e-30 1.0
        20.0 -2.7536241186062337e-89 5.520948362159764e-88 -1.1041896724319525e-86 2.2028583965017455e-85 1.0";

    fn assert_close(what: &str, z: f64, got: f64, expected: f64, tolerance: f64) {
        assert!(
            (got - expected).abs() <= tolerance * expected.abs(),
            "{what} at {z}: {got:e}, not {expected:e}"
        );
    }

    #[test]
    fn log_cdf_with_its_derivatives_and_cdf_equal_high_precision_values() {
        for line in TABLE.trim().lines() {
            let row: Vec<f64> = line.split_whitespace().map(|x| x.parse().expect("a number")).collect();
            let [z, value, d1, d2, d3, probability] = row[..] else { panic!("six numbers: {line}") };
            let got = log_cdf_derivatives(z);
            // A few roundings each; the third derivative is a difference that cancels by up to a factor of 23.
            assert_close("log Φ", z, got.value, value, 2e-15);
            assert_close("first", z, got.d1, d1, 2e-15);
            assert_close("second", z, got.d2, d2, 2e-15);
            assert_close("third", z, got.d3, d3, 1e-14);
            if probability > 0.0 {
                assert_close("Φ", z, cdf(z), probability, 2e-15);
            }
        }
    }

    #[test]
    fn derivatives_obey_the_differential_equation_of_the_mills_ratio_between_the_table_s_points() {
        for step in -6000..6000 {
            let z = f64::from(step) * 1e-3 + 3e-4;
            let LogCdf { d1, d2, d3, .. } = log_cdf_derivatives(z);
            // Left of zero these are differences of numbers as large as z² that may leave as little as 1/z⁴.
            assert!((d2 + d1 * (z + d1)).abs() < 1e-14 * (1.0 + z * z), "second at {z}");
            assert!(
                (d3 - d1 * ((z + d1) * (z + 2.0 * d1) - 1.0)).abs() < 1e-14 * (1.0 + z * z),
                "third at {z}"
            );
        }
    }

    #[test]
    fn extremes_are_finite_or_infinite_but_never_nan_unless_given() {
        let far = log_cdf_derivatives(1e3);
        assert_eq!([far.value, far.d1, far.d2, far.d3].map(f64::abs), [0.0; 4]);
        assert_eq!((cdf(f64::INFINITY), cdf(f64::NEG_INFINITY)), (1.0, 0.0));
        assert_eq!((log_cdf(f64::INFINITY), log_cdf(f64::NEG_INFINITY)), (0.0, f64::NEG_INFINITY));
        assert!(log_cdf(f64::NAN).is_nan() && cdf(f64::NAN).is_nan());
    }

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

        fn evaluate_as<T: Real>(&self, start: &[f64], rows: bool) -> Answer {
            let n = self.y.len();
            let convert = |x: &[f64]| -> Vec<T> { x.iter().map(|&x| T::of(x)).collect() };
            // Above the diagonal stands what must never be read.
            let cov = Mat::from_fn(n, n, |i, j| T::of(if i >= j { self.cov[(i, j)] } else { f64::NAN }));
            let mut g = Mat::<T>::zeros(n, n);
            let mut laplace = Laplace::with_size(n, 1);
            let (mean, y, weights) = (convert(&self.mean), convert(&self.y), self.weights.as_deref());
            let mut beta = start.to_vec();
            let value = if rows {
                laplace.evaluate_rows(cov.as_ref(), &mean, &y, weights, g.as_mut())
            } else {
                laplace
                    .evaluate(cov.as_ref(), &mean, &y, weights, &mut beta, g.as_mut())
                    .expect("B is positive definite")
            };
            let g = Mat::from_fn(n, n, |i, j| if i >= j { g[(i, j)].to_f64() } else { 0.0 });
            Answer { loss: value.loss, steps: value.steps, d_mean: laplace.d_mean, g, beta }
        }

        fn evaluate(&self) -> Answer {
            self.evaluate_as::<f64>(&vec![0.0; self.y.len()], false)
        }
    }

    /// Fourth-order central difference.
    fn slope(step: f64, loss: impl Fn(f64) -> f64) -> f64 {
        (8.0 * (loss(step) - loss(-step)) - (loss(2.0 * step) - loss(-2.0 * step))) / (12.0 * step)
    }

    fn assert_gradient(name: &str, problem: &Problem, rows: bool) {
        let n = problem.y.len();
        let zeros = vec![0.0; n];
        let answer = problem.evaluate_as::<f64>(&zeros, rows);
        let loss = |change: &dyn Fn(&mut Problem)| {
            let mut changed = problem.clone();
            change(&mut changed);
            changed.evaluate_as::<f64>(&zeros, rows).loss
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
            assert!(
                (analytic - numeric).abs() < 2e-8 * size,
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
            assert_gradient(name, problem, false);
        }
    }

    #[test]
    fn gradients_of_independent_rows_equal_central_differences() {
        let mut problem = Problem::random(6, 3.0, 8.0, 3);
        problem.weights = Some(vec![0.5, 1.0, 2.0, 1.0, 1.0, 0.0]);
        assert_gradient("rows", &problem, true);
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

        #[test]
        fn a_warm_start_changes_nothing_but_the_steps(n in 1..40usize, log_scale in -3.0..4.7, seed: u64) {
            let problem = Problem::random(n, f64::exp(log_scale), 5.0, seed);
            let cold = problem.evaluate();
            let near: Vec<f64> = cold.beta.iter().map(|beta| beta * 1.01 + 1e-3).collect();
            let far: Vec<f64> = cold.beta.iter().map(|beta| 3.0 - 100.0 * beta).collect();
            for (start, steps) in [(&cold.beta, 0), (&near, cold.steps.max(3)), (&far, 20)] {
                let warm = problem.evaluate_as::<f64>(start, false);
                prop_assert!(warm.steps <= steps, "{} steps instead of {}", warm.steps, cold.steps);
                prop_assert!((warm.loss - cold.loss).abs() < 1e-10 * (1.0 + cold.loss));
                for i in 0..n {
                    prop_assert!((warm.d_mean[i] - cold.d_mean[i]).abs() < 1e-8);
                    for j in 0..=i {
                        prop_assert!((warm.g[(i, j)] - cold.g[(i, j)]).abs() < 1e-8);
                    }
                }
            }
        }
    }

    #[test]
    fn without_variance_the_evidence_is_the_likelihood() {
        let mut problem = Problem::random(9, 0.0, 5.0, 4);
        problem.cov = Mat::zeros(9, 9);
        let likelihood: f64 = problem.mean.iter().zip(&problem.y).map(|(a, y)| log_cdf(y * a)).sum();
        let rows = problem.evaluate_as::<f64>(&[0.0; 9], true);
        assert!((problem.evaluate().loss + likelihood).abs() < 1e-13);
        assert!((rows.loss + likelihood).abs() < 1e-13);
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
                let rows = problem.evaluate_as::<f64>(&[0.0], true).loss;
                assert!((rows - exact).abs() < 1e-10, "rows: {rows}, not {exact}");
                // Measured: 0.05 at k = 1, 0.2 at k = 30; it vanishes with k.
                let laplace = problem.evaluate().loss;
                let bound = 0.08 * k.min(3.0);
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
            let single = double.evaluate_as::<f32>(&[0.0; 50], false);
            let double = double.evaluate();
            assert!((single.loss / double.loss - 1.0).abs() < 1e-6, "{} {}", single.loss, double.loss);
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
            let result = laplace.evaluate(cov.as_ref(), &[mean], &[-1.0], None, &mut [0.0], g.as_mut());
            assert!(matches!(result, Err(Error::NotFinite { .. })));
        }
    }
}
