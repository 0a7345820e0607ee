//! The one interface of all formats: cells flow from a reader into one [`ColumnSink`] a column.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, StringArray, make_array, new_empty_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::Field;

use crate::error::{DataError, Place, Problem};
use crate::io::input::{Input, Opened};
use crate::io::source::Format;
use crate::table::arrow::reader::ArrowReader;
use crate::table::builder::Builder;
use crate::table::cell::{Cell, MissingValues};
use crate::table::csv::reader::CsvReader;
use crate::table::dates::format::DateFormat;
use crate::table::infer::Inference;
use crate::table::json::reader::JsonReader;
use crate::table::line_numbers::LineNumbers;
use crate::table::npy::reader::NpyReader;
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::parquet::reader::ParquetReader;
use crate::table::passthrough::{Origin, passthrough_field};
use crate::table::shards::ShardReader;

/// A pass over a file.
pub(crate) enum Reader {
    Csv(CsvReader),
    Json(JsonReader),
    Parquet(ParquetReader),
    Npy(NpyReader),
    Arrow(ArrowReader),
    Shards(ShardReader),
}

/// What becomes of the cells of one column of the file; by default nothing.
#[derive(Default)]
pub(crate) struct ColumnSink {
    pub(crate) infer: Option<Inference>,
    pub(crate) build: Option<Builder>,
    pub(crate) passthrough: Option<Passthrough>,
    /// Whether the first value tells the type of all.
    pub(crate) is_told_by_one: bool,
}

/// A column that is copied from input to output.
pub(crate) enum Passthrough {
    Text(StringBuilder),
    Arrays(Vec<ArrayRef>),
}

impl Reader {
    pub(crate) fn open(input: &mut Input, options: &ReadOptions) -> Result<Self, DataError> {
        let missing = MissingValues::new(&options.missing_values);
        let opened = input.open(options)?;
        let name = Arc::clone(&input.name);
        match opened {
            Opened::Batches(batches) => ArrowReader::open(batches, missing).map(Reader::Arrow),
            Opened::Shards(shards) => ShardReader::open(&shards, options).map(Reader::Shards),
            Opened::Parquet(file) => ParquetReader::open(file, name, missing).map(Reader::Parquet),
            Opened::Npy(array) => NpyReader::open(array, name).map(Reader::Npy),
            Opened::Text(text) if text.format == Format::JsonLines => {
                Ok(Reader::Json(JsonReader::new(text, name, missing, options.clone())))
            }
            Opened::Text(text) => {
                CsvReader::open(text, name, input.path(), options.delimiter, missing).map(Reader::Csv)
            }
        }
    }

    /// Names of the columns; of a JSON file, those that were met or asked for so far.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Reader::Csv(reader) => reader.names(),
            Reader::Json(reader) => reader.names(),
            Reader::Parquet(reader) => reader.names(),
            Reader::Npy(reader) => reader.names(),
            Reader::Arrow(reader) => reader.names(),
            Reader::Shards(reader) => reader.names(),
        }
    }

    /// Reads up to `limit` rows; fewer mean the end.
    pub(crate) fn read(
        &mut self,
        limit: usize,
        sinks: &mut Vec<ColumnSink>,
        lines: &mut LineNumbers,
    ) -> Result<usize, DataError> {
        match self {
            Reader::Csv(reader) => reader.read(limit, sinks, lines),
            Reader::Json(reader) => reader.read(limit, sinks, lines),
            Reader::Parquet(reader) => reader.read(limit, sinks),
            Reader::Npy(reader) => reader.read(limit, sinks),
            Reader::Arrow(reader) => reader.read(limit, sinks),
            Reader::Shards(reader) => reader.read(limit, sinks, lines),
        }
    }

    /// Empty line numbers for the next `read`.
    pub(crate) fn line_numbers(&self, rows_before: usize) -> LineNumbers {
        match self {
            Reader::Csv(_) | Reader::Json(_) => LineNumbers::Lines(Vec::new()),
            Reader::Shards(_) => LineNumbers::Files(Vec::new()),
            Reader::Parquet(_) | Reader::Npy(_) | Reader::Arrow(_) => {
                LineNumbers::Rows(rows_before as u64 + 1)
            }
        }
    }

    /// The field of a passthrough column.
    pub(crate) fn passthrough_field(&self, index: usize) -> Result<Field, DataError> {
        match self {
            Reader::Parquet(reader) => reader.field(index),
            Reader::Arrow(reader) => Ok(reader.field(index)),
            Reader::Shards(reader) => reader.field(index),
            Reader::Csv(_) | Reader::Npy(_) => Ok(passthrough_field(&self.names()[index], Origin::Csv)),
            Reader::Json(_) => Ok(passthrough_field(&self.names()[index], Origin::Json)),
        }
    }

    pub(crate) fn new_passthrough(&self) -> Passthrough {
        match self {
            Reader::Shards(reader) => reader.new_passthrough(),
            Reader::Parquet(_) | Reader::Arrow(_) => Passthrough::Arrays(Vec::new()),
            Reader::Csv(_) | Reader::Json(_) | Reader::Npy(_) => Passthrough::Text(StringBuilder::new()),
        }
    }
}

