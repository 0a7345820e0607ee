//! Copying with a limit, which Ctrl-C ends, and sums of what is copied.

use crate::signals::stop_requested;
use ring::digest::{Context, SHA256};
use std::io::{self, Read, Write};

/// Why a copy is not complete.
#[derive(Debug)]
pub(crate) enum CopyError {
    /// The source is damaged or gone.
    Read(io::Error),
    /// The disk says no.
    Write(io::Error),
    /// There is more than the limit.
    TooLarge,
    /// Ctrl-C.
    Interrupted,
}

/// Copies everything, if it is at most `limit` bytes; returns how many they were.
pub(crate) fn copy(from: &mut dyn Read, to: &mut dyn Write, limit: u64) -> Result<u64, CopyError> {
    let mut buffer = vec![0; 1 << 16];
    let mut copied = 0;
    loop {
        if stop_requested() {
            return Err(CopyError::Interrupted);
        }
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(copied),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Read(error)),
        };
        copied += read as u64;
        if copied > limit {
            return Err(CopyError::TooLarge);
        }
        to.write_all(&buffer[..read]).map_err(CopyError::Write)?;
    }
}

/// Sum and number of bytes.
pub(crate) fn sha256(from: &mut dyn Read, limit: u64) -> Result<(String, u64), CopyError> {
    let mut sum = Summing(Context::new(&SHA256));
    let bytes = copy(from, &mut sum, limit)?;
    Ok((sum.0.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect(), bytes))
}

struct Summing(Context);

impl Write for Summing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_published_one_and_a_byte_above_the_limit_is_too_many() {
        // The example of FIPS 180-2.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&mut &b"abc"[..], 3).expect("three bytes"), (expected.to_owned(), 3));
        assert!(matches!(sha256(&mut &b"abc"[..], 2), Err(CopyError::TooLarge)));
    }
}
