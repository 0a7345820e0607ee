//! Cholesky factor `L Lᵀ = A` and solves with it, by recursion down to blocks whose inverses are kept: all else is matrix
//! products, which are faer's.
//!
//! By hand because that is faster where it is used most; `cargo bench -p ign-gp` has faer's own beside it.

use crate::block::{BLOCK, factor_block};
use crate::matrix::{add_product, column, column_mut, lower_product, product, zeros};
use crate::{Error, Real};
use faer::{Accum, Mat, MatMut, MatRef};

/// A lower Cholesky factor with the inverses of its diagonal blocks.
#[derive(Debug, Clone)]
pub struct Cholesky<T: Real> {
    factor: Mat<T>,         // [M, M], lower
    block_inverses: Mat<T>, // [BLOCK, M]: L⁻ᵀ of a diagonal block stands in its columns
    copy: Mat<T>,           // [M, BLOCK]
}

impl<T: Real> Cholesky<T> {
    /// Room for a factor of size `m`.
    pub fn with_size(m: usize) -> Self {
        Self { factor: zeros(m, m), block_inverses: Mat::zeros(BLOCK, m), copy: zeros(m, BLOCK) }
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
        self.fill(a);
        self.climb_ladder(matrix, a, jitter)
    }

    /// The same when the lower triangle of `a` stands in [`lower_mut`](Self::lower_mut) already.
    pub(crate) fn climb_ladder(
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
            (0..m).for_each(|i| self.factor[(i, i)] += T::of(rung));
            if self.factor_in_place() {
                return Ok(rung);
            }
            let next = if rung > 0.0 { rung * 10.0 } else { mean_diagonal * 1e-12 };
            if next > top || next <= rung {
                return Err(Error::NotPositiveDefinite { matrix, size: m, jitter: rung });
            }
            rung = next;
            self.fill(a);
        }
    }

    fn fill(&mut self, a: MatRef<'_, T>) {
        for j in 0..a.ncols() {
            column_mut(self.factor.as_mut(), j)[j..].copy_from_slice(&column(a, j)[j..]);
        }
    }

    /// Factors what stands in the lower triangle; false when it is not positive definite, or not finite.
    pub(crate) fn factor_in_place(&mut self) -> bool {
        factor(self.factor.as_mut(), self.block_inverses.as_mut(), self.copy.as_mut())
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, mut x: MatMut<'_, T>) {
        let mut half = zeros(x.nrows(), x.ncols());
        self.half_solve(x.as_mut(), half.as_mut(), 1);
        self.half_solve_transposed(half.as_mut(), x, 1);
    }

    /// `out = L⁻¹ x`, columns of `x [M, K]` shared among the threads; `x` is left holding anything.
    pub fn half_solve(&self, x: MatMut<'_, T>, out: MatMut<'_, T>, threads: usize) {
        let (l, inverses) = (self.factor.as_ref(), self.block_inverses.as_ref());
        share_columns(x, out, threads, &|x, out| solve_left(l, inverses, x, out));
    }

    /// `out = L⁻ᵀ x`, in the same manner.
    pub fn half_solve_transposed(&self, x: MatMut<'_, T>, out: MatMut<'_, T>, threads: usize) {
        let (l, inverses) = (self.factor.as_ref(), self.block_inverses.as_ref());
        share_columns(x, out, threads, &|x, out| solve_left_transposed(l, inverses, x, out));
    }

    /// `L⁻¹` written out `[M, M]`, lower triangular with zeros above.
    pub(crate) fn inverse_factor(&self, mut out: MatMut<'_, T>) {
        out.fill(T::default());
        let m = out.nrows();
        let mut scratch = zeros(m.div_ceil(2).next_multiple_of(BLOCK), m.div_ceil(2).next_multiple_of(BLOCK));
        invert(self.factor.as_ref(), self.block_inverses.as_ref(), out, scratch.as_mut());
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

    /// The matrix that [`factor_in_place`](Self::factor_in_place) takes from the lower triangle.
    pub(crate) fn lower_mut(&mut self) -> MatMut<'_, T> {
        self.factor.as_mut()
    }
}

/// `L` in place of the lower triangle of `a`: `L₁`, then `L₂₁ = A₂₁L₁⁻ᵀ`, then `L₂` of `A₂ − L₂₁L₂₁ᵀ`; and the inverses of its
/// diagonal blocks. `copy` is `[n, BLOCK]`.
fn factor<T: Real>(a: MatMut<'_, T>, inverses: MatMut<'_, T>, mut copy: MatMut<'_, T>) -> bool {
    let n = a.nrows();
    if n <= BLOCK {
        return factor_block(a, inverses.submatrix_mut(0, 0, n, n));
    }
    let middle = half(n);
    let (left, right) = a.split_at_col_mut(middle);
    let (mut inverses_1, inverses_2) = inverses.split_at_col_mut(middle);
    let (mut upper, mut below) = left.split_at_row_mut(middle);
    let mut lower = right.subrows_mut(middle, n - middle);
    if !factor(upper.as_mut(), inverses_1.as_mut(), copy.as_mut()) {
        return false;
    }
    solve_right(upper.as_ref(), inverses_1.as_ref(), below.as_mut(), copy.as_mut());
    lower_product(lower.as_mut(), Accum::Add, below.as_ref(), below.as_ref().transpose(), -1.0, 1);
    factor(lower, inverses_2, copy)
}

