//! Training rows that do not fit into memory: read again for every epoch, in shuffled windows, encoded as the sample's schema says.

use super::Inputs;
use super::prepared::{Values, WILDEST};
use crate::error::Error;
use crate::train::{Collective, Targets};
use data::{
    Column, DataError, Lane, Problem, SampledRows, Table, TableScan, TableSchema, Target, TargetValues,
    Together,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

/// Decides which rows are in the sample: the same for every model of a table.
const SEED: u64 = 0x5a3b_1e00;
/// Rows of the sample at most: schema, calibration, neighbours and scores come from it.
const SAMPLE: usize = 100_000;
/// Fewer would be judged by too small a test part.
const FEWEST: usize = 2000;
/// A table of twice as many rows has two lanes, if nothing else is said, and so on.
const ROWS_OF_A_LANE: usize = 12_500_000;
const MOST_LANES: usize = 16;
/// Rows of a window at most and at least.
const WINDOW: [u64; 2] = [8192, 262_144];

/// Memory beyond which rows mix no better, so that runs with more of it are the same.
const ENOUGH: u64 = 2 << 30;

/// Processes that read a table.
struct Readers<'a>(&'a dyn Collective);

impl Together for Readers<'_> {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, DataError> {
        let elsewhere = |error: Error| Problem::Elsewhere { message: error.to_string(), hint: None };
        self.0.gather(bytes).map_err(|error| DataError::new("mpirun", elsewhere(error)))
    }
}

/// A table of which a sample is in memory.
#[derive(Debug, Clone)]
pub(crate) struct Streamed {
    scan: Arc<TableScan>,
    sample: SampledRows,
    /// Rows that may be in windows at a time.
    read_ahead: u64,
}

impl Streamed {
    /// Scans a table, and reads a sample of it if the whole takes more than `limit` bytes, else the whole; with enough rows of each
    /// class of a `target`. Processes do so together.
    pub(crate) fn read(
        source: &data::Source,
        options: &data::ReadOptions,
        limit: u64,
        target: Option<&str>,
        processes: &dyn Collective,
    ) -> Result<(Table, Option<Self>), DataError> {
        let together = Readers(processes);
        let scan = TableScan::new(source, options, &together)?;
        if scan.bytes() <= limit {
            return Ok((scan.read(source)?, None));
        }
        // A fourth for the sample, and as much for windows; the rest for what is made of them.
        let rows = limit.min(ENOUGH) / 4 / (scan.bytes() / scan.rows.max(1) as u64).max(1);
        let sample = usize::try_from(rows).unwrap_or(SAMPLE).clamp(FEWEST, SAMPLE);
        if sample >= scan.rows {
            return Ok((scan.read(source)?, None));
        }
        let sample = scan.sample(sample, SEED, target, &together)?;
        Ok((sample.table, Some(Self { scan: Arc::new(scan), sample: sample.rows, read_ahead: rows })))
    }

    /// Number of rows, those of the sample among them.
    pub(crate) fn rows(&self) -> usize {
        self.scan.rows
    }

    /// Batches of a step if nobody says how many: more rows of a larger table are worth it. Each reads files of its own.
    pub(crate) fn lanes(&self, asked: usize) -> usize {
        let usual = (self.scan.rows / ROWS_OF_A_LANE).clamp(1, MOST_LANES);
        // Halves of halves part evenly among processes.
        let usual = 1 << usual.ilog2();
        if asked > 0 { asked } else { usual }.min(self.scan.files())
    }
}

/// The rows beside the sample, as they are learned from.
#[derive(Debug)]
pub(crate) struct RowStream {
    table: Streamed,
    /// Number of rows, about: those without a target are among them.
    pub(crate) rows: usize,
    /// Rows of a window.
    window: usize,
    /// Batches of a step.
    pub(crate) lanes: usize,
    schema: TableSchema,
    /// The column of weights, and what a weight is divided by.
    weight: Option<(String, f64)>,
}

/// Some of the rows.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) inputs: Inputs,
    values: Values,
    row_weights: Vec<f64>,
}

