//! Tables into matrices, by a fitted schema.

use std::collections::{BTreeMap, HashMap};

use crate::error::{DataError, Problem};
use crate::schema::target::{Target, TargetValues, standardised_target, target_values};
use crate::schema::{Encoding, TableSchema};
use crate::table::{Column, Table};
use crate::text::Texts;

/// Inputs as a matrix, and their texts as numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// Number of rows N.
    pub rows: usize,
    /// [N, width] row-major, all finite; empty if there are text columns alone.
    pub x: Vec<f32>,
    /// Features of a row.
    pub width: usize,
    /// For each category column, the number of rows whose level did not occur in training.
    ///
    /// Such rows have no indicator set. A column with an "other" level puts them there and does not count
    /// them.
    pub unseen: BTreeMap<String, usize>,
    /// The words of each text column, in the order of [`TableSchema::text_columns`].
    pub texts: Vec<Texts>,
    /// For a row, the inputs ([`TableSchema::inputs`]) whose cell is missing though it never was in training, or holds a level
    /// that never occurred: nothing in the matrix says so.
    pub absent: BTreeMap<usize, Vec<usize>>,
}

/// The place of one column's features in the matrix.
struct Slots<'a> {
    x: &'a mut [f32],
    width: usize,
    numeric: usize,
    indicator: usize,
}

impl Slots<'_> {
    fn set_numeric(&mut self, row: usize, offset: usize, value: f32) {
        self.x[row * self.width + self.numeric + offset] = value;
    }

    fn set_indicator(&mut self, row: usize, offset: usize) {
        self.x[row * self.width + self.indicator + offset] = 1.0;
    }
}

impl TableSchema {
    /// The inputs of `rows` (all if `None`) as a matrix.
    ///
    /// # Errors
    /// If the table lacks an input or has it with another type than in training.
    ///
    /// # Panics
    /// If a row is beyond the table.
    pub fn encode(&self, table: &Table, rows: Option<&[usize]>) -> Result<Encoded, DataError> {
        let count = rows.map_or(table.rows(), <[usize]>::len);
        let width = self.numeric_width() + self.indicator_width();
        let mut x = vec![0.0; count * width];
        let (mut unseen, mut texts) = (BTreeMap::new(), Vec::new());
        let mut absent: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let (mut numeric, mut indicator) = (0, self.numeric_width());
        for (at, input) in self.inputs.iter().enumerate() {
            let column = table.column(&input.name)?;
            if column.column_type() != input.encoding.column_type() {
                let (expected, got) = (input.encoding.column_type(), column.column_type());
                let problem = Problem::TypeChanged { expected, got };
                return Err(DataError::new(table.file(), problem).in_column(&input.name));
            }
            if let (Encoding::Text { tokenizer }, Column::Text(cells)) = (&input.encoding, column) {
                let cell = |n| cells[row_at(rows, n)].as_deref().unwrap_or_default();
                texts.push(tokenizer.encode(&(0..count).map(cell).collect::<Vec<_>>()));
            }
            let mut slots = Slots { x: &mut x, width, numeric, indicator };
            let not_seen = input.encoding.fill(column, rows, count, &mut slots);
            if !not_seen.is_empty() {
                unseen.insert(input.name.clone(), not_seen.len());
            }
            let gaps =
                (0..count).filter(|n| input.encoding.never_missing() && column.is_missing(row_at(rows, *n)));
            not_seen.into_iter().chain(gaps).for_each(|row| absent.entry(row).or_default().push(at));
            numeric += input.encoding.numeric_width();
            indicator += input.encoding.indicator_width();
        }
        Ok(Encoded { rows: count, x, width, unseen, texts, absent })
    }

