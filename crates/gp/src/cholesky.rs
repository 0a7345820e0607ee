//! Cholesky factor `L Lᵀ = A` and solves with it, [`STEP`] rows of `Lᵀ` after the other: nearly all of it is matrix products
//! whose left side are rows of `L`, which stay in panels from the factorisation to the solves, and whose right side are
//! columns that are read where they are.
//!
//! By hand because that is faster where it is used most; `cargo bench -p ign-gp` has faer's own beside it.

use crate::block::{BLOCK, LARGEST, invert_factor};
use crate::matrix::{Triangle, column_mut, product, zeros};
use crate::panels::Panels;
use crate::tile::{Part, Plus, Zeros};
use crate::{Error, Real};
use faer::{Mat, MatMut, MatRef};

/// Rows of `Lᵀ` that are made at a time.
const STEP: usize = LARGEST;

/// Columns that are freed from the rows above at a time: few, so that they are still in a cache when they are multiplied.
const WIDTH: usize = 96;

/// A Cholesky factor with the inverses of its diagonal blocks.
#[derive(Debug, Clone)]
pub struct Cholesky<T: Real> {
    upper: Mat<T>,          // [M, M]: Lᵀ above its diagonal blocks
    block_inverses: Mat<T>, // [STEP, M]: L⁻ᵀ of a diagonal block stands in its columns
    panels: Panels<T>,      // [M, M]: rows of L up to its diagonal blocks, in whose place are their inverses
}

impl<T: Real> Cholesky<T> {
    /// Room for a factor of size `m`.
    pub fn with_size(m: usize) -> Self {
        Self { upper: zeros(m, m), block_inverses: Mat::zeros(STEP, m), panels: Panels::new() }
    }

    /// `log|A| = 2 Σ log Lᵢᵢ`.
    pub fn log_determinant(&self) -> f64 {
        (0..self.upper.nrows()).map(|i| -2.0 * self.block_inverses[(i % STEP, i)].to_f64().ln()).sum()
    }

    /// Factors `A + jitter·I` for the upper triangle of `a`; the jitter is raised if it must be, and returned.
    pub fn factor(&mut self, a: MatRef<'_, T>, jitter: f64) -> Result<f64, Error> {
        self.factor_with_ladder("A", a, jitter)
    }

