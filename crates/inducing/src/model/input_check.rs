//! What is unusual about inputs beside the training rows: rows that are unlike them, columns that left their range or moved.

use super::{Model, Predictions};
use crate::dataset::{Inputs, Matrix};
use data::{Encoding, TableSchema};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// Below this familiarity a row counts as unlike the training rows.
pub const UNFAMILIAR: f64 = 0.01;
/// Rows that are named.
const NAMED: usize = 5;
/// A column moved if its mean did by this many standard deviations, and by more than chance explains.
const SHIFT: f64 = 0.5;
/// A column of categories moved if this share of the rows would have to change theirs, and by more than chance explains.
const MOVED_SHARE: f64 = 0.2;
/// Fewer rows say nothing of a column's distribution.
const FEWEST_ROWS: usize = 30;

/// Something that the user should know of the inputs of a prediction.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputNote {
    /// More rows than usual are unlike the training rows.
    Unfamiliar {
        /// How many.
        count: usize,
        /// Of how many.
        rows: usize,
        /// The first of them, counted from 1.
        first: Vec<usize>,
    },
    /// Half of a row's cells or more are empty, where training rows had a value.
    MostlyEmpty {
        /// How many rows.
        count: usize,
        /// The first of them, counted from 1.
        first: Vec<usize>,
    },
    /// Cells are empty in columns where no training row's was.
    Empty {
        /// Each column with the number of rows.
        columns: Vec<(String, usize)>,
    },
    /// Categories that never were in training.
    UnseenCategory {
        /// The column.
        column: String,
        /// How many rows.
        count: usize,
    },
    /// Numbers beyond those of the training rows.
    OutOfRange {
        /// The column.
        column: String,
        /// How many rows.
        count: usize,
        /// Smallest and largest number of the training rows.
        range: [f64; 2],
    },
    /// Numbers with another mean.
    Shifted {
        /// The column.
        column: String,
        /// Mean here.
        mean: f64,
        /// Mean of the training rows.
        usual: f64,
        /// Their difference in standard deviations of the training rows.
        by: f64,
    },
    /// Categories with other shares.
    SharesMoved {
        /// The column.
        column: String,
        /// The share of rows that would have to change.
        share: f64,
    },
}

impl fmt::Display for InputNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = |count: usize| if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
        let named = |first: &[usize], count: usize| {
            let list: Vec<String> = first.iter().map(usize::to_string).collect();
            let (word, more) =
                (if count == 1 { "row" } else { "rows" }, if count > first.len() { ", …" } else { "" });
            format!("{word} {}{more}", list.join(", "))
        };
        match self {
            Self::Unfamiliar { count, rows: all, first } => write!(
                f,
                "{count} of {} ({:.1} %) {} unlike the training rows, where 1 % is usual: {}; their predictions are guesses",
                rows(*all),
                100.0 * *count as f64 / (*all).max(1) as f64,
                if *count == 1 { "is" } else { "are" },
                named(first, *count)
            ),
            Self::MostlyEmpty { count, first } => write!(
                f,
                "{} mostly empty, and no training row was: {}",
                if *count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") },
                named(first, *count)
            ),
            Self::Empty { columns } => {
                let shown = columns
                    .iter()
                    .take(NAMED)
                    .map(|(column, count)| format!("`{column}` ({})", rows(*count)));
                let more = if columns.len() > NAMED { ", …" } else { "" };
                let shown: Vec<String> = shown.collect();
                write!(f, "no value where every training row had one: {}{more}", shown.join(", "))
            }
            Self::UnseenCategory { column, count } => {
                let verb = if *count == 1 { "holds" } else { "hold" };
                write!(
                    f,
                    "column `{column}`: {} {verb} a category that was never seen in training",
                    rows(*count)
                )
            }
            Self::OutOfRange { column, count, range: [low, high] } => {
                let verb = if *count == 1 { "lies" } else { "lie" };
                write!(
                    f,
                    "column `{column}`: {} {verb} outside of the training rows' {low} … {high}",
                    rows(*count)
                )
            }
            Self::Shifted { column, mean, usual, by } => write!(
                f,
                "column `{column}`: mean {} here, {} in training: shifted by {by:.1} standard deviations",
                short(*mean),
                short(*usual)
            ),
            Self::SharesMoved { column, share } => write!(
                f,
                "column `{column}`: other categories than in training: {:.0} % of the rows would have to change theirs",
                100.0 * share
            ),
        }
    }
}

