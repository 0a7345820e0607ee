//! Delimited text cut into records (RFC 4180), with exact physical line numbers.
//!
//! A quote counts only at the start of a field; inside quotes, `""` is a quote and line ends are text. Lines
//! end with `\n` or `\r\n`; empty lines are skipped. Not arrow-csv: its line numbers count records, so after
//! one quoted line end every message would point to the wrong line.

use std::io::{BufRead, Read};

use crate::error::Problem;
use crate::io::compression::Codec;
use crate::io::input::read_problem;

/// A record above this size is not a table's row but a file without line ends or a quote that never closes.
const LIMIT_MIB: usize = 64;

/// Reads records one by one into a buffer that is reused.
pub(crate) struct Records<R> {
    input: R,
    delimiter: u8,
    codec: Codec,
    /// Physical lines read so far.
    lines: u64,
    buffer: Vec<u8>,
    bounds: Vec<(usize, usize)>,
}

/// One record: fields as slices of one text.
pub(crate) struct Record<'a> {
    text: &'a str,
    bounds: &'a [(usize, usize)],
    /// The line on which it begins, from 1.
    pub(crate) line: u64,
}

impl<'a> Record<'a> {
    pub(crate) fn len(&self) -> usize {
        self.bounds.len()
    }

    pub(crate) fn field(&self, index: usize) -> &'a str {
        let (start, end) = self.bounds[index];
        &self.text[start..end]
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &'a str> {
        self.bounds.iter().map(|(start, end)| &self.text[*start..*end])
    }
}

impl<R: BufRead> Records<R> {
    pub(crate) fn new(input: R, delimiter: u8, codec: Codec) -> Self {
        Records { input, delimiter, codec, lines: 0, buffer: Vec::new(), bounds: Vec::new() }
    }

    /// The next record, or the line and the problem that stand in its way.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, (u64, Problem)> {
        loop {
            self.buffer.clear();
            if !self.append_line().map_err(|problem| (self.lines + 1, problem))? {
                return Ok(None);
            }
            if !matches!(self.buffer.as_slice(), b"\n" | b"\r\n") {
                break;
            }
        }
        let line = self.lines;
        self.bounds.clear();
        if memchr::memchr(b'"', &self.buffer).is_some() {
            self.split_quoted().map_err(|problem| (line, problem))?;
        } else {
            self.split_plain();
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|error| {
            let before = memchr::memchr_iter(b'\n', &self.buffer[..error.valid_up_to()]).count();
            (line + before as u64, Problem::NotUtf8)
        })?;
        Ok(Some(Record { text, bounds: &self.bounds, line }))
    }

    /// Appends one physical line with its line end; false at the end of the input.
    fn append_line(&mut self) -> Result<bool, Problem> {
        let limit = (LIMIT_MIB << 20).saturating_sub(self.buffer.len());
        let mut limited = (&mut self.input).take(limit as u64);
        let count =
            limited.read_until(b'\n', &mut self.buffer).map_err(|error| read_problem(&error, self.codec))?;
        if count == limit {
            return Err(Problem::RecordTooLong { limit_mib: LIMIT_MIB });
        }
        self.lines += u64::from(count > 0);
        Ok(count > 0)
    }

    fn split_plain(&mut self) {
        let end = content_end(&self.buffer);
        let mut start = 0;
        for at in memchr::memchr_iter(self.delimiter, &self.buffer[..end]) {
            self.bounds.push((start, at));
            start = at + 1;
        }
        self.bounds.push((start, end));
    }

    /// Splits and unquotes in place: text only ever gets shorter, so writing never overtakes reading.
    fn split_quoted(&mut self) -> Result<(), Problem> {
        let (mut read, mut write, mut start) = (0, 0, 0);
        let (mut quoted, mut at_start) = (false, true);
        loop {
            if quoted && read == self.buffer.len() {
                match self.append_line() {
                    Ok(true) => {}
                    Ok(false) | Err(Problem::RecordTooLong { .. }) => return Err(Problem::UnclosedQuote),
                    Err(problem) => return Err(problem),
                }
            }
            let Some(&byte) = self.buffer.get(read) else { break };
            let rest = &self.buffer[read..];
            if !quoted && (rest == b"\n" || rest == b"\r\n") {
                break;
            }
            read += 1;
            match byte {
                b'"' if quoted && self.buffer.get(read) == Some(&b'"') => read += 1,
                b'"' if quoted => {
                    quoted = false;
                    continue;
                }
                b'"' if at_start => {
                    (quoted, at_start) = (true, false);
                    continue;
                }
                _ if !quoted && byte == self.delimiter => {
                    self.bounds.push((start, write));
                    (start, at_start) = (write, true);
                    continue;
                }
                _ => {}
            }
            at_start = false;
            self.buffer[write] = byte;
            write += 1;
        }
        self.bounds.push((start, write));
        self.buffer.truncate(write);
        Ok(())
    }
}

/// Length of a line without its line end.
fn content_end(line: &[u8]) -> usize {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (u64, Vec<String>);

    fn all(text: &[u8]) -> Result<Vec<Row>, (u64, Problem)> {
        let mut records = Records::new(text, b',', Codec::Plain);
        let mut rows = Vec::new();
        while let Some(record) = records.next()? {
            rows.push((record.line, record.fields().map(String::from).collect()));
        }
        Ok(rows)
    }

    fn row(line: u64, fields: &[&str]) -> Row {
        (line, fields.iter().map(|field| (*field).to_owned()).collect())
    }

    #[test]
    fn quoted_line_ends_and_empty_lines_do_not_shift_line_numbers() {
        let text = b"a,b\r\n1,\"x\r\ny\"\r\n\r\n2,\"\"\"q\"\", z\"\n3,\n";
        let expected =
            [row(1, &["a", "b"]), row(2, &["1", "x\r\ny"]), row(5, &["2", "\"q\", z"]), row(6, &["3", ""])];
        assert_eq!(all(text), Ok(expected.into()));
    }

    #[test]
    fn a_quote_inside_a_field_is_text() {
        assert_eq!(all(b"5\" pipe,\"a\"b\n"), Ok(vec![row(1, &["5\" pipe", "ab"])]));
        assert_eq!(all(b"\"\",\"\""), Ok(vec![row(1, &["", ""])]));
    }

    #[test]
    fn an_unclosed_quote_is_told_at_the_line_where_it_opens() {
        assert_eq!(all(b"a\nb\n\"c\nd\ne\n"), Err((3, Problem::UnclosedQuote)));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_told_at_their_physical_line() {
        assert_eq!(all(b"a\n\"b\nc\xff\"\n"), Err((3, Problem::NotUtf8)));
        assert_eq!(all(b"a\nb\nc\xff\n"), Err((3, Problem::NotUtf8)));
    }
}
