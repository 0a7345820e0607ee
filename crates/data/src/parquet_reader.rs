//! Parquet batches into column sinks.

use std::fs::File;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, Float64Type, SchemaRef, TimeUnit, TimestampMicrosecondType};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::build::Builder;
use crate::cell::{Cell, MissingValues};
use crate::error::{DataError, Place};
use crate::problem::Problem;
use crate::reader::{ColumnSink, Kept, active};
use crate::table::check_distinct;

const BATCH_ROWS: usize = 8192;

/// A Parquet file; which columns are decoded is settled by the first `read`.
pub(crate) struct ParquetReader {
    file: Arc<str>,
    names: Vec<String>,
    schema: SchemaRef,
    state: State,
    rows: u64,
    missing: MissingValues,
}

enum State {
    Opened(Box<ParquetRecordBatchReaderBuilder<File>>),
    Reading { batches: Box<ParquetRecordBatchReader>, active: Vec<usize>, rest: Option<RecordBatch> },
    Failed,
}

impl ParquetReader {
    pub(crate) fn open(file: File, name: Arc<str>, missing: MissingValues) -> Result<Self, DataError> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| DataError::new(name.as_ref(), broken(&error)))?;
        let schema = builder.schema().clone();
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        check_distinct(&names)
            .map_err(|(column, what)| DataError::new(name.as_ref(), what).in_column(column))?;
        Ok(ParquetReader {
            file: name,
            names,
            schema,
            state: State::Opened(Box::new(builder)),
            rows: 0,
            missing,
        })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn field(&self, index: usize) -> &FieldRef {
        &self.schema.fields()[index]
    }

    pub(crate) fn read(&mut self, limit: usize, sinks: &mut [ColumnSink]) -> Result<usize, DataError> {
        self.start(sinks)?;
        let mut rows = 0;
        while rows < limit {
            let Some((batch, active)) = self.next_batch(limit - rows)? else { break };
            for (array, index) in batch.columns().iter().zip(active) {
                self.push_array(array, index, &mut sinks[index])?;
            }
            rows += batch.num_rows();
            self.rows += batch.num_rows() as u64;
        }
        Ok(rows)
    }

    fn start(&mut self, sinks: &[ColumnSink]) -> Result<(), DataError> {
        if matches!(self.state, State::Opened(_))
            && let State::Opened(builder) = std::mem::replace(&mut self.state, State::Failed)
        {
            let active = active(sinks);
            let mask = ProjectionMask::roots(builder.parquet_schema(), active.iter().copied());
            let batches = builder.with_projection(mask).with_batch_size(BATCH_ROWS).build();
            let batches = batches.map_err(|error| DataError::new(self.file.as_ref(), broken(&error)))?;
            self.state = State::Reading { batches: Box::new(batches), active, rest: None };
        }
        Ok(())
    }

    /// The next rows, at most `limit`, with the positions of their columns in the file.
    fn next_batch(&mut self, limit: usize) -> Result<Option<(RecordBatch, Vec<usize>)>, DataError> {
        let State::Reading { batches, active, rest } = &mut self.state else { return Ok(None) };
        let batch = match rest.take() {
            Some(batch) => batch,
            None => match batches.next() {
                None => return Ok(None),
                Some(Ok(batch)) => batch,
                Some(Err(error)) => {
                    let place = Place::Row(self.rows + 1);
                    return Err(DataError::at(&self.file, place, broken(&error)));
                }
            },
        };
        if batch.num_rows() > limit {
            *rest = Some(batch.slice(limit, batch.num_rows() - limit));
        }
        Ok(Some((batch.slice(0, limit.min(batch.num_rows())), active.clone())))
    }

    fn push_array(&self, array: &ArrayRef, index: usize, sink: &mut ColumnSink) -> Result<(), DataError> {
        if let Some(Kept::Arrays(arrays)) = &mut sink.keep {
            arrays.push(Arc::clone(array));
        }
        if sink.build.is_none() && sink.infer.is_none() {
            return Ok(());
        }
        let in_column = |error: DataError| error.in_column(&self.names[index]);
        let as_text = matches!(sink.build, Some(Builder::Category { .. } | Builder::Text(_)))
            && array.data_type().is_integer();
        let array = normalised(array, as_text)
            .map_err(|problem| in_column(DataError::new(self.file.as_ref(), problem)))?;
        for row in 0..array.len() {
            let place = Place::Row(self.rows + row as u64 + 1);
            sink.push(self.cell(&array, row), place)
                .map_err(|problem| in_column(DataError::at(&self.file, place, problem)))?;
        }
        Ok(())
    }

    /// The cell of an array that [`normalised`] made.
    fn cell<'a>(&self, array: &'a ArrayRef, row: usize) -> Cell<'a> {
        if array.is_null(row) {
            return Cell::Missing;
        }
        match array.data_type() {
            DataType::Float64 => Cell::number(array.as_primitive::<Float64Type>().value(row)),
            DataType::Boolean => Cell::Boolean(array.as_boolean().value(row)),
            DataType::Utf8 => self.missing.cell(array.as_string::<i32>().value(row)),
            DataType::Timestamp(..) => {
                Cell::DateTime(array.as_primitive::<TimestampMicrosecondType>().value(row))
            }
            _ => Cell::Missing, // the null type; no other is left after `normalised`
        }
    }
}

/// The array as 64-bit floats, booleans, text or microseconds.
fn normalised(array: &ArrayRef, as_text: bool) -> Result<ArrayRef, Problem> {
    let wanted = match array.data_type() {
        DataType::Dictionary(_, values) => {
            let unpacked = cast(array, values).map_err(|error| broken(&error))?;
            return normalised(&unpacked, as_text);
        }
        _ if as_text => DataType::Utf8,
        kind if kind.is_numeric() => DataType::Float64,
        DataType::Boolean | DataType::Null => return Ok(Arc::clone(array)),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Date32 | DataType::Date64 => DataType::Timestamp(TimeUnit::Microsecond, None),
        // The zone is kept, because removing it would shift the values to local time.
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        other => return Err(Problem::UnsupportedType { type_name: other.to_string() }),
    };
    cast(array, &wanted).map_err(|error| broken(&error))
}

fn broken(error: &dyn std::error::Error) -> Problem {
    Problem::BrokenParquet { message: error.to_string() }
}
