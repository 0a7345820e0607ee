//! Predictions of any number of rows, in blocks of constant size.

use super::columns::distinct;
use super::input_check::unseen_notes;
use super::{InputCheck, Model, Predictions};
use crate::dataset::{Dataset, Inputs, Loaded, Origin, Schema};
use crate::error::Error;
use data::arrow_schema::SchemaRef;
use data::{Block, Blocks, RecordBatch, TableSchema, Tokenizer};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Rows that are in memory at a time.
const BLOCK_ROWS: usize = 8192;

/// Predictions of a table that is read while it is predicted: constant memory, whatever its size.
///
/// ```no_run
/// use inducing::{Dataset, Model};
/// let model = Model::load("price.ign")?;
/// for block in model.stream(&Dataset::read("new.csv")?, &["id".into()])? {
///     let block = block?;
///     println!("{} rows, {:?}", block.predictions.len(), block.passthrough.schema());
/// }
/// # Ok::<(), inducing::Error>(())
/// ```
#[derive(Debug)]
pub struct PredictionStream<'a> {
    model: &'a Model,
    schema: &'a TableSchema,
    blocks: Receiver<Result<Block, data::DataError>>,
    passthrough: SchemaRef,
    unseen: BTreeMap<String, usize>,
    wordless: BTreeMap<String, usize>,
    check: InputCheck<'a>,
    stop: Option<Stop<'a>>,
}

/// Says whether to stop.
struct Stop<'a>(Box<dyn Fn() -> bool + Send + 'a>);

impl std::fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stop")
    }
}

/// Some rows of a stream.
#[derive(Debug)]
#[non_exhaustive]
pub struct PredictedBlock {
    /// Place of the first of the rows, counted from 0.
    pub first_row: usize,
    /// Columns of the input that are carried along.
    pub passthrough: RecordBatch,
    /// The rows as the model reads them.
    pub inputs: Inputs,
    /// What is predicted.
    pub predictions: Predictions,
}

impl Model {
    /// Predicts a table in blocks of rows and carries columns of it along.
    pub fn stream(&self, data: &Dataset, keep: &[String]) -> Result<PredictionStream<'_>, Error> {
        let Schema::Table(schema) = &self.header().schema else {
            return Err(Error::inputs("a model of tables", "a model of other inputs"));
        };
        let blocks = match (data.origin(), data.loaded()) {
            (Origin::Table { source, options }, _) => {
                let options = self.read_options(options);
                data::read_blocks(source, &options, &schema.columns(), &distinct(keep), BLOCK_ROWS)?
            }
            (_, Some(Loaded::Table(_))) => {
                return Err(Error::inputs("a table in a file", "a table in memory, which `predict` takes"));
            }
            _ => return Err(Error::inputs("a table", data.describe())),
        };
        let passthrough = blocks.passthrough_schema();
        let (unseen, wordless) = (BTreeMap::new(), BTreeMap::new());
        let (blocks, check) = (read_ahead(blocks), InputCheck::new(self));
        Ok(PredictionStream { model: self, schema, blocks, passthrough, unseen, wordless, check, stop: None })
    }
}

/// Reads on another thread, so that reading and computing overlap.
fn read_ahead(blocks: Blocks) -> Receiver<Result<Block, data::DataError>> {
    let (sender, receiver) = sync_channel(2);
    std::thread::spawn(move || {
        // The receiver is gone when nobody wants more.
        blocks.into_iter().all(|block| sender.send(block).is_ok())
    });
    receiver
}

impl<'a> PredictionStream<'a> {
    /// The columns that are carried along.
    pub fn passthrough_schema(&self) -> SchemaRef {
        self.passthrough.clone()
    }

    /// Asks `stop` while it waits for rows; the stream ends with [`Error::Interrupted`] when it says yes.
    #[must_use]
    pub fn stop_when(mut self, stop: impl Fn() -> bool + Send + 'a) -> Self {
        self.stop = Some(Stop(Box::new(stop)));
        self
    }

    /// What the user should know of the rows so far.
    pub fn notes(&self) -> Vec<String> {
        let wordless = self.wordless.iter().filter(|(_, count)| **count > 0);
        let wordless = wordless.map(|(column, count)| {
            let rows = if *count == 1 { "1 row holds".into() } else { format!("{count} rows hold") };
            format!("column `{column}`: {rows} no word that the model knows")
        });
        let checked = self.check.notes().into_iter().map(|note| note.to_string());
        wordless.chain(unseen_notes(&self.unseen)).chain(checked).collect()
    }

    fn predict(&mut self, block: Block) -> Result<PredictedBlock, Error> {
        let Block { table, passthrough, first_row } = block;
        let mut encoded = self.schema.encode(&table, None)?;
        let unseen = std::mem::take(&mut encoded.unseen);
        for (column, count) in &unseen {
            *self.unseen.entry(column.clone()).or_default() += count;
        }
        for ((name, _), texts) in self.schema.text_columns().zip(&encoded.texts) {
            let unknown = |row: &usize| texts.row(*row).iter().all(|&word| word == Tokenizer::UNKNOWN);
            *self.wordless.entry(name.to_owned()).or_default() += (0..texts.len()).filter(unknown).count();
        }
        let inputs = Inputs::from(encoded);
        let rows: Vec<usize> = (0..inputs.rows()).collect();
        let predictions = self.model.predict_inputs(&inputs, &rows).map_err(|error| match error {
            Error::NotFinite { row } => Error::NotFinite { row: first_row + row },
            error => error,
        })?;
        self.check.add(&inputs, &unseen, &predictions);
        Ok(PredictedBlock { first_row, passthrough, inputs, predictions })
    }
}

impl Iterator for PredictionStream<'_> {
    type Item = Result<PredictedBlock, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.stop.as_ref().is_some_and(|stop| stop.0()) {
                return Some(Err(Error::Interrupted));
            }
            match self.blocks.recv_timeout(Duration::from_millis(50)) {
                Ok(block) => return Some(block.map_err(Error::from).and_then(|block| self.predict(block))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}
