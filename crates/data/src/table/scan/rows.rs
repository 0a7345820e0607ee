//! Rows taken from several files, each with its key.

use std::collections::HashSet;
use std::sync::Arc;

use super::chosen::RowKey;
use crate::table::Table;

/// Tables that are held before they are put together.
const TABLES: usize = 64;

/// Rows of one table, in whatever order they came.
#[derive(Debug, Default)]
pub(super) struct Rows {
    tables: Vec<Table>,
    /// Of the rows of all tables, one after the other.
    pub(super) keys: Vec<RowKey>,
}

impl Rows {
    /// Takes some rows of a table, and their keys.
    pub(super) fn push(&mut self, table: &Table, rows: &[usize], keys: Vec<RowKey>) {
        if rows.is_empty() {
            return;
        }
        let own = Table::concat(&table.name(), vec![table.select(rows)]);
        self.append(Rows { tables: own.into_iter().collect(), keys });
    }

    pub(super) fn of(table: Table, keys: Vec<RowKey>) -> Self {
        Rows { tables: vec![table], keys }
    }

    pub(super) fn append(&mut self, more: Self) {
        self.tables.extend(more.tables);
        self.keys.extend(more.keys);
        if self.tables.len() > TABLES {
            self.settle();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Keeps the rows of these keys only.
    pub(super) fn retain(&mut self, keys: &HashSet<RowKey>) {
        self.settle();
        let kept: Vec<usize> = (0..self.keys.len()).filter(|row| keys.contains(&self.keys[*row])).collect();
        self.pick(&kept);
    }

    /// Brings the rows into the order of files and rows.
    pub(super) fn sort(&mut self) {
        self.settle();
        let mut order: Vec<usize> = (0..self.keys.len()).collect();
        order.sort_unstable_by_key(|row| self.keys[*row].position());
        self.pick(&order);
    }

    /// The rows as one table; nothing of none.
    pub(super) fn table(&mut self) -> Option<&Table> {
        self.settle();
        self.tables.first()
    }

    fn pick(&mut self, rows: &[usize]) {
        self.keys = rows.iter().map(|row| self.keys[*row]).collect();
        let tables = std::mem::take(&mut self.tables);
        let picked = tables.iter().map(|table| table.select(rows)).collect();
        self.tables = vec_of(concat(picked));
    }

    fn settle(&mut self) {
        if self.tables.len() > 1 {
            self.tables = vec_of(concat(std::mem::take(&mut self.tables)));
        }
    }
}

fn concat(tables: Vec<Table>) -> Option<Table> {
    let name: Arc<str> = tables.first()?.name();
    Table::concat(&name, tables)
}

fn vec_of(table: Option<Table>) -> Vec<Table> {
    table.into_iter().collect()
}
