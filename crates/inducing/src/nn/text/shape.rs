//! Sizes of a text encoder, and what can be wrong with them.

use crate::nn::mlp::MlpShape;
use serde::{Deserialize, Serialize};

/// Largest number of text columns, of members, and of blocks of a tower.
const MOST: usize = 1024;
/// Largest number of towers and blocks of all members together: a layout lists every one, and a hostile file must not
/// make it list 10¹².
const MOST_IN_ALL: usize = 4096;

/// How the tokens of a text become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// Their maximum, channel by channel.
    Max,
    /// Both, one after the other.
    MeanMax,
}

impl Pooling {
    pub(super) fn has_mean(self) -> bool {
        self != Self::Max
    }

    pub(super) fn has_max(self) -> bool {
        self != Self::Mean
    }
}

/// The network of one text column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TowerShape {
    /// V, with the two ids that are no words: 0 for padding, 1 for unknown.
    pub vocabulary: usize,
    /// Largest number of tokens of a text.
    pub length: usize,
    /// W, numbers of a token.
    pub width: usize,
    /// H, divides `width`.
    pub heads: usize,
    /// Hidden units of the dense part of a block.
    pub feed_forward: usize,
    /// Transformer blocks; without any the text is a bag of words.
    pub blocks: usize,
    /// What follows the blocks.
    pub pooling: Pooling,
}

impl TowerShape {
    /// Numbers of a pooled text.
    pub(super) fn outputs(&self) -> usize {
        if self.pooling == Pooling::MeanMax { self.width.saturating_mul(2) } else { self.width }
    }

    fn fault(&self) -> Option<String> {
        let Self { vocabulary, length, width, heads, feed_forward, blocks, .. } = *self;
        if [length, width, heads, feed_forward].contains(&0) {
            Some("`length`, `width`, `heads` and `feed_forward` must be positive".into())
        } else if vocabulary < 2 || u32::try_from(vocabulary).is_err() {
            Some(format!("a vocabulary of {vocabulary} words; it needs at least 2 and at most {}", u32::MAX))
        } else if blocks > MOST {
            Some(format!("{blocks} blocks; at most {MOST} are possible"))
        } else if !width.is_multiple_of(heads) {
            Some(format!(
                "{width} numbers a token cannot be shared by {heads} heads; `heads` must divide `width`"
            ))
        } else {
            None
        }
    }
}

/// Everything that fixes the parameters' shapes, and the shares that training drops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextShape {
    /// One for each text column.
    pub towers: Vec<TowerShape>,
    /// The network of the other columns, with as many members; its features join the texts' before the feature layer.
    pub beside: Option<MlpShape>,
    /// D, a multiple of `members`.
    pub features: usize,
    /// K, parallel networks with features of their own.
    pub members: usize,
    /// Share of numbers dropped in training: of what a block adds, and of the pooled texts.
    pub dropout: f64,
    /// Share of tokens that training replaces by the unknown one.
    pub word_dropout: f64,
}

impl TextShape {
    /// What is wrong with it, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        let beside = self.beside.as_ref();
        if self.towers.is_empty() {
            Some("an encoder of texts needs at least one text column".into())
        } else if self.towers.len() > MOST || self.members > MOST {
            Some(format!(
                "{} text columns and {} members; at most {MOST} of each are possible",
                self.towers.len(),
                self.members
            ))
        } else if self.members == 0 || self.features == 0 || !self.features.is_multiple_of(self.members) {
            Some(format!("{} features cannot be shared by {} members", self.features, self.members))
        } else if beside.is_some_and(|mlp| {
            mlp.members != self.members || mlp.features == 0 || !mlp.features.is_multiple_of(self.members)
        }) {
            Some(format!(
                "the network beside the texts must have features for each of {} members",
                self.members
            ))
        } else if [self.dropout, self.word_dropout].iter().any(|share| !(0.0..1.0).contains(share)) {
            Some("`dropout` and `word_dropout` must be at least 0 and below 1".into())
        } else if let Some(fault) = self.towers.iter().find_map(TowerShape::fault) {
            Some(fault)
        } else {
            // At most 1024 · 1024 · 1025, far from an overflow.
            let all = self.members * self.towers.iter().map(|tower| 1 + tower.blocks).sum::<usize>();
            (all > MOST_IN_ALL).then(|| {
                format!(
                    "{all} towers and blocks in all; at most {MOST_IN_ALL} are possible: lower `members` or `blocks`"
                )
            })
        }
    }

    /// Inputs of the feature layer of one member.
    pub(super) fn inputs(&self) -> usize {
        let beside = self.beside.as_ref().map_or(0, |mlp| mlp.features / self.members.max(1));
        self.towers.iter().fold(beside, |sum, tower| sum.saturating_add(tower.outputs()))
    }
}
