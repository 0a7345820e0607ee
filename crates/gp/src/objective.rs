//! The exact batch likelihood with all its gradients in one pass (paper eqs. 2–6, signs corrected).
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
use crate::gaussian::{Coupling, Gaussian};
use crate::kernel::{Pair, PairGradient, Symmetric, SymmetricGradient, mirror};
use crate::matrix::{add_product, column, column_mut, in_pool, lower_product, product};
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
    k_zz: Mat<T>, // [M, M], lower
    k_zz_chol: Cholesky<T>,
    k_zx: Mat<T>, // [M, N]
    k_xx: Mat<T>, // [N, N], lower
    slopes: Option<Slopes<T>>,
    solved: Mat<T>,  // [M, N+2C]  A | L⁻¹r, then B | α | B m̄
    left: Mat<T>,    // [M, N+2C]  B G | −½ B m̄ | −½ α
    cov: Mat<T>,     // [N, N], lower: K_xx − K_xz B
    g: Mat<T>,       // [N, N]
    d_k_zz: Mat<T>,  // [M, M]
    m_bar: Mat<T>,   // [N, C]
    y_hat: Mat<T>,   // [N, C]
    scratch: Mat<T>, // [D, max(M, N)]
    likelihood: Gaussian<T>,
    gradient: Gradient<T>,
}

/// `∂k/∂‖·‖²` for kernels that cannot derive it from `k`.
#[derive(Debug)]
struct Slopes<T: Real> {
    zz: Mat<T>, // [M, M], lower
    zx: Mat<T>, // [M, N]
    xx: Mat<T>, // [N, N], lower
}

/// One batch and where the model stands.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a, T: Real> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Z, w, b.
    pub inducing: &'a InducingPoints<T>,
    /// log σ of each output `[C]`.
    pub log_sigma: &'a [f64],
    /// Smallest jitter on `K_zz`.
    pub jitter: f64,
    /// Which rows the likelihood couples.
    pub coupling: Coupling,
    /// Features Φ, row-major `[N, D]`.
    pub phi: &'a [T],
    /// Targets, row-major `[N, C]`.
    pub y: &'a [T],
}

