//! Tables: read from CSV, JSON lines, Parquet or NumPy files or Arrow batches, whole or in blocks, and written again.
//!
//! ```
//! use inducing_data::{Column, ReadOptions, RowWriter, Sink, Source, read_table};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("houses.csv");
//! std::fs::write(&path, "rooms,city,price\n3,Kyiv,250\n5,Graz,410\n2,Kyiv,\n")?;
//!
//! let table = read_table(&Source::from(path.as_path()), &ReadOptions::default())?;
//! assert_eq!(table.names(), ["rooms", "city", "price"]);
//! assert_eq!(table.column("rooms")?, &Column::Number(vec![3.0, 5.0, 2.0]));
//! assert!(table.column("price")?.is_missing(2));
//!
//! let out = folder.path().join("houses.parquet");
//! let batch = table.to_batch()?;
//! let mut writer = RowWriter::create(&Sink::Path(out.clone()), None, batch.schema())?;
//! writer.write(&batch)?;
//! writer.finish()?;
//! let again = read_table(&Source::from(out.as_path()), &ReadOptions::default())?;
//! assert_eq!(again.column("city")?, table.column("city")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `read.rs` and `blocks.rs` are the two ways in, `write.rs` the way out; `infer.rs` finds the types, `builder.rs` makes
//! the columns; `dates/` reads dates; each file format has its own folder.

pub(crate) mod arrow;
pub(crate) mod blocks;
pub(crate) mod builder;
pub(crate) mod cell;
mod column;
pub(crate) mod csv;
pub(crate) mod dates;
pub(crate) mod infer;
pub(crate) mod json;
pub(crate) mod line_numbers;
pub(crate) mod mixed;
pub(crate) mod npy;
pub(crate) mod number_format;
pub(crate) mod options;
pub(crate) mod parquet;
pub(crate) mod passthrough;
pub(crate) mod read;
pub(crate) mod reader;
pub(crate) mod scan;
pub(crate) mod shards;
pub(crate) mod take;
pub(crate) mod text_detection;
mod text_format;
mod traced;
pub(crate) mod write;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::RecordBatch;

use crate::error::{DataError, Place, Problem, nearest};
pub use column::Column;
use dates::format::DateFormat;
use line_numbers::LineNumbers;

