//! Choices in turning nodes into features.

use serde::{Deserialize, Serialize};

/// How nodes become features; the default suits graphs whose nodes have no features.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphOptions {
    /// How the degree of a node is encoded.
    pub degree: DegreeFeature,
}

/// How the number of a node's neighbours becomes features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DegreeFeature {
    /// One indicator for each number 0, 1, …, and one for `cap` and all above; the largest degree of the
    /// training graphs is the cap if it is smaller.
    OneHot {
        /// The largest degree with an indicator.
        cap: usize,
    },
    /// ln(1 + degree), standardised.
    Number,
}

impl Default for DegreeFeature {
    fn default() -> Self {
        DegreeFeature::OneHot { cap: 64 }
    }
}
