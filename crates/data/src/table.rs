//! [`Table`]: typed columns in memory, each row with its place in the file.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};

use crate::datetime::format_datetime;
use crate::error::{DataError, Place};
use crate::nearest::nearest;
use crate::places::Places;
use crate::problem::Problem;
use crate::source::ColumnType;

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Finite numbers; NaN means missing.
    Number(Vec<f64>),
    /// Truth values; `None` means missing.
    Boolean(Vec<Option<bool>>),
    /// Names, each row as a position in `levels`.
    Category {
        /// Position in `levels`; `None` means missing.
        codes: Vec<Option<u32>>,
        /// Distinct names, in order of appearance.
        levels: Vec<String>,
    },
    /// Words in their order; `None` means missing, which is read as an empty text.
    Text(Vec<Option<String>>),
    /// Microseconds since 1970-01-01 UTC; `None` means missing.
    DateTime(Vec<Option<i64>>),
}

impl Column {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Column::Number(values) => values.len(),
            Column::Boolean(values) => values.len(),
            Column::Category { codes, .. } => codes.len(),
            Column::Text(texts) => texts.len(),
            Column::DateTime(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the values.
    #[must_use]
    pub fn column_type(&self) -> ColumnType {
        match self {
            Column::Number(_) => ColumnType::Number,
            Column::Boolean(_) => ColumnType::Boolean,
            Column::Category { .. } => ColumnType::Category,
            Column::Text(_) => ColumnType::Text,
            Column::DateTime(_) => ColumnType::DateTime,
        }
    }

    /// Whether the row has no value.
    #[must_use]
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Column::Number(values) => values[row].is_nan(),
            Column::Boolean(values) => values[row].is_none(),
            Column::Category { codes, .. } => codes[row].is_none(),
            Column::Text(texts) => texts[row].is_none(),
            Column::DateTime(values) => values[row].is_none(),
        }
    }

    /// The row's value as a person writes it; empty if it is missing.
    #[must_use]
    pub fn text(&self, row: usize) -> String {
        match self {
            Column::Number(values) if values[row].is_nan() => String::new(),
            Column::Number(values) => values[row].to_string(),
            Column::Boolean(values) => values[row].map_or(String::new(), |value| value.to_string()),
            Column::Category { codes, levels } => {
                codes[row].map_or(String::new(), |code| levels[code as usize].clone())
            }
            Column::Text(texts) => texts[row].clone().unwrap_or_default(),
            Column::DateTime(values) => values[row].map_or(String::new(), format_datetime),
        }
    }

    fn to_array(&self) -> ArrayRef {
        match self {
            Column::Number(values) => {
                let present = values.iter().map(|value| (!value.is_nan()).then_some(*value));
                Arc::new(present.collect::<Float64Array>())
            }
            Column::Boolean(values) => Arc::new(values.iter().copied().collect::<BooleanArray>()),
            Column::Category { codes, levels } => {
                let texts = codes.iter().map(|code| code.map(|code| levels[code as usize].as_str()));
                Arc::new(texts.collect::<StringArray>())
            }
            Column::Text(texts) => Arc::new(texts.iter().map(Option::as_deref).collect::<StringArray>()),
            Column::DateTime(values) => {
                Arc::new(values.iter().copied().collect::<TimestampMicrosecondArray>())
            }
        }
    }
}

/// Columns of equal length, with names.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    file: Arc<str>,
    names: Vec<String>,
    columns: Vec<Column>,
    rows: usize,
    places: Places,
    declared: Arc<BTreeSet<String>>,
}

impl Table {
    /// A table that does not come from a file; `label` stands in error messages in a file's place.
    ///
    /// # Errors
    /// If two columns share a name or their lengths differ.
    pub fn new(label: &str, columns: Vec<(String, Column)>) -> Result<Self, DataError> {
        let (names, columns): (Vec<String>, Vec<Column>) = columns.into_iter().unzip();
        let file: Arc<str> = label.into();
        check_distinct(&names).map_err(|(name, problem)| DataError::new(label, problem).in_column(name))?;
        let rows = columns.first().map_or(0, Column::len);
        for (name, column) in names.iter().zip(&columns) {
            if column.len() != rows {
                let problem = Problem::UnequalLengths { expected: rows, got: column.len() };
                return Err(DataError::new(label, problem).in_column(name));
            }
        }
        Ok(Table { file, names, columns, rows, places: Places::Rows(1), declared: Arc::default() })
    }

