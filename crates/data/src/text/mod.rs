//! Text columns: words into numbers, for a network that reads them in order.
//!
//! ```text
//! text ──words.rs──▶ words in lower case ──Tokenizer──▶ ids, 0 padding, 1 unknown ──▶ Texts
//! ```
//! `vocabulary.rs` learns which words are known from the training rows alone, `fit.rs` whether a column is worth
//! it.
//!
//! ```
//! use inducing_data::{TextOptions, Tokenizer};
//!
//! let options = TextOptions { min_count: 1, ..TextOptions::default() };
//! let tokenizer = Tokenizer::fit(&["a good film", "a bad film"], &options);
//! assert_eq!(tokenizer.words(), ["a", "film", "bad", "good"]); // by frequency, then alphabet
//! let texts = tokenizer.encode(&["A good story!"]);
//! assert_eq!(texts.row(0), [2, 5, Tokenizer::UNKNOWN]);
//! ```

mod fit;
mod options;
mod tokenizer;
mod vocabulary;
mod words;

pub(crate) use fit::fit_text;
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
    /// If `index` is out of range.
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
