//! Some texts on their way through one tower, with the numbers that training draws for them.

use super::{TextShape, TowerShape};
use crate::error::Error;
use crate::nn::Mode;
use data::Texts;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The token of every word that the vocabulary does not know.
const UNKNOWN: u32 = 1;

/// Tokens of N texts, one text after the other.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) tokens: Vec<u32>,
    pub(super) offsets: Vec<usize>, // [N + 1]
    /// Share and seed.
    pub(super) dropout: Option<(f64, u64)>,
}

impl Batch {
    /// Some rows of the texts of one tower of one member; an error where a row is missing, or a text is empty, longer
    /// than the tower allows or has a token outside of the vocabulary.
    pub(super) fn new(
        shape: &TextShape,
        [member, column]: [usize; 2],
        texts: &Texts,
        rows: &[usize],
        mode: Mode,
    ) -> Result<Self, Error> {
        let tower = &shape.towers[column];
        let (mut tokens, mut offsets) = (Vec::new(), vec![0]);
        for &row in rows {
            tokens.extend_from_slice(checked(tower, column, texts, row)?);
            offsets.push(tokens.len());
        }
        let mut dropout = None;
        if let Mode::Train { seed } = mode {
            let seed = part_seed(seed, [member, column]);
            if shape.word_dropout > 0.0 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let threshold = (shape.word_dropout * f64::from(u32::MAX)) as u32;
                tokens
                    .iter_mut()
                    .for_each(|id| *id = if rng.random::<u32>() < threshold { UNKNOWN } else { *id });
            }
            dropout = (shape.dropout > 0.0).then_some((shape.dropout, seed));
        }
        Ok(Self { tokens, offsets, dropout })
    }

    /// N
    pub(super) fn texts(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// The tokens of a row, if its tower can read them.
fn checked<'a>(tower: &TowerShape, column: usize, texts: &'a Texts, row: usize) -> Result<&'a [u32], Error> {
    let column = column + 1;
    if row >= texts.len() {
        let found = format!("{} texts in text column {column}", texts.len());
        return Err(Error::inputs(format!("a text in row {row}"), found));
    }
    let text = texts.row(row);
    if !(1..=tower.length).contains(&text.len()) {
        let expected = format!("texts of 1 to {} tokens in text column {column}", tower.length);
        return Err(Error::inputs(expected, format!("{} tokens in row {row}", text.len())));
    }
    match text.iter().find(|&&id| id as usize >= tower.vocabulary) {
        None => Ok(text),
        Some(id) => {
            let expected = format!("tokens below {} in text column {column}", tower.vocabulary);
            Err(Error::inputs(expected, format!("token {id} in row {row}")))
        }
    }
}

/// A seed for one of the places that draw random numbers.
pub(super) fn part_seed<const N: usize>(seed: u64, place: [usize; N]) -> u64 {
    // The finaliser of SplitMix64: neighbouring places give unrelated seeds.
    place.iter().fold(seed, |seed, &part| {
        let x = (seed ^ part as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    })
}
