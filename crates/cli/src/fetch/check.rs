//! Whether a file is what it should be.

use super::copy::{CopyError, sha256};
use super::sources::Check;
use super::unpack::find_in_zip;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use zip::ZipArchive;

/// What a check finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The sum is right.
    Right,
    /// There is no sum to compare with; this was compared instead.
    Plausible(String),
    /// This is wrong.
    Wrong(String),
    /// Ctrl-C.
    Interrupted,
}

impl Check {
    /// Reads a file, unpacked to at most `limit` bytes.
    pub(crate) fn judge(&self, file: &File, limit: u64) -> Verdict {
        self.try_judge(file, limit).unwrap_or_else(|error| match error {
            CopyError::Interrupted => Verdict::Interrupted,
            CopyError::TooLarge => Verdict::Wrong(format!("it has more than {limit} bytes")),
            CopyError::Read(error) | CopyError::Write(error) => {
                Verdict::Wrong(format!("it is damaged: {error}"))
            }
        })
    }

    fn try_judge(&self, file: &File, limit: u64) -> Result<Verdict, CopyError> {
        match self {
            Check::Sha256(expected) => {
                let (got, _) = sha256(&mut unpacked(file)?, limit)?;
                Ok(compare("its sha256", expected, &got))
            }
            Check::PackedSha256 { sum, unpacked_bytes } => {
                let (got, _) = sha256(&mut from_start(file)?, limit)?;
                let verdict = compare("the sha256 of the packed file", sum, &got);
                if verdict == Verdict::Right {
                    return Ok(verdict);
                }
                let (_, bytes) = sha256(&mut unpacked(file)?, limit)?;
                let repacked = bytes == *unpacked_bytes && !begins_as_gzip(file)?;
                let note = || format!("its length of {bytes} bytes: only the sum of the .gz file is known");
                Ok(if repacked { Verdict::Plausible(note()) } else { verdict })
            }
            Check::Members(members) => {
                let mut archive = ZipArchive::new(from_start(file)?).map_err(broken)?;
                for (member, expected) in *members {
                    let Some(index) = find_in_zip(&archive, member) else {
                        return Ok(Verdict::Wrong(format!("there is no {member} in it")));
                    };
                    let mut content = archive.by_index(index).map_err(broken)?;
                    let (got, _) = sha256(&mut content, limit)?;
                    let verdict = compare(&format!("the sha256 of its {member}"), expected, &got);
                    if verdict != Verdict::Right {
                        return Ok(verdict);
                    }
                }
                Ok(Verdict::Right)
            }
            Check::Table { header, rows } => table(unpacked(file)?.take(limit), header, *rows),
        }
    }
}

fn compare(what: &str, expected: &str, got: &str) -> Verdict {
    if expected == got {
        return Verdict::Right;
    }
    Verdict::Wrong(format!("{what} is {got}, expected {expected}"))
}

/// A table of numbers without quotes.
fn table(input: impl Read, header: &[&str], rows: usize) -> Result<Verdict, CopyError> {
    let mut lines = BufReader::new(input).lines();
    let first = lines.next().transpose().map_err(CopyError::Read)?.unwrap_or_default();
    let got: Vec<&str> = first.trim_end().split(',').map(|name| name.trim_matches('"')).collect();
    if got != header {
        let [expected, got] = [header, &got].map(|names| names.join(","));
        return Ok(Verdict::Wrong(format!("its columns are `{got}`, expected `{expected}`")));
    }
    let mut count = 0;
    for line in lines {
        let line = line.map_err(CopyError::Read)?;
        if crate::signals::stop_requested() {
            return Err(CopyError::Interrupted);
        }
        let cells = line.split(',').count();
        if cells != header.len() {
            let at = count + 2;
            return Ok(Verdict::Wrong(format!("line {at} has {cells} cells, expected {}", header.len())));
        }
        count += 1;
    }
    if count != rows {
        return Ok(Verdict::Wrong(format!("it has {count} rows, expected {rows}")));
    }
    let columns = header.len();
    Ok(Verdict::Plausible(format!("{rows} rows and {columns} columns: no checksum of it is known")))
}

fn from_start(file: &File) -> Result<File, CopyError> {
    let mut file = file.try_clone().map_err(CopyError::Read)?;
    file.rewind().map_err(CopyError::Read)?;
    Ok(file)
}

fn unpacked(file: &File) -> Result<Box<dyn Read + Send>, CopyError> {
    data::decompress(from_start(file)?).map_err(CopyError::Read)
}

fn begins_as_gzip(file: &File) -> Result<bool, CopyError> {
    let mut head = Vec::new();
    from_start(file)?.take(2).read_to_end(&mut head).map_err(CopyError::Read)?;
    Ok(head == [0x1f, 0x8b])
}

fn broken(error: zip::result::ZipError) -> CopyError {
    CopyError::Read(io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(content).expect("writable");
        file
    }

    #[test]
    fn a_table_without_a_sum_is_known_by_columns_and_rows() {
        let check = Check::Table { header: &["", "x"], rows: 2 };
        let judged = |content: &str| check.judge(&file(content.as_bytes()), 100);
        assert!(
            matches!(judged(",x\r\n0,1\r\n1,2\r\n"), Verdict::Plausible(words) if words.contains("2 rows"))
        );
        for (content, complaint) in [
            (",x\n0,1\n", "1 rows, expected 2"),
            (",x\n0,1\n1,2\n2,3\n", "3 rows, expected 2"),
            (",x\n0,1\n1\n", "line 3 has 1 cells, expected 2"),
            (",y\n0,1\n1,2\n", "columns are `,y`, expected `,x`"),
            ("", "columns are ``"),
        ] {
            assert!(
                matches!(judged(content), Verdict::Wrong(words) if words.contains(complaint)),
                "{content:?}"
            );
        }
    }

    #[test]
    fn the_sum_of_a_packed_file_holds_for_it_alone_and_length_does_for_other_containers() {
        let packed = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).expect("memory");
            encoder.finish().expect("memory")
        };
        let sum = sha256(&mut &packed(b"abcd")[..], 100).expect("memory").0.leak();
        let check = Check::PackedSha256 { sum, unpacked_bytes: 4 };
        assert_eq!(check.judge(&file(&packed(b"abcd")), 100), Verdict::Right);
        assert!(matches!(check.judge(&file(&packed(b"abce")), 100), Verdict::Wrong(_)));
        assert!(matches!(check.judge(&file(b"abcd"), 100), Verdict::Plausible(_)));
        assert!(matches!(check.judge(&file(b"abc"), 100), Verdict::Wrong(_)));
    }
}
