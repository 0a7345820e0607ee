//! Parquet out. The first rows settle the file's types, because passthrough columns come as text.

use std::io;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, Time32MillisecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType as ParquetType, DoubleType, FixedLenByteArrayType,
    FloatType, Int32Type as ParquetInt32, Int64Type as ParquetInt64,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::types::parquet_type;
use crate::error::Problem;
use crate::io::atomic::write_problem;
use crate::io::output::Compressed;
use crate::table::passthrough::{PassthroughType, origin_of, type_of, with_types};
use crate::table::text_format::text_at;

/// Rows are gathered into row groups of this size: small groups compress badly and are slow to read.
const GROUP_ROWS: usize = 128 * 1024;

/// A Parquet file that begins with the first rows.
pub(crate) struct ParquetWriter {
    state: State,
    /// For each column, what a passthrough one is written as.
    types: Vec<PassthroughType>,
    /// Rows of the next row group.
    waiting: Vec<RecordBatch>,
}

enum State {
    Waiting(Option<Compressed>),
    Writing(Box<SerializedFileWriter<Compressed>>),
}

impl ParquetWriter {
    pub(crate) fn new(out: Compressed) -> Self {
        ParquetWriter { state: State::Waiting(Some(out)), types: Vec::new(), waiting: Vec::new() }
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Problem> {
        let schema = batch.schema();
        if matches!(self.state, State::Waiting(_)) {
            let types = schema.fields().iter().zip(batch.columns()).map(|(field, column)| {
                let found = origin_of(field).and_then(|origin| type_of(column, origin));
                found.unwrap_or(PassthroughType::Text)
            });
            self.types = types.collect();
        }
        for ((field, column), settled) in schema.fields().iter().zip(batch.columns()).zip(&self.types) {
            let now = origin_of(field).and_then(|origin| type_of(column, origin));
            if now.is_some_and(|now| !settled.holds(now)) {
                return Err(Problem::PassthroughTypeChanged { column: field.name().clone() });
            }
        }
        let typed = with_types(batch, |index, _, _| self.types[index]).map_err(|error| unwritable(&error))?;
        self.begin(&typed.schema())?;
        self.waiting.push(typed);
        if self.waiting.iter().map(RecordBatch::num_rows).sum::<usize>() >= GROUP_ROWS {
            self.write_group()?;
        }
        Ok(())
    }

    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Problem> {
        let State::Waiting(out) = &mut self.state else { return Ok(()) };
        let columns = schema.fields().iter().map(|field| {
            let message = format!("columns of type {} cannot be written", field.data_type());
            parquet_type(field).map(Arc::new).ok_or(Problem::Unwritable { message })
        });
        let columns = columns.collect::<Result<Vec<_>, Problem>>()?;
        let root = Type::group_type_builder("schema").with_fields(columns).build();
        let root = root.map_err(|error| parquet_problem(&error))?;
        let Some(out) = out.take() else {
            return Err(Problem::Unwritable { message: "an earlier fault ended the file".into() });
        };
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(zstd).build();
        let writer = SerializedFileWriter::new(out, Arc::new(root), Arc::new(properties));
        self.state = State::Writing(Box::new(writer.map_err(|error| parquet_problem(&error))?));
        Ok(())
    }

    /// Writes the waiting rows as one row group.
    fn write_group(&mut self) -> Result<(), Problem> {
        let State::Writing(writer) = &mut self.state else { return Ok(()) };
        let batches = std::mem::take(&mut self.waiting);
        if batches.iter().all(|batch| batch.num_rows() == 0) {
            return Ok(());
        }
        let mut write = || {
            let mut group = writer.next_row_group()?;
            let mut index = 0;
            while let Some(mut column) = group.next_column()? {
                for batch in &batches {
                    let nullable = batch.schema_ref().field(index).is_nullable();
                    write_column(&mut column, batch.column(index), nullable)?;
                }
                column.close()?;
                index += 1;
            }
            group.close().map(drop)
        };
        write().map_err(|error| parquet_problem(&error))
    }

    /// Completes the data; without rows an empty file of this schema.
    pub(crate) fn finish(mut self, schema: &SchemaRef) -> Result<Compressed, Problem> {
        if matches!(self.state, State::Waiting(_)) {
            self.write(&RecordBatch::new_empty(Arc::clone(schema)))?;
        }
        self.write_group()?;
        match self.state {
            State::Writing(writer) => writer.into_inner().map_err(|error| parquet_problem(&error)),
            State::Waiting(_) => unreachable!("begun above"),
        }
    }
}

/// Writes the values of an array whose type [`parquet_type`] knows.
fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    array: &ArrayRef,
    nullable: bool,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = (0..array.len()).map(|row| i16::from(array.is_valid(row))).collect();
    let levels = nullable.then_some(levels.as_slice());
    fn put<T: ParquetType>(
        column: &mut SerializedColumnWriter<'_>,
        levels: Option<&[i16]>,
        values: impl Iterator<Item = Option<T::T>>,
    ) -> Result<(), ParquetError> {
        let present: Vec<T::T> = values.flatten().collect();
        column.typed::<T>().write_batch(&present, levels, None).map(drop)
    }
    macro_rules! integers {
        ($parquet:ty, $arrow:ty, $convert:expr) => {
            put::<$parquet>(column, levels, array.as_primitive::<$arrow>().iter().map(|v| v.map($convert)))
        };
    }
    match array.data_type() {
        DataType::Boolean => put::<BoolType>(column, levels, array.as_boolean().iter()),
        DataType::Int32 => integers!(ParquetInt32, Int32Type, |v| v),
        DataType::UInt32 => integers!(ParquetInt32, UInt32Type, |v| v as i32),
        DataType::Date32 => integers!(ParquetInt32, Date32Type, |v| v),
        DataType::Time32(_) => integers!(ParquetInt32, Time32MillisecondType, |v| v),
        DataType::Int64 => integers!(ParquetInt64, Int64Type, |v| v),
        DataType::UInt64 => integers!(ParquetInt64, UInt64Type, |v| v as i64),
        DataType::Time64(TimeUnit::Nanosecond) => integers!(ParquetInt64, Time64NanosecondType, |v| v),
        DataType::Time64(_) => integers!(ParquetInt64, Time64MicrosecondType, |v| v),
        DataType::Timestamp(TimeUnit::Second, _) => {
            integers!(ParquetInt64, TimestampSecondType, |v| v.saturating_mul(1000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            integers!(ParquetInt64, TimestampMillisecondType, |v| v)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            integers!(ParquetInt64, TimestampMicrosecondType, |v| v)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            integers!(ParquetInt64, TimestampNanosecondType, |v| v)
        }
        DataType::Float32 => put::<FloatType>(column, levels, array.as_primitive::<Float32Type>().iter()),
        DataType::Float64 => put::<DoubleType>(column, levels, array.as_primitive::<Float64Type>().iter()),
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>().iter();
            let bytes = values.map(|v| v.map(|v| ByteArray::from(v.to_be_bytes().to_vec()).into()));
            put::<FixedLenByteArrayType>(column, levels, bytes)
        }
        DataType::Binary => {
            let values = array.as_binary::<i32>().iter().map(|v| v.map(|v| ByteArray::from(v.to_vec())));
            put::<ByteArrayType>(column, levels, values)
        }
        _ => {
            let texts = (0..array.len()).map(|row| text_at(array, row).map(ByteArray::from));
            put::<ByteArrayType>(column, levels, texts)
        }
    }
}

fn unwritable(error: &dyn std::error::Error) -> Problem {
    Problem::Unwritable { message: error.to_string() }
}

fn parquet_problem(error: &ParquetError) -> Problem {
    if let ParquetError::External(source) = error
        && let Some(io_error) = source.downcast_ref::<io::Error>()
    {
        return write_problem(io_error);
    }
    unwritable(error)
}
