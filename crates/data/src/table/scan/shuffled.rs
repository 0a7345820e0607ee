//! All rows beside a sample, file by file in an order that a seed decides.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::TableScan;
use super::chosen::SampledRows;
use crate::error::DataError;
use crate::table::Table;
use crate::table::blocks::Blocks;

/// Files that are read side by side, so that rows of several mix.
const OPEN_FILES: usize = 4;

/// Every `count`-th of the files, from `index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// From 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

/// Iterator over the rows of [`TableScan::shuffled`].
pub struct ShuffledRows {
    scan: TableScan,
    /// Files that were not opened yet, the next one last.
    order: Vec<usize>,
    sample: SampledRows,
    window: usize,
    open: Vec<(usize, Blocks)>,
    turn: usize,
}

impl TableScan {
    /// All rows but those of a sample, in tables of at least `window` rows but for the last: files in an order that `shuffle` decides,
    /// several side by side.
    pub fn shuffled(&self, sample: &SampledRows, shuffle: u64, lane: Lane, window: usize) -> ShuffledRows {
        let mut order: Vec<usize> = (0..self.files()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(shuffle));
        let order = order.into_iter().skip(lane.index).step_by(lane.count).collect();
        ShuffledRows { scan: self.clone(), order, sample: sample.clone(), window, open: Vec::new(), turn: 0 }
    }
}

impl ShuffledRows {
    /// The rows of the next block that count.
    fn next_block(&mut self) -> Result<Option<Table>, DataError> {
        loop {
            while self.open.len() < OPEN_FILES
                && let Some(index) = self.order.pop()
            {
                self.open.extend(self.scan.open(index)?.map(|blocks| (index, blocks)));
            }
            if self.open.is_empty() {
                return Ok(None);
            }
            self.turn = (self.turn + 1) % self.open.len();
            let (index, blocks) = &mut self.open[self.turn];
            match blocks.next() {
                None => drop(self.open.remove(self.turn)),
                Some(block) => {
                    let block = block?;
                    let counts = |row: &usize| !self.sample.has(*index, block.first_row + row);
                    let rows: Vec<usize> = (0..block.table.rows()).filter(counts).collect();
                    return Ok(Some(block.table.traced().select(&rows)));
                }
            }
        }
    }

    fn next_window(&mut self) -> Result<Option<Table>, DataError> {
        let (mut blocks, mut rows) = (Vec::new(), 0);
        while rows < self.window {
            let Some(block) = self.next_block()? else { break };
            rows += block.rows();
            blocks.push(block);
        }
        let window = Table::concat(&self.scan.files.name, blocks);
        Ok(window.filter(|window| window.rows() > 0).map(|window| self.scan.described(window)))
    }
}

impl Iterator for ShuffledRows {
    type Item = Result<Table, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_window().transpose()
    }
}
