//! Columns carried along from text files: they travel as text and get their type where they are written.
//!
//! The mark in the field's metadata says what the text is: a CSV cell as it stood, or a JSON value. CSV
//! output writes the text. Parquet and JSON lines write numbers and truth values as such if all cells of a
//! block are: numbers as they are written, so that `007` stays a name.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

use crate::cell::{Cell, MissingValues, parse_number};
use crate::source::ReadOptions;

const MARK: &str = "ign:kept";

/// What the text of a kept column is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Origin {
    Csv,
    Json,
}

/// A field of kept text.
pub(crate) fn kept_field(name: &str, origin: Origin) -> Field {
    let mark = match origin {
        Origin::Csv => "csv",
        Origin::Json => "json",
    };
    Field::new(name, DataType::Utf8, true).with_metadata(HashMap::from([(MARK.into(), mark.into())]))
}

/// What the text of a field is, if it is a kept one.
pub(crate) fn origin_of(field: &Field) -> Option<Origin> {
    match field.metadata().get(MARK).map(String::as_str) {
        Some("csv") => Some(Origin::Csv),
        Some("json") => Some(Origin::Json),
        _ => None,
    }
}

/// What a kept column is written as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
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

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Kind::Integer => DataType::Int64,
            Kind::Number => DataType::Float64,
            Kind::Boolean => DataType::Boolean,
            Kind::Text => DataType::Utf8,
        }
    }

    /// Whether a column of this kind can hold cells of another.
    pub(crate) fn holds(self, other: Kind) -> bool {
        self == other || self == Kind::Text || (self == Kind::Number && other == Kind::Integer)
    }
}

/// The narrowest kind that holds all cells; none without values.
pub(crate) fn kind_of(column: &ArrayRef, origin: Origin) -> Option<Kind> {
    let kinds = values(column, origin).filter_map(|value| match value {
        Value::Missing => None,
        Value::Integer(_) => Some(Kind::Integer),
        Value::Number(_) => Some(Kind::Number),
        Value::Boolean(_) => Some(Kind::Boolean),
        Value::Text => Some(Kind::Text),
    });
    kinds.reduce(|a, b| match (a, b) {
        (a, b) if a == b => a,
        (Kind::Integer | Kind::Number, Kind::Integer | Kind::Number) => Kind::Number,
        _ => Kind::Text,
    })
}

/// The cells as an array of a kind that holds them.
fn typed(column: &ArrayRef, origin: Origin, kind: Kind) -> ArrayRef {
    let values = values(column, origin);
    match kind {
        Kind::Integer => Arc::new(
            values
                .map(|value| if let Value::Integer(n) = value { Some(n) } else { None })
                .collect::<Int64Array>(),
        ),
        Kind::Number => {
            let number = |value| match value {
                Value::Integer(value) => Some(value as f64),
                Value::Number(value) => Some(value),
                _ => None,
            };
            Arc::new(values.map(number).collect::<Float64Array>())
        }
        Kind::Boolean => Arc::new(
            values
                .map(|value| if let Value::Boolean(b) = value { Some(b) } else { None })
                .collect::<BooleanArray>(),
        ),
        Kind::Text => as_text(column, origin),
    }
}

/// The batch with its kept columns as `kind` says for each of them.
pub(crate) fn with_kinds(
    batch: &RecordBatch,
    kind: impl Fn(usize, &ArrayRef, Origin) -> Kind,
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

    fn kind(cells: &[&str], origin: Origin) -> Option<Kind> {
        let column: ArrayRef = Arc::new(StringArray::from(cells.to_vec()));
        kind_of(&column, origin)
    }

    #[test]
    fn a_column_is_numbers_only_if_nothing_is_lost() {
        assert_eq!(kind(&["1", "", "-20"], Origin::Csv), Some(Kind::Integer));
        assert_eq!(kind(&["1", "2.50", "NA", "1e5"], Origin::Csv), Some(Kind::Number));
        for text in ["007", "12345678901234567890", "+1", "1e999", "x", ".5"] {
            assert_eq!(kind(&["1", text], Origin::Csv), Some(Kind::Text), "{text}");
        }
        assert_eq!(kind(&["true", "false"], Origin::Csv), Some(Kind::Boolean));
        assert_eq!(kind(&["true", "1"], Origin::Csv), Some(Kind::Text));
        assert_eq!(kind(&["", "NA"], Origin::Csv), None);
        assert_eq!(
            kind(&["\"5\"", "\"6\""], Origin::Json),
            Some(Kind::Text),
            "strings of digits are strings"
        );
        assert_eq!(kind(&["5", "6"], Origin::Json), Some(Kind::Integer));
    }
}
