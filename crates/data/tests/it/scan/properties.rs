//! Random tables in random shards: however many processes read them, they find what one pass over one file finds.

use std::collections::BTreeMap;

use inducing_data::{
    Alone, ColumnType, DataError, ReadOptions, RowWriter, Sink, Source, TableScan, read_table,
};
use proptest::prelude::*;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::threads::together;
use super::{rest, sample, scan, seen, shards, texts};
use crate::folder::{Folder, gzip};

/// Cells that columns are made of, many of one row and few of another.
const POOLS: [&[&str]; 9] = [
    &["1", "2.5", "-3", "1e300", "20200131"],
    &["red", "green", "blue", "grün"],
    &["yes", "no", "TRUE", "false"],
    &["13/01/2020", "01/02/2020", "03/04/2020"],
    &["01/13/2020", "01/02/2020", "05/06/2020 12:00"],
    &["2020-01-13", "2020-02-29T10:00:00"],
    &["a film to remember", "not my kind of film", "four words are enough", "and here are five words"],
    &["", "NA"],
    &["1", "", "2"],
];

/// Rows of text, a first column of numbers that tells rows apart, and where files end.
#[derive(Debug)]
struct Shape {
    names: Vec<String>,
    rows: Vec<Vec<&'static str>>,
    /// Rows of each file.
    files: Vec<usize>,
}

fn shape(seed: u64) -> Shape {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let names: Vec<String> = (0..random.random_range(1..4)).map(|column| format!("c{column}")).collect();
    let pools: Vec<(&[&str], &[&str], f64)> = names
        .iter()
        .map(|_| {
            let mut pool = || *POOLS.choose(&mut random).expect("there are pools");
            let (most, few) = (pool(), pool());
            (most, few, *[0.0, 0.02, 0.3].choose(&mut random).expect("shares"))
        })
        .collect();
    let mut cell = |(most, few, share): &(&[&'static str], &[&'static str], f64)| {
        let pool = if random.random_bool(*share) { few } else { most };
        *pool.choose(&mut random).expect("cells")
    };
    let rows: Vec<Vec<&str>> = (0..80).map(|_| pools.iter().map(&mut cell).collect()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 1);
    let count = random.random_range(1..81);
    let rows = rows[..count].to_vec();
    let (mut files, mut left) = (Vec::new(), count);
    while left > 0 {
        files.push(random.random_range(0..=left.min(30)));
        left -= files.last().expect("just pushed");
    }
    Shape { names, rows, files }
}

impl Shape {
    /// Rows of a range as CSV with a header.
    fn csv(&self, rows: std::ops::Range<usize>) -> String {
        let lines = rows.map(|row| format!("{row},{}\n", self.rows[row].join(",")));
        format!("id,{}\n{}", self.names.join(","), lines.collect::<String>())
    }

    /// The same as JSON lines: missing cells have no key, what is written as a number is one.
    fn json(&self, rows: std::ops::Range<usize>) -> String {
        let line = |row: usize| {
            let cells = self.names.iter().zip(&self.rows[row]).filter(|(_, cell)| !cell.is_empty());
            let value = |cell: &str| match cell.parse::<f64>() {
                Ok(_) => cell.to_owned(),
                Err(_) => format!("{cell:?}"),
            };
            let cells: String = cells.map(|(name, cell)| format!(", {name:?}: {}", value(cell))).collect();
            format!("{{\"id\": {row}{cells}}}\n")
        };
        rows.map(line).collect()
    }

    /// The ranges of rows of each file.
    fn ranges(&self) -> Vec<std::ops::Range<usize>> {
        let mut end = 0;
        let range = |rows: &usize| {
            end += rows;
            end - rows..end
        };
        self.files.iter().map(range).collect()
    }

    /// Writes the rows in shards and in one file.
    fn write(&self, folder: &Folder, format: &str) -> (Source, Source) {
        let content = |rows: std::ops::Range<usize>| match format {
            "jsonl" => self.json(rows).into_bytes(),
            "csv.gz" => gzip(self.csv(rows).as_bytes()),
            _ => self.csv(rows).into_bytes(),
        };
        for (index, rows) in self.ranges().into_iter().enumerate() {
            // Some of the files without rows have no header either.
            let empty = rows.is_empty() && index % 2 == 0;
            folder
                .write(&format!("part-{index:03}.{format}"), if empty { Vec::new() } else { content(rows) });
        }
        let whole = folder.write(&format!("whole.{format}"), content(0..self.rows.len()));
        (shards(folder, "part-*"), whole)
    }

    /// File and line of a line of the whole file.
    fn place(&self, line: u64, header: u64) -> (usize, u64) {
        let row = (line - 1 - header) as usize;
        let (file, rows) =
            self.ranges().into_iter().enumerate().find(|(_, rows)| rows.contains(&row)).expect("a row");
        (file, (row - rows.start) as u64 + 1 + header)
    }
}

/// The error of the whole file, with its place in the shards.
fn expected(shape: &Shape, error: &DataError, header: u64) -> (String, Option<u64>, Option<String>, String) {
    let (file, line) = match error.line {
        Some(line) => {
            let (file, line) = shape.place(line, header);
            (format!("part-{file:03}"), Some(line))
        }
        None => (String::new(), None),
    };
    (file, line, error.column.clone(), without_places(error))
}

