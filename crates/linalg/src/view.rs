//! Matrices, and views of them that can be cut into blocks.
//!
//! Entry `(i, j)` of a view stands at `i · row_stride + j · col_stride`. A view that is read may overlap itself: a
//! convolution reads rows that begin closer together than they are long, a bias is a matrix whose rows are all the same
//! (stride 0). A view that is written never overlaps itself.
//!
//! This module has all the `unsafe` code of the crate. Its one invariant, which every constructor checks and every
//! sub-view keeps, is stated at [`MatRef`] and [`MatMut`].

use crate::buffer::{Buffer, LINE};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An owned matrix, column-major; every column begins on a cache line.
///
/// ```
/// use inducing_linalg::Mat;
/// let a = Mat::from_fn(2, 3, |i, j| (10 * i + j) as f64);
/// assert_eq!(a[(1, 2)], 12.0);
/// assert_eq!(a.transpose().to_row_major(), [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
/// ```
#[derive(Default)]
pub struct Mat<T> {
    data: Buffer<T>,
    nrows: usize,
    ncols: usize,
    col_stride: usize,
}

/// A matrix that is read.
///
/// Invariant: for all `i < nrows` and `j < ncols`, `data + i · row_stride + j · col_stride` points to a number that lives
/// and is not written for `'a`.
pub struct MatRef<'a, T> {
    data: *const T,
    nrows: usize,
    ncols: usize,
    row_stride: usize,
    col_stride: usize,
    lives: PhantomData<&'a T>,
}

/// A matrix that is written.
///
/// Invariant: for all `i < nrows` and `j < ncols`, `data + i · row_stride + j · col_stride` points to a number that lives
/// for `'a` and that nothing else reads or writes meanwhile; no two entries share a place.
pub struct MatMut<'a, T> {
    data: *mut T,
    nrows: usize,
    ncols: usize,
    row_stride: usize,
    col_stride: usize,
    lives: PhantomData<&'a mut T>,
}

// SAFETY: a `MatRef` gives what `&[T]` gives: shared references to its entries.
unsafe impl<T: Sync> Send for MatRef<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for MatRef<'_, T> {}
// SAFETY: a `MatMut` gives what `&mut [T]` gives: by its invariant nobody else reaches its entries.
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: through `&MatMut` entries can only be read, as through `&&mut [T]`.
unsafe impl<T: Sync> Sync for MatMut<'_, T> {}

impl<T: Copy + Default> Clone for Mat<T> {
    fn clone(&self) -> Self {
        Self { data: self.data.clone(), ..*self }
    }
}

impl<T> Clone for MatRef<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for MatRef<'_, T> {}

/// Numbers from the first to the last entry of a view.
#[inline(always)]
fn span(nrows: usize, ncols: usize, row_stride: usize, col_stride: usize) -> usize {
    if nrows == 0 || ncols == 0 {
        return 0;
    }
    let rows = (nrows - 1).checked_mul(row_stride);
    let columns = (ncols - 1).checked_mul(col_stride);
    let last = rows.and_then(|rows| rows.checked_add(columns?));
    last.and_then(|last| last.checked_add(1)).expect("a view that is larger than memory")
}

impl<'a, T> MatRef<'a, T> {
    /// Any two strides, also ones that make entries overlap.
    ///
    /// # Panics
    /// When an entry is outside of the slice.
    #[inline]
    #[track_caller]
    pub fn from_slice_with_strides(
        slice: &'a [T],
        [nrows, ncols]: [usize; 2],
        [row_stride, col_stride]: [usize; 2],
    ) -> Self {
        let span = span(nrows, ncols, row_stride, col_stride);
        assert!(span <= slice.len(), "{nrows}×{ncols} needs {span} numbers, there are {}", slice.len());
        // Invariant: every entry is inside of the slice, which lives for 'a.
        Self { data: slice.as_ptr(), nrows, ncols, row_stride, col_stride, lives: PhantomData }
    }

