//! Cholesky factor `L Lᵀ = A` by faer, and solves with it by recursion down to blocks whose inverses are kept.
//!
//! The solves are ours because they are faster where they are used most: 512×512 with 128 right-hand sides, one
//! thread, f32 / f64: 0.27 / 0.56 ms, faer 0.24.4: 0.34 / 0.63 ms (`cargo bench -p ign-gp`).

use crate::matrix::{add_product, column, column_mut, product, vectorised};
use crate::{Error, Real};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{self as llt, LltRegularization};
use faer::{Mat, MatMut, MatRef, Par};

/// Size of the diagonal blocks.
const BLOCK: usize = 32;

/// A lower Cholesky factor with the inverses of its diagonal blocks.
#[derive(Debug, Clone)]
pub struct Cholesky<T: Real> {
    factor: Mat<T>,         // [M, M], lower
    block_inverses: Mat<T>, // [BLOCK, M]: the inverse of diagonal block k stands in its columns
}

impl<T: Real> Cholesky<T> {
    /// Room for a factor of size `m`.
    pub fn with_size(m: usize) -> Self {
        Self { factor: Mat::zeros(m, m), block_inverses: Mat::zeros(BLOCK, m) }
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
            for j in 0..m {
                let to = &mut column_mut(self.factor.as_mut(), j)[j..];
                to.copy_from_slice(&column(a, j)[j..]);
                to[0] += T::of(rung);
            }
            if self.factor_in_place() {
                return Ok(rung);
            }
            let next = if rung > 0.0 { rung * 10.0 } else { mean_diagonal * 1e-12 };
            if next > top || next <= rung {
                return Err(Error::NotPositiveDefinite { matrix, size: m, jitter: rung });
            }
            rung = next;
        }
    }

    fn factor_in_place(&mut self) -> bool {
        let (m, params) = (self.factor.nrows(), Default::default());
        let scratch = llt::cholesky_in_place_scratch::<T>(m, Par::Seq, params);
        let (mut memory, regularisation) = (MemBuffer::new(scratch), LltRegularization::default());
        let stack = MemStack::new(&mut memory);
        if llt::cholesky_in_place(self.factor.as_mut(), regularisation, Par::Seq, stack, params).is_err() {
            return false;
        }
        for start in (0..m).step_by(BLOCK) {
            let n = BLOCK.min(m - start);
            let block = self.factor.as_ref().submatrix(start, start, n, n);
            invert_diagonal(block, self.block_inverses.as_mut().subcols_mut(start, n));
        }
        (0..m).all(|i| self.factor[(i, i)] < T::of(1e15)) // false for NaN too
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

/// Inverts one diagonal block of the factor. A smaller block is padded with the identity, so that every loop has a
/// fixed length and lives in registers.
fn invert_diagonal<T: Real>(block: MatRef<'_, T>, mut inverse: MatMut<'_, T>) {
    let n = block.nrows();
    let mut columns = [[T::default(); BLOCK]; BLOCK];
    let mut rows = columns; // of the inverse
    for (j, to) in columns.iter_mut().enumerate() {
        if j < n {
            to[j..n].copy_from_slice(&column(block, j)[j..]);
        } else {
            to[j] = T::of(1.0);
        }
    }
    vectorised(
        #[inline(always)]
        || invert_block(&columns, &mut rows),
    );
    for j in 0..n {
        for (to, row) in column_mut(inverse.as_mut(), j).iter_mut().zip(&rows) {
            *to = row[j];
        }
    }
}

/// Rows of the inverse of a lower triangular block, all columns at once by forward substitution.
#[inline(always)]
fn invert_block<T: Real>(columns: &[[T; BLOCK]; BLOCK], rows: &mut [[T; BLOCK]; BLOCK]) {
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
}

/// `out −= factor · x`.
#[inline(always)]
fn subtract_multiple<T: Real>(out: &mut [T; BLOCK], factor: T, x: &[T; BLOCK]) {
    for i in 0..BLOCK {
        out[i] = (-factor).times_plus(x[i], out[i]);
    }
}
