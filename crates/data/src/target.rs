//! Target columns: numbers to learn, and which rows have them.

use crate::build::Builder;
use crate::cell::Cell;
use crate::datetime::format_datetime;
use crate::error::DataError;
use crate::problem::Problem;
use crate::table::{Column, Table};

/// So many values are shown for a target that is no number.
const EXAMPLES: usize = 3;

/// The rows where all targets have a value, and the number of the other rows.
///
/// # Errors
/// If a target is not in the table, not numeric, infinite somewhere or missing everywhere.
pub fn rows_with_targets(table: &Table, targets: &[String]) -> Result<(Vec<usize>, usize), DataError> {
    let mut columns = Vec::with_capacity(targets.len());
    for name in targets {
        let values = target_values(table, name)?;
        if values.iter().all(|value| value.is_nan()) {
            let problem = Problem::TargetAllMissing { rows: table.rows() };
            return Err(DataError::new(table.file(), problem).in_column(name));
        }
        columns.push(values);
    }
    let complete = |row: &usize| columns.iter().all(|values| !values[*row].is_nan());
    let rows: Vec<usize> = (0..table.rows()).filter(complete).collect();
    if rows.is_empty() && !targets.is_empty() {
        return Err(DataError::new(table.file(), Problem::TargetAllMissing { rows: table.rows() }));
    }
    let dropped = table.rows() - rows.len();
    Ok((rows, dropped))
}

/// The values of a target, finite or NaN.
pub(crate) fn target_values<'a>(table: &'a Table, name: &str) -> Result<&'a [f64], DataError> {
    let column = table.column(name)?;
    let Column::Number(values) = column else {
        let problem = Problem::TargetNotNumeric { kind: column.column_type(), examples: examples(column) };
        return Err(DataError::new(table.file(), problem).in_column(name));
    };
    for (row, value) in values.iter().enumerate() {
        if value.is_infinite() {
            // Only tables made in memory come here; files are checked while they are read.
            let refused = Builder::Number(Vec::new()).push(Cell::Number(*value));
            refused.map_err(|problem| table.error_at(row, name, problem))?;
        }
    }
    Ok(values)
}

fn examples(column: &Column) -> Vec<String> {
    match column {
        Column::Number(_) => Vec::new(),
        Column::Boolean(_) => vec!["true".into(), "false".into()],
        Column::Category { levels, .. } => {
            levels.iter().take(EXAMPLES).map(|level| format!("{level:?}")).collect()
        }
        Column::DateTime(values) => {
            values.iter().flatten().take(EXAMPLES).map(|value| format_datetime(*value)).collect()
        }
    }
}