/// A note for each column with categories that never were in training.
pub(super) fn unseen_notes(unseen: &BTreeMap<String, usize>) -> impl Iterator<Item = String> {
    let note =
        |(column, &count): (&String, &usize)| InputNote::UnseenCategory { column: column.clone(), count };
    unseen.iter().map(note).map(|note| note.to_string())
}

/// Four significant digits.
fn short(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

/// One number of the training rows, as the encoder reads it.
#[derive(Debug, Clone, Copy)]
struct Usual {
    mean: f64,
    std: f64,
    /// Only where training rows are kept.
    range: Option<[f32; 2]>,
}

/// What is seen of one input.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// Rows with a value.
    count: usize,
    sum: f64,
    outside: usize,
    /// Rows of each indicator.
    indicators: Vec<usize>,
}

/// Gathers what is unusual about the rows of a table, block by block.
///
/// ```no_run
/// use inducing::model::{InputCheck, TargetUse};
/// use inducing::{Dataset, Model};
/// let model = Model::load("price.ign")?;
/// let new = model.encode_data(&Dataset::read("new.csv")?, TargetUse::Ignored)?;
/// let rows: Vec<usize> = (0..new.inputs.rows()).collect();
/// let mut check = InputCheck::new(&model);
/// check.add(&new.inputs, &new.unseen, &model.predict_inputs(&new.inputs, &rows)?);
/// check.notes().iter().for_each(|note| println!("{note}"));
/// # Ok::<(), inducing::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct InputCheck<'a> {
    schema: Option<&'a TableSchema>,
    places: Vec<[Range<usize>; 2]>,
    usual: Vec<Usual>,
    /// Training rows behind `usual`.
    known: usize,
    rows: usize,
    seen: Vec<Seen>,
    unfamiliar: Rows,
    empty: Rows,
    gaps: BTreeMap<usize, usize>,
    unseen: BTreeMap<String, usize>,
}

/// How many rows, and the first of them.
#[derive(Debug, Clone, Default)]
struct Rows {
    count: usize,
    first: Vec<usize>,
}

impl Rows {
    fn add(&mut self, row: usize) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(row + 1);
        }
    }
}

impl<'a> InputCheck<'a> {
    /// Nothing seen yet.
    pub fn new(model: &'a Model) -> Self {
        let schema = model.header().schema.table();
        let places = schema.map(TableSchema::feature_ranges).unwrap_or_default();
        let width = schema.map_or(0, |schema| schema.numeric_width() + schema.indicator_width());
        let kept = model.kept_rows().filter(|kept| kept.width == width && model.header().ensemble.is_some());
        let usual = (0..width).map(|j| match kept {
            None => Usual { mean: 0.0, std: 1.0, range: None },
            Some(kept) => {
                let values = || kept.x.iter().skip(j).step_by(width);
                let n = kept.len() as f64;
                let mean = values().map(|&x| f64::from(x)).sum::<f64>() / n;
                let var = values().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
                let range =
                    values().fold([f32::INFINITY, f32::NEG_INFINITY], |[a, b], &x| [a.min(x), b.max(x)]);
                Usual { mean, std: var.sqrt(), range: Some(range) }
            }
        });
        let usual = usual.collect();
        let seen = places
            .iter()
            .map(|[_, indicators]| Seen { indicators: vec![0; indicators.len()], ..Seen::default() });
        let seen = seen.collect();
        Self {
            schema,
            places,
            usual,
            known: kept.map_or(0, super::KeptRows::len),
            rows: 0,
            seen,
            unfamiliar: Rows::default(),
            empty: Rows::default(),
            gaps: BTreeMap::new(),
            unseen: BTreeMap::new(),
        }
    }

    /// Looks at more rows, all of `inputs`, and what was predicted of them. `unseen` counts rows whose category never was in training,
    /// by the column's name: their cells are not empty.
    pub fn add(&mut self, inputs: &Inputs, unseen: &BTreeMap<String, usize>, predictions: &Predictions) {
        for (i, familiarity) in predictions.familiarity().into_iter().enumerate() {
            if familiarity < UNFAMILIAR {
                self.unfamiliar.add(self.rows + i);
            }
        }
        if let (Inputs::Table(matrix), Some(schema)) = (inputs, self.schema) {
            self.add_table(matrix, schema);
            unseen
                .iter()
                .for_each(|(column, count)| *self.unseen.entry(column.clone()).or_default() += count);
        }
        self.rows += inputs.rows();
    }