/// `x ← x L⁻ᵀ` for `x [K, n]`; `copy` is `[K, BLOCK]`.
fn solve_right<T: Real>(
    l: MatRef<'_, T>,
    inverses: MatRef<'_, T>,
    x: MatMut<'_, T>,
    mut copy: MatMut<'_, T>,
) {
    let n = l.nrows();
    if n <= BLOCK {
        let mut copy = copy.submatrix_mut(0, 0, x.nrows(), n);
        copy.copy_from(x.as_ref());
        return product(x, copy.as_ref(), inverses.submatrix(0, 0, n, n), 1.0, 1);
    }
    let middle = half(n);
    let (mut x_1, mut x_2) = x.split_at_col_mut(middle);
    let (inverses_1, inverses_2) = inverses.split_at_col(middle);
    solve_right(l.submatrix(0, 0, middle, middle), inverses_1, x_1.as_mut(), copy.as_mut());
    let below = l.submatrix(middle, 0, n - middle, middle).transpose();
    add_product(x_2.as_mut(), x_1.as_ref(), below, -1.0, 1);
    solve_right(l.submatrix(middle, middle, n - middle, n - middle), inverses_2, x_2, copy);
}

/// `L⁻¹` into the lower triangle of `out`: `[L₁ 0; L₂₁ L₂]⁻¹ = [L₁⁻¹ 0; −L₂⁻¹L₂₁L₁⁻¹ L₂⁻¹]`.
fn invert<T: Real>(
    l: MatRef<'_, T>,
    inverses: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    mut scratch: MatMut<'_, T>,
) {
    let n = l.nrows();
    if n <= BLOCK {
        for j in 0..n {
            for i in 0..=j {
                out[(j, i)] = inverses[(i, j)];
            }
        }
        return;
    }
    let middle = half(n);
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
pub(crate) fn half(n: usize) -> usize {
    (n / 2).next_multiple_of(BLOCK).min(n - 1)
}

/// `out = L⁻¹ x` for `x [n, K]`, which holds anything afterwards.
fn solve_left<T: Real>(l: MatRef<'_, T>, inverses: MatRef<'_, T>, x: MatMut<'_, T>, out: MatMut<'_, T>) {
    let n = l.nrows();
    if n <= BLOCK {
        return product(out, inverses.submatrix(0, 0, n, n).transpose(), x.as_ref(), 1.0, 1);
    }
    let middle = half(n);
    let ((x_1, mut x_2), (mut out_1, out_2)) = (x.split_at_row_mut(middle), out.split_at_row_mut(middle));
    let (inverses_1, inverses_2) = inverses.split_at_col(middle);
    solve_left(l.submatrix(0, 0, middle, middle), inverses_1, x_1, out_1.as_mut());
    add_product(x_2.as_mut(), l.submatrix(middle, 0, n - middle, middle), out_1.as_ref(), -1.0, 1);
    solve_left(l.submatrix(middle, middle, n - middle, n - middle), inverses_2, x_2, out_2);
}

/// `out = L⁻ᵀ x` for `x [n, K]`, which holds anything afterwards.
fn solve_left_transposed<T: Real>(
    l: MatRef<'_, T>,
    inverses: MatRef<'_, T>,
    x: MatMut<'_, T>,
    out: MatMut<'_, T>,
) {
    let n = l.nrows();
    if n <= BLOCK {
        return product(out, inverses.submatrix(0, 0, n, n), x.as_ref(), 1.0, 1);
    }
    let middle = half(n);
    let ((mut x_1, x_2), (out_1, mut out_2)) = (x.split_at_row_mut(middle), out.split_at_row_mut(middle));
    let (inverses_1, inverses_2) = inverses.split_at_col(middle);
    let lower = l.submatrix(middle, middle, n - middle, n - middle);
    solve_left_transposed(lower, inverses_2, x_2, out_2.as_mut());
    let below = l.submatrix(middle, 0, n - middle, middle).transpose();
    add_product(x_1.as_mut(), below, out_2.as_ref(), -1.0, 1);
    solve_left_transposed(l.submatrix(0, 0, middle, middle), inverses_1, x_1, out_1);
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
                chol.lower_mut().copy_from(positive(n));
                chol.lower_mut()[(at, at)] = wrong;
                assert!(!chol.factor_in_place(), "{wrong} at {at}");
            }
        }
    }
}
