//! The product of tiles that stay in registers.
//!
//! ```text
//! out [m, n] = plus + alpha · a [m, k] b [k, n]
//! ```
//! The left side is [`Packed`]; contiguous columns of the right side are read where they are. An entry is summed in the
//! order of k by fused multiplications and additions, in parts of [`DEPTH`], and each part is multiplied by alpha and added
//! in one more fused operation. Inside of a tile and at its edge this is the same, so that no entry depends on how a matrix
//! is cut.
//!
//! By hand because faer's products have tiles of 12 rows (f32: 24), which powers of two are not made of, and copy both
//! sides at every call; the benches of this crate have faer beside it.

use super::pack::{Packed, copy_rows};
use crate::buffer::Buffer;
use crate::{MatMut, MatRef, Real};
use pulp::{Simd, WithSimd};

/// Vectors of rows in a tile. Twelve sums, two vectors of `a` and an entry of `b` are 15 of 16 registers.
const VECTORS: usize = 2;
/// Columns of a tile.
pub(super) const COLUMNS: usize = 6;
/// Columns of a tile for the rest of a matrix: eight sums, which still hide how long each addition takes.
const NARROW: usize = 4;
/// Products that are summed in registers: so many entries of six columns stay in a level-1 cache.
pub const DEPTH: usize = 512;

/// Columns of a right side of contiguous rows that are copied at a time: with that depth they stay in a level-2 cache.
const WIDTH: usize = 16 * COLUMNS;
/// No tile has more rows (two vectors of 16 numbers): multiples of this begin a tile on every processor.
pub const MOST_ROWS: usize = 32;

/// Which entries of a product are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    All,
    /// In column j those down to row `from + j`; what is below is left as it was.
    Upper {
        /// The last row that the first column needs.
        from: usize,
    },
}

impl Part {
    /// How many entries of column `j` are needed, of `rows`.
    #[inline(always)]
    pub fn end(self, j: usize, rows: usize) -> usize {
        match self {
            Self::All => rows,
            Self::Upper { from } => rows.min(from + j + 1),
        }
    }
}

/// What a product is added to.
#[derive(Debug, Clone, Copy)]
pub enum Plus<'a, T: Real> {
    /// Zero.
    Nothing,
    /// What stands where the result will.
    Out,
    /// Another matrix of the same size. One with a stride of 0 adds the same row or column everywhere.
    Matrix(MatRef<'a, T>),
}

/// Where the square left side of a product has zeros, which are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zeros {
    /// Nowhere.
    None,
    /// Above the diagonal: it is lower triangular.
    Above,
    /// Below the diagonal: it is upper triangular.
    Below,
}

impl<T: Real> Packed<T> {
    /// `out = plus + alpha · a b`, all of it; `out` has contiguous columns.
    ///
    /// # Panics
    /// When sizes differ.
    #[track_caller]
    pub fn multiply(&self, out: MatMut<'_, T>, plus: Plus<'_, T>, b: MatRef<'_, T>, alpha: T) {
        let (size, expected) = ([out.nrows(), b.nrows()], [self.nrows(), self.ncols()]);
        assert_eq!(size, expected, "out and b fit the left side [m, k]");
        self.times((0, 0), out, Part::All, plus, b, alpha);
    }

