//! Which words a [`Tokenizer`] knows: the most frequent ones of the training rows.

use std::collections::HashMap;

use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::options::TextOptions;
use super::tokenizer::{LONGEST_WORD, SPECIALS, TextCounts, Tokenizer};
use super::words::{without_breaks, words_of};

/// Texts that one thread counts at a time.
const BLOCK: usize = 1024;

/// How often each word stands in some texts.
#[derive(Default)]
struct Counted {
    words: HashMap<String, usize, FxBuildHasher>,
    all: TextCounts,
}

impl Tokenizer {
    /// Learns the vocabulary; of equally frequent words those first in the alphabet are known, so that the
    /// same rows in any order give the same ids.
    ///
    /// The options must be within their ranges.
    #[must_use]
    pub fn fit(texts: &[&str], options: &TextOptions) -> Tokenizer {
        let blocks = texts.par_chunks(BLOCK).map(|texts| Counted::count(texts, options.length));
        let counted = blocks.reduce(Counted::default, Counted::merged);
        let mut words: Vec<(String, usize)> =
            counted.words.into_iter().filter(|(_, count)| *count >= options.min_count.max(1)).collect();
        words.sort_unstable_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        words.truncate(options.vocabulary.saturating_sub(SPECIALS));
        let known: usize = words.iter().map(|(_, count)| count).sum();
        let counts = TextCounts { unknown: counted.all.words - known, ..counted.all };
        let words = words.into_iter().map(|(word, _)| word).collect();
        Tokenizer::new(words, options.length, options.keep, counts)
    }
}

impl Counted {
    fn count(texts: &[&str], length: usize) -> Self {
        let (mut counted, mut memory) = (Counted::default(), String::new());
        for text in texts {
            let before = counted.all.words;
            for piece in without_breaks(text).split_ascii_whitespace() {
                words_of(piece, &mut memory, &mut |word| {
                    counted.all.words += 1;
                    if let Some(count) = counted.words.get_mut(word) {
                        *count += 1;
                    } else if word.len() <= LONGEST_WORD {
                        counted.words.insert(word.to_owned(), 1);
                    }
                });
            }
            counted.all.texts += 1;
            counted.all.cut += usize::from(counted.all.words - before > length);
        }
        counted
    }

    fn merged(mut self, mut other: Self) -> Self {
        if self.words.len() < other.words.len() {
            std::mem::swap(&mut self, &mut other);
        }
        for (word, count) in other.words {
            *self.words.entry(word).or_insert(0) += count;
        }
        self.all.texts += other.all.texts;
        self.all.words += other.all.words;
        self.all.cut += other.all.cut;
        self
    }
}
