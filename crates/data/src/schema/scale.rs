//! Numbers brought to a common scale: fitted on training values, stored with the model.

use serde::{Deserialize, Serialize};

/// Kinds of scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// (x − mean) / std.
    #[default]
    Standard,
    /// Normal scores: the x below which a share p of the training values lies becomes Φ⁻¹(p).
    Quantile,
    /// As it is; parts of dates are standardised nevertheless.
    None,
}

/// Number of knots that describe a distribution, at most.
const KNOTS: usize = 255;
/// Normal scores end here: a share of 3·10⁻⁷ of a normal variable lies beyond.
const SCORE_LIMIT: f64 = 5.0;
/// A standardised value ends here, so that a wild cell stays finite in 32 bits and in squares of it.
const STANDARD_LIMIT: f64 = 1e6;
/// An unscaled value ends here, below the largest 32-bit float.
const PLAIN_LIMIT: f64 = 1e30;

/// A fitted scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scale {
    /// (x − mean) / std, clipped to ±10⁶.
    Standard {
        /// Mean of the training values.
        mean: f64,
        /// Standard deviation of the training values.
        std: f64,
    },
    /// Linear between the knots, with slope 1 / std beyond the first and the last, clipped to ±5.
    Quantile {
        /// Increasing training values.
        knots: Vec<f64>,
        /// Their normal scores.
        scores: Vec<f64>,
        /// Standard deviation of the training values.
        std: f64,
    },
    /// x, clipped to ±10³⁰.
    None,
}

impl Scale {
    /// The scale of `values` (all finite); `None` if they are all the same.
    #[must_use]
    pub fn fit(scaling: Scaling, values: &[f64]) -> Option<Scale> {
        let (mean, std) = mean_and_std(values);
        let constant = values.iter().all(|value| *value == values[0]);
        if constant || !(std > 0.0 && std.is_finite()) {
            return None;
        }
        Some(match scaling {
            Scaling::Standard => Scale::Standard { mean, std },
            Scaling::Quantile => {
                let (knots, scores) = normal_score_knots(values);
                Scale::Quantile { knots, scores, std }
            }
            Scaling::None => Scale::None,
        })
    }

    /// A finite value on the scale.
    #[must_use]
    pub fn apply(&self, x: f64) -> f32 {
        let scaled = match self {
            Scale::Standard { mean, std } => return standardise(x, *mean, *std),
            Scale::Quantile { knots, scores, std } => {
                interpolated(x, knots, scores, *std).clamp(-SCORE_LIMIT, SCORE_LIMIT)
            }
            Scale::None => x.clamp(-PLAIN_LIMIT, PLAIN_LIMIT),
        };
        scaled as f32
    }

    /// The value that [`Scale::apply`] brings to `scaled`, up to the 24 bits that are left of it; of clipped values
    /// the nearest to the others.
    #[must_use]
    pub fn invert(&self, scaled: f32) -> f64 {
        let scaled = f64::from(scaled);
        match self {
            Scale::Standard { mean, std } => (mean + scaled * std).clamp(f64::MIN, f64::MAX),
            Scale::Quantile { knots, scores, std } => {
                interpolated(scaled, scores, knots, 1.0 / std).clamp(f64::MIN, f64::MAX)
            }
            Scale::None => scaled,
        }
    }

    /// What is wrong with a scale from a file, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        let spread =
            |std: f64| (!(std.is_finite() && std > 0.0)).then(|| format!("the standard deviation is {std}"));
        match self {
            Scale::Standard { mean, .. } if !mean.is_finite() => Some(format!("the mean is {mean}")),
            Scale::Standard { std, .. } => spread(*std),
            Scale::Quantile { knots, scores, .. } if knots.len() != scores.len() || knots.is_empty() => {
                Some(format!("there are {} knots and {} scores", knots.len(), scores.len()))
            }
            Scale::Quantile { knots, scores, std } => {
                let increasing = |values: &[f64]| {
                    values.iter().all(|value| value.is_finite()) && values.is_sorted_by(|a, b| a < b)
                };
                if !increasing(knots) || !increasing(scores) {
                    return Some("the knots or their scores do not increase".into());
                }
                spread(*std)
            }
            Scale::None => None,
        }
    }
}

