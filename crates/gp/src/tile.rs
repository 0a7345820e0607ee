//! Matrix products by tiles that stay in registers.
//!
//! ```text
//! out [m, n] = plus + alpha · a [m, k] b [k, n]
//! ```
//! The left side stands in [`Panels`]; columns of the right side are read where they are. An entry is summed in the order of k, in parts of [`DEPTH`], whatever the shapes:
//! no result depends on how a matrix is cut.
//!
//! By hand because faer's products have tiles of 12 rows (f32: 24), which powers of two are not made of, and copy both
//! sides at every call; `cargo bench -p ign-gp` has what is made of these products beside faer's.

use crate::Real;
use crate::matrix::{column, column_mut};
use crate::panels::{Panels, copy_rows};
use faer::{Accum, Mat, MatMut, MatRef};
use pulp::{Simd, WithSimd};

/// Vectors of rows in a tile. Twelve sums, two vectors of `a` and an entry of `b` are 15 of 16 registers.
const VECTORS: usize = 2;
/// Columns of a tile.
pub(crate) const COLUMNS: usize = 6;
/// Columns of a tile for the rest of a matrix: eight sums, which still hide how long each addition takes.
const NARROW: usize = 4;
/// Products that are summed in registers: so many entries of six columns stay in a level-1 cache.
const DEPTH: usize = 512;

/// Columns of a right side of contiguous rows that are copied at a time: with that depth they stay in a level-2 cache.
const WIDTH: usize = 16 * COLUMNS;
/// No tile has more rows: two vectors of 16 numbers.
pub(crate) const MOST_ROWS: usize = 32;

/// What is smaller than this in any direction is faer's.
pub(crate) const SMALLEST: usize = 8;

/// Which entries of a product are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    /// In column j those down to row `from + j`; what is below is left as it was.
    Upper {
        from: usize,
    },
}

impl Part {
    /// How many entries of column `j` are needed, of `rows`.
    #[inline(always)]
    pub(crate) fn end(self, j: usize, rows: usize) -> usize {
        match self {
            Self::All => rows,
            Self::Upper { from } => rows.min(from + j + 1),
        }
    }
}

/// What a product is added to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plus<'a, T: Real> {
    Nothing,
    /// What stands where the result will.
    Out,
    /// Another matrix of the same size and contiguous columns.
    Matrix(MatRef<'a, T>),
}

/// Where the square left side of a product has zeros, which are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zeros {
    None,
    Above,
    Below,
}

impl<T: Real> Panels<T> {
    /// `out = plus + alpha · a b` for rows of `a` from `first` on, which a tile begins with, and columns from `start` on.
    pub(crate) fn times(
        &self,
        at: (usize, usize),
        out: MatMut<'_, T>,
        part: Part,
        plus: Plus<'_, T>,
        b: MatRef<'_, T>,
        alpha: T,
    ) {
        self.times_given(Zeros::None, at, out, part, plus, b, alpha);
    }

    /// `out = a b` for a triangle `a`.
    pub(crate) fn triangle_times(
        &self,
        zeros: Zeros,
        at: (usize, usize),
        out: MatMut<'_, T>,
        b: MatRef<'_, T>,
    ) {
        debug_assert!(b.nrows() <= DEPTH, "a triangle is not cut");
        self.times_given(zeros, at, out, Part::All, Plus::Nothing, b, T::of(1.0));
    }

    #[expect(clippy::too_many_arguments)]
    fn times_given(
        &self,
        zeros: Zeros,
        (first, start): (usize, usize),
        mut out: MatMut<'_, T>,
        part: Part,
        plus: Plus<'_, T>,
        b: MatRef<'_, T>,
        alpha: T,
    ) {
        debug_assert!(b.ncols() == out.ncols());
        if out.ncols() == 0 || out.nrows() == 0 {
            return;
        }
        if b.nrows() == 0 {
            for j in 0..out.ncols() {
                let end = part.end(j, out.nrows());
                let to = &mut column_mut(out.as_mut(), j)[..end];
                match plus {
                    Plus::Nothing => to.fill(T::default()),
                    Plus::Out => (),
                    Plus::Matrix(plus) => to.copy_from_slice(&column(plus, j)[..end]),
                }
            }
            return;
        }
        let panels = self.from(first, [out.nrows(), start + b.nrows()]);
        T::with_room(|right| {
            let stride = self.stride;
            pulp::Arch::new().dispatch(Times {
                panels,
                stride,
                start,
                zeros,
                out,
                part,
                plus,
                b,
                alpha,
                right,
            });
        });
    }
}

