//! Batches of an epoch: of rows in memory, or of rows that are read from files. A step has one for each *lane*; lanes have rows of
//! their own, so that processes can share a step.

use super::Targets;
use crate::dataset::{Inputs, RowStream, Window};
use crate::error::Error;
use data::Lane;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Rows of one lane in one step.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) targets: Targets<'a>,
    pub(super) rows: &'a [usize],
}

/// The batches of an epoch.
pub(super) enum Batches<'a> {
    Memory { inputs: &'a Inputs, targets: Targets<'a>, rows: Vec<usize>, steps: usize, lanes: usize },
    Files { sample: Targets<'a>, first: usize, lanes: Vec<Mutex<LaneReader>> },
}

impl<'a> Batches<'a> {
    /// Rows in memory, in an order that `seed` decides: parts of nearly equal size, so that there is no straggler of a single row.
    pub(super) fn of_memory(
        (inputs, targets): (&'a Inputs, Targets<'a>),
        train: &[usize],
        (steps, lanes): (usize, usize),
        seed: u64,
    ) -> Self {
        let mut rows = train.to_vec();
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        Self::Memory { inputs, targets, rows, steps, lanes }
    }

    /// Rows of files, for the lanes of this process, `done` steps after the beginning of the epoch.
    pub(super) fn of_files(
        stream: &Arc<RowStream>,
        sample: Targets<'a>,
        (own, lanes): (Range<usize>, usize),
        size: usize,
        (seed, done): (u64, usize),
    ) -> Self {
        let reader =
            |index| Mutex::new(LaneReader::new(stream, Lane { index, count: lanes }, size, (seed, done)));
        Self::Files { sample, first: own.start, lanes: own.map(reader).collect() }
    }

    /// Calls `work` with the batch of a lane in a step; nothing of a lane whose files have no row to learn from. Steps come one after the
    /// other.
    pub(super) fn with_batch<R>(
        &self,
        step: usize,
        lane: usize,
        work: impl FnOnce(Batch<'_>) -> Result<R, Error>,
    ) -> Result<Option<R>, Error> {
        match self {
            Self::Memory { inputs, targets, rows, steps, lanes } => {
                let part = |rows: &Range<usize>, k: usize, of: usize| {
                    rows.start + k * rows.len() / of..rows.start + (k + 1) * rows.len() / of
                };
                let own = part(&part(&(0..rows.len()), step, *steps), lane, *lanes);
                work(Batch { inputs, targets: *targets, rows: &rows[own] }).map(Some)
            }
            Self::Files { sample, first, lanes } => {
                let mut reader = lanes[lane - first].lock().expect("no reader panicked");
                for _ in 0..=std::mem::take(&mut reader.skip) {
                    reader.next_batch()?;
                }
                let Some((window, rows)) = reader.batch() else { return Ok(None) };
                work(Batch { inputs: &window.inputs, targets: window.targets(*sample), rows }).map(Some)
            }
        }
    }
}

/// The rows of one lane: again from the beginning of its files where there are too few.
pub(super) struct LaneReader {
    stream: Arc<RowStream>,
    lane: Lane,
    size: usize,
    seed: u64,
    /// Batches that an earlier run has had.
    skip: usize,
    /// How often the files were read to their end, and whether this time gave a batch.
    pass: u64,
    is_fruitful: bool,
    /// Whether there is no row at all.
    is_barren: bool,
    windows: Receiver<Result<Window, Error>>,
    /// Windows of this pass so far; decides the order of rows.
    read: u64,
    window: Option<Window>,
    rows: Vec<usize>,
    batch: Range<usize>,
}

impl LaneReader {
    fn new(stream: &Arc<RowStream>, lane: Lane, size: usize, (seed, skip): (u64, usize)) -> Self {
        Self {
            stream: Arc::clone(stream),
            lane,
            size,
            seed,
            skip,
            pass: 0,
            is_fruitful: false,
            is_barren: false,
            windows: stream.windows(seed, lane),
            read: 0,
            window: None,
            rows: Vec::new(),
            batch: 0..0,
        }
    }

    fn batch(&self) -> Option<(&Window, &[usize])> {
        Some((self.window.as_ref()?, &self.rows[self.batch.clone()]))
    }

    /// The next window. A thread of the pool helps others while it waits: who makes the window may need them.
    fn wait(&self) -> Result<Result<Window, Error>, RecvTimeoutError> {
        if rayon::current_thread_index().is_none() {
            return self.windows.recv().map_err(|_| RecvTimeoutError::Disconnected);
        }
        loop {
            match self.windows.recv_timeout(Duration::from_millis(1)) {
                Err(RecvTimeoutError::Timeout) => drop(rayon::yield_now()),
                answer => return answer,
            }
        }
    }

    /// Goes on to the next batch, if the files have any row.
    fn next_batch(&mut self) -> Result<(), Error> {
        if self.is_barren {
            return Ok(());
        }
        let mut size = self.size.min(self.rows.len());
        while size == 0 || self.batch.end + size > self.rows.len() {
            // What is left of a window is less than a batch.
            self.window = None;
            match self.wait() {
                Ok(window) => {
                    let window = window?;
                    let seed =
                        self.seed.wrapping_add(self.pass) ^ ((self.read << 32) | self.lane.index as u64);
                    self.rows = (0..window.inputs.rows()).collect();
                    self.rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
                    self.batch = 0..0;
                    self.window = Some(window);
                    self.read += 1;
                }
                Err(_) if self.is_fruitful => {
                    (self.pass, self.read, self.is_fruitful) = (self.pass + 1, 0, false);
                    self.windows = self.stream.windows(self.seed.wrapping_add(self.pass), self.lane);
                    self.rows.clear();
                }
                Err(_) => {
                    self.is_barren = true;
                    return Ok(());
                }
            }
            size = self.size.min(self.rows.len());
        }
        self.batch = self.batch.end..self.batch.end + size;
        self.is_fruitful = true;
        Ok(())
    }
}
