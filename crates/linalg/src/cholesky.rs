//! Cholesky factor `L Lᵀ = A` and solves with it, 64 rows of `Lᵀ` after the other: nearly all of it is matrix products
//! whose left side are rows of `L`, which stay in packed from the factorisation to the solves, and whose right side are
//! columns that are read where they are.
//!
//! By hand because that is faster where it is used most; the benches of this crate have faer beside it.
//!
//! ```
//! use inducing_linalg::{Cholesky, Mat};
//! let a = Mat::from_fn(2, 2, |i, j| if i == j { 4.0 } else { 1.0 });
//! let mut chol = Cholesky::with_size(2);
//! assert_eq!(chol.factor(a.as_ref(), 0.0)?, 0.0);
//! assert!((chol.log_determinant() - 15.0_f64.ln()).abs() < 1e-12);
//! let mut x = Mat::from_fn(2, 1, |_, _| 5.0_f64);
//! chol.solve(x.as_mut());
//! assert!((x[(0, 0)] - 1.0).abs() < 1e-12 && (x[(1, 0)] - 1.0).abs() < 1e-12);
//! # Ok::<(), inducing_linalg::Error>(())
//! ```

use crate::diagonal_block::{BLOCK, LARGEST, invert_factor};
use crate::gemm::{Packed, Part, Plus, Triangle, Zeros, product, shared_product};
use crate::threads::share_columns;
use crate::{Error, Mat, MatMut, MatRef, Real};

/// Rows of `Lᵀ` that are made at a time.
const STEP: usize = LARGEST;

/// Columns that are freed from the rows above at a time: few, so that they are still in a cache when they are multiplied.
const WIDTH: usize = 96;

/// A Cholesky factor with the inverses of its diagonal blocks.
#[derive(Debug, Clone)]
pub struct Cholesky<T: Real> {
    upper: Mat<T>,          // [M, M]: Lᵀ above its diagonal blocks
    block_inverses: Mat<T>, // [STEP, M]: L⁻ᵀ of a diagonal block stands in its columns
    packed: Packed<T>,      // [M, M]: rows of L up to its diagonal blocks, in whose place are their inverses
}

impl<T: Real> Cholesky<T> {
    /// Room for a factor of size `m`.
    pub fn with_size(m: usize) -> Self {
        Self { upper: Mat::zeros(m, m), block_inverses: Mat::zeros(STEP, m), packed: Packed::new() }
    }

    /// `log|A| = 2 Σ log Lᵢᵢ`.
    pub fn log_determinant(&self) -> f64 {
        (0..self.upper.nrows()).map(|i| -2.0 * self.block_inverses[(i % STEP, i)].to_f64().ln()).sum()
    }

    /// Factors `A + jitter·I` for the upper triangle of `a`, raising the jitter in steps of ten until it succeeds; returns
    /// the jitter that was needed. At most a tenth of the mean diagonal is tried. O(M³/3).
    pub fn factor(&mut self, a: MatRef<'_, T>, jitter: f64) -> Result<f64, Error> {
        let m = a.nrows();
        let mean_diagonal = (0..m).map(|i| a[(i, i)].to_f64()).sum::<f64>() / m as f64;
        if !mean_diagonal.is_finite() {
            return Err(Error::NotFinite);
        }
        let top = mean_diagonal.abs() * 0.1 + jitter;
        let mut rung = jitter;
        loop {
            if self.try_factor(a, T::from_f64(rung)) {
                return Ok(rung);
            }
            let next = if rung > 0.0 { rung * 10.0 } else { mean_diagonal * 1e-12 };
            if next > top || next <= rung {
                return Err(Error::NotPositiveDefinite { size: m, jitter: rung });
            }
            rung = next;
        }
    }

    /// Factors `A + jitter·I` for the upper triangle of `a`; false when that is not positive definite, or not finite.
    ///
    /// ```text
    /// X = A_J − L_J,<J Lᵀ_<J      Lᵀ_J = L_JJ⁻¹ X      rows J, columns from J on
    /// ```
    pub fn try_factor(&mut self, a: MatRef<'_, T>, jitter: T) -> bool {
        let m = a.nrows();
        self.packed.resize(m, m);
        with_rows(WIDTH.max(STEP), |x| self.factor_rows(a, jitter, x))
    }

