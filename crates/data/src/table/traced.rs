//! Tables put together from rows of several files, each of which remembers its place.

use std::sync::Arc;

use super::line_numbers::LineNumbers;
use super::{Column, Table};

impl Table {
    /// The same rows, each of which remembers its file wherever it gets to.
    pub(crate) fn traced(mut self) -> Self {
        let mut lines = LineNumbers::Files(Vec::new());
        lines.append(0, &self.file, self.lines);
        self.lines = lines;
        self
    }

    /// The rows of several tables with the same columns, such as blocks of files; nothing of no table. `name` stands in messages about
    /// the whole.
    ///
    /// Categories have their levels in order of appearance, and no others.
    pub(crate) fn concat(name: &Arc<str>, tables: Vec<Self>) -> Option<Self> {
        let (file, first) = (Arc::clone(name), tables.first()?);
        let (declared, date_formats) = (Arc::clone(&first.declared), Arc::clone(&first.date_formats));
        let (names, mut rows, mut lines) = (first.names.clone(), 0, LineNumbers::Files(Vec::new()));
        let mut parts: Vec<Vec<Column>> = names.iter().map(|_| Vec::with_capacity(tables.len())).collect();
        for table in tables {
            debug_assert!(table.names == names);
            lines.append(rows, &table.file, table.lines);
            rows += table.rows;
            parts.iter_mut().zip(table.columns).for_each(|(parts, column)| parts.push(column));
        }
        let columns = parts.into_iter().map(Column::concat).collect();
        let table = Self::from_file(file, names, columns, rows, lines);
        Some(table.with_declared(declared).with_date_formats(date_formats))
    }
}
