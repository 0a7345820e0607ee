//! Rows as JSON lines, missing values as `null`.

use arrow_array::RecordBatch;

use crate::error::Problem;
use crate::table::passthrough::{PassthroughType, type_of, with_types};
use crate::table::text_format::{TextCell, text_cell};

/// Appends one object for each row.
pub(crate) fn write_json(batch: &RecordBatch, out: &mut String) -> Result<(), Problem> {
    let batch =
        with_types(batch, |_, column, origin| type_of(column, origin).unwrap_or(PassthroughType::Text))
            .map_err(|error| Problem::Unwritable { message: error.to_string() })?;
    let names: Vec<String> = batch.schema_ref().fields().iter().map(|field| quoted(field.name())).collect();
    for row in 0..batch.num_rows() {
        out.push('{');
        for (index, (name, column)) in names.iter().zip(batch.columns()).enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(name);
            out.push(':');
            match text_cell(column, row) {
                TextCell::Null | TextCell::NotFinite(_) => out.push_str("null"),
                TextCell::Bare(text) => out.push_str(&text),
                TextCell::Text(text) => out.push_str(&quoted(&text)),
            }
        }
        out.push_str("}\n");
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
