//! Which rows are in a sample, whatever the order in which they come.

use std::collections::HashSet;
use std::sync::Arc;

use crate::table::mixed::mixed;

/// A row, in the order in which rows are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct RowKey {
    pub(super) hash: u64,
    pub(super) file: usize,
    /// Position in the file, from 0.
    pub(super) row: usize,
}

impl RowKey {
    /// Where the row stands in the table.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.file, self.row)
    }
}

/// Rows with hashes up to a bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen {
    below: u64,
    seed: u64,
}

impl Chosen {
    /// About `count` of so many rows.
    pub(super) fn new(count: usize, rows: usize, seed: u64) -> Self {
        let share = (count as f64 / rows.max(1) as f64).min(1.0);
        let below = if share < 1.0 { (share * 2f64.powi(64)) as u64 } else { u64::MAX };
        Chosen { below, seed }
    }

    pub(super) fn key(&self, file: usize, row: usize) -> RowKey {
        // The same for a row in whatever order rows come.
        let bits = self.seed ^ (file as u64).wrapping_mul(0xd1b5_4a32_d192_ed03) ^ row as u64;
        RowKey { hash: mixed(mixed(bits)), file, row }
    }

    pub(super) fn has(&self, key: &RowKey) -> bool {
        key.hash <= self.below
    }
}

/// The rows of a [`Sample`](crate::Sample), which are no rows of [`shuffled`](crate::TableScan::shuffled) tables.
#[derive(Debug, Clone)]
pub struct SampledRows {
    pub(super) chosen: Chosen,
    /// File and row of those beside the chosen ones.
    pub(super) extra: Arc<HashSet<(usize, usize)>>,
}

impl SampledRows {
    pub(super) fn has(&self, file: usize, row: usize) -> bool {
        self.chosen.has(&self.chosen.key(file, row)) || self.extra.contains(&(file, row))
    }
}
