//! Loops over short rows in whole vectors: the compiler's own loops pay off only from hundreds of numbers on.
//!
//! A function of `simd` belongs inside of a `WithSimd`, which fixes the vector; a row's rest is a vector with zeros behind.

use pulp::{Arch, Simd, WithSimd};

/// Runs `work` compiled for the best instruction set found at run time (AVX-512, AVX2, …).
///
/// The closure must be `#[inline(always)]`: plain loops over slices, no calls into other crates.
/// ```
/// let x = [1.0, 2.0, 3.0];
/// let sum: f64 = inducing_linalg::simd::vectorised(#[inline(always)] || x.iter().sum());
/// assert_eq!(sum, 6.0);
/// ```
#[inline(always)]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// `Σ xᵢ`, inside of a `WithSimd`.
#[inline(always)]
pub fn sum<S: Simd>(simd: S, x: &[f32]) -> f32 {
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
pub fn dot<S: Simd>(simd: S, x: &[f32], y: &[f32]) -> f32 {
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

/// `exp x` for `x ≤ 0`, or e⁻⁴¹ where x is below −41; relative error 3e-7. The method of [`Real::exp_of_negative`](crate::Real::exp_of_negative),
/// in whole vectors.
#[inline(always)]
pub fn exp_of_negative<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
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

/// Terms of `sin 2πv`, from v¹³ down to v¹: (2π)ᵏ/k!.
const SINE: [f32; 7] =
    [3.819_952_6, -15.094_643, 42.058_693, -76.705_86, 81.605_25, -41.341_7, std::f32::consts::TAU];

/// `sin 2πt` and `cos 2πt`, to 3e-7 for |t| ≤ 2²²: counted in turns, an angle is reduced without an error. Beyond, where
/// a float has no fraction left, some numbers within ±1.
#[inline(always)]
pub fn turn<S: Simd>(simd: S, t: S::f32s) -> [S::f32s; 2] {
    let of = |x: f32| simd.splat_f32s(x);
    let round = of(12_582_912.0); // 1.5 · 2²³
    let r = simd.sub_f32s(t, simd.sub_f32s(simd.add_f32s(t, round), round)); // −½ … ½
    let r = simd.max_f32s(simd.min_f32s(r, of(0.5)), of(-0.5));
    let below = simd.min_f32s(r, simd.sub_f32s(of(0.5), r));
    let sine = simd.max_f32s(below, simd.sub_f32s(of(-0.5), r));
    let cosine = simd.sub_f32s(of(0.25), simd.abs_f32s(r)); // a quarter further on
    [sine_of_quarter(simd, sine), sine_of_quarter(simd, cosine)]
}

/// `sin 2πv` for |v| ≤ ¼.
#[inline(always)]
fn sine_of_quarter<S: Simd>(simd: S, v: S::f32s) -> S::f32s {
    let square = simd.mul_f32s(v, v);
    let mut sum = simd.splat_f32s(SINE[0]);
    for term in &SINE[1..] {
        sum = simd.mul_add_e_f32s(sum, square, simd.splat_f32s(*term));
    }
    simd.mul_f32s(sum, v)
}

/// `out ← f(out, inputs)`, vector by vector.
#[inline(always)]
pub fn map<S: Simd, const N: usize>(
    simd: S,
    out: &mut [f32],
    inputs: [&[f32]; N],
    f: impl Fn(S::f32s, [S::f32s; N]) -> S::f32s,
) {
    // Loops in place of `array::map`, whose closures stay calls, and then each operation on vectors is one too.
    let (out, out_rest) = S::as_mut_simd_f32s(out);
    let (mut whole, mut rests): ([&[S::f32s]; N], [&[f32]; N]) = ([&[]; N], [&[]; N]);
    for n in 0..N {
        let (vectors, rest) = S::as_simd_f32s(inputs[n]);
        (whole[n], rests[n]) = (&vectors[..out.len()], rest);
    }
    let mut values = [simd.splat_f32s(0.0); N];
    for (i, out) in out.iter_mut().enumerate() {
        for n in 0..N {
            values[n] = whole[n][i];
        }
        *out = f(*out, values);
    }
    if !out_rest.is_empty() {
        for n in 0..N {
            values[n] = simd.partial_load_f32s(rests[n]);
        }
        let old = simd.partial_load_f32s(out_rest);
        simd.partial_store_f32s(out_rest, f(old, values));
    }
}

/// Calls `work` for each item, compiled for the best instruction set found at run time: plain loops over slices.
///
/// `work` must be `#[inline(always)]`. Not one closure around the loop: pulp calls that by `FnOnce`, through a shim that
/// the compiler need not inline, and then a fused multiplication is a call.
#[inline(always)]
pub fn each<I: Iterator>(items: I, work: impl FnMut(I::Item)) {
    Arch::new().dispatch(Each(items, work));
}

struct Each<I, W>(I, W);

impl<I: Iterator, W: FnMut(I::Item)> WithSimd for Each<I, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(items, mut work) = self;
        for item in items {
            work(item);
        }
    }
}

