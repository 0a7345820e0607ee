//! The likelihood of a batch with all its gradients in one pass (paper eqs. 2–6, signs corrected).
//!
//! ```text
//! K_zz = k(Z,Z) + εI      B = K_zz⁻¹ K_zx [M,N]      α = K_zz⁻¹ r [M,C]
//! ŷ    = K_xz α [N,C]     S_c = K_xx − K_xz B + σ_c²I     e = y − ŷ     v_c = S_c⁻¹e_c
//! loss = Σ_c ( ½ e_cᵀv_c + ½ log|S_c| + N/2 log 2π ) / N
//! ```
//! No derivative of a Cholesky factor is needed. With `m̄_c = ∂/∂ŷ_c = −v_c/N`, `G = Σ_c ½(S_c⁻¹ − v_c v_cᵀ)/N`:
//! ```text
//! ∂K_zx = α m̄ᵀ − 2 B G      ∂K_zz = B G Bᵀ − ½(α (B m̄)ᵀ + (B m̄) αᵀ)
//! ∂K_xx = G                 ∂r    = B m̄              ∂σ_c² = tr G_c
//! ```

use crate::cholesky::Cholesky;
use crate::classes::{Link, class_loss};
use crate::gaussian::{Coupling, Gaussian};
use crate::kernel::Left;
use crate::laplace::{Laplace, LaplaceValue};
use crate::matrix::{
    Triangle, add_product, both, column, column_mut, in_pool, mirror, multiply, product, strips,
    subtract_squares, upper_product, zeros,
};
use crate::panels::Panels;
use crate::pull_back::{Pair, Slope, Spare, Sums, Symmetric};
use crate::tile::{Part, Plus};
use crate::{Error, InducingPoints, Kernel, Real};
use faer::{Accum, Mat, MatMut, MatRef};

/// What one evaluation says besides its gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// Mean negative log-likelihood of a row, summed over outputs.
    pub loss: f64,
    /// Mean of `1 − var f / k**`: how much of the prior variance the inducing points explain; near zero they do nothing.
    pub utilisation: f64,
    /// The jitter that `K_zz` needed.
    pub jitter: f64,
    /// Newton steps to the mode, the most that an output took; 0 where there is a closed form.
    pub newton_steps: usize,
}

/// Gradients of the loss, row-major like what they belong to.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient<T: Real> {
    /// `[N, D]`
    pub phi: Vec<T>,
    /// `[M, D]`, through the kernel and through the pseudo-labels
    pub z: Vec<T>,
    /// `[D, C]`
    pub w: Vec<T>,
    /// `[C]`
    pub b: Vec<T>,
    /// `[C]`
    pub log_sigma: Vec<f64>,
    /// `[log s, log γ]` (or `[log s, log c]`)
    pub log_kernel: [f64; 2],
}

/// Evaluates the batch likelihood; owns the work space, which is allocated once for a size of batch.
#[derive(Debug)]
pub struct Objective<T: Real> {
    threads: usize,
    z: Left<T>,
    phi: Left<T>,
    points: Points<T>,
    rows: Rows<T>,
    solved: Mat<T>,         // [M, N+2C]  B | α | B m̄
    solved_left: Panels<T>, // [M, N+2C]  B | α | B m̄
    cov: Mat<T>,            // [N, N]  K_xx − K_xz B
    g: Mat<T>,              // [N, N]
    m_bar: Mat<T>,          // [N, C]
    y_hat: Mat<T>,          // [N, C]
    gaussian: Option<Gaussian<T>>,
    laplace: Option<Laplace<T>>,
    gradient: Gradient<T>,
}

/// What belongs to the inducing points alone: ready before a batch's features are.
#[derive(Debug)]
struct Points<T: Real> {
    k: Mat<T>,         // [M, M], upper; E after the way back
    h: Option<Mat<T>>, // [M, M], upper: ∂k/∂‖·‖² for kernels that cannot derive it from k
    chol: Cholesky<T>,
    right: Mat<T>, // [M, N+2C]  A | L⁻¹r, later B G | −½ B m̄ | −½ α
    spare: Spare<T>,
    scratch: Mat<T>, // [D, M]
}

