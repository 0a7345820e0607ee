//! Which character separates the fields of a CSV file.

use std::path::Path;

use crate::error::Problem;
use crate::io::compression::{Codec, without_ending};
use crate::table::csv::records::Records;

const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Number of rows that have to agree with the header.
const ROWS_COMPARED: usize = 20;

/// The delimiter the user chose, as a byte.
pub(crate) fn chosen(delimiter: char) -> Result<u8, Problem> {
    match u8::try_from(delimiter) {
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err(Problem::BadDelimiter { delimiter }),
    }
}

/// The delimiter from the first bytes of a file.
///
/// The usual one (tab for `.tsv`, else comma) is taken if the first rows have as many fields as the header.
/// Otherwise another is taken if it is the only one for which that holds; a header that still is one field is
/// an error.
pub(crate) fn detected(head: &[u8], path: Option<&Path>) -> Result<u8, Problem> {
    let name = path.and_then(Path::to_str).unwrap_or_default().to_ascii_lowercase();
    let usual = if without_ending(&name).ends_with(".tsv") { b'\t' } else { b',' };
    let head = match memchr::memrchr(b'\n', head) {
        Some(end) => &head[..=end],
        None => head,
    };
    let agreeing: Vec<u8> = CANDIDATES.into_iter().filter(|d| rows_agree(head, *d)).collect();
    if agreeing.contains(&usual) {
        return Ok(usual);
    }
    if let [only] = agreeing[..] {
        return Ok(only);
    }
    let header = field_counts(head, usual, 1);
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let found = CANDIDATES.into_iter().filter(|d| *d != usual && line.contains(d));
    match found.max_by_key(|d| memchr::memchr_iter(*d, line).count()) {
        Some(found) if header == [1] => {
            Err(Problem::WrongDelimiter { delimiter: usual.into(), found: found.into() })
        }
        _ => Ok(usual),
    }
}

fn rows_agree(head: &[u8], delimiter: u8) -> bool {
    let counts = field_counts(head, delimiter, ROWS_COMPARED);
    counts.first().is_some_and(|header| *header > 1 && counts.iter().all(|count| count == header))
}

/// Fields of the first records, as far as they can be read.
fn field_counts(head: &[u8], delimiter: u8, limit: usize) -> Vec<usize> {
    let mut records = Records::new(head, delimiter, Codec::Plain);
    let mut counts = Vec::new();
    while counts.len() < limit
        && let Ok(Some(record)) = records.next()
    {
        counts.push(record.len());
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delimiter(text: &str) -> Result<u8, Problem> {
        detected(text.as_bytes(), Some(Path::new("a.csv")))
    }

    #[test]
    fn an_unambiguous_delimiter_is_found() {
        assert_eq!(delimiter("a,b\n1,2\n"), Ok(b','));
        assert_eq!(delimiter("a;b\n1,5;2,5\n"), Ok(b';'));
        assert_eq!(delimiter("a\tb\n1\t2\n"), Ok(b'\t'));
        assert_eq!(delimiter("\"x,y\"|b\n1|2\n"), Ok(b'|'));
        assert_eq!(delimiter("a\n1\n"), Ok(b','));
        assert_eq!(detected(b"a\tb,c\n1\t2,3\n", Some(Path::new("a.tsv"))), Ok(b'\t'));
    }

    #[test]
    fn a_header_of_one_field_with_a_foreign_delimiter_is_an_error() {
        let expected = Problem::WrongDelimiter { delimiter: ',', found: ';' };
        assert_eq!(delimiter("a;b;c\n1;2\n"), Err(expected));
    }

    #[test]
    fn quotes_and_letters_beyond_ascii_cannot_delimit() {
        assert_eq!(chosen(';'), Ok(b';'));
        assert!(chosen('"').is_err() && chosen('§').is_err() && chosen('→').is_err());
    }
}
