//! Inputs to choose from, read as a model asks for them, with columns that are carried along.

use super::SuggestError;
use crate::dataset::{Dataset, Inputs, Origin, Schema};
use crate::error::Error;
use crate::model::{Model, TargetUse, distinct};
use data::RecordBatch;
use data::arrow_array::RecordBatchOptions;
use data::arrow_schema::Schema as ArrowSchema;
use std::sync::Arc;

/// Inputs to choose from.
#[derive(Debug)]
#[non_exhaustive]
pub struct Pool {
    /// The inputs; at least one.
    pub inputs: Inputs,
    /// Columns of a table that are carried along, as they were read.
    pub passthrough: RecordBatch,
    /// What the user should know of rows and files.
    pub notes: Vec<String>,
}

impl Model {
    /// Reads a pool into memory. `keep` names columns of a table in a file that are carried along; targets are not read.
    pub fn read_pool(&self, data: &Dataset, keep: &[String]) -> Result<Pool, Error> {
        let empty = || SuggestError::EmptyPool { pool: data.name().to_owned() };
        let (encoded, passthrough) = match (&self.header().schema, data.origin(), data.loaded()) {
            (Schema::Table(schema), Origin::Table { source, options }, None) => {
                let options = self.read_options(options);
                let mut blocks =
                    data::read_blocks(source, &options, &schema.columns(), &distinct(keep), usize::MAX)?;
                let block = blocks.next().ok_or_else(empty)??;
                let table = Dataset::from_table(block.table);
                (self.encode_data(&table, TargetUse::Ignored)?, Some(block.passthrough))
            }
            _ if !keep.is_empty() => {
                return Err(Error::inputs("a table in a file, whose columns can be kept", data.describe()));
            }
            _ => (self.encode_data(data, TargetUse::Ignored)?, None),
        };
        let rows = encoded.inputs.rows();
        if rows == 0 {
            return Err(empty().into());
        }
        let nothing = || {
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let batch =
                RecordBatch::try_new_with_options(Arc::new(ArrowSchema::empty()), Vec::new(), &options);
            batch.expect("no columns have any number of rows")
        };
        Ok(Pool {
            passthrough: passthrough.unwrap_or_else(nothing),
            notes: [encoded.notes, encoded.file_notes].concat(),
            inputs: encoded.inputs,
        })
    }
}
