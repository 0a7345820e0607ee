//! Matrix products: one for everybody.
//!
//! ```text
//! out [m, n] = plus + alpha · a [m, k] b [k, n]
//! ```
//! Any sizes and strides. **An entry depends on its row of `a`, its column of `b`, `plus` and `alpha`, to the bit**: not on
//! the other rows and columns, on how a matrix is cut or stored, nor on the number of threads.
//!
//! ```
//! use inducing_linalg::gemm::{Plus, product};
//! use inducing_linalg::{MatMut, MatRef};
//! let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]); // [2, 2] and [2, 1]
//! let mut out = [1.0, 1.0];
//! product(
//!     MatMut::from_row_major_slice_mut(&mut out, 2, 1),
//!     Plus::Out,
//!     MatRef::from_row_major_slice(&a, 2, 2),
//!     MatRef::from_row_major_slice(&b, 2, 1),
//!     2.0,
//! );
//! assert_eq!(out, [35.0, 79.0]);
//! ```

mod few_columns;
mod kernel;
mod pack;
pub mod thin;
pub mod transpose;
mod triangle;

pub use kernel::{DEPTH, MOST_ROWS, Part, Plus, Zeros};
pub use pack::Packed;
pub use triangle::{Triangle, copy_lower, mirror};

use crate::{Mat, MatMut, MatRef, Real};
use few_columns::FewColumns;

/// Up to this many columns beside at least [`TALL`] rows, a row-major result is made by columns and then copied: as rows of a
/// tile they would leave most of it empty.
const FEW: usize = 4;
/// See [`FEW`].
const TALL: usize = 16;

impl<'a, T: Real> Plus<'a, T> {
    /// What is added to a block of the result.
    fn block(self, row: usize, col: usize, nrows: usize, ncols: usize) -> Self {
        match self {
            Self::Matrix(matrix) => Self::Matrix(matrix.submatrix(row, col, nrows, ncols)),
            other => other,
        }
    }

    /// What is added to the result's transpose.
    fn transpose(self) -> Self {
        match self {
            Self::Matrix(matrix) => Self::Matrix(matrix.transpose()),
            other => other,
        }
    }
}

/// `out = plus + alpha · a b` on this thread: O(mnk).
///
/// The faster layouts: `out` with contiguous rows or columns, `a` with either, `b` contiguous along k where `out` has
/// contiguous columns, `a` contiguous along k where it has contiguous rows.
///
/// # Panics
/// When sizes differ.
#[track_caller]
pub fn product<T: Real>(out: MatMut<'_, T>, plus: Plus<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>, alpha: T) {
    product_part(out, Part::All, plus, a, b, alpha);
}

/// The same for a part of the entries; the others are left as they are.
///
/// # Panics
/// When sizes differ.
#[track_caller]
pub fn product_part<T: Real>(
    mut out: MatMut<'_, T>,
    part: Part,
    plus: Plus<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
) {
    let (m, n) = (out.nrows(), out.ncols());
    assert_eq!([m, n, a.ncols()], [a.nrows(), b.ncols(), b.nrows()], "[m, n] = [m, k] [k, n]");
    let (by_columns, by_rows) = (out.row_stride() == 1, out.col_stride() == 1);
    let transposed = if by_columns { m <= FEW && n >= TALL } else { by_rows && !(n <= FEW && m >= TALL) };
    if part == Part::All && transposed {
        product_part(out.transpose_mut(), part, plus.transpose(), b.transpose(), a.transpose(), alpha);
    } else if by_columns && n <= FEW && part == Part::All && a.row_stride() == 1 {
        if let Plus::Matrix(matrix) = plus {
            assert_eq!((matrix.nrows(), matrix.ncols()), (m, n), "what is added has the size of out");
        }
        pulp::Arch::new().dispatch(FewColumns { out, plus, a, b, alpha });
    } else if by_columns {
        Packed::with_packed(a, |a| a.times((0, 0), out, part, plus, b, alpha));
    } else {
        let mut copy = if part == Part::All && !matches!(plus, Plus::Out) {
            Mat::zeros(m, n)
        } else {
            out.as_ref().to_owned()
        };
        product_part(copy.as_mut(), part, plus, a, b, alpha);
        out.copy_from(copy.as_ref());
    }
}

/// Below this many multiplications a second thread costs more than it brings.
const WORTH_SHARING: usize = 1 << 21;

/// [`product`] on the threads given, of the current rayon pool.
///
/// Work is shared by halving matrices and `rayon::join`: barriers in which threads spin, as faer has them, cost more than
/// they bring at these sizes and collapse on a busy machine.
///
/// # Panics
/// When sizes differ.
pub fn shared_product<T: Real>(
    out: MatMut<'_, T>,
    plus: Plus<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
    threads: usize,
) {
    let (rows, columns) = (out.nrows(), out.ncols());
    if threads < 2 || rows * columns * a.ncols() < WORTH_SHARING || rows.max(columns) < MOST_ROWS {
        return product(out, plus, a, b, alpha);
    }
    let (left, right) = (threads / 2, threads - threads / 2);
    if columns >= rows {
        let middle = cut(columns, left, threads);
        let (out_left, out_right) = out.split_at_col_mut(middle);
        let (b_left, b_right) = b.split_at_col(middle);
        let plus_left = plus.block(0, 0, rows, middle);
        let plus_right = plus.block(0, middle, rows, columns - middle);
        rayon::join(
            || shared_product(out_left, plus_left, a, b_left, alpha, left),
            || shared_product(out_right, plus_right, a, b_right, alpha, right),
        );
    } else {
        let transposed = (out.transpose_mut(), plus.transpose(), b.transpose(), a.transpose());
        let (out, plus, a, b) = transposed;
        shared_product(out, plus, a, b, alpha, threads);
    }
}

/// A share of `n`, where a tile begins if there is one near.
fn cut(n: usize, part: usize, of: usize) -> usize {
    let (exact, even) = (n * part / of, (n * part / of).next_multiple_of(MOST_ROWS));
    if even < n { even } else { exact }
}

/// Upper triangle of `plus + alpha · a b` on the threads given; entries below the diagonal are left as they are.
///
/// # Panics
/// When sizes differ.
pub fn upper_product<T: Real>(
    out: MatMut<'_, T>,
    plus: Plus<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
    threads: usize,
) {
    let n = out.nrows();
    if threads < 2 || n < 192 || n * n * a.ncols() < WORTH_SHARING {
        return product_part(out, Part::Upper { from: 0 }, plus, a, b, alpha);
    }
    let (left, right) = (threads / 2, threads - threads / 2);
    // The square beside the upper triangle is as large as the two triangles together.
    let middle = (n / 2).next_multiple_of(64).min(n);
    let (out_left, out_right) = out.split_at_col_mut(middle);
    let (beside, lower) = out_right.split_at_row_mut(middle);
    let upper = out_left.subrows_mut(0, middle);
    let (a_top, a_bottom) = a.split_at_row(middle);
    let (b_left, b_right) = b.split_at_col(middle);
    let rest = n - middle;
    rayon::join(
        || shared_product(beside, plus.block(0, middle, middle, rest), a_top, b_right, alpha, left),
        || {
            upper_product(upper, plus.block(0, 0, middle, middle), a_top, b_left, alpha, right);
            upper_product(lower, plus.block(middle, middle, rest, rest), a_bottom, b_right, alpha, right);
        },
    );
}

#[cfg(test)]
mod tests;