    fn factor_rows(&mut self, a: MatRef<'_, T>, jitter: T, mut x: MatMut<'_, T>) -> bool {
        let Self { upper, block_inverses, packed } = self;
        let (m, minus) = (a.nrows(), T::from_f64(-1.0));
        for start in (0..m).step_by(STEP) {
            let (count, end) = (STEP.min(m - start), m.min(start + STEP));
            let (above, mut rows) = upper.as_mut().split_at_row_mut(start);
            let above = above.as_ref();
            packed.put((start, 0), above.subcols(start, count).transpose());
            let mut diagonal = x.as_mut().submatrix_mut(0, 0, count, count);
            let of_a = Plus::Matrix(a.submatrix(start, start, count, count));
            let part = Part::Upper { from: 0 };
            packed.times((start, 0), diagonal.as_mut(), part, of_a, above.subcols(start, count), minus);
            (0..count).for_each(|i| diagonal[(i, i)] += jitter);
            let mut inverse = block_inverses.as_mut().submatrix_mut(0, start, count, count);
            if !invert_factor(diagonal.as_ref(), Triangle::Upper, inverse.as_mut()) {
                return false;
            }
            packed.put((start, start), inverse.as_ref().transpose());
            for at in (end..m).step_by(WIDTH) {
                let width = WIDTH.min(m - at);
                let mut x = x.as_mut().submatrix_mut(0, 0, count, width);
                let of_a = Plus::Matrix(a.submatrix(start, at, count, width));
                packed.times((start, 0), x.as_mut(), Part::All, of_a, above.subcols(at, width), minus);
                let out = rows.as_mut().submatrix_mut(0, at, count, width);
                packed.triangle_times(Zeros::Above, (start, start), out, x.as_ref());
            }
        }
        true
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: MatMut<'_, T>) {
        let mut half = Mat::zeros(x.nrows(), x.ncols());
        self.half_solve(x.as_ref(), half.as_mut(), 1);
        self.half_solve_transposed(half.as_ref(), x, 1);
    }

    /// `out = L⁻¹ x`, columns of `x [M, K]` shared among the threads.
    pub fn half_solve(&self, x: MatRef<'_, T>, out: MatMut<'_, T>, threads: usize) {
        share_columns(x, out, threads, &|x, out| self.solve_left(x, out));
    }

    /// `out = L⁻ᵀ x`, in the same manner.
    pub fn half_solve_transposed(&self, x: MatRef<'_, T>, out: MatMut<'_, T>, threads: usize) {
        share_columns(x, out, threads, &|x, out| self.solve_left_transposed(x, out));
    }

    /// `out_I = L_II⁻¹ (x_I − L_I,<I out_<I)`.
    fn solve_left(&self, x: MatRef<'_, T>, mut out: MatMut<'_, T>) {
        let m = out.nrows();
        with_rows(out.ncols(), |mut rest| {
            for start in (0..m).step_by(STEP) {
                let width = STEP.min(m - start);
                let (done, next) = out.as_mut().split_at_row_mut(start);
                let mut rest = rest.as_mut().subrows_mut(0, width);
                let x = Plus::Matrix(x.subrows(start, width));
                self.packed.times((start, 0), rest.as_mut(), Part::All, x, done.as_ref(), T::from_f64(-1.0));
                let next = next.subrows_mut(0, width);
                self.packed.triangle_times(Zeros::Above, (start, start), next, rest.as_ref());
            }
        });
    }