/// (x − mean) / std, clipped to ±10⁶: finite for every finite x.
pub(crate) fn standardise(x: f64, mean: f64, std: f64) -> f32 {
    let z = (x - mean) / std;
    // Near the largest float x − mean overflows where the quotients do not.
    let z = if z.is_finite() { z } else { x / std - mean / std };
    if z.is_nan() { 0.0 } else { z.clamp(-STANDARD_LIMIT, STANDARD_LIMIT) as f32 }
}

/// Mean and population standard deviation; (NaN, NaN) without values.
///
/// Computed on values divided by the largest magnitude, so that squares neither overflow nor vanish.
pub(crate) fn mean_and_std(values: &[f64]) -> (f64, f64) {
    let unit = values.iter().fold(0.0, |unit: f64, value| unit.max(value.abs()));
    if unit == 0.0 && !values.is_empty() {
        return (0.0, 0.0);
    }
    let count = values.len() as f64;
    let mean = values.iter().map(|value| value / unit).sum::<f64>() / count;
    let variance = values.iter().map(|value| (value / unit - mean).powi(2)).sum::<f64>() / count;
    (mean * unit, variance.sqrt() * unit)
}

/// Middle of the sorted values (the lower one of two); `None` without values.
pub(crate) fn median<T: Copy>(mut values: Vec<T>, order: impl Fn(&T, &T) -> std::cmp::Ordering) -> Option<T> {
    if values.is_empty() {
        return None;
    }
    let middle = (values.len() - 1) / 2;
    Some(*values.select_nth_unstable_by(middle, order).1)
}

/// Evenly ranked values and their normal scores; equal values share the score of their middle rank.
fn normal_score_knots(values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len() - 1;
    let mut knots: Vec<f64> = if sorted.len() <= KNOTS {
        sorted.clone()
    } else {
        (0..KNOTS).map(|k| sorted[k * last / (KNOTS - 1)]).collect()
    };
    knots.dedup();
    let score = |knot: &f64| {
        let below = sorted.partition_point(|value| value < knot);
        let not_above = sorted.partition_point(|value| value <= knot);
        normal_quantile((below + not_above) as f64 / (2 * sorted.len()) as f64)
    };
    let scores = knots.iter().map(score).collect();
    (knots, scores)
}

/// Linear between increasing knots, with slope 1 / `run` beyond the first and the last.
fn interpolated(x: f64, knots: &[f64], values: &[f64], run: f64) -> f64 {
    let (Some(first), Some(last)) = (knots.first(), knots.last()) else { return 0.0 };
    let above = knots.partition_point(|knot| *knot <= x);
    if above == 0 {
        values[0] - (first - x) / run
    } else if above == knots.len() {
        values[above - 1] + (x - last) / run
    } else {
        let (low, high) = (knots[above - 1], knots[above]);
        // Two huge knots of different signs: their difference overflows, that of their halves does not.
        let (x, low, high) =
            if (high - low).is_finite() { (x, low, high) } else { (x / 2.0, low / 2.0, high / 2.0) };
        let share = (x - low) / (high - low);
        values[above - 1] + share * (values[above] - values[above - 1])
    }
}

