//! Rows out: CSV, Parquet or JSON lines, to a file that appears complete or not at all, or to standard
//! output.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::csv::writer::write_csv;
use super::json::writer::write_json;
use super::parquet::types::parquet_type;
use super::parquet::writer::ParquetWriter;
use crate::error::{DataError, Problem};
use crate::io::atomic::{Staged, write_problem};
use crate::io::output::{Compressed, Output};
use crate::io::source::Format;

/// Where rows go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    /// A file.
    Path(PathBuf),
    /// Standard output.
    Stdout,
}

impl Sink {
    /// `-` is standard output, anything else a path.
    #[must_use]
    pub fn new(name: &str) -> Self {
        if name == "-" { Sink::Stdout } else { Sink::Path(name.into()) }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Sink::Path(path) => Some(path),
            Sink::Stdout => None,
        }
    }
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sink::Path(path) => write!(f, "{}", path.display()),
            Sink::Stdout => f.write_str("<stdout>"),
        }
    }
}

/// Writes batches of one schema. Dropped before [`finish`](Self::finish), it leaves no file behind.
pub struct RowWriter {
    name: String,
    schema: SchemaRef,
    encoder: Encoder,
}

enum Encoder {
    Csv { out: Compressed, delimiter: u8, header: bool },
    Json(Compressed),
    Parquet(ParquetWriter),
}

impl RowWriter {
    /// Starts writing; without `format` the file's name decides, and CSV is the default.
    ///
    /// # Errors
    /// If the file cannot be created, or its name promises what is only read: `.npy` and `.xz`.
    pub fn create(target: &Sink, format: Option<Format>, schema: SchemaRef) -> Result<Self, DataError> {
        let promised = target.path().and_then(Format::from_path);
        let is_xz = target.path().and_then(Path::extension).is_some_and(|ending| ending == "xz");
        if is_xz || format.or(promised) == Some(Format::Npy) {
            let message = "xz and npy files are read, but not written; use csv, parquet or jsonl".into();
            return Err(DataError::new(target.to_string(), Problem::Unwritable { message }));
        }
        let output = match target {
            Sink::Path(path) => Staged::create(path).map(Output::File),
            Sink::Stdout => Ok(Output::Stream(BufWriter::new(Box::new(io::stdout())))),
        };
        let output = output.map_err(|error| DataError::new(target.to_string(), write_problem(&error)))?;
        Ok(Self::over(output, target, format, schema))
    }

    fn over(output: Output, target: &Sink, format: Option<Format>, schema: SchemaRef) -> Self {
        let format = format.or_else(|| target.path().and_then(Format::from_path)).unwrap_or(Format::Csv);
        let file_name = target.path().and_then(Path::to_str).unwrap_or_default().to_ascii_lowercase();
        let out = Compressed::new(output, file_name.ends_with(".gz") && format != Format::Parquet);
        let name = target.to_string();
        let encoder = match format {
            // `create` has refused npy.
            Format::Csv | Format::Npy => {
                let delimiter =
                    if file_name.trim_end_matches(".gz").ends_with(".tsv") { b'\t' } else { b',' };
                Encoder::Csv { out, delimiter, header: false }
            }
            Format::JsonLines => Encoder::Json(out),
            Format::Parquet => Encoder::Parquet(ParquetWriter::new(out)),
        };
        RowWriter { name, schema, encoder }
    }

    /// Writes the rows of one batch.
    ///
    /// # Errors
    /// If the batch has another schema or the output fails; see [`DataError::is_broken_pipe`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), DataError> {
        if batch.schema().fields() != self.schema.fields() {
            let message = "the columns differ from those of the first rows".into();
            return Err(self.failed(Problem::Unwritable { message }));
        }
        if let Some(field) = self.schema.fields().iter().find(|field| parquet_type(field).is_none()) {
            let message = format!("column `{}` is of type {}", field.name(), field.data_type());
            return Err(self.failed(Problem::Unwritable { message }));
        }
        self.encoder.write(batch).map_err(|problem| self.failed(problem))
    }

    /// Completes the output and, for a file, moves it into its place.
    ///
    /// # Errors
    /// If the output fails.
    pub fn finish(mut self) -> Result<(), DataError> {
        if matches!(self.encoder, Encoder::Csv { header: false, .. }) {
            let empty = RecordBatch::new_empty(self.schema.clone());
            self.encoder.write(&empty).map_err(|problem| DataError::new(&self.name, problem))?;
        }
        let name = self.name;
        self.encoder.finish(&self.schema).map_err(|problem| DataError::new(name, problem))
    }

    fn failed(&self, problem: Problem) -> DataError {
        DataError::new(&self.name, problem)
    }
}

impl Encoder {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Problem> {
        let mut text = String::new();
        let out = match self {
            Encoder::Parquet(writer) => return writer.write(batch),
            Encoder::Csv { out, delimiter, header } => {
                write_csv(batch, *delimiter, !*header, &mut text)?;
                *header = true;
                out
            }
            Encoder::Json(out) => {
                write_json(batch, &mut text)?;
                out
            }
        };
        out.write_all(text.as_bytes()).map_err(|error| write_problem(&error))
    }

    fn finish(self, schema: &SchemaRef) -> Result<(), Problem> {
        let out = match self {
            Encoder::Csv { out, .. } | Encoder::Json(out) => out,
            Encoder::Parquet(writer) => writer.finish(schema)?,
        };
        out.finish().map_err(|error| write_problem(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Table};

    struct ClosedPipe;

    impl Write for ClosedPipe {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_told_apart_in_every_format() {
        let table =
            Table::new("memory", vec![("x".into(), Column::Number(vec![0.5; 100_000]))]).expect("a table");
        let batch = table.to_batch().expect("one column");
        for format in [Format::Csv, Format::JsonLines, Format::Parquet] {
            let output = Output::Stream(BufWriter::new(Box::new(ClosedPipe)));
            let mut writer = RowWriter::over(output, &Sink::Stdout, Some(format), batch.schema());
            let error = writer.write(&batch).and_then(|()| writer.finish()).expect_err("nobody reads");
            assert!(error.is_broken_pipe(), "{format:?}: {error}");
        }
    }
}
