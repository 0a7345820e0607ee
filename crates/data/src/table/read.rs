//! A whole file as a [`Table`]: one pass to infer the types from all rows, one to build the columns.
//!
//! Between the passes only counts are held, never text, so memory is that of the finished columns.

use std::collections::HashSet;

use crate::error::{DataError, Problem};
use crate::io::input::Input;
use crate::io::source::Source;
use crate::table::blocks::Blocks;
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::reader::{ColumnSink, Reader};
use crate::table::{Table, no_such_column};

/// Reads all rows; types come from all values, except where `options.column_types` gives them.
///
/// # Errors
/// If the file cannot be read as a table, with the place of the first fault.
pub fn read_table(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    let mut input = Input::find(source, true)?;
    let types = inferred_types(&mut input, options)?;
    whole_table(input, options, &types)
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
    whole_table(Input::find(source, false)?, options, columns)
}

fn whole_table(
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

fn inferred_types(input: &mut Input, options: &ReadOptions) -> Result<Vec<(String, ColumnType)>, DataError> {
    let mut reader = Reader::open(input, options)?;
    let settled = &options.column_types;
    let sink_for =
        |name| if settled.contains_key(name) { ColumnSink::default() } else { ColumnSink::inferring() };
    let mut sinks: Vec<ColumnSink> = reader.names().iter().map(sink_for).collect();
    let mut lines = reader.line_numbers(0);
    let rows = reader.read(usize::MAX, &mut sinks, &mut lines)?;
    let names = reader.names();
    if rows == 0 {
        return Err(DataError::new(input.name.as_ref(), no_rows(Some(names.len()).filter(|n| *n > 0))));
    }
    let present: HashSet<&String> = names.iter().collect();
    let asked = settled.keys().chain(&options.keep_spelling);
    if let Some(name) = asked.into_iter().find(|name| !present.contains(name)) {
        return Err(DataError::new(input.name.as_ref(), no_such_column(name, names)).in_column(name));
    }
    let spelled: HashSet<&String> = options.keep_spelling.iter().collect();
    let mut types = Vec::with_capacity(names.len());
    for (name, sink) in names.iter().zip(sinks) {
        let column_type = match (settled.get(name), sink.infer) {
            (Some(given), _) => *given,
            (None, Some(inference)) => inference
                .resolve(spelled.contains(name))
                .map_err(|(place, problem)| DataError::at(&input.name, place, problem).in_column(name))?,
            (None, None) => ColumnType::Ignore,
        };
        types.push((name.clone(), column_type));
    }
    Ok(types)
}

/// A file of JSON lines has no header, so without rows it has nothing.
fn no_rows(header: Option<usize>) -> Problem {
    header.map_or(Problem::Empty, |columns| Problem::HeaderOnly { columns })
}
