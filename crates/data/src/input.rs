//! Opening a [`Source`]: decompressed text or a seekable Parquet file, once or (for inference) twice.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::container::Container;
use crate::error::DataError;
use crate::problem::Problem;
use crate::sniff::{format_of, magic_is_complete, read_head, two_lines_are_complete};
use crate::source::{Format, ReadOptions, Source};

const BUFFER_BYTES: usize = 256 * 1024;

/// A source that exists.
pub(crate) struct Input {
    pub(crate) name: Arc<str>,
    origin: Origin,
}

enum Origin {
    /// A regular file, opened anew for each pass.
    Path(PathBuf),
    /// A pipe copied into an unnamed temporary file, which is read from its start in each pass.
    Spool(File),
    /// A pipe that is read once.
    Stream(Option<Box<dyn Read + Send>>),
}

/// An input after its first bytes were looked at.
pub(crate) enum Opened {
    Text(Text),
    Npy(Text),
    Parquet(File),
}

/// Decompressed text without byte-order mark, or the bytes of an array.
pub(crate) struct Text {
    pub(crate) format: Format,
    /// The first bytes, which `input` will yield again.
    pub(crate) head: Vec<u8>,
    pub(crate) input: Box<dyn BufRead + Send>,
    pub(crate) container: Container,
}

impl Input {
    /// Finds the source; `twice` makes a pipe readable more than once.
    pub(crate) fn find(source: &Source, twice: bool) -> Result<Self, DataError> {
        let name: Arc<str> = source.to_string().into();
        let origin = find_origin(source, twice).map_err(|problem| DataError::new(name.as_ref(), problem))?;
        Ok(Input { name, origin })
    }

    /// Starts a pass over the source.
    pub(crate) fn open(&mut self, options: &ReadOptions) -> Result<Opened, DataError> {
        self.try_open(options).map_err(|problem| DataError::new(self.name.as_ref(), problem))
    }

    fn try_open(&mut self, options: &ReadOptions) -> Result<Opened, Problem> {
        let mut raw = self.raw()?;
        let head =
            read_head(&mut raw, magic_is_complete).map_err(|error| read_problem(&error, Container::Plain))?;
        let container = Container::of(&head);
        let mut plain =
            container.unpacked(BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(raw)));
        let mut head =
            read_head(&mut plain, two_lines_are_complete).map_err(|error| read_problem(&error, container))?;
        if head.is_empty() {
            return Err(Problem::Empty);
        }
        let format = match options.format {
            Some(format) => format,
            None => format_of(&head, self.path())?,
        };
        if format == Format::Parquet {
            return match &self.origin {
                Origin::Path(path) if container == Container::Plain => open_file(path).map(Opened::Parquet),
                _ => spool(&mut Cursor::new(head).chain(plain), container).map(Opened::Parquet),
            };
        }
        if format != Format::Npy && head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let input = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head.clone()).chain(plain));
        let text = Text { format, head, input: Box::new(input), container };
        Ok(if format == Format::Npy { Opened::Npy(text) } else { Opened::Text(text) })
    }

    fn raw(&mut self) -> Result<Box<dyn Read + Send>, Problem> {
        match &mut self.origin {
            Origin::Path(path) => Ok(Box::new(open_file(path)?)),
            Origin::Spool(file) => {
                let mut again = file.try_clone().map_err(|error| read_problem(&error, Container::Plain))?;
                again.rewind().map_err(|error| read_problem(&error, Container::Plain))?;
                Ok(Box::new(again))
            }
            Origin::Stream(stream) => stream.take().ok_or(Problem::Empty),
        }
    }

    /// The path, whose extension may tell format and delimiter.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Path(path) => Some(path),
            Origin::Spool(_) | Origin::Stream(_) => None,
        }
    }
}

fn find_origin(source: &Source, twice: bool) -> Result<Origin, Problem> {
    let mut stream: Box<dyn Read + Send> = match source {
        Source::Stdin => Box::new(io::stdin()),
        Source::Path(path) => {
            let metadata = path.metadata().map_err(|error| read_problem(&error, Container::Plain))?;
            if metadata.is_dir() {
                return Err(Problem::IsDirectory);
            }
            if metadata.is_file() {
                return Ok(Origin::Path(path.clone()));
            }
            Box::new(open_file(path)?) // a named pipe, as shells make for `<(command)`
        }
    };
    if twice {
        Ok(Origin::Spool(spool(&mut stream, Container::Plain)?))
    } else {
        Ok(Origin::Stream(Some(stream)))
    }
}

fn open_file(path: &Path) -> Result<File, Problem> {
    File::open(path).map_err(|error| read_problem(&error, Container::Plain))
}

/// Copies a stream into an unnamed temporary file, positioned at its start.
fn spool(stream: &mut dyn Read, container: Container) -> Result<File, Problem> {
    let spool_problem =
        |error: io::Error| Problem::Io { action: "create a temporary file", message: error.to_string() };
    let mut file = tempfile::tempfile().map_err(spool_problem)?;
    io::copy(stream, &mut file).map_err(|error| read_problem(&error, container))?;
    file.rewind().map_err(spool_problem)?;
    Ok(file)
}

/// What a failed read means.
pub(crate) fn read_problem(error: &io::Error, container: Container) -> Problem {
    container.damage(error).unwrap_or_else(|| match error.kind() {
        io::ErrorKind::NotFound => Problem::NoSuchFile,
        io::ErrorKind::IsADirectory => Problem::IsDirectory,
        _ => Problem::Io { action: "read", message: error.to_string() },
    })
}
