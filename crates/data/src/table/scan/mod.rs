//! Tables that do not fit into memory: one pass that finds types and counts rows, a sample of the rows, and all others in shuffled
//! blocks.
//!
//! `file_list.rs` compares the files of several processes, `file_part.rs`, `merge.rs` and `pass.rs` find the types, `chosen.rs`,
//! `strata.rs`, `sample.rs` and `assemble.rs` draw the sample, `shuffled.rs` reads the rest; `messages.rs` and `row_bytes.rs` are what
//! processes send each other.

mod assemble;
mod chosen;
pub(crate) mod file_list;
mod file_part;
pub(crate) mod merge;
mod messages;
pub(crate) mod pass;
mod row_bytes;
mod rows;
pub(crate) mod sample;
pub(crate) mod shuffled;
mod strata;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::file_list::FileList;
use self::pass::scan_files;
use crate::error::DataError;
use crate::io::input::Input;
use crate::io::source::Source;
use crate::table::Table;
use crate::table::blocks::Blocks;
use crate::table::dates::format::DateFormat;
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::read::whole_table;
use crate::together::Together;

/// Rows that are read at a time.
const BLOCK_ROWS: usize = 8192;

/// What a pass over a table found.
///
/// ```
/// use inducing_data::{Alone, Lane, ReadOptions, Source, TableScan};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("t.csv");
/// std::fs::write(&path, format!("x,c\n{}", "1,a\n2,b\n".repeat(500)))?;
/// let scan = TableScan::new(&Source::from(path.as_path()), &ReadOptions::default(), &Alone)?;
/// assert_eq!(scan.rows, 1000);
/// let sample = scan.sample(100, 7, Some("c"), &Alone)?;
/// let lane = Lane { index: 0, count: 1 };
/// let rest: usize = scan.shuffled(&sample.rows, 1, lane, 256).map(|window| Ok(window?.rows())).sum::<Result<_, inducing_data::DataError>>()?;
/// assert_eq!(sample.table.rows() + rest, 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TableScan {
    /// Names and types of the columns.
    pub columns: Vec<(String, ColumnType)>,
    /// Number of rows.
    pub rows: usize,
    options: ReadOptions,
    files: FileList,
}

impl TableScan {
    /// Reads all rows once, in memory that does not grow with them; each of several processes reads some of the files, and all get the same.
    ///
    /// # Errors
    /// If the table cannot be read, with the place of the first fault, or can be read only once, or processes have different files.
    pub fn new(source: &Source, options: &ReadOptions, together: &dyn Together) -> Result<Self, DataError> {
        let files = FileList::new(source);
        files.compare(together)?;
        let found = scan_files(&files, options, together)?;
        let options = ReadOptions { date_formats: found.date_formats, ..options.clone() };
        Ok(TableScan { columns: found.columns, rows: found.rows, options, files })
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
        Ok(self.described(table))
    }

    /// Names what was scanned, for one run to be told from another: the number of rows, and a checksum of the files that copies of them
    /// have too.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("{} rows in files of checksum {:08x}", self.rows, self.files.checksum())
    }

    /// Blocks of one file; nothing of one without a byte.
    fn open(&self, index: usize) -> Result<Option<Blocks>, DataError> {
        self.files.check_unchanged(index)?;
        let Some(input) = self.files.find(index)? else { return Ok(None) };
        let blocks = Blocks::open(input, &self.options, &self.columns, &[], BLOCK_ROWS)?;
        Ok(Some(blocks.of_scanned()))
    }

    /// The table with what the user and the scan know of its columns.
    fn described(&self, table: Table) -> Table {
        let dates = self.columns.iter().filter(|(_, kind)| *kind == ColumnType::DateTime);
        let format = |name: &String| Some((name.clone(), self.options.date_formats.of(name)?.clone()));
        let formats: BTreeMap<String, DateFormat> = dates.filter_map(|(name, _)| format(name)).collect();
        let declared = Arc::new(self.options.given().cloned().collect());
        table.with_declared(declared).with_date_formats(Arc::new(formats))
    }
}
