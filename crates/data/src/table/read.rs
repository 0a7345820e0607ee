//! A whole file as a [`Table`]: one pass to infer the types from all rows, one to build the columns.
//!
//! Between the passes only counts are held, never text, so memory is that of the finished columns.

use std::sync::Arc;

use crate::error::DataError;
use crate::io::input::Input;
use crate::io::source::Source;
use crate::table::Table;
use crate::table::blocks::Blocks;
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::scan::file_list::FileList;
use crate::table::scan::merge::no_rows;
use crate::table::scan::pass::{scan_files, scan_input};
use crate::together::Alone;

/// Reads all rows; types come from all values, except where `options.column_types` gives them.
///
/// # Errors
/// If the file cannot be read as a table, with the place of the first fault.
pub fn read_table(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    let mut input = Input::find(source, true)?;
    let found = match source {
        Source::Shards(_) => scan_files(&FileList::new(source), options, &Alone)?,
        _ => scan_input(&mut input, options)?,
    };
    let table = whole_table(
        input,
        &ReadOptions { date_formats: found.date_formats, ..options.clone() },
        &found.columns,
    )?;
    Ok(table.with_declared(Arc::new(options.given().cloned().collect())))
}

/// Reads all rows of the named columns with known types, for example those of a trained model.
///
/// # Errors
/// If a column is missing or a cell is not of its column's type, with its place.
pub fn read_columns(
    source: &Source,
    options: &ReadOptions,
    columns: &[(String, ColumnType)],
) -> Result<Table, DataError> {
    whole_table(Input::find(source, false)?, options, columns).map_err(DataError::for_model)
}

pub(crate) fn whole_table(
    input: Input,
    options: &ReadOptions,
    columns: &[(String, ColumnType)],
) -> Result<Table, DataError> {
    let name = input.name.clone();
    let mut blocks = Blocks::open(input, options, columns, &[], usize::MAX)?;
    match blocks.next() {
        Some(block) => Ok(block?.table),
        None => Err(DataError::new(name.as_ref(), no_rows(blocks.file_columns()))),
    }
}
