//! Where the threshold between two classes comes from.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The probability from which on the second of two classes is predicted, or what held-out rows choose it by. Written as `0.3`, `f1`,
/// `balanced_accuracy`, `precision=0.9` or `recall=0.9`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Threshold {
    /// This probability.
    At(f64),
    /// The best F1 score of the second class.
    F1,
    /// The best mean of both classes' recall.
    BalancedAccuracy,
    /// The lowest threshold with at least this precision.
    Precision(f64),
    /// The highest threshold with at least this recall.
    Recall(f64),
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || {
            format!(
                "`{text}` is no threshold\nhint: write a probability such as 0.3, or f1, balanced_accuracy, precision=0.9, recall=0.9"
            )
        };
        let share =
            |text: &str| text.trim().parse::<f64>().ok().filter(|p| *p > 0.0 && *p < 1.0).ok_or_else(refuse);
        match text.trim().replace('-', "_").as_str() {
            "f1" => Ok(Self::F1),
            "balanced_accuracy" => Ok(Self::BalancedAccuracy),
            text => match text.split_once('=') {
                Some(("precision", least)) => share(least).map(Self::Precision),
                Some(("recall", least)) => share(least).map(Self::Recall),
                Some(_) => Err(refuse()),
                None => share(text).map(Self::At),
            },
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(p) => write!(f, "{p}"),
            Self::F1 => write!(f, "f1"),
            Self::BalancedAccuracy => write!(f, "balanced_accuracy"),
            Self::Precision(least) => write!(f, "precision={least}"),
            Self::Recall(least) => write!(f, "recall={least}"),
        }
    }
}

impl TryFrom<String> for Threshold {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Threshold> for String {
    fn from(threshold: Threshold) -> Self {
        threshold.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_as_they_are_written() {
        for text in ["0.3", "f1", "balanced_accuracy", "precision=0.9", "recall=0.75"] {
            assert_eq!(text.parse::<Threshold>().expect("a threshold").to_string(), text);
        }
        for text in ["", "1.5", "0", "f2", "precision=2", "precision", "lift=0.3"] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
    }
}