    /// `out = plus + alpha · a b` for a block of `a`: rows from `first` on, a multiple of [`MOST_ROWS`], and columns from
    /// `start` on, as many as `out` has rows and `b` has. `out` has contiguous columns.
    ///
    /// # Panics
    /// When sizes differ.
    #[track_caller]
    pub fn times(
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

    /// `out = a b` for a triangular block `a` of at most [`DEPTH`] columns.
    ///
    /// # Panics
    /// When sizes differ.
    #[track_caller]
    pub fn triangle_times(&self, zeros: Zeros, at: (usize, usize), out: MatMut<'_, T>, b: MatRef<'_, T>) {
        assert!(b.nrows() <= DEPTH, "a triangle is not cut");
        self.times_given(zeros, at, out, Part::All, Plus::Nothing, b, T::from_f64(1.0));
    }

    #[expect(clippy::too_many_arguments)]
    #[track_caller]
    fn times_given(
        &self,
        zeros: Zeros,
        (first, start): (usize, usize),
        mut out: MatMut<'_, T>,
        part: Part,
        mut plus: Plus<'_, T>,
        b: MatRef<'_, T>,
        alpha: T,
    ) {
        let (m, n) = (out.nrows(), out.ncols());
        assert_eq!(b.ncols(), n, "out and b have as many columns");
        let panels = self.panels_from(first, [m, start + b.nrows()]);
        if m == 0 || n == 0 {
            return;
        }
        if let Plus::Matrix(matrix) = plus {
            assert_eq!((matrix.nrows(), matrix.ncols()), (m, n), "what is added has the size of out");
            if b.nrows() == 0 || matrix.try_col(0).is_none() {
                for j in 0..n {
                    let to = &mut out.as_mut().col_mut(j)[..part.end(j, m)];
                    match matrix.try_col(j) {
                        Some(from) => to.copy_from_slice(&from[..to.len()]),
                        None => to.iter_mut().enumerate().for_each(|(i, to)| *to = matrix[(i, j)]),
                    }
                }
                plus = Plus::Out;
            }
        }
        if b.nrows() == 0 {
            if matches!(plus, Plus::Nothing) {
                out.col_iter_mut().enumerate().for_each(|(j, to)| to[..part.end(j, m)].fill(T::default()));
            }
            return;
        }
        T::with_scratch(|scratch| {
            let stride = self.stride;
            let times = Times { panels, stride, start, zeros, out, part, plus, b, alpha, scratch };
            pulp::Arch::new().dispatch(times);
        });
    }
}

/// Rows of a tile.
#[inline(always)]
pub(super) fn height<T: Real, S: Simd>() -> usize {
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
    scratch: &'a mut Buffer<T>,
}

impl<T: Real> WithSimd for Times<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { panels, stride, start, zeros, mut out, part, mut plus, b, alpha, scratch } = self;
        let height = height::<T, S>();
        let (m, n) = (out.nrows(), out.ncols());
        let packed = (DEPTH + 1) * WIDTH;
        scratch.grow(packed + NARROW * m);
        let (right, spare) = scratch.split_at_mut(packed);
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
                let columns = out.as_mut().subcols_mut(j, wide);
                match (wide > NARROW, direct) {
                    (true, true) => {
                        let (to, b) = (padded_mut(columns, spare), padded(b, j, wide));
                        tiles.fill(
                            simd,
                            to,
                            base(plus, j, wide),
                            #[inline(always)]
                            |a, from| wide_tile(simd, a, b, from),
                        );
                    }
                    (true, false) => tiles.fill(
                        simd,
                        padded_mut(columns, spare),
                        base(plus, j, wide),
                        #[inline(always)]
                        |a, from| packed_tile::<T, S, COLUMNS>(simd, a, &right[from..]),
                    ),
                    (false, true) => {
                        let (to, b) = (padded_mut(columns, spare), padded(b, j, wide));
                        tiles.fill(
                            simd,
                            to,
                            base(plus, j, wide),
                            #[inline(always)]
                            |a, from| narrow_tile(simd, a, b, from),
                        );
                    }
                    (false, false) => tiles.fill(
                        simd,
                        padded_mut(columns, spare),
                        base(plus, j, wide),
                        #[inline(always)]
                        |a, from| packed_tile::<T, S, NARROW>(simd, a, &right[from..]),
                    ),
                }
            }
            plus = Plus::Out;
        }
    }
}

/// `N` columns; what is missing is made up for by columns of `spare` that nobody reads.
#[inline(always)]
fn padded_mut<'a, T: Real, const N: usize>(columns: MatMut<'a, T>, spare: &'a mut [T]) -> [&'a mut [T]; N] {
    if columns.ncols() == N {
        return columns.cols_mut();
    }
    let mut spare = spare.chunks_exact_mut(columns.nrows());
    let mut columns = columns.col_iter_mut();
    std::array::from_fn(|_| columns.next().or_else(|| spare.next()).expect("few are missing"))
}

/// `N` columns from `j` on, of which there are `wide`; what is missing is the last one.
#[inline(always)]
fn padded<T: Real, const N: usize>(matrix: MatRef<'_, T>, j: usize, wide: usize) -> [&[T]; N] {
    if wide == N {
        return matrix.cols(j);
    }
    std::array::from_fn(|c| matrix.col(j + c.min(wide - 1)))
}

/// Columns of what is added, where that is another matrix.
#[inline(always)]
fn base<'a, T: Real, const N: usize>(plus: Plus<'a, T>, j: usize, wide: usize) -> [Option<&'a [T]>; N] {
    match plus {
        Plus::Matrix(plus) => padded(plus, j, wide).map(Some),
        _ => [None; N],
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
        let mut values = [[T::default(); MOST_ROWS]; N];
        for (values, sums) in values.iter_mut().zip(&sums) {
            T::vectors_mut::<S>(values).0[..VECTORS].copy_from_slice(sums);
        }
        let Self { whole, end, add, alpha, .. } = *self;
        let last = end.min(first + height::<T, S>());
        // This function is not compiled for the vectors of `S`; what is dispatched again is.
        simd.vectorize(StorePart { values: &values, to, base, first, last, whole, add, alpha });
    }
}

/// Rows `first..last` of a tile, of which column c has those down to `whole + c`.
struct StorePart<'a, 'b, T: Real, const N: usize> {
    values: &'a [[T; MOST_ROWS]; N],
    to: &'a mut [&'b mut [T]; N],
    base: [Option<&'a [T]>; N],
    first: usize,
    last: usize,
    whole: usize,
    add: bool,
    alpha: T,
}

impl<T: Real, const N: usize> WithSimd for StorePart<'_, '_, T, N> {
    type Output = ();

    /// The same fused operations as in a whole tile: an entry must not depend on where the matrix ends.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { values, to, base, first, last, whole, add, alpha } = self;
        for (c, ((values, to), base)) in values.iter().zip(to).zip(base).enumerate() {
            let end = last.min(whole + c);
            if end <= first {
                continue;
            }
            let to = &mut to[first..end];
            match base {
                Some(base) => {
                    let terms = values.iter().zip(&base[first..end]);
                    to.iter_mut()
                        .zip(terms)
                        .for_each(|(to, (&sum, &plus))| *to = sum.times_plus(alpha, plus));
                }
                None if add => {
                    to.iter_mut().zip(values).for_each(|(to, &sum)| *to = sum.times_plus(alpha, *to));
                }
                None => to.iter_mut().zip(values).for_each(|(to, &sum)| *to = sum * alpha),
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
