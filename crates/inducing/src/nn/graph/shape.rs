//! What fixes the sizes of a graph encoder, and which sizes are refused.

use super::pool::Pooling;
use serde::{Deserialize, Serialize};

/// Most rounds, members and dense layers that a shape may ask for. A layout has an entry for each round and layer, and a
/// model file may claim any number of them: with this bound a hostile one allocates next to nothing.
const MOST: usize = 1024;

/// How nodes learn of one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphKind {
    /// A graph is a bag of nodes, a node a bag of its neighbours.
    Bag,
    /// Messages between neighbours, and the node states of all rounds are pooled.
    Gin,
}

/// Everything that fixes the parameters' shapes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphShape {
    /// How nodes learn of one another.
    pub kind: GraphKind,
    /// Numbers of a node.
    pub inputs: usize,
    /// Units of a node in one member.
    pub width: usize,
    /// T, at most 1024; nodes see neighbours at most T edges away.
    pub rounds: usize,
    /// How a node's neighbours are pooled.
    pub node_pooling: Pooling,
    /// How a graph's nodes are pooled.
    pub graph_pooling: Pooling,
    /// Units of the dense layers of one member, after the nodes are pooled; at most 1024 layers.
    pub hidden: Vec<usize>,
    /// D, a multiple of `members`.
    pub features: usize,
    /// K, at most 1024 parallel networks, each with its own features.
    pub members: usize,
    /// Share of the pooled vector g and of the dense layers' outputs that is dropped in training.
    pub dropout: f64,
}

impl GraphShape {
    /// What is wrong with it, if anything.
    ///
    /// ```
    /// use inducing::nn::graph::{GraphKind, GraphShape, Pooling};
    /// let (node_pooling, graph_pooling) = (Pooling::Sum, Pooling::Mean);
    /// let shape = GraphShape {
    ///     kind: GraphKind::Gin, inputs: 3, width: 8, rounds: 2, node_pooling, graph_pooling,
    ///     hidden: vec![], features: 4, members: 2, dropout: 0.0,
    /// };
    /// assert_eq!(shape.fault(), None);
    /// assert!(GraphShape { members: 3, ..shape }.fault().is_some());
    /// ```
    pub fn fault(&self) -> Option<String> {
        let sizes = [self.inputs, self.width, self.features, self.members];
        let counts =
            [("rounds", self.rounds), ("members", self.members), ("layers in `hidden`", self.hidden.len())];
        if sizes.contains(&0) || self.hidden.contains(&0) {
            Some("`inputs`, `width`, `features`, `members` and all of `hidden` must be positive".into())
        } else if let Some((what, count)) = counts.into_iter().find(|(_, count)| *count > MOST) {
            Some(format!("{count} {what} are too many; the most is {MOST}"))
        } else if !self.features.is_multiple_of(self.members) {
            Some(format!("{} features are not a multiple of {} members", self.features, self.members))
        } else if !(0.0..1.0).contains(&self.dropout) {
            Some(format!("`dropout` = {} is not a share in [0, 1)", self.dropout))
        } else {
            None
        }
    }

    /// Numbers of g in one member.
    pub(super) fn pooled(&self) -> usize {
        match self.kind {
            GraphKind::Bag => self.width,
            GraphKind::Gin => self.rounds.saturating_mul(self.width).saturating_add(self.inputs),
        }
    }
}
