//! The scale on which a number is modelled, and the range that it cannot leave.

use serde::{Deserialize, Serialize};

/// A monotone map from a target to the scale on which it is modelled.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Transform {
    /// As it is.
    #[default]
    Identity,
    /// `u = ln(y + offset)`
    Log {
        /// Above zero where zeros occur.
        offset: f64,
    },
    /// `u = ln((y − lower)/(upper − y))`
    Logit {
        /// Below all values.
        lower: f64,
        /// Above all values.
        upper: f64,
    },
    /// `u = asinh((y − centre)/width)`: linear in the middle, logarithmic on both sides.
    Asinh {
        /// The middle.
        centre: f64,
        /// Where the logarithm begins.
        width: f64,
    },
}

impl Transform {
    /// From the target to its scale.
    #[must_use]
    pub fn apply(self, y: f64) -> f64 {
        match self {
            Self::Identity => y,
            Self::Log { offset } => (y + offset).max(f64::MIN_POSITIVE).ln(),
            Self::Logit { lower, upper } => {
                let least = 1e-12 * (upper - lower);
                let y = y.clamp(lower + least, upper - least);
                ((y - lower) / (upper - y)).ln()
            }
            Self::Asinh { centre, width } => ((y - centre) / width).asinh(),
        }
    }

    /// Back from the scale.
    #[must_use]
    pub fn invert(self, u: f64) -> f64 {
        // Beyond it a number has no square.
        const MOST: f64 = 340.0;
        match self {
            Self::Identity => u,
            Self::Log { offset } => u.min(MOST).exp() - offset,
            Self::Logit { lower, upper } => lower + (upper - lower) / (1.0 + (-u).exp()),
            Self::Asinh { centre, width } => centre + width * u.clamp(-MOST, MOST).sinh(),
        }
    }

    /// `ln du/dy`, what turns a density of the scale into one of the target.
    #[must_use]
    pub fn log_slope(self, y: f64) -> f64 {
        match self {
            Self::Identity => 0.0,
            Self::Log { offset } => -(y + offset).max(f64::MIN_POSITIVE).ln(),
            Self::Logit { lower, upper } => {
                let least = 1e-12 * (upper - lower);
                let y = y.clamp(lower + least, upper - least);
                (upper - lower).ln() - (y - lower).ln() - (upper - y).ln()
            }
            Self::Asinh { centre, width } => -width.ln() - 0.5 * ((y - centre) / width).powi(2).ln_1p(),
        }
    }

    fn is_sound(self) -> bool {
        match self {
            Self::Identity => true,
            Self::Log { offset } => offset.is_finite(),
            Self::Logit { lower, upper } => lower.is_finite() && upper.is_finite() && lower < upper,
            Self::Asinh { centre, width } => centre.is_finite() && width.is_finite() && width > 0.0,
        }
    }
}

/// The scale and the range of a target.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetScale {
    /// The scale on which it is modelled.
    #[serde(default)]
    pub transform: Transform,
    /// No value is smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// No value is larger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Both ends of what is predicted on a curved scale: half the range of the training rows beyond it. Far from all rows a straight
    /// line of logarithms soon is astronomic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<[f64; 2]>,
}

impl TargetScale {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// A number inside the range.
    #[must_use]
    pub fn clamp(&self, y: f64) -> f64 {
        let y = self.lower.map_or(y, |lower| y.max(lower));
        self.upper.map_or(y, |upper| y.min(upper))
    }

    /// The same, reaching half the range of these modelled values beyond them where the scale is curved.
    #[must_use]
    pub fn reaching(self, modelled: &[f64]) -> Self {
        let (low, high) =
            modelled.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &u| (a.min(u), b.max(u)));
        let beyond = 0.5 * (high - low);
        let is_curved = self.transform != Transform::Identity && beyond.is_finite();
        Self { reach: is_curved.then_some([low - beyond, high + beyond]), ..self }
    }

    /// From the modelled scale to the target, inside its range.
    #[must_use]
    pub fn invert(&self, u: f64) -> f64 {
        let u = self.reach.map_or(u, |[low, high]| u.clamp(low, high));
        self.clamp(self.transform.invert(u))
    }

    /// Whether the numbers can be used.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let finite = |bound: Option<f64>| bound.is_none_or(f64::is_finite);
        let ordered = self.lower.zip(self.upper).is_none_or(|(lower, upper)| lower < upper);
        let reach = self.reach.is_none_or(|[low, high]| low.is_finite() && high.is_finite() && low <= high);
        self.transform.is_sound() && finite(self.lower) && finite(self.upper) && ordered && reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_inverted_and_their_slopes_are_central_differences() {
        let all = [
            Transform::Identity,
            Transform::Log { offset: 0.5 },
            Transform::Logit { lower: -0.1, upper: 10.0 },
            Transform::Asinh { centre: 1.0, width: 0.7 },
        ];
        for transform in all {
            for y in [0.0, 0.3, 1.0, 4.0, 9.5] {
                let h = 1e-6;
                let slope = (transform.apply(y + h) - transform.apply(y - h)) / (2.0 * h);
                assert!((transform.invert(transform.apply(y)) - y).abs() < 1e-9, "{transform:?} {y}");
                assert!((transform.log_slope(y) - slope.ln()).abs() < 1e-6, "{transform:?} {y}");
            }
        }
    }

    #[test]
    fn nothing_leaves_the_range() {
        let scale = TargetScale {
            transform: Transform::Log { offset: 1.0 },
            lower: Some(0.0),
            ..TargetScale::default()
        };
        assert_eq!(scale.invert(-50.0), 0.0);
        assert!(scale.invert(1e9).is_finite() && scale.is_sound());
        let reaching = scale.reaching(&[0.0, 2.0]);
        assert_eq!((reaching.reach, reaching.invert(1e9)), (Some([-1.0, 3.0]), 3.0_f64.exp() - 1.0));
        assert!(!TargetScale { lower: Some(1.0), upper: Some(0.0), ..scale }.is_sound());
    }
}
