//! The one interface of all formats: cells flow from a reader into one [`ColumnSink`] a column.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray, StringBuilder, new_empty_array};
use arrow::datatypes::Field;

use crate::build::Builder;
use crate::cell::{Cell, MissingValues};
use crate::csv_reader::CsvReader;
use crate::error::{DataError, Place};
use crate::infer::Inference;
use crate::input::{Input, Opened};
use crate::json_reader::JsonReader;
use crate::kept::{Origin, kept_field};
use crate::npy_reader::NpyReader;
use crate::parquet_reader::ParquetReader;
use crate::places::Places;
use crate::problem::Problem;
use crate::source::{ColumnType, Format, ReadOptions};

/// A pass over a file.
pub(crate) enum Reader {
    Csv(CsvReader),
    Json(JsonReader),
    Parquet(ParquetReader),
    Npy(NpyReader),
}

/// What becomes of the cells of one column of the file; by default nothing.
#[derive(Default)]
pub(crate) struct ColumnSink {
    pub(crate) infer: Option<Inference>,
    pub(crate) build: Option<Builder>,
    pub(crate) keep: Option<Kept>,
}

/// A column carried along as it was read.
pub(crate) enum Kept {
    Text(StringBuilder),
    Arrays(Vec<ArrayRef>),
}

impl Reader {
    pub(crate) fn open(input: &mut Input, options: &ReadOptions) -> Result<Self, DataError> {
        let missing = MissingValues::new(&options.missing_values);
        let opened = input.open(options)?;
        let name = Arc::clone(&input.name);
        match opened {
            Opened::Parquet(file) => ParquetReader::open(file, name, missing).map(Reader::Parquet),
            Opened::Npy(array) => NpyReader::open(array, name).map(Reader::Npy),
            Opened::Text(text) if text.format == Format::JsonLines => {
                let settled = options.column_types.keys().cloned().collect();
                Ok(Reader::Json(JsonReader::new(text, name, missing, settled)))
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
        }
    }

    /// Reads up to `limit` rows; fewer mean the end.
    pub(crate) fn read(
        &mut self,
        limit: usize,
        sinks: &mut Vec<ColumnSink>,
        places: &mut Places,
    ) -> Result<usize, DataError> {
        match self {
            Reader::Csv(reader) => reader.read(limit, sinks, places),
            Reader::Json(reader) => reader.read(limit, sinks, places),
            Reader::Parquet(reader) => reader.read(limit, sinks),
            Reader::Npy(reader) => reader.read(limit, sinks),
        }
    }

    /// An empty record of places for the next `read`.
    pub(crate) fn places(&self, rows_before: usize) -> Places {
        match self {
            Reader::Csv(_) | Reader::Json(_) => Places::Lines(Vec::new()),
            Reader::Parquet(_) | Reader::Npy(_) => Places::Rows(rows_before as u64 + 1),
        }
    }

    /// How a column looks when it is carried along.
    pub(crate) fn kept_field(&self, index: usize) -> Field {
        match self {
            Reader::Parquet(reader) => reader.field(index).as_ref().clone(),
            Reader::Csv(_) | Reader::Npy(_) => kept_field(&self.names()[index], Origin::Csv),
            Reader::Json(_) => kept_field(&self.names()[index], Origin::Json),
        }
    }

    pub(crate) fn new_kept(&self) -> Kept {
        match self {
            Reader::Parquet(_) => Kept::Arrays(Vec::new()),
            Reader::Csv(_) | Reader::Json(_) | Reader::Npy(_) => Kept::Text(StringBuilder::new()),
        }
    }
}

impl ColumnSink {
    pub(crate) fn inferring() -> Self {
        ColumnSink { infer: Some(Inference::default()), ..ColumnSink::default() }
    }

    pub(crate) fn building(column_type: ColumnType) -> Self {
        ColumnSink { build: Builder::new(column_type), ..ColumnSink::default() }
    }

    /// Whether any cell of the column is looked at.
    pub(crate) fn is_active(&self) -> bool {
        self.infer.is_some() || self.build.is_some() || self.keep.is_some()
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

    /// Carries the text of a cell along, if asked to.
    pub(crate) fn keep_text(&mut self, text: Option<&str>) {
        if let Some(Kept::Text(builder)) = &mut self.keep {
            builder.append_option(text);
        }
    }
}

impl Kept {
    /// All rows as one array of the field's type.
    pub(crate) fn finish(self, field: &Field) -> Result<ArrayRef, Problem> {
        match self {
            Kept::Text(mut builder) => Ok(Arc::new(builder.finish()) as Arc<StringArray>),
            Kept::Arrays(arrays) if arrays.is_empty() => Ok(new_empty_array(field.data_type())),
            Kept::Arrays(arrays) => {
                let parts: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
                arrow::compute::concat(&parts)
                    .map_err(|error| Problem::BrokenParquet { message: error.to_string() })
            }
        }
    }
}

/// Positions of the columns that are looked at at all.
pub(crate) fn active(sinks: &[ColumnSink]) -> Vec<usize> {
    (0..sinks.len()).filter(|index| sinks[*index].is_active()).collect()
}
