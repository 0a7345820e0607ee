//! NumPy arrays into column sinks, and a column of labels from a separate array.

use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use crate::error::counted::counted_rows;
use crate::error::{DataError, Place, Problem};
use crate::io::compression::{Codec, without_ending};
use crate::io::input::{Input, Opened, Text, read_problem};
use crate::io::source::{Format, Source};
use crate::table::Column;
use crate::table::builder::Builder;
use crate::table::cell::Cell;
use crate::table::dates::format::DateFormat;
use crate::table::npy::header::{Header, broken, header_length};
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::reader::{ColumnSink, active};

/// A NumPy file past its header; columns are `x0`, `x1`, ….
pub(crate) struct NpyReader {
    file: Arc<str>,
    input: Box<dyn BufRead + Send>,
    codec: Codec,
    header: Header,
    names: Vec<String>,
    rows: usize,
    /// One row, or all numbers of an array that lies column by column.
    buffer: Vec<u8>,
}

impl NpyReader {
    pub(crate) fn open(text: Text, file: Arc<str>) -> Result<Self, DataError> {
        let Text { mut input, codec, .. } = text;
        let header = read_header(&mut input, codec);
        let header = header.map_err(|problem| DataError::new(file.as_ref(), problem))?;
        let names = (0..header.columns).map(|column| format!("x{column}")).collect();
        Ok(NpyReader { file, input, codec, header, names, rows: 0, buffer: Vec::new() })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn read(&mut self, limit: usize, sinks: &mut [ColumnSink]) -> Result<usize, DataError> {
        let Header { element, columns, fortran, rows: all } = self.header;
        let (size, active) = (element.size(), active(sinks));
        let before = self.rows;
        while self.rows < all && self.rows - before < limit {
            if !fortran {
                self.fill(columns * size)?;
            } else if self.buffer.is_empty() {
                self.fill(self.header.bytes())?;
            }
            let place = Place::Row(self.rows as u64 + 1);
            for &index in &active {
                let at = if fortran { index * all + self.rows } else { index };
                let cell = element.cell(&self.buffer[at * size..][..size]);
                sinks[index].push(cell, place).map_err(|problem| {
                    DataError::at(&self.file, place, problem).in_column(&self.names[index])
                })?;
                if sinks[index].passthrough.is_some() {
                    sinks[index].pass_text(text_of(cell).as_deref());
                }
            }
            self.rows += 1;
        }
        if self.rows == all && self.rows > before {
            self.check_end()?;
        }
        Ok(self.rows - before)
    }

    /// The next `count` bytes into the buffer, which grows as they come: a header can promise anything.
    fn fill(&mut self, count: usize) -> Result<(), DataError> {
        self.buffer.clear();
        let read = (&mut self.input).take(count as u64).read_to_end(&mut self.buffer);
        let problem = match read {
            Ok(read) if read == count => return Ok(()),
            Ok(_) => broken(&format!("it is cut off in row {} of {}", self.rows + 1, self.header.rows)),
            Err(error) => read_problem(&error, self.codec),
        };
        Err(DataError::new(self.file.as_ref(), problem))
    }

    fn check_end(&mut self) -> Result<(), DataError> {
        match self.input.fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => {
                let problem =
                    broken(&format!("it goes on after the {} of its header", counted_rows(self.header.rows)));
                Err(DataError::new(self.file.as_ref(), problem))
            }
            Err(error) => Err(DataError::new(self.file.as_ref(), read_problem(&error, self.codec))),
        }
    }
}

fn read_header(input: &mut dyn BufRead, codec: Codec) -> Result<Header, Problem> {
    let cut = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof if codec == Codec::Plain => broken("its header is cut off"),
        _ => read_problem(&error, codec),
    };
    let mut start = [0; 12];
    input.read_exact(&mut start).map_err(cut)?;
    let (prefix, length) = header_length(&start)?;
    let mut text = start[8 + prefix..].to_vec();
    let read = text.len();
    if length < read {
        return Err(broken("its header is cut off"));
    }
    text.resize(length, 0);
    input.read_exact(&mut text[read..]).map_err(cut)?;
    Header::parse(&String::from_utf8_lossy(&text))
}

fn text_of(cell: Cell<'_>) -> Option<String> {
    match cell {
        Cell::Number(value) => Some(value.to_string()),
        Cell::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Reads a NumPy array of one dimension (or one column) as a column of the file's name without its ending, to be
/// put beside a table by [`Table::with_column`](crate::Table::with_column).
///
/// # Errors
/// If the file is no such array, or holds an infinite number.
pub fn read_npy_column(path: &Path) -> Result<(String, Column), DataError> {
    let mut input = Input::find(&Source::Path(path.to_owned()), false)?;
    let options = ReadOptions { format: Some(Format::Npy), ..ReadOptions::default() };
    let name = Arc::clone(&input.name);
    let failed = |problem| DataError::new(name.as_ref(), problem);
    let Opened::Npy(text) = input.open(&options)? else { return Err(failed(broken("it is none"))) };
    let mut reader = NpyReader::open(text, Arc::clone(&name))?;
    let Header { rows, columns, .. } = reader.header;
    if columns != 1 {
        return Err(failed(Problem::NpyShape { shape: format!("({rows}, {columns})") }));
    }
    let mut sinks = [ColumnSink::building(ColumnType::Number, DateFormat::default())];
    reader.read(usize::MAX, &mut sinks)?;
    let values = sinks[0].build.take().map_or(Column::Number(Vec::new()), Builder::finish);
    let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = without_ending(file);
    Ok((stem.strip_suffix(".npy").unwrap_or(stem).to_owned(), values))
}