    /// `out_I = L_II⁻ᵀ (x_I − Lᵀ_I,>I out_>I)`.
    fn solve_left_transposed(&self, x: MatRef<'_, T>, mut out: MatMut<'_, T>) {
        let m = out.nrows();
        with_rows(out.ncols(), |mut rest| {
            for start in (0..m).step_by(STEP).rev() {
                let (width, end) = (STEP.min(m - start), m.min(start + STEP));
                let (next, done) = out.as_mut().split_at_row_mut(end);
                let mut rest = rest.as_mut().subrows_mut(0, width);
                let x = Plus::Matrix(x.subrows(start, width));
                Packed::with_packed(self.upper.as_ref().submatrix(start, end, width, m - end), |beside| {
                    beside.times((0, 0), rest.as_mut(), Part::All, x, done.as_ref(), T::from_f64(-1.0));
                });
                let next = next.subrows_mut(start, width);
                Packed::with_packed(
                    self.block_inverses.as_ref().submatrix(0, start, width, width),
                    |inverse| {
                        inverse.triangle_times(Zeros::Below, (0, 0), next, rest.as_ref());
                    },
                );
            }
        });
    }

    /// `L⁻¹` written out `[M, M]`, lower triangular with zeros above.
    pub fn inverse_factor(&self, mut out: MatMut<'_, T>) {
        out.fill(T::default());
        let m = out.nrows();
        let half = m.div_ceil(2).next_multiple_of(STEP);
        invert(self.upper.as_ref(), self.block_inverses.as_ref(), out, Mat::zeros(half, half).as_mut());
    }

    /// Lower triangle of `A⁻¹ = L⁻ᵀL⁻¹` from what [`inverse_factor`](Self::inverse_factor) gave, in strips of rows that leave
    /// out most of the zeros.
    pub fn inverse(inverse_factor: MatRef<'_, T>, mut out: MatMut<'_, T>, threads: usize) {
        let n = inverse_factor.nrows();
        for start in (0..n).step_by(BLOCK) {
            let rows = BLOCK.min(n - start);
            let right = inverse_factor.submatrix(start, 0, n - start, start + rows);
            let left = right.subcols(start, rows).transpose();
            let out = out.as_mut().submatrix_mut(start, 0, rows, start + rows);
            shared_product(out, Plus::Nothing, left, right, T::from_f64(1.0), threads);
        }
    }
}

/// `L⁻¹` into the lower triangle of `out`: `[L₁ 0; L₂₁ L₂]⁻¹ = [L₁⁻¹ 0; −L₂⁻¹L₂₁L₁⁻¹ L₂⁻¹]`.
fn invert<T: Real>(
    upper: MatRef<'_, T>,
    inverses: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    mut scratch: MatMut<'_, T>,
) {
    let n = upper.nrows();
    if n <= STEP {
        for j in 0..n {
            inverses.col(j)[..=j].iter().enumerate().for_each(|(i, &x)| out[(j, i)] = x);
        }
        return;
    }
    let middle = half(n, STEP);
    let (inverses_1, inverses_2) = inverses.split_at_col(middle);
    let (mut top, mut bottom) = out.split_at_row_mut(middle);
    invert(
        upper.submatrix(0, 0, middle, middle),
        inverses_1,
        top.as_mut().subcols_mut(0, middle),
        scratch.as_mut(),
    );
    let (below, mut right) = bottom.as_mut().split_at_col_mut(middle);
    invert(
        upper.submatrix(middle, middle, n - middle, n - middle),
        inverses_2,
        right.as_mut(),
        scratch.as_mut(),
    );
    let mut between = scratch.submatrix_mut(0, 0, n - middle, middle);
    let of_lower = upper.submatrix(0, middle, middle, n - middle).transpose();
    product(between.as_mut(), Plus::Nothing, of_lower, top.as_ref().subcols(0, middle), T::from_f64(1.0));
    product(below, Plus::Nothing, right.as_ref(), between.as_ref(), T::from_f64(-1.0));
}

