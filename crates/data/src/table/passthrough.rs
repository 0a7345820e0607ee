//! Passthrough columns of text files: copied from input to output as text, typed only when they are written.
//!
//! A mark in the field's metadata tells whether the text is a CSV cell or a JSON value. CSV output writes the text
//! unchanged. Parquet and JSON lines write numbers and booleans if all cells of a block are, and if nothing is lost:
//! `007` stays text.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::table::cell::{Cell, MissingValues, parse_number};
use crate::table::options::ReadOptions;

const MARK: &str = "ign:passthrough";

/// What the text of a passthrough column is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Origin {
    Csv,
    Json,
}

/// A field of passthrough text.
pub(crate) fn passthrough_field(name: &str, origin: Origin) -> Field {
    let mark = match origin {
        Origin::Csv => "csv",
        Origin::Json => "json",
    };
    Field::new(name, DataType::Utf8, true).with_metadata(HashMap::from([(MARK.into(), mark.into())]))
}

/// What the text of a field is; `None` if it is no passthrough field.
pub(crate) fn origin_of(field: &Field) -> Option<Origin> {
    match field.metadata().get(MARK).map(String::as_str) {
        Some("csv") => Some(Origin::Csv),
        Some("json") => Some(Origin::Json),
        _ => None,
    }
}

/// What a passthrough column is written as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PassthroughType {
    Integer,
    Number,
    Boolean,
    Text,
}

/// What one cell says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    /// Nothing, or a word for it: no value among numbers, but text among texts.
    Missing,
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Text,
}

impl PassthroughType {
    fn data_type(self) -> DataType {
        match self {
            PassthroughType::Integer => DataType::Int64,
            PassthroughType::Number => DataType::Float64,
            PassthroughType::Boolean => DataType::Boolean,
            PassthroughType::Text => DataType::Utf8,
        }
    }

    /// Whether a column of this type can hold cells of another.
    pub(crate) fn holds(self, other: PassthroughType) -> bool {
        self == other
            || self == PassthroughType::Text
            || (self == PassthroughType::Number && other == PassthroughType::Integer)
    }
}

/// The narrowest type that holds all cells; `None` without values.
pub(crate) fn type_of(column: &ArrayRef, origin: Origin) -> Option<PassthroughType> {
    let types = values(column, origin).filter_map(|value| match value {
        Value::Missing => None,
        Value::Integer(_) => Some(PassthroughType::Integer),
        Value::Number(_) => Some(PassthroughType::Number),
        Value::Boolean(_) => Some(PassthroughType::Boolean),
        Value::Text => Some(PassthroughType::Text),
    });
    types.reduce(|a, b| match (a, b) {
        (a, b) if a == b => a,
        (
            PassthroughType::Integer | PassthroughType::Number,
            PassthroughType::Integer | PassthroughType::Number,
        ) => PassthroughType::Number,
        _ => PassthroughType::Text,
    })
}

/// The cells as an array of a type that holds them.
fn typed(column: &ArrayRef, origin: Origin, kind: PassthroughType) -> ArrayRef {
    let values = values(column, origin);
    match kind {
        PassthroughType::Integer => Arc::new(
            values
                .map(|value| if let Value::Integer(n) = value { Some(n) } else { None })
                .collect::<Int64Array>(),
        ),
        PassthroughType::Number => {
            let number = |value| match value {
                Value::Integer(value) => Some(value as f64),
                Value::Number(value) => Some(value),
                _ => None,
            };
            Arc::new(values.map(number).collect::<Float64Array>())
        }
        PassthroughType::Boolean => Arc::new(
            values
                .map(|value| if let Value::Boolean(b) = value { Some(b) } else { None })
                .collect::<BooleanArray>(),
        ),
        PassthroughType::Text => as_text(column, origin),
    }
}

/// The batch with each passthrough column as the type that `kind` chooses.
pub(crate) fn with_types(
    batch: &RecordBatch,
    kind: impl Fn(usize, &ArrayRef, Origin) -> PassthroughType,
) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    if schema.fields().iter().all(|field| origin_of(field).is_none()) {
        return Ok(batch.clone());
    }
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (index, (field, column)) in schema.fields().iter().zip(batch.columns()).enumerate() {
        match origin_of(field) {
            Some(origin) => {
                let kind = kind(index, column, origin);
                fields.push(Arc::new(Field::new(field.name(), kind.data_type(), true)));
                columns.push(typed(column, origin, kind));
            }
            None => {
                fields.push(Arc::clone(field));
                columns.push(Arc::clone(column));
            }
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
}

/// The cells as text: CSV as it stood, JSON strings without quotes.
fn as_text(column: &ArrayRef, origin: Origin) -> ArrayRef {
    if origin == Origin::Csv {
        return Arc::clone(column);
    }
    let plain = |json: &str| serde_json::from_str(json).unwrap_or_else(|_| json.to_owned());
    let texts = column
        .as_string::<i32>()
        .iter()
        .map(|json| json.map(|json| if json.starts_with('"') { plain(json) } else { json.to_owned() }));
    Arc::new(texts.collect::<StringArray>())
}

fn values(column: &ArrayRef, origin: Origin) -> impl Iterator<Item = Value> {
    let missing = MissingValues::new(&ReadOptions::default().missing_values);
    column.as_string::<i32>().iter().map(move |text| match (text, origin) {
        (None, _) => Value::Missing,
        (Some(json), Origin::Json) if json.starts_with('"') => Value::Text,
        (Some(text), _) => match missing.cell(text) {
            Cell::Text(text) => value(text),
            _ => Value::Missing,
        },
    })
}

fn value(text: &str) -> Value {
    match text {
        "true" => return Value::Boolean(true),
        "false" => return Value::Boolean(false),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let padded = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    if padded || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Value::Text; // 007, +1, .5 and Infinity are left as they are written
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // Beyond 64 bits the last digits would be lost.
        return text.parse().map_or(Value::Text, Value::Integer);
    }
    match parse_number(text) {
        Some(number) if number.is_finite() => Value::Number(number),
        _ => Value::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(cells: &[&str], origin: Origin) -> Option<PassthroughType> {
        let column: ArrayRef = Arc::new(StringArray::from(cells.to_vec()));
        type_of(&column, origin)
    }

    #[test]
    fn a_column_is_numbers_only_if_nothing_is_lost() {
        assert_eq!(kind(&["1", "", "-20"], Origin::Csv), Some(PassthroughType::Integer));
        assert_eq!(kind(&["1", "2.50", "NA", "1e5"], Origin::Csv), Some(PassthroughType::Number));
        for text in ["007", "12345678901234567890", "+1", "1e999", "x", ".5"] {
            assert_eq!(kind(&["1", text], Origin::Csv), Some(PassthroughType::Text), "{text}");
        }
        assert_eq!(kind(&["true", "false"], Origin::Csv), Some(PassthroughType::Boolean));
        assert_eq!(kind(&["true", "1"], Origin::Csv), Some(PassthroughType::Text));
        assert_eq!(kind(&["", "NA"], Origin::Csv), None);
        assert_eq!(
            kind(&["\"5\"", "\"6\""], Origin::Json),
            Some(PassthroughType::Text),
            "strings of digits are strings"
        );
        assert_eq!(kind(&["5", "6"], Origin::Json), Some(PassthroughType::Integer));
    }
}
