//! [`ClassTarget`]: labels into class indices and back.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::error::{DataError, Notice, Problem};
use crate::schema::natural_order::natural_order;
use crate::schema::target::{check_finite, not_numeric};
use crate::table::options::ColumnType;
use crate::table::{Column, Table};

/// A target with more classes is an identifier or a number.
pub(crate) const MOST_CLASSES: usize = 1000;

/// A column of labels to predict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassTarget {
    /// The column's name.
    pub name: String,
    /// The labels that occur in the training rows: numbers in their order, all else by the alphabet.
    pub levels: Vec<String>,
    /// Training rows of each level.
    pub counts: Vec<usize>,
    /// How labels are read from a table: category, boolean or number, or text if they are long.
    pub column_type: ColumnType,
}

/// The labels of a whole column.
struct Labels {
    /// Distinct labels in natural order.
    levels: Vec<String>,
    /// For each row a position in `levels`.
    codes: Vec<Option<u32>>,
}

/// For each row of the table the position of its label among the distinct labels in natural order; `None`
/// where it is missing. For [`split_by_class`](crate::split_by_class), before anything is fitted.
///
/// # Errors
/// If the column is not in the table, holds dates or is infinite somewhere.
pub fn class_codes(table: &Table, target: &str) -> Result<Vec<Option<u32>>, DataError> {
    Labels::read(table, target).map(|labels| labels.codes)
}

/// Labels by `classes` become labels by the classes of a model, `known`.
///
/// # Errors
/// The row and the class of the first label that is none of the model's.
pub(crate) fn relabel(
    labels: &mut [u32],
    classes: &[String],
    known: &[String],
) -> Result<(), (usize, Problem)> {
    let place = |class: &String| known.iter().position(|known| known == class).map(|at| at as u32);
    let places: Vec<Option<u32>> = classes.iter().map(place).collect();
    for (row, label) in labels.iter_mut().enumerate() {
        let class = *label as usize;
        let unknown = || Problem::UnknownLabel { label: classes[class].clone(), known: known.to_vec() };
        *label = places[class].ok_or_else(|| (row, unknown()))?;
    }
    Ok(())
}

impl ClassTarget {
    /// The share of each class in the training rows.
    #[must_use]
    pub fn priors(&self) -> Vec<f64> {
        let all = self.counts.iter().sum::<usize>().max(1) as f64;
        self.counts.iter().map(|count| *count as f64 / all).collect()
    }

    /// The classes of `rows`.
    pub(crate) fn fit(
        table: &Table,
        name: &str,
        rows: &[usize],
        notices: &mut Vec<Notice>,
    ) -> Result<Self, DataError> {
        let Labels { levels, codes } = Labels::read(table, name)?;
        let failed = |problem| Err(DataError::new(table.file(), problem).in_column(name));
        let column_type = table.column(name)?.column_type();
        if rows.len() < 2 {
            return failed(Problem::TooFewRows { rows: rows.len() });
        }
        let counts = counted(rows.iter().filter_map(|row| codes[*row]), levels.len());
        match counts.iter().sum() {
            0 => return failed(Problem::TargetAllMissing { rows: rows.len() }),
            1 => return failed(Problem::TooFewRows { rows: 1 }),
            present if counts.iter().filter(|count| **count > 0).count() == 1 => {
                let only = counts.iter().position(|count| *count > 0).unwrap_or_default();
                return failed(Problem::OneClass { label: levels[only].clone(), rows: present });
            }
            _ => {}
        }
        let everywhere = counted(codes.iter().flatten().copied(), levels.len());
        let (classes, labelled) = (levels.len(), everywhere.iter().sum());
        if classes > MOST_CLASSES || classes == labelled {
            return failed(Problem::TooManyClasses { classes, rows: labelled, kind: column_type });
        }
        let (mut kept, mut kept_counts, mut single) = (Vec::new(), Vec::new(), Vec::new());
        for ((level, count), all) in levels.into_iter().zip(counts).zip(everywhere) {
            if count == 0 {
                continue; // held out altogether, by a split that did not look at the classes
            }
            if all == 1 {
                single.push(level.clone());
            }
            kept.push(level);
            kept_counts.push(count);
        }
        if !single.is_empty() {
            notices.push(Notice::SingleExamples { column: Some(name.to_owned()), classes: single });
        }
        Ok(ClassTarget { name: name.to_owned(), levels: kept, counts: kept_counts, column_type })
    }