/// Rows of a tile.
#[inline(always)]
pub(crate) fn height<T: Real, S: Simd>() -> usize {
    VECTORS * size_of::<T::Vector<S>>() / size_of::<T>()
}

struct Times<'a, T: Real> {
    panels: &'a [T],
    stride: usize,
    start: usize,
    zeros: Zeros,
    out: MatMut<'a, T>,
    part: Part,
    plus: Plus<'a, T>,
    b: MatRef<'a, T>,
    alpha: T,
    right: &'a mut Mat<T>,
}

impl<T: Real> WithSimd for Times<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { panels, stride, start, zeros, mut out, part, mut plus, b, alpha, right } = self;
        let height = height::<T, S>();
        let (m, n) = (out.nrows(), out.ncols());
        let packed = (DEPTH + 1) * WIDTH;
        if right.nrows() < packed + NARROW * m {
            right.resize_with(packed + NARROW * m, 1, |_, _| T::default());
        }
        let (right, spare) = column_mut(right.as_mut(), 0).split_at_mut(packed);
        let direct = b.row_stride() == 1;
        for part_start in (0..b.nrows()).step_by(DEPTH) {
            let count = DEPTH.min(b.nrows() - part_start);
            let (b, start) = (b.subrows(part_start, count), start + part_start);
            for j in (0..n).step_by(COLUMNS) {
                let wide = COLUMNS.min(n - j);
                if !direct && j % WIDTH == 0 {
                    copy_rows(b.subcols(j, WIDTH.min(n - j)), right);
                }
                let right = right[j % WIDTH * (count | 1)..].as_chunks::<COLUMNS>().0;
                let tiles = Tiles {
                    panels: &panels[start * height..],
                    stride: stride * height,
                    depth: count,
                    zeros,
                    whole: part.end(j, m),
                    end: part.end(j + wide - 1, m),
                    add: !matches!(plus, Plus::Nothing),
                    alpha,
                };
                // Fewer columns than a tile has are made up for by some that nobody reads.
                let mut spare = spare.chunks_exact_mut(m);
                let mut columns = out.as_mut().subcols_mut(j, wide).col_iter_mut();
                let mut to = |_| match columns.next() {
                    Some(to) => to.try_as_col_major_mut().expect("column-major").as_slice_mut(),
                    None => spare.next().expect("few are missing"),
                };
                let from = |c: usize| column(b, j + c.min(wide - 1));
                let base = |c: usize| match plus {
                    Plus::Matrix(plus) => Some(column(plus, j + c.min(wide - 1))),
                    _ => None,
                };
                match (wide > NARROW, direct) {
                    (true, true) => {
                        let (to, b) = (std::array::from_fn(&mut to), std::array::from_fn(from));
                        tiles.fill(
                            simd,
                            to,
                            std::array::from_fn(base),
                            #[inline(always)]
                            |a, from| wide_tile(simd, a, b, from),
                        );
                    }
                    (true, false) => tiles.fill(
                        simd,
                        std::array::from_fn(&mut to),
                        std::array::from_fn(base),
                        #[inline(always)]
                        |a, from| packed_tile::<T, S, COLUMNS>(simd, a, &right[from..]),
                    ),
                    (false, true) => {
                        let (to, b) = (std::array::from_fn(&mut to), std::array::from_fn(from));
                        tiles.fill(
                            simd,
                            to,
                            std::array::from_fn(base),
                            #[inline(always)]
                            |a, from| narrow_tile(simd, a, b, from),
                        );
                    }
                    (false, false) => tiles.fill(
                        simd,
                        std::array::from_fn(&mut to),
                        std::array::from_fn(base),
                        #[inline(always)]
                        |a, from| packed_tile::<T, S, NARROW>(simd, a, &right[from..]),
                    ),
                }
            }
            plus = Plus::Out;
        }
    }
}

