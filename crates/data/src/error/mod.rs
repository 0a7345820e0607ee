//! [`DataError`]: what went wrong, in which file, line and column, and what to do about it.
//!
//! ```
//! use inducing_data::{DataError, Problem};
//!
//! let error = DataError::new("train.csv", Problem::NoTarget);
//! assert_eq!(
//!     error.to_string(),
//!     "train.csv: no target column is named\nhint: name it with `--target` or `data.target`"
//! );
//! ```

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) mod counted;
pub(crate) mod hint;
pub(crate) mod nearest;
mod notice;
mod problem;

use hint::hint;
pub use nearest::nearest;
pub use notice::Notice;
pub use problem::Problem;

/// A failure with its place.
///
/// Printed as ``file:line: column `name`: problem``, and, where there is a remedy, a second line `hint: …`.
#[derive(Debug)]
pub struct DataError {
    /// The file as the user named it, or `<stdin>` / `<stdout>`.
    pub file: String,
    /// Physical line of a text file, counted from 1.
    pub line: Option<u64>,
    /// Row of a file without lines (Parquet), counted from 1.
    pub row: Option<u64>,
    /// Name of the column.
    pub column: Option<String>,
    /// Whether the columns were read as a trained model asks: only another training changes that.
    pub trained: bool,
    /// What is wrong.
    pub problem: Box<Problem>,
}

/// Where a row stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// Physical line, counted from 1.
    Line(u64),
    /// Row of a file without lines, counted from 1.
    Row(u64),
}

impl Place {
    /// So many rows further on.
    pub(crate) fn plus(self, rows: usize) -> Self {
        match self {
            Place::Line(line) => Place::Line(line + rows as u64),
            Place::Row(row) => Place::Row(row + rows as u64),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// Where a row stands in a table of several files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct At {
    /// Which of the files.
    pub(crate) file: usize,
    pub(crate) place: Place,
}

impl At {
    /// The place as a message about a row elsewhere tells it.
    pub(crate) fn seen_from(self, elsewhere: At, files: &[Arc<str>]) -> String {
        match files.get(self.file) {
            Some(file) if self.file != elsewhere.file => format!("{} of {file}", self.place),
            _ => self.place.to_string(),
        }
    }
}

impl DataError {
    /// A problem of the file as a whole.
    pub fn new(file: impl Into<String>, problem: Problem) -> Self {
        DataError {
            file: file.into(),
            line: None,
            row: None,
            column: None,
            trained: false,
            problem: Box::new(problem),
        }
    }

    /// The same problem, in this column.
    #[must_use]
    pub fn in_column(mut self, column: &str) -> Self {
        self.column = Some(column.to_owned());
        self
    }

    /// The same problem, in a table that is read for a trained model.
    pub(crate) fn for_model(self) -> Self {
        DataError { trained: true, ..self }
    }

    pub(crate) fn at(file: &Arc<str>, place: Place, problem: Problem) -> Self {
        let mut error = DataError::new(file.as_ref(), problem);
        match place {
            Place::Line(line) => error.line = Some(line),
            Place::Row(row) => error.row = Some(row),
        }
        error
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        hint(&self.problem, self.column.as_deref(), self.trained)
    }

    /// Whether the reader of our output went away, which is success for a command in a pipe.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(*self.problem, Problem::BrokenPipe)
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(row) = self.row {
            write!(f, ": row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ": column `{column}`")?;
        }
        write!(f, ": {}", self.problem)?;
        match self.hint() {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for DataError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_prints_place_problem_and_hint() {
        let problem = Problem::ExpectedNumber { got: "n/a".into() };
        let error = DataError::at(&"train.csv".into(), Place::Line(812), problem).in_column("age");
        assert_eq!(
            error.to_string(),
            "train.csv:812: column `age`: expected a number, got \"n/a\"\n\
             hint: list it under `data.missing_values`, or set `data.columns.age = \"category\"`"
        );
    }

    #[test]
    fn a_file_without_lines_is_told_by_row() {
        let problem = Problem::InfiniteNumber { got: "inf".into() };
        let error = DataError::at(&"a.parquet".into(), Place::Row(3), problem).in_column("x");
        assert!(error.to_string().starts_with("a.parquet: row 3: column `x`: "));
    }
}
