//! Which rows are in a sample, and that no row is in it twice or left out of all.

use std::collections::{BTreeMap, BTreeSet};

use inducing_data::{Alone, ColumnType, ReadOptions, TableScan};

use super::threads::together;
use super::{rest, sample, scan, seen, shards, texts};
use crate::folder::Folder;

/// Files with a number for each row; `level` gives its level.
fn table(files: usize, rows: usize, level: impl Fn(usize) -> String) -> Folder {
    let folder = Folder::new();
    for file in 0..files {
        let own = (file * rows..(file + 1) * rows).map(|id| format!("{id},{}\n", level(id)));
        folder.write(&format!("{file}.csv"), format!("id,level\n{}", own.collect::<String>()));
    }
    folder
}

fn counts(levels: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    levels.iter().for_each(|level| *counts.entry(level.as_str()).or_insert(0) += 1);
    counts
}

#[test]
fn each_level_has_three_rows_or_all_beside_those_that_are_drawn_anyway() {
    let level = |id: usize| match id {
        _ if id % 7500 == 5 => "rare",
        _ if id % 100 == 7 => "seldom",
        _ if id.is_multiple_of(10) => "",
        _ => "usual",
    };
    let folder = table(5, 3000, |id| level(id).to_owned());
    let scan = scan(&shards(&folder, "*.csv")).expect("readable");
    let (plain, stratified) = (sample(&scan, 200, None), sample(&scan, 200, Some("level")));
    let (levels, before) = (texts(&stratified.table, "level"), texts(&plain.table, "level"));
    let (found, before) = (counts(&levels), counts(&before));
    let seldom = before.get("seldom").copied().unwrap_or(0).max(3);
    assert_eq!((found["rare"], found["seldom"]), (2, seldom));
    assert_eq!((found["usual"], found[""]), (before["usual"], before[""]));
    let ids = |table| texts(table, "id").into_iter().collect::<BTreeSet<String>>();
    assert!(ids(&stratified.table).is_superset(&ids(&plain.table)));
    let others: Vec<String> =
        rest(&scan, &stratified.rows, 1000).iter().flat_map(|window| texts(window, "id")).collect();
    let all: BTreeSet<String> = others.iter().cloned().chain(ids(&stratified.table)).collect();
    assert_eq!((all.len(), others.len() + stratified.table.rows()), (15_000, 15_000));
}

#[test]
fn truth_values_are_levels_and_numbers_are_not() {
    let folder = table(2, 500, |id| if id == 77 { "yes" } else { "no" }.to_owned());
    let scan = scan(&shards(&folder, "*.csv")).expect("readable");
    let stratified = sample(&scan, 50, Some("level"));
    assert!(texts(&stratified.table, "id").contains(&"77".to_owned()));
    assert_eq!(seen(&sample(&scan, 50, Some("id")).table), seen(&sample(&scan, 50, None).table));
    let error = scan.sample(50, 7, Some("levle"), &Alone).expect_err("no such column");
    assert!(error.to_string().contains("did you mean `level`?"), "{error}");
}

#[test]
fn too_many_levels_are_no_strata_whoever_counts_them() {
    for (levels, are_strata) in [(1000, true), (1001, false)] {
        let folder = table(8, 500, |id| format!("l{}", id % levels));
        let source = shards(&folder, "*.csv");
        let alone = scan(&source).expect("readable");
        let (plain, stratified) = (sample(&alone, 100, None), sample(&alone, 100, Some("level")));
        assert_eq!(stratified.table.rows() > plain.table.rows(), are_strata);
        for size in 2..4 {
            let samples = together(size, |process| {
                let scan = TableScan::new(&source, &ReadOptions::default(), process).expect("readable");
                seen(&scan.sample(100, 7, Some("level"), process).expect("readable").table)
            });
            assert!(samples.iter().all(|sample| *sample == seen(&stratified.table)), "{size} {levels}");
        }
    }
}

#[test]
fn a_sample_of_several_processes_is_exact_in_every_type_of_column() {
    let folder = Folder::new();
    for file in 0..3 {
        let row = |row: usize| match row % 4 {
            0 => format!("{{\"n\": {}.1e-7, \"t\": \"2020-01-0{}\"}}\n", row + file, 1 + row % 9),
            1 => "{\"n\": null, \"b\": true, \"c\": \"ä, \\\"ö\\\"\"}\n".to_owned(),
            2 => format!("{{\"p\": \"these are four words {row} {file}\", \"b\": false}}\n"),
            _ => format!("{{\"n\": -0.0, \"c\": \"c{file}\", \"t\": \"1969-01-01\"}}\n"),
        };
        folder.write(&format!("{file}.jsonl"), (0..40).map(row).collect::<String>());
    }
    let source = shards(&folder, "*.jsonl");
    let alone = sample(&scan(&source).expect("readable"), 60, Some("c")).table;
    let kinds: BTreeSet<String> =
        alone.columns().iter().map(|column| column.column_type().to_string()).collect();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    let samples = together(2, |process| {
        let scan = TableScan::new(&source, &ReadOptions::default(), process).expect("readable");
        seen(&scan.sample(60, 7, Some("c"), process).expect("readable").table)
    });
    assert!(samples.iter().all(|sample| *sample == seen(&alone)));
}

#[test]
fn a_key_that_one_file_lacks_is_missing_in_its_rows() {
    let folder = Folder::new();
    folder.write("1.jsonl", "{\"x\": 1}\n".repeat(30));
    folder.write("2.jsonl", "{\"x\": 2, \"z\": 3}\n".repeat(30));
    let scan = scan(&shards(&folder, "*.jsonl")).expect("readable");
    let sample = sample(&scan, 20, None);
    let rows = rest(&scan, &sample.rows, 10).iter().map(|window| window.rows()).sum::<usize>();
    assert_eq!(rows + sample.table.rows(), 60);
}

#[test]
fn a_sample_of_no_rows_has_all_columns_that_are_read() {
    let folder = table(2, 10, |_| "a".to_owned());
    let mut options = ReadOptions::default();
    options.column_types.insert("id".into(), ColumnType::Ignore);
    let scan = TableScan::new(&shards(&folder, "*.csv"), &options, &Alone).expect("readable");
    let none = sample(&scan, 0, None).table;
    assert_eq!((none.rows(), none.names()), (0, &["level".to_owned()][..]));
}
