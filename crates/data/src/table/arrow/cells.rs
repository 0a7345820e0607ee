//! Cells of Arrow arrays into a column sink.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, TimeUnit};

use crate::error::{DataError, Place, Problem};
use crate::table::builder::Builder;
use crate::table::cell::{Cell, MissingValues};
use crate::table::reader::{ColumnSink, Passthrough};

const DAY_MICROS: i64 = 86_400_000_000;

/// How the arrays of a source become cells.
pub(crate) struct ArrayCells {
    pub(crate) file: Arc<str>,
    pub(crate) missing: MissingValues,
}

impl ArrayCells {
    /// All values of one column's array, the first of them at `first`.
    pub(crate) fn push(
        &self,
        array: &ArrayRef,
        column: &str,
        first: Place,
        sink: &mut ColumnSink,
    ) -> Result<(), DataError> {
        if let Some(Passthrough::Arrays(arrays)) = &mut sink.passthrough {
            arrays.push(Arc::clone(array));
        }
        if sink.build.is_none() && sink.infer.is_none() {
            return Ok(());
        }
        let failed = |place, problem| DataError::at(&self.file, place, problem).in_column(column);
        let as_text = matches!(sink.build, Some(Builder::Category { .. } | Builder::Text(_)));
        let unsupported = |problem| DataError::new(self.file.as_ref(), problem).in_column(column);
        // A dictionary is looked up, not unfolded.
        let (keys, values) = match array.as_any_dictionary_opt() {
            Some(dictionary) if dictionary.values().is_empty() => {
                (Some(vec![0; array.len()]), Arc::clone(dictionary.values()))
            }
            Some(dictionary) => (Some(dictionary.normalized_keys()), Arc::clone(dictionary.values())),
            None => (None, Arc::clone(array)),
        };
        let values = normalised(&values, as_text).map_err(unsupported)?;
        for row in 0..array.len() {
            let place = first.plus(row);
            let cell = match &keys {
                _ if array.is_null(row) => Cell::Missing,
                Some(keys) => self.cell(&values, keys[row]),
                None => self.cell(&values, row),
            };
            sink.push(cell, place).map_err(|problem| failed(place, problem))?;
        }
        Ok(())
    }

    /// The cell of an array that [`normalised`] made.
    fn cell<'a>(&self, array: &'a ArrayRef, row: usize) -> Cell<'a> {
        if array.is_null(row) {
            return Cell::Missing;
        }
        match array.data_type() {
            DataType::Null => Cell::Missing,
            DataType::Boolean => Cell::Boolean(array.as_boolean().value(row)),
            DataType::Utf8 => self.missing.cell(array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => self.missing.cell(array.as_string::<i64>().value(row)),
            DataType::Utf8View => self.missing.cell(array.as_string_view().value(row)),
            DataType::Timestamp(..) => {
                Cell::DateTime(array.as_primitive::<TimestampMicrosecondType>().value(row))
            }
            _ => Cell::number(array.as_primitive::<Float64Type>().value(row)),
        }
    }
}

/// The array as 64-bit floats, booleans, text or microseconds; whole numbers as text if `as_text`, to keep all digits.
fn normalised(array: &ArrayRef, as_text: bool) -> Result<ArrayRef, Problem> {
    fn floats<T: ArrowPrimitiveType>(array: &ArrayRef, float: impl Fn(T::Native) -> f64) -> ArrayRef {
        Arc::new(array.as_primitive::<T>().unary::<_, Float64Type>(float))
    }
    fn texts<T: ArrowPrimitiveType<Native: ToString>>(array: &ArrayRef) -> ArrayRef {
        let texts = array.as_primitive::<T>().iter().map(|value| value.map(|value| value.to_string()));
        Arc::new(texts.collect::<StringArray>())
    }
    fn micros<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        micros: impl Fn(T::Native) -> Option<i64>,
    ) -> ArrayRef {
        Arc::new(array.as_primitive::<T>().unary_opt::<_, TimestampMicrosecondType>(micros))
    }
    Ok(match array.data_type() {
        DataType::Int8 if as_text => texts::<Int8Type>(array),
        DataType::Int16 if as_text => texts::<Int16Type>(array),
        DataType::Int32 if as_text => texts::<Int32Type>(array),
        DataType::Int64 if as_text => texts::<Int64Type>(array),
        DataType::UInt8 if as_text => texts::<UInt8Type>(array),
        DataType::UInt16 if as_text => texts::<UInt16Type>(array),
        DataType::UInt32 if as_text => texts::<UInt32Type>(array),
        DataType::UInt64 if as_text => texts::<UInt64Type>(array),
        DataType::Int8 => floats::<Int8Type>(array, f64::from),
        DataType::Int16 => floats::<Int16Type>(array, f64::from),
        DataType::Int32 => floats::<Int32Type>(array, f64::from),
        DataType::Int64 => floats::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => floats::<UInt8Type>(array, f64::from),
        DataType::UInt16 => floats::<UInt16Type>(array, f64::from),
        DataType::UInt32 => floats::<UInt32Type>(array, f64::from),
        DataType::UInt64 => floats::<UInt64Type>(array, |value| value as f64),
        DataType::Float16 => floats::<Float16Type>(array, f64::from),
        DataType::Float32 => floats::<Float32Type>(array, f64::from),
        DataType::Decimal128(_, scale) => {
            let unit = 10f64.powi((*scale).into());
            floats::<Decimal128Type>(array, |value| value as f64 / unit)
        }
        DataType::Float64
        | DataType::Boolean
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Null
        | DataType::Timestamp(TimeUnit::Microsecond, _) => Arc::clone(array),
        DataType::Date32 => micros::<Date32Type>(array, |days| Some(i64::from(days) * DAY_MICROS)),
        DataType::Date64 => micros::<Date64Type>(array, |value| value.checked_mul(1000)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            micros::<TimestampSecondType>(array, |value| value.checked_mul(1_000_000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            micros::<TimestampMillisecondType>(array, |value| value.checked_mul(1000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            micros::<TimestampNanosecondType>(array, |value| Some(value.div_euclid(1000)))
        }
        other => return Err(Problem::UnsupportedType { type_name: other.to_string() }),
    })
}
