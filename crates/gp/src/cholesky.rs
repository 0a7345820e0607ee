//! Cholesky factor `L Lᵀ = A` and solves with it, in blocks whose diagonal parts are inverted once.
//!
//! Written by hand because everything becomes a matrix product: at 512×512 with 128 right-hand sides
//! faer 0.24.4 factors at 25 / 11 and solves at 10 / 9 Gflop/s (f32 / f64, one thread) where its
//! product runs at 160 / 80; `cargo bench -p ign-gp` prints ours beside faer's.

use crate::matrix::{add_product, column, column_mut, product, vectorised};
use crate::{Error, Real};
use faer::{Mat, MatMut, MatRef};

/// Size of the diagonal blocks.
const BLOCK: usize = 32;

/// A lower Cholesky factor with the inverses of its diagonal blocks.
#[derive(Debug, Clone)]
pub struct Cholesky<T: Real> {
    factor: Mat<T>,         // [M, M], lower
    block_inverses: Mat<T>, // [BLOCK, M]: the inverse of diagonal block k stands in its columns
    panel: Mat<T>,          // [M, BLOCK], work space
    block: Vec<T>,          // [BLOCK, BLOCK], work space
}

impl<T: Real> Cholesky<T> {
    /// Room for a factor of size `m`.
    pub fn with_size(m: usize) -> Self {
        Self {
            factor: Mat::zeros(m, m),
            block_inverses: Mat::zeros(BLOCK, m),
            panel: Mat::zeros(m, BLOCK),
            block: vec![T::default(); BLOCK * BLOCK],
        }
    }

