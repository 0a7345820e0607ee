//! What can go wrong in the closed-form part.

/// A matrix that should be positive definite is not, or a number is not finite.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Every rung of the jitter ladder failed.
    #[error(
        "{matrix} ({size}×{size}) is not positive definite even with jitter {jitter:e}; raise `gp.jitter`, \
         lower `train.learning_rate`, or use fewer inducing points"
    )]
    NotPositiveDefinite {
        /// Which matrix, in the paper's notation.
        matrix: &'static str,
        /// Its number of rows.
        size: usize,
        /// The last jitter that was tried.
        jitter: f64,
    },
    /// An input holds a NaN or an infinity, so that no factorisation can succeed.
    #[error(
        "{what} holds a value that is not finite; lower `train.learning_rate` or look for extreme inputs"
    )]
    NotFinite {
        /// Which argument.
        what: &'static str,
    },
}

impl Error {
    /// Names the matrix that could not be factored.
    pub(crate) fn factoring(matrix: &'static str) -> impl Fn(linalg::Error) -> Self {
        move |error| match error {
            linalg::Error::NotPositiveDefinite { size, jitter } => {
                Self::NotPositiveDefinite { matrix, size, jitter }
            }
            linalg::Error::NotFinite | linalg::Error::NotConverged { .. } => Self::NotFinite { what: matrix },
        }
    }
}
