//! Parquet and JSON lines, whose cells have types.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use inducing_data::{Column, ColumnType, Problem, ReadOptions, RowWriter, Sink, Source, read_table};

use crate::folder::{Folder, assert_place, numbers, table_of, texts};

fn parquet(folder: &Folder, columns: Vec<(&str, ArrayRef)>) -> Source {
    let batch = RecordBatch::try_from_iter(columns).expect("equal lengths");
    let sink = Sink::Path(folder.path("t.parquet"));
    let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
    writer.write(&batch).and_then(|()| writer.finish()).expect("writable");
    folder.source("t.parquet")
}

#[test]
fn parquet_types_map_to_columns_and_null_is_missing() {
    let folder = Folder::new();
    let decimal = Decimal128Array::from(vec![125, -50]).with_precision_and_scale(9, 2).expect("fits");
    let levels: DictionaryArray<Int32Type> = vec![Some("red"), None].into_iter().collect();
    let stamps = TimestampMillisecondArray::from(vec![Some(1500), None]).with_timezone("+02:00");
    let source = parquet(
        &folder,
        vec![
            ("i", Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef),
            ("f", Arc::new(Float32Array::from(vec![0.5, f32::NAN]))),
            ("m", Arc::new(decimal)),
            ("b", Arc::new(BooleanArray::from(vec![Some(true), None]))),
            ("s", Arc::new(StringArray::from(vec!["x", "NA"]))),
            ("c", Arc::new(levels)),
            ("d", Arc::new(Date32Array::from(vec![1, 2]))),
            ("t", Arc::new(stamps)),
        ],
    );
    let table = read_table(&source, &ReadOptions::default()).expect("readable");
    assert_eq!(numbers(&table, "i")[0], 1.0);
    assert!(numbers(&table, "i")[1].is_nan() && numbers(&table, "f")[1].is_nan());
    assert_eq!(numbers(&table, "m"), [1.25, -0.5]);
    assert_eq!(table.columns()[3], Column::Boolean(vec![Some(true), None]));
    assert_eq!(texts(&table, "s"), [Some("x".into()), None]);
    assert_eq!(texts(&table, "c"), [Some("red".into()), None]);
    assert_eq!(table.columns()[6], Column::DateTime(vec![Some(86_400_000_000), Some(172_800_000_000)]));
    assert_eq!(table.columns()[7], Column::DateTime(vec![Some(1_500_000), None]));
    assert_eq!(table.line(0), None);
}

#[test]
fn binary_parquet_columns_are_refused_and_can_be_ignored() {
    let folder = Folder::new();
    let binary: ArrayRef = Arc::new(BinaryArray::from(vec![b"x".as_slice()]));
    let source =
        parquet(&folder, vec![("a", Arc::new(Int64Array::from(vec![1])) as ArrayRef), ("raw", binary)]);
    let mut options = ReadOptions::default();
    let error = read_table(&source, &options).expect_err("binary");
    assert_place(&error, "t.parquet", None, Some("raw"));
    assert_eq!(error.hint().as_deref(), Some("set `data.columns.raw = \"ignore\"`"));
    options.column_types.insert("raw".into(), ColumnType::Ignore);
    assert_eq!(read_table(&source, &options).expect("readable").names(), ["a"]);
}

#[test]
fn an_infinite_number_in_parquet_is_told_by_its_row() {
    let folder = Folder::new();
    let source =
        parquet(&folder, vec![("x", Arc::new(Float32Array::from(vec![1.0, f32::INFINITY])) as ArrayRef)]);
    let error = read_table(&source, &ReadOptions::default()).expect_err("infinite");
    assert_place(&error, "t.parquet", None, Some("x"));
    assert_eq!(error.row, Some(2));
    assert!(matches!(*error.problem, Problem::InfiniteNumber { .. }));
}

#[test]
fn large_integers_stay_apart_as_categories() {
    let folder = Folder::new();
    let ids = Int64Array::from(vec![9_007_199_254_740_992, 9_007_199_254_740_993]);
    let source = parquet(&folder, vec![("id", Arc::new(ids) as ArrayRef)]);
    let mut options = ReadOptions::default();
    options.column_types.insert("id".into(), ColumnType::Category);
    let table = read_table(&source, &options).expect("readable");
    assert_eq!(texts(&table, "id")[1].as_deref(), Some("9007199254740993"));
}

#[test]
fn parquet_is_recognised_under_any_name() {
    let folder = Folder::new();
    parquet(&folder, vec![("x", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef)]);
    std::fs::rename(folder.path("t.parquet"), folder.path("t.csv")).expect("writable");
    let table = read_table(&folder.source("t.csv"), &ReadOptions::default()).expect("readable");
    assert_eq!(numbers(&table, "x"), [1.0, 2.0]);
}

#[test]
fn json_rows_may_lack_keys_and_bring_new_ones() {
    let table = table_of(
        "t.jsonl",
        "{\"a\": 1, \"b\": true}\n{\"c\": \"x\\ny\", \"a\": null}\n\n{\"b\": false, \"a\": -2.5, \"c\": \"NA\"}\n",
    );
    assert_eq!(table.names(), ["a", "b", "c"]);
    assert_eq!((numbers(&table, "a")[0], numbers(&table, "a")[2]), (1.0, -2.5));
    assert!(numbers(&table, "a")[1].is_nan());
    assert_eq!(table.columns()[1], Column::Boolean(vec![Some(true), None, Some(false)]));
    assert_eq!(texts(&table, "c"), [None, Some("x\ny".into()), None]);
    assert_eq!(table.line(2), Some(4));
}

#[test]
fn json_dates_are_dates() {
    let table = table_of("t.jsonl", "{\"d\": \"1970-01-02\"}\n{\"d\": null}\n");
    assert_eq!(table.columns()[0], Column::DateTime(vec![Some(86_400_000_000), None]));
}

#[test]
fn a_declared_category_may_mix_json_types() {
    let folder = Folder::new();
    let mut options = ReadOptions::default();
    options.column_types.insert("a".into(), ColumnType::Category);
    let source = folder.write("t.jsonl", "{\"a\": 1}\n{\"a\": \"red\"}\n");
    let table = read_table(&source, &options).expect("readable");
    assert_eq!(texts(&table, "a"), [Some("1".into()), Some("red".into())]);
}
