//! The likelihood of a batch with all its gradients in one pass (paper eqs. 2–6, signs corrected).
//!
//! ```text
//! K_zz = k(Z,Z) + εI      B = K_zz⁻¹ K_zx [M,N]      α = K_zz⁻¹ r [M,C]
//! ŷ    = K_xz α [N,C]     S_c = K_xx − K_xz B + σ_c²I     e = y − ŷ     v_c = S_c⁻¹e_c
//! loss = Σ_c ( ½ e_cᵀv_c + ½ log|S_c| + N/2 log 2π ) / N
//! ```
//! The gradient by ŷ and S is the likelihood's: `m̄_c = ∂/∂ŷ_c = −v_c/N`, `G = Σ_c ½(S_c⁻¹ − v_c v_cᵀ)/N`,
//! `∂σ_c² = tr G_c`. From there `conditional` goes back to kernels, and `kernel::gradient` to points.

use crate::conditional::{Conditional, Points, PointsPullBack, Rows};
use crate::kernel::PackedPoints;
use crate::likelihood::BatchLikelihood;
use crate::{Error, InducingPoints, Kernel, Process};
use linalg::threads::{both, in_pool};
use linalg::{MatMut, Real};

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
///
/// [`evaluate_batch`](Self::evaluate_batch) does all of it. A trainer runs the same in stages, so that on two threads the
/// encoder works while the inducing points do: forward while `K_zz` is factored, backward while Z gets its gradient.
/// ```
/// use inducing_gp::{Coupling, InducingPoints, Kernel, Likelihood, Objective, Process};
/// use linalg::threads::{both, in_pool}; // the crate inducing-linalg
/// let (kernel, inducing) = (Kernel::paper(), InducingPoints::<f64>::new(&[0.0, 1.0], &[1.0], &[0.0]));
/// let likelihood = Likelihood::Gaussian { log_sigma: &[-1.0], weights: &[] };
/// let process =
///     Process { kernel: &kernel, inducing: &inducing, likelihood, jitter: 1e-6, coupling: Coupling::Batch };
/// let (x, weight, y) = ([0.5, 1.5, 2.5], 0.4, [0.3, 0.6, 0.9]);
/// let threads = 2;
/// let mut objective = Objective::new(3, &kernel, &inducing, threads);
/// let value = in_pool(threads, || {
///     let (points, rows) = objective.begin(&process);
///     let forward = || rows.set_features(&x.map(|x| weight * x));
///     both(threads, || points.factor(), forward).0?;
///     let value = objective.evaluate(&process, &y)?;
///     let (points, d_phi) = objective.end(&process);
///     let backward = || d_phi.iter().zip(&x).map(|(d, x)| d * x).sum::<f64>(); // ∂weight
///     both(threads, || points.pull_back(), backward);
///     Ok::<_, inducing_gp::Error>(value)
/// })?;
/// let staged = objective.gradient().clone();
/// // All at once it is the same, to the bit.
/// assert_eq!(objective.evaluate_batch(&process, &x.map(|x| weight * x), &y)?, value);
/// assert_eq!(*objective.gradient(), staged);
/// # Ok::<(), inducing_gp::Error>(())
/// ```
#[derive(Debug)]
pub struct Objective<T: Real> {
    threads: usize,
    conditional: Conditional<T>,
    likelihood: BatchLikelihood<T>,
    gradient: Gradient<T>,
    evaluated: bool, // since `begin`
}

/// The inducing points' half of the first stage; see [`Objective::begin`].
#[derive(Debug)]
pub struct PointsForward<'a, T: Real> {
    process: Process<'a, T>,
    points: &'a mut Points<T>,
}

impl<T: Real> PointsForward<'_, T> {
    /// Factors `K_zz`: O(M³/3).
    pub fn factor(self) -> Result<(), Error> {
        self.points.factor(&self.process)
    }
}

/// The batch's half of the first stage; see [`Objective::begin`].
#[derive(Debug)]
pub struct RowsForward<'a, T: Real> {
    process: Process<'a, T>,
    z: &'a PackedPoints<T>,
    rows: &'a mut Rows<T>,
    threads: usize,
}

impl<T: Real> RowsForward<'_, T> {
    /// Takes over the features, row-major `[N, D]`, and makes `K_zx` and `K_xx`: O((M + N)ND).
    ///
    /// # Panics
    /// When `phi` has another length.
    pub fn set_features(self, phi: &[T]) {
        self.rows.set_features(&self.process, self.z, phi, self.threads);
    }
}

/// The inducing points' half of the last stage; see [`Objective::end`].
#[derive(Debug)]
pub struct PointsBackward<'a, T: Real> {
    process: Process<'a, T>,
    way: PointsPullBack<'a, T>,
    z: &'a mut [T],
    w: &'a mut [T],
    b: &'a mut [T],
    log_kernel: &'a mut [f64; 2],
}

