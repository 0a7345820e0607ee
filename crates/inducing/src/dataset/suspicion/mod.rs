//! What a careful reader would ask about a table before training: row numbers, leaks, copies, targets that hardly vary.

mod single_column;

use crate::config::DataConfig;
use data::{Column, Notice, Table, TargetValues};
use single_column::{Learned, blocks_follow_neighbours, explained};
use std::collections::{HashMap, HashSet};

/// Rows that are looked at, at most.
const MOST_ROWS: usize = 20_000;
/// Fewer rows say nothing.
const FEWEST_ROWS: usize = 50;
/// A column that explains this much of the target alone is a leak, or the target in other words.
const LEAK: f64 = 0.98;
/// One that explains this much decides nearly everything.
const DOMINANT: f64 = 0.8;
/// A target with this share of equal values is almost constant.
const ALMOST_CONSTANT: f64 = 0.98;
/// Fewer training rows than this are few for a class.
const FEW_OF_CLASS: usize = 10;

/// What was found.
#[derive(Default)]
pub(super) struct Suspicions {
    /// Columns to leave out.
    pub(super) exclude: Vec<String>,
    pub(super) notices: Vec<Notice>,
}

/// Looks at the training rows of a table, before anything is fitted to it.
pub(super) fn suspicions(table: &Table, train: &[usize], config: &DataConfig) -> Suspicions {
    let mut found = Suspicions::default();
    let rows: Vec<usize> = train.iter().copied().step_by(train.len().div_ceil(MOST_ROWS).max(1)).collect();
    let excluded = config.excluded();
    let is_input = |name: &String| !config.target.contains(name) && !excluded.contains(name);
    let inputs: Vec<(&String, &Column)> =
        table.names().iter().zip(table.columns()).filter(|(name, _)| is_input(name)).collect();
    if rows.len() >= FEWEST_ROWS {
        for target in &config.target {
            let Ok(values) = table.column(target) else { continue };
            let learned = Learned::new(values, &rows);
            if learned.largest_share() >= ALMOST_CONSTANT {
                let share = learned.largest_share();
                found.notices.push(Notice::TargetAlmostConstant { column: target.clone(), share });
            }
            let mut dominant = Vec::new();
            for (name, column) in &inputs {
                let share = found.look_at(
                    table,
                    target,
                    &learned,
                    (name, column),
                    (train, &rows),
                    (inputs.len(), config),
                );
                dominant.extend(share.map(|share| ((*name).clone(), share)));
            }
            if !dominant.is_empty() {
                dominant.sort_by(|a, b| b.1.total_cmp(&a.1));
                found.notices.push(Notice::DominantColumns { columns: dominant, target: target.clone() });
            }
        }
    }
    found.notices.extend(copies(&inputs, train));
    if config.time_column.is_none() && config.group.is_none() {
        let date = inputs.iter().find(|(_, column)| matches!(column, Column::DateTime(_)));
        found.notices.extend(date.map(|(name, _)| Notice::RowsHaveDates { column: (*name).clone() }));
    }
    found
}

impl Suspicions {
    /// Looks at one column; returns how much of the target it explains where that is nearly all, but no leak.
    fn look_at(
        &mut self,
        table: &Table,
        target: &str,
        learned: &Learned,
        (name, column): (&str, &Column),
        (train, rows): (&[usize], &[usize]),
        (inputs, config): (usize, &DataConfig),
    ) -> Option<f64> {
        // A table of one input is about that input.
        if inputs < 2 || self.exclude.iter().any(|excluded| excluded == name) {
            return None;
        }
        let share = explained(column, learned, rows);
        let (column_name, target) = (name.to_owned(), target.to_owned());
        let is_time = config.time_column.as_deref() == Some(name);
        if is_row_number(column, train) && !table.is_declared(name) && !is_time {
            // A series with a trend is predicted by what is before and after; numbers of rows are not. A file that is sorted by
            // its target has row numbers that say it.
            if share < DOMINANT && blocks_follow_neighbours(column, learned, rows) {
                self.notices.push(Notice::SerialColumnKept { column: column_name });
            } else {
                let sorted = share >= DOMINANT;
                self.exclude.push(column_name.clone());
                self.notices.push(Notice::RowNumberDropped { column: column_name, sorted });
            }
            return None;
        }
        if share >= LEAK {
            self.notices.push(Notice::Leak { column: column_name, target, share });
            return None;
        }
        (share >= DOMINANT).then_some(share)
    }
}

