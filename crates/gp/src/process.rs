//! What a batch is judged by.

use crate::{Coupling, InducingPoints, Kernel, Likelihood};
use linalg::Real;

/// A Gaussian process on inducing points, with its likelihood: all that decides the loss of a batch.
///
/// It borrows its parts, which an optimiser owns and moves.
#[derive(Debug, Clone, Copy)]
pub struct Process<'a, T: Real> {
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

impl<T: Real> Process<'_, T> {
    /// Whether rows of a batch are coupled. If not, all `[N, N]` matrices are their diagonals.
    pub(crate) fn couples(&self) -> bool {
        self.coupling == Coupling::Batch && !matches!(self.likelihood, Likelihood::Logit { .. })
    }
}