/// Calls `work` with scratch `[STEP, columns]`, holding anything.
fn with_rows<T: Real, R>(columns: usize, work: impl FnOnce(MatMut<'_, T>) -> R) -> R {
    T::with_scratch(|scratch| {
        scratch.grow(STEP * columns);
        work(MatMut::from_column_major_slice_mut(&mut scratch[..STEP * columns], STEP, columns))
    })
}

/// First half of `n`, on a block's boundary; `n` is larger than a block.
pub(crate) fn half(n: usize, block: usize) -> usize {
    (n / 2).next_multiple_of(block).min(n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::faer_of;

    /// `1/(1 + (i−j)²)`, with one on the diagonal more.
    fn positive(n: usize) -> Mat<f64> {
        Mat::from_fn(n, n, |i, j| 1.0 / (1.0 + (i as f64 - j as f64).powi(2)) + f64::from(u8::from(i == j)))
    }

    #[test]
    fn factor_inverse_and_solves_hold_for_every_kind_of_size() {
        for n in [1, 2, 31, 32, 33, 64, 65, 100, 127, 200, 577] {
            let a = positive(n);
            // Below the diagonal stands what must never be read.
            let upper = Mat::from_fn(n, n, |i, j| if i <= j { a[(i, j)] } else { f64::NAN });
            let mut chol = Cholesky::with_size(n);
            for _ in 0..2 {
                assert_eq!(chol.factor(upper.as_ref(), 0.0), Ok(0.0), "{n}");
            }
            let mut inverse = Mat::from_fn(n, n, |_, _| f64::NAN);
            chol.inverse_factor(inverse.as_mut());
            let log_determinant: f64 = (0..n).map(|i| -2.0 * inverse[(i, i)].ln()).sum();
            assert!((chol.log_determinant() - log_determinant).abs() < 1e-12, "{n}");
            let b = Mat::from_fn(n, 5, |i, j| ((3 * i + j) % 7) as f64 - 3.0);
            let (mut half, mut other_half, mut x) = (Mat::zeros(n, 5), Mat::zeros(n, 5), b.clone());
            chol.half_solve(b.as_ref(), half.as_mut(), 1);
            chol.half_solve_transposed(b.as_ref(), other_half.as_mut(), 2);
            chol.solve(x.as_mut());
            let [a, inverse, b] = [&a, &inverse, &b].map(|x| faer_of(x.as_ref()));
            let [half, other_half, x] = [&half, &other_half, &x].map(|x| faer_of(x.as_ref()));
            let identity = &inverse * &a * inverse.transpose();
            assert!((identity - faer::Mat::<f64>::identity(n, n)).norm_max() < 1e-13, "{n}");
            assert!((&inverse * &b - &half).norm_max() < 1e-13, "{n}");
            assert!((inverse.transpose() * &b - &other_half).norm_max() < 1e-13, "{n}");
            assert!((&a * &x - &b).norm_max() < 1e-13, "{n}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_refused_wherever_it_fails() {
        let n = 100;
        for at in [0, 31, 32, 63, 99] {
            for wrong in [-1.0, 0.0, f64::NAN, 1e31] {
                let mut chol = Cholesky::with_size(n);
                let mut a = positive(n);
                a[(at, at)] = wrong;
                assert!(!chol.try_factor(a.as_ref(), 0.0), "{wrong} at {at}");
            }
        }
    }

    #[test]
    fn the_jitter_is_raised_until_a_singular_matrix_is_positive_definite_and_no_further() {
        let ones = Mat::from_fn(40, 40, |_, _| 1.0);
        let mut chol = Cholesky::with_size(40);
        let needed = chol.factor(ones.as_ref(), 0.0).expect("a small jitter suffices");
        assert!(needed > 0.0 && needed < 1e-10, "{needed:e}");
        let negative =
            Mat::from_fn(40, 40, |i, j| f64::from(u8::from(i == j)) * if i == 7 { -5.0 } else { 1.0 });
        let refused = chol.factor(negative.as_ref(), 1e-6);
        assert!(matches!(refused, Err(Error::NotPositiveDefinite { size: 40, .. })), "{refused:?}");
        let nan = Mat::from_fn(40, 40, |_, _| f64::NAN);
        assert_eq!(chol.factor(nan.as_ref(), 1e-6), Err(Error::NotFinite));
    }
}