    /// Columns one after the other.
    ///
    /// # Panics
    /// When the slice has another length.
    #[inline]
    #[track_caller]
    pub fn from_column_major_slice(slice: &'a [T], nrows: usize, ncols: usize) -> Self {
        assert_eq!(slice.len(), nrows * ncols, "a matrix of {nrows}×{ncols}");
        Self::from_slice_with_strides(slice, [nrows, ncols], [1, nrows])
    }

    /// Columns that begin `stride` apart.
    ///
    /// # Panics
    /// When an entry is outside of the slice.
    #[inline]
    #[track_caller]
    pub fn from_column_major_slice_with_stride(
        slice: &'a [T],
        nrows: usize,
        ncols: usize,
        stride: usize,
    ) -> Self {
        Self::from_slice_with_strides(slice, [nrows, ncols], [1, stride])
    }

    /// Rows one after the other.
    ///
    /// # Panics
    /// When the slice has another length.
    #[inline]
    #[track_caller]
    pub fn from_row_major_slice(slice: &'a [T], nrows: usize, ncols: usize) -> Self {
        assert_eq!(slice.len(), nrows * ncols, "a matrix of {nrows}×{ncols}");
        Self::from_slice_with_strides(slice, [nrows, ncols], [ncols, 1])
    }

    /// Rows that begin `stride` apart: less than a row's length makes them overlap, 0 makes them all the same.
    ///
    /// ```
    /// let x = [1.0, 2.0, 3.0, 4.0];
    /// let windows = inducing_linalg::MatRef::from_row_major_slice_with_stride(&x, 3, 2, 1);
    /// assert_eq!(windows.to_row_major(), [1.0, 2.0, 2.0, 3.0, 3.0, 4.0]);
    /// ```
    ///
    /// # Panics
    /// When an entry is outside of the slice.
    #[inline]
    #[track_caller]
    pub fn from_row_major_slice_with_stride(
        slice: &'a [T],
        nrows: usize,
        ncols: usize,
        stride: usize,
    ) -> Self {
        Self::from_slice_with_strides(slice, [nrows, ncols], [stride, 1])
    }

    /// Rows and columns exchanged; nothing is copied.
    #[inline(always)]
    pub fn transpose(self) -> Self {
        let Self { data, nrows, ncols, row_stride, col_stride, lives } = self;
        Self { data, nrows: ncols, ncols: nrows, row_stride: col_stride, col_stride: row_stride, lives }
    }

    /// The block of `nrows` rows from `row` on and `ncols` columns from `col` on.
    ///
    /// # Panics
    /// When that is not inside of the matrix.
    #[inline]
    #[track_caller]
    pub fn submatrix(self, row: usize, col: usize, nrows: usize, ncols: usize) -> Self {
        assert!(row <= self.nrows && nrows <= self.nrows - row, "rows {row} + {nrows} of {}", self.nrows);
        assert!(col <= self.ncols && ncols <= self.ncols - col, "columns {col} + {ncols} of {}", self.ncols);
        // Wrapping: an empty block may begin behind the end. Invariant: entries of the block are entries of `self`.
        let data = self.data.wrapping_add(row * self.row_stride + col * self.col_stride);
        Self { data, nrows, ncols, ..self }
    }

    /// `nrows` rows from `row` on.
    #[inline]
    #[track_caller]
    pub fn subrows(self, row: usize, nrows: usize) -> Self {
        self.submatrix(row, 0, nrows, self.ncols)
    }

    /// `ncols` columns from `col` on.
    #[inline]
    #[track_caller]
    pub fn subcols(self, col: usize, ncols: usize) -> Self {
        self.submatrix(0, col, self.nrows, ncols)
    }

    /// The rows above `row`, and the others.
    #[inline]
    #[track_caller]
    pub fn split_at_row(self, row: usize) -> (Self, Self) {
        (self.subrows(0, row), self.subrows(row, self.nrows - row))
    }

