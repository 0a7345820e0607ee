//! Opening a [`Source`]: decompressed text or a seekable Parquet file, once or (for inference) twice.

use std::fs::{File, FileType};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{DataError, Problem};
use crate::io::compression::Codec;
use crate::io::shards::Shards;
use crate::io::sniff::{format_of, is_binary, magic_is_complete, read_head, two_lines_are_complete};
use crate::io::source::{Format, Source};
use crate::table::arrow::batches::Batches;
use crate::table::options::ReadOptions;

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
    Batches(Batches),
    Shards(Shards),
}

/// An input after its first bytes were looked at.
pub(crate) enum Opened {
    Text(Text),
    Npy(Text),
    Parquet(File),
    Batches(Batches),
    Shards(Shards),
}

/// Decompressed text without byte-order mark, or the bytes of an array.
pub(crate) struct Text {
    pub(crate) format: Format,
    /// The first bytes, which `input` will yield again.
    pub(crate) head: Vec<u8>,
    pub(crate) input: Box<dyn BufRead + Send>,
    pub(crate) codec: Codec,
}

impl Input {
    /// Finds the source; `twice` makes a pipe readable more than once.
    pub(crate) fn find(source: &Source, twice: bool) -> Result<Self, DataError> {
        let name: Arc<str> = source.to_string().into();
        if let Source::Batches(batches) = source {
            let batches = if twice { batches.collected()? } else { batches.clone() };
            return Ok(Input { name, origin: Origin::Batches(batches) });
        }
        if let Source::Shards(shards) = source {
            return Ok(Input { name, origin: Origin::Shards(shards.clone()) });
        }
        let origin = find_origin(source, twice).map_err(|problem| DataError::new(name.as_ref(), problem))?;
        Ok(Input { name, origin })
    }

    /// Starts a pass over the source.
    pub(crate) fn open(&mut self, options: &ReadOptions) -> Result<Opened, DataError> {
        self.try_open(options).map_err(|problem| DataError::new(self.name.as_ref(), problem))
    }

    fn try_open(&mut self, options: &ReadOptions) -> Result<Opened, Problem> {
        match &self.origin {
            Origin::Batches(batches) => return Ok(Opened::Batches(batches.clone())),
            Origin::Shards(shards) => return Ok(Opened::Shards(shards.clone())),
            _ => {}
        }
        let mut raw = self.raw()?;
        let head =
            read_head(&mut raw, magic_is_complete).map_err(|error| read_problem(&error, Codec::Plain))?;
        let codec = Codec::detect(&head);
        let mut plain =
            codec.decompress(BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(raw)));
        let mut head =
            read_head(&mut plain, two_lines_are_complete).map_err(|error| read_problem(&error, codec))?;
        if head.is_empty() {
            return Err(Problem::Empty);
        }
        let format = match options.format {
            Some(format) => format,
            None => format_of(&head, self.path())?,
        };
        if format == Format::Parquet {
            return match &self.origin {
                Origin::Path(path) if codec == Codec::Plain => open_file(path).map(Opened::Parquet),
                _ => spool(&mut Cursor::new(head).chain(plain), codec).map(Opened::Parquet),
            };
        }
        if format != Format::Npy && head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let input = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head.clone()).chain(plain));
        let text = Text { format, head, input: Box::new(input), codec };
        Ok(if format == Format::Npy { Opened::Npy(text) } else { Opened::Text(text) })
    }

    fn raw(&mut self) -> Result<Box<dyn Read + Send>, Problem> {
        match &mut self.origin {
            Origin::Path(path) => Ok(Box::new(open_file(path)?)),
            Origin::Spool(file) => {
                let mut again = file.try_clone().map_err(|error| read_problem(&error, Codec::Plain))?;
                again.rewind().map_err(|error| read_problem(&error, Codec::Plain))?;
                Ok(Box::new(again))
            }
            Origin::Stream(stream) => stream.take().ok_or(Problem::Empty),
            Origin::Batches(_) | Origin::Shards(_) => unreachable!("these are no bytes"),
        }
    }

    /// The path, whose extension may tell format and delimiter.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Path(path) => Some(path),
            _ => None,
        }
    }
}

fn find_origin(source: &Source, twice: bool) -> Result<Origin, Problem> {
    let mut stream: Box<dyn Read + Send> = match source {
        Source::Batches(_) | Source::Shards(_) => unreachable!("these are no bytes"),
        Source::Stdin => Box::new(io::stdin()),
        Source::Path(path) => {
            let metadata = path.metadata().map_err(|error| read_problem(&error, Codec::Plain))?;
            if metadata.is_dir() {
                return Err(Problem::IsDirectory);
            }
            if metadata.is_file() {
                return Ok(Origin::Path(path.clone()));
            }
            if !is_stream(metadata.file_type()) {
                return Err(Problem::NotARegularFile);
            }
            Box::new(open_file(path)?) // a named pipe, as shells make for `<(command)`
        }
    };
    if !twice {
        return Ok(Origin::Stream(Some(stream)));
    }
    // An endless stream of zeros would fill the disk before anybody looked at it.
    let head =
        read_head(&mut stream, two_lines_are_complete).map_err(|error| read_problem(&error, Codec::Plain))?;
    if is_binary(&head) {
        return Err(Problem::NotATable { what: "binary data" });
    }
    Ok(Origin::Spool(spool(&mut Cursor::new(head).chain(stream), Codec::Plain)?))
}

/// Pipes and terminals are read; disks and sockets are not.
#[cfg(unix)]
fn is_stream(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo() || kind.is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_: FileType) -> bool {
    true
}

fn open_file(path: &Path) -> Result<File, Problem> {
    File::open(path).map_err(|error| read_problem(&error, Codec::Plain))
}

/// Copies a stream into an unnamed temporary file, positioned at its start.
fn spool(stream: &mut dyn Read, codec: Codec) -> Result<File, Problem> {
    let mut file = tempfile::tempfile().map_err(|error| spool_problem(&error))?;
    copy(stream, &mut file, codec)?;
    file.rewind().map_err(|error| spool_problem(&error))?;
    Ok(file)
}

/// Like [`io::copy`], but tells a failed read from a failed write.
fn copy(from: &mut dyn Read, to: &mut dyn Write, codec: Codec) -> Result<(), Problem> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&buffer[..count]).map_err(|error| spool_problem(&error))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(read_problem(&error, codec)),
        }
    }
}

fn spool_problem(error: &io::Error) -> Problem {
    let folder = std::env::temp_dir().display().to_string();
    let action = format!("copy the input into the temporary folder {folder}");
    Problem::NoSpace { action, message: error.to_string(), folder: Some(folder) }
}

/// What a failed read means.
pub(crate) fn read_problem(error: &io::Error, codec: Codec) -> Problem {
    codec.damage(error).unwrap_or_else(|| match error.kind() {
        io::ErrorKind::NotFound => Problem::NoSuchFile,
        io::ErrorKind::IsADirectory => Problem::IsDirectory,
        _ => Problem::Io { action: "read", message: error.to_string() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_temporary_folder_is_named() {
        let problem = copy(&mut &b"a,b"[..], &mut Full, Codec::Plain).expect_err("full");
        let error = DataError::new("<stdin>", problem);
        let folder = std::env::temp_dir().display().to_string();
        assert!(error.to_string().contains(&format!("temporary folder {folder}")), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("TMPDIR")));
    }
}
