//! [`Together`]: processes that read one table, each some of its files.

use crate::error::DataError;

/// Processes that read a table together.
///
/// Whatever happens on one of them, all call [`gather`](Self::gather) equally often: a fault travels as bytes.
pub trait Together: Sync {
    /// Which of them this is, from 0.
    fn rank(&self) -> usize;
    /// How many there are.
    fn size(&self) -> usize;
    /// What each of them gives, in the order of ranks; returns when all have given theirs.
    ///
    /// # Errors
    /// If another process cannot be reached.
    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, DataError>;
}

/// One process that reads all files.
///
/// ```
/// use inducing_data::{Alone, Together};
/// assert_eq!(Alone.gather(b"mine")?, [b"mine"]);
/// # Ok::<(), inducing_data::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Together for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, DataError> {
        Ok(vec![bytes.to_vec()])
    }
}
