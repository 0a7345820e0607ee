//! The standard normal distribution's `Φ` and `log Φ` with derivatives, stable in both tails.

use linalg::Real;
use linalg::real::polynomial;
use linalg::simd::vectorised;
use std::f64::consts::FRAC_1_SQRT_2;

/// `log Φ(z)` and its derivatives by z. See [`log_cdf_derivatives`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogCdf {
    /// `log Φ(z)`
    pub value: f64,
    /// First derivative, `h = N(z)/Φ(z)`: between 0 and `|z| + 1`.
    pub d1: f64,
    /// Second derivative, `−h(z + h)`: between −1 and 0.
    pub d2: f64,
    /// Third derivative, `h((z + h)(z + 2h) − 1)`: between 0 and 0.3.
    pub d3: f64,
}

/// Distribution function Φ of the standard normal, to a relative 1e-15 also where it is tiny.
///
/// ```
/// assert!((inducing_gp::cdf(0.0) - 0.5).abs() < 1e-15);
/// assert!((inducing_gp::cdf(-10.0) / 7.619853024160527e-24 - 1.0).abs() < 1e-14);
/// ```
pub fn cdf(z: f64) -> f64 {
    let beyond = probability_beyond(&tail_of(z));
    if z < 0.0 { beyond } else { 1.0 - beyond }
}

/// `log Φ(z)`, to a relative 1e-15 in both tails.
///
/// ```
/// assert!((inducing_gp::log_cdf(-1e3) + 500_007.826_694_812_16).abs() < 1e-9);
/// assert!((inducing_gp::log_cdf(9.0) / -1.1285884059538408e-19 - 1.0).abs() < 1e-14);
/// ```
pub fn log_cdf(z: f64) -> f64 {
    let beyond = tail_of(z);
    if z < 0.0 {
        -(0.5 * z * z) - (HALF_LOG_2PI + beyond.hazard.ln())
    } else {
        (-probability_beyond(&beyond)).ln_1p()
    }
}

/// `log Φ(z)` and its first three derivatives, each to a relative 1e-14 for |z| up to 1e15.
///
/// (Right of 21 all four are zeros: they are below 1e-97.) On the far left no derivative is computed as a difference
/// of large numbers. For loops the crate has a form that the compiler vectorises.
///
/// ```
/// let far = inducing_gp::log_cdf_derivatives(-1e3); // log Φ ≈ −z²/2 there
/// assert!((far.d1 - 1e3).abs() < 2e-3 && (far.d2 + 1.0).abs() < 2e-6);
/// ```
pub fn log_cdf_derivatives(z: f64) -> LogCdf {
    vectorised(
        #[inline(always)]
        || expand(z),
    )
}

/// `1/√(2π)`
pub(crate) const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
/// `½ log 2π`
const HALF_LOG_2PI: f64 = 0.918_938_533_204_672_7;

/// How far a normal variable that exceeds `x ≥ 0` exceeds it: moments of `s > 0` with density `∝ exp(−xs − s²/2)`.
struct Tail {
    x: f64, // as used: not above 1e15
    mean: f64,
    third: f64,  // third central moment
    hazard: f64, // N(x)/Φ(−x) = x + mean
}

/// Numerator and denominator of `ρ₃(x)`, from the constant term; relative error 1e-17 on [0, ∞).
///
/// Interpolation at 24 Chebyshev nodes in `t = 5/(5 + x)`. All coefficients are positive, so that nothing cancels.
const RHO_3: ([f64; 12], [f64; 13]) = (
    [
        1.595_769_121_605_730_7,
        1.955_120_375_450_046,
        1.232_494_769_260_218_5,
        0.516_585_824_092_581_5,
        0.158_144_603_785_643_77,
        0.036_884_604_222_361_18,
        0.006_665_169_023_184_291,
        0.000_932_379_965_286_128,
        9.911_560_434_626_794e-5,
        7.660_702_466_760_169e-6,
        3.908_792_537_297_938e-7,
        1.014_442_893_893_990_2e-8,
    ],
    [
        1.0,
        1.509_392_087_720_085_2,
        1.154_844_847_228_185_8,
        0.584_099_869_293_886_7,
        0.215_709_659_061_137_36,
        0.060_969_653_244_369_15,
        0.013_487_713_946_700_55,
        0.002_351_271_285_009_650_3,
        0.000_320_939_962_192_963_1,
        3.355_970_712_038_708e-5,
        2.567_093_394_172_001_6e-6,
        1.302_930_845_765_979e-7,
        3.381_476_312_979_967_3e-9,
    ],
);