/// Columns of equal length, with names.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    file: Arc<str>,
    names: Vec<String>,
    /// The position of each name: a scan for each of many columns would take their number squared.
    positions: HashMap<String, usize>,
    columns: Vec<Column>,
    rows: usize,
    lines: LineNumbers,
    declared: Arc<BTreeSet<String>>,
    /// Formats of the columns of dates that do not go without saying.
    date_formats: Arc<BTreeMap<String, DateFormat>>,
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
        let positions = positions(&names);
        Ok(Table {
            file,
            names,
            positions,
            columns,
            rows,
            lines: LineNumbers::Rows(1),
            declared: Arc::default(),
            date_formats: Arc::default(),
        })
    }

    /// A table whose columns were built together, row by row.
    pub(crate) fn from_file(
        file: Arc<str>,
        names: Vec<String>,
        columns: Vec<Column>,
        rows: usize,
        lines: LineNumbers,
    ) -> Self {
        debug_assert!(columns.iter().all(|column| column.len() == rows));
        let positions = positions(&names);
        let (declared, date_formats) = (Arc::default(), Arc::default());
        Table { file, names, positions, columns, rows, lines, declared, date_formats }
    }

    /// The same table, where the user gave the types of these columns.
    pub(crate) fn with_declared(self, declared: Arc<BTreeSet<String>>) -> Self {
        Table { declared, ..self }
    }

    /// The same table, whose dates were written in these formats.
    pub(crate) fn with_date_formats(self, date_formats: Arc<BTreeMap<String, DateFormat>>) -> Self {
        Table { date_formats, ..self }
    }

    /// How the dates of a column were written.
    pub(crate) fn date_format(&self, name: &str) -> DateFormat {
        self.date_formats.get(name).cloned().unwrap_or_default()
    }

    /// Whether the user gave the column's type, which is then not doubted.
    #[must_use]
    pub fn is_declared(&self, name: &str) -> bool {
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
        if let Some(first) = self.positions.insert(name.to_owned(), self.names.len()) {
            let problem = Problem::DuplicateColumn { first: first + 1, second: self.names.len() + 1 };
            return Err(DataError::new(self.file(), problem).in_column(name));
        }
        self.names.push(name.to_owned());
        self.columns.push(column);
        Ok(self)
    }

    /// The table of these rows, in their order; a row that stands twice is there twice.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut lines = match &self.lines {
            LineNumbers::Lines(_) => LineNumbers::Lines(Vec::new()),
            LineNumbers::Rows(_) => LineNumbers::Rows(1),
            LineNumbers::Files(_) => LineNumbers::Files(Vec::new()),
        };
        for (to, &from) in rows.iter().enumerate() {
            if let Some(line) = self.line(from) {
                lines.push_line(to, line);
            }
            if let Some(file) = self.lines.file(from) {
                lines.push_place(to, file, self.lines.place(from));
            }
        }
        let columns = self.columns.iter().map(|column| column.select(rows)).collect();
        Self::from_file(self.file.clone(), self.names.clone(), columns, rows.len(), lines)
            .with_declared(self.declared.clone())
            .with_date_formats(self.date_formats.clone())
    }

    pub(crate) fn name(&self) -> Arc<str> {
        Arc::clone(&self.file)
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
        match self.positions.get(name) {
            Some(index) => Ok(&self.columns[*index]),
            None => Err(DataError::new(self.file(), no_such_column(name, &self.names)).in_column(name)),
        }
    }

    /// The physical line of a row, for files that have lines.
    #[must_use]
    pub fn line(&self, row: usize) -> Option<u64> {
        match self.lines.place(row) {
            Place::Line(line) => Some(line),
            Place::Row(_) => None,
        }
    }

    /// The file that a row came from: [`file`](Self::file), or one of several files of a table.
    #[must_use]
    pub fn file_of(&self, row: usize) -> &str {
        self.one_of_files(row).unwrap_or(&self.file)
    }

    /// The file of a row in a table of several.
    pub(crate) fn one_of_files(&self, row: usize) -> Option<&str> {
        self.lines.file(row).map(|file| &**file)
    }

    /// Number of a row from 1, in its file if that has no lines.
    #[must_use]
    pub fn row_in_file(&self, row: usize) -> u64 {
        match self.lines.place(row) {
            Place::Row(row) => row,
            Place::Line(_) => row as u64 + 1,
        }
    }

    /// A problem with the cell at `row` and `column`.
    pub(crate) fn error_at(&self, row: usize, column: &str, problem: Problem) -> DataError {
        let file = self.lines.file(row).unwrap_or(&self.file);
        DataError::at(file, self.lines.place(row), problem).in_column(column)
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

fn positions(names: &[String]) -> HashMap<String, usize> {
    names.iter().cloned().zip(0..).collect()
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
        assert_eq!(error.to_string(), "memory: column `b`: expected 1 row, got 0");
    }

    #[test]
    fn selected_rows_keep_their_values_lines_and_declared_types() {
        let columns = vec![
            Column::Number(vec![1.0, 2.0, 3.0]),
            Column::Category { codes: vec![Some(0), None, Some(1)], levels: vec!["a".into(), "b".into()] },
        ];
        let mut lines = LineNumbers::Lines(Vec::new());
        [2, 3, 7].into_iter().enumerate().for_each(|(row, line)| lines.push_line(row, line));
        let table = Table::from_file("f.csv".into(), vec!["x".into(), "c".into()], columns, 3, lines);
        let table = table.with_declared(Arc::new(BTreeSet::from(["x".to_owned()])));
        let some = table.select(&[2, 0]);
        assert_eq!(some.rows(), 2);
        assert_eq!(some.column("x").expect("there"), &Column::Number(vec![3.0, 1.0]));
        assert_eq!((some.columns()[1].text(0), some.columns()[1].text(1)), ("b".into(), "a".into()));
        assert_eq!((some.line(0), some.line(1)), (Some(7), Some(2)));
        assert!(some.is_declared("x") && !some.is_declared("c"));
        assert_eq!(table.select(&[0, 1, 2]), table);
    }
}
