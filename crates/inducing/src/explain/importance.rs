//! Which columns matter: what predictions lose, and how much their spread moves, when one column is shuffled among the
//! rows (permutation importance, Breiman 2001; here for the spread too).

use crate::dataset::{Inputs, Matrix};
use crate::error::Error;
use crate::metrics::row_nll;
use crate::model::Model;
use data::Texts;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// What was observed of some rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// In the targets' own units, row-major `[N, C]`.
    Numbers(Vec<f64>),
    /// Classes.
    Classes(Vec<u32>),
}

impl Observed {
    /// The same of some of the rows, of `outputs` numbers each.
    #[must_use]
    pub fn select(&self, rows: &[usize], outputs: usize) -> Self {
        match self {
            Self::Numbers(y) => {
                Self::Numbers(rows.iter().flat_map(|&i| y[i * outputs..(i + 1) * outputs].to_vec()).collect())
            }
            Self::Classes(labels) => Self::Classes(rows.iter().map(|&i| labels[i]).collect()),
        }
    }
}

/// What the columns of a table are worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    /// Rows that were shuffled.
    pub rows: usize,
    /// How often; figures are means.
    pub shuffles: usize,
    /// In the table's order.
    pub columns: Vec<ColumnImportance>,
}

/// What one column is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnImportance {
    /// The column's name.
    pub name: String,
    /// How much the error grows when the column is shuffled: the RMSE of one target in its own units, of several the
    /// mean of those in deviations of the targets; of classes the negative log-probability.
    pub error: f64,
    /// Σ |spread with the column shuffled − spread| / Σ spread: standard deviation of numbers, entropy of classes.
    pub spread: f64,
}

/// Predictions of rows, times columns, times shuffles, at the most.
const WORK: usize = 10_000;
/// Shuffles of a column at the most: one alone may be luck.
const SHUFFLES: usize = 5;
/// Rows at the least and at the most.
const ROWS: [usize; 2] = [100, 2000];

/// Error and spread of each row.
struct Judgement {
    error: f64,
    spread: Vec<f64>,
}

impl Model {
    /// Importance of each column of a table, measured on a random part of `rows`, of which `observed` is known. `None`
    /// where the inputs are no table, or one of a single column.
    pub fn importance(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        observed: &Observed,
        seed: u64,
    ) -> Result<Option<Importance>, Error> {
        let (Inputs::Table(matrix), Some(schema)) = (inputs, self.header().schema.table()) else {
            return Ok(None);
        };
        if schema.inputs.len() < 2 || rows.len() < 2 {
            return Ok(None);
        }
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut chosen: Vec<usize> = (0..rows.len()).collect();
        chosen.shuffle(rng);
        chosen.truncate((WORK / schema.inputs.len()).clamp(ROWS[0], ROWS[1]));
        let observed = observed.select(&chosen, self.outputs());
        let rows: Vec<usize> = chosen.iter().map(|&i| rows[i]).collect();
        let matrix = select(matrix, &rows);
        let base = self.judge(&Inputs::Table(matrix.clone()), &observed)?;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let shuffles = (WORK / (schema.inputs.len() * rows.len())).clamp(1, SHUFFLES);
        let whole = base.spread.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (mut columns, mut text) = (Vec::new(), 0);
        for (input, ranges) in schema.inputs.iter().zip(schema.feature_ranges()) {
            let is_text = matches!(input.encoding, data::Encoding::Text { .. });
            let mut column = ColumnImportance { name: input.name.clone(), error: 0.0, spread: 0.0 };
            for _ in 0..shuffles {
                order.shuffle(rng);
                let mut shuffled = matrix.clone();
                for features in &ranges {
                    for (to, &from) in order.iter().enumerate() {
                        let from = from * matrix.width;
                        shuffled.x[to * matrix.width..][features.clone()]
                            .copy_from_slice(&matrix.x[from..][features.clone()]);
                    }
                }
                if is_text {
                    shuffled.texts[text] = select_texts(&matrix.texts[text], &order);
                }
                let judged = self.judge(&Inputs::Table(shuffled), &observed)?;
                let moved: f64 = judged.spread.iter().zip(&base.spread).map(|(a, b)| (a - b).abs()).sum();
                column.error += (judged.error - base.error) / shuffles as f64;
                column.spread += moved / whole / shuffles as f64;
            }
            text += usize::from(is_text);
            columns.push(column);
        }
        Ok(Some(Importance { rows: rows.len(), shuffles, columns }))
    }

    fn judge(&self, inputs: &Inputs, observed: &Observed) -> Result<Judgement, Error> {
        match observed {
            Observed::Numbers(y) => {
                let rows: Vec<usize> = (0..inputs.rows()).collect();
                let (c, prediction) = (self.outputs(), self.predict_numbers(inputs, &rows)?);
                let targets = self.header().schema.numbers();
                let rmse = |k: usize| {
                    let unit = if c == 1 { 1.0 } else { targets[k].std };
                    let errors = y.iter().zip(&prediction.mean).skip(k).step_by(c);
                    let squares: f64 = errors.map(|(y, mean)| ((y - mean) / unit).powi(2)).sum();
                    (squares / inputs.rows() as f64).sqrt()
                };
                let unit = |row: &[f64]| {
                    row.iter().zip(targets).map(|(std, target)| std / target.std).sum::<f64>() / c as f64
                };
                Ok(Judgement {
                    error: (0..c).map(rmse).sum::<f64>() / c as f64,
                    spread: prediction.std.chunks_exact(c).map(unit).collect(),
                })
            }
            Observed::Classes(labels) => {
                let rows: Vec<usize> = (0..inputs.rows()).collect();
                let prediction = self.predict_classes(inputs, &rows)?;
                let nll = |(p, &label): (&[f64], &u32)| row_nll(p, label as usize);
                let rows = prediction.p.chunks_exact(prediction.classes).zip(labels);
                Ok(Judgement {
                    error: rows.map(nll).sum::<f64>() / labels.len() as f64,
                    spread: prediction.entropy(),
                })
            }
        }
    }
}

/// Some rows of a table, without what is absent in them.
pub(super) fn select(matrix: &Matrix, rows: &[usize]) -> Matrix {
    let width = matrix.width;
    Matrix {
        x: rows.iter().flat_map(|row| &matrix.x[row * width..(row + 1) * width]).copied().collect(),
        width,
        texts: matrix.texts.iter().map(|texts| select_texts(texts, rows)).collect(),
        ..Matrix::default()
    }
}

fn select_texts(texts: &Texts, rows: &[usize]) -> Texts {
    let mut chosen = Texts::default();
    for &row in rows {
        chosen.tokens.extend_from_slice(texts.row(row));
        chosen.offsets.push(chosen.tokens.len());
    }
    chosen
}
