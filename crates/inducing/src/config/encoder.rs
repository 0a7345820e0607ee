//! `[encoder]`: the network.

use super::{Positive, Share};
use crate::nn::{graph, text};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Kind of network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncoderKind {
    /// Dense layers.
    #[default]
    Mlp,
    /// Convolutions; images only.
    Cnn,
    /// Attention over the words of texts, with dense layers for other columns beside them.
    Transformer,
    /// Graphs as bags of nodes, which are bags of their neighbours.
    Bag,
    /// Messages between the nodes of graphs.
    Gin,
    /// None: the inputs are features that were computed elsewhere.
    Identity,
}

/// The network; see [`crate::nn`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderConfig {
    /// Kind of network.
    #[serde(default)]
    pub kind: EncoderKind,
    /// Channels of a convolutional network's blocks; each block halves the image.
    #[serde(default)]
    pub blocks: Vec<NonZeroUsize>,
    /// Channels of a convolution before the first block; 0 for none.
    #[serde(default)]
    pub stem: usize,
    /// Convolutions of a block.
    #[serde(default)]
    pub convolutions: usize,
    /// Shift and mirror images at random while training.
    #[serde(default)]
    pub augment: bool,
    /// Units of the hidden layers of one member.
    pub hidden: Vec<NonZeroUsize>,
    /// D
    pub features: NonZeroUsize,
    /// Parallel networks; divides `features`.
    pub members: NonZeroUsize,
    /// Frequencies of a numeric column's periodic embedding; 0 turns it off.
    pub frequencies: usize,
    /// Outputs of a column's embedding.
    pub embedding_width: NonZeroUsize,
    /// Standard deviation of the initial frequencies.
    pub frequency_scale: Positive,
    /// A linear path from the inputs to the features.
    pub skip: bool,
    /// Learned lookup embeddings for serial columns (time, row number), found by how smoothly the target follows them.
    #[serde(alias = "tables")]
    pub lookup: bool,
    /// Share dropped in training: of a table's embedding outputs, of what a text's blocks add and pool, of a graph's
    /// pooled and hidden units.
    pub dropout: Share,
    /// The network of a text column.
    #[serde(default)]
    pub text: TextConfig,
    /// The network of graphs.
    #[serde(default)]
    pub graph: GraphConfig,
}

/// The network of a text column; see [`crate::nn::text`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextConfig {
    /// Numbers of a word.
    pub width: NonZeroUsize,
    /// Heads of attention; divides `width`.
    pub heads: NonZeroUsize,
    /// Hidden units of a block's dense part.
    pub feed_forward: NonZeroUsize,
    /// Transformer blocks; without any a text is a bag of words.
    pub blocks: usize,
    /// How words become one vector.
    pub pooling: text::Pooling,
    /// Share of words that training replaces by the unknown one.
    pub word_dropout: Share,
    /// Features of the columns beside the texts, for each member.
    pub beside: NonZeroUsize,
}

impl Default for TextConfig {
    fn default() -> Self {
        Self {
            width: size(32),
            heads: size(2),
            feed_forward: size(32),
            blocks: 1,
            pooling: text::Pooling::Mean,
            word_dropout: Share::default(),
            beside: size(16),
        }
    }
}

/// The network of graphs; see [`crate::nn::graph`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphConfig {
    /// Units of a node.
    pub width: NonZeroUsize,
    /// Rounds of messages: how many edges away a node can see.
    pub rounds: usize,
    /// What becomes of a node's neighbours.
    pub node_pooling: graph::Pooling,
    /// What becomes of a graph's nodes.
    pub graph_pooling: graph::Pooling,
}

impl Default for GraphConfig {
    fn default() -> Self {
        let pooling = graph::Pooling::Sum;
        Self { width: size(32), rounds: 2, node_pooling: pooling, graph_pooling: pooling }
    }
}

fn size(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("a default is not zero")
}
