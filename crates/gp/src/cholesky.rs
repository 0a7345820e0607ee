//! Cholesky factor `L Lᵀ = A` and solves with it, a step of [`STEP`] columns after the other: nearly all of it is matrix
//! products whose left side are rows of `L`, which stay in panels from the factorisation to the solves.
//!
//! By hand because that is faster where it is used most; `cargo bench -p ign-gp` has faer's own beside it.

use crate::block::{BLOCK, LARGEST, factor_block};
use crate::matrix::{column, column_mut, product, zeros};
use crate::tile::{COLUMNS, Panels, Part};
use crate::{Error, Real};
use faer::{Accum, Mat, MatMut, MatRef};

/// Columns of `L` that are made at a time.
const STEP: usize = LARGEST;

/// A lower Cholesky factor with the inverses of its diagonal blocks.
#[derive(Debug, Clone)]
pub struct Cholesky<T: Real> {
    factor: Mat<T>,         // [M, M], lower
    block_inverses: Mat<T>, // [STEP, M]: L⁻ᵀ of a diagonal block stands in its columns
    panels: Panels<T>,      // [M, M]: rows of L without its diagonal blocks
}

impl<T: Real> Cholesky<T> {
    /// Room for a factor of size `m`.
    pub fn with_size(m: usize) -> Self {
        Self { factor: zeros(m, m), block_inverses: Mat::zeros(STEP, m), panels: Panels::new() }
    }

    /// The factor `L`; only its lower triangle has a meaning.
    pub fn lower(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }

    /// `log|A| = 2 Σ log Lᵢᵢ`.
    pub fn log_determinant(&self) -> f64 {
        (0..self.factor.nrows()).map(|i| 2.0 * self.factor[(i, i)].to_f64().ln()).sum()
    }

    /// Factors `A + jitter·I` for the lower triangle of `a`; the jitter is raised if it must be, and returned.
    pub fn factor(&mut self, a: MatRef<'_, T>, jitter: f64) -> Result<f64, Error> {
        self.factor_with_ladder("A", a, jitter)
    }

    /// Factors `A + jitter·I` for the lower triangle of `a`, climbing from `jitter` in steps of ten
    /// until it succeeds; returns the jitter that was needed.
    pub(crate) fn factor_with_ladder(
        &mut self,
        matrix: &'static str,
        a: MatRef<'_, T>,
        jitter: f64,
    ) -> Result<f64, Error> {
        let m = a.nrows();
        let mean_diagonal = (0..m).map(|i| a[(i, i)].to_f64()).sum::<f64>() / m as f64;
        if !mean_diagonal.is_finite() {
            return Err(Error::NotFinite { what: matrix });
        }
        let top = mean_diagonal.abs() * 0.1 + jitter;
        let mut rung = jitter;
        loop {
            let fill = |j: usize, to: &mut [T]| {
                to.copy_from_slice(&column(a, j)[j..]);
                to[0] += T::of(rung);
            };
            if self.factor_filled(fill) {
                return Ok(rung);
            }
            let next = if rung > 0.0 { rung * 10.0 } else { mean_diagonal * 1e-12 };
            if next > top || next <= rung {
                return Err(Error::NotPositiveDefinite { matrix, size: m, jitter: rung });
            }
            rung = next;
        }
    }

    /// Factors the matrix whose column j `fill` writes from the diagonal on, just before it is needed; false when it is not
    /// positive definite, or not finite.
    ///
    /// ```text
    /// L_J = (A_J − L_<J L_J,<Jᵀ) L_JJ⁻ᵀ      columns J, rows from J on
    /// ```
    pub(crate) fn factor_filled(&mut self, fill: impl Fn(usize, &mut [T])) -> bool {
        let Self { factor, block_inverses, panels } = self;
        let m = factor.nrows();
        panels.resize(m, m);
        for start in (0..m).step_by(STEP) {
            let (width, end) = (STEP.min(m - start), m.min(start + STEP));
            let (done, rest) = factor.as_mut().split_at_col_mut(start);
            let mut columns = rest.submatrix_mut(start, 0, m - start, width);
            for j in 0..width {
                fill(start + j, &mut column_mut(columns.as_mut(), j)[j..]);
            }
            let above = done.as_ref().subrows(start, width).transpose();
            panels.times((start, 0), columns.as_mut(), Part::Lower, Accum::Add, above, T::of(-1.0));
            let (diagonal, mut below) = columns.split_at_row_mut(width);
            let mut inverse = block_inverses.as_mut().submatrix_mut(0, start, width, width);
            if !factor_block(diagonal, inverse.as_mut()) {
                return false;
            }
            panels.put((end, start), below.as_ref());
            for c in (0..width).step_by(2 * COLUMNS) {
                // Below the diagonal of the inverse there is nothing to multiply.
                let count = (2 * COLUMNS).min(width - c);
                let right = inverse.as_ref().submatrix(0, c, c + count, count);
                let out = below.as_mut().subcols_mut(c, count);
                panels.times((end, start), out, Part::All, Accum::Replace, right, T::of(1.0));
            }
            panels.put((end, start), below.as_ref());
        }
        true
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, mut x: MatMut<'_, T>) {
        let mut half = zeros(x.nrows(), x.ncols());
        self.half_solve(x.as_mut(), half.as_mut(), 1);
        self.half_solve_transposed(half.as_mut(), x, 1);
    }

