//! Numbers with their ranges.

use serde::{Deserialize, Serialize};

/// A finite number above zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Positive(f64);

impl TryFrom<f64> for Positive {
    type Error = String;
    fn try_from(x: f64) -> Result<Self, String> {
        if x.is_finite() && x > 0.0 { Ok(Self(x)) } else { Err(format!("{x} is not a number above zero")) }
    }
}
impl From<Positive> for f64 {
    fn from(x: Positive) -> f64 {
        x.0
    }
}
impl Positive {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A share: at least zero, below one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

impl TryFrom<f64> for Share {
    type Error = String;
    fn try_from(x: f64) -> Result<Self, String> {
        if (0.0..1.0).contains(&x) { Ok(Self(x)) } else { Err(format!("{x} is not a share in [0, 1)")) }
    }
}
impl From<Share> for f64 {
    fn from(x: Share) -> f64 {
        x.0
    }
}
impl Share {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}