/// Moments `J_k = ∫₀^∞ sᵏ exp(−xs − s²/2) ds` have ratios `ρ_k = J_k/J_{k−1} = k/(x + ρ_{k+1})`. From the ratio ρ₃ the
/// recurrence runs downwards, where it shrinks errors; the central moments then cancel by small factors only.
#[inline(always)]
fn tail(x: f64) -> Tail {
    let x = if x > 1e15 { 1e15 } else { x };
    let (p, q) = (polynomial(&RHO_3.0, x), polynomial(&RHO_3.1, x)); // ρ₃ = p/q
    let a = x.times_plus(q, p); //       ρ₂ = 2q/a, ρ₂ρ₃ = 2p/a
    let b = x.times_plus(a, 2.0 * q); // ρ₁ = a/b
    let (rho_1, two) = (a / b, 2.0 / a);
    let (rho_2, rho_2_rho_3) = (two * q, two * p);
    let third = rho_1 * (rho_2_rho_3 - rho_1 * (3.0 * rho_2 - 2.0 * rho_1));
    Tail { x, mean: rho_1, third, hazard: x + rho_1 }
}

/// [`tail`] of |z|, for single calls.
fn tail_of(z: f64) -> Tail {
    vectorised(
        #[inline(always)]
        || tail(z.abs()),
    )
}

/// `Φ(−x)`.
fn probability_beyond(tail: &Tail) -> f64 {
    let (square, rest) = half_square(tail.x);
    (-square).exp() * small_exp(-rest) * FRAC_1_SQRT_2PI / tail.hazard
}

/// `x²/2` as the sum of a number and a rest below `x²/2²⁶`: of a large argument exp sees every rounding.
#[inline(always)]
fn half_square(x: f64) -> (f64, f64) {
    let high = f64::from_bits(x.to_bits() & !0x7ff_ffff); // 26 bits: its square is exact
    (0.5 * high * high, 0.5 * (x - high) * (x + high))
}

/// `exp x` for |x| < 1e-4.
#[inline(always)]
fn small_exp(x: f64) -> f64 {
    1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0)))
}