    /// The factor `L`; only its lower triangle has a meaning.
    pub fn lower(&self) -> MatRef<'_, T> {
        self.factor.as_ref()
    }

    /// `log|A| = 2 Σ log Lᵢᵢ`.
    pub fn log_determinant(&self) -> f64 {
        (0..self.factor.nrows()).map(|i| 2.0 * self.factor[(i, i)].to_f64().ln()).sum()
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

    /// Left-looking blocked factorisation (Golub & Van Loan, alg. 4.2.2, by blocks); false when not positive definite.
    fn factor_in_place(&mut self, threads: usize) -> bool {
        let m = self.factor.nrows();
        for start in (0..m).step_by(BLOCK) {
            let width = BLOCK.min(m - start);
            let (done, rest) = self.factor.as_mut().split_at_col_mut(start);
            let left = done.as_ref().subrows(start, m - start); // [M−k, k]
            let mut panel = rest.submatrix_mut(start, 0, m - start, width);
            if start > 0 {
                add_product(panel.as_mut(), left, left.subrows(0, width).transpose(), -1.0, threads);
            }
            let (mut diagonal, mut below) = panel.split_at_row_mut(width);
            let mut inverse = self.block_inverses.as_mut().submatrix_mut(0, start, width, width);
            let block = &mut self.block[..width * width];
            for (j, to) in block.chunks_exact_mut(width).enumerate() {
                to[j..].copy_from_slice(&column(diagonal.as_ref(), j)[j..]);
            }
            let factored = vectorised(
                #[inline(always)]
                || factor_block(block, width),
            );
            if !factored {
                return false;
            }
            for (j, from) in block.chunks_exact(width).enumerate() {
                column_mut(diagonal.as_mut(), j)[j..].copy_from_slice(&from[j..]);
                let (block, to) = (&*block, column_mut(inverse.as_mut(), j));
                vectorised(
                    #[inline(always)]
                    move || inverse_column(block, width, j, to),
                );
            }
            if below.nrows() > 0 {
                let mut copy = self.panel.as_mut().submatrix_mut(0, 0, below.nrows(), width);
                copy.copy_from(below.as_ref());
                product(below.as_mut(), copy.as_ref(), inverse.as_ref().transpose(), 1.0, threads);
            }
        }
        true
    }

    fn inverse_of_block(&self, start: usize) -> MatRef<'_, T> {
        let width = BLOCK.min(self.factor.nrows() - start);
        self.block_inverses.as_ref().submatrix(0, start, width, width)
    }

    /// `x ← L⁻¹ x`, columns of `x [M, K]` shared among the threads.
    pub fn half_solve(&self, x: MatMut<'_, T>, threads: usize) {
        share_columns(x, threads, &|x| self.half_solve_alone(x));
    }

    fn half_solve_alone(&self, mut x: MatMut<'_, T>) {
        let m = self.factor.nrows();
        let mut block = Mat::<T>::zeros(BLOCK.min(m), x.ncols());
        for start in (0..m).step_by(BLOCK) {
            let width = BLOCK.min(m - start);
            let (done, rest) = x.as_mut().split_at_row_mut(start);
            let mut current = rest.subrows_mut(0, width);
            if start > 0 {
                let left = self.factor.as_ref().submatrix(start, 0, width, start);
                add_product(current.as_mut(), left, done.as_ref(), -1.0, 1);
            }
            let mut copy = block.as_mut().subrows_mut(0, width);
            copy.copy_from(current.as_ref());
            product(current, self.inverse_of_block(start), copy.as_ref(), 1.0, 1);
        }
    }

    /// `x ← L⁻ᵀ x`, columns of `x [M, K]` shared among the threads.
    pub fn half_solve_transposed(&self, x: MatMut<'_, T>, threads: usize) {
        share_columns(x, threads, &|x| self.half_solve_transposed_alone(x));
    }

    fn half_solve_transposed_alone(&self, mut x: MatMut<'_, T>) {
        let m = self.factor.nrows();
        let mut block = Mat::<T>::zeros(BLOCK.min(m), x.ncols());
        for start in (0..m).step_by(BLOCK).rev() {
            let width = BLOCK.min(m - start);
            let end = start + width;
            let (above, done) = x.as_mut().split_at_row_mut(end);
            let mut current = above.subrows_mut(start, width);
            if end < m {
                let below = self.factor.as_ref().submatrix(end, start, m - end, width);
                add_product(current.as_mut(), below.transpose(), done.as_ref(), -1.0, 1);
            }
            let mut copy = block.as_mut().subrows_mut(0, width);
            copy.copy_from(current.as_ref());
            product(current, self.inverse_of_block(start).transpose(), copy.as_ref(), 1.0, 1);
        }
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

/// Unblocked right-looking factorisation of the lower triangle of a column-major block; false at a pivot that
/// is not positive.
#[inline(always)]
fn factor_block<T: Real>(a: &mut [T], n: usize) -> bool {
    for k in 0..n {
        let (done, rest) = a.split_at_mut((k + 1) * n);
        let pivot_column = &mut done[k * n + k..];
        let pivot = pivot_column[0];
        // The comparison is false for NaN too.
        if !(pivot > T::default() && pivot < T::of(1e30)) {
            return false;
        }
        let scale = T::of(1.0) / pivot.root();
        pivot_column.iter_mut().for_each(|x| *x *= scale);
        for (offset, column) in rest.chunks_exact_mut(n).enumerate() {
            let below = &pivot_column[offset + 1..];
            subtract_multiple(&mut column[k + 1 + offset..], below[0], below);
        }
    }
    true
}

/// Column `j` of the inverse of a lower triangular block, by forward substitution.
#[inline(always)]
fn inverse_column<T: Real>(l: &[T], n: usize, j: usize, x: &mut [T]) {
    x.fill(T::default());
    x[j] = T::of(1.0);
    for (k, column) in l.chunks_exact(n).enumerate().skip(j) {
        let value = x[k] / column[k];
        x[k] = value;
        subtract_multiple(&mut x[k + 1..], value, &column[k + 1..]);
    }
}

/// `out −= factor · x`.
#[inline(always)]
fn subtract_multiple<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    out.iter_mut().zip(x).for_each(|(o, &x)| *o -= factor * x);
}
