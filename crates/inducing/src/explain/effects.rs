//! Why a row is predicted as it is: Shapley values of its columns, for the prediction and for its spread, by sampled
//! permutations in antithetic pairs (Štrumbelj and Kononenko 2014; Mitchell, Cooper, Frank and Holmes 2022).
//!
//! ```text
//! φ_j = mean over π, b of  f(x_j and all before it in π, the others from b) − f(all before it, the others from b)
//! Σ_j φ_j = f(x) − mean_b f(b)        b: training rows
//! ```
//! All rows share permutations and training rows, so that a row is explained the same alone as among others.

use super::importance::select;
use crate::dataset::{Inputs, Matrix};
use crate::error::Error;
use crate::model::Model;
use data::Texts;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Pairs of a permutation and its reverse.
const PAIRS: usize = 8;
/// Rows that are predicted at a time.
const BLOCK: usize = 8192;

/// What each column contributes to the predictions of some rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Effects {
    /// Names of the d columns.
    pub columns: Vec<String>,
    /// C: numbers that are predicted; 1 for classes.
    pub outputs: usize,
    /// On the mean, in the target's units, or on the probability of the row's most probable class: `[N, C, d]`.
    pub prediction: Vec<f64>,
    /// On the standard deviation, or on the entropy of the class: `[N, C, d]`.
    pub spread: Vec<f64>,
}

impl Effects {
    /// Of one row and output, each column with its effect on the prediction, the largest first.
    pub fn of_prediction(&self, row: usize, output: usize) -> Vec<(&str, f64)> {
        self.sorted(&self.prediction, row, output)
    }

    /// The same for the spread.
    pub fn of_spread(&self, row: usize, output: usize) -> Vec<(&str, f64)> {
        self.sorted(&self.spread, row, output)
    }

    fn sorted(&self, values: &[f64], row: usize, output: usize) -> Vec<(&str, f64)> {
        let d = self.columns.len();
        let own = &values[(row * self.outputs + output) * d..][..d];
        let mut named: Vec<(&str, f64)> =
            self.columns.iter().map(String::as_str).zip(own.iter().copied()).collect();
        named.sort_by(|a, b| b.1.total_cmp(&a.1));
        named
    }
}

/// What is explained of one row: for each output a prediction and a spread.
struct Said {
    prediction: Vec<f64>,
    spread: Vec<f64>,
}

impl Model {
    /// The effect of each column on the predictions of some rows of a table. Background rows are training rows, or those of `inputs`
    /// where the model keeps none.
    pub fn effects(&self, inputs: &Inputs, rows: &[usize]) -> Result<Effects, Error> {
        let (Inputs::Table(matrix), Some(schema)) = (inputs, self.header().schema.table()) else {
            return Err(Error::inputs("rows of a table to explain", "other inputs"));
        };
        let kept =
            self.kept_rows().filter(|kept| kept.width == matrix.width && self.header().ensemble.is_some());
        let pool = match kept {
            Some(kept) => Matrix { x: kept.x.clone(), width: kept.width, ..Matrix::default() },
            None => matrix.clone(),
        };
        let (places, d) = (schema.feature_ranges(), schema.inputs.len());
        let is_text: Vec<bool> =
            schema.inputs.iter().map(|input| matches!(input.encoding, data::Encoding::Text { .. })).collect();
        let rng = &mut ChaCha8Rng::seed_from_u64(0);
        let mut order: Vec<usize> = (0..d).collect();
        let count = Inputs::Table(pool.clone()).rows();
        let walks: Vec<(Vec<usize>, usize)> = (0..PAIRS)
            .flat_map(|_| {
                order.shuffle(rng);
                let from = rand::RngExt::random_range(rng, 0..count.max(1));
                [(order.clone(), from), (order.iter().rev().copied().collect(), from)]
            })
            .collect();
        let background = select(&pool, &walks.iter().map(|(_, from)| *from).collect::<Vec<_>>());
        let own = select(matrix, rows);
        let labels = self.labels_of(&Inputs::Table(own.clone()), rows.len())?;
        let outputs = if labels.is_empty() { self.outputs() } else { 1 };
        let mut effects = Effects {
            columns: schema.inputs.iter().map(|input| input.name.clone()).collect(),
            outputs,
            prediction: vec![0.0; rows.len() * outputs * d],
            spread: vec![0.0; rows.len() * outputs * d],
        };
        let steps = walks.len() * (d + 1);
        let at_once = (BLOCK / steps).max(1);
        for first in (0..rows.len()).step_by(at_once) {
            let block = first..(first + at_once).min(rows.len());
            let mut mixed = Mixer::new(&own, &background, &places, &is_text);
            for i in block.clone() {
                let absent = matrix.absent.get(&rows[i]).map_or(&[][..], Vec::as_slice);
                for (walk, (order, _)) in walks.iter().enumerate() {
                    let mut taken = vec![false; d];
                    mixed.push(i, walk, &taken, absent);
                    for &j in order {
                        taken[j] = true;
                        mixed.push(i, walk, &taken, absent);
                    }
                }
            }
            let of_block: Vec<u32> = labels.get(block.clone()).unwrap_or_default().to_vec();
            let said = self.say(&Inputs::Table(mixed.matrix), &of_block, steps)?;
            for (i, own) in block.zip(said.chunks_exact(steps)) {
                for ((order, _), said) in walks.iter().zip(own.chunks_exact(d + 1)) {
                    for (pair, &j) in said.windows(2).zip(order) {
                        for k in 0..outputs {
                            let at = (i * outputs + k) * d + j;
                            let share = 1.0 / walks.len() as f64;
                            effects.prediction[at] += share * (pair[1].prediction[k] - pair[0].prediction[k]);
                            effects.spread[at] += share * (pair[1].spread[k] - pair[0].spread[k]);
                        }
                    }
                }
            }
        }
        Ok(effects)
    }

