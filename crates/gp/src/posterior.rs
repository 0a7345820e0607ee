//! Prediction (paper eq. 8): inducing points with `α` and the inverse of the factor of `K_zz`.

use crate::kernel::PackedPoints;
use crate::{Error, InducingPoints, Kernel};
use linalg::gemm::{MOST_ROWS, Packed, Part, Plus, product};
use linalg::threads::{both, in_pool};
use linalg::vector::{dot, subtract_squared_norms};
use linalg::{Cholesky, Mat, MatMut, MatRef, Real};

/// Rows that are predicted at a time: `K_z* [512, 256]` in f64 stays in a level-2 cache.
const BLOCK: usize = 256;
/// Rows of `L⁻¹` that are multiplied at a time: few, since half of what is on the diagonal is multiplied for nothing.
const STRIP: usize = MOST_ROWS;

/// A conditioned Gaussian process, ready to predict.
///
/// ```
/// use inducing_gp::{InducingPoints, Kernel, Posterior};
/// let inducing = InducingPoints::<f64>::new(&[0.0, 3.0], &[1.0], &[0.0]); // f(0) = 0, f(3) = 3
/// let posterior = Posterior::new(Kernel::paper(), inducing, 1e-9, 1)?;
/// let latent = posterior.predict(&[3.0, 100.0, f64::NAN], 3);
/// assert!((latent.mean[0] - 3.0).abs() < 1e-6 && latent.var[0] < 1e-6);
/// assert_eq!((latent.mean[1], latent.var[1]), (0.0, 1.0)); // far from every inducing point: the prior
/// assert!(latent.mean[2].is_nan() && latent.var[2] == 1.0);
/// # Ok::<(), inducing_gp::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Posterior<T: Real> {
    kernel: Kernel,
    inducing: InducingPoints<T>,
    left: PackedPoints<T>,
    inverse: Packed<T>, // [M, M]  L⁻¹ of K_zz = L Lᵀ
    alpha: Mat<T>,      // [M, C]
    jitter: f64,
    threads: usize,
}

/// The latent function at some points; add σ² to `var` for an observation's.
#[derive(Debug, Clone, PartialEq)]
pub struct Latent<T: Real> {
    /// `K_*z K_zz⁻¹ r`, row-major `[N, C]`
    pub mean: Vec<T>,
    /// `k** − k_*z K_zz⁻¹ k_z*  [N]`, the same for all outputs
    pub var: Vec<T>,
}

impl<T: Real> Posterior<T> {
    /// Factors `K_zz` once: O(M³/3). Predictions share their rows among `threads` threads.
    pub fn new(
        kernel: Kernel,
        inducing: InducingPoints<T>,
        jitter: f64,
        threads: usize,
    ) -> Result<Self, Error> {
        let (m, c) = (inducing.len(), inducing.outputs());
        let z = inducing.columns();
        let mut alpha = Mat::zeros(m, c);
        product(alpha.as_mut(), Plus::Nothing, z.transpose(), inducing.weights(), T::from_f64(1.0));
        for (output, &b) in inducing.b.iter().enumerate() {
            (0..m).for_each(|i| alpha[(i, output)] += b);
        }
        Self::with_labels(kernel, inducing, alpha, jitter, threads)
    }

    /// The same with pseudo-labels `r` given, row-major `[M, C]`, instead of `Z w + b`.
    pub fn with_pseudo_labels(
        kernel: Kernel,
        inducing: InducingPoints<T>,
        r: &[T],
        jitter: f64,
        threads: usize,
    ) -> Result<Self, Error> {
        let labels = MatRef::from_row_major_slice(r, inducing.len(), inducing.outputs()).to_owned();
        Self::with_labels(kernel, inducing, labels, jitter, threads)
    }