/// Adds rows, `stride` apart and as long as `sums`, to `sums`.
pub fn add_rows(rows: &[f32], stride: usize, sums: &mut [f32]) {
    Arch::new().dispatch(AddRows { rows, stride, sums });
}

struct AddRows<'a> {
    rows: &'a [f32],
    stride: usize,
    sums: &'a mut [f32],
}

impl WithSimd for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in self.rows.chunks(self.stride) {
            let row = &row[..self.sums.len()];
            map(
                simd,
                self.sums,
                [row],
                #[inline(always)]
                |sum, [x]| simd.add_f32s(sum, x),
            );
        }
    }
}

/// Numbers that an elementwise loop takes at once.
pub const PIECE: usize = 1024;

/// `relu` in place; what is not a number stays so.
pub fn relu(x: &mut [f32]) {
    each(
        x.chunks_mut(PIECE),
        #[inline(always)]
        |x| x.iter_mut().for_each(|x| *x = if *x < 0.0 { 0.0 } else { *x }),
    );
}

/// Zeroes `d` where the ReLU did.
pub fn relu_pull_back(x: &[f32], d: &mut [f32]) {
    each(
        x.chunks(PIECE).zip(d.chunks_mut(PIECE)),
        #[inline(always)]
        |(x, d)| d.iter_mut().zip(x).for_each(|(d, &x)| *d *= f32::from(u8::from(x > 0.0))),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Turns(Vec<f32>, Vec<[f32; 2]>);

    impl WithSimd for &mut Turns {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for t in &self.0 {
                self.1.push(turn(simd, simd.splat_f32s(*t)).map(|x| simd.reduce_max_f32s(x)));
            }
        }
    }

    #[test]
    fn a_turn_has_the_sine_and_the_cosine_of_its_angle() {
        let t = (-40_000..40_000).map(|i| i as f32 * 1e-3 + 1e-5).chain([0.25, 0.5, -0.75, 1e4 + 0.125, 4e6]);
        let mut turns = Turns(t.collect(), Vec::new());
        Arch::new().dispatch(&mut turns);
        for (t, [sine, cosine]) in turns.0.iter().zip(&turns.1) {
            let (s, c) = (f64::from(*t) * std::f64::consts::TAU).sin_cos();
            assert!((f64::from(*sine) - s).abs() < 3e-7, "sin of {t} turns: {sine} {s}");
            assert!((f64::from(*cosine) - c).abs() < 3e-7, "cos of {t} turns: {cosine} {c}");
        }
        let far =
            [33_554_430.0, -4_194_304.5, 2.0_f32.powi(30) - 64.0, 2.0_f32.powi(48), 1e9, -3e20, f32::MAX];
        let mut far = Turns(far.to_vec(), Vec::new());
        Arch::new().dispatch(&mut far);
        assert!(far.1.iter().flatten().all(|x| x.abs() < 1.001), "{:?}", far.1);
    }
}
