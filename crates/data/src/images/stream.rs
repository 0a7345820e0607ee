//! A file of bytes, through gzip or xz if it begins so, that knows how much of it was read.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

use super::problem::ImageProblem;
use crate::error::{DataError, Problem};
use crate::io::compression::Codec;
use crate::io::input::read_problem;

const BUFFER_BYTES: usize = 256 * 1024;
/// Limit of what is allocated because a header asks for it.
const TRUSTED_BYTES: usize = 1 << 30;

/// Uncompressed bytes of a file.
pub(crate) struct Stream {
    name: String,
    codec: Codec,
    input: Box<dyn Read + Send>,
    /// Bytes read so far.
    position: u64,
}

impl Stream {
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let name = path.display().to_string();
        if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            return Err(DataError::new(name, Problem::NotARegularFile));
        }
        let opened = File::open(path).and_then(|mut file| {
            let mut head = Vec::new();
            file.by_ref().take(Codec::MAGIC_BYTES as u64).read_to_end(&mut head)?;
            Ok((head, file))
        });
        let (head, file) =
            opened.map_err(|error| DataError::new(&name, read_problem(&error, Codec::Plain)))?;
        let codec = Codec::detect(&head);
        let input = codec.decompress(BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(file)));
        Ok(Stream { name, codec, input, position: 0 })
    }

    /// Fills the buffer as far as the file goes and returns how far.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, DataError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.input.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        self.position += filled as u64;
        Ok(filled)
    }

    /// The next `count` bytes, and an error if there are fewer or, after them, more.
    pub(crate) fn rest(&mut self, count: usize) -> Result<Vec<u8>, DataError> {
        let expected = self.position + count as u64;
        let mut bytes = Vec::new();
        bytes.reserve_exact(count.min(TRUSTED_BYTES));
        let read = self.input.by_ref().take(count as u64).read_to_end(&mut bytes);
        read.map_err(|error| self.failed(&error))?;
        self.position += bytes.len() as u64;
        if bytes.len() < count {
            return Err(self.problem(ImageProblem::Truncated { expected, got: self.position }));
        }
        if self.fill(&mut [0])? > 0 {
            return Err(self.problem(ImageProblem::Overlong { expected }));
        }
        Ok(bytes)
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn problem(&self, problem: ImageProblem) -> DataError {
        DataError::new(&self.name, Problem::Image(problem))
    }

    fn failed(&self, error: &std::io::Error) -> DataError {
        if self.codec == Codec::Xz {
            return self.problem(ImageProblem::BrokenXz { message: error.to_string() });
        }
        DataError::new(&self.name, read_problem(error, self.codec))
    }
}