    /// The columns left of `col`, and the others.
    #[inline]
    #[track_caller]
    pub fn split_at_col(self, col: usize) -> (Self, Self) {
        (self.subcols(0, col), self.subcols(col, self.ncols - col))
    }

    /// Column `j`, if its entries stand next to each other.
    #[inline(always)]
    #[track_caller]
    pub fn try_col(self, j: usize) -> Option<&'a [T]> {
        assert!(j < self.ncols, "column {j} of {}", self.ncols);
        if self.row_stride != 1 && self.nrows > 1 {
            return None;
        }
        if self.nrows == 0 {
            return Some(&[]);
        }
        // SAFETY: by the invariant, and because the row stride is 1 or does not matter, these `nrows` numbers are entries
        // (0, j), (1, j), …, which live for 'a unwritten.
        Some(unsafe { std::slice::from_raw_parts(self.data.wrapping_add(j * self.col_stride), self.nrows) })
    }

    /// Column `j` of a matrix whose columns are contiguous.
    ///
    /// # Panics
    /// When they are not, or when there is no such column.
    #[inline(always)]
    #[track_caller]
    pub fn col(self, j: usize) -> &'a [T] {
        self.try_col(j).expect("contiguous columns")
    }

    /// `N` columns from `j` on, which are contiguous.
    ///
    /// # Panics
    /// When they are not, or when there are fewer.
    #[inline(always)]
    #[track_caller]
    pub fn cols<const N: usize>(self, j: usize) -> [&'a [T]; N] {
        assert!(self.nrows == 1 || self.row_stride == 1 && self.nrows > 0, "contiguous columns");
        assert!(j <= self.ncols && N <= self.ncols - j, "columns {j} + {N} of {}", self.ncols);
        let Self { data, nrows, col_stride, .. } = self;
        std::array::from_fn(
            #[inline(always)]
            // SAFETY: as in `try_col`, for column j + c, which has been checked to be there.
            |c| unsafe { std::slice::from_raw_parts(data.wrapping_add((j + c) * col_stride), nrows) },
        )
    }

    /// All columns, which are contiguous.
    pub fn col_iter(self) -> impl ExactSizeIterator<Item = &'a [T]> {
        (0..self.ncols).map(move |j| self.col(j))
    }

    /// Itself, as [`Mat::as_ref`] and [`MatMut::as_ref`].
    #[inline(always)]
    pub fn as_ref(&self) -> Self {
        *self
    }
}

impl<T: Copy + Default> MatRef<'_, T> {
    /// A copy.
    pub fn to_owned(self) -> Mat<T> {
        let mut copy = Mat::zeros(self.nrows, self.ncols);
        copy.as_mut().copy_from(self);
        copy
    }

    /// The entries, row by row.
    pub fn to_row_major(self) -> Vec<T> {
        (0..self.nrows).flat_map(|i| (0..self.ncols).map(move |j| self[(i, j)])).collect()
    }
}

impl<'a, T> MatMut<'a, T> {
    /// Columns one after the other.
    ///
    /// # Panics
    /// When the slice has another length.
    #[inline]
    #[track_caller]
    pub fn from_column_major_slice_mut(slice: &'a mut [T], nrows: usize, ncols: usize) -> Self {
        assert_eq!(slice.len(), nrows * ncols, "a matrix of {nrows}×{ncols}");
        Self::from_column_major_slice_with_stride_mut(slice, nrows, ncols, nrows)
    }

    /// Columns that begin `stride` apart.
    ///
    /// # Panics
    /// When an entry is outside of the slice, or columns overlap.
    #[inline]
    #[track_caller]
    pub fn from_column_major_slice_with_stride_mut(
        slice: &'a mut [T],
        nrows: usize,
        ncols: usize,
        stride: usize,
    ) -> Self {
        let span = span(nrows, ncols, 1, stride);
        assert!(span <= slice.len(), "{nrows}×{ncols} needs {span} numbers, there are {}", slice.len());
        assert!(stride >= nrows || ncols < 2, "columns of {nrows} numbers, {stride} apart, overlap");
        // Invariant: every entry is inside of the slice, which is ours for 'a. Two entries (i, j) and (k, l) of one place
        // would have i − k = (l − j) · stride with |i − k| < nrows ≤ stride, hence l = j and i = k.
        let data = slice.as_mut_ptr();
        Self { data, nrows, ncols, row_stride: 1, col_stride: stride, lives: PhantomData }
    }

