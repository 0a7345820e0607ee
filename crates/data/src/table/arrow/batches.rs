//! [`Batches`]: rows that another program holds as Arrow record batches.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use crate::error::{DataError, Problem};

/// A stream of record batches.
type Stream = Box<dyn RecordBatchReader + Send>;

/// Record batches in memory, or a stream of them that is read once. Their buffers are read where they are.
///
/// ```
/// use std::sync::Arc;
/// use inducing_data::{Batches, Column, ReadOptions, RecordBatch, Source, arrow_array::Int64Array, read_table};
///
/// let rooms: Arc<Int64Array> = Arc::new(vec![3, 5, 2].into());
/// let batch = RecordBatch::try_from_iter([("rooms", rooms as _)])?;
/// let source = Source::Batches(Batches::new("houses", batch.schema(), vec![batch]));
/// let table = read_table(&source, &ReadOptions::default())?;
/// assert_eq!(table.column("rooms")?, &Column::Number(vec![3.0, 5.0, 2.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Batches {
    name: Arc<str>,
    schema: SchemaRef,
    rows: Rows,
}

#[derive(Clone)]
enum Rows {
    Memory(Arc<[RecordBatch]>),
    Stream(Arc<Mutex<Option<Stream>>>),
}

impl Batches {
    /// Batches of one schema; `name` stands in error messages in a file's place.
    #[must_use]
    pub fn new(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Batches { name: name.into(), schema, rows: Rows::Memory(batches.into()) }
    }

    /// Batches that come one by one and are read once: predictions of any number of rows.
    #[must_use]
    pub fn stream(name: &str, batches: impl RecordBatchReader + Send + 'static) -> Self {
        let schema = batches.schema();
        let rows = Rows::Stream(Arc::new(Mutex::new(Some(Box::new(batches)))));
        Batches { name: name.into(), schema, rows }
    }

    /// What stands in error messages in a file's place.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The batches, if they are in memory.
    #[must_use]
    pub fn in_memory(&self) -> Option<&[RecordBatch]> {
        match &self.rows {
            Rows::Memory(batches) => Some(batches),
            Rows::Stream(_) => None,
        }
    }

    /// The same in memory, a stream read to its end: what is learned from is read more than once.
    pub(crate) fn collected(&self) -> Result<Self, DataError> {
        if self.in_memory().is_some() {
            return Ok(self.clone());
        }
        let batches: Result<Vec<_>, ArrowError> = self.iter()?.collect();
        Ok(Batches::new(&self.name, self.schema(), batches.map_err(|error| self.broken(&error))?))
    }

    /// Starts a pass over the batches.
    pub(crate) fn iter(&self) -> Result<BatchIter, DataError> {
        match &self.rows {
            Rows::Memory(batches) => Ok(BatchIter::Memory(Arc::clone(batches), 0)),
            Rows::Stream(stream) => {
                let taken = stream.lock().unwrap_or_else(PoisonError::into_inner).take();
                taken
                    .map(BatchIter::Stream)
                    .ok_or_else(|| DataError::new(&*self.name, Problem::StreamIsSpent))
            }
        }
    }

    pub(crate) fn broken(&self, error: &ArrowError) -> DataError {
        DataError::new(&*self.name, Problem::BrokenArrow { message: error.to_string() })
    }
}

impl PartialEq for Batches {
    fn eq(&self, other: &Self) -> bool {
        match (&self.rows, &other.rows) {
            (Rows::Memory(own), Rows::Memory(others)) => Arc::ptr_eq(own, others),
            (Rows::Stream(own), Rows::Stream(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }
}

impl Eq for Batches {}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches")
            .field("name", &self.name)
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

/// A pass over batches.
pub(crate) enum BatchIter {
    Memory(Arc<[RecordBatch]>, usize),
    Stream(Stream),
}

impl Iterator for BatchIter {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            BatchIter::Memory(batches, next) => {
                *next += 1;
                batches.get(*next - 1).cloned().map(Ok)
            }
            BatchIter::Stream(stream) => stream.next(),
        }
    }
}
