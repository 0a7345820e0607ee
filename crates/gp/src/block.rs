//! One diagonal block of a Cholesky factorisation, with the inverse of its factor.

use crate::Real;
use crate::matrix::{column, column_mut};
use faer::MatMut;
use pulp::{Simd, WithSimd};

/// Size of the blocks.
pub(crate) const BLOCK: usize = 32;

/// Columns of a block; what is above the diagonal has no meaning.
type Square<T> = [[T; BLOCK]; BLOCK];

/// Factors the lower triangle of `a`, and leaves `L⁻ᵀ` in `inverse`, upper triangular with zeros below. False when a
/// pivot is not positive, or not finite.
pub(crate) fn factor_block<T: Real>(mut a: MatMut<'_, T>, mut inverse: MatMut<'_, T>) -> bool {
    let n = a.nrows();
    let (mut l, mut x) = ([[T::default(); BLOCK]; BLOCK], [[T::default(); BLOCK]; BLOCK]);
    for j in 0..BLOCK {
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
struct Eliminate<'a, T: Real> {
    l: &'a mut Square<T>,
    x: &'a mut Square<T>,
}

impl<T: Real> WithSimd for Eliminate<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self { l, x } = self;
        let mut good = true;
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        for k in 0..BLOCK {
            let pivot = l[k][k];
            good &= pivot > T::default() && pivot < T::of(1e30);
            let scale = T::splat(simd, T::of(1.0) / pivot.root());
            for row in [&mut l[k], &mut x[k]] {
                for v in T::vectors_mut::<S>(row).0 {
                    *v = T::times(simd, scale, *v);
                }
            }
            let (l_k, x_k) = (l[k], x[k]);
            let (l_k_vectors, x_k_vectors) =
                (T::vectors::<S>(&l_k).0, &T::vectors::<S>(&x_k).0[..k / lanes + 1]);
            for i in k + 1..BLOCK {
                let factor = T::splat(simd, -l_k[i]);
                let to = T::vectors_mut::<S>(&mut l[i]).0;
                for v in i / lanes..BLOCK / lanes {
                    to[v] = T::mul_add(simd, factor, l_k_vectors[v], to[v]);
                }
                for (to, &from) in T::vectors_mut::<S>(&mut x[i]).0.iter_mut().zip(x_k_vectors) {
                    *to = T::mul_add(simd, factor, from, *to);
                }
            }
        }
        good
    }
}