    /// Rows one after the other.
    ///
    /// # Panics
    /// When the slice has another length.
    #[inline]
    #[track_caller]
    pub fn from_row_major_slice_mut(slice: &'a mut [T], nrows: usize, ncols: usize) -> Self {
        Self::from_column_major_slice_mut(slice, ncols, nrows).transpose_mut()
    }

    /// Rows that begin `stride` apart.
    ///
    /// # Panics
    /// When an entry is outside of the slice, or rows overlap.
    #[inline]
    #[track_caller]
    pub fn from_row_major_slice_with_stride_mut(
        slice: &'a mut [T],
        nrows: usize,
        ncols: usize,
        stride: usize,
    ) -> Self {
        Self::from_column_major_slice_with_stride_mut(slice, ncols, nrows, stride).transpose_mut()
    }

    /// The same entries, to be read for a while.
    #[inline(always)]
    pub fn as_ref(&self) -> MatRef<'_, T> {
        let Self { data, nrows, ncols, row_stride, col_stride, .. } = *self;
        // Invariant: while `self` is borrowed nobody can write through it, and nobody else reaches its entries.
        MatRef { data, nrows, ncols, row_stride, col_stride, lives: PhantomData }
    }

    /// The same entries, to be written for a while.
    #[inline(always)]
    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        let Self { data, nrows, ncols, row_stride, col_stride, .. } = *self;
        // Invariant: `self` cannot be used while the result is.
        MatMut { data, nrows, ncols, row_stride, col_stride, lives: PhantomData }
    }

    /// Gives up writing.
    #[inline(always)]
    pub fn into_ref(self) -> MatRef<'a, T> {
        let Self { data, nrows, ncols, row_stride, col_stride, .. } = self;
        // Invariant: `self`, which alone could write, is gone.
        MatRef { data, nrows, ncols, row_stride, col_stride, lives: PhantomData }
    }

    /// Rows and columns exchanged; nothing is moved.
    #[inline(always)]
    pub fn transpose_mut(self) -> Self {
        let Self { data, nrows, ncols, row_stride, col_stride, lives } = self;
        Self { data, nrows: ncols, ncols: nrows, row_stride: col_stride, col_stride: row_stride, lives }
    }

    /// The block of `nrows` rows from `row` on and `ncols` columns from `col` on.
    ///
    /// # Panics
    /// When that is not inside of the matrix.
    #[inline]
    #[track_caller]
    pub fn submatrix_mut(self, row: usize, col: usize, nrows: usize, ncols: usize) -> Self {
        assert!(row <= self.nrows && nrows <= self.nrows - row, "rows {row} + {nrows} of {}", self.nrows);
        assert!(col <= self.ncols && ncols <= self.ncols - col, "columns {col} + {ncols} of {}", self.ncols);
        // Wrapping: an empty block may begin behind the end. Invariant: entries of the block are entries of `self`, which
        // is gone.
        let data = self.data.wrapping_add(row * self.row_stride + col * self.col_stride);
        Self { data, nrows, ncols, ..self }
    }

    /// `nrows` rows from `row` on.
    #[inline]
    #[track_caller]
    pub fn subrows_mut(self, row: usize, nrows: usize) -> Self {
        let ncols = self.ncols;
        self.submatrix_mut(row, 0, nrows, ncols)
    }

    /// `ncols` columns from `col` on.
    #[inline]
    #[track_caller]
    pub fn subcols_mut(self, col: usize, ncols: usize) -> Self {
        let nrows = self.nrows;
        self.submatrix_mut(0, col, nrows, ncols)
    }

    /// The rows above `row`, and the others.
    ///
    /// # Panics
    /// When there are fewer rows.
    #[inline]
    #[track_caller]
    pub fn split_at_row_mut(self, row: usize) -> (Self, Self) {
        assert!(row <= self.nrows, "row {row} of {}", self.nrows);
        let Self { data, nrows, ncols, row_stride, col_stride, lives } = self;
        let below = data.wrapping_add(row * row_stride);
        // Invariant: each entry of `self`, which is gone, is in one of the two.
        (
            Self { data, nrows: row, ncols, row_stride, col_stride, lives },
            Self { data: below, nrows: nrows - row, ncols, row_stride, col_stride, lives },
        )
    }

    /// The columns left of `col`, and the others.
    ///
    /// # Panics
    /// When there are fewer columns.
    #[inline]
    #[track_caller]
    pub fn split_at_col_mut(self, col: usize) -> (Self, Self) {
        let (left, right) = self.transpose_mut().split_at_row_mut(col);
        (left.transpose_mut(), right.transpose_mut())
    }

    /// Column `j` of a matrix whose columns are contiguous.
    ///
    /// # Panics
    /// When they are not, or when there is no such column.
    #[inline(always)]
    #[track_caller]
    pub fn col_mut(self, j: usize) -> &'a mut [T] {
        assert!(j < self.ncols, "column {j} of {}", self.ncols);
        assert!(self.row_stride == 1 || self.nrows < 2, "contiguous columns");
        if self.nrows == 0 {
            return &mut [];
        }
        // SAFETY: by the invariant, and because the row stride is 1 or does not matter, these `nrows` numbers are entries
        // (0, j), (1, j), …, which live for 'a and which nobody else reaches; `self` is gone.
        unsafe { std::slice::from_raw_parts_mut(self.data.wrapping_add(j * self.col_stride), self.nrows) }
    }

    /// All of its columns, `N` of them, which are contiguous.
    ///
    /// # Panics
    /// When they are not, or when there are more or fewer.
    #[inline(always)]
    #[track_caller]
    pub fn cols_mut<const N: usize>(self) -> [&'a mut [T]; N] {
        assert!(self.nrows == 1 || self.row_stride == 1 && self.nrows > 0, "contiguous columns");
        assert_eq!(self.ncols, N, "as many columns");
        let Self { data, nrows, col_stride, .. } = self;
        std::array::from_fn(
            #[inline(always)]
            // SAFETY: as in `col_mut`, for column c, which has been checked to be there; columns share no entry, and `self`
            // is gone.
            |c| unsafe { std::slice::from_raw_parts_mut(data.wrapping_add(c * col_stride), nrows) },
        )
    }

    /// All columns, which are contiguous.
    pub fn col_iter_mut(self) -> impl Iterator<Item = &'a mut [T]> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let whole = rest.take().filter(|rest| rest.ncols > 0)?;
            let (first, others) = whole.split_at_col_mut(1);
            rest = Some(others);
            Some(first.col_mut(0))
        })
    }
}