    fn add_table(&mut self, matrix: &Matrix, schema: &TableSchema) {
        for (&row, columns) in &matrix.absent {
            if columns.len() >= 2 && 2 * columns.len() >= schema.inputs.len() {
                self.empty.add(self.rows + row);
            }
            for &column in columns {
                *self.gaps.entry(column).or_default() += 1;
            }
        }
        for x in matrix.x.chunks_exact(matrix.width.max(1)) {
            for (input, (seen, [numbers, indicators])) in
                schema.inputs.iter().zip(self.seen.iter_mut().zip(&self.places))
            {
                let marks = &x[indicators.clone()];
                seen.indicators
                    .iter_mut()
                    .zip(marks)
                    .for_each(|(count, mark)| *count += usize::from(*mark != 0.0));
                let Encoding::Number { missing, .. } = &input.encoding else { continue };
                if *missing && marks.last().is_some_and(|mark| *mark != 0.0) {
                    continue;
                }
                let (x, usual) = (x[numbers.start], &self.usual[numbers.start]);
                seen.count += 1;
                seen.sum += f64::from(x);
                seen.outside += usize::from(usual.range.is_some_and(|[low, high]| x < low || x > high));
            }
        }
    }

    /// What is unusual, rows first.
    pub fn notes(&self) -> Vec<InputNote> {
        let mut notes = Vec::new();
        let (n, expected) = (self.rows as f64, UNFAMILIAR * self.rows as f64);
        if self.unfamiliar.count as f64 > expected + 3.0 * expected.sqrt() {
            let Rows { count, first } = self.unfamiliar.clone();
            notes.push(InputNote::Unfamiliar { count, rows: self.rows, first });
        }
        if self.empty.count > 0 {
            let Rows { count, first } = self.empty.clone();
            notes.push(InputNote::MostlyEmpty { count, first });
        }
        let Some(schema) = self.schema else { return notes };
        let (place, mut empty) = (notes.len(), Vec::new());
        for (at, input) in schema.inputs.iter().enumerate() {
            let column = input.name.clone();
            let unseen = self.unseen.get(&column).copied().unwrap_or(0);
            let gaps = self.gaps.get(&at).copied().unwrap_or(0).saturating_sub(unseen);
            if gaps > 0 {
                empty.push((column.clone(), gaps));
            }
            match &input.encoding {
                Encoding::Number { scale, .. } => {
                    notes.extend(self.number_notes(at, &column, &|z| scale.invert(z)))
                }
                Encoding::Category { .. } | Encoding::Boolean { .. }
                    if self.known > 0 && self.rows >= FEWEST_ROWS =>
                {
                    let indicators = self.places[at][1].clone();
                    let apart = |(count, j): (&usize, usize)| (*count as f64 / n - self.usual[j].mean).abs();
                    let (levels, apart) =
                        (indicators.len(), self.seen[at].indicators.iter().zip(indicators).map(apart));
                    // Both values of a boolean share one indicator.
                    let share = if levels == 1 { 1.0 } else { 0.5 } * apart.sum::<f64>();
                    let levels = levels as f64;
                    let chance = 3.0 * (levels * (1.0 / n + 1.0 / self.known as f64)).sqrt();
                    if share > MOVED_SHARE.max(chance) {
                        notes.push(InputNote::SharesMoved { column, share });
                    }
                }
                _ => {}
            }
        }
        if !empty.is_empty() {
            notes.insert(place, InputNote::Empty { columns: empty });
        }
        notes
    }

    fn number_notes(&self, at: usize, name: &str, restore: &dyn Fn(f32) -> f64) -> Vec<InputNote> {
        let (seen, usual) = (&self.seen[at], self.usual[self.places[at][0].start]);
        let (n, mut notes) = (seen.count as f64, Vec::new());
        if let Some([low, high]) = usual.range {
            // Of rows like the training rows this many lie beyond the smallest and the largest of them.
            let expected = 2.0 * n / (self.known as f64 + 1.0);
            if seen.outside as f64 > 5.0 * expected {
                let (column, range) = (name.to_owned(), [low, high].map(|z| short(restore(z))));
                notes.push(InputNote::OutOfRange { column, count: seen.outside, range });
            }
        }
        if seen.count >= FEWEST_ROWS && usual.std > 0.0 {
            let mean = seen.sum / n;
            let by = (mean - usual.mean) / usual.std;
            let chance = 4.0 * (1.0 / n + if self.known > 0 { 1.0 / self.known as f64 } else { 0.0 }).sqrt();
            if by.abs() > SHIFT.max(chance) {
                let (mean, usual) = (restore(mean as f32), restore(usual.mean as f32));
                notes.push(InputNote::Shifted { column: name.to_owned(), mean, usual, by });
            }
        }
        notes
    }
}