    /// Factors `A + jitter·I` for the upper triangle of `a`, climbing from `jitter` in steps of ten
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
            if self.try_factor(a, T::of(rung)) {
                return Ok(rung);
            }
            let next = if rung > 0.0 { rung * 10.0 } else { mean_diagonal * 1e-12 };
            if next > top || next <= rung {
                return Err(Error::NotPositiveDefinite { matrix, size: m, jitter: rung });
            }
            rung = next;
        }
    }

    /// Factors `A + jitter·I` for the upper triangle of `a`; false when that is not positive definite, or not finite.
    ///
    /// ```text
    /// X = A_J − L_J,<J Lᵀ_<J      Lᵀ_J = L_JJ⁻¹ X      rows J, columns from J on
    /// ```
    pub(crate) fn try_factor(&mut self, a: MatRef<'_, T>, jitter: T) -> bool {
        let m = a.nrows();
        self.panels.resize(m, m);
        with_rows(WIDTH.max(STEP), |x| self.factor_rows(a, jitter, x))
    }

    fn factor_rows(&mut self, a: MatRef<'_, T>, jitter: T, mut x: MatMut<'_, T>) -> bool {
        let Self { upper, block_inverses, panels } = self;
        let (m, minus) = (a.nrows(), T::of(-1.0));
        for start in (0..m).step_by(STEP) {
            let (count, end) = (STEP.min(m - start), m.min(start + STEP));
            let (above, mut rows) = upper.as_mut().split_at_row_mut(start);
            let above = above.as_ref();
            panels.put((start, 0), above.subcols(start, count).transpose());
            let mut diagonal = x.as_mut().submatrix_mut(0, 0, count, count);
            let of_a = Plus::Matrix(a.submatrix(start, start, count, count));
            let part = Part::Upper { from: 0 };
            panels.times((start, 0), diagonal.as_mut(), part, of_a, above.subcols(start, count), minus);
            (0..count).for_each(|i| diagonal[(i, i)] += jitter);
            let mut inverse = block_inverses.as_mut().submatrix_mut(0, start, count, count);
            if !invert_factor(diagonal.as_ref(), Triangle::Upper, inverse.as_mut()) {
                return false;
            }
            panels.put((start, start), inverse.as_ref().transpose());
            for at in (end..m).step_by(WIDTH) {
                let width = WIDTH.min(m - at);
                let mut x = x.as_mut().submatrix_mut(0, 0, count, width);
                let of_a = Plus::Matrix(a.submatrix(start, at, count, width));
                panels.times((start, 0), x.as_mut(), Part::All, of_a, above.subcols(at, width), minus);
                let out = rows.as_mut().submatrix_mut(0, at, count, width);
                panels.triangle_times(Zeros::Above, (start, start), out, x.as_ref());
            }
        }
        true
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: MatMut<'_, T>) {
        let mut half = zeros(x.nrows(), x.ncols());
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
                self.panels.times((start, 0), rest.as_mut(), Part::All, x, done.as_ref(), T::of(-1.0));
                let next = next.subrows_mut(0, width);
                self.panels.triangle_times(Zeros::Above, (start, start), next, rest.as_ref());
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
                Panels::lend(self.upper.as_ref().submatrix(start, end, width, m - end), |beside| {
                    beside.times((0, 0), rest.as_mut(), Part::All, x, done.as_ref(), T::of(-1.0));
                });
                let next = next.subrows_mut(start, width);
                Panels::lend(self.block_inverses.as_ref().submatrix(0, start, width, width), |inverse| {
                    inverse.triangle_times(Zeros::Below, (0, 0), next, rest.as_ref());
                });
            }
        });
    }

    /// `L⁻¹` written out `[M, M]`, lower triangular with zeros above.
    pub(crate) fn inverse_factor(&self, mut out: MatMut<'_, T>) {
        out.fill(T::default());
        let m = out.nrows();
        let half = m.div_ceil(2).next_multiple_of(STEP);
        invert(self.upper.as_ref(), self.block_inverses.as_ref(), out, zeros(half, half).as_mut());
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
    upper: MatRef<'_, T>,
    inverses: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    mut scratch: MatMut<'_, T>,
) {
    let n = upper.nrows();
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
    product(
        between.as_mut(),
        upper.submatrix(0, middle, middle, n - middle).transpose(),
        top.as_ref().subcols(0, middle),
        1.0,
        1,
    );
    product(below, right.as_ref(), between.as_ref(), -1.0, 1);
}

/// Calls `work` with room `[STEP, columns]`, holding anything.
fn with_rows<T: Real, R>(columns: usize, work: impl FnOnce(MatMut<'_, T>) -> R) -> R {
    T::with_room(|room| {
        let size = STEP * columns;
        if room.nrows() <= size {
            room.resize_with(size + 1, 1, |_, _| T::default());
        }
        work(MatMut::from_column_major_slice_mut(&mut column_mut(room.as_mut(), 0)[..size], STEP, columns))
    })
}

/// Applies `work` to parts of the columns, one part a thread. The parts do not change any entry's arithmetic.
fn share_columns<T: Real>(
    x: MatRef<'_, T>,
    out: MatMut<'_, T>,
    threads: usize,
    work: &(impl Fn(MatRef<'_, T>, MatMut<'_, T>) + Sync),
) {
    if threads < 2 || x.ncols() < 2 * threads {
        return work(x, out);
    }
    let left_threads = threads / 2;
    let middle = x.ncols() * left_threads / threads;
    let ((left, right), (out_left, out_right)) = (x.split_at_col(middle), out.split_at_col_mut(middle));
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
            let identity = &inverse * &a * inverse.transpose();
            assert!((identity - Mat::<f64>::identity(n, n)).norm_max() < 1e-13, "{n}");
            let log_determinant: f64 = (0..n).map(|i| -2.0 * inverse[(i, i)].ln()).sum();
            assert!((chol.log_determinant() - log_determinant).abs() < 1e-12, "{n}");
            let b = Mat::from_fn(n, 5, |i, j| ((3 * i + j) % 7) as f64 - 3.0);
            let (mut half, mut other_half) = (Mat::zeros(n, 5), Mat::zeros(n, 5));
            chol.half_solve(b.as_ref(), half.as_mut(), 1);
            assert!((&inverse * &b - &half).norm_max() < 1e-13, "{n}");
            chol.half_solve_transposed(b.as_ref(), other_half.as_mut(), 2);
            assert!((inverse.transpose() * &b - &other_half).norm_max() < 1e-13, "{n}");
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
                assert!(!chol.try_factor(a.as_ref(), 0.0), "{wrong} at {at}");
            }
        }
    }
}