impl<T: Copy> MatMut<'_, T> {
    /// `x` in every entry.
    pub fn fill(&mut self, x: T) {
        let mut by_columns =
            if self.row_stride <= self.col_stride { self.as_mut() } else { self.as_mut().transpose_mut() };
        if by_columns.row_stride == 1 {
            by_columns.col_iter_mut().for_each(|column| column.fill(x));
            return;
        }
        for j in 0..by_columns.ncols {
            (0..by_columns.nrows).for_each(|i| by_columns[(i, j)] = x);
        }
    }

    /// Takes over the entries of a matrix of the same size.
    ///
    /// # Panics
    /// When its size is another.
    #[track_caller]
    pub fn copy_from(&mut self, from: MatRef<'_, T>) {
        let size = (self.nrows, self.ncols);
        assert_eq!(size, (from.nrows, from.ncols), "matrices of equal size");
        for j in 0..self.ncols {
            if self.row_stride == 1
                && let Some(from) = from.try_col(j)
            {
                self.as_mut().col_mut(j).copy_from_slice(from);
            } else {
                (0..self.nrows).for_each(|i| self[(i, j)] = from[(i, j)]);
            }
        }
    }
}

impl<T: Copy + Default> Mat<T> {
    /// An empty matrix; allocates nothing.
    pub const fn new() -> Self {
        Self { data: Buffer::new(), nrows: 0, ncols: 0, col_stride: 0 }
    }

