//! Compressed bytes: gzip and xz, told by how they begin and looked through wherever files are read.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use crate::problem::Problem;

/// A dictionary above this is no honest archive; the largest preset of xz has 64 MiB.
const XZ_LIMIT_KIB: u32 = 256 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";

/// What a file's bytes are packed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Plain,
    Gzip,
    Xz,
}

impl Container {
    /// So many first bytes tell every container.
    pub(crate) const MAGIC_BYTES: usize = XZ_MAGIC.len();

    /// The container of a file that begins so.
    pub(crate) fn of(head: &[u8]) -> Self {
        match () {
            () if head.starts_with(GZIP_MAGIC) => Container::Gzip,
            () if head.starts_with(XZ_MAGIC) => Container::Xz,
            () => Container::Plain,
        }
    }

    /// The uncompressed bytes.
    pub(crate) fn unpacked(self, raw: impl BufRead + Send + 'static) -> Box<dyn Read + Send> {
        match self {
            Container::Plain => Box::new(raw),
            Container::Gzip => Box::new(MultiGzDecoder::new(raw)),
            Container::Xz => Box::new(XzReader::new_mem_limit(raw, true, XZ_LIMIT_KIB)),
        }
    }

    /// What a failed read of the uncompressed bytes means, unless the system failed.
    pub(crate) fn damage(self, error: &io::Error) -> Option<Problem> {
        let message = error.to_string();
        match (self, error.kind()) {
            (Container::Gzip, io::ErrorKind::UnexpectedEof) => {
                Some(Problem::BrokenGzip { truncated: true, message })
            }
            (Container::Gzip, io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                Some(Problem::BrokenGzip { truncated: false, message })
            }
            (Container::Xz, io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => None,
            (Container::Xz, _) => Some(Problem::BrokenXz { message }),
            _ => None,
        }
    }
}

/// The bytes of a stream, unpacked if it begins as gzip or xz.
///
/// # Errors
/// If its first bytes cannot be read.
pub fn unpacked(mut raw: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut head = Vec::new();
    raw.by_ref().take(Container::MAGIC_BYTES as u64).read_to_end(&mut head)?;
    let container = Container::of(&head);
    Ok(container.unpacked(BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(raw))))
}

/// A file's name without the ending of its container.
pub(crate) fn without_ending(name: &str) -> &str {
    name.strip_suffix(".gz").or_else(|| name.strip_suffix(".xz")).unwrap_or(name)
}