impl<T: Real> Objective<T> {
    /// Work space for batches of `n` rows, on `threads` threads of the current rayon pool.
    pub fn new(n: usize, kernel: &Kernel, inducing: &InducingPoints<T>, threads: usize) -> Self {
        let (m, d, c) = (inducing.len(), inducing.dim(), inducing.outputs());
        let slopes = kernel.needs_slopes().then(|| Slopes {
            zz: Mat::zeros(m, m),
            zx: Mat::zeros(m, n),
            xx: Mat::zeros(n, n),
        });
        Self {
            threads,
            k_zz: Mat::zeros(m, m),
            k_zz_chol: Cholesky::with_size(m),
            k_zx: Mat::zeros(m, n),
            k_xx: Mat::zeros(n, n),
            slopes,
            solved: Mat::zeros(m, n + 2 * c),
            left: Mat::zeros(m, n + 2 * c),
            cov: Mat::zeros(n, n),
            g: Mat::zeros(n, n),
            d_k_zz: Mat::zeros(m, m),
            m_bar: Mat::zeros(n, c),
            y_hat: Mat::zeros(n, c),
            scratch: Mat::zeros(d, m.max(n)),
            likelihood: Gaussian::with_size(n),
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
        self.k_xx.nrows()
    }

    /// The gradient of the last evaluation.
    pub fn gradient(&self) -> &Gradient<T> {
        &self.gradient
    }

    /// Loss and gradient of one batch: O(M³/3 + M²(2N + D) + MND).
    ///
    /// # Panics
    /// When a length in `batch` does not fit the work space.
    pub fn evaluate(&mut self, batch: Batch<'_, T>) -> Result<Value, Error> {
        in_pool(self.threads, || self.evaluate_here(batch))
    }

    fn evaluate_here(&mut self, batch: Batch<'_, T>) -> Result<Value, Error> {
        let (n, m) = (self.rows(), batch.inducing.len());
        let (d, c) = (batch.inducing.dim(), batch.inducing.outputs());
        assert_eq!((batch.phi.len(), batch.y.len()), (n * d, n * c), "phi is [N, D] and y is [N, C]");
        let phi = MatRef::from_column_major_slice(batch.phi, d, n); // [D, N]
        let jitter = self.condition(&batch, phi)?;
        let variance: f64 = (0..n).map(|i| self.cov[(i, i)].to_f64() / self.k_xx[(i, i)].to_f64()).sum();
        let loss = self.likelihood(&batch)?;
        self.pull_back(&batch, phi);
        let value = Value { loss, utilisation: 1.0 - variance / n as f64, jitter };
        if !loss.is_finite() {
            return Err(Error::NotFinite { what: "the loss" });
        }
        debug_assert_eq!(self.k_zz.nrows(), m);
        Ok(value)
    }

    /// Conditions the batch on the inducing points: fills `cov`, `ŷ` and `B | α`.
    fn condition(&mut self, batch: &Batch<'_, T>, phi: MatRef<'_, T>) -> Result<f64, Error> {
        let (n, c, threads) = (phi.ncols(), batch.inducing.outputs(), self.threads);
        let z = batch.inducing.columns(); // [D, M]
        let (mut h_zz, mut h_zx, mut h_xx) = (None, None, None);
        if let Some(slopes) = &mut self.slopes {
            (h_zz, h_zx, h_xx) =
                (Some(slopes.zz.as_mut()), Some(slopes.zx.as_mut()), Some(slopes.xx.as_mut()));
        }
        batch.kernel.gram_lower(z, self.k_zz.as_mut(), h_zz.take(), threads);
        let jitter = self.k_zz_chol.factor_with_ladder("K_zz", self.k_zz.as_ref(), batch.jitter, threads)?;
        batch.kernel.gram(z, phi, self.k_zx.as_mut(), h_zx.take(), threads);
        batch.kernel.gram_lower(phi, self.k_xx.as_mut(), h_xx.take(), threads);

        self.solved.as_mut().subcols_mut(0, n).copy_from(&self.k_zx);
        let mut r = self.solved.as_mut().subcols_mut(n, c); // [M, C]
        product(r.as_mut(), z.transpose(), batch.inducing.weights(), 1.0, 1);
        for (output, &b) in batch.inducing.b.iter().enumerate() {
            column_mut(r.as_mut(), output).iter_mut().for_each(|r| *r += b);
        }
        self.k_zz_chol.half_solve(self.solved.as_mut().subcols_mut(0, n + c), self.threads);
        let a = self.solved.as_ref().subcols(0, n); // [M, N]  A = L⁻¹K_zx
        for j in 0..n {
            column_mut(self.cov.as_mut(), j)[j..].copy_from_slice(&column(self.k_xx.as_ref(), j)[j..]);
        }
        lower_product(self.cov.as_mut(), Accum::Add, a.transpose(), a, -1.0, threads);
        product(self.y_hat.as_mut(), a.transpose(), self.solved.as_ref().subcols(n, c), 1.0, 1);
        self.k_zz_chol.half_solve_transposed(self.solved.as_mut().subcols_mut(0, n + c), self.threads);
        Ok(jitter)
    }

    /// Sums the outputs' losses; fills `G` and `m̄`, both already divided by N.
    fn likelihood(&mut self, batch: &Batch<'_, T>) -> Result<f64, Error> {
        let (n, c, threads) = (self.rows(), batch.inducing.outputs(), self.threads);
        self.g.fill(T::default());
        let mut loss = 0.0;
        for output in 0..c {
            let e: Vec<T> = (0..n).map(|i| batch.y[i * c + output] - self.y_hat[(i, output)]).collect();
            let noise = (2.0 * batch.log_sigma[output]).exp();
            let (cov, g) = (self.cov.as_ref(), self.g.as_mut());
            let value = match batch.coupling {
                Coupling::Batch => self.likelihood.evaluate(cov, noise, &e, g, threads)?,
                Coupling::Rows => self.likelihood.evaluate_rows(cov, noise, &e, g),
            };
            loss += value.loss / n as f64;
            self.gradient.log_sigma[output] = 2.0 * noise * value.d_noise / n as f64;
            let scale = T::of(-1.0 / n as f64);
            for (m_bar, &v) in
                column_mut(self.m_bar.as_mut(), output).iter_mut().zip(column(self.likelihood.v.as_ref(), 0))
            {
                *m_bar = scale * v;
            }
        }
        let scale = T::of(1.0 / n as f64);
        for j in 0..n {
            column_mut(self.g.as_mut(), j)[j..].iter_mut().for_each(|g| *g *= scale);
        }
        Ok(loss)
    }

    /// From `G` and `m̄` to every parameter.
    fn pull_back(&mut self, batch: &Batch<'_, T>, phi: MatRef<'_, T>) {
        let (n, c, threads) = (phi.ncols(), batch.inducing.outputs(), self.threads);
        let (m, d) = (batch.inducing.len(), batch.inducing.dim());
        let z = batch.inducing.columns();
        mirror(self.g.as_mut());
        let (mut solved, mut d_r) = self.solved.as_mut().split_at_col_mut(n + c);
        product(d_r.as_mut(), solved.as_ref().subcols(0, n), self.m_bar.as_ref(), 1.0, 1); // B m̄
        let (b, alpha) = solved.as_mut().split_at_col_mut(n);
        let (mut bg, mut rank) = self.left.as_mut().split_at_col_mut(n);
        product(bg.as_mut(), b.as_ref(), self.g.as_ref(), 1.0, threads);
        for output in 0..c {
            for (from, to) in
                [(column(d_r.as_ref(), output), output), (column(alpha.as_ref(), output), c + output)]
            {
                column_mut(rank.as_mut(), to).iter_mut().zip(from).for_each(|(to, &x)| *to = T::of(-0.5) * x);
            }
        }
        let right = self.solved.as_ref(); // B | α | B m̄
        lower_product(
            self.d_k_zz.as_mut(),
            Accum::Replace,
            self.left.as_ref(),
            right.transpose(),
            1.0,
            threads,
        );
        let mut d_k_zx = self.left.as_mut().subcols_mut(0, n);
        let alpha = right.subcols(n, c);
        for j in 0..n {
            column_mut(d_k_zx.as_mut(), j).iter_mut().for_each(|d| *d *= T::of(-2.0));
        }
        add_product(d_k_zx.as_mut(), alpha, self.m_bar.as_ref().transpose(), 1.0, threads);

        let gradient = &mut self.gradient;
        gradient.z.fill(T::default());
        gradient.phi.fill(T::default());
        gradient.log_kernel = [0.0; 2];
        let mut d_z = MatMut::from_column_major_slice_mut(&mut gradient.z, d, m);
        let mut d_phi = MatMut::from_column_major_slice_mut(&mut gradient.phi, d, n);
        let slopes = self.slopes.as_ref();
        batch.kernel.pull_back_lower(
            Symmetric { a: z, k: self.k_zz.as_ref(), h: slopes.map(|s| s.zz.as_ref()), threads },
            self.d_k_zz.as_mut(),
            SymmetricGradient {
                d_a: d_z.as_mut(),
                d_log: &mut gradient.log_kernel,
                scratch: self.scratch.as_mut().subcols_mut(0, m),
            },
        );
        batch.kernel.pull_back_lower(
            Symmetric { a: phi, k: self.k_xx.as_ref(), h: slopes.map(|s| s.xx.as_ref()), threads },
            self.g.as_mut(),
            SymmetricGradient {
                d_a: d_phi.as_mut(),
                d_log: &mut gradient.log_kernel,
                scratch: self.scratch.as_mut().subcols_mut(0, n),
            },
        );
        batch.kernel.pull_back(
            Pair { a: z, b: phi, k: self.k_zx.as_ref(), h: slopes.map(|s| s.zx.as_ref()), threads },
            d_k_zx,
            PairGradient {
                d_a: d_z.as_mut(),
                d_b: d_phi,
                d_log: &mut gradient.log_kernel,
                scratch: self.scratch.as_mut().subcols_mut(0, n),
            },
        );
        // r = Z w + b
        let d_r = self.solved.as_ref().subcols(n + c, c);
        add_product(d_z, batch.inducing.weights(), d_r.transpose(), 1.0, 1);
        product(MatMut::from_row_major_slice_mut(&mut gradient.w, d, c), z, d_r, 1.0, 1);
        for (output, d_b) in gradient.b.iter_mut().enumerate() {
            *d_b = column(d_r, output).iter().copied().sum();
        }
    }
}