impl RowStream {
    /// The rows of a table beside the `sample` in memory, of which so many networks read so many lanes side by side.
    pub(crate) fn new(
        table: Streamed,
        sample: usize,
        schema: TableSchema,
        weight: Option<(String, f64)>,
        (networks, lanes): (usize, usize),
    ) -> Self {
        let rows = table.rows() - sample.min(table.rows());
        // Each has one that is learned from, one that waits and one that is made. No result may depend on how many there are at a
        // time, which is a matter of threads and processes.
        let window = table.read_ahead / (3 * networks * lanes) as u64;
        let window = window.clamp(WINDOW[0], WINDOW[1]) as usize;
        Self { table, rows, window, lanes, schema, weight }
    }

    /// Names the rows, for a checkpoint to be matched with.
    pub(crate) fn fingerprint(&self) -> String {
        self.table.scan.fingerprint()
    }

    /// All rows of a lane once, in an order that `seed` decides; read and encoded on another thread, one window ahead.
    pub(crate) fn windows(self: &Arc<Self>, seed: u64, lane: Lane) -> Receiver<Result<Window, Error>> {
        let (sender, receiver) = sync_channel(1);
        let stream = Arc::clone(self);
        std::thread::spawn(move || {
            let Streamed { scan, sample, .. } = &stream.table;
            for table in scan.shuffled(sample, seed, lane, stream.window) {
                let window = table.map_err(Error::from).and_then(|table| stream.encoded(&table));
                // The receiver is gone when nobody wants more.
                if let Some(window) = window.transpose()
                    && sender.send(window).is_err()
                {
                    return;
                }
            }
        });
        receiver
    }

    /// The rows of a table that can be learned from; nothing where there are none.
    fn encoded(&self, table: &Table) -> Result<Option<Window>, Error> {
        let mut rows = match data::rows_with_targets(table, &self.schema.targets.names()) {
            Ok((rows, _)) => rows,
            Err(error) if matches!(*error.problem, Problem::TargetAllMissing { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if let Target::Classes(target) = &self.schema.targets {
            let known: HashSet<&String> = target.levels.iter().collect();
            let column = table.column(&target.name)?;
            // So rare that none is in the sample.
            rows.retain(|&row| known.contains(&column.text(row)));
        }
        let mut row_weights = Vec::new();
        if let Some((name, unit)) = &self.weight
            && let Column::Number(weights) = table.column(name)?
        {
            if let Some(&row) = rows.iter().find(|&&row| !(weights[row].is_finite() && weights[row] >= 0.0)) {
                return Err(Error::Request(format!(
                    "weight column `{name}` has {} in {}\nhint: weights are numbers from 0 on; 0 leaves a row out of the fit",
                    weights[row],
                    table.file_of(row)
                )));
            }
            rows.retain(|&row| weights[row] > 0.0);
            row_weights = rows.iter().map(|&row| weights[row] / unit).collect();
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let inputs = self.schema.encode(table, Some(&rows))?.into();
        let values = match self.schema.targets(table, Some(&rows))? {
            TargetValues::Numbers(y) => {
                Values::Numbers(y.into_iter().map(|y| y.clamp(-WILDEST, WILDEST) as f32).collect())
            }
            TargetValues::Classes(labels) => {
                Values::Classes(labels.into_iter().map(|label| label.unwrap_or(0)).collect())
            }
        };
        Ok(Some(Window { inputs, values, row_weights }))
    }
}

impl Window {
    /// What is learned of these rows; classes are weighted as they are in the sample.
    pub(crate) fn targets<'a>(&'a self, sample: Targets<'a>) -> Targets<'a> {
        let row_weights = &self.row_weights[..];
        match (&self.values, sample) {
            (Values::Numbers(y), Targets::Numbers { outputs, .. }) => {
                Targets::Numbers { y, outputs, row_weights }
            }
            (Values::Classes(labels), Targets::Classes { classes, weights, .. }) => {
                Targets::Classes { labels, classes, weights, row_weights }
            }
            _ => unreachable!("sample and stream have one schema"),
        }
    }
}