/// The tiles of some columns.
struct Tiles<'a, T> {
    panels: &'a [T],
    stride: usize,
    depth: usize,
    zeros: Zeros,
    /// Rows of the first column, and so of all.
    whole: usize,
    /// Rows of the last column; of those between them, one more each.
    end: usize,
    add: bool,
    alpha: T,
}

impl<T: Real> Tiles<'_, T> {
    #[inline(always)]
    fn fill<S: Simd, const N: usize>(
        &self,
        simd: S,
        mut to: [&mut [T]; N],
        base: [Option<&[T]>; N],
        tile: impl Fn(&[[T::Vector<S>; VECTORS]], usize) -> Sums<T, S, N>,
    ) {
        let height = height::<T, S>();
        let alpha = T::splat(simd, self.alpha);
        for (index, i) in (0..self.end).step_by(height).enumerate() {
            let [from, until] = match self.zeros {
                Zeros::None => [0, self.depth],
                Zeros::Above => [0, self.depth.min(i + height)],
                Zeros::Below => [i, self.depth],
            };
            let panel = &self.panels[index * self.stride..][from * height..until * height];
            let sums = tile(T::vectors::<S>(panel).0.as_chunks::<VECTORS>().0, from);
            if i + height > self.whole {
                self.store_part(simd, sums, &mut to, base, i);
                continue;
            }
            for c in 0..N {
                let to = &mut to[c][i..i + height];
                let plus = base[c].map(
                    #[inline(always)]
                    |base| T::vectors::<S>(&base[i..i + height]).0,
                );
                let to = T::vectors_mut::<S>(to).0;
                for r in 0..VECTORS {
                    to[r] = match plus {
                        Some(plus) => T::mul_add(simd, sums[c][r], alpha, plus[r]),
                        None if self.add => T::mul_add(simd, sums[c][r], alpha, to[r]),
                        None => T::times(simd, sums[c][r], alpha),
                    };
                }
            }
        }
    }

    /// A tile that the end of the rows crosses. It is given a copy: sums that another function sees would never stay in
    /// registers.
    #[cold]
    #[inline(never)]
    fn store_part<S: Simd, const N: usize>(
        &self,
        simd: S,
        sums: Sums<T, S, N>,
        to: &mut [&mut [T]; N],
        base: [Option<&[T]>; N],
        first: usize,
    ) {
        let lanes = height::<T, S>() / VECTORS;
        for (c, ((sums, to), base)) in sums.iter().zip(to).zip(base).enumerate() {
            let mut values = [T::default(); MOST_ROWS];
            for (r, &sum) in sums.iter().enumerate() {
                T::store_part(simd, &mut values[r * lanes..(r + 1) * lanes], sum);
            }
            let end = self.end.min(self.whole + c).min(first + VECTORS * lanes);
            for i in first..end {
                let plus = base.map_or(if self.add { to[i] } else { T::default() }, |base| base[i]);
                to[i] = values[i - first] * self.alpha + plus;
            }
        }
    }
}

type Sums<T, S, const N: usize> = [[<T as Real>::Vector<S>; VECTORS]; N];

// The slices are zipped: an index would be compared with each one's length in the innermost loop.
#[inline(always)]
fn wide_tile<T: Real, S: Simd>(
    simd: S,
    a: &[[T::Vector<S>; VECTORS]],
    [b0, b1, b2, b3, b4, b5]: [&[T]; COLUMNS],
    from: usize,
) -> Sums<T, S, COLUMNS> {
    let (b0, b1, b2, b3, b4, b5) =
        (&b0[from..], &b1[from..], &b2[from..], &b3[from..], &b4[from..], &b5[from..]);
    let mut sums = [[T::splat(simd, T::default()); VECTORS]; COLUMNS];
    for ((((((a, b0), b1), b2), b3), b4), b5) in a.iter().zip(b0).zip(b1).zip(b2).zip(b3).zip(b4).zip(b5) {
        add_row(simd, &mut sums, a, &[*b0, *b1, *b2, *b3, *b4, *b5]);
    }
    sums
}