/// See [`log_cdf_derivatives`]; without branches, so that loops over it vectorise.
#[inline(always)]
pub(crate) fn expand(z: f64) -> LogCdf {
    let x = z.abs();
    let upper = tail(x);
    let (square, rest) = half_square(upper.x);
    let density = f64::exp_of_negative(-square) * small_exp(-rest) * FRAC_1_SQRT_2PI;
    let outside = density / upper.hazard; // Φ(−x)
    let right = density / (1.0 - outside);
    let moved = x + right;
    let left = z < 0.0;

    // ln(2ⁿ(1 + f)) with 1 + f in [√½, √2]: of 1 − Φ(−x) on the right, of the hazard on the left.
    const BIAS: u64 = 1023 << 52;
    let bits = upper.hazard.to_bits();
    let exponent = bits.wrapping_add(BIAS - FRAC_1_SQRT_2.to_bits()) >> 52;
    let mantissa = f64::from_bits(bits.wrapping_sub(exponent << 52).wrapping_add(BIAS));
    let halved = outside > 1.0 - FRAC_1_SQRT_2;
    let (n_right, f_right) = if halved { (-1.0, 1.0 - 2.0 * outside) } else { (0.0, -outside) };
    // An integer below 2⁵² in the low bits of the number 2⁵².
    let n_left = f64::from_bits(exponent | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let (n, f) = if left { (n_left, mantissa - 1.0) } else { (n_right, f_right) };
    let logarithm = n.times_plus(f64::LN2_HIGH, log_of_one_plus(f) + n * f64::LN2_LOW);

    LogCdf {
        value: if left { -(0.5 * x * x) - (HALF_LOG_2PI + logarithm) } else { logarithm },
        d1: if left { x + upper.mean } else { right },
        d2: if left { -upper.mean * (x + upper.mean) } else { -right * moved },
        d3: if left { upper.third } else { right * (moved * (moved + right) - 1.0) },
    }
}

/// `log(1 + f)` for `1 + f` in [√½, √2], as fdlibm does it: the series of `2 artanh s` at `s = f/(2 + f)`.
#[inline(always)]
fn log_of_one_plus(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let square = s * s;
    let coefficients: [f64; 10] = std::array::from_fn(|k| 2.0 / (2 * k + 3) as f64);
    let half = 0.5 * f * f;
    f - (half - s * (half + square * polynomial(&coefficients, square)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// z, log Φ(z), its three derivatives, Φ(z) (0 where it underflows), by mpmath with 700 digits.
    const TABLE: &str = "
        -1000.0 -500007.82669481216 1000.000999998 -0.999999000006 1.999976000299996e-09 0.0
        -300.0 -45006.62273211866 300.00333325926334 -0.999988889629561 7.406419890239581e-08 0.0
        -50.5 -1279.966303604255 50.51978648111454 -0.9996088011190107 1.545672603737358e-05 0.0
        -38.0 -726.5572160188201 38.02627946657587 -0.9993103402465338 3.614816327127331e-05 0.0
        -20.0 -203.91715537109727 20.049753068527853 -0.9975367383849478 0.00024272657893584202 2.7536241186062337e-89
        -8.3 -37.49421742374825 8.417213965503613 -0.9866150273890658 0.002980881397089171 5.205569744890254e-17
        -5.0 -15.064998393988725 5.186503967125842 -0.9673035653828878 0.0108257645063567 2.866515718791939e-07
        -3.0 -6.607726221510349 3.2830986549304364 -0.9294408132147319 0.03147067283084249 0.0013498980316300946
        -1.7 -3.1107960975524813 2.1103579219281876 -0.8660020913671393 0.07258727059371692 0.04456546275854304
        -1.0 -1.8410216450092636 1.525135276160981 -0.8009023344296512 0.11693119540604884 0.15865525393145705
        -0.5 -1.1759117615936185 1.1410777703680646 -0.731519592844121 0.16260392517612296 0.3085375387259869
        -0.1 -0.7761545927302733 0.8626174715309362 -0.6578471550373318 0.2065387120295765 0.460172162722971
        -1e-08 -0.693147188538791 0.7978845671690631 -0.6366197745477175 0.21801361299728333 0.4999999960105772
        0.0 -0.6931471805599453 0.7978845608028654 -0.6366197723675814 0.21801361414499015 0.5
        0.001 -0.6923496142726883 0.7972480500564331 -0.6364017013688413 0.2181283825827461 0.500398942213911
        0.1 -0.6165050101150263 0.7353317485057806 -0.6142459552111468 0.22944195153136593 0.539827837277029
        0.3 -0.4814101615884812 0.6172208536127345 -0.5661278382182529 0.2514693129707456 0.6179114221889527
        0.5 -0.3689464152886564 0.5091604338370335 -0.5138245643036329 0.27099012446870785 0.6914624612740131
        1.0 -0.17275377902344988 0.2875999709391784 -0.3703137142233946 0.2957181701822712 0.8413447460685429
        2.5 -0.006229025485860002 0.017637825486916735 -0.04440565660519877 0.09494275446974908 0.9937903346742238
        5.0 -2.866516129637636e-07 1.4867199409049056e-06 -7.433601914860711e-06 3.568131173676705e-05 0.9999997133484281
        8.0 -6.220960574271786e-16 5.052271083536895e-15 -4.0418168668295186e-14 3.1829307826282504e-13 0.9999999999999993
        12.0 -1.776482112077679e-33 2.1463837356630602e-32 -2.5756604827956722e-31 3.0693287419981763e-30 1.0
        20.0 -2.7536241186062337e-89 5.520948362159764e-88 -1.1041896724319525e-86 2.2028583965017455e-85 1.0";

    fn assert_close(what: &str, z: f64, got: f64, expected: f64, tolerance: f64) {
        assert!(
            (got - expected).abs() <= tolerance * expected.abs(),
            "{what} at {z}: {got:e}, not {expected:e}"
        );
    }

    #[test]
    fn log_cdf_with_its_derivatives_and_cdf_equal_high_precision_values() {
        for line in TABLE.trim().lines() {
            let row: Vec<f64> = line.split_whitespace().map(|x| x.parse().expect("a number")).collect();
            let [z, value, d1, d2, d3, probability] = row[..] else { panic!("six numbers: {line}") };
            let got = log_cdf_derivatives(z);
            // A few roundings each; the third derivative is a difference that cancels by up to a factor of 23.
            assert_close("log Φ", z, got.value, value, 2e-15);
            assert_close("log Φ alone", z, log_cdf(z), value, 2e-15);
            assert_close("first", z, got.d1, d1, 2e-15);
            assert_close("second", z, got.d2, d2, 2e-15);
            assert_close("third", z, got.d3, d3, 1e-14);
            if probability > 0.0 {
                assert_close("Φ", z, cdf(z), probability, 2e-15);
            }
        }
    }

    #[test]
    fn derivatives_obey_the_differential_equation_of_the_mills_ratio_between_the_table_s_points() {
        for step in -6000..6000 {
            let z = f64::from(step) * 1e-3 + 3e-4;
            let LogCdf { d1, d2, d3, .. } = log_cdf_derivatives(z);
            // Left of zero these are differences of numbers as large as z² that may leave as little as 1/z⁴.
            assert!((d2 + d1 * (z + d1)).abs() < 1e-14 * (1.0 + z * z), "second at {z}");
            assert!(
                (d3 - d1 * ((z + d1) * (z + 2.0 * d1) - 1.0)).abs() < 1e-14 * (1.0 + z * z),
                "third at {z}"
            );
        }
    }

    #[test]
    fn extremes_are_finite_or_infinite_but_never_nan_unless_given() {
        let far = log_cdf_derivatives(1e3);
        assert_eq!([far.value, far.d1, far.d2, far.d3].map(f64::abs), [0.0; 4]);
        assert_eq!((cdf(f64::INFINITY), cdf(f64::NEG_INFINITY)), (1.0, 0.0));
        assert_eq!((log_cdf(f64::INFINITY), log_cdf(f64::NEG_INFINITY)), (0.0, f64::NEG_INFINITY));
        assert!(log_cdf(f64::NAN).is_nan() && cdf(f64::NAN).is_nan());
    }
}