/// What belongs to the batch's features.
#[derive(Debug)]
struct Rows<T: Real> {
    k_zx: Mat<T>, // [M, N+C]  K_zx | r; E in place of K_zx after the way back
    k_xx: Mat<T>, // [N, N], upper; E after the way back
    h_zx: Option<Mat<T>>,
    h_xx: Option<Mat<T>>,
    spare: Spare<T>,
    scratch: Mat<T>, // [D, N]
}

/// The model that a batch is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a, T: Real> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Z, w, b.
    pub inducing: &'a InducingPoints<T>,
    /// What the targets are, given the latent function.
    pub likelihood: Likelihood<'a>,
    /// Smallest jitter on `K_zz`.
    pub jitter: f64,
    /// Which rows the likelihood couples.
    pub coupling: Coupling,
}

/// What the targets are, given the latent function.
#[derive(Debug, Clone, Copy)]
pub enum Likelihood<'a> {
    /// `y = f + noise`.
    Gaussian {
        /// log σ of each output `[C]`.
        log_sigma: &'a [f64],
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

impl<T: Real> Model<'_, T> {
    /// Whether rows of a batch are coupled. If not, all `[N, N]` matrices are their diagonals.
    fn couples(&self) -> bool {
        self.coupling == Coupling::Batch && !matches!(self.likelihood, Likelihood::Logit { .. })
    }
}

impl<T: Real> Objective<T> {
    /// Work space for batches of `n` rows, on `threads` threads of the current rayon pool.
    pub fn new(n: usize, kernel: &Kernel, inducing: &InducingPoints<T>, threads: usize) -> Self {
        let (m, d, c) = (inducing.len(), inducing.dim(), inducing.outputs());
        let slopes = |rows, columns| kernel.needs_slopes().then(|| zeros(rows, columns));
        Self {
            threads,
            z: Left::new(),
            phi: Left::new(),
            points: Points {
                k: zeros(m, m),
                h: slopes(m, m),
                chol: Cholesky::with_size(m),
                right: zeros(m, n + 2 * c),
                spare: Spare::new(),
                scratch: zeros(d, m),
            },
            rows: Rows {
                k_zx: zeros(m, n + c),
                k_xx: zeros(n, n),
                h_zx: slopes(m, n),
                h_xx: slopes(n, n),
                spare: Spare::new(),
                scratch: zeros(d, n),
            },
            solved: zeros(m, n + 2 * c),
            solved_left: Panels::new(),
            cov: zeros(n, n),
            g: zeros(n, n),
            m_bar: zeros(n, c),
            y_hat: zeros(n, c),
            gaussian: None,
            laplace: None,
            gradient: Gradient {
                phi: vec![T::default(); n * d],
                z: vec![T::default(); m * d],
                w: vec![T::default(); d * c],
                b: vec![T::default(); c],
                log_sigma: vec![0.0; c],
                log_kernel: [0.0; 2],
            },
        }
    }

    /// Rows of a batch.
    pub fn rows(&self) -> usize {
        self.cov.nrows()
    }

    /// The gradient of the last evaluation.
    pub fn gradient(&self) -> &Gradient<T> {
        &self.gradient
    }

    /// Loss and gradient of a batch with features `phi`, row-major `[N, D]`, and targets `y`, row-major `[N, C]`:
    /// O(M³/3 + M²(2N + D) + MND).
    ///
    /// # Panics
    /// When a length does not fit the work space.
    pub fn evaluate(&mut self, model: Model<'_, T>, phi: &[T], y: &[T]) -> Result<Value, Error> {
        self.evaluate_between(model, y, || phi, |_| ())
    }