    /// `out = L⁻¹ x`, columns of `x [M, K]` shared among the threads; `x` is left holding anything.
    pub fn half_solve(&self, x: MatMut<'_, T>, out: MatMut<'_, T>, threads: usize) {
        share_columns(x, out, threads, &|x, out| self.solve_left(x, out));
    }

    /// `out = L⁻ᵀ x`, in the same manner.
    pub fn half_solve_transposed(&self, x: MatMut<'_, T>, out: MatMut<'_, T>, threads: usize) {
        share_columns(x, out, threads, &|x, out| self.solve_left_transposed(x, out));
    }

    /// `out_I = L_II⁻¹ (x_I − L_I,<I out_<I)`.
    fn solve_left(&self, mut x: MatMut<'_, T>, mut out: MatMut<'_, T>) {
        let (m, one) = (out.nrows(), T::of(1.0));
        for start in (0..m).step_by(STEP) {
            let width = STEP.min(m - start);
            let (done, next) = out.as_mut().split_at_row_mut(start);
            let (mut x, mut next) = (x.as_mut().subrows_mut(start, width), next.subrows_mut(0, width));
            self.panels.times((start, 0), x.as_mut(), Part::All, Accum::Add, done.as_ref(), -one);
            Panels::lend(self.block_inverse(start, width).transpose(), |inverse| {
                for row in (0..width).step_by(BLOCK) {
                    let rows = BLOCK.min(width - row);
                    let (to, x) = (next.as_mut().subrows_mut(row, rows), x.as_ref().subrows(0, row + rows));
                    inverse.times((row, 0), to, Part::All, Accum::Replace, x, one);
                }
            });
        }
    }

    /// `out_I = L_II⁻ᵀ (x_I − L_>I,Iᵀ out_>I)`.
    fn solve_left_transposed(&self, mut x: MatMut<'_, T>, mut out: MatMut<'_, T>) {
        let (m, one) = (out.nrows(), T::of(1.0));
        for start in (0..m).step_by(STEP).rev() {
            let (width, end) = (STEP.min(m - start), m.min(start + STEP));
            let (next, done) = out.as_mut().split_at_row_mut(end);
            let (mut x, mut next) = (x.as_mut().subrows_mut(start, width), next.subrows_mut(start, width));
            Panels::lend(self.factor.as_ref().submatrix(end, start, m - end, width).transpose(), |below| {
                below.times((0, 0), x.as_mut(), Part::All, Accum::Add, done.as_ref(), -one);
            });
            Panels::lend(self.block_inverse(start, width), |inverse| {
                for row in (0..width).step_by(BLOCK) {
                    let rows = BLOCK.min(width - row);
                    let (to, x) =
                        (next.as_mut().subrows_mut(row, rows), x.as_ref().subrows(row, width - row));
                    inverse.times((row, row), to, Part::All, Accum::Replace, x, one);
                }
            });
        }
    }

    /// `L⁻ᵀ` of a diagonal block.
    fn block_inverse(&self, start: usize, width: usize) -> MatRef<'_, T> {
        self.block_inverses.as_ref().submatrix(0, start, width, width)
    }

    /// `L⁻¹` written out `[M, M]`, lower triangular with zeros above.
    pub(crate) fn inverse_factor(&self, mut out: MatMut<'_, T>) {
        out.fill(T::default());
        let m = out.nrows();
        let half = m.div_ceil(2).next_multiple_of(STEP);
        invert(self.factor.as_ref(), self.block_inverses.as_ref(), out, zeros(half, half).as_mut());
    }

    /// Lower triangle of `A⁻¹ = L⁻ᵀL⁻¹` from what [`inverse_factor`](Self::inverse_factor) gave, in strips of rows that leave
    /// out most of the zeros.
    pub(crate) fn inverse(inverse_factor: MatRef<'_, T>, mut out: MatMut<'_, T>, threads: usize) {
        let n = inverse_factor.nrows();
        for start in (0..n).step_by(BLOCK) {
            let rows = BLOCK.min(n - start);
            let right = inverse_factor.submatrix(start, 0, n - start, start + rows);
            let left = right.subcols(start, rows).transpose();
            product(out.as_mut().submatrix_mut(start, 0, rows, start + rows), left, right, 1.0, threads);
        }
    }
}

