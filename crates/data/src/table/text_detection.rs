//! Tells columns of free text from categories: several words a cell, and few repeated cells.

use std::collections::HashSet;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

/// Minimum number of words of a free text, on average.
const WORDS: u64 = 4;
/// Number of cells, spread over the column, that are compared with each other.
const SAMPLE: usize = 16_384;

/// Counts words, and remembers every n-th text by its hash.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
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
                self.halve();
            }
            if self.texts.trailing_zeros() >= self.halvings {
                self.sample.push(FxBuildHasher.hash_one(text));
            }
        }
        self.texts += 1;
        self.words += text.split_ascii_whitespace().count() as u64;
    }

    fn halve(&mut self) {
        let mut index = 0;
        self.sample.retain(|_| {
            index += 1;
            index % 2 == 1
        });
        self.halvings += 1;
    }

    /// Halves the samples of one column in several files until they are as dense as that of one large file.
    ///
    /// Those of some of the files are halved no more often than those of all, so that it does not matter which were thinned before.
    pub(crate) fn thin(files: &mut [&mut Self]) {
        let longest = files.iter().map(|file| file.texts).max().unwrap_or(0);
        let kept = |halvings: u32| files.iter().map(|file| file.kept(halvings)).sum::<u64>();
        let mut halvings = files.iter().map(|file| file.halvings).max().unwrap_or(0);
        while kept(halvings) > SAMPLE as u64 && 1_u64 << halvings < longest {
            halvings += 1;
        }
        for file in files {
            while file.halvings < halvings {
                file.halve();
            }
        }
    }

    /// Number of texts in the sample.
    pub(crate) fn held(&self) -> usize {
        self.sample.len()
    }

    /// Number of texts in the sample after so many halvings.
    fn kept(&self, halvings: u32) -> u64 {
        self.texts.div_ceil(1 << halvings)
    }

    /// The texts of the next file, whose sample is as dense.
    pub(crate) fn extend(&mut self, next: Self) {
        self.texts += next.texts;
        self.words += next.words;
        self.sample.extend(next.sample);
        self.halvings = self.halvings.max(next.halvings);
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

    #[test]
    fn files_are_thinned_to_one_density_whichever_are_thinned_together_before() {
        let of = |texts: u64| {
            let mut file = TextDetector::default();
            (0..texts).for_each(|i| file.push(&format!("{texts} {i}")));
            file
        };
        let sizes = [40_000, 3, 9000, 0, 16_384];
        let mut at_once = sizes.map(of);
        TextDetector::thin(&mut at_once.iter_mut().collect::<Vec<_>>());
        let mut by_two = sizes.map(of);
        let (some, others) = by_two.split_at_mut(2);
        TextDetector::thin(&mut some.iter_mut().collect::<Vec<_>>());
        TextDetector::thin(&mut others.iter_mut().collect::<Vec<_>>());
        TextDetector::thin(&mut by_two.iter_mut().collect::<Vec<_>>());
        for (one, other) in at_once.iter().zip(&by_two) {
            assert_eq!((&one.sample, one.halvings), (&other.sample, other.halvings));
        }
        assert!(at_once.iter().map(|file| file.sample.len()).sum::<usize>() <= SAMPLE);
    }
}