    /// The same between the two passes of a network: `forward` gives the features, `backward` takes their gradient.
    /// On two threads the one runs while `K_zz` is factored, the other while the inducing points get their gradient.
    /// After an error `backward` has not run.
    ///
    /// # Panics
    /// When a length does not fit the work space.
    pub fn evaluate_between<P: AsRef<[T]> + Send + Sync>(
        &mut self,
        model: Model<'_, T>,
        y: &[T],
        forward: impl FnOnce() -> P + Send,
        backward: impl FnOnce(&[T]) + Send,
    ) -> Result<Value, Error> {
        in_pool(self.threads, || self.evaluate_here(model, y, forward, backward))
    }

    fn evaluate_here<P: AsRef<[T]> + Send + Sync>(
        &mut self,
        model: Model<'_, T>,
        y: &[T],
        forward: impl FnOnce() -> P + Send,
        backward: impl FnOnce(&[T]) + Send,
    ) -> Result<Value, Error> {
        let (n, d, c) = (self.rows(), model.inducing.dim(), model.inducing.outputs());
        let threads = self.threads;
        assert_eq!(y.len(), n * c, "y is [N, C]");
        let (points, rows, z, phi_left) = (&mut self.points, &mut self.rows, &mut self.z, &mut self.phi);
        z.set(model.inducing.columns());
        let z = &*z;
        points.gram(&model, z, threads);
        let (jitter, features) = both(
            threads,
            || points.factor(&model),
            || {
                let features = forward();
                assert_eq!(features.as_ref().len(), n * d, "phi is [N, D]");
                let phi = MatRef::from_column_major_slice(features.as_ref(), d, n);
                phi_left.set(phi);
                rows.gram(&model, z, phi_left, phi, threads);
                features
            },
        );
        let jitter = jitter?;
        let phi = MatRef::from_column_major_slice(features.as_ref(), d, n); // [D, N]
        self.condition(&model);
        let prior = |i: usize| self.rows.k_xx[(i, i)].to_f64();
        let variance: f64 = (0..n).map(|i| self.cov[(i, i)].to_f64() / prior(i)).sum();
        let (loss, newton_steps) = self.likelihood(&model, y)?;
        if !loss.is_finite() {
            return Err(Error::NotFinite { what: "the loss" });
        }
        self.pull_back(&model, phi, backward);
        Ok(Value { loss, utilisation: 1.0 - variance / n as f64, jitter, newton_steps })
    }

    /// From `G` and `m̄` to every parameter, and to `backward`.
    fn pull_back(&mut self, model: &Model<'_, T>, phi: MatRef<'_, T>, backward: impl FnOnce(&[T]) + Send) {
        let (n, c, threads) = (phi.ncols(), model.inducing.outputs(), self.threads);
        let (d, z) = (phi.nrows(), model.inducing.columns());
        let (solved, d_r) = self.solved.as_mut().split_at_col_mut(n + c);
        product(d_r, solved.as_ref().subcols(0, n), self.m_bar.as_ref(), 1.0, 1); // B m̄
        let solved = self.solved.as_ref();
        let (b, alpha, d_r) = (solved.subcols(0, n), solved.subcols(n, c), solved.subcols(n + c, c));
        self.solved_left.pack(solved);
        let (mut b_g, mut rank) = self.points.right.as_mut().split_at_col_mut(n);
        if model.couples() {
            mirror(self.g.as_mut(), Triangle::Lower);
            let (solved_left, g) = (&self.solved_left, self.g.as_ref());
            strips(b_g.as_mut(), threads, &|start, out| {
                let g = g.subcols(start, out.ncols());
                solved_left.times((0, 0), out, Part::All, Plus::Nothing, g, T::of(1.0));
            });
        } else {
            (0..n).for_each(|j| multiply(column_mut(b_g.as_mut(), j), column(b, j), self.g[(j, j)]));
        }
        let halved = d_r.col_iter().chain(alpha.col_iter());
        for (mut to, from) in rank.as_mut().col_iter_mut().zip(halved) {
            to.copy_from(faer::Scale(T::of(-0.5)) * from);
        }

        let Gradient { phi: d_phi, z: d_z, w: d_w, b: d_b, log_kernel, .. } = &mut self.gradient;
        let slope = Slope { twice: b_g.as_ref(), left: alpha, right: self.m_bar.as_ref() };
        let pair = Pair { a: z, b: phi, a_left: &self.z, b_left: &self.phi };
        let (sums, by_rows) = self.rows.pull_back(
            model,
            pair,
            slope,
            self.g.as_ref(),
            MatMut::from_column_major_slice_mut(d_phi, d, n),
            threads,
        );
        let (points, rows, solved_left) = (&mut self.points, &self.rows, &self.solved_left);
        let (by_points, ()) = both(
            threads,
            || {
                let mut d_z = MatMut::from_column_major_slice_mut(d_z, d, z.ncols());
                let e = rows.k_zx.as_ref().subcols(0, n);
                let of_pair = model.kernel.pull_back_left(pair, e, &sums, d_z.as_mut(), threads);
                let of_points = points.pull_back(model.kernel, pair, solved_left, d_z.as_mut(), threads);
                add_product(d_z, model.inducing.weights(), d_r.transpose(), 1.0, 1);
                product(MatMut::from_row_major_slice_mut(d_w, d, c), z, d_r, 1.0, 1);
                for (output, d_b) in d_b.iter_mut().enumerate() {
                    *d_b = column(d_r, output).iter().copied().sum();
                }
                [of_pair[0] + of_points[0], of_pair[1] + of_points[1]]
            },
            || backward(d_phi),
        );
        *log_kernel = [by_rows[0] + by_points[0], by_rows[1] + by_points[1]];
    }

