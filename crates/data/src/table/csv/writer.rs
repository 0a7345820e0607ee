//! Rows as CSV (RFC 4180): a field is quoted only if it has to be.

use arrow_array::RecordBatch;

use crate::error::Problem;
use crate::table::passthrough::{PassthroughType, with_types};
use crate::table::text_format::{TextCell, text_cell};

/// Appends the rows, and before them the header if asked to.
pub(crate) fn write_csv(
    batch: &RecordBatch,
    delimiter: u8,
    header: bool,
    out: &mut String,
) -> Result<(), Problem> {
    let batch = with_types(batch, |_, _, _| PassthroughType::Text)
        .map_err(|error| Problem::Unwritable { message: error.to_string() })?;
    let delimiter = char::from(delimiter);
    let alone = batch.num_columns() == 1;
    if header {
        for (index, field) in batch.schema_ref().fields().iter().enumerate() {
            push_field(out, index, field.name(), delimiter, alone);
        }
        out.push('\n');
    }
    for row in 0..batch.num_rows() {
        for (index, column) in batch.columns().iter().enumerate() {
            match text_cell(column, row) {
                TextCell::Null => push_field(out, index, "", delimiter, alone),
                TextCell::Bare(text) => push_field(out, index, &text, delimiter, alone),
                TextCell::NotFinite(value) => push_field(out, index, &value.to_string(), delimiter, alone),
                TextCell::Text(text) => push_field(out, index, &text, delimiter, alone),
            }
        }
        out.push('\n');
    }
    Ok(())
}

/// An empty field that stands alone is quoted too, because readers skip empty lines.
fn push_field(out: &mut String, index: usize, field: &str, delimiter: char, alone: bool) {
    if index > 0 {
        out.push(delimiter);
    }
    let special = |c: char| matches!(c, '"' | '\n' | '\r') || c == delimiter;
    if field.contains(special) || (alone && field.is_empty()) {
        out.push('"');
        out.push_str(&field.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(field);
    }
}