    /// Zeros `[nrows, ncols]`. Long columns begin an odd number of cache lines apart: at a distance of a power of two, the
    /// lines of a row would fall into few sets of the cache, and a step with 512 inducing points took 3 % longer.
    pub fn zeros(nrows: usize, ncols: usize) -> Self {
        let line = LINE / size_of::<T>().clamp(1, LINE);
        let lines = nrows.div_ceil(line);
        let col_stride = if nrows > 64 { lines | 1 } else { lines } * line;
        let col_stride = if ncols < 2 { nrows } else { col_stride };
        let size = col_stride.checked_mul(ncols).expect("a matrix that is larger than memory");
        Self { data: Buffer::zeros(size), nrows, ncols, col_stride }
    }

    /// `entry(i, j)` everywhere.
    pub fn from_fn(nrows: usize, ncols: usize, mut entry: impl FnMut(usize, usize) -> T) -> Self {
        let mut matrix = Self::zeros(nrows, ncols);
        for j in 0..ncols {
            (0..nrows).for_each(|i| matrix[(i, j)] = entry(i, j));
        }
        matrix
    }

    /// `x` in every entry.
    pub fn fill(&mut self, x: T) {
        self.as_mut().fill(x);
    }

    /// Takes over the entries of a matrix of the same size.
    ///
    /// # Panics
    /// When its size is another.
    #[track_caller]
    pub fn copy_from(&mut self, from: MatRef<'_, T>) {
        self.as_mut().copy_from(from);
    }
}

impl<T> Mat<T> {
    /// All of it, to be read.
    #[inline(always)]
    pub fn as_ref(&self) -> MatRef<'_, T> {
        let Self { nrows, ncols, col_stride, .. } = *self;
        // Invariant: `data` has been made for `ncols` columns that are `col_stride` apart.
        let data = self.data.as_ptr();
        MatRef { data, nrows, ncols, row_stride: 1, col_stride, lives: PhantomData }
    }

    /// All of it, to be written.
    #[inline(always)]
    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        let Self { nrows, ncols, col_stride, .. } = *self;
        // Invariant: as in `as_ref`; the columns do not overlap, since `zeros` never makes `col_stride` less than `nrows`.
        let data = self.data.as_mut_ptr();
        MatMut { data, nrows, ncols, row_stride: 1, col_stride, lives: PhantomData }
    }

    /// Rows and columns exchanged, to be read.
    #[inline(always)]
    pub fn transpose(&self) -> MatRef<'_, T> {
        self.as_ref().transpose()
    }

    /// Column `j`.
    #[inline(always)]
    #[track_caller]
    pub fn col(&self, j: usize) -> &[T] {
        self.as_ref().col(j)
    }

    /// Column `j`, to be written.
    #[inline(always)]
    #[track_caller]
    pub fn col_mut(&mut self, j: usize) -> &mut [T] {
        self.as_mut().col_mut(j)
    }
}

