//! Tells columns of free text from categories: several words a cell, and few repeated cells.

use std::collections::HashSet;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// Minimum number of words of a free text, on average.
const WORDS: u64 = 4;
/// Number of cells, spread over the column, that are compared with each other.
const SAMPLE: usize = 16_384;

/// Counts words, and remembers every n-th text by its hash.
#[derive(Debug, Default)]
pub(crate) struct TextDetector {
    texts: u64,
    words: u64,
    /// Hashes of the texts 0, n, 2n, …, with n = 2^`halvings`.
    sample: Vec<u64>,
    halvings: u32,
}

impl TextDetector {
    pub(crate) fn push(&mut self, text: &str) {
        if self.texts.trailing_zeros() >= self.halvings {
            if self.sample.len() == SAMPLE {
                let mut index = 0;
                self.sample.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.halvings += 1;
            }
            if self.texts.trailing_zeros() >= self.halvings {
                self.sample.push(FxBuildHasher.hash_one(text));
            }
        }
        self.texts += 1;
        self.words += text.split_ascii_whitespace().count() as u64;
    }

    /// Four words or more on average, and more than half of the texts distinct.
    pub(crate) fn is_likely(&self) -> bool {
        let distinct: HashSet<&u64> = self.sample.iter().collect();
        self.texts > 0 && self.words >= WORDS * self.texts && 2 * distinct.len() > self.sample.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(texts: impl Iterator<Item = String>) -> bool {
        let mut prose = TextDetector::default();
        texts.for_each(|text| prose.push(&text));
        assert!(prose.sample.len() <= SAMPLE && !prose.sample.is_empty());
        prose.is_likely()
    }

    #[test]
    fn prose_is_long_and_seldom_repeats_itself() {
        assert!(prose((0..100_000).map(|i| format!("this is text {i}"))));
        assert!(!prose((0..100_000).map(|i| format!("of text {i}"))), "three words");
        assert!(!prose((0..100_000).map(|i| format!("one of a hundred {}", i % 100))), "it repeats itself");
        assert!(prose((0..100_000).map(|i| format!("half of them {}", i % 60_000))));
    }
}
