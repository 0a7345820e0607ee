//! What is predicted: numbers or one of several classes, and which rows of a table have it.

use serde::{Deserialize, Serialize};

use crate::error::{DataError, Problem};
use crate::schema::classes::ClassTarget;
use crate::schema::scale::mean_and_std;
use crate::schema::target_scale::TargetScale;
use crate::schema::task::Task;
use crate::table::builder::Builder;
use crate::table::cell::Cell;
use crate::table::dates::iso::format_datetime;
use crate::table::options::ColumnType;
use crate::table::{Column, Table};

/// A larger target, in its own unit or in standard deviations, has no finite square, and metrics are made of squares.
const LARGEST_TARGET: f64 = 1e150;
/// Values shown for a target that is no number.
const EXAMPLES: usize = 3;

/// What a model predicts. In a model file it is a list of numbers or one object of classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Target {
    /// Regression on one or more numbers.
    Numbers(Vec<TargetColumn>),
    /// Classification.
    Classes(ClassTarget),
}

/// One number to predict and its standardisation, u = mean + std · z of the scale u on which it is modelled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetColumn {
    /// The column's name.
    pub name: String,
    /// Mean of the training rows.
    pub mean: f64,
    /// Standard deviation of the training rows.
    pub std: f64,
    /// The scale, and the range that no value leaves.
    #[serde(default, skip_serializing_if = "TargetScale::is_plain")]
    pub scale: TargetScale,
}

/// The targets of some rows.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetValues {
    /// [N, C] row-major, standardised; NaN where missing.
    Numbers(Vec<f64>),
    /// For each row a position in [`ClassTarget::levels`]; `None` where missing.
    Classes(Vec<Option<u32>>),
}

impl Target {
    /// Regression or classification.
    #[must_use]
    pub fn task(&self) -> Task {
        match self {
            Target::Numbers(_) => Task::Regression,
            Target::Classes(_) => Task::Classification,
        }
    }

    /// Name and type of each target column: what to read for an evaluation.
    #[must_use]
    pub fn columns(&self) -> Vec<(String, ColumnType)> {
        match self {
            Target::Numbers(targets) => {
                targets.iter().map(|target| (target.name.clone(), ColumnType::Number)).collect()
            }
            Target::Classes(target) => vec![(target.name.clone(), target.column_type)],
        }
    }

    /// Names of the target columns.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.columns().into_iter().map(|(name, _)| name).collect()
    }

    /// The numbers of a regression; of a classification, none.
    #[must_use]
    pub fn numbers(&self) -> &[TargetColumn] {
        match self {
            Target::Numbers(targets) => targets,
            Target::Classes(_) => &[],
        }
    }

    /// The classes of a classification.
    #[must_use]
    pub fn classes(&self) -> Option<&ClassTarget> {
        match self {
            Target::Numbers(_) => None,
            Target::Classes(target) => Some(target),
        }
    }
}

impl TargetColumn {
    /// The same target on a scale, standardised by these values of training rows. As it was where they do not vary on the scale.
    #[must_use]
    pub fn on_scale(&self, scale: TargetScale, values: &[f64]) -> Self {
        let modelled: Vec<f64> = values.iter().map(|y| scale.transform.apply(*y)).collect();
        let (mean, std) = mean_and_std(&modelled);
        match std > 0.0 && std.is_finite() && mean.is_finite() {
            true => Self { name: self.name.clone(), mean, std, scale: scale.reaching(&modelled) },
            false => self.clone(),
        }
    }

    /// A standardised value in the target's own unit.
    #[must_use]
    pub fn restore(&self, z: f64) -> f64 {
        self.scale.invert(self.mean + self.std * z)
    }

    /// A value in standard deviations of the scale on which it is modelled.
    #[must_use]
    pub fn standardise(&self, y: f64) -> f64 {
        (self.scale.transform.apply(y) - self.mean) / self.std
    }
}

/// The rows where all targets have a value, and the number of the other rows.
///
/// # Errors
/// If a target is not in the table, infinite somewhere or missing everywhere.
pub fn rows_with_targets(table: &Table, targets: &[String]) -> Result<(Vec<usize>, usize), DataError> {
    let mut columns = Vec::with_capacity(targets.len());
    for name in targets {
        let column = table.column(name)?;
        if let Column::Number(values) = column {
            check_finite(table, name, values)?;
        }
        if (0..table.rows()).all(|row| column.is_missing(row)) {
            let problem = Problem::TargetAllMissing { rows: table.rows() };
            return Err(DataError::new(table.file(), problem).in_column(name));
        }
        columns.push(column);
    }
    let complete = |row: &usize| columns.iter().all(|column| !column.is_missing(*row));
    let rows: Vec<usize> = (0..table.rows()).filter(complete).collect();
    if rows.is_empty() && !targets.is_empty() {
        return Err(DataError::new(table.file(), Problem::TargetAllMissing { rows: table.rows() }));
    }
    let dropped = table.rows() - rows.len();
    Ok((rows, dropped))
}

/// The values of a numeric target, finite or NaN.
pub(crate) fn target_values<'a>(table: &'a Table, name: &str) -> Result<&'a [f64], DataError> {
    let column = table.column(name)?;
    let Column::Number(values) = column else { return Err(not_numeric(table, name, column)) };
    check_finite(table, name, values)?;
    match values.iter().position(|value| value.abs() > LARGEST_TARGET) {
        Some(row) => Err(table.error_at(row, name, too_large(values[row]))),
        None => Ok(values),
    }
}

/// A number in standard deviations of its target.
pub(crate) fn standardised_target(value: f64, target: &TargetColumn) -> Result<f64, Problem> {
    let z = target.standardise(value);
    if z.abs() > LARGEST_TARGET { Err(too_large(value)) } else { Ok(z) }
}

fn too_large(value: f64) -> Problem {
    Problem::TargetTooLarge { value, most: LARGEST_TARGET }
}

/// Only tables made in memory can fail here; files are checked while they are read.
pub(crate) fn check_finite(table: &Table, name: &str, values: &[f64]) -> Result<(), DataError> {
    match values.iter().position(|value| value.is_infinite()) {
        None => Ok(()),
        Some(row) => {
            let refused = Builder::Number(Vec::new()).push(Cell::Number(values[row]));
            refused.map_err(|problem| table.error_at(row, name, problem))
        }
    }
}

/// A target that should be a number and is none.
pub(crate) fn not_numeric(table: &Table, name: &str, column: &Column) -> DataError {
    let problem = match column {
        Column::DateTime(_) => Problem::TargetIsDate { examples: examples(column) },
        _ => Problem::TargetNotNumeric { kind: column.column_type(), examples: examples(column) },
    };
    DataError::new(table.file(), problem).in_column(name)
}

fn examples(column: &Column) -> Vec<String> {
    match column {
        Column::Number(_) => Vec::new(),
        Column::Boolean(_) => vec!["true".into(), "false".into()],
        Column::Category { levels, .. } => {
            levels.iter().take(EXAMPLES).map(|level| format!("{level:?}")).collect()
        }
        Column::Text(texts) => texts.iter().flatten().take(EXAMPLES).map(|text| shortened(text)).collect(),
        Column::DateTime(values) => {
            values.iter().flatten().take(EXAMPLES).map(|value| format_datetime(*value)).collect()
        }
    }
}

/// The first words of a text, in quotes.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
