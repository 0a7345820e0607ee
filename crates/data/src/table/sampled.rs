//! Tables that do not fit into memory: one pass that finds types and counts rows, a sample of the rows, and all others in shuffled
//! blocks.

use std::path::Path;
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::error::{DataError, Problem};
use crate::io::input::Input;
use crate::io::source::Source;
use crate::table::Table;
use crate::table::blocks::{Block, Blocks};
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::read::{inferred_types, whole_table};

/// Rows that are read at a time.
const BLOCK_ROWS: usize = 8192;
/// Files that are read side by side, so that rows of several mix.
const OPEN_FILES: usize = 4;

/// What a pass over a table found.
///
/// ```
/// use inducing_data::{Lane, ReadOptions, Source, TableScan};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("t.csv");
/// std::fs::write(&path, format!("x,c\n{}", "1,a\n2,b\n".repeat(500)))?;
/// let scan = TableScan::new(&Source::from(path.as_path()), &ReadOptions::default())?;
/// assert_eq!(scan.rows, 1000);
/// let sample = scan.sample(100, 7)?;
/// let rest: usize = scan.shuffled(100, 7, 1, Lane { index: 0, count: 1 }, 256).map(|window| Ok(window?.rows())).sum::<Result<_, inducing_data::DataError>>()?;
/// assert_eq!(sample.rows() + rest, 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TableScan {
    /// Names and types of the columns.
    pub columns: Vec<(String, ColumnType)>,
    /// Number of rows.
    pub rows: usize,
    options: ReadOptions,
    files: Vec<Source>,
    /// Size and time of each file when it was scanned.
    stamps: Vec<Option<Stamp>>,
}

impl TableScan {
    /// Reads all rows once, in constant memory.
    ///
    /// # Errors
    /// If the table cannot be read, with the place of the first fault, or can be read only once.
    pub fn new(source: &Source, options: &ReadOptions) -> Result<Self, DataError> {
        let files: Vec<Source> = match source {
            Source::Shards(shards) => shards.paths().iter().cloned().map(Source::Path).collect(),
            other => vec![other.clone()],
        };
        let stamps = files.iter().map(stamp).collect();
        let mut input = Input::find(source, true)?;
        let (columns, date_formats, rows) = inferred_types(&mut input, options)?;
        let options = ReadOptions { date_formats, ..options.clone() };
        Ok(TableScan { columns, rows, options, files, stamps })
    }

    /// Bytes that the table takes in memory, about: a number for each cell as it was read, and one as it is learned from.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let of_column = |kind: &ColumnType| match kind {
            ColumnType::Ignore => 0,
            ColumnType::Number | ColumnType::Boolean => 16,
            ColumnType::Category | ColumnType::DateTime => 48,
            ColumnType::Text => 1024,
        };
        self.columns.iter().map(|(_, kind)| of_column(kind)).sum::<u64>() * self.rows as u64
    }

    /// Some `count` of the rows, chosen by `seed`, the same in whatever order files are read.
    ///
    /// # Errors
    /// If the files changed since they were scanned.
    pub fn sample(&self, count: usize, seed: u64) -> Result<Table, DataError> {
        let chosen = Chosen::new(count, self.rows, seed);
        let mut sample: Option<Table> = None;
        for (index, file) in self.files.iter().enumerate() {
            let Some(blocks) = self.open(index, file)? else { continue };
            for block in blocks {
                let block = block?;
                let own: Vec<usize> =
                    rows_of(&block).filter(|row| chosen.has(index, block.first_row + row)).collect();
                let own = block.table.select(&own);
                sample = Some(match sample {
                    None => own,
                    Some(sample) => sample.followed_by(own),
                });
            }
        }
        let declared = Arc::new(self.options.given().cloned().collect());
        Ok(sample.expect("a scanned table has rows").with_declared(declared))
    }

    /// All rows but those of the sample of `count` by `seed`, in tables of at least `window` rows but for the last: files in an order
    /// that `shuffle` decides, several side by side.
    pub fn shuffled(&self, count: usize, seed: u64, shuffle: u64, lane: Lane, window: usize) -> ShuffledRows {
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(shuffle));
        let order = order.into_iter().skip(lane.index).step_by(lane.count).collect();
        let chosen = Chosen::new(count, self.rows, seed);
        ShuffledRows { scan: self.clone(), order, chosen, window, open: Vec::new(), turn: 0 }
    }

    /// Number of files.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// All rows, in memory.
    ///
    /// # Errors
    /// If the files changed since they were scanned.
    pub fn read(&self, source: &Source) -> Result<Table, DataError> {
        let table = whole_table(Input::find(source, false)?, &self.options, &self.columns)?;
        Ok(table.with_declared(Arc::new(self.options.given().cloned().collect())))
    }

    /// Names what was scanned, for one run to be told from another: rows and sizes of files.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let sizes: Vec<String> =
            self.stamps.iter().map(|stamp| stamp.map_or(0, |(size, _)| size).to_string()).collect();
        format!("{} rows in files of {} bytes", self.rows, sizes.join(", "))
    }

    /// Blocks of one file; nothing of one without a byte.
    fn open(&self, index: usize, file: &Source) -> Result<Option<Blocks>, DataError> {
        if stamp(file) != self.stamps[index] {
            return Err(DataError::new(file.to_string(), Problem::FileChanged));
        }
        if let Source::Path(path) = file
            && is_empty(path)
        {
            return Ok(None);
        }
        Blocks::open(Input::find(file, false)?, &self.options, &self.columns, &[], BLOCK_ROWS).map(Some)
    }
}