/// Whether integers without repeats fill most of their range.
fn is_row_number(column: &Column, rows: &[usize]) -> bool {
    let Column::Number(values) = column else { return false };
    let mut seen = HashSet::with_capacity(rows.len());
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for &row in rows {
        let value = values[row];
        if !(value.fract() == 0.0 && seen.insert(value.to_bits())) {
            return false;
        }
        (low, high) = (low.min(value), high.max(value));
    }
    rows.len() >= FEWEST_ROWS && high - low < 2.0 * rows.len() as f64
}

/// Columns with the same cells.
fn copies(inputs: &[(&String, &Column)], rows: &[usize]) -> Vec<Notice> {
    let mut first: HashMap<u64, usize> = HashMap::new();
    let mut notices = Vec::new();
    for (at, (name, column)) in inputs.iter().enumerate() {
        let Column::Number(values) = column else { continue };
        let fingerprint = rows.iter().fold(0_u64, |sum, &row| {
            (sum ^ values[row].to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        });
        let Some(&of) = first.get(&fingerprint) else {
            first.insert(fingerprint, at);
            continue;
        };
        let Column::Number(others) = inputs[of].1 else { continue };
        let varies = rows.iter().any(|&row| values[row] != values[rows[0]]);
        if varies && rows.iter().all(|&row| values[row].to_bits() == others[row].to_bits()) {
            notices.push(Notice::CopiedColumn { column: (*name).clone(), of: inputs[of].0.clone() });
        }
    }
    notices
}

/// Classes with few training rows.
pub(super) fn rare_classes(classes: &[String], counts: &[usize]) -> Option<Notice> {
    let rare: Vec<(String, usize)> = classes
        .iter()
        .zip(counts)
        .filter(|(_, count)| **count < FEW_OF_CLASS)
        .map(|(class, count)| (class.clone(), *count))
        .collect();
    (!rare.is_empty()).then_some(Notice::RareClasses { classes: rare })
}

/// Whether some number hardly repeats: coarse columns are equal in rows that have nothing to do with each other.
fn can_tell_rows_apart(x: &[f32], width: usize, rows: &[usize]) -> bool {
    const DISTINCT: f64 = 0.5;
    (0..width).any(|j| {
        let values: HashSet<u32> = rows.iter().map(|&row| x[row * width + j].to_bits()).collect();
        values.len() as f64 > DISTINCT * rows.len() as f64
    })
}

/// How many test rows are training rows too, inputs and target alike.
pub(super) fn repeated_rows(
    x: &[f32],
    targets: &TargetValues,
    [train, test]: [&[usize]; 2],
) -> Option<Notice> {
    let rows = match targets {
        TargetValues::Numbers(y) => y.len(),
        TargetValues::Classes(y) => y.len(),
    };
    let width = x.len() / rows.max(1);
    if width == 0 || test.is_empty() || !can_tell_rows_apart(x, width, train) {
        return None;
    }
    let key = |row: usize| -> Vec<u8> {
        let mut key: Vec<u8> = bytemuck::cast_slice(&x[row * width..][..width]).to_vec();
        match targets {
            TargetValues::Numbers(y) => {
                let c = y.len() / rows;
                key.extend_from_slice(bytemuck::cast_slice(&y[row * c..][..c]));
            }
            TargetValues::Classes(y) => key.extend_from_slice(&y[row].unwrap_or(u32::MAX).to_le_bytes()),
        }
        key
    };
    let known: HashSet<Vec<u8>> = train.iter().map(|&row| key(row)).collect();
    let count = test.iter().filter(|&&row| known.contains(&key(row))).count();
    (count > 0).then_some(Notice::TestRowsInTraining { count, rows: test.len() })
}
