//! Node features by a fitted schema.
//!
//! ```text
//! x = [ degree | one-hot of the node's label | standardised attributes ]   [N, width]
//! ```

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{GraphProblem, GraphSchema, GraphSet};
use crate::error::{DataError, Problem};
use crate::schema::scale::standardise;

/// How the number of neighbours becomes features, with what was learned from the training graphs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DegreeScale {
    /// Indicators of 0, 1, …, `cap`; all above share the last.
    OneHot {
        /// The largest degree with an indicator of its own.
        cap: usize,
    },
    /// (ln(1 + degree) − mean) / std.
    Number {
        /// Mean of ln(1 + degree) over the training nodes.
        mean: f64,
        /// Its standard deviation; 1 where nothing varies.
        std: f64,
    },
}

/// The standardisation of one attribute of nodes, (x − mean) / std, clipped to ±10⁶.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttributeScale {
    /// Mean over the training nodes.
    pub mean: f64,
    /// Standard deviation over the training nodes; 1 where nothing varies.
    pub std: f64,
}

/// The features of all nodes of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphFeatures {
    /// [N, width] row-major, all finite.
    pub x: Vec<f32>,
    /// Features of a node.
    pub width: usize,
    /// Nodes whose label did not occur in training; they have no indicator set.
    pub unseen: usize,
}

impl DegreeScale {
    /// Number of features.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            DegreeScale::OneHot { cap } => cap + 1,
            DegreeScale::Number { .. } => 1,
        }
    }

    fn write(&self, degree: usize, x: &mut [f32]) {
        match self {
            DegreeScale::OneHot { cap } => x[degree.min(*cap)] = 1.0,
            DegreeScale::Number { mean, std } => x[0] = standardise((degree as f64).ln_1p(), *mean, *std),
        }
    }
}

impl GraphSchema {
    /// Features of a node.
    #[must_use]
    pub fn width(&self) -> usize {
        self.degree.width() + self.node_levels.len() + self.attributes.len()
    }

    /// The features of all nodes.
    ///
    /// # Errors
    /// If the nodes lack labels or attributes that the model was trained with.
    pub fn encode(&self, set: &GraphSet) -> Result<GraphFeatures, DataError> {
        self.check_features(set)?;
        let (width, numbers) = (self.width(), self.attributes.len());
        let labels_at = self.degree.width();
        let mut x = vec![0.0; set.node_count() * width];
        let mine: HashMap<&String, usize> = self.node_levels.iter().zip(labels_at..).collect();
        let place: Vec<Option<usize>> =
            set.node_levels.iter().map(|level| mine.get(level).copied()).collect();
        let mut unseen = 0;
        for (node, row) in x.chunks_exact_mut(width).enumerate() {
            self.degree.write(set.neighbours_of(node).len(), row);
            if let (Some(labels), false) = (&set.node_labels, self.node_levels.is_empty()) {
                match place[labels[node] as usize] {
                    Some(at) => row[at] = 1.0,
                    None => unseen += 1,
                }
            }
            let attributes = set.attributes.iter().skip(node * set.attribute_width).take(numbers);
            for ((slot, value), scale) in
                row[width - numbers..].iter_mut().zip(attributes).zip(&self.attributes)
            {
                *slot = standardise(f64::from(*value), scale.mean, scale.std);
            }
        }
        Ok(GraphFeatures { x, width, unseen })
    }

    pub(super) fn check_features(&self, set: &GraphSet) -> Result<(), DataError> {
        let problem = match (self.attributes.len(), set.attribute_width) {
            _ if !self.node_levels.is_empty() && set.node_labels.is_none() => {
                GraphProblem::MissingFeatures { expected: "labels" }
            }
            (expected, 0) if expected > 0 => GraphProblem::MissingFeatures { expected: "attributes" },
            (expected, got) if expected > 0 && expected != got => {
                GraphProblem::AttributeWidth { expected, got }
            }
            _ => return Ok(()),
        };
        Err(DataError::new(&set.origin, Problem::Graph(problem)))
    }
}