    /// Conditions the batch on the inducing points: fills `cov`, `ŷ` and `B | α`.
    fn condition(&mut self, model: &Model<'_, T>) {
        let (n, c, threads) = (self.rows(), model.inducing.outputs(), self.threads);
        let z = model.inducing.columns(); // [D, M]
        let mut r = self.rows.k_zx.as_mut().subcols_mut(n, c); // [M, C]
        product(r.as_mut(), z.transpose(), model.inducing.weights(), 1.0, 1);
        for (output, &b) in model.inducing.b.iter().enumerate() {
            column_mut(r.as_mut(), output).iter_mut().for_each(|r| *r += b);
        }
        let Points { chol, right: half, .. } = &mut self.points;
        let mut half = half.as_mut().subcols_mut(0, n + c);
        chol.half_solve(self.rows.k_zx.as_ref(), half.as_mut(), threads);
        let (a, half_r) = half.as_ref().split_at_col(n); // A = L⁻¹K_zx [M, N], L⁻¹r [M, C]
        if model.couples() {
            for j in 0..n {
                let k_xx = &column(self.rows.k_xx.as_ref(), j)[..=j];
                column_mut(self.cov.as_mut(), j)[..=j].copy_from_slice(k_xx);
            }
            upper_product(self.cov.as_mut(), Accum::Add, a.transpose(), a, -1.0, threads);
            mirror(self.cov.as_mut(), Triangle::Upper);
        } else {
            let mut variances: Vec<T> = (0..n).map(|i| self.rows.k_xx[(i, i)]).collect();
            subtract_squares(a, &mut variances);
            (0..n).for_each(|i| self.cov[(i, i)] = variances[i]);
        }
        product(self.y_hat.as_mut(), a.transpose(), half_r, 1.0, 1);
        chol.half_solve_transposed(half.as_ref(), self.solved.as_mut().subcols_mut(0, n + c), threads);
    }

