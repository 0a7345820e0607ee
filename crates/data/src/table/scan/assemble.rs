//! One sample of what was drawn from parts of the files.

use std::collections::HashSet;
use std::sync::Arc;

use super::TableScan;
use super::chosen::{Chosen, RowKey, SampledRows};
use super::rows::Rows;
use super::sample::{Drawn, Sample};
use super::strata::needed;
use crate::table::builder::Builder;
use crate::table::dates::format::DateFormat;
use crate::table::line_numbers::LineNumbers;
use crate::table::options::ColumnType;
use crate::table::{Column, Table};

impl TableScan {
    /// The sample: the same rows in the same order, whoever drew them.
    pub(super) fn assembled(&self, parts: Vec<Drawn>, chosen: Chosen, strata: Option<&str>) -> Sample {
        let (mut rows, mut candidates, mut too_many_levels) = (Rows::default(), Rows::default(), false);
        for part in parts {
            rows.append(part.rows);
            candidates.append(part.candidates);
            too_many_levels |= part.too_many_levels;
        }
        let extra = match strata.filter(|_| !too_many_levels) {
            Some(name) => of_rare_levels(name, &mut rows, &mut candidates),
            None => HashSet::new(),
        };
        candidates.retain(&extra);
        rows.append(candidates);
        rows.sort();
        let table = rows.table().and_then(|table| Table::concat(&self.files.name, vec![table.clone()]));
        let mut table = self.described(table.unwrap_or_else(|| self.without_rows()));
        if let Some(name) = strata.filter(|_| too_many_levels)
            && matches!(table.column(name), Ok(Column::Number(_)))
        {
            let declared = self.options.given().cloned().chain([name.to_owned()]);
            table = table.with_declared(Arc::new(declared.collect()));
        }
        let extra = Arc::new(extra.iter().map(RowKey::position).collect());
        Sample { table, rows: SampledRows { chosen, extra } }
    }

    /// The columns that are read.
    pub(super) fn read_columns(&self) -> impl Iterator<Item = &(String, ColumnType)> {
        self.columns.iter().filter(|(_, kind)| *kind != ColumnType::Ignore)
    }

    fn without_rows(&self) -> Table {
        let names = self.read_columns().map(|(name, _)| name.clone()).collect();
        let builders = self.read_columns().filter_map(|(_, kind)| Builder::new(*kind, DateFormat::default()));
        let columns = builders.map(Builder::finish).collect();
        Table::from_file(Arc::clone(&self.files.name), names, columns, 0, LineNumbers::Files(Vec::new()))
    }
}

/// The candidates that the levels of a column need.
fn of_rare_levels(name: &str, rows: &mut Rows, candidates: &mut Rows) -> HashSet<RowKey> {
    let column = |table: Option<&Table>| -> Option<Column> { table?.column(name).ok().cloned() };
    let drawn = column(rows.table());
    match column(candidates.table()) {
        Some(others) => needed(drawn.as_ref(), &others, &candidates.keys),
        None => HashSet::new(),
    }
}
