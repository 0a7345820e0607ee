//! Expected improvement: how far a row may be beyond the best value known.
//!
//! ```text
//! EI = E max(0, f − best) = σ·(φ(z) + z·Φ(z))        f ~ N(μ, σ²),  z = (μ − best)/σ
//! ```
//! (Jones, Schonlau and Welch 1998, eq. 15.) Far below the best both terms cancel to nothing. With h = φ/Φ it is
//! `σ·Φ(z)·(z + h)`, and `log Φ`, h and `h(z + h)` are known there to all digits, so that rows keep their order
//! where every improvement is below the smallest number.

/// `E max(0, f − best)` of `f ~ N(mean, std²)`; `max(0, mean − best)` for a deviation of zero.
///
/// ```
/// use inducing::suggest::expected_improvement;
/// assert_eq!(expected_improvement(3.0, 0.0, 2.0), 1.0);
/// let at_the_best = expected_improvement(0.0, 2.0, 0.0);
/// assert!((at_the_best - 2.0 / (2.0 * std::f64::consts::PI).sqrt()).abs() < 1e-15);
/// ```
pub fn expected_improvement(mean: f64, std: f64, best: f64) -> f64 {
    log_expected_improvement(mean, std, best).exp()
}

/// Its logarithm, finite far below the best where the improvement itself is not above zero as a number.
pub fn log_expected_improvement(mean: f64, std: f64, best: f64) -> f64 {
    let z = (mean - best) / std;
    if std <= 0.0 || !z.is_finite() {
        return (mean - best).max(0.0).ln();
    }
    let at = gp::log_cdf_derivatives(z);
    let z_plus_h = if z > 0.0 { z + at.d1 } else { -at.d2 / at.d1 }; // d1 = h, d2 = −h(z + h)
    std.ln() + at.value + z_plus_h.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ max(0, f − best) N(f; mean, std²) df by Simpson's rule over the half line, in units of std.
    fn integrated(mean: f64, std: f64, best: f64) -> f64 {
        let (z, steps) = ((mean - best) / std, 20_000);
        let high = 12.0 + z.abs();
        let step = high / f64::from(steps);
        // f = best + std·t; relative to the density at t = 0, which may be below the smallest number.
        let at = |t: f64| t * (-0.5 * (t - z).powi(2) + 0.5 * z * z).exp();
        let inner: f64 =
            (1..steps).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * at(f64::from(i) * step)).sum();
        let log = ((inner + at(high)) * step / 3.0).ln() - 0.5 * z * z;
        std.ln() + log - 0.5 * std::f64::consts::TAU.ln()
    }

    #[test]
    fn the_closed_form_equals_numerical_integration_far_into_both_tails() {
        for std in [1e-3, 1.0, 70.0] {
            for i in -60..=60 {
                let (best, z) = (0.4, f64::from(i) / 2.0);
                let mean = best + std * z;
                let (log, expected) =
                    (log_expected_improvement(mean, std, best), integrated(mean, std, best));
                // Simpson's rule with these steps; `best + std·z` rounds z for small deviations.
                assert!((log - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{std} {z} {log} {expected}");
            }
        }
    }

    #[test]
    fn an_improvement_grows_with_mean_and_deviation_and_is_zero_only_without_deviation() {
        let far = [1e3, 1e6, 1e150].map(|below| log_expected_improvement(-below, 1.0, 0.0));
        assert!(far[0] > far[1] && far[0].is_finite() && far[1].is_finite() && !far[2].is_nan(), "{far:?}");
        assert!(expected_improvement(-1.0, 0.5, 0.0) < expected_improvement(-1.0, 0.6, 0.0));
        assert_eq!(expected_improvement(1.0, 0.0, 2.0), 0.0);
        assert_eq!(expected_improvement(2.0, 0.0, 2.0), 0.0);
        assert!((expected_improvement(2.0, 1e-320, 1.5) - 0.5).abs() < 1e-15);
        assert!((expected_improvement(1e3, 1.0, 0.0) - 1e3).abs() < 1e-9);
    }
}