    /// The targets of `rows` (all if `None`): standardised numbers or class indices.
    ///
    /// # Errors
    /// If a target is not in the table or not of its type, or a label did not occur in training.
    ///
    /// # Panics
    /// If a row is beyond the table.
    pub fn targets(&self, table: &Table, rows: Option<&[usize]>) -> Result<TargetValues, DataError> {
        let targets = match &self.targets {
            Target::Classes(target) => return target.codes(table, rows).map(TargetValues::Classes),
            Target::Numbers(targets) => targets,
        };
        let count = rows.map_or(table.rows(), <[usize]>::len);
        let outputs = targets.len();
        let mut y = vec![f64::NAN; count * outputs]; // [N, C]
        for (c, target) in targets.iter().enumerate() {
            let values = target_values(table, &target.name)?;
            for n in 0..count {
                let row = row_at(rows, n);
                y[n * outputs + c] = standardised_target(values[row], target)
                    .map_err(|problem| table.error_at(row, &target.name, problem))?;
            }
        }
        Ok(TargetValues::Numbers(y))
    }
}

fn row_at(rows: Option<&[usize]>, n: usize) -> usize {
    rows.map_or(n, |rows| rows[n])
}

impl Encoding {
    /// Whether no training row was without a value; a text without one is an empty text.
    fn never_missing(&self) -> bool {
        !self.has_missing_indicator() && !matches!(self, Encoding::Text { .. })
    }

    /// Writes the column's features; returns the rows with an unseen level.
    fn fill(
        &self,
        column: &Column,
        rows: Option<&[usize]>,
        count: usize,
        slots: &mut Slots<'_>,
    ) -> Vec<usize> {
        if self.has_missing_indicator() {
            let offset = self.indicator_width() - 1;
            for n in (0..count).filter(|n| column.is_missing(row_at(rows, *n))) {
                slots.set_indicator(n, offset);
            }
        }
        match (self, column) {
            (Encoding::Number { impute, scale, one_hot, .. }, Column::Number(values)) => {
                for n in 0..count {
                    let value = values[row_at(rows, n)];
                    let known = if value.is_nan() { *impute } else { value };
                    slots.set_numeric(n, 0, scale.apply(known));
                    if let Some(offset) = one_hot.iter().position(|level| *level == value) {
                        slots.set_indicator(n, offset);
                    }
                }
            }
            (Encoding::Boolean { impute, .. }, Column::Boolean(values)) => {
                for n in (0..count).filter(|n| values[row_at(rows, *n)].unwrap_or(*impute)) {
                    slots.set_indicator(n, 0);
                }
            }
            (Encoding::Category { levels, other, .. }, Column::Category { codes, levels: present }) => {
                return fill_levels(levels, *other, present, |n| codes[row_at(rows, n)], count, slots);
            }
            (Encoding::DateTime { impute, parts, .. }, Column::DateTime(values)) => {
                for n in 0..count {
                    let micros = values[row_at(rows, n)].unwrap_or(*impute);
                    for (offset, (part, scale)) in parts.iter().enumerate() {
                        slots.set_numeric(n, offset, scale.apply(part.extract(micros)));
                    }
                }
            }
            _ => {} // `MissingOnly` is done, text is no part of the matrix; unequal types are refused by `encode`
        }
        Vec::new()
    }
}

/// One-hot of `code(n)`, whose codes point into `present`, by the training levels.
fn fill_levels(
    levels: &[String],
    other: bool,
    present: &[String],
    code: impl Fn(usize) -> Option<u32>,
    count: usize,
    slots: &mut Slots<'_>,
) -> Vec<usize> {
    let position: HashMap<&String, usize> = levels.iter().enumerate().map(|(i, level)| (level, i)).collect();
    let fallback = other.then_some(levels.len());
    let offsets: Vec<Option<usize>> =
        present.iter().map(|level| position.get(level).copied().or(fallback)).collect();
    let mut unseen = Vec::new();
    for n in 0..count {
        let Some(code) = code(n) else { continue };
        match offsets[code as usize] {
            Some(offset) => slots.set_indicator(n, offset),
            None => unseen.push(n),
        }
    }
    unseen
}
