//! Times with a zone as text: RFC 3339, because text formats of arrow want a database of zones for them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, TimeUnit};
use arrow::error::ArrowError;
use chrono::{DateTime, FixedOffset, SecondsFormat};

/// The batch with every zoned time as text; in the zone if that is a fixed offset, otherwise in UTC.
pub(crate) fn zoned_as_text(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let is_zoned = |field: &Arc<Field>| matches!(field.data_type(), DataType::Timestamp(_, Some(_)));
    if !schema.fields().iter().any(is_zoned) {
        return Ok(batch.clone());
    }
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        match field.data_type() {
            DataType::Timestamp(unit, Some(zone)) => {
                fields.push(Arc::new(Field::new(field.name(), DataType::Utf8, true)));
                columns.push(as_text(column, *unit, zone)?);
            }
            _ => {
                fields.push(Arc::clone(field));
                columns.push(Arc::clone(column));
            }
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

fn as_text(column: &ArrayRef, unit: TimeUnit, zone: &str) -> Result<ArrayRef, ArrowError> {
    let offset: Option<FixedOffset> = zone.parse().ok();
    let counts = cast(column, &DataType::Int64)?;
    let text = |count: i64| {
        let time = match unit {
            TimeUnit::Second => DateTime::from_timestamp(count, 0),
            TimeUnit::Millisecond => DateTime::from_timestamp_millis(count),
            TimeUnit::Microsecond => DateTime::from_timestamp_micros(count),
            TimeUnit::Nanosecond => Some(DateTime::from_timestamp_nanos(count)),
        }?;
        Some(match offset {
            Some(offset) => time.with_timezone(&offset).to_rfc3339_opts(SecondsFormat::AutoSi, true),
            None => time.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        })
    };
    let texts: StringArray =
        counts.as_primitive::<Int64Type>().iter().map(|count| count.and_then(text)).collect();
    debug_assert_eq!(texts.len(), column.len());
    Ok(Arc::new(texts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, TimestampNanosecondArray, TimestampSecondArray};

    #[test]
    fn zoned_times_become_rfc_3339_and_all_else_stays() {
        let berlin =
            TimestampSecondArray::from(vec![Some(1_452_531_600), None]).with_timezone("Europe/Berlin");
        let offset = TimestampNanosecondArray::from(vec![1_500_000_000, 0]).with_timezone("+02:30");
        let batch = RecordBatch::try_from_iter([
            ("berlin", Arc::new(berlin) as ArrayRef),
            ("offset", Arc::new(offset)),
            ("n", Arc::new(Int64Array::from(vec![1, 2]))),
        ])
        .expect("equal lengths");
        let text = zoned_as_text(&batch).expect("castable");
        let berlin: Vec<_> = text.column(0).as_string::<i32>().iter().collect();
        assert_eq!(berlin, [Some("2016-01-11T17:00:00Z"), None]);
        assert_eq!(text.column(1).as_string::<i32>().value(0), "1970-01-01T02:30:01.500+02:30");
        assert_eq!(text.column(2), batch.column(2));
    }
}
