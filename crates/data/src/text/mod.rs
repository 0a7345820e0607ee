//! Text columns: words into numbers, for a network that reads them in order.
//!
//! ```text
//! text ──words.rs──▶ words in lower case ──Tokenizer──▶ ids, 0 padding, 1 unknown ──▶ Texts
//! ```
//! `vocabulary.rs` learns which words are known from the training rows alone, `input.rs` whether a column is worth
//! it.

mod input;
mod options;
mod tokenizer;
mod vocabulary;
mod words;

pub(crate) use input::fit_text;
pub use options::{TextEnd, TextOptions};
pub use tokenizer::{TextCounts, Tokenizer};

/// The words of many texts as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// The ids of all texts, one text after the other.
    pub tokens: Vec<u32>,
    /// Where each text begins in `tokens`, and at last where all end, [N + 1].
    pub offsets: Vec<usize>,
}

impl Default for Texts {
    fn default() -> Self {
        Texts { tokens: Vec::new(), offsets: vec![0] }
    }
}

impl Texts {
    /// Number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids of one text, at least one.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn row(&self, index: usize) -> &[u32] {
        &self.tokens[self.offsets[index]..self.offsets[index + 1]]
    }

    /// Ends the text whose ids were pushed to `tokens`.
    fn end_text(&mut self) {
        self.offsets.push(self.tokens.len());
    }

    /// These texts and after them those.
    fn append(&mut self, more: &Texts) {
        let before = self.tokens.len();
        self.tokens.extend_from_slice(&more.tokens);
        self.offsets.extend(more.offsets[1..].iter().map(|offset| before + offset));
    }
}
