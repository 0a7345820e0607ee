//! [`Tokenizer`]: words into ids. Fitted on training rows (`vocabulary.rs`), stored in the model file as JSON.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::Texts;
use super::options::{MOST_TOKENS, MOST_WORDS, TextEnd};
use super::words::{without_breaks, words_of};

/// Ids that are no words: 0 for padding, 1 for unknown.
pub(crate) const SPECIALS: usize = 2;
/// A longer word, in bytes, is no word but an address or a slip, and never known.
pub(crate) const LONGEST_WORD: usize = 128;
/// Texts that one thread encodes at a time.
const BLOCK: usize = 256;

/// The words that a model knows, and how much of a text it reads.
///
/// ```text
/// id 0 padding, 1 unknown, 2 + i the i-th word
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokenizer {
    /// Known words, the most frequent first.
    words: Vec<String>,
    /// Maximum number of words read of each text.
    length: usize,
    /// Which words of a longer text count.
    keep: TextEnd,
    counts: TextCounts,
    #[serde(skip)]
    ids: Ids,
}

/// What the training rows held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextCounts {
    /// Training texts.
    pub texts: usize,
    /// Their words.
    pub words: usize,
    /// Words that are not in the vocabulary, being too rare.
    pub unknown: usize,
    /// Texts of which only a part counts.
    pub cut: usize,
}

impl TextCounts {
    /// The share of words that are not in the vocabulary.
    #[must_use]
    pub fn unknown_share(&self) -> f64 {
        self.unknown as f64 / self.words.max(1) as f64
    }

    /// Words of a text on average.
    #[must_use]
    pub fn words_a_text(&self) -> f64 {
        self.words as f64 / self.texts.max(1) as f64
    }
}

/// The id of each word, made when it is first wanted; it follows from the words and is no part of the value.
#[derive(Debug, Clone, Default)]
struct Ids(OnceLock<HashMap<String, u32, FxBuildHasher>>);

impl PartialEq for Ids {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Tokenizer {
    /// The id that fills short texts up.
    pub const PADDING: u32 = 0;
    /// The id of all words that are not known, and of a text without words.
    pub const UNKNOWN: u32 = 1;

    pub(super) fn new(words: Vec<String>, length: usize, keep: TextEnd, counts: TextCounts) -> Self {
        Tokenizer { words, length, keep, counts, ids: Ids::default() }
    }

    /// Number of ids, with padding and unknown.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        self.words.len() + SPECIALS
    }

    /// The known words; the i-th has the id 2 + i.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Maximum number of ids of a text.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Which words of a longer text count.
    #[must_use]
    pub fn keep(&self) -> TextEnd {
        self.keep
    }

    /// What the training rows held.
    #[must_use]
    pub fn counts(&self) -> TextCounts {
        self.counts
    }