/// Sizes, reading by index, and comparing, for all three types.
macro_rules! common {
    ($name:ident $(<$lifetime:lifetime>)?) => {
        impl<T> $name<$($lifetime,)? T> {
            /// Number of rows.
            #[inline(always)]
            pub fn nrows(&self) -> usize {
                self.nrows
            }

            /// Number of columns.
            #[inline(always)]
            pub fn ncols(&self) -> usize {
                self.ncols
            }
        }

        impl<T> Index<(usize, usize)> for $name<$($lifetime,)? T> {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, (i, j): (usize, usize)) -> &T {
                let view = self.as_ref();
                assert!(i < view.nrows && j < view.ncols, "({i}, {j}) of {}×{}", view.nrows, view.ncols);
                // SAFETY: (i, j) is an entry, which by the invariant lives while `self` is borrowed and is not written.
                unsafe { &*view.data.wrapping_add(i * view.row_stride + j * view.col_stride) }
            }
        }

        impl<T: PartialEq> PartialEq for $name<$($lifetime,)? T> {
            fn eq(&self, other: &Self) -> bool {
                let size = (self.nrows, self.ncols);
                let equal = |j: usize| (0..self.nrows).all(|i| self[(i, j)] == other[(i, j)]);
                size == (other.nrows, other.ncols) && (0..self.ncols).all(equal)
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $name<$($lifetime,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let row = |i: usize| (0..self.ncols).map(|j| &self[(i, j)]).collect::<Vec<_>>();
                f.debug_list().entries((0..self.nrows).map(row)).finish()
            }
        }
    };
}

common!(Mat);
common!(MatRef<'_>);
common!(MatMut<'_>);

/// Strides of the two kinds of view.
macro_rules! strides {
    ($name:ident) => {
        impl<T> $name<'_, T> {
            /// Distance from an entry to the one below it.
            #[inline(always)]
            pub fn row_stride(&self) -> usize {
                self.row_stride
            }

            /// Distance from an entry to the one beside it.
            #[inline(always)]
            pub fn col_stride(&self) -> usize {
                self.col_stride
            }
        }
    };
}

strides!(MatRef);
strides!(MatMut);

impl<T> IndexMut<(usize, usize)> for MatMut<'_, T> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        assert!(i < self.nrows && j < self.ncols, "({i}, {j}) of {}×{}", self.nrows, self.ncols);
        // SAFETY: (i, j) is an entry, which by the invariant lives while `self` is borrowed and which nobody else reaches.
        unsafe { &mut *self.data.wrapping_add(i * self.row_stride + j * self.col_stride) }
    }
}

