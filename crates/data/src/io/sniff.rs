//! What the first bytes of a file say about it. They overrule its name.

use std::io::{self, Read};
use std::path::Path;

use crate::error::Problem;
use crate::io::compression::Codec;
use crate::io::source::Format;

/// Enough for a header and some rows of almost any file.
const HEAD_BYTES: usize = 64 * 1024;

/// The first bytes of a stream: at least `enough` says so, or 64 KiB, or all there is.
///
/// A slow pipe is not waited upon longer than that, so rows can be answered as they arrive.
pub(crate) fn read_head(input: &mut dyn Read, enough: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD_BYTES];
    let mut filled = 0;
    while filled < head.len() && !enough(&head[..filled]) {
        match input.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    Ok(head)
}

/// Enough to see in which codec the data is.
pub(crate) fn magic_is_complete(head: &[u8]) -> bool {
    head.len() >= Codec::MAGIC_BYTES
}

/// A header and one row.
pub(crate) fn two_lines_are_complete(head: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', head).nth(1).is_some()
}

/// The format of uncompressed data from its first bytes and its name; delimited text if nothing speaks.
pub(crate) fn format_of(head: &[u8], path: Option<&Path>) -> Result<Format, Problem> {
    if head.starts_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    if head.starts_with(b"\x93NUMPY") {
        return Ok(Format::Npy);
    }
    if let Some(what) = foreign(head) {
        return Err(Problem::NotATable { what });
    }
    let named = path.and_then(Format::from_path);
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    match (first, named) {
        (Some(b'{'), Some(Format::Csv) | None) => Ok(Format::JsonLines),
        (_, named) => Ok(named.unwrap_or(Format::Csv)),
    }
}

/// Whether the bytes are neither text nor one of the formats that are read: text has no zero bytes, except in UTF-16,
/// for which the reader has a better message.
pub(crate) fn is_binary(head: &[u8]) -> bool {
    let known = Codec::detect(head) != Codec::Plain
        || [&b"PAR1"[..], b"\x93NUMPY", b"\xff\xfe", b"\xfe\xff"].iter().any(|magic| head.starts_with(magic));
    !known && memchr::memchr(0, head).is_some()
}

fn foreign(head: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "a zip archive or an Excel workbook"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xd0\xcf\x11\xe0", "an Excel workbook"),
        (b"\x89HDF", "an HDF5 file"),
        (b"ARROW1", "an arrow or feather file"),
    ];
    known.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_beats_the_name() {
        let csv = Some(Path::new("a.csv"));
        assert_eq!(format_of(b"PAR1....", csv), Ok(Format::Parquet));
        assert_eq!(format_of(b"\n {\"a\": 1}", csv), Ok(Format::JsonLines));
        assert_eq!(format_of(b"a,b\n", csv), Ok(Format::Csv));
        assert_eq!(format_of(b"{\"a\": 1}", None), Ok(Format::JsonLines));
        assert_eq!(format_of(b"a,b\n", None), Ok(Format::Csv));
        assert!(matches!(format_of(b"PK\x03\x04..", csv), Err(Problem::NotATable { .. })));
    }
}
