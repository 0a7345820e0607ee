//! Linear least squares with a ridge.

use crate::{Cholesky, Error, Mat, MatRef, Real};

/// Solves `(A + λI) X = B` for symmetric `A [n, n]` and row-major `B [n, c]`, by Cholesky: O(n³/3).
///
/// ```
/// let x = inducing_linalg::solve_ridge(&[1.0, 0.0, 0.0, 1.0], &[2.0, 4.0], 1.0)?;
/// assert!((x[0] - 1.0_f64).abs() < 1e-12 && (x[1] - 2.0).abs() < 1e-12);
/// # Ok::<(), inducing_linalg::Error>(())
/// ```
///
/// # Panics
/// When the lengths do not fit.
pub fn solve_ridge<T: Real>(a: &[T], b: &[T], ridge: f64) -> Result<Vec<T>, Error> {
    let n = a.len().isqrt();
    assert!(n * n == a.len() && n > 0 && b.len().is_multiple_of(n), "A is [n, n] and B is [n, c]");
    let c = b.len() / n;
    let mut factor = Cholesky::with_size(n);
    factor.factor(MatRef::from_column_major_slice(a, n, n), ridge)?;
    let mut x: Mat<T> = MatRef::from_row_major_slice(b, n, c).to_owned();
    factor.solve(x.as_mut());
    Ok(x.as_ref().to_row_major())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_satisfies_the_equations() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0_f64];
        let b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let x = solve_ridge(&a, &b, 0.1).expect("positive definite");
        for i in 0..3 {
            for k in 0..2 {
                let left: f64 =
                    (0..3).map(|j| (a[i * 3 + j] + f64::from(u8::from(i == j)) * 0.1) * x[j * 2 + k]).sum();
                assert!((left - b[i * 2 + k]).abs() < 1e-12);
            }
        }
    }
}
