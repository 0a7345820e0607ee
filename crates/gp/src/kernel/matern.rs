//! The Matérn kernels with their slopes `h = ∂k/∂‖a−b‖²`, which cannot be derived from k.
//!
//! ```text
//! matern32  s·(1+u)·exp(−u)          u = √3·√(2γ)·‖a−b‖
//! matern52  s·(1+u+u²/3)·exp(−u)     u = √5·√(2γ)·‖a−b‖
//! ```

use linalg::Real;

/// `‖a−b‖²` from norms and inner product; rounding does not take it below zero. NaN stays NaN.
#[inline(always)]
fn squared_distance<T: Real>(a_norm: T, b_norm: T, inner: T) -> T {
    let d = a_norm + b_norm - T::from_f64(2.0) * inner;
    if d < T::default() { T::default() } else { d }
}

/// Turns a column of inner products into kernel values, ν = 3/2, and slopes `h = −3γ·s·exp(−u)`.
#[inline(always)]
pub(super) fn column_32<T: Real>(k: &mut [T], h: &mut [T], a_norms: &[T], b_norm: T, scale: T, gamma: T) {
    for ((k, h), &a_norm) in k.iter_mut().zip(h).zip(a_norms) {
        let u = (T::from_f64(6.0) * gamma * squared_distance(a_norm, b_norm, *k)).root();
        let e = scale * T::exp_of_negative(-u);
        *k = (T::from_f64(1.0) + u) * e;
        *h = T::from_f64(-3.0) * gamma * e;
    }
}

/// The same for ν = 5/2; `h = −(5/3)γ(1+u)·s·exp(−u)`.
#[inline(always)]
pub(super) fn column_52<T: Real>(k: &mut [T], h: &mut [T], a_norms: &[T], b_norm: T, scale: T, gamma: T) {
    for ((k, h), &a_norm) in k.iter_mut().zip(h).zip(a_norms) {
        let u = (T::from_f64(10.0) * gamma * squared_distance(a_norm, b_norm, *k)).root();
        let e = scale * T::exp_of_negative(-u);
        *k = (T::from_f64(1.0) + u + u * u * T::from_f64(1.0 / 3.0)) * e;
        *h = T::from_f64(-5.0 / 3.0) * gamma * (T::from_f64(1.0) + u) * e;
    }
}
