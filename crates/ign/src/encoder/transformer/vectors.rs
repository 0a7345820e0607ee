//! Loops over short rows in whole vectors: the compiler's own loops pay off only from hundreds of numbers on.
//!
//! Each function belongs inside of a `WithSimd`, which fixes the vector; a row's rest is a vector with zeros behind.

use pulp::Simd;

/// `Σ xᵢ`
#[inline(always)]
pub(super) fn sum<S: Simd>(simd: S, x: &[f32]) -> f32 {
    let (vectors, rest) = S::as_simd_f32s(x);
    let mut total = simd.splat_f32s(0.0);
    for &x in vectors {
        total = simd.add_f32s(total, x);
    }
    if !rest.is_empty() {
        total = simd.add_f32s(total, simd.partial_load_f32s(rest));
    }
    simd.reduce_sum_f32s(total)
}

/// `Σ xᵢ yᵢ`
#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, x: &[f32], y: &[f32]) -> f32 {
    let ((x, x_rest), (y, y_rest)) = (S::as_simd_f32s(x), S::as_simd_f32s(y));
    let mut total = simd.splat_f32s(0.0);
    if !x_rest.is_empty() {
        total = simd.mul_f32s(simd.partial_load_f32s(x_rest), simd.partial_load_f32s(y_rest));
    }
    for (&x, &y) in x.iter().zip(y) {
        total = simd.mul_add_e_f32s(x, y, total);
    }
    simd.reduce_sum_f32s(total)
}

/// `exp x` for `x ≤ 0`, or e⁻⁴¹ where x is below −41; relative error 3e-7. The method of `gp::Real::exp_of_negative`,
/// in whole vectors.
#[inline(always)]
pub(super) fn exp_of_negative<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let of = |x: f32| simd.splat_f32s(x);
    let round = of(12_582_912.0); // 1.5 · 2²³
    let x = simd.max_f32s(x, of(-41.0));
    let shifted = simd.mul_add_e_f32s(x, of(std::f32::consts::LOG2_E), round);
    let n = simd.sub_f32s(shifted, round);
    let r = simd.mul_add_e_f32s(n, of(-0.693_359_4), x);
    let r = simd.mul_add_e_f32s(n, of(2.121_944_4e-4), r);
    let mut power = of(1.0 / 720.0);
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        power = simd.mul_add_e_f32s(power, r, of(factor));
    }
    let exponent = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(23));
    simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(power), exponent))
}

/// `out ← f(out, a, b, c)`, vector by vector.
#[inline(always)]
pub(super) fn map<S: Simd>(
    simd: S,
    out: &mut [f32],
    [a, b, c]: [&[f32]; 3],
    f: impl Fn(S::f32s, S::f32s, S::f32s, S::f32s) -> S::f32s,
) {
    let (out, out_rest) = S::as_mut_simd_f32s(out);
    let ((a, a_rest), (b, b_rest), (c, c_rest)) =
        (S::as_simd_f32s(a), S::as_simd_f32s(b), S::as_simd_f32s(c));
    for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = f(*out, a, b, c);
    }
    if !out_rest.is_empty() {
        let [old, a, b, c] = [&*out_rest, a_rest, b_rest, c_rest].map(|rest| simd.partial_load_f32s(rest));
        simd.partial_store_f32s(out_rest, f(old, a, b, c));
    }
}