/// A message without the places of other cells.
fn without_places(error: &DataError) -> String {
    let message = error.problem.to_string();
    message.split(" in line ").next().unwrap_or_default().to_owned()
}

fn check(shape: &Shape, format: &str) -> Result<(), TestCaseError> {
    let folder = Folder::new();
    let (source, whole) = shape.write(&folder, format);
    let header = u64::from(format != "jsonl");
    let one = match (scan(&whole), scan(&source)) {
        (Err(whole), Err(error)) => {
            let (file, line, column, message) = expected(shape, &whole, header);
            prop_assert!(error.file.contains(&file), "{} {}", whole, error);
            prop_assert_eq!((error.line, &error.column, without_places(&error)), (line, &column, message));
            return same_error(&source, &error);
        }
        (Ok(whole), Ok(one)) => {
            prop_assert_eq!(sorted(&whole), sorted(&one));
            prop_assert_eq!(whole.rows, one.rows);
            one
        }
        (whole, one) => panic!("{whole:?} {one:?}"),
    };
    // Dates are read in the formats that were found.
    let read = read_table(&source, &ReadOptions::default()).expect("readable");
    let read_whole = read_table(&whole, &ReadOptions::default()).expect("readable");
    for name in read.names() {
        prop_assert_eq!(texts(&read, name), texts(&read_whole, name));
    }
    let strata = Some("c0").filter(|name| one.columns.iter().any(|(known, _)| known == name));
    let drawn = sample(&one, 20, strata);
    let windows = rest(&one, &drawn.rows, 16);
    let mut ids: Vec<usize> = std::iter::once(&drawn.table)
        .chain(&windows)
        .flat_map(|table| texts(table, "id"))
        .map(|id| id.parse().expect("a number"))
        .collect();
    ids.sort_unstable();
    prop_assert_eq!(ids, (0..shape.rows.len()).collect::<Vec<_>>());
    let windows: Vec<String> = windows.iter().map(seen).collect();
    for size in 2..5 {
        let found = together(size, |process| {
            let scan = TableScan::new(&source, &ReadOptions::default(), process).expect("readable");
            let sample = scan.sample(20, 7, strata, process).expect("readable");
            let windows: Vec<String> = rest(&scan, &sample.rows, 16).iter().map(seen).collect();
            (scan.columns.clone(), scan.rows, scan.fingerprint(), seen(&sample.table), windows)
        });
        for found in found {
            let alone =
                (one.columns.clone(), one.rows, one.fingerprint(), seen(&drawn.table), windows.clone());
            prop_assert_eq!(found, alone);
        }
    }
    Ok(())
}

/// Every one of several processes gets this error.
fn same_error(source: &Source, error: &DataError) -> Result<(), TestCaseError> {
    for size in 2..5 {
        let errors = together(size, |process| {
            TableScan::new(source, &ReadOptions::default(), process).map(|_| ()).map_err(|e| e.to_string())
        });
        for told in errors {
            prop_assert_eq!(told, Err(error.to_string()));
        }
    }
    Ok(())
}

/// Types by name: keys of JSON lines come in the order in which rows have them.
fn sorted(scan: &TableScan) -> BTreeMap<&String, ColumnType> {
    scan.columns.iter().map(|(name, kind)| (name, *kind)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn processes_find_in_csv_what_one_pass_over_one_file_finds(seed: u64, zipped: bool) {
        check(&shape(seed), if zipped { "csv.gz" } else { "csv" })?;
    }

    #[test]
    fn processes_find_in_json_lines_what_one_pass_over_one_file_finds(seed: u64) {
        check(&shape(seed), "jsonl")?;
    }

    #[test]
    fn processes_find_in_parquet_what_one_pass_over_one_file_finds(seed: u64) {
        let shape = shape(seed);
        let folder = Folder::new();
        // Parquet of the types that the whole table has.
        let csv = folder.write("whole.csv", shape.csv(0..shape.rows.len()));
        let Ok(table) = read_table(&csv, &ReadOptions::default()) else { return Ok(()) };
        let write = |name: &str, rows: std::ops::Range<usize>| {
            let batch = table.select(&rows.collect::<Vec<_>>()).to_batch().expect("columns");
            let sink = Sink::Path(folder.path(name));
            let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
            writer.write(&batch).expect("writable");
            writer.finish().expect("writable");
        };
        write("whole.parquet", 0..shape.rows.len());
        for (index, rows) in shape.ranges().into_iter().enumerate() {
            write(&format!("part-{index:03}.parquet"), rows);
        }
        let source = shards(&folder, "part-*");
        let whole = TableScan::new(&folder.source("whole.parquet"), &ReadOptions::default(), &Alone);
        let whole = whole.expect("readable");
        let alone = scan(&source).expect("readable");
        let drawn = seen(&sample(&alone, 20, Some("c0")).table);
        prop_assert_eq!((&alone.columns, alone.rows), (&whole.columns, whole.rows));
        for size in 2..4 {
            let found = together(size, |process| {
                let scan = TableScan::new(&source, &ReadOptions::default(), process).expect("readable");
                let sample = scan.sample(20, 7, Some("c0"), process).expect("readable");
                (scan.columns, scan.rows, seen(&sample.table))
            });
            for (columns, rows, sample) in found {
                prop_assert_eq!((&columns, rows, &sample), (&alone.columns, alone.rows, &drawn));
            }
        }
    }
}
