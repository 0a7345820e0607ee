//! Which arrow type a flat Parquet column has, and which Parquet type an arrow column is written as.

use std::sync::Arc;

use arrow_schema::{DataType, Field, TimeUnit};
use parquet::basic::{
    ConvertedType as Converted, LogicalType as Logical, Repetition, TimeUnit as ParquetUnit, Type as Physical,
};
use parquet::schema::types::{ColumnDescriptor, Type};

/// Digits that a 128-bit decimal holds.
const DECIMAL_DIGITS: i32 = 38;

/// The type of a column in memory; `None` for lists, structs and decimals of more than 38 digits.
///
/// The builder of Parquet's schema fills in the older converted type from the logical type, so that one of the two
/// suffices here except where only the logical type tells (nanoseconds, UTC, half floats).
pub(crate) fn arrow_type(column: &ColumnDescriptor) -> Option<DataType> {
    if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
        return None;
    }
    let utc = |adjusted: bool| adjusted.then(|| Arc::from("UTC"));
    Some(match (column.physical_type(), column.converted_type(), column.logical_type_ref()) {
        (_, Converted::DECIMAL, _) => {
            let (precision, scale) = (column.type_precision(), column.type_scale());
            if !(1..=DECIMAL_DIGITS).contains(&precision) || !(0..=precision).contains(&scale) {
                return None;
            }
            DataType::Decimal128(precision as u8, scale as i8)
        }
        (Physical::BOOLEAN, ..) => DataType::Boolean,
        (Physical::INT32, Converted::DATE, _) => DataType::Date32,
        (Physical::INT32, Converted::TIME_MILLIS, _) => DataType::Time32(TimeUnit::Millisecond),
        (Physical::INT32, Converted::UINT_8 | Converted::UINT_16 | Converted::UINT_32, _) => DataType::UInt32,
        (Physical::INT32, ..) => DataType::Int32,
        (Physical::INT64, _, Some(Logical::Timestamp(time))) => {
            DataType::Timestamp(unit(&time.unit), utc(time.is_adjusted_to_u_t_c))
        }
        (Physical::INT64, _, Some(Logical::Time(time))) => DataType::Time64(unit(&time.unit)),
        (Physical::INT64, Converted::TIMESTAMP_MILLIS, _) => {
            DataType::Timestamp(TimeUnit::Millisecond, utc(true))
        }
        (Physical::INT64, Converted::TIMESTAMP_MICROS, _) => {
            DataType::Timestamp(TimeUnit::Microsecond, utc(true))
        }
        (Physical::INT64, Converted::TIME_MICROS, _) => DataType::Time64(TimeUnit::Microsecond),
        (Physical::INT64, Converted::UINT_64, _) => DataType::UInt64,
        (Physical::INT64, ..) => DataType::Int64,
        // The timestamps of Impala and old versions of Spark; microseconds hold all of their years.
        (Physical::INT96, ..) => DataType::Timestamp(TimeUnit::Microsecond, None),
        (Physical::FLOAT, ..) | (_, _, Some(Logical::Float16)) => DataType::Float32,
        (Physical::DOUBLE, ..) => DataType::Float64,
        (Physical::BYTE_ARRAY, Converted::UTF8 | Converted::ENUM | Converted::JSON, _) => DataType::Utf8,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, ..) => DataType::Binary,
    })
}

/// The Parquet type of a field; `None` if columns of its type cannot be written.
pub(crate) fn parquet_type(field: &Field) -> Option<Type> {
    let (physical, logical) = match field.data_type() {
        DataType::Boolean => (Physical::BOOLEAN, None),
        DataType::Int32 => (Physical::INT32, None),
        DataType::Int64 => (Physical::INT64, None),
        DataType::UInt32 => (Physical::INT32, Some(Logical::integer(32, false))),
        DataType::UInt64 => (Physical::INT64, Some(Logical::integer(64, false))),
        DataType::Float32 => (Physical::FLOAT, None),
        DataType::Float64 => (Physical::DOUBLE, None),
        DataType::Utf8 => (Physical::BYTE_ARRAY, Some(Logical::String)),
        DataType::Dictionary(keys, values) if **keys == DataType::Int32 && **values == DataType::Utf8 => {
            (Physical::BYTE_ARRAY, Some(Logical::String))
        }
        DataType::Binary => (Physical::BYTE_ARRAY, None),
        DataType::Date32 => (Physical::INT32, Some(Logical::Date)),
        DataType::Time32(TimeUnit::Millisecond) => {
            (Physical::INT32, Some(Logical::time(false, ParquetUnit::MILLIS)))
        }
        DataType::Time64(unit) => (Physical::INT64, Some(Logical::time(false, parquet_unit(*unit)))),
        DataType::Timestamp(unit, zone) => {
            (Physical::INT64, Some(Logical::timestamp(zone.is_some(), parquet_unit(*unit))))
        }
        DataType::Decimal128(precision, scale) => {
            (Physical::FIXED_LEN_BYTE_ARRAY, Some(Logical::decimal((*scale).into(), (*precision).into())))
        }
        _ => return None,
    };
    let mut column = Type::primitive_type_builder(field.name(), physical)
        .with_repetition(if field.is_nullable() { Repetition::OPTIONAL } else { Repetition::REQUIRED })
        .with_logical_type(logical);
    if let DataType::Decimal128(precision, scale) = field.data_type() {
        column = column.with_length(16).with_precision((*precision).into()).with_scale((*scale).into());
    }
    column.build().ok()
}

fn unit(unit: &ParquetUnit) -> TimeUnit {
    match unit {
        ParquetUnit::MILLIS => TimeUnit::Millisecond,
        ParquetUnit::MICROS => TimeUnit::Microsecond,
        ParquetUnit::NANOS => TimeUnit::Nanosecond,
    }
}

/// Parquet has no seconds; the writer multiplies them.
fn parquet_unit(unit: TimeUnit) -> ParquetUnit {
    match unit {
        TimeUnit::Second | TimeUnit::Millisecond => ParquetUnit::MILLIS,
        TimeUnit::Microsecond => ParquetUnit::MICROS,
        TimeUnit::Nanosecond => ParquetUnit::NANOS,
    }
}
