//! Inverse of a positive definite matrix, by halves and their Schur complement where it is well-conditioned.
//!
//! ```text
//! A = [A₁ ·; A₂₁ A₂]    T = A₂₁A₁⁻¹    S = A₂ − T A₂₁ᵀ    A⁻¹ = [A₁⁻¹ + TᵀS⁻¹T ·; −S⁻¹T S⁻¹]    |A| = |A₁| |S|
//! ```
//! Few and large products: when it was written, 128 × 128 in f64 took 97 µs in place of the 127 of factor, inverse factor and
//! inverse. Its error grows with the square of the condition, not with the condition itself, so that what is ill-conditioned
//! goes by the factor.
//!
//! ```
//! use inducing_linalg::block_inverse::BlockInverse;
//! let mut inverse = BlockInverse::<f64>::with_size(2);
//! (inverse.lower_mut()[(0, 0)], inverse.lower_mut()[(1, 0)], inverse.lower_mut()[(1, 1)]) = (2.0, 1.0, 2.0);
//! let log_determinant = inverse.invert(1.0, 1).expect("well-conditioned");
//! assert!((log_determinant - 3.0_f64.ln()).abs() < 1e-14);
//! assert!((inverse.get()[(0, 1)] + 1.0 / 3.0).abs() < 1e-14);
//! ```

use crate::cholesky::{Cholesky, half};
use crate::diagonal_block::{BLOCK, invert_factor};
use crate::gemm::{Plus, Triangle, mirror, product, shared_product};
use crate::vector::dot;
use crate::{Mat, MatMut, MatRef, Real};

/// Room for a matrix and its inverse.
#[derive(Debug)]
pub struct BlockInverse<T: Real> {
    matrix: Mat<T>,  // [N, N]
    scratch: Mat<T>, // [N + BLOCK, N], at least BLOCK columns
}

impl<T: Real> BlockInverse<T> {
    /// Room for `[n, n]`.
    pub fn with_size(n: usize) -> Self {
        Self { matrix: Mat::zeros(n, n), scratch: Mat::zeros(n + BLOCK, n.max(BLOCK)) }
    }

    /// The matrix, to be filled in its lower triangle.
    pub fn lower_mut(&mut self) -> MatMut<'_, T> {
        self.matrix.as_mut()
    }

    /// The inverse, both triangles.
    pub fn get(&self) -> MatRef<'_, T> {
        self.matrix.as_ref()
    }

    /// Puts the inverse in the matrix's place, and returns `log|A|`. No eigenvalue of A is below `floor`, but for rounding;
    /// none where A is ill-conditioned or turns out not to be positive definite.
    pub fn invert(&mut self, floor: f64, threads: usize) -> Option<f64> {
        // ‖A‖² of the lower triangle and so of all: at least the square of the largest eigenvalue over two.
        let squares: f64 = (0..self.matrix.ncols())
            .map(|j| {
                let below = &self.matrix.col(j)[j..];
                dot(below, below).to_f64()
            })
            .sum();
        // The error is some 10⁻³ of the precision times the square of the condition.
        let largest = if T::MANTISSA > 30 { 1e4 } else { 200.0 };
        let well_conditioned = (2.0 * squares).sqrt() <= largest * floor;
        well_conditioned.then(|| invert(self.matrix.as_mut(), self.scratch.as_mut(), threads)).flatten()
    }

    /// The same from a factor, whatever the condition.
    pub fn invert_by(&mut self, chol: &Cholesky<T>, threads: usize) {
        let n = self.matrix.nrows();
        let mut inverse_factor = self.scratch.as_mut().submatrix_mut(0, 0, n, n);
        chol.inverse_factor(inverse_factor.as_mut());
        Cholesky::inverse(inverse_factor.as_ref(), self.matrix.as_mut(), threads);
        mirror(self.matrix.as_mut(), Triangle::Lower);
    }
}

