//! The one scalar trait of the workspace: `f64` (default) and `f32` (by choice, with jitter ≥ 1e-3).

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`; sealed.
pub trait Real:
    sealed::Sealed
    + faer::traits::RealField
    + Copy
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
    fn of(x: f64) -> Self;
    /// Exact value in double precision.
    fn to_f64(self) -> f64;
    /// Square root.
    fn root(self) -> Self;
    /// `exp x` below this argument counts as zero.
    const EXP_CUTOFF: f64;
    /// Degree of the Taylor polynomial of exp on |r| ≤ ½ ln 2 that reaches this precision.
    const EXP_DEGREE: usize;
    /// Bits of the mantissa.
    const MANTISSA: u32;
    /// Leading bits of ln 2, so few that `n · LN2_HIGH` is exact for every exponent n.
    const LN2_HIGH: f64;
    /// `ln 2 − LN2_HIGH`, to its own full precision.
    const LN2_LOW: f64;
    /// `self·by + plus`, fused. Only for loops inside [`vectorised`](crate::matrix::vectorised): there it is one
    /// instruction on every x86 since 2013, elsewhere it may be a call.
    fn times_plus(self, by: Self, plus: Self) -> Self;
    /// `self · 2ⁿ` where n stands in the low bits of `shifted = n + 1.5·2^MANTISSA`.
    fn times_power_of_two(self, shifted: Self) -> Self;

    /// `exp(x)` for `x ≤ 0`, without branches so that loops over it vectorise; relative error of a few ulp.
    ///
    /// Values too small to matter are exact zeros: a denormal entry makes a matrix product 200 times slower.
    #[inline(always)]
    fn exp_of_negative(x: Self) -> Self {
        // Cody & Waite: x = n ln 2 + r, exp x = 2ⁿ exp r.
        let cutoff = Self::of(Self::EXP_CUTOFF);
        let clamped = if x < cutoff { cutoff } else { x };
        let round = Self::of(1.5 * (1u64 << Self::MANTISSA) as f64);
        let shifted = clamped * Self::of(std::f64::consts::LOG2_E) + round;
        let n = shifted - round;
        let r = (clamped - n * Self::of(Self::LN2_HIGH)) - n * Self::of(Self::LN2_LOW);
        let mut power = Self::of(INVERSE_FACTORIALS[Self::EXP_DEGREE]);
        for k in (0..Self::EXP_DEGREE).rev() {
            power = power.times_plus(r, Self::of(INVERSE_FACTORIALS[k]));
        }
        let value = power.times_power_of_two(shifted);
        if x < cutoff { Self::default() } else { value }
    }
}

/// `1/k!` from `k = 0`, as far as either precision needs them on |r| ≤ ½ ln 2.
const INVERSE_FACTORIALS: [f64; 14] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

impl Real for f32 {
    const EXP_CUTOFF: f64 = -41.0;
    const EXP_DEGREE: usize = 7;
    const MANTISSA: u32 = 23;
    const LN2_HIGH: f64 = 0.693_359_375;
    const LN2_LOW: f64 = -2.121_944_400_546_905_8e-4;

    #[inline(always)]
    fn of(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
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
    const EXP_DEGREE: usize = 13;
    const MANTISSA: u32 = 52;
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

    #[inline(always)]
    fn of(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
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

    #[test]
    fn exponential_agrees_with_the_standard_library_to_a_few_ulp() {
        for step in 0..=200_000 {
            let x = -f64::from(step) * 1e-3;
            assert!((f64::exp_of_negative(x) / x.exp() - 1.0).abs() < 9e-16, "f64 at {x}");
            let y = -(step as f32) * 2e-4;
            assert!((f32::exp_of_negative(y) / y.exp() - 1.0).abs() < 5e-7, "f32 at {y}");
        }
    }

    #[test]
    fn exponential_of_zero_is_one_and_of_the_far_tail_exactly_zero() {
        assert_eq!(f64::exp_of_negative(0.0), 1.0);
        assert_eq!(f32::exp_of_negative(0.0), 1.0);
        assert_eq!(f64::exp_of_negative(-231.0), 0.0);
        assert_eq!(f32::exp_of_negative(-42.0), 0.0);
        assert_eq!(f64::exp_of_negative(f64::MIN), 0.0);
    }
}