    /// Sums the outputs' losses; fills `G` and `m̄`, both already divided by N. Returns Newton steps too.
    fn likelihood(&mut self, model: &Model<'_, T>, y: &[T]) -> Result<(f64, usize), Error> {
        let (n, c) = (self.rows(), model.inducing.outputs());
        self.g.fill(T::default());
        self.gradient.log_sigma.fill(0.0);
        let (mut loss, mut steps) = (0.0, 0);
        match (model.likelihood, model.coupling) {
            (Likelihood::Probit { weights }, Coupling::Rows) => {
                loss = self.own_class(Link::Probit, c, y, weights);
            }
            (Likelihood::Logit { weights }, _) => loss = self.own_class(Link::Logit, c, y, weights),
            (Likelihood::Probit { weights }, Coupling::Batch) => {
                for output in 0..c {
                    let value = self.laplace(output, &column_of(y, c, output), weights)?;
                    loss += value.loss;
                    steps = steps.max(value.steps);
                }
            }
            (Likelihood::Gaussian { log_sigma }, coupling) => {
                for (output, &log_sigma) in log_sigma.iter().enumerate() {
                    loss += self.gaussian(output, &column_of(y, c, output), log_sigma, coupling)?;
                }
            }
        }
        let share = 1.0 / n as f64;
        for j in 0..n {
            let end = if model.couples() { n } else { j + 1 };
            column_mut(self.g.as_mut(), j)[j..end].iter_mut().for_each(|g| *g *= T::of(share));
        }
        for output in 0..c {
            column_mut(self.m_bar.as_mut(), output).iter_mut().for_each(|m_bar| *m_bar *= T::of(share));
            self.gradient.log_sigma[output] *= share;
        }
        Ok((loss * share, steps))
    }

    /// One output of a regression.
    fn gaussian(&mut self, output: usize, y: &[T], log_sigma: f64, coupling: Coupling) -> Result<f64, Error> {
        let gaussian = self.gaussian.get_or_insert_with(|| Gaussian::with_size(y.len()));
        let mean = column(self.y_hat.as_ref(), output);
        let e: Vec<T> = y.iter().zip(mean).map(|(&y, &mean)| y - mean).collect();
        let noise = (2.0 * log_sigma).exp();
        let (cov, g) = (self.cov.as_ref(), self.g.as_mut());
        let value = match coupling {
            Coupling::Batch => gaussian.evaluate(cov, noise, &e, g, self.threads)?,
            Coupling::Rows => gaussian.evaluate_rows(cov, noise, &e, g),
        };
        self.gradient.log_sigma[output] = 2.0 * noise * value.d_noise;
        let m_bar = column_mut(self.m_bar.as_mut(), output);
        m_bar.iter_mut().zip(&gaussian.v).for_each(|(m_bar, &v)| *m_bar = -v);
        Ok(value.loss)
    }

    /// One class against the others.
    fn laplace(&mut self, output: usize, y: &[T], weights: &[f64]) -> Result<LaplaceValue, Error> {
        let (n, threads) = (y.len(), self.threads);
        let laplace = self.laplace.get_or_insert_with(|| Laplace::with_size(n, threads));
        if output == 0 {
            laplace.set_covariance(self.cov.as_ref());
        }
        let weights = (!weights.is_empty()).then_some(weights);
        let mean = column(self.y_hat.as_ref(), output);
        let value = laplace.evaluate(mean, y, weights, self.g.as_mut())?;
        let m_bar = column_mut(self.m_bar.as_mut(), output);
        m_bar.iter_mut().zip(&laplace.d_mean).for_each(|(m_bar, &d)| *m_bar = T::of(d));
        Ok(value)
    }

    /// Each row's own class among all.
    fn own_class(&mut self, link: Link, c: usize, y: &[T], weights: &[f64]) -> f64 {
        let (mut loss, mut mean, mut d_mean) = (0.0, vec![0.0; c], vec![0.0; c]);
        for (i, y) in y.chunks_exact(c).enumerate() {
            let positive = y.iter().position(|&y| y > T::default());
            let label = if c == 1 { usize::from(positive.is_some()) } else { positive.unwrap_or(0) };
            let weight = weights.get(i).copied().unwrap_or(1.0);
            mean.iter_mut().enumerate().for_each(|(output, mean)| *mean = self.y_hat[(i, output)].to_f64());
            let (row_loss, d_var) = class_loss(link, &mean, self.cov[(i, i)].to_f64(), label, &mut d_mean);
            loss += weight * row_loss;
            self.g[(i, i)] = T::of(weight * d_var);
            for (output, d) in d_mean.iter().enumerate() {
                self.m_bar[(i, output)] = T::of(weight * d);
            }
        }
        loss
    }
}

