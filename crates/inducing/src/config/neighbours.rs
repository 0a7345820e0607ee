//! `[neighbours]`: training rows that a model keeps.

use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Training rows that join the inducing points at prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NeighboursConfig {
    /// How many of the nearest rows a prediction looks at; 0 keeps no rows.
    pub count: usize,
    /// How many of the rows that a member left out are looked at in its feature space; 0 for none.
    pub feature_count: usize,
    /// Rows that are kept, and that join members and neighbours, at most: a random sample of many.
    pub max_rows: NonZeroUsize,
}

impl Default for NeighboursConfig {
    fn default() -> Self {
        Self { count: 0, feature_count: 0, max_rows: NonZeroUsize::new(50_000).expect("not zero") }
    }
}