#[inline(always)]
fn narrow_tile<T: Real, S: Simd>(
    simd: S,
    a: &[[T::Vector<S>; VECTORS]],
    [b0, b1, b2, b3]: [&[T]; NARROW],
    from: usize,
) -> Sums<T, S, NARROW> {
    let (b0, b1, b2, b3) = (&b0[from..], &b1[from..], &b2[from..], &b3[from..]);
    let mut sums = [[T::splat(simd, T::default()); VECTORS]; NARROW];
    for ((((a, b0), b1), b2), b3) in a.iter().zip(b0).zip(b1).zip(b2).zip(b3) {
        add_row(simd, &mut sums, a, &[*b0, *b1, *b2, *b3]);
    }
    sums
}

#[inline(always)]
fn packed_tile<T: Real, S: Simd, const N: usize>(
    simd: S,
    a: &[[T::Vector<S>; VECTORS]],
    b: &[[T; COLUMNS]],
) -> Sums<T, S, N> {
    let mut sums = [[T::splat(simd, T::default()); VECTORS]; N];
    for (a, b) in a.iter().zip(b) {
        add_row(simd, &mut sums, a, b.first_chunk().expect("no tile is wider"));
    }
    sums
}

#[inline(always)]
fn add_row<T: Real, S: Simd, const N: usize>(
    simd: S,
    sums: &mut Sums<T, S, N>,
    a: &[T::Vector<S>; VECTORS],
    b: &[T; N],
) {
    for c in 0..N {
        let factor = T::splat(simd, b[c]);
        for r in 0..VECTORS {
            sums[c][r] = T::mul_add(simd, a[r], factor, sums[c][r]);
        }
    }
}

