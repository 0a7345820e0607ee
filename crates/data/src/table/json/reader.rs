//! JSON-lines rows into column sinks. A key that a row lacks is a missing value.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::error::{DataError, Place, Problem};
use crate::io::compression::Codec;
use crate::io::input::{Text, read_problem};
use crate::table::cell::{Cell, MissingValues, parse_number};
use crate::table::json::row::{JsonRow, JsonValue};
use crate::table::line_numbers::LineNumbers;
use crate::table::no_such_column;
use crate::table::options::ReadOptions;
use crate::table::reader::ColumnSink;

const LIMIT_MIB: usize = 64;

/// A JSON-lines file.
pub(crate) struct JsonReader {
    file: Arc<str>,
    input: Box<dyn BufRead + Send>,
    codec: Codec,
    lines: u64,
    names: Vec<String>,
    index_of: HashMap<String, usize>,
    /// For each name, the last line that had it.
    last_seen: Vec<u64>,
    /// Whether unknown keys become new columns (inference) or are passed over.
    discovering: bool,
    /// What the user says of the columns that are found.
    options: ReadOptions,
    /// Which of several files this is.
    number: usize,
    /// Keys of the first row that were passed over, for "did you mean".
    passed_over: Vec<String>,
    missing: MissingValues,
}

impl JsonReader {
    pub(crate) fn new(text: Text, file: Arc<str>, missing: MissingValues, options: ReadOptions) -> Self {
        JsonReader {
            file,
            input: text.input,
            codec: text.codec,
            lines: 0,
            names: Vec::new(),
            index_of: HashMap::new(),
            last_seen: Vec::new(),
            discovering: true,
            options,
            number: 0,
            passed_over: Vec::new(),
            missing,
        }
    }

    /// Only these keys are read from now on.
    pub(crate) fn expect_names(&mut self, names: &[String]) {
        self.discovering = false;
        names.iter().for_each(|name| self.add(name));
    }

    /// This is that one of several files.
    pub(crate) fn set_number(&mut self, number: usize) {
        self.number = number;
    }

    /// These keys are known, and others are found.
    pub(crate) fn know_names(&mut self, names: &[String]) {
        names.iter().for_each(|name| self.add(name));
    }

    fn add(&mut self, name: &str) {
        self.index_of.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.last_seen.push(0);
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// An error if there is an expected key that no row has had so far.
    pub(crate) fn check_all_seen(&self) -> Result<(), DataError> {
        let (seen, never): (Vec<_>, Vec<_>) =
            self.names.iter().zip(&self.last_seen).partition(|(_, line)| **line > 0);
        let Some((name, _)) = never.first() else { return Ok(()) };
        let met: Vec<String> = seen.iter().map(|(name, _)| *name).chain(&self.passed_over).cloned().collect();
        Err(DataError::new(self.file.as_ref(), no_such_column(name, &met)).in_column(name))
    }

    pub(crate) fn read(
        &mut self,
        limit: usize,
        sinks: &mut Vec<ColumnSink>,
        lines: &mut LineNumbers,
    ) -> Result<usize, DataError> {
        let (mut rows, mut buffer) = (0, Vec::new());
        while rows < limit && self.next_line(&mut buffer)? {
            let text = buffer.trim_ascii();
            if text.is_empty() {
                continue;
            }
            self.push_row(text, sinks)?;
            lines.push_line(rows, self.lines);
            rows += 1;
        }
        Ok(rows)
    }

    fn next_line(&mut self, buffer: &mut Vec<u8>) -> Result<bool, DataError> {
        buffer.clear();
        let limit = (LIMIT_MIB << 20) as u64;
        let read = (&mut self.input).take(limit).read_until(b'\n', buffer);
        let problem = match read {
            Ok(count) if count as u64 == limit => Problem::RecordTooLong { limit_mib: LIMIT_MIB },
            Ok(count) => {
                self.lines += u64::from(count > 0);
                return Ok(count > 0);
            }
            Err(error) => read_problem(&error, self.codec),
        };
        Err(DataError::at(&self.file, Place::Line(self.lines + 1), problem))
    }

    fn push_row(&mut self, text: &[u8], sinks: &mut Vec<ColumnSink>) -> Result<(), DataError> {
        let place = Place::Line(self.lines);
        let row = parse(text).map_err(|problem| DataError::at(&self.file, place, problem))?;
        for (position, (key, value)) in row.0.iter().enumerate() {
            // Most files have the same keys in the same order in every row.
            let in_order = self.names.get(position).is_some_and(|name| name == key);
            let index = match if in_order { Some(position) } else { self.index_of.get(key.as_ref()).copied() }
            {
                Some(index) => index,
                None if self.discovering => {
                    self.add(key);
                    sinks.push(ColumnSink::inferring(key, &self.options).in_file(self.number));
                    self.names.len() - 1
                }
                None => {
                    if self.lines == 1 {
                        self.passed_over.push(key.to_string());
                    }
                    continue;
                }
            };
            if self.last_seen[index] == self.lines {
                let problem = Problem::BrokenJson { message: "the key stands twice".into() };
                return Err(DataError::at(&self.file, place, problem).in_column(key));
            }
            self.last_seen[index] = self.lines;
            let sink = &mut sinks[index];
            if sink.is_active() {
                self.missing
                    .json_cell(value)
                    .and_then(|cell| sink.push(cell, place))
                    .map_err(|problem| DataError::at(&self.file, place, problem).in_column(key))?;
                if sink.passthrough.is_some() {
                    sink.pass_text(value.json().as_deref());
                }
            }
        }
        for (sink, seen) in sinks.iter_mut().zip(&self.last_seen) {
            if *seen != self.lines {
                sink.push(Cell::Missing, place)
                    .map_err(|problem| DataError::at(&self.file, place, problem))?;
                sink.pass_text(None);
            }
        }
        Ok(())
    }
}

impl MissingValues {
    fn json_cell<'a>(&self, value: &'a JsonValue<'_>) -> Result<Cell<'a>, Problem> {
        let nested = |name: &str| Problem::UnsupportedType { type_name: name.to_owned() };
        match value {
            JsonValue::Null => Ok(Cell::Missing),
            JsonValue::Boolean(value) => Ok(Cell::Boolean(*value)),
            JsonValue::Number(text) => match parse_number(text) {
                Some(number) if number.is_finite() => Ok(Cell::Number(number)),
                _ => Err(Problem::InfiniteNumber { got: (*text).to_owned() }),
            },
            JsonValue::Text(text) => Ok(self.cell(text)),
            JsonValue::Array => Err(nested("json array")),
            JsonValue::Object => Err(nested("json object")),
        }
    }
}

fn parse(text: &[u8]) -> Result<JsonRow<'_>, Problem> {
    let text = std::str::from_utf8(text).map_err(|_| Problem::NotUtf8)?;
    if !text.starts_with('{')
        && let Ok(raw) = serde_json::from_str::<&RawValue>(text)
    {
        let got = match JsonValue::from_raw(raw) {
            JsonValue::Array => "an array",
            JsonValue::Text(_) => "a string",
            JsonValue::Null => "null",
            _ => "a number or boolean",
        };
        return Err(Problem::NotAJsonObject { got });
    }
    if text.starts_with('[') {
        return Err(Problem::NotAJsonObject { got: "the start of an array" });
    }
    serde_json::from_str(text)
        .map_err(|error| Problem::BrokenJson { message: without_line(&error.to_string()) })
}

/// The parser sees a single line; its "at line 1" would contradict the true line.
fn without_line(message: &str) -> String {
    message.replace(" at line 1 column ", " at character ")
}