    /// A table whose columns were built together, row by row.
    pub(crate) fn from_file(
        file: Arc<str>,
        names: Vec<String>,
        columns: Vec<Column>,
        rows: usize,
        places: Places,
    ) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == rows));
        Table { file, names, columns, rows, places, declared: Arc::default() }
    }

    /// The same table, where the user gave the types of these columns.
    pub(crate) fn with_declared(self, declared: Arc<BTreeSet<String>>) -> Self {
        Table { declared, ..self }
    }

    /// Whether the user gave the column's type, which is then not doubted.
    pub(crate) fn is_declared(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// The same table with one more column, which comes from elsewhere.
    ///
    /// # Errors
    /// If the column has more or fewer rows, or its name is taken.
    pub fn with_column(mut self, name: &str, column: Column) -> Result<Self, DataError> {
        if column.len() != self.rows {
            let problem = Problem::UnequalLengths { expected: self.rows, got: column.len() };
            return Err(DataError::new(self.file(), problem).in_column(name));
        }
        self.names.push(name.to_owned());
        self.columns.push(column);
        match check_distinct(&self.names) {
            Ok(()) => Ok(self),
            Err((name, problem)) => Err(DataError::new(self.file(), problem).in_column(name)),
        }
    }

    /// The file as the user named it.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Names of the columns.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns, in the order of [`names`](Self::names).
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of this name.
    ///
    /// # Errors
    /// If there is none; the hint then holds the closest name.
    pub fn column(&self, name: &str) -> Result<&Column, DataError> {
        match self.names.iter().position(|other| other == name) {
            Some(index) => Ok(&self.columns[index]),
            None => Err(DataError::new(self.file(), no_such_column(name, &self.names)).in_column(name)),
        }
    }

    /// The physical line of a row, for files that have lines.
    #[must_use]
    pub fn line(&self, row: usize) -> Option<u64> {
        match self.places.of(row) {
            Place::Line(line) => Some(line),
            Place::Row(_) => None,
        }
    }

    /// A problem with the cell at `row` and `column`.
    pub(crate) fn error_at(&self, row: usize, column: &str, problem: Problem) -> DataError {
        DataError::at(&self.file, self.places.of(row), problem).in_column(column)
    }

    /// The table as an arrow batch, ready for a [`RowWriter`](crate::RowWriter); missing values are null.
    ///
    /// # Errors
    /// If there are no columns.
    pub fn to_batch(&self) -> Result<RecordBatch, DataError> {
        let columns = self.names.iter().zip(&self.columns);
        let arrays = columns.map(|(name, column)| (name, column.to_array(), true));
        RecordBatch::try_from_iter_with_nullable(arrays)
            .map_err(|error| DataError::new(self.file(), Problem::Unwritable { message: error.to_string() }))
    }
}

/// The problem that `name` is not among `names`.
pub(crate) fn no_such_column(name: &str, names: &[String]) -> Problem {
    Problem::NoSuchColumn { nearest: nearest(name, names), available: names.to_vec() }
}

/// The first name that stands twice, with both positions.
pub(crate) fn check_distinct(names: &[String]) -> Result<(), (&str, Problem)> {
    let mut seen = std::collections::HashMap::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, index) {
            return Err((name, Problem::DuplicateColumn { first: first + 1, second: index + 1 }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_unequal_length_do_not_make_a_table() {
        let columns = vec![("a".into(), Column::Number(vec![1.0])), ("b".into(), Column::Number(vec![]))];
        let error = Table::new("memory", columns).expect_err("unequal");
        assert_eq!(error.to_string(), "memory: column `b`: expected 1 rows, got 0");
    }
}
