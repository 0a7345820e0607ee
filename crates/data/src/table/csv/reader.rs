//! CSV rows into column sinks.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use crate::error::{DataError, Place, Problem};
use crate::io::input::Text;
use crate::table::cell::MissingValues;
use crate::table::check_distinct;
use crate::table::csv::delimiter;
use crate::table::csv::records::Records;
use crate::table::line_numbers::LineNumbers;
use crate::table::reader::{ColumnSink, active};

/// A CSV file past its header.
pub(crate) struct CsvReader {
    file: Arc<str>,
    records: Records<Box<dyn BufRead + Send>>,
    names: Vec<String>,
    missing: MissingValues,
}

impl CsvReader {
    pub(crate) fn open(
        text: Text,
        file: Arc<str>,
        path: Option<&Path>,
        delimiter: Option<char>,
        missing: MissingValues,
    ) -> Result<Self, DataError> {
        let at_line = |(line, problem)| DataError::at(&file, Place::Line(line), problem);
        let delimiter = match delimiter {
            Some(delimiter) => delimiter::chosen(delimiter),
            None => delimiter::detected(&text.head, path),
        };
        let delimiter = delimiter.map_err(|problem| at_line((1, problem)))?;
        let mut records = Records::new(text.input, delimiter, text.codec);
        let Some(header) = records.next().map_err(at_line)? else {
            return Err(DataError::new(file.as_ref(), Problem::Empty));
        };
        let line = header.line;
        if header.fields().any(|name| name.replace("\r\n", "").contains('\r')) {
            return Err(at_line((line, Problem::CarriageReturns)));
        }
        let names: Vec<String> =
            header.fields().enumerate().map(|(index, name)| named(name.trim(), index)).collect();
        check_distinct(&names).map_err(|(name, problem)| at_line((line, problem)).in_column(name))?;
        Ok(CsvReader { file, records, names, missing })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn read(
        &mut self,
        limit: usize,
        sinks: &mut [ColumnSink],
        lines: &mut LineNumbers,
    ) -> Result<usize, DataError> {
        let CsvReader { file, records, names, missing } = self;
        let active = active(sinks);
        let mut rows = 0;
        while rows < limit {
            let record =
                records.next().map_err(|(line, what)| DataError::at(file, Place::Line(line), what))?;
            let Some(record) = record else { break };
            let place = Place::Line(record.line);
            if record.len() != names.len() {
                let problem = Problem::RaggedRow { expected: names.len(), got: record.len() };
                return Err(DataError::at(file, place, problem));
            }
            for &index in &active {
                let text = record.field(index);
                sinks[index]
                    .push(missing.cell(text), place)
                    .map_err(|problem| DataError::at(file, place, problem).in_column(&names[index]))?;
                sinks[index].pass_text(Some(text));
            }
            lines.push_line(rows, record.line);
            rows += 1;
        }
        Ok(rows)
    }
}

/// The name in the header, or `column_3` for a third column without one (as pandas writes its index).
fn named(name: &str, index: usize) -> String {
    if name.is_empty() { format!("column_{}", index + 1) } else { name.to_owned() }
}
