//! The range of a target, and the scale on which it is modelled.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The scale on which a number is modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetTransform {
    /// The one that suits the training rows best.
    #[default]
    Auto,
    /// As it is.
    None,
    /// Logarithm, for positive numbers and counts.
    Log,
    /// Log-odds, for numbers between two bounds.
    Logit,
    /// Inverse hyperbolic sine, for both signs and heavy tails.
    Asinh,
}

/// The range of a target, written as `0,`, `,100` or `0,100`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bounds {
    /// No value is smaller.
    pub lower: Option<f64>,
    /// No value is larger.
    pub upper: Option<f64>,
}

impl FromStr for Bounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("`{text}` are no bounds: write `0,`, `,100`, `0,100`, or `,` for none");
        let (lower, upper) = text.split_once(',').ok_or_else(refuse)?;
        let bound = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse::<f64>().ok().filter(|x| x.is_finite()).map(Some).ok_or_else(refuse),
        };
        let bounds = Self { lower: bound(lower)?, upper: bound(upper)? };
        match bounds.lower.zip(bounds.upper) {
            Some((lower, upper)) if lower >= upper => Err(refuse()),
            _ => Ok(bounds),
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |bound: Option<f64>| bound.map_or_else(String::new, |x| x.to_string());
        write!(f, "{},{}", shown(self.lower), shown(self.upper))
    }
}

impl TryFrom<String> for Bounds {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Bounds> for String {
    fn from(bounds: Bounds) -> Self {
        bounds.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_as_they_are_written() {
        for text in ["0,", ",100", "0,100", ",", "-1.5,2"] {
            assert_eq!(text.parse::<Bounds>().expect("bounds").to_string(), text);
        }
        for text in ["", "0", "1,0", "a,", "0,inf", "1,1"] {
            assert!(text.parse::<Bounds>().is_err(), "{text}");
        }
    }
}