impl<T> IndexMut<(usize, usize)> for Mat<T> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        assert!(i < self.nrows && j < self.ncols, "({i}, {j}) of {}×{}", self.nrows, self.ncols);
        &mut self.data[i + j * self.col_stride]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(nrows: usize, ncols: usize) -> Mat<f64> {
        Mat::from_fn(nrows, ncols, |i, j| (100 * i + j) as f64)
    }

    #[test]
    fn columns_begin_on_cache_lines_and_long_ones_an_odd_number_of_lines_apart() {
        for nrows in [1, 7, 8, 9, 64, 65, 127, 128, 512] {
            let a = Mat::<f64>::zeros(nrows, 3);
            assert_eq!(a.col(0).as_ptr().align_offset(LINE), 0);
            assert_eq!(a.col(1).as_ptr().align_offset(LINE), 0);
            assert!(nrows <= 64 || a.as_ref().col_stride() / 8 % 2 == 1, "{nrows}");
        }
    }

    #[test]
    fn blocks_of_blocks_are_the_entries_they_name() {
        let a = numbered(9, 7);
        let block = a.as_ref().submatrix(2, 1, 6, 5).transpose().subrows(1, 3);
        assert_eq!((block.nrows(), block.ncols()), (3, 6));
        for (i, j) in (0..3).flat_map(|i| (0..6).map(move |j| (i, j))) {
            assert_eq!(block[(i, j)], a[(2 + j, 2 + i)]);
        }
        assert_eq!(a.as_ref().subcols(7, 0).ncols(), 0);
        assert_eq!(a.as_ref().submatrix(9, 7, 0, 0).to_row_major(), [] as [f64; 0]);
    }

    #[test]
    fn the_parts_of_a_split_are_written_apart_from_each_other_even_by_two_threads() {
        let mut a = Mat::<f64>::zeros(6, 4);
        let (mut above, below) = a.as_mut().split_at_row_mut(2);
        let (mut left, mut right) = below.split_at_col_mut(3);
        std::thread::scope(|scope| {
            scope.spawn(|| above.fill(1.0));
            scope.spawn(|| left.fill(2.0));
            right.fill(3.0);
        });
        let expected = Mat::from_fn(6, 4, |i, j| {
            if i < 2 {
                1.0
            } else if j < 3 {
                2.0
            } else {
                3.0
            }
        });
        assert_eq!(a, expected);
    }

    #[test]
    fn row_major_and_column_major_views_of_a_slice_are_transposes() {
        let mut x: Vec<f64> = (0..12).map(f64::from).collect();
        let rows = MatRef::from_row_major_slice(&x, 3, 4);
        assert_eq!(rows, MatRef::from_column_major_slice(&x, 4, 3).transpose());
        assert_eq!(rows[(1, 2)], 6.0);
        let strided = MatRef::from_row_major_slice_with_stride(&x, 3, 2, 5);
        assert_eq!(strided.to_row_major(), [0.0, 1.0, 5.0, 6.0, 10.0, 11.0]);
        let mut out = MatMut::from_row_major_slice_with_stride_mut(&mut x, 3, 2, 5);
        out.copy_from(numbered(3, 2).as_ref());
        assert_eq!(x, [0.0, 1.0, 2.0, 3.0, 4.0, 100.0, 101.0, 7.0, 8.0, 9.0, 200.0, 201.0]);
        MatMut::from_row_major_slice_mut(&mut x, 3, 4).fill(7.0);
        assert_eq!(x, [7.0; 12]);
    }

    #[test]
    fn columns_are_visited_once_and_in_order() {
        let mut a = numbered(3, 4);
        for (j, column) in a.as_mut().col_iter_mut().enumerate() {
            assert_eq!(column, [j as f64, (100 + j) as f64, (200 + j) as f64]);
            column.fill(j as f64);
        }
        let [b, c] = a.as_ref().cols(2);
        assert_eq!((b, c), (&[2.0; 3][..], &[3.0; 3][..]));
        let [d, e] = a.as_mut().subcols_mut(1, 2).cols_mut();
        assert_eq!((d, e), (&mut [1.0; 3][..], &mut [2.0; 3][..]));
        assert_eq!(a.as_ref().col_iter().map(|column| column[2]).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(
            Mat::<f64>::zeros(0, 3).as_mut().col_iter_mut().map(|column| column.len()).sum::<usize>(),
            0
        );
    }

    /// A view that would reach outside of its slice, or be written twice, cannot be made.
    #[test]
    fn bad_views_are_refused() {
        let refused = |make: fn()| assert!(std::panic::catch_unwind(make).is_err());
        refused(|| _ = MatRef::from_row_major_slice_with_stride(&[0.0; 9], 3, 4, 3));
        refused(|| _ = MatRef::from_column_major_slice(&[0.0; 5], 2, 3));
        refused(|| _ = MatRef::from_slice_with_strides(&[0.0; 5], [2, 2], [usize::MAX, 2]));
        refused(|| _ = MatMut::from_row_major_slice_with_stride_mut(&mut [0.0; 9], 3, 3, 2));
        refused(|| _ = MatMut::from_column_major_slice_with_stride_mut(&mut [0.0; 9], 2, 4, 3));
        refused(|| _ = numbered(3, 3).as_ref().submatrix(1, 0, 3, 1));
        refused(|| _ = numbered(3, 3).as_mut().submatrix_mut(0, usize::MAX, 1, 2));
        refused(|| _ = numbered(3, 3).as_mut().split_at_row_mut(4));
        refused(|| _ = numbered(3, 3).as_ref()[(3, 0)]);
        refused(|| _ = numbered(3, 3).as_mut()[(0, 3)]);
        refused(|| _ = numbered(3, 3)[(3, 0)]);
        refused(|| _ = numbered(3, 3).transpose().col(0));
        refused(|| _ = numbered(3, 3).as_ref().cols::<2>(2));
        refused(|| _ = numbered(3, 3).as_mut().cols_mut::<2>());
    }
}
