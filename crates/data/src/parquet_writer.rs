//! Parquet out. The file's types are settled by the first rows, because kept columns come as text.

use std::io;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::atomic::write_problem;
use crate::kept::{Kind, kind_of, origin_of, with_kinds};
use crate::output::Compressed;
use crate::problem::Problem;

/// A Parquet file that begins with the first rows.
pub(crate) struct ParquetWriter {
    state: State,
    /// For each column, what a kept one is written as.
    kinds: Vec<Kind>,
}

enum State {
    Waiting(Option<Compressed>),
    Writing(Box<ArrowWriter<Compressed>>),
}

impl ParquetWriter {
    pub(crate) fn new(out: Compressed) -> Self {
        ParquetWriter { state: State::Waiting(Some(out)), kinds: Vec::new() }
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Problem> {
        let schema = batch.schema();
        if matches!(self.state, State::Waiting(_)) {
            let kinds = schema.fields().iter().zip(batch.columns()).map(|(field, column)| {
                origin_of(field).and_then(|origin| kind_of(column, origin)).unwrap_or(Kind::Text)
            });
            self.kinds = kinds.collect();
        }
        for ((field, column), kind) in schema.fields().iter().zip(batch.columns()).zip(&self.kinds) {
            let now = origin_of(field).and_then(|origin| kind_of(column, origin));
            if now.is_some_and(|now| !kind.holds(now)) {
                return Err(Problem::KeptTypeChanged { column: field.name().clone() });
            }
        }
        let typed = with_kinds(batch, |index, _, _| self.kinds[index]).map_err(|error| unwritable(&error))?;
        self.writer(typed.schema())?.write(&typed).map_err(|error| parquet_problem(&error))
    }

    fn writer(&mut self, schema: SchemaRef) -> Result<&mut ArrowWriter<Compressed>, Problem> {
        if let State::Waiting(out) = &mut self.state {
            let Some(out) = out.take() else {
                return Err(Problem::Unwritable { message: "an earlier fault ended the file".into() });
            };
            let zstd = Compression::ZSTD(ZstdLevel::default());
            let properties = WriterProperties::builder().set_compression(zstd).build();
            let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties));
            self.state = State::Writing(Box::new(writer.map_err(|error| parquet_problem(&error))?));
        }
        match &mut self.state {
            State::Writing(writer) => Ok(writer),
            State::Waiting(_) => unreachable!("made above"),
        }
    }

    /// Completes the data; without rows an empty file of this schema.
    pub(crate) fn finish(mut self, schema: &SchemaRef) -> Result<Compressed, Problem> {
        if matches!(self.state, State::Waiting(_)) {
            self.write(&RecordBatch::new_empty(Arc::clone(schema)))?;
        }
        match self.state {
            State::Writing(writer) => writer.into_inner().map_err(|error| parquet_problem(&error)),
            State::Waiting(_) => unreachable!("begun above"),
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