/// `out = alpha · a b`, or that added to `out`, on this thread; a triangle of `out` begins at its first row.
pub(crate) fn multiply<T: Real>(
    out: MatMut<'_, T>,
    part: Part,
    accumulate: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
) {
    let (m, n, depth) = (out.nrows(), out.ncols(), a.ncols());
    let flat = |x: MatRef<'_, T>| x.row_stride() == 1 || x.col_stride() == 1;
    if n.min(m).min(depth) < SMALLEST || out.row_stride() != 1 || !flat(a) || !flat(b) {
        use faer::linalg::matmul::triangular::{BlockStructure, matmul};
        let (upper, full) = (BlockStructure::TriangularUpper, BlockStructure::Rectangular);
        let structure = if part == Part::All { full } else { upper };
        return matmul(out, structure, accumulate, a, full, b, full, alpha, faer::Par::Seq);
    }
    let plus = if accumulate == Accum::Add { Plus::Out } else { Plus::Nothing };
    Panels::lend(a, |panels| panels.times((0, 0), out, part, plus, b, alpha));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(rows: usize, columns: usize, seed: usize) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| ((31 * i + 17 * j + seed) % 101) as f64 * 0.01 - 0.5)
    }

    /// By plain loops; what is not needed is left as it was.
    fn expected(out: &Mat<f64>, part: Part, plus: Option<&Mat<f64>>, a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(out.nrows(), out.ncols(), |i, j| {
            let sum: f64 = (0..a.ncols()).map(|p| a[(i, p)] * b[(p, j)]).sum();
            let needed = match part {
                Part::All => true,
                Part::Upper { from } => i <= from + j,
            };
            if needed { -0.7 * sum + plus.map_or(0.0, |plus| plus[(i, j)]) } else { out[(i, j)] }
        })
    }

    #[test]
    fn products_are_those_of_plain_loops_for_every_kind_of_size_and_layout() {
        let sizes = [
            (1, 1, 1),
            (3, 2, 5),
            (8, 6, 4),
            (9, 7, 130),
            (40, 5, 33),
            (33, 98, 17),
            (70, 31, 600),
            (8, 96, 512),
            (20, 9, 0),
        ];
        for (m, n, k) in sizes {
            let (a, b, out, other) = (filled(m, k, 1), filled(k, n, 2), filled(m, n, 3), filled(m, n, 8));
            let (a_rows, b_rows) = (a.transpose().to_owned(), b.transpose().to_owned());
            for (left, right) in
                [(a.as_ref(), b.as_ref()), (a_rows.transpose(), b.as_ref()), (a.as_ref(), b_rows.transpose())]
            {
                for part in [Part::All, Part::Upper { from: 0 }, Part::Upper { from: 11 }] {
                    for (plus, added) in [
                        (Plus::Nothing, None),
                        (Plus::Out, Some(&out)),
                        (Plus::Matrix(other.as_ref()), Some(&other)),
                    ] {
                        let mut found = out.clone();
                        Panels::lend(left, |panels| {
                            panels.times((0, 0), found.as_mut(), part, plus, right, -0.7);
                        });
                        let error = (&found - &expected(&out, part, added, &a, &b)).norm_max();
                        // Sums of up to 600 terms below 0.25.
                        assert!(error < 1e-13, "{m}×{n}×{k}, {part:?}, {plus:?}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn zeros_of_a_triangle_are_never_read() {
        for n in [1, 7, 8, 20, 64] {
            let b = filled(n, 13, 9);
            for zeros in [Zeros::Above, Zeros::Below] {
                let kept = |i: usize, p: usize| if zeros == Zeros::Above { p <= i } else { p >= i };
                let a = Mat::from_fn(n, n, |i, p| if kept(i, p) { (i + 2 * p) as f64 } else { 0.0 });
                // What a tile reads beside the triangle are true zeros; far from it stands what must not be read.
                let far = |i: usize, p: usize| !kept(i, p) && i.abs_diff(p) >= MOST_ROWS;
                let hostile = Mat::from_fn(n, n, |i, p| if far(i, p) { f64::NAN } else { a[(i, p)] });
                let mut out = Mat::zeros(n, 13);
                Panels::lend(hostile.as_ref(), |panels| {
                    panels.triangle_times(zeros, (0, 0), out.as_mut(), b.as_ref());
                });
                assert!((&out - &a * &b).norm_max() < 1e-9, "{n}, {zeros:?}");
            }
        }
    }

    #[test]
    fn rows_and_columns_of_the_left_side_can_be_left_out_and_put_in_later() {
        let (m, n, k) = (100, 10, 70);
        let (a, b) = (filled(m, k, 4), filled(k, n, 5));
        let mut panels = Panels::new();
        panels.resize(m, k);
        panels.put((0, 0), a.as_ref().subcols(0, 30));
        panels.put((0, 30), a.as_ref().submatrix(0, 30, 64, 40));
        panels.put((64, 30), a.as_ref().submatrix(64, 30, 36, 40));
        let mut out = Mat::zeros(36, n);
        let right = b.as_ref().subrows(20, 45);
        panels.times((64, 20), out.as_mut(), Part::All, Plus::Nothing, right, 1.0);
        let left = a.as_ref().submatrix(64, 20, 36, 45);
        assert!((&out - left * right).norm_max() < 1e-13);
    }

    #[test]
    fn no_result_depends_on_how_the_columns_are_cut() {
        let (m, n, k) = (64, 50, 700);
        let (a, b) = (filled(m, k, 6), filled(k, n, 7));
        let whole = |columns: std::ops::Range<usize>| {
            let mut out = Mat::zeros(m, columns.len());
            let right = b.as_ref().subcols(columns.start, columns.len());
            multiply(out.as_mut(), Part::All, Accum::Replace, a.as_ref(), right, 1.0);
            out
        };
        let (all, left, right) = (whole(0..n), whole(0..27), whole(27..n));
        assert_eq!(all.as_ref().subcols(0, 27), left.as_ref());
        assert_eq!(all.as_ref().subcols(27, n - 27), right.as_ref());
    }
}
