//! Cholesky factor `L Lᵀ = A` and solves with it, by recursion down to blocks whose inverses are kept.
//!
//! At 512×512 with 128 right-hand sides, one thread (`cargo bench -p ign-gp`): solves take 0.27 / 0.56 ms (f32 / f64)
//! where faer 0.24.4 takes 0.34 / 0.63, but the factorisation 0.68 / 1.24 where faer takes 0.50 / 1.00: it should
//! give way to faer's, with the inverses of the diagonal blocks computed from its factor.

use crate::matrix::{add_product, column, column_mut, lower_product, product, vectorised};
use crate::{Error, Real};
use faer::{Accum, Mat, MatMut, MatRef};

/// Size of the diagonal blocks.
const BLOCK: usize = 32;

/// A lower Cholesky factor with the inverses of its diagonal blocks.
#[derive(Debug, Clone)]
pub struct Cholesky<T: Real> {
    factor: Mat<T>,         // [M, M], lower
    block_inverses: Mat<T>, // [BLOCK, M]: the inverse of diagonal block k stands in its columns
    panel: Mat<T>,          // [M, BLOCK], work space
}

impl<T: Real> Cholesky<T> {
    /// Room for a factor of size `m`.
    pub fn with_size(m: usize) -> Self {
        Self { factor: Mat::zeros(m, m), block_inverses: Mat::zeros(BLOCK, m), panel: Mat::zeros(m, BLOCK) }
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
        self.factor_with_ladder("A", a, jitter, 1)
    }

    /// Factors `A + jitter·I` for the lower triangle of `a`, climbing from `jitter` in steps of ten
    /// until it succeeds; returns the jitter that was needed.
    pub(crate) fn factor_with_ladder(
        &mut self,
        matrix: &'static str,
        a: MatRef<'_, T>,
        jitter: f64,
        threads: usize,
    ) -> Result<f64, Error> {
        let m = a.nrows();
        let mean_diagonal = (0..m).map(|i| a[(i, i)].to_f64()).sum::<f64>() / m as f64;
        if !mean_diagonal.is_finite() {
            return Err(Error::NotFinite { what: matrix });
        }
        let top = mean_diagonal.abs() * 0.1 + jitter;
        let mut rung = jitter;
        loop {
            for j in 0..m {
                let to = &mut column_mut(self.factor.as_mut(), j)[j..];
                to.copy_from_slice(&column(a, j)[j..]);
                to[0] += T::of(rung);
            }
            if self.factor_in_place(threads) {
                return Ok(rung);
            }
            let next = if rung > 0.0 { rung * 10.0 } else { mean_diagonal * 1e-12 };
            if next > top || next <= rung {
                return Err(Error::NotPositiveDefinite { matrix, size: m, jitter: rung });
            }
            rung = next;
        }
    }

    fn factor_in_place(&mut self, threads: usize) -> bool {
        factor(self.factor.as_mut(), self.block_inverses.as_mut(), self.panel.as_mut(), threads)
    }

    /// `x ← L⁻¹ x`, columns of `x [M, K]` shared among the threads.
    pub fn half_solve(&self, x: MatMut<'_, T>, threads: usize) {
        let (l, inverses) = (self.factor.as_ref(), self.block_inverses.as_ref());
        share_columns(x, threads, &|mut x: MatMut<'_, T>| {
            let mut copy = Mat::zeros(BLOCK.min(x.nrows()), x.ncols());
            solve_left(l, inverses, x.as_mut(), copy.as_mut());
        });
    }

    /// `x ← L⁻ᵀ x`, columns of `x [M, K]` shared among the threads.
    pub fn half_solve_transposed(&self, x: MatMut<'_, T>, threads: usize) {
        let (l, inverses) = (self.factor.as_ref(), self.block_inverses.as_ref());
        share_columns(x, threads, &|mut x: MatMut<'_, T>| {
            let mut copy = Mat::zeros(BLOCK.min(x.nrows()), x.ncols());
            solve_left_transposed(l, inverses, x.as_mut(), copy.as_mut());
        });
    }

    /// `L⁻¹` written out `[M, M]`, lower triangular.
    pub(crate) fn inverse_factor(&self, mut out: MatMut<'_, T>, threads: usize) {
        out.fill(T::default());
        for i in 0..out.nrows() {
            out[(i, i)] = T::of(1.0);
        }
        self.half_solve(out, threads);
    }
}

