//! Parquet columns into column sinks.

use std::fs::File;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array,
    Int32Array, Int64Array, StringArray, Time32MillisecondArray, Time64MicrosecondArray,
    Time64NanosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, TimeUnit};
use half::f16;
use parquet::basic::Repetition;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType as ParquetType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;

use super::types::arrow_type;
use crate::error::{DataError, Place, Problem};
use crate::table::arrow::cells::ArrayCells;
use crate::table::cell::{Cell, MissingValues};
use crate::table::check_distinct;
use crate::table::infer::CellKind;
use crate::table::reader::{ColumnSink, active};

const BATCH_ROWS: usize = 8192;

/// A Parquet file, read row group by row group; only the columns that a sink wants are decoded.
pub(crate) struct ParquetReader {
    file: Arc<str>,
    names: Vec<String>,
    columns: Vec<Leaf>,
    input: SerializedFileReader<File>,
    /// The row group that comes next.
    next_group: usize,
    group: Option<RowGroup>,
    rows: u64,
    cells: ArrayCells,
}

/// One top-level column.
struct Leaf {
    /// Its position among the columns that hold values, of which a struct has several.
    index: usize,
    /// `None` if it cannot be read.
    data_type: Option<DataType>,
    nullable: bool,
}

/// A row group in the middle of being read.
struct RowGroup {
    readers: Vec<(usize, ColumnReader)>,
    rows_left: usize,
}

