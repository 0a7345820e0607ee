//! One diagonal block of a Cholesky factorisation: the inverse of its factor.

use crate::gemm::Triangle;
use crate::gemm::transpose::SIDE;
use crate::{MatMut, MatRef, Real};
use pulp::{Simd, WithSimd};

/// Size of small blocks.
pub(crate) const BLOCK: usize = 32;
/// Size of the largest.
pub(crate) const LARGEST: usize = 64;
/// Rows that are finished before they are taken out of the others, which are read and written so much less often.
const ROWS: usize = 4;

/// Rows of a block; what is below the diagonal has no meaning.
type Square<T, const SIZE: usize> = [[T; SIZE]; SIZE];

/// `L⁻ᵀ` of `a = L Lᵀ`, of which one triangle is read, into `inverse`: upper triangular with zeros below. False when a pivot
/// is not positive, or not finite.
pub(crate) fn invert_factor<T: Real>(a: MatRef<'_, T>, triangle: Triangle, inverse: MatMut<'_, T>) -> bool {
    if a.nrows() <= BLOCK {
        padded::<T, BLOCK>(a, triangle, inverse)
    } else {
        padded::<T, LARGEST>(a, triangle, inverse)
    }
}

fn padded<T: Real, const SIZE: usize>(
    a: MatRef<'_, T>,
    triangle: Triangle,
    mut inverse: MatMut<'_, T>,
) -> bool {
    let n = a.nrows();
    let (mut l, mut x) = ([[T::default(); SIZE]; SIZE], [[T::default(); SIZE]; SIZE]);
    match triangle {
        Triangle::Lower => (0..n).for_each(|j| l[j][..n].copy_from_slice(a.col(j))),
        Triangle::Upper if n == SIZE => pulp::Arch::new().dispatch(TransposeUpper { a, l: &mut l }),
        Triangle::Upper => (0..n).for_each(|j| (0..=j).for_each(|i| l[i][j] = a[(i, j)])),
    }
    // A smaller block is padded with the identity, so that every loop has a fixed length.
    (n..SIZE).for_each(|j| l[j][j] = T::from_f64(1.0));
    (0..SIZE).for_each(|j| x[j][j] = T::from_f64(1.0));
    let good = pulp::Arch::new().dispatch(Eliminate { l: &mut l, x: &mut x });
    for (j, x) in x.iter().enumerate().take(n) {
        inverse.as_mut().col_mut(j).copy_from_slice(&x[..n]);
    }
    good
}

/// Columns of an upper triangle into rows.
struct TransposeUpper<'a, T: Real, const SIZE: usize> {
    a: MatRef<'a, T>,
    l: &'a mut Square<T, SIZE>,
}

impl<T: Real, const SIZE: usize> WithSimd for TransposeUpper<'_, T, SIZE> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let to = self.l.as_flattened_mut();
        for j in (0..SIZE).step_by(SIDE) {
            let columns: [&[[T; SIDE]]; SIDE] =
                std::array::from_fn(|q| self.a.col(j + q).as_chunks::<SIDE>().0);
            for i in (0..=j).step_by(SIDE) {
                let square = columns.map(|column| &column[i / SIDE]);
                T::transpose(square, &mut to[i * SIZE + j..], SIZE);
            }
        }
    }
}

/// Row operations that turn `[A | I]` into `[Lᵀ | L⁻¹]`: both sides by rows. With explicit vectors: the compiler's took five
/// times as long.
struct Eliminate<'a, T: Real, const SIZE: usize> {
    l: &'a mut Square<T, SIZE>,
    x: &'a mut Square<T, SIZE>,
}

impl<T: Real, const SIZE: usize> WithSimd for Eliminate<'_, T, SIZE> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self { l, x } = self;
        let mut good = true;
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        for k in (0..SIZE).step_by(ROWS) {
            for row in k..k + ROWS {
                good &= finish_row(simd, l, x, row);
                for other in row + 1..k + ROWS {
                    subtract_row(simd, l, x, row, other);
                }
            }
            let ((l_done, l_rest), (x_done, x_rest)) = (l.split_at_mut(k + ROWS), x.split_at_mut(k + ROWS));
            let (l_done, x_done) = (&l_done[k..], &x_done[k..]);
            let pairs = l_rest.as_chunks_mut::<2>().0.iter_mut().zip(x_rest.as_chunks_mut::<2>().0);
            for (i, (l, x)) in pairs.enumerate().map(|(pair, rows)| (k + ROWS + 2 * pair, rows)) {
                let mut factors = [[T::splat(simd, T::default()); ROWS]; 2];
                for (row, factors) in factors.iter_mut().enumerate() {
                    for (factor, done) in factors.iter_mut().zip(l_done) {
                        *factor = T::splat(simd, -done[i + row]);
                    }
                }
                add_rows(simd, l, l_done, &factors, i / lanes..SIZE / lanes);
                add_rows(simd, x, x_done, &factors, 0..(k + ROWS - 1) / lanes + 1);
            }
        }
        good
    }
}

/// Adds multiples of finished rows to two others, in the vectors of the given columns.
#[inline(always)]
fn add_rows<T: Real, S: Simd, const SIZE: usize>(
    simd: S,
    [to_0, to_1]: &mut [[T; SIZE]; 2],
    done: &[[T; SIZE]],
    [by_0, by_1]: &[[T::Vector<S>; ROWS]; 2],
    columns: std::ops::Range<usize>,
) {
    let [to_0, to_1] = [to_0, to_1].map(|row| T::vectors_mut::<S>(row).0);
    let (to_0, to_1) = (&mut to_0[columns.clone()], &mut to_1[columns.clone()]);
    let from = |row: usize| &T::vectors::<S>(&done[row]).0[columns.clone()];
    let from = from(0).iter().zip(from(1)).zip(from(2)).zip(from(3));
    for ((to_0, to_1), (((a, b), c), d)) in to_0.iter_mut().zip(to_1).zip(from) {
        for (to, by) in [(to_0, by_0), (to_1, by_1)] {
            let sum = T::mul_add(simd, by[1], *b, T::mul_add(simd, by[0], *a, *to));
            *to = T::mul_add(simd, by[3], *d, T::mul_add(simd, by[2], *c, sum));
        }
    }
}

/// Divides a row by the root of its pivot; false when that is not positive, or not finite.
#[inline(always)]
fn finish_row<T: Real, S: Simd, const SIZE: usize>(
    simd: S,
    l: &mut Square<T, SIZE>,
    x: &mut Square<T, SIZE>,
    k: usize,
) -> bool {
    let pivot = l[k][k];
    let scale = T::splat(simd, T::from_f64(1.0) / pivot.root());
    for row in [&mut l[k], &mut x[k]] {
        for v in T::vectors_mut::<S>(row).0 {
            *v = T::times(simd, scale, *v);
        }
    }
    pivot > T::default() && pivot < T::from_f64(1e30)
}

/// Takes the part of a finished row out of another.
#[inline(always)]
fn subtract_row<T: Real, S: Simd, const SIZE: usize>(
    simd: S,
    l: &mut Square<T, SIZE>,
    x: &mut Square<T, SIZE>,
    done: usize,
    row: usize,
) {
    let factor = T::splat(simd, -l[done][row]);
    for rows in [l, x] {
        let (above, below) = rows.split_at_mut(row);
        let from = T::vectors::<S>(&above[done]).0;
        for (to, &from) in T::vectors_mut::<S>(&mut below[0]).0.iter_mut().zip(from) {
            *to = T::mul_add(simd, factor, from, *to);
        }
    }
}