impl<T: Real> PointsBackward<'_, T> {
    /// Writes the gradient by Z, w and b, and adds what comes through them to the kernel parameters': O(M²(N + D)).
    pub fn pull_back(self) {
        let Self { process, way, z, w, b, log_kernel } = self;
        let by_points = way.run(&process, z, w, b);
        *log_kernel = [log_kernel[0] + by_points[0], log_kernel[1] + by_points[1]];
    }
}

impl<T: Real> Objective<T> {
    /// Work space for batches of `n` rows, on `threads` threads of the current rayon pool.
    pub fn new(n: usize, kernel: &Kernel, inducing: &InducingPoints<T>, threads: usize) -> Self {
        let (m, d, c) = (inducing.len(), inducing.dim(), inducing.outputs());
        Self {
            threads,
            conditional: Conditional::new(n, kernel, inducing, threads),
            likelihood: BatchLikelihood::new(n, c, threads),
            gradient: Gradient {
                phi: vec![T::default(); n * d],
                z: vec![T::default(); m * d],
                w: vec![T::default(); d * c],
                b: vec![T::default(); c],
                log_sigma: vec![0.0; c],
                log_kernel: [0.0; 2],
            },
            evaluated: false,
        }
    }

    /// Rows of a batch.
    pub fn rows(&self) -> usize {
        self.conditional.len()
    }

    /// The gradient of the last evaluation.
    pub fn gradient(&self) -> &Gradient<T> {
        &self.gradient
    }

    /// Loss and gradient of a batch with features `phi`, row-major `[N, D]`, and targets `y`, row-major `[N, C]`: all
    /// stages. O(M³/3 + M²(2N + D) + MND).
    ///
    /// # Panics
    /// When a length does not fit the work space.
    pub fn evaluate_batch(&mut self, process: &Process<'_, T>, phi: &[T], y: &[T]) -> Result<Value, Error> {
        let threads = self.threads;
        in_pool(threads, || {
            let (points, rows) = self.begin(process);
            both(threads, || points.factor(), || rows.set_features(phi)).0?;
            let value = self.evaluate(process, y)?;
            self.end(process).0.pull_back();
            Ok(value)
        })
    }

    /// First stage: `K_zz`, and two halves that may run at the same time, both of them needed before
    /// [`evaluate`](Self::evaluate).
    pub fn begin<'a>(&'a mut self, process: &Process<'a, T>) -> (PointsForward<'a, T>, RowsForward<'a, T>) {
        self.evaluated = false;
        self.conditional.begin(process);
        let Conditional { z, points, rows, .. } = &mut self.conditional;
        (
            PointsForward { process: *process, points },
            RowsForward { process: *process, z, rows, threads: self.threads },
        )
    }

    /// Second stage: the loss against targets `y`, row-major `[N, C]`, and the gradient by features and noise.
    ///
    /// # Panics
    /// When the halves of [`begin`](Self::begin) have not both run and succeeded, or `y` has another length.
    pub fn evaluate(&mut self, process: &Process<'_, T>, y: &[T]) -> Result<Value, Error> {
        let Self { conditional, likelihood, gradient, .. } = self;
        let (n, d, c) = (conditional.len(), process.inducing.dim(), process.inducing.outputs());
        assert_eq!(y.len(), n * c, "y is [N, C]");
        assert!(conditional.rows.is_set(), "`RowsForward::set_features` comes before `evaluate`");
        let jitter = conditional.points.jitter.expect("`PointsForward::factor` comes before `evaluate`");
        conditional.condition(process);
        let utilisation = 1.0 - conditional.unexplained();
        let (loss, newton_steps) = likelihood.evaluate(process, conditional.latent(), y)?;
        if !loss.is_finite() {
            return Err(Error::NotFinite { what: "the loss" });
        }
        gradient.log_sigma.copy_from_slice(&likelihood.log_sigma);
        let d_phi = MatMut::from_column_major_slice_mut(&mut gradient.phi, d, n);
        let BatchLikelihood { g, m_bar, .. } = likelihood;
        gradient.log_kernel = conditional.pull_back_rows(process, g.as_mut(), m_bar.as_ref(), d_phi);
        self.evaluated = true;
        Ok(Value { loss, utilisation, jitter, newton_steps })
    }

    /// Last stage: the inducing points' gradient, which [`PointsBackward::pull_back`] writes, and the features' `[N, D]`,
    /// which is complete. Afterwards [`gradient`](Self::gradient) is.
    ///
    /// # Panics
    /// When [`evaluate`](Self::evaluate) has not succeeded since [`begin`](Self::begin), or this has been called since.
    pub fn end<'a>(&'a mut self, process: &Process<'a, T>) -> (PointsBackward<'a, T>, &'a [T]) {
        assert!(std::mem::take(&mut self.evaluated), "`evaluate` comes before `end`");
        let Gradient { phi, z, w, b, log_kernel, .. } = &mut self.gradient;
        let way = self.conditional.points_backward();
        (PointsBackward { process: *process, way, z, w, b, log_kernel }, phi)
    }
}