    fn with_labels(
        kernel: Kernel,
        inducing: InducingPoints<T>,
        mut alpha: Mat<T>,
        jitter: f64,
        threads: usize,
    ) -> Result<Self, Error> {
        let m = inducing.len();
        let mut k_zz = Mat::zeros(m, m);
        let mut slopes = kernel.needs_slopes().then(|| Mat::zeros(m, m));
        let mut left = PackedPoints::new();
        left.set(inducing.columns());
        let h = slopes.as_mut().map(|h| h.as_mut());
        kernel.gram_upper(&left, inducing.columns(), k_zz.as_mut(), h, threads);
        let mut k_zz_chol = Cholesky::with_size(m);
        let jitter = k_zz_chol.factor(k_zz.as_ref(), jitter).map_err(Error::factoring("K_zz"))?;
        k_zz_chol.solve(alpha.as_mut());
        // K_zz has served.
        k_zz_chol.inverse_factor(k_zz.as_mut());
        let mut inverse = Packed::new();
        inverse.pack(k_zz.as_ref());
        Ok(Self { kernel, inducing, left, inverse, alpha, jitter, threads })
    }

    /// The inducing points.
    pub fn inducing(&self) -> &InducingPoints<T> {
        &self.inducing
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The jitter that `K_zz` needed.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Mean and variance of the latent function at `phi`, row-major `[N, D]`: O(N(M² + MD)), in blocks of rows.
    ///
    /// A row that holds a NaN or an infinity has the mean NaN and the prior variance (of the linear kernel: ∞), and changes
    /// nothing in other rows.
    ///
    /// # Panics
    /// When `phi` is not `[n, D]`.
    pub fn predict(&self, phi: &[T], n: usize) -> Latent<T> {
        let (d, c) = (self.inducing.dim(), self.inducing.outputs());
        assert_eq!(phi.len(), n * d, "phi is [N, D]");
        let mut latent = Latent { mean: vec![T::default(); n * c], var: vec![T::default(); n] };
        let threads = if n > BLOCK { self.threads } else { 1 };
        in_pool(threads, || self.predict_into(phi, &mut latent.mean, &mut latent.var, threads));
        latent
    }

    /// Features in the whitened coordinates of the inducing points, row-major `[N, M]`: O(N(M² + MD)), in blocks of rows.
    ///
    /// ```text
    /// Aᵀ = K_*z L⁻ᵀ     L Lᵀ = K_zz + εI
    /// ```
    /// There the prior of the process at Z is a standard normal distribution. So `var f = k** − ‖a‖²`, and where the
    /// pseudo-labels are `r + L v` the mean is `K_*z K_zz⁻¹ r + Aᵀ v`. A row that holds a NaN has NaN for coordinates.
    ///
    /// ```
    /// # use inducing_gp::{InducingPoints, Kernel, Posterior};
    /// let inducing = InducingPoints::<f64>::new(&[0.0, 3.0], &[1.0], &[0.0]);
    /// let posterior = Posterior::new(Kernel::paper(), inducing, 1e-9, 1)?;
    /// let a = posterior.whiten(&[0.5], 1);
    /// let var = posterior.predict(&[0.5], 1).var[0];
    /// assert!((1.0 - a[0] * a[0] - a[1] * a[1] - var).abs() < 1e-12);
    /// # Ok::<(), inducing_gp::Error>(())
    /// ```
    ///
    /// # Panics
    /// When `phi` is not `[n, D]`.
    pub fn whiten(&self, phi: &[T], n: usize) -> Vec<T> {
        assert_eq!(phi.len(), n * self.inducing.dim(), "phi is [N, D]");
        let mut whitened = vec![T::default(); n * self.inducing.len()];
        let threads = if n > BLOCK { self.threads } else { 1 };
        in_pool(threads, || self.whiten_into(phi, &mut whitened, threads));
        whitened
    }

    /// Halves the rows like [`predict_into`](Self::predict_into).
    fn whiten_into(&self, phi: &[T], whitened: &mut [T], threads: usize) {
        let (m, d) = (self.inducing.len(), self.inducing.dim());
        let blocks = (whitened.len() / m).div_ceil(BLOCK);
        if threads > 1 && blocks > 1 {
            let middle = blocks / 2 * BLOCK;
            let (left, right) = whitened.split_at_mut(middle * m);
            let (left_phi, right_phi) = phi.split_at(middle * d);
            both(
                threads,
                || self.whiten_into(left_phi, left, threads / 2),
                || self.whiten_into(right_phi, right, threads - threads / 2),
            );
            return;
        }
        let mut k_zx = Mat::zeros(m, BLOCK);
        let mut slopes = self.kernel.needs_slopes().then(|| Mat::zeros(m, BLOCK));
        for (phi, whitened) in phi.chunks(BLOCK * d).zip(whitened.chunks_mut(BLOCK * m)) {
            let n = whitened.len() / m;
            let phi = MatRef::from_column_major_slice(phi, d, n);
            let mut k_zx = k_zx.as_mut().subcols_mut(0, n);
            let h = slopes.as_mut().map(|h| h.as_mut().subcols_mut(0, n));
            self.kernel.gram(&self.left, phi, k_zx.as_mut(), h, 1);
            let mut a = MatMut::from_column_major_slice_mut(whitened, m, n); // [M, N]
            for start in (0..m).step_by(STRIP) {
                let (rows, end) = (STRIP.min(m - start), m.min(start + STRIP));
                let a = a.as_mut().submatrix_mut(start, 0, rows, n);
                let k_zx = k_zx.as_ref().subrows(0, end);
                self.inverse.times((start, 0), a, Part::All, Plus::Nothing, k_zx, T::from_f64(1.0));
            }
        }
    }

    /// Halves the rows until one thread is left for a part; blocks do not depend on the number of threads.
    fn predict_into(&self, phi: &[T], mean: &mut [T], var: &mut [T], threads: usize) {
        let (d, c) = (self.inducing.dim(), self.inducing.outputs());
        let blocks = var.len().div_ceil(BLOCK);
        if threads > 1 && blocks > 1 {
            let middle = blocks / 2 * BLOCK;
            let (left_mean, right_mean) = mean.split_at_mut(middle * c);
            let (left_var, right_var) = var.split_at_mut(middle);
            let (left_phi, right_phi) = phi.split_at(middle * d);
            both(
                threads,
                || self.predict_into(left_phi, left_mean, left_var, threads / 2),
                || self.predict_into(right_phi, right_mean, right_var, threads - threads / 2),
            );
            return;
        }
        let m = self.inducing.len();
        let (mut k_zx, mut a) = (Mat::zeros(m, BLOCK), Mat::zeros(STRIP, BLOCK));
        let mut slopes = self.kernel.needs_slopes().then(|| Mat::zeros(m, BLOCK));
        let rows = phi.chunks(BLOCK * d).zip(mean.chunks_mut(BLOCK * c)).zip(var.chunks_mut(BLOCK));
        for ((phi, mean), var) in rows {
            let n = var.len();
            let phi = MatRef::from_column_major_slice(phi, d, n);
            let mut k_zx = k_zx.as_mut().subcols_mut(0, n);
            let h = slopes.as_mut().map(|h| h.as_mut().subcols_mut(0, n));
            self.kernel.gram(&self.left, phi, k_zx.as_mut(), h, 1);
            for i in 0..n {
                for output in 0..c {
                    mean[i * c + output] = dot(k_zx.as_ref().col(i), self.alpha.col(output));
                }
            }
            var.copy_from_slice(&self.kernel.diagonal(phi));
            for start in (0..m).step_by(STRIP) {
                let (rows, end) = (STRIP.min(m - start), m.min(start + STRIP));
                let mut a = a.as_mut().submatrix_mut(0, 0, rows, n);
                let k_zx = k_zx.as_ref().subrows(0, end);
                self.inverse.times((start, 0), a.as_mut(), Part::All, Plus::Nothing, k_zx, T::from_f64(1.0));
                subtract_squared_norms(a.as_ref(), var);
            }
            for ((i, var), mean) in var.iter_mut().enumerate().zip(mean.chunks_exact_mut(c)) {
                if *var < T::default() {
                    *var = T::default(); // rounding, at an inducing point
                }
                // What is not finite never lowers a variance.
                let finite = phi.col(i).iter().all(|x| x.is_finite());
                if !finite {
                    mean.fill(T::from_f64(f64::NAN));
                }
                if !finite || var.is_nan() {
                    *var = self.kernel.prior_variance_anywhere();
                }
            }
        }
    }
}