    /// What is wrong with a tokenizer that comes out of a file, if anything is.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        if !(1..=MOST_TOKENS).contains(&self.length) {
            return Some(format!("a text has {} words at most, not 1 to {MOST_TOKENS}", self.length));
        }
        if self.words.is_empty() || self.vocabulary() > MOST_WORDS {
            return Some(format!("the vocabulary has {} words", self.words.len()));
        }
        if let Some(word) = self.words.iter().find(|word| word.is_empty() || word.len() > LONGEST_WORD) {
            return Some(format!("the vocabulary has a word of {} bytes", word.len()));
        }
        let mut seen = HashSet::with_capacity(self.words.len());
        let twice = self.words.iter().find(|word| !seen.insert(word.as_str()))?;
        Some(format!("the word {twice:?} stands twice in the vocabulary"))
    }

    /// The ids of each text, 1 to [`length`](Self::length) of them.
    #[must_use]
    pub fn encode(&self, texts: &[&str]) -> Texts {
        let blocks: Vec<Texts> = texts.par_chunks(BLOCK).map(|texts| self.encode_block(texts)).collect();
        let mut all = Texts::default();
        all.tokens.reserve_exact(blocks.iter().map(|block| block.tokens.len()).sum());
        all.offsets.reserve_exact(texts.len());
        blocks.iter().for_each(|block| all.append(block));
        all
    }

    fn encode_block(&self, texts: &[&str]) -> Texts {
        let (mut encoded, mut ids, mut word) = (Texts::default(), Vec::new(), String::new());
        for text in texts {
            self.push_ids(&without_breaks(text), &mut ids, &mut word);
            match ids.len().checked_sub(self.length) {
                _ if ids.is_empty() => encoded.tokens.push(Self::UNKNOWN),
                None | Some(0) => encoded.tokens.extend_from_slice(&ids),
                Some(excess) => {
                    let head = match self.keep {
                        TextEnd::Start => self.length,
                        TextEnd::End => 0,
                        TextEnd::Both => self.length / 4,
                    };
                    encoded.tokens.extend_from_slice(&ids[..head]);
                    encoded.tokens.extend_from_slice(&ids[head + excess..]);
                }
            }
            encoded.end_text();
        }
        encoded
    }

    /// The ids of all words of `text`, or at least of those that count; from the side that is kept, so that a
    /// text of a million words costs what its kept words cost.
    fn push_ids(&self, text: &str, ids: &mut Vec<u32>, word: &mut String) {
        ids.clear();
        let known = self.ids();
        let id = |word: &str| known.get(word).copied().unwrap_or(Self::UNKNOWN);
        if self.keep != TextEnd::End {
            let enough = if self.keep == TextEnd::Start { self.length } else { usize::MAX };
            for piece in text.split_ascii_whitespace() {
                words_of(piece, word, &mut |word| ids.push(id(word)));
                if ids.len() >= enough {
                    break;
                }
            }
            return;
        }
        for piece in text.split_ascii_whitespace().rev() {
            let before = ids.len();
            words_of(piece, word, &mut |word| ids.push(id(word)));
            ids[before..].reverse();
            if ids.len() >= self.length {
                break;
            }
        }
        ids.reverse();
    }

    fn ids(&self) -> &HashMap<String, u32, FxBuildHasher> {
        self.ids.0.get_or_init(|| self.words.iter().cloned().zip(SPECIALS as u32..).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenizer(length: usize, keep: TextEnd) -> Tokenizer {
        Tokenizer::new(["a", "b", "c"].map(String::from).into(), length, keep, TextCounts::default())
    }

    #[test]
    fn the_kept_end_of_a_long_text_is_kept_in_order() {
        let text = "A b x, c-a b b";
        let row = |length, keep| tokenizer(length, keep).encode(&[text]).row(0).to_vec();
        assert_eq!(row(9, TextEnd::End), [2, 3, 1, 4, 2, 3, 3]);
        assert_eq!(row(7, TextEnd::Both), row(9, TextEnd::End));
        assert_eq!(row(4, TextEnd::Start), [2, 3, 1, 4]);
        assert_eq!(row(3, TextEnd::End), [2, 3, 3]);
        assert_eq!(row(4, TextEnd::Both), [2, 2, 3, 3]);
    }

    #[test]
    fn a_text_without_words_is_one_unknown_word() {
        let texts = tokenizer(5, TextEnd::End).encode(&["", "...", "zz a", "<br />"]);
        let rows: Vec<&[u32]> = (0..texts.len()).map(|row| texts.row(row)).collect();
        assert_eq!(rows, [&[1][..], &[1], &[1, 2], &[1]]);
    }

    #[test]
    fn a_forged_vocabulary_is_refused() {
        let sound = tokenizer(5, TextEnd::End);
        assert_eq!(sound.fault(), None);
        let forged: [fn(&mut Tokenizer); 6] = [
            |t| t.words[1] = "a".into(),
            |t| t.words[0].clear(),
            |t| t.words[0] = "x".repeat(LONGEST_WORD + 1),
            |t| t.words.clear(),
            |t| t.length = 0,
            |t| t.length = usize::MAX,
        ];
        for forge in forged {
            let mut tokenizer = sound.clone();
            forge(&mut tokenizer);
            assert!(tokenizer.fault().is_some(), "{tokenizer:?}");
        }
    }
}
