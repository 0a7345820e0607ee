//! The one scalar trait of the workspace: `f64` (default) and `f32` (by choice, with jitter ≥ 1e-3).
//!
//! ```
//! use inducing_linalg::Real;
//! fn half<T: Real>(x: T) -> T {
//!     T::from_f64(0.5) * x
//! }
//! assert_eq!((half(3.0_f32), half(3.0_f64)), (1.5, 1.5));
//! ```

use crate::buffer::Buffer;
use crate::gemm::transpose::{SIDE, transpose_f32, transpose_f64};
use pulp::Simd;
use pulp::bytemuck::cast;
use std::cell::RefCell;
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};
use std::thread::LocalKey;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`; sealed.
pub trait Real:
    sealed::Sealed
    + Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
    + 'static
{
    /// Nearest value of this type.
    fn from_f64(x: f64) -> Self;
    /// Exact value in double precision.
    fn to_f64(self) -> f64;
    /// Exact value of a single-precision number.
    fn from_f32(x: f32) -> Self;
    /// Nearest value in single precision.
    fn to_f32(self) -> f32;
    /// Square root.
    fn root(self) -> Self;
    /// Neither NaN nor an infinity.
    fn is_finite(self) -> bool;
    /// Not a number.
    fn is_nan(self) -> bool;
    /// `exp x` below this argument counts as zero.
    const EXP_CUTOFF: f64;
    /// Polynomial of exp on |r| ≤ ½ ln 2, from the constant term: `1 + r + r²q(r)` with q interpolated at Chebyshev nodes.
    const EXP: &[f64];
    /// Bits of the mantissa.
    const MANTISSA: u32;
    /// Leading bits of ln 2, so few that `n · LN2_HIGH` is exact for every exponent n.
    const LN2_HIGH: f64;
    /// `ln 2 − LN2_HIGH`, to its own full precision.
    const LN2_LOW: f64;
    /// `self·by + plus`, fused. Only for loops inside [`vectorised`](crate::simd::vectorised): there it is one
    /// instruction on every x86 since 2013, elsewhere it may be a call.
    fn times_plus(self, by: Self, plus: Self) -> Self;
    /// `self · 2ⁿ` where n stands in the low bits of `shifted = n + 1.5·2^MANTISSA`.
    fn times_power_of_two(self, shifted: Self) -> Self;

    /// Calls `work` with scratch that this thread keeps, holding anything; a call inside of it gets other scratch.
    fn with_scratch<R>(work: impl FnOnce(&mut Buffer<Self>) -> R) -> R;

    /// `to[q·step + i] = from[i][q]`: a square whose rows become columns.
    fn transpose(from: [&[Self; SIDE]; SIDE], to: &mut [Self], step: usize);

    /// As many numbers as a vector register of `S` holds.
    type Vector<S: Simd>: Copy;
    /// Whole vectors, and what is left.
    fn vectors<S: Simd>(x: &[Self]) -> (&[Self::Vector<S>], &[Self]);
    /// The same, to be written.
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> (&mut [Self::Vector<S>], &mut [Self]);
    /// One number in all lanes.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// Less than a vector, with zeros behind.
    fn load_part<S: Simd>(simd: S, x: &[Self]) -> Self::Vector<S>;
    /// Writes as much as there is room for.
    fn store_part<S: Simd>(simd: S, to: &mut [Self], x: Self::Vector<S>);
    /// `a·b`
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a + b`
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// The larger one, lane by lane.
    fn larger<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a·b + c`
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// `x · 2ⁿ` for whole numbers `n`.
    fn scale_by_power<S: Simd>(simd: S, x: Self::Vector<S>, n: Self::Vector<S>) -> Self::Vector<S>;
    /// `x` where `by` is a number, else `by`, which is NaN.
    fn unless_nan<S: Simd>(simd: S, x: Self::Vector<S>, by: Self::Vector<S>) -> Self::Vector<S>;
    /// `x` where `by` is not below `limit`, else zero. A NaN is not below anything.
    fn unless_below<S: Simd>(
        simd: S,
        x: Self::Vector<S>,
        by: Self::Vector<S>,
        limit: Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// [`exp_of_negative`](Self::exp_of_negative) of several vectors side by side: one alone would wait for each of its
    /// own steps, which took twice as long.
    #[inline(always)]
    fn exp_of_negatives<S: Simd, const N: usize>(simd: S, x: [Self::Vector<S>; N]) -> [Self::Vector<S>; N] {
        let of = |x: f64| Self::splat(simd, Self::from_f64(x));
        let (cutoff, round) = (of(Self::EXP_CUTOFF), 1.5 * (1u64 << Self::MANTISSA) as f64);
        let degree = Self::EXP.len() - 1;
        let (mut n, mut r, mut square) = (x, x, x);
        // Even and odd powers apart, as in `polynomial`.
        let mut sums = [[of(Self::EXP[degree]); N], [of(Self::EXP[degree - 1]); N]];
        for i in 0..N {
            let clamped = Self::larger(simd, x[i], cutoff);
            n[i] = Self::mul_add(simd, clamped, of(std::f64::consts::LOG2_E), of(round));
            n[i] = Self::plus(simd, n[i], of(-round));
            r[i] = Self::mul_add(simd, n[i], of(-Self::LN2_HIGH), clamped);
            r[i] = Self::mul_add(simd, n[i], of(-Self::LN2_LOW), r[i]);
            square[i] = Self::times(simd, r[i], r[i]);
        }
        for k in (0..degree - 1).rev() {
            let (sum, term) = (&mut sums[(degree - k) % 2], of(Self::EXP[k]));
            for i in 0..N {
                sum[i] = Self::mul_add(simd, sum[i], square[i], term);
            }
        }
        let (even, odd) = (sums[degree % 2], sums[1 - degree % 2]);
        let mut power = even;
        for i in 0..N {
            power[i] = Self::mul_add(simd, odd[i], r[i], even[i]);
            power[i] = Self::unless_below(simd, Self::scale_by_power(simd, power[i], n[i]), x[i], cutoff);
            // The bits of a NaN would not survive the arithmetic on the exponent's.
            power[i] = Self::unless_nan(simd, power[i], x[i]);
        }
        power
    }

    /// `exp(x)` for `x ≤ 0`, without branches so that loops over it vectorise; relative error of a few ulp. NaN stays NaN.
    ///
    /// Values too small to matter are exact zeros: a denormal entry makes a matrix product 200 times slower.
    #[inline(always)]
    fn exp_of_negative(x: Self) -> Self {
        // Cody & Waite: x = n ln 2 + r, exp x = 2ⁿ exp r.
        let cutoff = Self::from_f64(Self::EXP_CUTOFF);
        let clamped = if x < cutoff { cutoff } else { x };
        let round = Self::from_f64(1.5 * (1u64 << Self::MANTISSA) as f64);
        let shifted = clamped * Self::from_f64(std::f64::consts::LOG2_E) + round;
        let n = shifted - round;
        let r = (clamped - n * Self::from_f64(Self::LN2_HIGH)) - n * Self::from_f64(Self::LN2_LOW);
        let value = polynomial(Self::EXP, r).times_power_of_two(shifted);
        let value = if x < cutoff { Self::default() } else { value };
        // The bits of a NaN would not survive the arithmetic on the exponent's.
        if x.is_nan() { x } else { value }
    }
}

fn lend_scratch<T: Real, R>(
    kept: &'static LocalKey<RefCell<Vec<Buffer<T>>>>,
    work: impl FnOnce(&mut Buffer<T>) -> R,
) -> R {
    let mut scratch = kept.with_borrow_mut(Vec::pop).unwrap_or_default();
    let result = work(&mut scratch);
    kept.with_borrow_mut(|kept| kept.push(scratch));
    result
}

/// `Σ coefficientsₖ xᵏ`, at least two of them: even and odd powers apart, for half as long a chain of dependent operations.
#[inline(always)]
pub fn polynomial<T: Real>(coefficients: &[f64], x: T) -> T {
    let (square, degree) = (x * x, coefficients.len() - 1);
    let mut sums = [T::from_f64(coefficients[degree]), T::from_f64(coefficients[degree - 1])];
    for k in (0..degree - 1).rev() {
        let sum = &mut sums[(degree - k) % 2];
        *sum = sum.times_plus(square, T::from_f64(coefficients[k]));
    }
    sums[1 - degree % 2].times_plus(x, sums[degree % 2])
}

impl Real for f32 {
    const EXP_CUTOFF: f64 = -41.0;
    const EXP: &[f64] = &[
        1.0,
        1.0,
        0.5,
        0.166_665_769_896_987_76,
        0.041_666_554_617_204_574,
        0.008_363_179_052_722_577,
        0.001_392_618_358_771_349_5,
    ];
    const MANTISSA: u32 = 23;
    const LN2_HIGH: f64 = 0.693_359_375;
    const LN2_LOW: f64 = -2.121_944_400_546_905_8e-4;

    fn with_scratch<R>(work: impl FnOnce(&mut Buffer<Self>) -> R) -> R {
        thread_local! {
            static SCRATCH: RefCell<Vec<Buffer<f32>>> = const { RefCell::new(Vec::new()) };
        }
        lend_scratch(&SCRATCH, work)
    }

    #[inline(always)]
    fn transpose(from: [&[Self; SIDE]; SIDE], to: &mut [Self], step: usize) {
        transpose_f32(from, to, step);
    }

    type Vector<S: Simd> = S::f32s;

    #[inline(always)]
    fn vectors<S: Simd>(x: &[Self]) -> (&[S::f32s], &[Self]) {
        S::as_simd_f32s(x)
    }
    #[inline(always)]
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> (&mut [S::f32s], &mut [Self]) {
        S::as_mut_simd_f32s(x)
    }
    #[inline(always)]
    fn splat<S: Simd>(simd: S, x: Self) -> S::f32s {
        simd.splat_f32s(x)
    }
    #[inline(always)]
    fn times<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.mul_f32s(a, b)
    }
    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        simd.mul_add_f32s(a, b, c)
    }
    #[inline(always)]
    fn load_part<S: Simd>(simd: S, x: &[Self]) -> S::f32s {
        simd.partial_load_f32s(x)
    }
    #[inline(always)]
    fn store_part<S: Simd>(simd: S, to: &mut [Self], x: S::f32s) {
        simd.partial_store_f32s(to, x);
    }
    #[inline(always)]
    fn plus<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.add_f32s(a, b)
    }
    #[inline(always)]
    fn larger<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.max_f32s(a, b)
    }
    #[inline(always)]
    fn scale_by_power<S: Simd>(simd: S, x: S::f32s, n: S::f32s) -> S::f32s {
        let shifted = simd.add_f32s(n, simd.splat_f32s(12_582_912.0)); // 1.5 · 2²³
        let exponent = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(23));
        simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(x), exponent))
    }
    #[inline(always)]
    fn unless_nan<S: Simd>(simd: S, x: S::f32s, by: S::f32s) -> S::f32s {
        simd.select_f32s(simd.equal_f32s(by, by), x, by)
    }
    #[inline(always)]
    fn unless_below<S: Simd>(simd: S, x: S::f32s, by: S::f32s, limit: S::f32s) -> S::f32s {
        simd.select_f32s(simd.less_than_f32s(by, limit), simd.splat_f32s(0.0), x)
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn from_f32(x: f32) -> Self {
        x
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        // Of f32 and f64 themselves: an inherent method comes first.
        self.is_finite()
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
    #[inline(always)]
    fn times_plus(self, by: Self, plus: Self) -> Self {
        self.mul_add(by, plus)
    }
    #[inline(always)]
    fn times_power_of_two(self, shifted: Self) -> Self {
        Self::from_bits(self.to_bits().wrapping_add(shifted.to_bits() << Self::MANTISSA))
    }
}

impl Real for f64 {
    const EXP_CUTOFF: f64 = -230.0;
    const EXP: &[f64] = &[
        1.0,
        1.0,
        0.500_000_000_000_000_1,
        0.166_666_666_666_666_67,
        0.041_666_666_666_624_13,
        0.008_333_333_333_330_062,
        0.001_388_888_891_721_371_7,
        0.000_198_412_698_630_536_17,
        2.480_152_129_595_437_5e-5,
        2.755_726_845_999_706_5e-6,
        2.762_008_844_540_974_8e-7,
        2.510_038_549_551_032e-8,
    ];
    const MANTISSA: u32 = 52;
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

    fn with_scratch<R>(work: impl FnOnce(&mut Buffer<Self>) -> R) -> R {
        thread_local! {
            static SCRATCH: RefCell<Vec<Buffer<f64>>> = const { RefCell::new(Vec::new()) };
        }
        lend_scratch(&SCRATCH, work)
    }

    #[inline(always)]
    fn transpose(from: [&[Self; SIDE]; SIDE], to: &mut [Self], step: usize) {
        transpose_f64(from, to, step);
    }

    type Vector<S: Simd> = S::f64s;

    #[inline(always)]
    fn vectors<S: Simd>(x: &[Self]) -> (&[S::f64s], &[Self]) {
        S::as_simd_f64s(x)
    }
    #[inline(always)]
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> (&mut [S::f64s], &mut [Self]) {
        S::as_mut_simd_f64s(x)
    }
    #[inline(always)]
    fn splat<S: Simd>(simd: S, x: Self) -> S::f64s {
        simd.splat_f64s(x)
    }
    #[inline(always)]
    fn times<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.mul_f64s(a, b)
    }
    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f64s, b: S::f64s, c: S::f64s) -> S::f64s {
        simd.mul_add_f64s(a, b, c)
    }
    #[inline(always)]
    fn load_part<S: Simd>(simd: S, x: &[Self]) -> S::f64s {
        simd.partial_load_f64s(x)
    }
    #[inline(always)]
    fn store_part<S: Simd>(simd: S, to: &mut [Self], x: S::f64s) {
        simd.partial_store_f64s(to, x);
    }
    #[inline(always)]
    fn plus<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.add_f64s(a, b)
    }
    #[inline(always)]
    fn larger<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.max_f64s(a, b)
    }
    #[inline(always)]
    fn scale_by_power<S: Simd>(simd: S, x: S::f64s, n: S::f64s) -> S::f64s {
        // Beside 1.5 · 2²⁰ a whole number stands in the upper half of the bits; below it there is nothing to carry.
        let shifted = simd.add_f64s(n, simd.splat_f64s(1_572_864.0));
        if size_of::<S::f64s>() == size_of::<f64>() {
            let [x, shifted]: [u64; 2] = [cast(x), cast(shifted)];
            return cast(x.wrapping_add(shifted >> 32 << 52));
        }
        let exponent = simd.wrapping_dyn_shl_u32s(cast(shifted), simd.splat_u32s(20));
        cast(simd.add_u32s(cast(x), exponent))
    }
    #[inline(always)]
    fn unless_nan<S: Simd>(simd: S, x: S::f64s, by: S::f64s) -> S::f64s {
        simd.select_f64s(simd.equal_f64s(by, by), x, by)
    }
    #[inline(always)]
    fn unless_below<S: Simd>(simd: S, x: S::f64s, by: S::f64s, limit: S::f64s) -> S::f64s {
        simd.select_f64s(simd.less_than_f64s(by, limit), simd.splat_f64s(0.0), x)
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn from_f32(x: f32) -> Self {
        x.into()
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        // Of f32 and f64 themselves: an inherent method comes first.
        self.is_finite()
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
    #[inline(always)]
    fn times_plus(self, by: Self, plus: Self) -> Self {
        self.mul_add(by, plus)
    }
    #[inline(always)]
    fn times_power_of_two(self, shifted: Self) -> Self {
        Self::from_bits(self.to_bits().wrapping_add(shifted.to_bits() << Self::MANTISSA))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::WithSimd;

    #[test]
    fn exponential_agrees_with_the_standard_library_to_a_few_ulp() {
        for step in 0..=200_000 {
            let x = -f64::from(step) * 1e-3;
            assert!((f64::exp_of_negative(x) / x.exp() - 1.0).abs() < 9e-16, "f64 at {x}");
            let y = -(step as f32) * 2e-4;
            assert!((f32::exp_of_negative(y) / y.exp() - 1.0).abs() < 5e-7, "f32 at {y}");
        }
    }

    struct Exponentials<'a, T>(&'a mut [T]);

    impl<T: Real> WithSimd for Exponentials<'_, T> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let (vectors, rest) = T::vectors_mut::<S>(self.0);
            for pair in vectors.as_chunks_mut::<2>().0 {
                *pair = T::exp_of_negatives(simd, *pair);
            }
            let [part] = T::exp_of_negatives(simd, [T::load_part(simd, rest)]);
            T::store_part(simd, rest, part);
        }
    }

    /// On the widest vectors and on single numbers.
    fn vectors_agree<T: Real>(step: f64, tolerance: f64) {
        let x: Vec<T> = (0..32 * 800 + 1).map(|i| T::from_f64(-step * f64::from(i))).collect();
        let (mut wide, mut single) = (x.clone(), x.clone());
        pulp::Arch::new().dispatch(Exponentials(&mut wide));
        Exponentials(&mut single[..25_600]).with_simd(pulp::Scalar::new());
        for (i, &x) in x.iter().enumerate() {
            let expected = T::exp_of_negative(x).to_f64();
            for found in [wide[i], single[i]].iter().take(if i < 25_600 { 2 } else { 1 }) {
                let error = (found.to_f64() - expected).abs();
                assert!(error <= tolerance * expected, "exp of {} is {}", x.to_f64(), found.to_f64());
            }
        }
    }

    #[test]
    fn exponentials_of_vectors_are_those_of_their_numbers() {
        vectors_agree::<f64>(0.01, 9e-16);
        vectors_agree::<f32>(0.002, 5e-7);
    }

    #[test]
    fn exponential_of_zero_is_one_and_of_the_far_tail_exactly_zero() {
        assert_eq!(f64::exp_of_negative(0.0), 1.0);
        assert_eq!(f32::exp_of_negative(0.0), 1.0);
        assert_eq!(f64::exp_of_negative(-231.0), 0.0);
        assert_eq!(f32::exp_of_negative(-42.0), 0.0);
        assert_eq!(f64::exp_of_negative(f64::MIN), 0.0);
    }

    #[test]
    fn exponential_of_what_is_not_a_number_is_none_whatever_its_bits() {
        fn check<T: Real>(nan: T) {
            let mut x = [nan; 41];
            (0..20).for_each(|i| x[2 * i] = T::from_f64(-1.0));
            pulp::Arch::new().dispatch(Exponentials(&mut x));
            assert!((0..40).all(|i| x[i].is_nan() == (i % 2 == 1)));
            assert!(T::exp_of_negative(nan).is_nan());
        }
        [0x7fc0_0000, 0x7fc0_0001, 0xffff_ffff].into_iter().for_each(|bits| check(f32::from_bits(bits)));
        [0x7ff8_0000_0000_0000, 0x7ff8_0000_0000_0001, u64::MAX]
            .into_iter()
            .for_each(|bits| check(f64::from_bits(bits)));
    }
}
