//! Cells of arrow columns as text, for CSV and JSON lines.
//!
//! Times are RFC 3339; one with a zone is written in it if the zone is a fixed offset, otherwise in UTC, because names
//! of zones would need a database of them.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int32Type, Int64Type, Time32MillisecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Decimal128Array, StringArray};
use arrow_schema::{DataType, TimeUnit};
use chrono::{DateTime, FixedOffset, NaiveTime, SecondsFormat, Utc};

/// A cell of a text format.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TextCell<'a> {
    Null,
    /// A finite number or a boolean, which JSON writes without quotes.
    Bare(String),
    /// NaN or infinite, which JSON cannot write.
    NotFinite(f64),
    Text(Cow<'a, str>),
}

/// The cell of a column whose type [`parquet_type`](super::parquet::types::parquet_type) knows.
pub(crate) fn text_cell(array: &ArrayRef, row: usize) -> TextCell<'_> {
    fn at<T: ArrowPrimitiveType>(array: &ArrayRef, row: usize) -> T::Native {
        array.as_primitive::<T>().value(row)
    }
    if array.is_null(row) {
        return TextCell::Null;
    }
    let owned = |text: String| TextCell::Text(Cow::Owned(text));
    match array.data_type() {
        DataType::Boolean => TextCell::Bare(array.as_boolean().value(row).to_string()),
        DataType::Int32 => TextCell::Bare(at::<Int32Type>(array, row).to_string()),
        DataType::Int64 => TextCell::Bare(at::<Int64Type>(array, row).to_string()),
        DataType::UInt32 => TextCell::Bare(at::<UInt32Type>(array, row).to_string()),
        DataType::UInt64 => TextCell::Bare(at::<UInt64Type>(array, row).to_string()),
        // `Debug` writes the shortest text that reads back as the same number, always with a point or an exponent.
        DataType::Float32 => match at::<Float32Type>(array, row) {
            value if value.is_finite() => TextCell::Bare(format!("{value:?}")),
            value => TextCell::NotFinite(value.into()),
        },
        DataType::Float64 => match at::<Float64Type>(array, row) {
            value if value.is_finite() => TextCell::Bare(format!("{value:?}")),
            value => TextCell::NotFinite(value),
        },
        DataType::Decimal128(..) => {
            let decimals = array.as_any().downcast_ref::<Decimal128Array>();
            decimals.map_or(TextCell::Null, |decimals| TextCell::Bare(decimals.value_as_string(row)))
        }
        DataType::Date32 => owned(date_text(at::<Date32Type>(array, row))),
        DataType::Time32(_) => {
            owned(time_text(i64::from(at::<Time32MillisecondType>(array, row)) * 1_000_000))
        }
        DataType::Time64(TimeUnit::Nanosecond) => owned(time_text(at::<Time64NanosecondType>(array, row))),
        DataType::Time64(_) => owned(time_text(at::<Time64MicrosecondType>(array, row).saturating_mul(1000))),
        DataType::Timestamp(unit, zone) => {
            let time = match unit {
                TimeUnit::Second => DateTime::from_timestamp(at::<TimestampSecondType>(array, row), 0),
                TimeUnit::Millisecond => {
                    DateTime::from_timestamp_millis(at::<TimestampMillisecondType>(array, row))
                }
                TimeUnit::Microsecond => {
                    DateTime::from_timestamp_micros(at::<TimestampMicrosecondType>(array, row))
                }
                TimeUnit::Nanosecond => {
                    Some(DateTime::from_timestamp_nanos(at::<TimestampNanosecondType>(array, row)))
                }
            };
            time.map_or(TextCell::Null, |time| owned(timestamp_text(time, zone.as_deref())))
        }
        DataType::Binary => {
            owned(array.as_binary::<i32>().value(row).iter().map(|byte| format!("{byte:02x}")).collect())
        }
        _ => text_at(array, row).map_or(TextCell::Null, |text| TextCell::Text(Cow::Borrowed(text))),
    }
}

/// The text of a row of a string column, plain or dictionary-encoded.
pub(crate) fn text_at(array: &ArrayRef, row: usize) -> Option<&str> {
    if array.is_null(row) {
        return None;
    }
    if let Some(dictionary) = array.as_dictionary_opt::<Int32Type>() {
        let values: &StringArray = dictionary.values().as_string_opt()?;
        return Some(values.value(dictionary.key(row)?));
    }
    Some(array.as_string_opt::<i32>()?.value(row))
}

fn timestamp_text(time: DateTime<Utc>, zone: Option<&str>) -> String {
    match zone.map(str::parse::<FixedOffset>) {
        None => time.naive_utc().format("%Y-%m-%dT%H:%M:%S%.f").to_string(),
        Some(Ok(offset)) => time.with_timezone(&offset).to_rfc3339_opts(SecondsFormat::AutoSi, true),
        Some(Err(_)) => time.to_rfc3339_opts(SecondsFormat::AutoSi, true),
    }
}

fn date_text(days: i32) -> String {
    match DateTime::from_timestamp(i64::from(days) * 86_400, 0) {
        Some(time) => time.date_naive().to_string(),
        None => format!("{days} days"),
    }
}

fn time_text(nanos: i64) -> String {
    let (seconds, rest) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
    let time = u32::try_from(seconds).ok();
    let time = time.and_then(|seconds| NaiveTime::from_num_seconds_from_midnight_opt(seconds, rest as u32));
    time.map_or_else(|| format!("{nanos} ns"), |time| time.format("%H:%M:%S%.f").to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        BinaryArray, Date32Array, Float64Array, Time64MicrosecondArray, TimestampNanosecondArray,
        TimestampSecondArray,
    };

    use super::*;

    fn texts(array: impl Array + 'static) -> Vec<Option<String>> {
        let array: ArrayRef = Arc::new(array);
        let text = |row| match text_cell(&array, row) {
            TextCell::Null => None,
            TextCell::Bare(text) => Some(text),
            TextCell::NotFinite(value) => Some(value.to_string()),
            TextCell::Text(text) => Some(text.into_owned()),
        };
        (0..array.len()).map(text).collect()
    }

    #[test]
    fn times_are_rfc_3339_in_their_offset_or_in_utc() {
        let berlin = TimestampSecondArray::from(vec![Some(1_452_531_600), None]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(texts(berlin.clone()), [some("2016-01-11T17:00:00"), None]);
        assert_eq!(texts(berlin.with_timezone("Europe/Berlin")), [some("2016-01-11T17:00:00Z"), None]);
        let offset = TimestampNanosecondArray::from(vec![1_500_000_000]).with_timezone("+02:30");
        assert_eq!(texts(offset), [some("1970-01-01T02:30:01.500+02:30")]);
        assert_eq!(
            texts(Date32Array::from(vec![-1, i32::MAX])),
            [some("1969-12-31"), some("2147483647 days")]
        );
        assert_eq!(texts(Time64MicrosecondArray::from(vec![3_600_000_001])), [some("01:00:00.000001")]);
    }

    #[test]
    fn numbers_read_back_as_themselves() {
        let values = [1.0, 0.1, 1e300, 5e-324, -1_234_567_890.5];
        let written = texts(Float64Array::from(values.to_vec()));
        assert_eq!(written[0].as_deref(), Some("1.0"));
        for (text, value) in written.iter().zip(values) {
            assert_eq!(text.as_ref().and_then(|text| text.parse().ok()), Some(value));
        }
        assert_eq!(texts(BinaryArray::from(vec![b"\x00\xff".as_slice()])), [Some("00ff".to_owned())]);
    }
}
