//! Sides of products, copied so that a tile reads them from beginning to end.
//!
//! A left side is cut into panels of as many rows as a tile has, each stored by columns. A right side without contiguous
//! columns is cut into groups of as many columns as a tile has, each stored by rows.

use super::kernel::{COLUMNS, MOST_ROWS, height};
use super::transpose::SIDE;
use crate::buffer::Buffer;
use crate::{MatRef, Real};
use pulp::{Simd, WithSimd};

/// The left side `[m, k]` of products, packed once and used for many right sides.
///
/// A layer of a network multiplies blocks of rows `x [N, from]` with one weight `w [from, to]`. Row-major `out = x w` is
/// `outᵀ = wᵀ xᵀ`, so the weight is the left side:
/// ```
/// use inducing_linalg::gemm::{Packed, Plus};
/// use inducing_linalg::{MatMut, MatRef};
/// let weight = [1.0, 2.0, 3.0, 4.0_f32]; // [2, 2]
/// let bias = [10.0, 20.0];
/// let packed = Packed::from_matrix(MatRef::from_row_major_slice(&weight, 2, 2).transpose());
/// let (x, mut out) = ([1.0, 1.0, 0.0, 2.0, 5.0, 0.0], [0.0; 6]); // [3, 2] each
/// packed.multiply(
///     MatMut::from_row_major_slice_mut(&mut out, 3, 2).transpose_mut(),
///     Plus::Matrix(MatRef::from_row_major_slice_with_stride(&bias, 3, 2, 0).transpose()),
///     MatRef::from_row_major_slice(&x, 3, 2).transpose(),
///     1.0,
/// );
/// assert_eq!(out, [14.0, 26.0, 16.0, 28.0, 15.0, 30.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Packed<T: Real> {
    data: Buffer<T>, // a panel after the other, each by columns of `a`
    rows: usize,
    depth: usize,
    pub(super) stride: usize, // columns from a panel to the next
}

impl<T: Real> Default for Packed<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> Packed<T> {
    /// An empty left side; allocates nothing.
    pub const fn new() -> Self {
        Self { data: Buffer::new(), rows: 0, depth: 0, stride: 0 }
    }

    /// Packs `a`: O(mk).
    pub fn from_matrix(a: MatRef<'_, T>) -> Self {
        let mut packed = Self::new();
        packed.pack(a);
        packed
    }

    /// m
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// k
    pub fn ncols(&self) -> usize {
        self.depth
    }

    /// Calls `work` with `a`, packed into memory that this thread keeps.
    pub fn with_packed<R>(a: MatRef<'_, T>, work: impl FnOnce(&Self) -> R) -> R {
        T::with_scratch(|scratch| {
            let mut packed = Self { data: std::mem::take(scratch), ..Self::new() };
            packed.pack(a);
            let result = work(&packed);
            *scratch = packed.data;
            result
        })
    }

    /// Takes over `a`; memory is kept from one call to the next.
    pub fn pack(&mut self, a: MatRef<'_, T>) {
        self.resize(a.nrows(), a.ncols());
        self.put((0, 0), a);
    }

    /// Room for a left side `[rows, depth]`, holding anything.
    pub fn resize(&mut self, rows: usize, depth: usize) {
        // Odd: at a distance of a power of two, panels would fall into few sets of the cache.
        (self.rows, self.depth, self.stride) = (rows, depth, depth | 1);
        self.data.grow(rows.next_multiple_of(MOST_ROWS) * self.stride);
    }

    /// The panels from row `first` on; `[rows, depth]` is what a product needs of them.
    #[track_caller]
    pub(super) fn panels_from(&self, first: usize, [rows, depth]: [usize; 2]) -> &[T] {
        assert!(first.is_multiple_of(MOST_ROWS), "row {first} begins no tile");
        assert!(
            first + rows <= self.rows && depth <= self.depth,
            "rows {first} + {rows} and {depth} columns of a left side [{}, {}]",
            self.rows,
            self.depth
        );
        &self.data[first * self.stride..]
    }

    /// Takes over `a` as the rows from `first` on, a multiple of [`MOST_ROWS`], and the columns from `start` on.
    ///
    /// # Panics
    /// When that is not inside of the left side.
    #[track_caller]
    pub fn put(&mut self, (first, start): (usize, usize), a: MatRef<'_, T>) {
        self.panels_from(first, [a.nrows(), start + a.ncols()]);
        if a.nrows() > 0 && a.ncols() > 0 {
            let panels = &mut self.data[first * self.stride..];
            pulp::Arch::new().dispatch(Put { a, panels, start, stride: self.stride });
        }
    }
}

struct Put<'a, T: Real> {
    a: MatRef<'a, T>,
    panels: &'a mut [T],
    start: usize,
    stride: usize,
}

