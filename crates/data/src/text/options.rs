//! Choices in turning texts into numbers.

use serde::{Deserialize, Serialize};

use super::tokenizer::SPECIALS;
use crate::error::Problem;

/// Upper limit of `length`; longer texts would not fit into a network's memory.
pub(crate) const MOST_TOKENS: usize = 65_536;
/// Upper limit of the vocabulary.
pub(crate) const MOST_WORDS: usize = 1_000_000;

/// How the text columns of a table are read; the default suits reviews, messages and descriptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextOptions {
    /// Ids at most, with those of padding and unknown words: the most frequent words of the training rows.
    pub vocabulary: usize,
    /// A word of the vocabulary stands at least so often in the training rows.
    pub min_count: usize,
    /// Maximum number of words read of each text.
    pub length: usize,
    /// Which words of a longer text count.
    pub keep: TextEnd,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { vocabulary: 20_000, min_count: 2, length: 200, keep: TextEnd::End }
    }
}

/// Which words of a text count that has too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextEnd {
    /// The first ones.
    Start,
    /// The last ones, where opinions come to their conclusion.
    #[default]
    End,
    /// The first quarter from the start, the other three from the end.
    Both,
}

impl TextOptions {
    /// The first option that is out of its range.
    pub(crate) fn fault(&self) -> Option<Problem> {
        let ranges = [
            ("vocabulary", self.vocabulary, SPECIALS + 1, MOST_WORDS),
            ("min_count", self.min_count, 1, usize::MAX),
            ("length", self.length, 1, MOST_TOKENS),
        ];
        let outside = ranges.into_iter().find(|(_, got, least, most)| !(least..=most).contains(&got))?;
        let (option, got, least, most) = outside;
        Some(Problem::TextOption { option, got, least, most })
    }
}