/// `A⁻¹`, both triangles, in place of the lower triangle of `a`; `log|A|`.
fn invert<T: Real>(mut a: MatMut<'_, T>, mut scratch: MatMut<'_, T>, threads: usize) -> Option<f64> {
    let n = a.nrows();
    if n <= BLOCK {
        let mut upper = scratch.submatrix_mut(0, 0, n, n); // L⁻ᵀ
        if !invert_factor(a.as_ref(), Triangle::Lower, upper.as_mut()) {
            return None;
        }
        let log_determinant = (0..n).map(|i| -2.0 * upper[(i, i)].to_f64().ln()).sum();
        product(a, Plus::Nothing, upper.as_ref(), upper.as_ref().transpose(), T::from_f64(1.0));
        return Some(log_determinant);
    }
    let middle = half(n, BLOCK);
    let (left, right) = a.as_mut().split_at_col_mut(middle);
    let (mut a_1, mut a_21) = left.split_at_row_mut(middle);
    let mut a_2 = right.subrows_mut(middle, n - middle);
    let log_1 = invert(a_1.as_mut(), scratch.as_mut(), threads)?;
    let (t, mut scratch) = scratch.split_at_row_mut(n - middle);
    let mut t = t.subcols_mut(0, middle);
    shared_product(t.as_mut(), Plus::Nothing, a_21.as_ref(), a_1.as_ref(), T::from_f64(1.0), threads);
    subtract_lower(a_2.as_mut(), t.as_ref(), a_21.as_ref().transpose(), threads);
    let log_2 = invert(a_2.as_mut(), scratch.as_mut(), threads)?;
    shared_product(a_21.as_mut(), Plus::Nothing, a_2.as_ref(), t.as_ref(), T::from_f64(-1.0), threads);
    subtract_lower(a_1, t.as_ref().transpose(), a_21.as_ref(), threads);
    mirror(a, Triangle::Lower);
    Some(log_1 + log_2)
}

/// `out −= a b` in the lower triangle, by strips of columns that leave out most of the upper one.
fn subtract_lower<T: Real>(mut out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>, threads: usize) {
    let n = out.nrows();
    for start in (0..n).step_by(BLOCK) {
        let width = BLOCK.min(n - start);
        let strip = out.as_mut().submatrix_mut(start, start, n - start, width);
        let (a, b) = (a.subrows(start, n - start), b.subcols(start, width));
        shared_product(strip, Plus::Out, a, b, T::from_f64(-1.0), threads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::faer_of;

    /// `diagonal·I + 1/(1 + (i−j)²/100)`, below the diagonal; above it stands what must never be read.
    fn filled(n: usize, diagonal: f64) -> (Mat<f64>, BlockInverse<f64>) {
        let close = |i: usize, j: usize| 1.0 / (1.0 + (i as f64 - j as f64).powi(2) / 100.0);
        let a = Mat::from_fn(n, n, |i, j| close(i, j) + if i == j { diagonal } else { 0.0 });
        let mut inverse = BlockInverse::with_size(n);
        let lower = Mat::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { f64::NAN });
        inverse.lower_mut().copy_from(lower.as_ref());
        (a, inverse)
    }

    #[test]
    fn halves_and_factor_give_the_same_inverse_and_determinant_for_every_kind_of_size() {
        for n in [1, 2, 31, 32, 33, 64, 65, 100, 128, 200] {
            let (a, mut inverse) = filled(n, 0.5);
            let log_determinant = inverse.invert(0.5, 1).expect("well-conditioned");
            let identity = faer::Mat::<f64>::identity(n, n);
            let is_inverse =
                |b: MatRef<'_, f64>| (faer_of(b) * faer_of(a.as_ref()) - &identity).norm_max() < 1e-12;
            assert!(is_inverse(inverse.get()), "{n}");
            let mut chol = Cholesky::with_size(n);
            chol.factor(a.as_ref(), 0.0).expect("positive definite");
            assert!((log_determinant - chol.log_determinant()).abs() < 1e-11, "{n}");
            inverse.invert_by(&chol, 1);
            assert!(is_inverse(inverse.get()), "{n}");
        }
    }

    #[test]
    fn what_is_ill_conditioned_or_not_positive_definite_is_refused() {
        let (_, mut inverse) = filled(100, 1e-5);
        assert_eq!(inverse.invert(1e-5, 1), None);
        for at in [0, 31, 32, 99] {
            for wrong in [-1.0, f64::NAN] {
                let (_, mut inverse) = filled(100, 1.0);
                inverse.lower_mut()[(at, at)] = wrong;
                assert_eq!(inverse.invert(1.0, 1), None, "{wrong} at {at}");
            }
        }
    }
}
