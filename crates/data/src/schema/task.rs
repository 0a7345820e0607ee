//! Regression or classification: what the user says, or what the target column looks like.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{DataError, Notice, Problem};
use crate::schema::target::{check_finite, not_numeric};
use crate::table::number_format::foreign_notation;
use crate::table::{Column, Table};

/// Maximum number of distinct whole numbers that count as classes.
pub(crate) const MOST_NUMBER_CLASSES: usize = 10;
/// Minimum number of rows per value, on average.
const ROWS_A_CLASS: usize = 2;

/// What is learned about the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A number and its uncertainty.
    Regression,
    /// One of several classes and their probabilities.
    Classification,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Task::Regression => "regression",
            Task::Classification => "classification",
        })
    }
}

/// The task that the target columns suggest, with a notice where it could be meant otherwise.
///
/// Text and truth values are classes. So are whole numbers of 2 to 10 distinct values with at least two rows
/// a value on average, unless the column is declared as a number. All else is regression, and so are several
/// targets.
///
/// # Errors
/// If a target is not in the table, holds dates or no values, is text that looks like numbers in a
/// notation that is not read, or is one of several and not numeric.
pub fn recognise_task(table: &Table, targets: &[String]) -> Result<(Task, Option<Notice>), DataError> {
    for name in targets {
        let column = table.column(name)?;
        match column {
            Column::DateTime(_) => return Err(not_numeric(table, name, column)),
            Column::Number(values) => check_finite(table, name, values)?,
            Column::Category { levels, .. }
                if !table.is_declared(name) && foreign_notation(levels).is_some() =>
            {
                return Err(not_numeric(table, name, column));
            }
            Column::Boolean(_) | Column::Category { .. } | Column::Text(_) if targets.len() > 1 => {
                let problem = Problem::SeveralClassTargets { targets: targets.len() };
                return Err(DataError::new(table.file(), problem).in_column(name));
            }
            Column::Boolean(_) | Column::Category { .. } | Column::Text(_) => {
                return Ok((Task::Classification, None));
            }
        }
    }
    let [name] = targets else { return Ok((Task::Regression, None)) };
    if let Column::Number(values) = table.column(name)?
        && !table.is_declared(name)
        && let Some(classes) = few_whole_numbers(values)
    {
        let notice = Notice::NumbersAreClasses { column: name.clone(), classes };
        return Ok((Task::Classification, Some(notice)));
    }
    Ok((Task::Regression, None))
}

/// The number of distinct values, if they can be classes.
fn few_whole_numbers(values: &[f64]) -> Option<usize> {
    let mut distinct = HashSet::new();
    let mut rows = 0;
    for value in values.iter().filter(|value| !value.is_nan()) {
        if value.fract() != 0.0 {
            return None;
        }
        rows += 1;
        distinct.insert((value + 0.0).to_bits()); // −0 is 0
        if distinct.len() > MOST_NUMBER_CLASSES {
            return None;
        }
    }
    (distinct.len() >= 2 && rows >= ROWS_A_CLASS * distinct.len()).then_some(distinct.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_classes_if_they_are_few_and_repeat() {
        assert_eq!(few_whole_numbers(&[0.0, 1.0, f64::NAN, 1.0, -0.0]), Some(2));
        assert_eq!(few_whole_numbers(&[1.0, 2.0, 3.0, 4.0]), None, "each value stands once");
        assert_eq!(few_whole_numbers(&[1.0, 1.5, 1.0, 1.5]), None);
        assert_eq!(few_whole_numbers(&[7.0; 9]), None, "one value is no choice");
        let ten: Vec<f64> = (0..20).map(|i| f64::from(i % 10)).collect();
        let eleven: Vec<f64> = (0..22).map(|i| f64::from(i % 11)).collect();
        assert_eq!((few_whole_numbers(&ten), few_whole_numbers(&eleven)), (Some(10), None));
    }

    #[test]
    fn a_task_is_written_in_small_letters() {
        assert_eq!(serde_json::to_string(&Task::Classification).expect("no float"), "\"classification\"");
        assert_eq!(Task::Regression.to_string(), "regression");
    }
}