/// Applies `work` to parts of the columns, one part a thread. The parts do not change any entry's arithmetic.
pub(crate) fn share_columns<T: Real>(
    x: MatMut<'_, T>,
    threads: usize,
    work: &(impl Fn(MatMut<'_, T>) + Sync),
) {
    if threads < 2 || x.ncols() < 2 * threads {
        return work(x);
    }
    let left_threads = threads / 2;
    let middle = x.ncols() * left_threads / threads;
    let (left, right) = x.split_at_col_mut(middle);
    rayon::join(
        || share_columns(left, left_threads, work),
        || share_columns(right, threads - left_threads, work),
    );
}

/// First half of `n`, on a block's boundary; `n` is larger than a block.
fn half(n: usize) -> usize {
    (n / 2).next_multiple_of(BLOCK).min(n - 1)
}

/// Recursive factorisation in place (Gustavson 1997): nearly all of it is a few large products. False when the
/// matrix is not positive definite. `inverses [BLOCK, n]` receives those of the diagonal blocks; `panel` is
/// `[n, BLOCK]` of work space.
fn factor<T: Real>(
    a: MatMut<'_, T>,
    inverses: MatMut<'_, T>,
    mut panel: MatMut<'_, T>,
    threads: usize,
) -> bool {
    let n = a.nrows();
    if n <= BLOCK {
        return factor_diagonal(a, inverses);
    }
    let middle = half(n);
    let (left, right) = a.split_at_col_mut(middle);
    let (mut a_11, mut a_21) = left.split_at_row_mut(middle);
    let mut a_22 = right.subrows_mut(middle, n - middle);
    let (mut inverses_1, inverses_2) = inverses.split_at_col_mut(middle);
    if !factor(a_11.as_mut(), inverses_1.as_mut(), panel.as_mut(), threads) {
        return false;
    }
    solve_right(a_11.as_ref(), inverses_1.as_ref(), a_21.as_mut(), panel.as_mut(), threads);
    lower_product(a_22.as_mut(), Accum::Add, a_21.as_ref(), a_21.as_ref().transpose(), -1.0, threads);
    factor(a_22, inverses_2, panel, threads)
}

/// `x ← x L⁻ᵀ` for `x [K, n]`.
fn solve_right<T: Real>(
    l: MatRef<'_, T>,
    inverses: MatRef<'_, T>,
    mut x: MatMut<'_, T>,
    mut panel: MatMut<'_, T>,
    threads: usize,
) {
    let n = l.nrows();
    if n <= BLOCK {
        let mut copy = panel.as_mut().submatrix_mut(0, 0, x.nrows(), n);
        copy.copy_from(x.as_ref());
        return product(x, copy.as_ref(), inverses.submatrix(0, 0, n, n).transpose(), 1.0, threads);
    }
    let middle = half(n);
    let (mut x_1, mut x_2) = x.as_mut().split_at_col_mut(middle);
    let (inverses_1, inverses_2) = inverses.split_at_col(middle);
    solve_right(l.submatrix(0, 0, middle, middle), inverses_1, x_1.as_mut(), panel.as_mut(), threads);
    let l_21 = l.submatrix(middle, 0, n - middle, middle);
    add_product(x_2.as_mut(), x_1.as_ref(), l_21.transpose(), -1.0, threads);
    solve_right(l.submatrix(middle, middle, n - middle, n - middle), inverses_2, x_2, panel, threads);
}

/// `x ← L⁻¹ x` for `x [n, K]`; `copy` is `[BLOCK, K]`.
fn solve_left<T: Real>(l: MatRef<'_, T>, inverses: MatRef<'_, T>, x: MatMut<'_, T>, mut copy: MatMut<'_, T>) {
    let n = l.nrows();
    if n <= BLOCK {
        let mut copy = copy.subrows_mut(0, n);
        copy.copy_from(x.as_ref());
        return product(x, inverses.submatrix(0, 0, n, n), copy.as_ref(), 1.0, 1);
    }
    let middle = half(n);
    let (mut x_1, mut x_2) = x.split_at_row_mut(middle);
    let (inverses_1, inverses_2) = inverses.split_at_col(middle);
    solve_left(l.submatrix(0, 0, middle, middle), inverses_1, x_1.as_mut(), copy.as_mut());
    add_product(x_2.as_mut(), l.submatrix(middle, 0, n - middle, middle), x_1.as_ref(), -1.0, 1);
    solve_left(l.submatrix(middle, middle, n - middle, n - middle), inverses_2, x_2, copy);
}

/// `x ← L⁻ᵀ x` for `x [n, K]`; `copy` is `[BLOCK, K]`.
fn solve_left_transposed<T: Real>(
    l: MatRef<'_, T>,
    inverses: MatRef<'_, T>,
    x: MatMut<'_, T>,
    mut copy: MatMut<'_, T>,
) {
    let n = l.nrows();
    if n <= BLOCK {
        let mut copy = copy.subrows_mut(0, n);
        copy.copy_from(x.as_ref());
        return product(x, inverses.submatrix(0, 0, n, n).transpose(), copy.as_ref(), 1.0, 1);
    }
    let middle = half(n);
    let (mut x_1, mut x_2) = x.split_at_row_mut(middle);
    let (inverses_1, inverses_2) = inverses.split_at_col(middle);
    solve_left_transposed(
        l.submatrix(middle, middle, n - middle, n - middle),
        inverses_2,
        x_2.as_mut(),
        copy.as_mut(),
    );
    add_product(x_1.as_mut(), l.submatrix(middle, 0, n - middle, middle).transpose(), x_2.as_ref(), -1.0, 1);
    solve_left_transposed(l.submatrix(0, 0, middle, middle), inverses_1, x_1, copy);
}

/// Factors one diagonal block and inverts the factor. A smaller block is padded with the identity, so that every
/// loop has a fixed length and lives in registers.
fn factor_diagonal<T: Real>(mut a: MatMut<'_, T>, mut inverse: MatMut<'_, T>) -> bool {
    let n = a.nrows();
    let mut columns = [[T::default(); BLOCK]; BLOCK];
    let mut rows = columns; // of the inverse
    for (j, to) in columns.iter_mut().enumerate() {
        if j < n {
            to[j..n].copy_from_slice(&column(a.as_ref(), j)[j..]);
        } else {
            to[j] = T::of(1.0);
        }
    }
    let positive = vectorised(
        #[inline(always)]
        || factor_block(&mut columns) && invert_block(&columns, &mut rows),
    );
    for (j, from) in columns[..n].iter().enumerate() {
        column_mut(a.as_mut(), j)[j..].copy_from_slice(&from[j..n]);
        for (to, row) in column_mut(inverse.as_mut(), j).iter_mut().zip(&rows) {
            *to = row[j];
        }
    }
    positive
}

/// Right-looking factorisation of the lower triangle; false at a pivot that is not positive. What it leaves above
/// the diagonal has no meaning.
#[inline(always)]
fn factor_block<T: Real>(columns: &mut [[T; BLOCK]; BLOCK]) -> bool {
    for k in 0..BLOCK {
        let pivot = columns[k][k];
        // The comparison is false for NaN too.
        if !(pivot > T::default() && pivot < T::of(1e30)) {
            return false;
        }
        let scale = T::of(1.0) / pivot.root();
        columns[k].iter_mut().for_each(|x| *x *= scale);
        let pivot_column = columns[k];
        for j in k + 1..BLOCK {
            subtract_multiple(&mut columns[j], pivot_column[j], &pivot_column);
        }
    }
    true
}

/// Rows of the inverse of a lower triangular block, all columns at once by forward substitution.
#[inline(always)]
fn invert_block<T: Real>(columns: &[[T; BLOCK]; BLOCK], rows: &mut [[T; BLOCK]; BLOCK]) -> bool {
    for (i, row) in rows.iter_mut().enumerate() {
        row[i] = T::of(1.0);
    }
    for k in 0..BLOCK {
        let scale = T::of(1.0) / columns[k][k];
        rows[k].iter_mut().for_each(|x| *x *= scale);
        let solved = rows[k];
        for i in k + 1..BLOCK {
            subtract_multiple(&mut rows[i], columns[k][i], &solved);
        }
    }
    true
}

/// `out −= factor · x`.
#[inline(always)]
fn subtract_multiple<T: Real>(out: &mut [T; BLOCK], factor: T, x: &[T; BLOCK]) {
    for i in 0..BLOCK {
        out[i] = (-factor).times_plus(x[i], out[i]);
    }
}
