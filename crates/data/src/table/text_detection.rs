//! Tells columns of free text from categories: several words a cell, and few repeated cells.

use std::collections::HashSet;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use crate::table::mixed::mixed;

/// Minimum number of words of a free text, on average.
const WORDS: u64 = 4;
/// Number of cells, spread over the column, that are compared with each other.
const SAMPLE: usize = 16_384;

/// Counts words, and remembers some texts by their hashes: with n halvings those of rank n or more.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TextDetector {
    texts: u64,
    words: u64,
    sample: Vec<Remembered>,
    halvings: u32,
}

/// The hash of a text, with its rank in the last bits.
type Remembered = u64;

const RANK_BITS: u32 = 6;

fn rank_of(text: &Remembered) -> u32 {
    (text & ((1 << RANK_BITS) - 1)) as u32
}

/// How many halvings a text stays in the sample: in the first file every n-th text does, in others as many at random, so that texts at
/// the same places of many files do not stand for all.
fn rank(file: usize, text: u64) -> u32 {
    let bits = if file == 0 { text } else { mixed(text ^ (file as u64).rotate_left(40)) };
    bits.trailing_zeros().min((1 << RANK_BITS) - 1)
}

impl TextDetector {
    pub(crate) fn push(&mut self, text: &str, file: usize) {
        let rank = rank(file, self.texts);
        while rank >= self.halvings && self.sample.len() == SAMPLE {
            self.halve_to(self.halvings + 1);
        }
        if rank >= self.halvings {
            self.sample.push(FxBuildHasher.hash_one(text) << RANK_BITS | u64::from(rank));
        }
        self.texts += 1;
        self.words += text.split_ascii_whitespace().count() as u64;
    }

    fn halve_to(&mut self, halvings: u32) {
        self.halvings = halvings;
        self.sample.retain(|text| rank_of(text) >= halvings);
    }

    /// Halves the samples of one column in several files until they are as dense as that of one large file.
    ///
    /// Those of some of the files are halved no more often than those of all, so that it does not matter which were thinned before.
    pub(crate) fn thin(files: &mut [&mut Self]) {
        let mut of_rank = [0; 1 << RANK_BITS];
        let texts = files.iter().flat_map(|file| &file.sample);
        texts.for_each(|text| of_rank[rank_of(text) as usize] += 1);
        let mut halvings = files.iter().map(|file| file.halvings).max().unwrap_or(0);
        while of_rank.iter().skip(halvings as usize).sum::<usize>() > SAMPLE {
            halvings += 1;
        }
        files.iter_mut().for_each(|file| file.halve_to(halvings));
    }

    /// Number of texts in the sample.
    pub(crate) fn held(&self) -> usize {
        self.sample.len()
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
        let distinct: HashSet<u64> = self.sample.iter().map(|text| text >> RANK_BITS).collect();
        self.texts > 0 && self.words >= WORDS * self.texts && 2 * distinct.len() > self.sample.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(texts: impl Iterator<Item = String>) -> bool {
        let mut prose = TextDetector::default();
        texts.for_each(|text| prose.push(&text, 0));
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

    /// A column in that one of several files.
    fn file(number: usize, texts: impl Iterator<Item = String>) -> TextDetector {
        let mut file = TextDetector::default();
        texts.for_each(|text| file.push(&text, number));
        file
    }

    fn thin(files: &mut [TextDetector]) {
        TextDetector::thin(&mut files.iter_mut().collect::<Vec<_>>());
    }

    #[test]
    fn files_are_thinned_to_one_density_whichever_are_thinned_together_before() {
        let make = || {
            let of =
                |(number, size): (usize, usize)| file(number, (0..size).map(|text| format!("{size} {text}")));
            [40_000, 3, 9000, 0, 16_384].into_iter().enumerate().map(of).collect::<Vec<_>>()
        };
        let (mut at_once, mut by_two) = (make(), make());
        thin(&mut at_once);
        thin(&mut by_two[..2]);
        thin(&mut by_two[2..]);
        thin(&mut by_two);
        assert_eq!(at_once, by_two);
        let held: usize = at_once.iter().map(TextDetector::held).sum();
        assert!((SAMPLE / 3..=SAMPLE).contains(&held), "{held}");
    }

    #[test]
    fn what_all_files_begin_with_does_not_stand_for_their_texts() {
        let text = |number, text| match text {
            0 => "they all begin with this".to_owned(),
            _ => format!("file {number} has text {text}"),
        };
        let mut files: Vec<_> =
            (0..3000).map(|number| file(number, (0..20).map(|at| text(number, at)))).collect();
        thin(&mut files);
        let mut all = TextDetector::default();
        files.into_iter().for_each(|file| all.extend(file));
        assert!(all.is_likely());
    }
}