impl<T: Real> WithSimd for Put<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { a, panels, start, stride } = self;
        let (height, (rows, count)) = (height::<T, S>(), (a.nrows(), a.ncols()));
        let panels = panels.chunks_exact_mut(height * stride).take(rows.div_ceil(height));
        let panels = panels.map(|panel| &mut panel[start * height..(start + count) * height]);
        if a.row_stride() == 1 {
            copy_columns(a, panels.collect(), height);
        } else if a.col_stride() == 1 || count == 1 {
            for (i, panel) in panels.enumerate() {
                let rows = height.min(rows - i * height);
                copy_transposed(a.subrows(i * height, rows).transpose(), panel, height);
            }
        } else {
            for (i, panel) in panels.enumerate() {
                panel.fill(T::default());
                for (p, r) in
                    (0..count).flat_map(|p| (i * height..rows.min((i + 1) * height)).map(move |r| (p, r)))
                {
                    panel[p * height + r - i * height] = a[(r, p)];
                }
            }
        }
    }
}

/// `a` of contiguous columns, some of them at a time: what is read next to each other is written next to each other.
#[inline(always)]
fn copy_columns<T: Real>(a: MatRef<'_, T>, mut panels: Vec<&mut [T]>, height: usize) {
    const TOGETHER: usize = 16;
    let (rows, depth) = (a.nrows(), a.ncols());
    for start in (0..depth).step_by(TOGETHER) {
        let count = TOGETHER.min(depth - start);
        let from: [&[T]; TOGETHER] = std::array::from_fn(|p| a.col(start + p.min(count - 1)));
        for (i, panel) in panels.iter_mut().enumerate() {
            let (at, to) = (i * height, &mut panel[start * height..(start + count) * height]);
            for (to, from) in to.chunks_exact_mut(height).zip(from) {
                if rows - at >= height {
                    to.copy_from_slice(&from[at..at + height]);
                } else {
                    to[..rows - at].copy_from_slice(&from[at..]);
                    to[rows - at..].fill(T::default());
                }
            }
        }
    }
}

/// Rows of a panel that are the contiguous columns of `a`, in squares.
#[inline(always)]
fn copy_transposed<T: Real>(a: MatRef<'_, T>, panel: &mut [T], height: usize) {
    let (rows, depth) = (a.ncols(), a.nrows());
    if rows < height {
        panel.fill(T::default());
    }
    let whole = rows / SIDE * SIDE;
    for r in (0..whole).step_by(SIDE) {
        let from: [&[T]; SIDE] = std::array::from_fn(|i| a.col(r + i));
        let squares = from.map(|from| from.as_chunks::<SIDE>().0);
        for (p, to) in panel.chunks_exact_mut(SIDE * height).enumerate() {
            T::transpose(squares.map(|squares| &squares[p]), &mut to[r..], height);
        }
        for p in depth / SIDE * SIDE..depth {
            for i in 0..SIDE {
                panel[p * height + r + i] = from[i][p];
            }
        }
    }
    for r in whole..rows {
        for (to, &from) in panel.chunks_exact_mut(height).zip(a.col(r)) {
            to[r] = from;
        }
    }
}

/// Columns of `b [k, ·]` in groups of six, each group by rows; contiguous rows four at a time.
#[inline(always)]
pub(super) fn copy_rows<T: Real>(b: MatRef<'_, T>, right: &mut [T]) {
    const ROWS: usize = 4;
    // Odd, as in `Packed`.
    let (k, stride) = (b.nrows(), b.nrows() | 1);
    if b.col_stride() != 1 && b.ncols() > 1 {
        for (p, j) in (0..k).flat_map(|p| (0..b.ncols()).map(move |j| (p, j))) {
            right[(j / COLUMNS * stride + p) * COLUMNS + j % COLUMNS] = b[(p, j)];
        }
        return;
    }
    let b = b.transpose();
    let groups = b.nrows() / COLUMNS;
    for p in (0..k).step_by(ROWS) {
        let count = ROWS.min(k - p);
        let rows: [&[T]; ROWS] = std::array::from_fn(|i| b.col(p + i.min(count - 1)));
        let [r0, r1, r2, r3] = rows.map(|row| row.as_chunks::<COLUMNS>().0);
        let to = right.chunks_exact_mut(stride * COLUMNS);
        for ((((to, r0), r1), r2), r3) in to.zip(r0).zip(r1).zip(r2).zip(r3) {
            let to = to[p * COLUMNS..(p + count) * COLUMNS].as_chunks_mut::<COLUMNS>().0;
            if let [t0, t1, t2, t3] = to {
                t0.copy_from_slice(r0);
                t1.copy_from_slice(r1);
                t2.copy_from_slice(r2);
                t3.copy_from_slice(r3);
            } else {
                to.iter_mut().zip([r0, r1, r2]).for_each(|(to, &from)| *to = from);
            }
        }
        if b.nrows() == groups * COLUMNS {
            continue;
        }
        for (i, row) in rows.iter().enumerate().take(count) {
            let (at, rest) = ((groups * stride + p + i) * COLUMNS, &row[groups * COLUMNS..]);
            right[at..at + rest.len()].copy_from_slice(rest);
        }
    }
}