/// Φ⁻¹(p) for 0 < p < 1 by Acklam's rational approximation, relative error below 1.2·10⁻⁹.
fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    let horner = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if p > 0.5 {
        -normal_quantile(1.0 - p)
    } else if p < 0.02425 {
        let q = (-2.0 * p.ln()).sqrt();
        horner(&C, q) / horner(&D, q)
    } else {
        let q = p - 0.5;
        q * horner(&A, q * q) / horner(&B, q * q)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn normal_quantiles_match_the_tables() {
        for (p, z) in
            [(0.5, 0.0), (0.975, 1.959963984540054), (0.001, -3.090232306167814), (0.9, 1.2815515655446)]
        {
            assert!((normal_quantile(p) - z).abs() < 1e-8, "Φ⁻¹({p})"); // 1.2e-9 relative
        }
    }

    #[test]
    fn huge_and_tiny_values_have_a_finite_scale() {
        for unit in [1e300, 1e-300] {
            let (mean, std) = mean_and_std(&[unit, 3.0 * unit]);
            assert!((mean / unit - 2.0).abs() < 1e-12 && (std / unit - 1.0).abs() < 1e-12);
        }
        let scale = Scale::fit(Scaling::Standard, &[0.0, 1.0]).expect("two values");
        assert!(scale.apply(f64::MAX).is_finite());
        let ends = [f64::MIN, -1.0, 1.0, f64::MAX];
        for scaling in [Scaling::Standard, Scaling::Quantile] {
            let scale = Scale::fit(scaling, &ends).expect("four values");
            assert_eq!(scale.fault(), None);
            let z = ends.map(|x| scale.apply(x));
            assert!(z.is_sorted() && z[3] > 0.5 && z[3] < 5.0 && (z[0] + z[3]).abs() < 1e-6, "{z:?}");
            assert!(scale.apply(f64::MAX / 3.0).is_finite() && scale.invert(1e6).is_finite());
        }
    }

    #[test]
    fn a_clipped_value_comes_back_as_the_last_that_is_not() {
        let scale = Scale::fit(Scaling::Quantile, &[0.0, 1.0]).expect("two values");
        let Scale::Quantile { scores, std, .. } = &scale else { unreachable!("as asked for") };
        let last = 1.0 + (SCORE_LIMIT - scores[1]) * std;
        assert!((scale.invert(scale.apply(1e9)) - last).abs() < 1e-6);
    }

    #[test]
    fn a_constant_has_no_scale() {
        assert_eq!(Scale::fit(Scaling::Quantile, &[0.1; 7]), None);
    }

    #[test]
    fn skewed_values_become_normal_scores() {
        let values: Vec<f64> = (0..10_001).map(|i| (f64::from(i) / 1000.0).exp()).collect();
        let scale = Scale::fit(Scaling::Quantile, &values).expect("not constant");
        assert!(scale.apply(values[5000]).abs() < 1e-3, "the median is the middle of a normal");
        assert!((scale.apply(values[8413]) - 1.0).abs() < 0.01, "84.13 % lie below one standard deviation");
        assert_eq!(scale.apply(1e300), 5.0);
    }

    proptest! {
        #[test]
        fn normal_scores_never_decrease(
            mut values in prop::collection::vec(-1e3f64..1e3, 2..400),
            mut probes in prop::collection::vec(-2e3f64..2e3, 2..50),
        ) {
            values.push(values[0] + 1.0);
            let scale = Scale::fit(Scaling::Quantile, &values).expect("not constant");
            probes.sort_unstable_by(f64::total_cmp);
            let scores: Vec<f32> = probes.iter().map(|x| scale.apply(*x)).collect();
            prop_assert!(scores.is_sorted());
        }

        #[test]
        fn what_is_brought_back_is_where_it_was_on_the_scale(
            mut values in prop::collection::vec(-1e3f64..1e3, 2..400),
            probes in prop::collection::vec(-1.0f64..2.0, 2..50),
        ) {
            values.push(values[0] + 1.0);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // From one width of the data below all of them to one above, and on some of them.
            let beside = probes.iter().map(|share| low + share * (high - low));
            let probes: Vec<f64> = beside.chain(values.iter().copied().take(20)).collect();
            for scaling in [Scaling::Standard, Scaling::Quantile, Scaling::None] {
                let scale = Scale::fit(scaling, &values).expect("not constant");
                for &x in &probes {
                    let scaled = scale.apply(x);
                    let back = scale.invert(scaled);
                    // One unit in the last place of a 32-bit float, three times: of `apply`, of `invert` and here.
                    let tolerance = 3.0 * f32::EPSILON * scaled.abs().max(1e-3);
                    prop_assert!((scale.apply(back) - scaled).abs() <= tolerance, "{scaling:?} {x} {back}");
                    // The unit in the last place of a score, 2·10⁻⁷, between two of 400 values: 2000 / 0.005 in x.
                    let clipped = scaled.abs() == SCORE_LIMIT as f32;
                    prop_assert!(clipped || (back - x).abs() <= 0.1, "{scaling:?} {x} {back}");
                }
            }
        }
    }
}
