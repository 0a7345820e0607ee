//! Tables in files that several processes read together.

mod faults;
mod files;
mod parquet_schema;
mod properties;
mod sampling;
mod threads;

use inducing_data::{
    Alone, DataError, Lane, ReadOptions, Sample, SampledRows, Shards, Source, Table, TableScan,
};

use crate::folder::Folder;

/// The files of a pattern, as a table.
fn shards(folder: &Folder, pattern: &str) -> Source {
    let name = folder.path(pattern).display().to_string();
    Source::Shards(Shards::recognise(&name).expect("a pattern").expect("files match"))
}

fn scan(source: &Source) -> Result<TableScan, DataError> {
    TableScan::new(source, &ReadOptions::default(), &Alone)
}

fn sample(scan: &TableScan, count: usize, strata: Option<&str>) -> Sample {
    scan.sample(count, 7, strata, &Alone).expect("readable")
}

/// The rows beside a sample, window by window.
fn rest(scan: &TableScan, sample: &SampledRows, window: usize) -> Vec<Table> {
    let lane = Lane { index: 0, count: 1 };
    scan.shuffled(sample, 3, lane, window).map(|window| window.expect("readable")).collect()
}

/// A column as it is printed.
fn texts(table: &Table, column: &str) -> Vec<String> {
    let column = table.column(column).expect("there");
    (0..table.rows()).map(|row| column.text(row)).collect()
}

/// All there is to see of a table.
fn seen(table: &Table) -> String {
    let places: Vec<_> = (0..table.rows()).map(|row| (table.file_of(row), table.line(row))).collect();
    format!("{} {:?} {:?} {places:?}", table.file(), table.names(), table.columns())
}
