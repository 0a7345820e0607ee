//! One diagonal block of a Cholesky factorisation, with the inverse of its factor.

use crate::Real;
use crate::matrix::{column, column_mut};
use faer::MatMut;
use pulp::{Simd, WithSimd};

/// Size of small blocks.
pub(crate) const BLOCK: usize = 32;
/// Size of the largest.
pub(crate) const LARGEST: usize = 64;

/// Columns of a block; what is above the diagonal has no meaning.
type Square<T, const SIZE: usize> = [[T; SIZE]; SIZE];

/// Factors the lower triangle of `a`, and leaves `L⁻ᵀ` in `inverse`, upper triangular with zeros below. False when a
/// pivot is not positive, or not finite.
pub(crate) fn factor_block<T: Real>(a: MatMut<'_, T>, inverse: MatMut<'_, T>) -> bool {
    if a.nrows() <= BLOCK { padded::<T, BLOCK>(a, inverse) } else { padded::<T, LARGEST>(a, inverse) }
}

fn padded<T: Real, const SIZE: usize>(mut a: MatMut<'_, T>, mut inverse: MatMut<'_, T>) -> bool {
    let n = a.nrows();
    let (mut l, mut x) = ([[T::default(); SIZE]; SIZE], [[T::default(); SIZE]; SIZE]);
    for j in 0..SIZE {
        // A smaller block is padded with the identity, so that every loop has a fixed length.
        if j < n {
            l[j][..n].copy_from_slice(column(a.as_ref(), j));
        } else {
            l[j][j] = T::of(1.0);
        }
        x[j][j] = T::of(1.0);
    }
    let good = pulp::Arch::new().dispatch(Eliminate { l: &mut l, x: &mut x });
    for j in 0..n {
        column_mut(a.as_mut(), j)[j..].copy_from_slice(&l[j][j..n]);
        column_mut(inverse.as_mut(), j).copy_from_slice(&x[j][..n]);
    }
    good
}

/// Row operations that turn `[A | I]` into `[Lᵀ | L⁻¹]`: both sides by rows, of which those of Lᵀ are columns of L. By vectors
/// of its own: the compiler's took five times as long (2 against 11 µs).
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
        for k in (0..SIZE).step_by(2) {
            // Two rows at a time, so that the others are read and written half as often.
            good &= finish_row(simd, l, x, k);
            subtract_row(simd, l, x, k, k + 1);
            good &= finish_row(simd, l, x, k + 1);
            let ((l_done, l_rest), (x_done, x_rest)) = (l.split_at_mut(k + 2), x.split_at_mut(k + 2));
            let [l_0, l_1] = [k, k + 1].map(|row| T::vectors::<S>(&l_done[row]).0);
            let [x_0, x_1] = [k, k + 1].map(|row| &T::vectors::<S>(&x_done[row]).0[..(k + 1) / lanes + 1]);
            for (i, (l, x)) in l_rest.iter_mut().zip(x_rest).enumerate().map(|(i, rows)| (k + 2 + i, rows)) {
                let factors = [k, k + 1].map(|row| T::splat(simd, -l_done[row][i]));
                let to = &mut T::vectors_mut::<S>(l).0[i / lanes..];
                for ((to, &l_0), &l_1) in to.iter_mut().zip(&l_0[i / lanes..]).zip(&l_1[i / lanes..]) {
                    *to = T::mul_add(simd, factors[1], l_1, T::mul_add(simd, factors[0], l_0, *to));
                }
                for ((to, &x_0), &x_1) in T::vectors_mut::<S>(x).0.iter_mut().zip(x_0).zip(x_1) {
                    *to = T::mul_add(simd, factors[1], x_1, T::mul_add(simd, factors[0], x_0, *to));
                }
            }
        }
        good
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
    let scale = T::splat(simd, T::of(1.0) / pivot.root());
    for row in [&mut l[k], &mut x[k]] {
        for v in T::vectors_mut::<S>(row).0 {
            *v = T::times(simd, scale, *v);
        }
    }
    pivot > T::default() && pivot < T::of(1e30)
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
        let from = rows[done];
        for (to, &from) in T::vectors_mut::<S>(&mut rows[row]).0.iter_mut().zip(T::vectors::<S>(&from).0) {
            *to = T::mul_add(simd, factor, from, *to);
        }
    }
}