impl ColumnSink {
    /// Finds the column's type, unless the user gave it.
    pub(crate) fn inferring(name: &str, options: &ReadOptions) -> Self {
        ColumnSink { infer: Inference::new(name, options), ..ColumnSink::default() }
    }

    /// The same column in this of several files.
    pub(crate) fn in_file(self, file: usize) -> Self {
        ColumnSink { infer: self.infer.map(|infer| infer.in_file(file)), ..self }
    }

    /// `format` is that of dates.
    pub(crate) fn building(column_type: ColumnType, format: DateFormat) -> Self {
        ColumnSink { build: Builder::new(column_type, format), ..ColumnSink::default() }
    }

    /// Whether any cell of the column is looked at.
    pub(crate) fn is_active(&self) -> bool {
        let infers = self.infer.as_ref().is_some_and(|infer| !self.is_told_by_one || infer.kind().is_none());
        infers || self.build.is_some() || self.passthrough.is_some()
    }

    pub(crate) fn push(&mut self, cell: Cell<'_>, place: Place) -> Result<(), Problem> {
        if let Some(build) = &mut self.build {
            build.push(cell)?;
        }
        if let Some(infer) = &mut self.infer {
            infer.push(cell, place)?;
        }
        Ok(())
    }

    /// Copies the text of a cell if the column is passed through.
    pub(crate) fn pass_text(&mut self, text: Option<&str>) {
        if let Some(Passthrough::Text(builder)) = &mut self.passthrough {
            builder.append_option(text);
        }
    }
}

impl Passthrough {
    /// All rows as one array of the field's type.
    pub(crate) fn finish(self, field: &Field) -> Result<ArrayRef, Problem> {
        Ok(match self {
            Passthrough::Text(mut builder) => Arc::new(builder.finish()) as Arc<StringArray>,
            Passthrough::Arrays(arrays) if arrays.is_empty() => new_empty_array(field.data_type()),
            Passthrough::Arrays(arrays) => concatenated(&arrays)?,
        })
    }
}

/// Arrays of one type as one array.
fn concatenated(arrays: &[ArrayRef]) -> Result<ArrayRef, Problem> {
    let parts: Vec<_> = arrays.iter().map(|array| array.to_data()).collect();
    let rows = parts.iter().map(|part| part.len()).sum();
    let mut whole = MutableArrayData::new(parts.iter().collect(), false, rows);
    for (index, part) in parts.iter().enumerate() {
        let extended = whole.try_extend(index, 0, part.len());
        extended.map_err(|error| Problem::BrokenParquet { message: error.to_string() })?;
    }
    Ok(make_array(whole.freeze()))
}

/// Positions of the columns that are read at all.
pub(crate) fn active(sinks: &[ColumnSink]) -> Vec<usize> {
    (0..sinks.len()).filter(|index| sinks[*index].is_active()).collect()
}
