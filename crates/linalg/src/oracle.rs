//! faer, which tests compare with.

use crate::MatRef;

/// The same matrix, with faer's operators.
pub(crate) fn faer_of(matrix: MatRef<'_, f64>) -> faer::Mat<f64> {
    faer::Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)])
}
