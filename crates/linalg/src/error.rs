//! What can go wrong in a factorisation.

/// A matrix cannot be factored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// It is not positive definite, whatever small number is added to its diagonal.
    #[error("a matrix of {size}×{size} is not positive definite even with jitter {jitter:e}")]
    NotPositiveDefinite {
        /// Its number of rows.
        size: usize,
        /// The last jitter that was tried.
        jitter: f64,
    },
    /// It holds a NaN or an infinity.
    #[error("the matrix holds a value that is not finite")]
    NotFinite,
    /// An eigenvalue was not found in the usual number of steps.
    #[error("the eigenvalues of a matrix of {size}×{size} do not converge")]
    NotConverged {
        /// Its number of rows.
        size: usize,
    },
}
