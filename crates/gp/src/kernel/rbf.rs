//! `s·exp(−γ‖a−b‖²)`, whose slope by `‖a−b‖²` is `−γk`.

use linalg::Real;
use pulp::{Simd, WithSimd};

/// Turns a column of inner products into kernel values.
pub(super) struct Column<'a, T: Real> {
    pub(super) k: &'a mut [T],
    pub(super) a_norms: &'a [T],
    pub(super) b_norm: T,
    pub(super) scale: T,
    pub(super) minus_gamma: T,
}

impl<T: Real> WithSimd for Column<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const TOGETHER: usize = 4;
        let of = |x: T| T::splat(simd, x);
        let (zero, minus_two, b_norm) = (of(T::default()), of(T::from_f64(-2.0)), of(self.b_norm));
        let (scale, minus_gamma) = (of(self.scale), of(self.minus_gamma));
        let exponent = |k, a_norm| {
            let distance = T::mul_add(simd, minus_two, k, T::plus(simd, a_norm, b_norm));
            // Not the larger of both: that is 0 where the distance is NaN, and a broken point would be a near one.
            T::times(simd, minus_gamma, T::unless_below(simd, distance, distance, zero))
        };
        let (k, k_rest) = T::vectors_mut::<S>(self.k);
        let (a, a_rest) = T::vectors::<S>(self.a_norms);
        let (k_fours, k_ones) = k.as_chunks_mut::<TOGETHER>();
        let (a_fours, a_ones) = a.as_chunks::<TOGETHER>();
        for (k, a) in k_fours.iter_mut().zip(a_fours) {
            let mut x = *k;
            for i in 0..TOGETHER {
                x[i] = exponent(k[i], a[i]);
            }
            let value = T::exp_of_negatives(simd, x);
            for i in 0..TOGETHER {
                k[i] = T::times(simd, scale, value[i]);
            }
        }
        for (k, &a) in k_ones.iter_mut().zip(a_ones) {
            let [value] = T::exp_of_negatives(simd, [exponent(*k, a)]);
            *k = T::times(simd, scale, value);
        }
        if !k_rest.is_empty() {
            let x = exponent(T::load_part(simd, k_rest), T::load_part(simd, &a_rest[..k_rest.len()]));
            let [value] = T::exp_of_negatives(simd, [x]);
            T::store_part(simd, k_rest, T::times(simd, scale, value));
        }
    }
}