impl ParquetReader {
    pub(crate) fn open(file: File, name: Arc<str>, missing: MissingValues) -> Result<Self, DataError> {
        let input = caught(|| SerializedFileReader::new(file))
            .map_err(|error| DataError::new(name.as_ref(), broken(&error)))?;
        let schema = input.metadata().file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
        check_distinct(&names)
            .map_err(|(column, what)| DataError::new(name.as_ref(), what).in_column(column))?;
        let mut first_leaf = vec![0; names.len()];
        (0..schema.num_columns()).rev().for_each(|leaf| first_leaf[schema.get_column_root_idx(leaf)] = leaf);
        let leaf = |(field, index): (&Arc<parquet::schema::types::Type>, &usize)| Leaf {
            index: *index,
            data_type: field.is_primitive().then(|| arrow_type(&schema.column(*index))).flatten(),
            nullable: field.get_basic_info().repetition() == Repetition::OPTIONAL,
        };
        let columns = fields.iter().zip(&first_leaf).map(leaf).collect();
        let cells = ArrayCells { file: Arc::clone(&name), missing };
        Ok(ParquetReader { file: name, names, columns, input, next_group: 0, group: None, rows: 0, cells })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// How a column looks when it is passed through.
    pub(crate) fn field(&self, index: usize) -> Result<Field, DataError> {
        let data_type = self.columns[index].data_type.clone().ok_or_else(|| self.unsupported(index))?;
        Ok(Field::new(&self.names[index], data_type, self.columns[index].nullable))
    }

    /// Leaves the values of those columns alone whose type follows from the schema: one value tells as much as all, and the footer
    /// shows where there is one.
    pub(crate) fn infer_from_schema(&self, sinks: &mut [ColumnSink]) -> Result<(), Problem> {
        for (leaf, sink) in self.columns.iter().zip(sinks) {
            let Some(infer) = &mut sink.infer else { continue };
            let Some((kind, cell)) = leaf.data_type.as_ref().and_then(only_kind) else { continue };
            sink.is_told_by_one = infer.is_told_by_one(kind);
            if sink.is_told_by_one && self.has_value(leaf) {
                infer.push(cell, Place::Row(1))?;
            }
        }
        Ok(())
    }

    /// Whether the footer shows that a column has a value in some row.
    fn has_value(&self, leaf: &Leaf) -> bool {
        self.input.metadata().row_groups().iter().any(|group| {
            let chunk = group.column(leaf.index);
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            let statistics = chunk.statistics();
            match (&leaf.data_type, statistics) {
                // NaN is a missing value.
                (_, Some(Statistics::Float(values))) => values.min_opt().is_some_and(|low| !low.is_nan()),
                (_, Some(Statistics::Double(values))) => values.min_opt().is_some_and(|low| !low.is_nan()),
                (Some(DataType::Float32 | DataType::Float64), _) => false,
                // So is a time beyond the calendar of microseconds.
                (Some(DataType::Timestamp(TimeUnit::Millisecond, _)), _) => false,
                (_, Some(statistics)) => statistics.null_count_opt().is_some_and(|missing| missing < rows),
                (_, None) => !leaf.nullable && rows > 0,
            }
        })
    }

    pub(crate) fn read(&mut self, limit: usize, sinks: &mut [ColumnSink]) -> Result<usize, DataError> {
        let mut rows = 0;
        while rows < limit {
            let Some(mut group) =
                self.group.take().map_or_else(|| self.next_group(sinks), |g| Ok(Some(g)))?
            else {
                break;
            };
            let count = group.rows_left.min(limit - rows).min(BATCH_ROWS);
            for (index, reader) in &mut group.readers {
                let leaf = &self.columns[*index];
                let array =
                    leaf.data_type.as_ref().map(|kind| caught(|| decode(reader, kind, leaf.nullable, count)));
                let array = array.unwrap_or_else(|| Err(ParquetError::NYI("nested columns".into())));
                let place = Place::Row(self.rows + 1);
                let array = array.map_err(|error| {
                    DataError::at(&self.file, place, broken(&error)).in_column(&self.names[*index])
                })?;
                self.cells.push(&array, &self.names[*index], place, &mut sinks[*index])?;
            }
            group.readers.retain(|(index, _)| sinks[*index].is_active());
            group.rows_left -= count;
            rows += count;
            self.rows += count as u64;
            self.group = (group.rows_left > 0).then_some(group);
        }
        Ok(rows)
    }

    /// Opens the next row group that has rows.
    fn next_group(&mut self, sinks: &[ColumnSink]) -> Result<Option<RowGroup>, DataError> {
        let failed = |error: ParquetError| DataError::new(self.file.as_ref(), broken(&error));
        while self.next_group < self.input.num_row_groups() {
            let group = caught(|| self.input.get_row_group(self.next_group)).map_err(failed)?;
            self.next_group += 1;
            let rows_left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            if rows_left == 0 {
                continue;
            }
            let mut readers = Vec::new();
            for index in active(sinks) {
                if self.columns[index].data_type.is_none() {
                    return Err(self.unsupported(index));
                }
                let leaf = self.columns[index].index;
                let reader = caught(|| group.get_column_reader(leaf)).map_err(failed)?;
                readers.push((index, reader));
            }
            return Ok(Some(RowGroup { readers, rows_left }));
        }
        Ok(None)
    }

    fn unsupported(&self, index: usize) -> DataError {
        let problem = Problem::UnsupportedType { type_name: "list, struct or long decimal".into() };
        DataError::new(self.file.as_ref(), problem).in_column(&self.names[index])
    }
}

/// The kind of all values in columns of a type that leaves no choice, and such a value.
fn only_kind(data_type: &DataType) -> Option<(CellKind, Cell<'static>)> {
    match data_type {
        DataType::Boolean => Some((CellKind::Boolean, Cell::Boolean(true))),
        DataType::Date32 | DataType::Timestamp(..) => Some((CellKind::DateTime, Cell::DateTime(0))),
        DataType::Int32
        | DataType::Int64
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..) => Some((CellKind::Number, Cell::Number(0.0))),
        _ => None,
    }
}