/// One column of a row-major `[N, C]`.
fn column_of<T: Real>(y: &[T], c: usize, output: usize) -> Vec<T> {
    y.iter().skip(output).step_by(c).copied().collect()
}

impl<T: Real> Points<T> {
    fn gram(&mut self, model: &Model<'_, T>, z: &Left<T>, threads: usize) {
        let h = self.h.as_mut().map(|h| h.as_mut());
        model.kernel.gram_upper(z, model.inducing.columns(), self.k.as_mut(), h, threads);
    }

    /// Factors `K_zz`; returns the jitter that it needed.
    fn factor(&mut self, model: &Model<'_, T>) -> Result<f64, Error> {
        self.chol.factor_with_ladder("K_zz", self.k.as_ref(), model.jitter)
    }

    /// Adds what comes through `K_zz` to `d_z`; `solved` is `B | α | B m̄`. Returns the log parameters' part.
    fn pull_back(
        &mut self,
        kernel: &Kernel,
        pair: Pair<'_, T>,
        solved: &Panels<T>,
        d_z: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        let right = self.right.as_ref();
        let fill = |start: usize, strip: MatMut<'_, T>| {
            let right = right.subrows(start, strip.ncols()).transpose();
            let part = Part::Upper { from: start };
            solved.times((0, 0), strip, part, Plus::Nothing, right, T::of(1.0));
        };
        let h = self.h.as_ref().map(|h| h.as_ref());
        let points = Symmetric { a: pair.a, left: pair.a_left, k: self.k.as_mut(), h };
        kernel.pull_back_upper(points, &fill, &self.spare, d_z, self.scratch.as_mut(), threads)
    }
}

impl<T: Real> Rows<T> {
    fn gram(
        &mut self,
        model: &Model<'_, T>,
        z: &Left<T>,
        phi_left: &Left<T>,
        phi: MatRef<'_, T>,
        threads: usize,
    ) {
        let kernel = model.kernel;
        let k_zx = self.k_zx.as_mut().subcols_mut(0, phi.ncols());
        kernel.gram(z, phi, k_zx, self.h_zx.as_mut().map(|h| h.as_mut()), threads);
        if model.couples() {
            let h = self.h_xx.as_mut().map(|h| h.as_mut());
            kernel.gram_upper(phi_left, phi, self.k_xx.as_mut(), h, threads);
        } else {
            for (i, k) in kernel.diagonal(phi).into_iter().enumerate() {
                self.k_xx[(i, i)] = k;
            }
        }
    }

    /// Turns `K_zx` into E; writes `d_phi`. Returns E's sums and the log parameters' part.
    fn pull_back(
        &mut self,
        model: &Model<'_, T>,
        pair: Pair<'_, T>,
        slope: Slope<'_, T>,
        g: MatRef<'_, T>,
        mut d_phi: MatMut<'_, T>,
        threads: usize,
    ) -> (Sums<T>, [f64; 2]) {
        let (kernel, phi) = (model.kernel, pair.b);
        let h_zx = self.h_zx.as_ref().map(|h| h.as_ref());
        let mut k_zx = self.k_zx.as_mut().subcols_mut(0, phi.ncols());
        let sums = kernel.weigh(slope, k_zx.as_mut(), h_zx, threads);
        let e = k_zx.as_ref();
        let of_pair = kernel.pull_back_right(pair, e, &sums, d_phi.as_mut(), self.scratch.as_mut(), threads);
        let of_rows = if model.couples() {
            let h = self.h_xx.as_ref().map(|h| h.as_ref());
            let points = Symmetric { a: phi, left: pair.b_left, k: self.k_xx.as_mut(), h };
            let fill = |start: usize, mut strip: MatMut<'_, T>| {
                strip.copy_from(g.submatrix(0, start, strip.nrows(), strip.ncols()));
            };
            kernel.pull_back_upper(points, &fill, &self.spare, d_phi, self.scratch.as_mut(), threads)
        } else {
            kernel.pull_back_diagonal(phi, |i| g[(i, i)], d_phi)
        };
        (sums, [of_pair[0] + of_rows[0], of_pair[1] + of_rows[1]])
    }
}
