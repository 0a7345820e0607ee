//! Compressed files: gzip and xz are recognised by their first bytes and decompressed wherever files are read.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use crate::error::Problem;

/// A dictionary above this is no honest archive; the largest preset of xz has 64 MiB.
const XZ_LIMIT_KIB: u32 = 256 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Plain,
    Gzip,
    Xz,
}

impl Codec {
    /// Number of first bytes that identify every codec.
    pub(crate) const MAGIC_BYTES: usize = XZ_MAGIC.len();

    /// The codec of a file with these first bytes.
    pub(crate) fn detect(head: &[u8]) -> Self {
        match () {
            () if head.starts_with(GZIP_MAGIC) => Codec::Gzip,
            () if head.starts_with(XZ_MAGIC) => Codec::Xz,
            () => Codec::Plain,
        }
    }

    /// The uncompressed bytes.
    pub(crate) fn decompress(self, raw: impl BufRead + Send + 'static) -> Box<dyn Read + Send> {
        match self {
            Codec::Plain => Box::new(raw),
            Codec::Gzip => Box::new(MultiGzDecoder::new(raw)),
            Codec::Xz => Box::new(XzReader::new_mem_limit(raw, true, XZ_LIMIT_KIB)),
        }
    }

    /// What a failed read of the uncompressed bytes means, unless the system failed.
    pub(crate) fn damage(self, error: &io::Error) -> Option<Problem> {
        let message = error.to_string();
        match (self, error.kind()) {
            (Codec::Gzip, io::ErrorKind::UnexpectedEof) => {
                Some(Problem::BrokenGzip { truncated: true, message })
            }
            (Codec::Gzip, io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                Some(Problem::BrokenGzip { truncated: false, message })
            }
            (Codec::Xz, io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => None,
            (Codec::Xz, _) => Some(Problem::BrokenXz { message }),
            _ => None,
        }
    }
}

/// The bytes of a stream, decompressed if it begins as gzip or xz.
///
/// ```
/// use std::io::Read;
///
/// let mut text = String::new();
/// inducing_data::decompress(&b"plain text"[..])?.read_to_string(&mut text)?;
/// assert_eq!(text, "plain text");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If its first bytes cannot be read.
pub fn decompress(mut raw: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut head = Vec::new();
    raw.by_ref().take(Codec::MAGIC_BYTES as u64).read_to_end(&mut head)?;
    let codec = Codec::detect(&head);
    Ok(codec.decompress(BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(raw))))
}

/// A file's name without the ending of its codec.
pub(crate) fn without_ending(name: &str) -> &str {
    name.strip_suffix(".gz").or_else(|| name.strip_suffix(".xz")).unwrap_or(name)
}