    /// Positions in `levels` for `rows` (all if `None`).
    pub(crate) fn codes(&self, table: &Table, rows: Option<&[usize]>) -> Result<Vec<Option<u32>>, DataError> {
        let got = table.column(&self.name)?.column_type();
        if got != self.column_type {
            let problem = Problem::TypeChanged { expected: self.column_type, got };
            return Err(DataError::new(table.file(), problem).in_column(&self.name));
        }
        let labels = Labels::read(table, &self.name)?;
        let mine: HashMap<&String, u32> = self.levels.iter().zip(0..).collect();
        let known: Vec<Option<u32>> = labels.levels.iter().map(|level| mine.get(level).copied()).collect();
        let code_of = |row: usize| match labels.codes[row].map(|code| (code, known[code as usize])) {
            None => Ok(None),
            Some((_, Some(code))) => Ok(Some(code)),
            Some((code, None)) => {
                let label = labels.levels[code as usize].clone();
                let problem = Problem::UnknownLabel { label, known: self.levels.clone() };
                Err(table.error_at(row, &self.name, problem))
            }
        };
        match rows {
            None => (0..table.rows()).map(code_of).collect(),
            Some(rows) => rows.iter().copied().map(code_of).collect(),
        }
    }
}

fn counted(codes: impl Iterator<Item = u32>, classes: usize) -> Vec<usize> {
    let mut counts = vec![0; classes];
    codes.for_each(|code| counts[code as usize] += 1);
    counts
}

impl Labels {
    fn read(table: &Table, name: &str) -> Result<Self, DataError> {
        let column = table.column(name)?;
        let (levels, codes) = match column {
            Column::DateTime(_) => return Err(not_numeric(table, name, column)),
            Column::Boolean(values) => {
                let codes = values.iter().map(|value| value.map(u32::from)).collect();
                (vec!["false".to_owned(), "true".to_owned()], codes)
            }
            Column::Category { codes, levels } => (levels.clone(), codes.clone()),
            Column::Text(texts) => distinct_texts(texts),
            Column::Number(values) => {
                check_finite(table, name, values)?;
                distinct_numbers(values)
            }
        };
        Ok(Labels::sorted(&levels, &codes))
    }

    /// Only levels that occur, in natural order.
    fn sorted(levels: &[String], codes: &[Option<u32>]) -> Self {
        let counts = counted(codes.iter().flatten().copied(), levels.len());
        let present: Vec<usize> = (0..levels.len()).filter(|code| counts[*code] > 0).collect();
        let names: Vec<&str> = present.iter().map(|code| levels[*code].as_str()).collect();
        let order: Vec<usize> = natural_order(&names).into_iter().map(|at| present[at]).collect();
        let mut place = vec![0; levels.len()];
        order.iter().zip(0..).for_each(|(code, at)| place[*code] = at);
        Labels {
            levels: order.iter().map(|code| levels[*code].clone()).collect(),
            codes: codes.iter().map(|code| code.map(|code| place[code as usize])).collect(),
        }
    }
}

fn distinct_texts(texts: &[Option<String>]) -> (Vec<String>, Vec<Option<u32>>) {
    let (mut levels, mut code_of) = (Vec::new(), HashMap::new());
    let codes = texts.iter().map(|text| {
        text.as_ref().map(|text| {
            *code_of.entry(text).or_insert_with(|| {
                levels.push(text.clone());
                u32::try_from(levels.len() - 1).expect("four billion distinct texts exceed memory")
            })
        })
    });
    let codes = codes.collect();
    (levels, codes)
}

fn distinct_numbers(values: &[f64]) -> (Vec<String>, Vec<Option<u32>>) {
    let (mut levels, mut code_of) = (Vec::new(), HashMap::new());
    let codes = values.iter().map(|value| {
        let value = value + 0.0; // −0 is 0
        (!value.is_nan()).then(|| {
            *code_of.entry(value.to_bits()).or_insert_with(|| {
                levels.push(value.to_string());
                u32::try_from(levels.len() - 1).expect("four billion distinct numbers exceed memory")
            })
        })
    });
    let codes = codes.collect();
    (levels, codes)
}