/// The next `rows` values of a column.
fn decode(
    reader: &mut ColumnReader,
    data_type: &DataType,
    nullable: bool,
    rows: usize,
) -> Result<ArrayRef, ParquetError> {
    /// The next values, each as `$convert` makes it, in an array of one of several types.
    macro_rules! arrays {
        ($reader:expr, $($pattern:pat => $array:ty, $convert:expr;)+) => {{
            let values = values($reader, nullable, rows)?;
            match data_type {
                $($pattern => Arc::new(values.iter().map(|v| v.as_ref().map($convert)).collect::<$array>()) as ArrayRef,)+
            }
        }};
    }
    let array: ArrayRef = match reader {
        ColumnReader::BoolColumnReader(reader) => arrays!(reader, _ => BooleanArray, |v| *v;),
        ColumnReader::FloatColumnReader(reader) => arrays!(reader, _ => Float32Array, |v| *v;),
        ColumnReader::DoubleColumnReader(reader) => arrays!(reader, _ => Float64Array, |v| *v;),
        ColumnReader::Int32ColumnReader(reader) => arrays!(reader,
            DataType::UInt32 => UInt32Array, |v| *v as u32;
            DataType::Date32 => Date32Array, |v| *v;
            DataType::Time32(_) => Time32MillisecondArray, |v| *v;
            DataType::Decimal128(..) => Decimal128Array, |v| i128::from(*v);
            _ => Int32Array, |v| *v;
        ),
        ColumnReader::Int64ColumnReader(reader) => arrays!(reader,
            DataType::UInt64 => UInt64Array, |v| *v as u64;
            DataType::Time64(TimeUnit::Nanosecond) => Time64NanosecondArray, |v| *v;
            DataType::Time64(_) => Time64MicrosecondArray, |v| *v;
            DataType::Timestamp(TimeUnit::Millisecond, _) => TimestampMillisecondArray, |v| *v;
            DataType::Timestamp(TimeUnit::Nanosecond, _) => TimestampNanosecondArray, |v| *v;
            DataType::Timestamp(..) => TimestampMicrosecondArray, |v| *v;
            DataType::Decimal128(..) => Decimal128Array, |v| i128::from(*v);
            _ => Int64Array, |v| *v;
        ),
        ColumnReader::Int96ColumnReader(reader) => {
            arrays!(reader, _ => TimestampMicrosecondArray, |v| v.to_micros();)
        }
        ColumnReader::ByteArrayColumnReader(reader) if *data_type == DataType::Utf8 => {
            let values = values(reader, nullable, rows)?;
            let texts = values.iter().map(|v| v.as_ref().map(|v| v.as_utf8()).transpose());
            Arc::new(texts.collect::<Result<StringArray, ParquetError>>()?)
        }
        ColumnReader::ByteArrayColumnReader(reader) => arrays!(reader,
            DataType::Decimal128(..) => Decimal128Array, |v| big_endian(v.data());
            _ => BinaryArray, |v| v.data();
        ),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => arrays!(reader,
            DataType::Decimal128(..) => Decimal128Array, |v| big_endian(v.data());
            DataType::Float32 => Float32Array, |v| half(v.data());
            _ => BinaryArray, |v| v.data();
        ),
    };
    // The zone of a time, the digits of a decimal.
    if array.data_type() == data_type {
        return Ok(array);
    }
    let typed = array.to_data().into_builder().data_type(data_type.clone()).build();
    Ok(arrow_array::make_array(typed.map_err(|error| ParquetError::General(error.to_string()))?))
}

/// The next `rows` values of a column, `None` where one is missing.
fn values<T: ParquetType>(
    reader: &mut ColumnReaderImpl<T>,
    nullable: bool,
    rows: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut levels, mut values, mut read) = (Vec::new(), Vec::new(), 0);
    while read < rows {
        let levels = nullable.then_some(&mut levels);
        let (records, ..) = reader.read_records(rows - read, levels, None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::EOF("a column has fewer rows than its row group".into()));
        }
        read += records;
    }
    if !nullable {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.iter().map(|level| if *level > 0 { values.next() } else { None }).collect())
}

/// A whole number of at most 16 bytes; longer ones hold leading signs alone, as 38 digits fit.
fn big_endian(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(sign, |sum: i128, byte| sum << 8 | i128::from(*byte))
}

fn half(bytes: &[u8]) -> f32 {
    match bytes {
        [low, high] => f16::from_le_bytes([*low, *high]).to_f32(),
        _ => f32::NAN,
    }
}

/// The `parquet` crate asserts what a damaged file denies (negative offsets, pages of other types); such a file is an
/// error here, not a bug.
fn caught<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ParquetError::General("its metadata contradicts its data".into())))
}

fn broken(error: &dyn std::error::Error) -> Problem {
    Problem::BrokenParquet { message: error.to_string() }
}
