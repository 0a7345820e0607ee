//! The files of one table, read one after the other.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::Field;

use crate::error::{DataError, Problem};
use crate::io::input::Input;
use crate::io::shards::Shards;
use crate::io::source::Source;
use crate::table::line_numbers::LineNumbers;
use crate::table::options::ReadOptions;
use crate::table::reader::{ColumnSink, Passthrough, Reader};

/// A pass over several files, whose columns are matched by name.
pub(crate) struct ShardReader {
    options: ReadOptions,
    paths: Vec<PathBuf>,
    /// The file that comes next.
    next: usize,
    current: Option<Current>,
    /// The first file's.
    names: Vec<String>,
    fields: Vec<Field>,
    first: String,
    passes_arrays: bool,
}

/// The file in the middle of being read.
struct Current {
    name: Arc<str>,
    reader: Box<Reader>,
    /// Where each of its columns goes.
    places: Vec<Option<usize>>,
    rows: usize,
}

impl ShardReader {
    pub(crate) fn open(shards: &Shards, options: &ReadOptions) -> Result<Self, DataError> {
        let mut reader = ShardReader {
            options: options.clone(),
            paths: shards.paths().to_vec(),
            next: 0,
            current: None,
            names: Vec::new(),
            fields: Vec::new(),
            first: String::new(),
            passes_arrays: false,
        };
        while reader.current.is_none() && reader.next < reader.paths.len() {
            let Some(first) = reader.open_next()? else { continue };
            reader.names = first.names().to_vec();
            reader.passes_arrays = matches!(first.new_passthrough(), Passthrough::Arrays(_));
            reader.first = reader.paths[reader.next - 1].display().to_string();
            let fields: Result<Vec<Field>, DataError> =
                (0..reader.names.len()).map(|index| first.passthrough_field(index)).collect();
            // A column that cannot be passed through is told when somebody wants it.
            reader.fields = fields.unwrap_or_default();
            let places = (0..reader.names.len()).map(Some).collect();
            let name = reader.first.as_str().into();
            reader.current = Some(Current { name, reader: Box::new(first), places, rows: 0 });
        }
        if reader.current.is_none() {
            return Err(DataError::new(shards.name(), Problem::Empty));
        }
        Ok(reader)
    }

    /// The next file; nothing for one without a byte, as engines write for an empty part.
    fn open_next(&mut self) -> Result<Option<Reader>, DataError> {
        let path = &self.paths[self.next];
        self.next += 1;
        if path.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            return Ok(None);
        }
        let mut input = Input::find(&Source::Path(path.clone()), false)?;
        Reader::open(&mut input, &self.options).map(Some)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Only these keys of JSON lines are read from now on.
    pub(crate) fn expect_names(&mut self, names: &[String]) {
        if let Some(Current { reader, places, .. }) = &mut self.current
            && let Reader::Json(json) = &mut **reader
        {
            json.expect_names(names);
            self.names = json.names().to_vec();
            *places = (0..self.names.len()).map(Some).collect();
        }
    }

    pub(crate) fn field(&self, index: usize) -> Result<Field, DataError> {
        match (self.fields.get(index), &self.current) {
            (Some(field), _) => Ok(field.clone()),
            (None, Some(current)) => current.reader.passthrough_field(index),
            (None, None) => unreachable!("fields are asked for before rows"),
        }
    }

    pub(crate) fn new_passthrough(&self) -> Passthrough {
        if self.passes_arrays {
            Passthrough::Arrays(Vec::new())
        } else {
            Passthrough::Text(Default::default())
        }
    }

    pub(crate) fn read(
        &mut self,
        limit: usize,
        sinks: &mut [ColumnSink],
        lines: &mut LineNumbers,
    ) -> Result<usize, DataError> {
        let mut rows = 0;
        while rows < limit {
            if self.current.is_none() {
                if self.next == self.paths.len() {
                    break;
                }
                let Some(reader) = self.open_next()? else { continue };
                self.current = Some(self.placed(reader, sinks)?);
            }
            let Some(current) = &mut self.current else { continue };
            let take = |place: &Option<usize>| {
                place.map_or_else(ColumnSink::default, |at| std::mem::take(&mut sinks[at]))
            };
            let mut own: Vec<ColumnSink> = current.places.iter().map(take).collect();
            let mut own_lines = current.reader.line_numbers(current.rows);
            let read = current.reader.read(limit - rows, &mut own, &mut own_lines)?;
            for (place, sink) in current.places.iter().zip(own) {
                if let Some(at) = place {
                    sinks[*at] = sink;
                }
            }
            if read > 0 {
                lines.append(rows, &current.name, own_lines);
            }
            current.rows += read;
            rows += read;
            if rows < limit {
                self.current = None;
            }
        }
        Ok(rows)
    }

    /// Where the columns of another file go; an error where it has others.
    fn placed(&self, mut reader: Reader, sinks: &[ColumnSink]) -> Result<Current, DataError> {
        let name: Arc<str> = self.paths[self.next - 1].display().to_string().into();
        if let Reader::Json(json) = &mut reader {
            json.expect_names(&self.names);
            let places = (0..self.names.len()).map(Some).collect();
            return Ok(Current { name, reader: Box::new(reader), places, rows: 0 });
        }
        let other = |column: &str, lacks: bool| {
            DataError::new(&*name, Problem::OtherSchema { lacks, first: self.first.clone() })
                .in_column(column)
        };
        let own: HashSet<&String> = reader.names().iter().collect();
        let wanted = self.names.iter().zip(sinks).filter(|(_, sink)| sink.is_active());
        if let Some((name, _)) = wanted.into_iter().find(|(name, _)| !own.contains(name)) {
            return Err(other(name, true));
        }
        let position: HashMap<&String, usize> = self.names.iter().zip(0..).collect();
        let places: Vec<Option<usize>> =
            reader.names().iter().map(|name| position.get(name).copied()).collect();
        for (index, place) in places.iter().enumerate() {
            let Some(field) = place.and_then(|at| self.fields.get(at)) else { continue };
            let passed = place.is_some_and(|at| sinks[at].passthrough.is_some());
            if passed && reader.passthrough_field(index)?.data_type() != field.data_type() {
                return Err(other(field.name(), false));
            }
        }
        Ok(Current { name, reader: Box::new(reader), places, rows: 0 })
    }
}
