//! Sides of matrix products, copied so that a tile reads them from beginning to end.
//!
//! A left side is cut into panels, as many rows as a tile has, each by columns; a right side of contiguous rows into groups
//! of as many columns as a tile has, each by rows.

use crate::Real;
use crate::matrix::{column, column_mut};
use crate::square::SIDE;
use crate::tile::{COLUMNS, MOST_ROWS, height};
use faer::{Mat, MatRef};
use pulp::{Simd, WithSimd};

/// The left side of products.
#[derive(Debug, Clone)]
pub(crate) struct Panels<T: Real> {
    data: Mat<T>, // a column; a panel after the other, each by columns of `a`
    rows: usize,
    depth: usize,
    pub(crate) stride: usize, // columns from a panel to the next
}

impl<T: Real> Panels<T> {
    pub(crate) const fn new() -> Self {
        Self { data: Mat::new(), rows: 0, depth: 0, stride: 0 }
    }

    /// Calls `work` with `a` in room that this thread keeps.
    pub(crate) fn lend<R>(a: MatRef<'_, T>, work: impl FnOnce(&Self) -> R) -> R {
        T::with_room(|room| {
            let mut panels = Self { data: std::mem::replace(room, Mat::new()), ..Self::new() };
            panels.pack(a);
            let result = work(&panels);
            *room = panels.data;
            result
        })
    }

    /// Takes over `a`, of contiguous columns or rows.
    pub(crate) fn pack(&mut self, a: MatRef<'_, T>) {
        self.resize(a.nrows(), a.ncols());
        self.put((0, 0), a);
    }

    /// Room for a left side `[rows, depth]`, holding anything.
    pub(crate) fn resize(&mut self, rows: usize, depth: usize) {
        // Odd: at a distance of a power of two, panels would fall into few sets of the cache.
        (self.rows, self.depth, self.stride) = (rows, depth, depth | 1);
        let size = rows.next_multiple_of(MOST_ROWS) * self.stride;
        if self.data.nrows() < size {
            self.data.resize_with(size, 1, |_, _| T::default());
        }
    }

    /// The panels from row `first` on, which a tile begins with; `[rows, depth]` is what a product needs of them.
    pub(crate) fn from(&self, first: usize, [rows, depth]: [usize; 2]) -> &[T] {
        debug_assert!(first + rows <= self.rows && depth <= self.depth);
        &column(self.data.as_ref(), 0)[first * self.stride..]
    }

    /// Takes over `a` as the rows from `first` on, which a tile begins with, and the columns from `start` on.
    pub(crate) fn put(&mut self, (first, start): (usize, usize), a: MatRef<'_, T>) {
        if a.nrows() > 0 && a.ncols() > 0 {
            let panels = &mut column_mut(self.data.as_mut(), 0)[first * self.stride..];
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
        } else {
            for (i, panel) in panels.enumerate() {
                let rows = height.min(rows - i * height);
                copy_transposed(a.subrows(i * height, rows).transpose(), panel, height);
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
        let from: [&[T]; TOGETHER] = std::array::from_fn(|p| column(a, start + p.min(count - 1)));
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
        let from: [&[T]; SIDE] = std::array::from_fn(|i| column(a, r + i));
        let squares = from.map(|from| from.as_chunks::<SIDE>().0);
        for (p, to) in panel.chunks_exact_mut(SIDE * height).enumerate() {
            T::turn(squares.map(|squares| &squares[p]), &mut to[r..], height);
        }
        for p in depth / SIDE * SIDE..depth {
            for i in 0..SIDE {
                panel[p * height + r + i] = from[i][p];
            }
        }
    }
    for r in whole..rows {
        for (to, &from) in panel.chunks_exact_mut(height).zip(column(a, r)) {
            to[r] = from;
        }
    }
}

/// Columns of `b [k, ·]`, which has contiguous rows, in groups of six, each group by rows; four rows at a time.
#[inline(always)]
pub(crate) fn copy_rows<T: Real>(b: MatRef<'_, T>, right: &mut [T]) {
    const ROWS: usize = 4;
    // Odd, as in `Panels`.
    let (k, stride, b) = (b.nrows(), b.nrows() | 1, b.transpose());
    let groups = b.nrows() / COLUMNS;
    for p in (0..k).step_by(ROWS) {
        let count = ROWS.min(k - p);
        let rows: [&[T]; ROWS] = std::array::from_fn(|i| column(b, p + i.min(count - 1)));
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