/// `L⁻¹` into the lower triangle of `out`: `[L₁ 0; L₂₁ L₂]⁻¹ = [L₁⁻¹ 0; −L₂⁻¹L₂₁L₁⁻¹ L₂⁻¹]`.
fn invert<T: Real>(
    l: MatRef<'_, T>,
    inverses: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    mut scratch: MatMut<'_, T>,
) {
    let n = l.nrows();
    if n <= STEP {
        for j in 0..n {
            for i in 0..=j {
                out[(j, i)] = inverses[(i, j)];
            }
        }
        return;
    }
    let middle = half(n, STEP);
    let (inverses_1, inverses_2) = inverses.split_at_col(middle);
    let (mut upper, mut lower) = out.split_at_row_mut(middle);
    invert(
        l.submatrix(0, 0, middle, middle),
        inverses_1,
        upper.as_mut().subcols_mut(0, middle),
        scratch.as_mut(),
    );
    let (below, mut right) = lower.as_mut().split_at_col_mut(middle);
    invert(l.submatrix(middle, middle, n - middle, n - middle), inverses_2, right.as_mut(), scratch.as_mut());
    let mut between = scratch.submatrix_mut(0, 0, n - middle, middle);
    product(
        between.as_mut(),
        l.submatrix(middle, 0, n - middle, middle),
        upper.as_ref().subcols(0, middle),
        1.0,
        1,
    );
    product(below, right.as_ref(), between.as_ref(), -1.0, 1);
}

/// Applies `work` to parts of the columns, one part a thread. The parts do not change any entry's arithmetic.
fn share_columns<T: Real>(
    x: MatMut<'_, T>,
    out: MatMut<'_, T>,
    threads: usize,
    work: &(impl Fn(MatMut<'_, T>, MatMut<'_, T>) + Sync),
) {
    if threads < 2 || x.ncols() < 2 * threads {
        return work(x, out);
    }
    let left_threads = threads / 2;
    let middle = x.ncols() * left_threads / threads;
    let ((left, right), (out_left, out_right)) = (x.split_at_col_mut(middle), out.split_at_col_mut(middle));
    rayon::join(
        || share_columns(left, out_left, left_threads, work),
        || share_columns(right, out_right, threads - left_threads, work),
    );
}

/// First half of `n`, on a block's boundary; `n` is larger than a block.
pub(crate) fn half(n: usize, block: usize) -> usize {
    (n / 2).next_multiple_of(block).min(n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `1/(1 + (i−j)²)`, with one on the diagonal more.
    fn positive(n: usize) -> Mat<f64> {
        Mat::from_fn(n, n, |i, j| 1.0 / (1.0 + (i as f64 - j as f64).powi(2)) + f64::from(u8::from(i == j)))
    }

    #[test]
    fn factor_inverse_and_solves_hold_for_every_kind_of_size() {
        for n in [1, 2, 31, 32, 33, 64, 65, 100, 127, 200] {
            let a = positive(n);
            // Above the diagonal stands what must never be read.
            let lower = Mat::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { f64::NAN });
            let mut chol = Cholesky::with_size(n);
            for _ in 0..2 {
                assert_eq!(chol.factor(lower.as_ref(), 0.0), Ok(0.0), "{n}");
            }
            let l = Mat::from_fn(n, n, |i, j| if i >= j { chol.lower()[(i, j)] } else { 0.0 });
            assert!((&l * l.transpose() - &a).norm_max() < 1e-14, "{n}");
            let mut inverse = Mat::from_fn(n, n, |_, _| f64::NAN);
            chol.inverse_factor(inverse.as_mut());
            assert!((&inverse * &l - Mat::<f64>::identity(n, n)).norm_max() < 1e-14, "{n}");
            let b = Mat::from_fn(n, 5, |i, j| ((3 * i + j) % 7) as f64 - 3.0);
            let mut half = Mat::from_fn(n, 5, |_, _| f64::NAN);
            chol.half_solve(b.clone().as_mut(), half.as_mut(), 1);
            assert!((&l * &half - &b).norm_max() < 1e-13, "{n}");
            let mut x = b.clone();
            chol.solve(x.as_mut());
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
                let fill = |j: usize, to: &mut [f64]| to.copy_from_slice(&column(a.as_ref(), j)[j..]);
                assert!(!chol.factor_filled(fill), "{wrong} at {at}");
            }
        }
    }
}