/// Every `count`-th of the files, from `index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// From 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

/// What changes when a file does.
type Stamp = (u64, std::time::SystemTime);

fn stamp(file: &Source) -> Option<Stamp> {
    let Source::Path(path) = file else { return None };
    let metadata = path.metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn is_empty(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
}

fn rows_of(block: &Block) -> std::ops::Range<usize> {
    0..block.table.rows()
}

/// Which rows are in a sample.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    below: u64,
    seed: u64,
}

impl Chosen {
    fn new(count: usize, rows: usize, seed: u64) -> Self {
        let share = (count as f64 / rows.max(1) as f64).min(1.0);
        let below = if share < 1.0 { (share * 2f64.powi(64)) as u64 } else { u64::MAX };
        Chosen { below, seed }
    }

    fn has(&self, file: usize, row: usize) -> bool {
        // SplitMix64: the same for a row in whatever order rows come.
        let mut bits = self.seed ^ (file as u64).wrapping_mul(0xd1b5_4a32_d192_ed03) ^ row as u64;
        for _ in 0..2 {
            bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bits ^= bits >> 31;
        }
        bits <= self.below
    }
}

/// Iterator over the rows of [`TableScan::shuffled`].
pub struct ShuffledRows {
    scan: TableScan,
    /// Files that were not opened yet, the next one last.
    order: Vec<usize>,
    chosen: Chosen,
    window: usize,
    open: Vec<(usize, Blocks)>,
    turn: usize,
}

impl ShuffledRows {
    /// The rows of the next block that count.
    fn next_block(&mut self) -> Result<Option<Table>, DataError> {
        loop {
            while self.open.len() < OPEN_FILES
                && let Some(index) = self.order.pop()
            {
                let file = self.scan.files[index].clone();
                self.open.extend(self.scan.open(index, &file)?.map(|blocks| (index, blocks)));
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
                    let counts = |row: &usize| !self.chosen.has(*index, block.first_row + row);
                    let rows: Vec<usize> = rows_of(&block).filter(counts).collect();
                    return Ok(Some(block.table.select(&rows)));
                }
            }
        }
    }

    fn next_window(&mut self) -> Result<Option<Table>, DataError> {
        let mut window: Option<Table> = None;
        while window.as_ref().is_none_or(|window| window.rows() < self.window) {
            let Some(block) = self.next_block()? else { break };
            window = Some(match window {
                None => block,
                Some(window) => window.followed_by(block),
            });
        }
        Ok(window.filter(|window| window.rows() > 0))
    }
}

impl Iterator for ShuffledRows {
    type Item = Result<Table, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_window().transpose()
    }
}
