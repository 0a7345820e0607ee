//! What a pass over one file finds, with nothing known of the others.

use serde::{Deserialize, Serialize};

use super::messages::Fault;
use crate::error::{DataError, Problem};
use crate::io::input::Input;
use crate::table::infer::{CellKind, Inference};
use crate::table::options::ReadOptions;
use crate::table::reader::{ColumnSink, Reader};

/// A file of a table.
#[derive(Serialize, Deserialize)]
pub(crate) enum FilePart {
    /// It has not a byte.
    Empty,
    /// Its columns cannot be read.
    Closed(Fault),
    /// Its rows were read, up to a fault if there is one.
    Read(FileScan),
}

/// The rows of a file.
#[derive(Serialize, Deserialize)]
pub(crate) struct FileScan {
    /// Whether each row says which columns it has.
    pub(super) names_in_rows: bool,
    /// Name and type of each column, as far as it is to be found.
    pub(super) columns: Vec<(String, Option<Inference>)>,
    pub(super) rows: usize,
    /// Where the pass ended before its time.
    pub(super) fault: Option<Fault>,
}

impl FilePart {
    /// A pass over that one of several files, and its fault.
    pub(crate) fn read(index: usize, input: &mut Input, options: &ReadOptions) -> (Self, Option<DataError>) {
        match scan(index, input, options) {
            Ok((scan, error)) => (FilePart::Read(scan), error),
            Err(error) => (FilePart::Closed(Fault::from(&error)), Some(error)),
        }
    }

    /// Its columns whose types are to be found.
    pub(super) fn inferences(&mut self) -> impl Iterator<Item = (&String, &mut Inference)> {
        let columns = match self {
            FilePart::Read(scan) => scan.columns.as_mut_slice(),
            FilePart::Empty | FilePart::Closed(_) => &mut [],
        };
        columns.iter_mut().filter_map(|(name, infer)| Some((&*name, infer.as_mut()?)))
    }
}

fn scan(
    index: usize,
    input: &mut Input,
    options: &ReadOptions,
) -> Result<(FileScan, Option<DataError>), DataError> {
    let mut reader = Reader::open(input, options)?;
    if let Reader::Json(json) = &mut reader {
        json.set_number(index);
    }
    let sink = |name: &String| ColumnSink::inferring(name, options).in_file(index);
    let mut sinks: Vec<ColumnSink> = reader.names().iter().map(sink).collect();
    if let Reader::Parquet(parquet) = &reader {
        parquet
            .infer_from_schema(&mut sinks)
            .map_err(|problem| DataError::new(input.name.as_ref(), problem))?;
    }
    let mut lines = reader.line_numbers(0);
    let read = reader.read(usize::MAX, &mut sinks, &mut lines);
    let names = reader.names().iter().cloned();
    let columns = names.zip(sinks.into_iter().map(|sink| sink.infer)).collect();
    let names_in_rows = matches!(reader, Reader::Json(_));
    let (rows, error) = match read {
        Ok(rows) => (rows, None),
        Err(error) => (0, Some(error)),
    };
    let fault = error.as_ref().map(Fault::from);
    Ok((FileScan { names_in_rows, columns, rows, fault }, error))
}

/// The fault of a file after others whose columns have these kinds of cells.
pub(super) fn fault_after(
    input: &mut Input,
    options: &ReadOptions,
    before: &[(String, Option<CellKind>)],
) -> DataError {
    let read = |input: &mut Input| {
        let mut reader = Reader::open(input, options)?;
        if let Reader::Json(json) = &mut reader {
            let names: Vec<String> = before.iter().map(|(name, _)| name.clone()).collect();
            json.know_names(&names);
        }
        let kind_of = |name: &String| before.iter().find(|(known, _)| known == name)?.1;
        let sink = |name: &String| ColumnSink {
            infer: Inference::new(name, options).map(|infer| infer.after(kind_of(name))),
            ..ColumnSink::default()
        };
        let mut sinks = reader.names().iter().map(sink).collect();
        let mut lines = reader.line_numbers(0);
        reader.read(usize::MAX, &mut sinks, &mut lines)
    };
    read(input).err().unwrap_or_else(|| DataError::new(input.name.as_ref(), Problem::FileChanged))
}