    /// The most probable class of each row; empty for numbers.
    fn labels_of(&self, inputs: &Inputs, rows: usize) -> Result<Vec<u32>, Error> {
        if self.header().schema.classes().is_none() {
            return Ok(Vec::new());
        }
        let all: Vec<usize> = (0..rows).collect();
        Ok(self.predict_classes(inputs, &all)?.labels().map(|label| label as u32).collect())
    }

    /// Predictions of all rows; of classes, whose labels are given for every `steps` rows, the label's probability.
    fn say(&self, inputs: &Inputs, labels: &[u32], steps: usize) -> Result<Vec<Said>, Error> {
        let all: Vec<usize> = (0..inputs.rows()).collect();
        if self.header().schema.classes().is_some() {
            let batch = self.predict_classes(inputs, &all)?;
            let entropy = batch.entropy();
            let said = |i: usize| Said {
                prediction: vec![batch.p[i * batch.classes + labels[i / steps] as usize]],
                spread: vec![entropy[i]],
            };
            return Ok(all.into_iter().map(said).collect());
        }
        let (c, batch) = (self.outputs(), self.predict_numbers(inputs, &all)?);
        let said = |i: usize| Said {
            prediction: batch.mean[i * c..(i + 1) * c].to_vec(),
            spread: batch.std[i * c..(i + 1) * c].to_vec(),
        };
        Ok(all.into_iter().map(said).collect())
    }
}

/// Puts rows together from cells of a row and of a background row.
struct Mixer<'a> {
    own: &'a Matrix,
    background: &'a Matrix,
    places: &'a [[std::ops::Range<usize>; 2]],
    is_text: &'a [bool],
    matrix: Matrix,
    rows: usize,
}

impl<'a> Mixer<'a> {
    fn new(
        own: &'a Matrix,
        background: &'a Matrix,
        places: &'a [[std::ops::Range<usize>; 2]],
        is_text: &'a [bool],
    ) -> Self {
        let texts = own.texts.iter().map(|_| Texts::default()).collect();
        let matrix = Matrix { width: own.width, texts, ..Matrix::default() };
        Self { own, background, places, is_text, matrix, rows: 0 }
    }

    /// Appends row `i` with the columns that are taken from it, the others from a background row. What is absent is so where it is taken.
    fn push(&mut self, i: usize, from: usize, taken: &[bool], absent: &[usize]) {
        let width = self.own.width;
        let row = self.rows;
        self.rows += 1;
        let own = &self.own.x[i * width..][..width];
        self.matrix.x.extend_from_slice(&self.background.x[from * width..][..width]);
        let to = &mut self.matrix.x[row * width..];
        let mut text = 0;
        for (j, ranges) in self.places.iter().enumerate() {
            if taken[j] {
                ranges.iter().for_each(|range| to[range.clone()].copy_from_slice(&own[range.clone()]));
            }
            if self.is_text[j] {
                let (source, at) = if taken[j] { (self.own, i) } else { (self.background, from) };
                let words = &mut self.matrix.texts[text];
                words.tokens.extend_from_slice(source.texts[text].row(at));
                words.offsets.push(words.tokens.len());
                text += 1;
            }
        }
        let missing: Vec<usize> = absent.iter().copied().filter(|&j| taken[j]).collect();
        if !missing.is_empty() {
            self.matrix.absent.insert(row, missing);
        }
    }
}
