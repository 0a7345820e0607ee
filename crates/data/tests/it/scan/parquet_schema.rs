//! Parquet files whose types follow from their schema.

use std::sync::Arc;

use inducing_data::arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use inducing_data::{Alone, ColumnType, RowWriter, Sink};

use super::{scan, shards};
use crate::folder::Folder;

fn write(folder: &Folder, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("equal lengths");
    let sink = Sink::Path(folder.path(name));
    let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
    writer.write(&batch).expect("writable");
    writer.finish().expect("writable");
}

fn numbers(rows: usize) -> ArrayRef {
    Arc::new((0..rows).map(|row| Some(row as f64)).collect::<Float64Array>())
}

fn kinds(folder: &Folder, pattern: &str) -> Vec<ColumnType> {
    let scan = scan(&shards(folder, pattern)).expect("readable");
    scan.columns.into_iter().map(|(_, kind)| kind).collect()
}

#[test]
fn the_scan_reads_no_page_of_numbers_and_the_sample_tells_the_place_of_a_broken_one() {
    let folder = Folder::new();
    write(&folder, "1.parquet", vec![("x", numbers(20_000))]);
    write(&folder, "2.parquet", vec![("x", numbers(20_000))]);
    let path = folder.path("2.parquet");
    let mut bytes = std::fs::read(&path).expect("there");
    let middle = bytes.len() / 2;
    bytes[4..middle].fill(0xff);
    std::fs::write(&path, bytes).expect("writable");
    let scan = scan(&shards(&folder, "*.parquet")).expect("the footer is whole");
    assert_eq!((scan.rows, scan.columns[0].1), (40_000, ColumnType::Number));
    let error = scan.sample(100, 7, None, &Alone).expect_err("a broken page");
    assert!(error.file.ends_with("2.parquet"), "{error}");
    assert_eq!((error.row, error.column.as_deref()), (Some(1), Some("x")));
}

#[test]
fn an_infinite_number_is_told_by_its_row_in_its_file() {
    let folder = Folder::new();
    write(&folder, "1.parquet", vec![("x", numbers(9000))]);
    let mut values: Vec<f64> = (0..9000).map(f64::from).collect();
    values[8500] = f64::INFINITY;
    write(&folder, "2.parquet", vec![("x", Arc::new(Float64Array::from(values)))]);
    let scan = scan(&shards(&folder, "*.parquet")).expect("types are clear");
    let error = scan.sample(100, 7, None, &Alone).expect_err("infinite");
    assert!(error.file.ends_with("2.parquet"), "{error}");
    assert_eq!((error.row, error.line), (Some(8501), None));
}

#[test]
fn columns_without_a_value_are_of_whatever_type_another_file_says() {
    let folder = Folder::new();
    let none: ArrayRef = Arc::new(BooleanArray::from(vec![None::<bool>; 3]));
    let nan: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN; 3]));
    let missing: ArrayRef = Arc::new(Int64Array::from(vec![None::<i64>; 3]));
    let texts = || Arc::new(StringArray::from(vec!["a", "b", "a"])) as ArrayRef;
    write(&folder, "1.parquet", vec![("b", none), ("f", nan), ("i", missing)]);
    assert_eq!(kinds(&folder, "1.*"), [ColumnType::Number; 3], "booleans too, as nothing shows them");
    write(&folder, "2.parquet", vec![("b", texts()), ("f", texts()), ("i", texts())]);
    assert_eq!(kinds(&folder, "*.parquet"), [ColumnType::Category; 3]);
    write(&folder, "3.parquet", vec![("b", numbers(3)), ("f", texts()), ("i", texts())]);
    let error = scan(&shards(&folder, "*.parquet")).expect_err("numbers after texts").to_string();
    assert!(error.contains("3.parquet: row 1: column `b`: a number here, but text in the rows"), "{error}");
}

#[test]
fn one_value_in_the_last_row_shows_a_column_of_booleans() {
    let folder = Folder::new();
    let values: BooleanArray = (0..10_000).map(|row| (row == 9999).then_some(true)).collect();
    write(&folder, "1.parquet", vec![("b", Arc::new(values))]);
    assert_eq!(kinds(&folder, "*.parquet"), [ColumnType::Boolean]);
}

#[test]
fn a_file_that_is_cut_off_is_named() {
    let folder = Folder::new();
    write(&folder, "1.parquet", vec![("x", numbers(100))]);
    write(&folder, "2.parquet", vec![("x", numbers(100))]);
    let bytes = std::fs::read(folder.path("2.parquet")).expect("there");
    folder.write("2.parquet", &bytes[..bytes.len() - 20]);
    let error = scan(&shards(&folder, "*.parquet")).expect_err("cut off").to_string();
    assert!(error.contains("2.parquet: not a readable parquet file"), "{error}");
}
