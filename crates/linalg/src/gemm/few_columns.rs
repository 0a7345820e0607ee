//! Products with few columns, of a left side whose columns are contiguous: it is read where it is, since packing it would
//! take longer than the product.
//!
//! The order of summation and the fused operations are those of `kernel`: no entry may depend on the shape.

use super::kernel::{DEPTH, Plus};
use crate::{MatMut, MatRef, Real};
use pulp::{Simd, WithSimd};

/// Vectors of rows at a time: so many sums hide how long each addition takes.
const VECTORS: usize = 8;

/// `out = plus + alpha · a b`; `out` and `a` have contiguous columns.
pub(super) struct FewColumns<'a, T: Real> {
    pub(super) out: MatMut<'a, T>,
    pub(super) plus: Plus<'a, T>,
    pub(super) a: MatRef<'a, T>,
    pub(super) b: MatRef<'a, T>,
    pub(super) alpha: T,
}

impl<T: Real> WithSimd for FewColumns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { mut out, plus, a, b, alpha } = self;
        let (m, k, lanes) = (out.nrows(), a.ncols(), size_of::<T::Vector<S>>() / size_of::<T>());
        let mut factors = [T::default(); DEPTH];
        for j in 0..out.ncols() {
            let to = out.as_mut().col_mut(j);
            let mut add = match plus {
                Plus::Nothing => false,
                Plus::Out => true,
                Plus::Matrix(plus) => {
                    to.iter_mut().enumerate().for_each(|(i, to)| *to = plus[(i, j)]);
                    true
                }
            };
            for start in (0..k).step_by(DEPTH) {
                let count = DEPTH.min(k - start);
                let (a, factors) = (a.subcols(start, count), &mut factors[..count]);
                factors.iter_mut().enumerate().for_each(|(p, factor)| *factor = b[(start + p, j)]);
                let whole = m / (VECTORS * lanes) * (VECTORS * lanes);
                for i in (0..whole).step_by(VECTORS * lanes) {
                    let sums = sum::<T, S, VECTORS>(simd, a, factors, i);
                    store(simd, sums, &mut to[i..i + VECTORS * lanes], add, alpha);
                }
                let vectors = m / lanes * lanes;
                for i in (whole..vectors).step_by(lanes) {
                    let sums = sum::<T, S, 1>(simd, a, factors, i);
                    store(simd, sums, &mut to[i..i + lanes], add, alpha);
                }
                if vectors < m {
                    let mut sum = T::splat(simd, T::default());
                    for (p, &factor) in factors.iter().enumerate() {
                        let column = T::load_part(simd, &a.col(p)[vectors..]);
                        sum = T::mul_add(simd, column, T::splat(simd, factor), sum);
                    }
                    let (to, alpha) = (&mut to[vectors..], T::splat(simd, alpha));
                    let value = match add {
                        true => T::mul_add(simd, sum, alpha, T::load_part(simd, to)),
                        false => T::times(simd, sum, alpha),
                    };
                    T::store_part(simd, to, value);
                }
                add = true;
            }
            if k == 0 && !add {
                to.fill(T::default());
            }
        }
    }
}

/// `Σ_p a_p · factor_p` for `V` vectors of rows from `i` on.
#[inline(always)]
fn sum<T: Real, S: Simd, const V: usize>(
    simd: S,
    a: MatRef<'_, T>,
    factors: &[T],
    i: usize,
) -> [T::Vector<S>; V] {
    let rows = V * size_of::<T::Vector<S>>() / size_of::<T>();
    let mut sums = [T::splat(simd, T::default()); V];
    for (p, &factor) in factors.iter().enumerate() {
        let column = T::vectors::<S>(&a.col(p)[i..i + rows]).0;
        let factor = T::splat(simd, factor);
        for v in 0..V {
            sums[v] = T::mul_add(simd, column[v], factor, sums[v]);
        }
    }
    sums
}

#[inline(always)]
fn store<T: Real, S: Simd, const V: usize>(
    simd: S,
    sums: [T::Vector<S>; V],
    to: &mut [T],
    add: bool,
    alpha: T,
) {
    let (to, alpha) = (T::vectors_mut::<S>(to).0, T::splat(simd, alpha));
    for v in 0..V {
        to[v] = match add {
            true => T::mul_add(simd, sums[v], alpha, to[v]),
            false => T::times(simd, sums[v], alpha),
        };
    }
}
