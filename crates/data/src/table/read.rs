//! A whole file as a [`Table`]: one pass to infer the types from all rows, one to build the columns.
//!
//! Between the passes only counts are held, never text, so memory is that of the finished columns.

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::{DataError, Problem};
use crate::io::input::Input;
use crate::io::source::Source;
use crate::table::blocks::Blocks;
use crate::table::dates::formats::DateFormats;
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::reader::{ColumnSink, Reader};
use crate::table::{Table, no_such_column};

/// Reads all rows; types come from all values, except where `options.column_types` gives them.
///
/// # Errors
/// If the file cannot be read as a table, with the place of the first fault.
pub fn read_table(source: &Source, options: &ReadOptions) -> Result<Table, DataError> {
    let mut input = Input::find(source, true)?;
    let (types, date_formats, _) = inferred_types(&mut input, options)?;
    let table = whole_table(input, &ReadOptions { date_formats, ..options.clone() }, &types)?;
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

/// What a pass over a table finds: names and types of all columns, the formats of those with dates, and the number of rows.
type Found = (Vec<(String, ColumnType)>, DateFormats, usize);

/// See [`Found`].
pub(crate) fn inferred_types(input: &mut Input, options: &ReadOptions) -> Result<Found, DataError> {
    let mut reader = Reader::open(input, options)?;
    let mut sinks: Vec<ColumnSink> =
        reader.names().iter().map(|name| ColumnSink::inferring(name, options)).collect();
    let mut lines = reader.line_numbers(0);
    let rows = reader.read(usize::MAX, &mut sinks, &mut lines)?;
    let names = reader.names();
    if rows == 0 {
        return Err(DataError::new(input.name.as_ref(), no_rows(Some(names.len()).filter(|n| *n > 0))));
    }
    let present: HashSet<&String> = names.iter().collect();
    if let Some(name) = options.given().chain(&options.keep_spelling).find(|name| !present.contains(name)) {
        return Err(DataError::new(input.name.as_ref(), no_such_column(name, names)).in_column(name));
    }
    let spelled: HashSet<&String> = options.keep_spelling.iter().collect();
    let mut types = Vec::with_capacity(names.len());
    let mut date_formats = DateFormats { every: None, columns: options.date_formats.columns.clone() };
    for (name, sink) in names.iter().zip(sinks) {
        let column_type = match sink.infer {
            None => {
                if let Some(format) = options.date_formats.of(name) {
                    date_formats.columns.insert(name.clone(), format.clone());
                }
                options.given_type(name).unwrap_or(ColumnType::Ignore)
            }
            Some(inference) => {
                let inferred = inference.resolve(spelled.contains(name));
                let (column_type, format) = inferred
                    .map_err(|(place, problem)| DataError::at(&input.name, place, problem).in_column(name))?;
                date_formats.columns.extend(format.map(|format| (name.clone(), format)));
                column_type
            }
        };
        types.push((name.clone(), column_type));
    }
    Ok((types, date_formats, rows))
}

/// A file of JSON lines has no header, so without rows it has nothing.
fn no_rows(header: Option<usize>) -> Problem {
    header.map_or(Problem::Empty, |columns| Problem::HeaderOnly { columns })
}
