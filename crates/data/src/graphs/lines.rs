//! The lines of a file or pipe of graphs, unpacked.

use std::io::{BufRead, Read};
use std::sync::Arc;

use super::problem::GraphProblem;
use crate::error::{DataError, Place, Problem};
use crate::io::compression::Codec;
use crate::io::input::{Input, Opened, read_problem};
use crate::io::source::{Format, Source};
use crate::table::options::ReadOptions;

/// One graph above this size is a file without line ends.
const LIMIT_MIB: usize = 256;

/// Lines of a file that are not blank.
pub(crate) struct Lines {
    pub(crate) name: Arc<str>,
    input: Box<dyn BufRead + Send>,
    codec: Codec,
    buffer: Vec<u8>,
    /// The line that was read last, from 1.
    pub(crate) line: u64,
}

impl Lines {
    pub(crate) fn open(source: &Source) -> Result<Self, DataError> {
        let mut input = Input::find(source, false)?;
        let options = ReadOptions { format: Some(Format::JsonLines), ..ReadOptions::default() };
        match input.open(&options)? {
            Opened::Text(text) => Ok(Lines {
                name: input.name,
                input: text.input,
                codec: text.codec,
                buffer: Vec::new(),
                line: 0,
            }),
            _ => Err(DataError::new(input.name.as_ref(), Problem::Graph(GraphProblem::NotGraphs))),
        }
    }

    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, DataError> {
        let limit = (LIMIT_MIB << 20) as u64;
        loop {
            self.buffer.clear();
            let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.buffer);
            self.line += 1;
            let problem = match read {
                Ok(0) => return Ok(None),
                Ok(count) if count as u64 == limit => Problem::RecordTooLong { limit_mib: LIMIT_MIB },
                Ok(_) if self.buffer.trim_ascii().is_empty() => continue,
                Ok(_) => return Ok(Some(self.buffer.trim_ascii())),
                Err(error) => read_problem(&error, self.codec),
            };
            return Err(DataError::at(&self.name, Place::Line(self.line), problem));
        }
    }
}
