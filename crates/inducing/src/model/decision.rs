//! From probabilities to a class: the most probable one, one with a threshold, or the one of least expected cost.

use crate::metrics::predicted;
use serde::{Deserialize, Serialize};

/// How a class is decided where it is not simply the most probable one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Decision {
    /// Of two classes the second, from this probability of it on.
    Threshold(f64),
    /// The class k with the least `Σ_c p_c·cost[c][k]`: rows are true classes, columns decisions.
    Costs(Vec<Vec<f64>>),
}

impl Decision {
    /// The class of a row with these probabilities.
    ///
    /// ```
    /// use inducing::model::Decision;
    /// assert_eq!(Decision::Threshold(0.2).class(&[0.7, 0.3]), 1);
    /// let missing_one_is_worse = Decision::Costs(vec![vec![0.0, 1.0], vec![9.0, 0.0]]);
    /// assert_eq!((missing_one_is_worse.class(&[0.85, 0.15]), missing_one_is_worse.class(&[0.95, 0.05])), (1, 0));
    /// ```
    #[must_use]
    pub fn class(&self, p: &[f64]) -> usize {
        match self {
            Self::Threshold(least) => usize::from(p[1] >= *least),
            Self::Costs(costs) => {
                let cost = |k: usize| p.iter().zip(costs).map(|(p, row)| p * row[k]).sum::<f64>();
                (0..p.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or_else(|| predicted(p))
            }
        }
    }

    /// Whether it suits so many classes.
    pub(crate) fn is_sound(&self, classes: usize) -> bool {
        match self {
            Self::Threshold(least) => classes == 2 && (0.0..=1.0).contains(least),
            Self::Costs(costs) => {
                let sound = |cost: &f64| cost.is_finite() && *cost >= 0.0;
                costs.len() == classes
                    && costs.iter().all(|row| row.len() == classes && row.iter().all(sound))
            }
        }
    }
}
