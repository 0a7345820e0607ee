//! Columns carried along keep their type.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow_schema::DataType;
use inducing_data::{ColumnType, DataError, Problem, ReadOptions, RowWriter, Sink, Source, read_blocks};

use crate::folder::Folder;

/// Carries columns from one file into another, in blocks of two rows.
fn carry(source: &Source, keep: &[&str], sink: &Sink) -> Result<(), DataError> {
    let columns = [("x".to_owned(), ColumnType::Number)];
    let keep: Vec<String> = keep.iter().map(|name| (*name).to_owned()).collect();
    let blocks = read_blocks(source, &ReadOptions::default(), &columns, &keep, 2)?;
    let mut writer = RowWriter::create(sink, None, blocks.passthrough_schema())?;
    for block in blocks {
        writer.write(&block?.passthrough)?;
    }
    writer.finish()
}

fn carried(name: &str, content: &str, keep: &[&str], out: &str) -> (Folder, String) {
    let folder = Folder::new();
    let source = folder.write(name, content);
    carry(&source, keep, &Sink::Path(folder.path(out))).expect("writable");
    let text = std::fs::read(folder.path(out)).expect("readable");
    let text = String::from_utf8_lossy(&text).into_owned();
    (folder, text)
}

const CSV: &str = "id,zip,ok,note,x\n1,00501,true,1.50,1\n2,10115,false,NA,2\n3,,true,2,3\n";
const KEEP: [&str; 4] = ["id", "zip", "ok", "note"];

#[test]
fn numbers_from_csv_are_numbers_in_json_lines_and_text_in_csv() {
    let (_folder, json) = carried("t.csv", CSV, &KEEP, "out.jsonl");
    assert_eq!(
        json,
        "{\"id\":1,\"zip\":\"00501\",\"ok\":true,\"note\":1.5}\n\
         {\"id\":2,\"zip\":\"10115\",\"ok\":false,\"note\":null}\n\
         {\"id\":3,\"zip\":\"\",\"ok\":true,\"note\":2}\n"
    );
    let (_folder, csv) = carried("t.csv", CSV, &KEEP, "out.csv");
    assert_eq!(csv, "id,zip,ok,note\n1,00501,true,1.50\n2,10115,false,NA\n3,,true,2\n");
}

#[test]
fn numbers_from_csv_are_numbers_in_parquet() {
    let (folder, _) = carried("t.csv", CSV, &KEEP, "out.parquet");
    let source = folder.source("out.parquet");
    let columns = [("id".to_owned(), ColumnType::Number)];
    let keep = KEEP.map(String::from);
    let blocks = read_blocks(&source, &ReadOptions::default(), &columns, &keep, 10).expect("readable");
    let types: Vec<DataType> =
        blocks.passthrough_schema().fields().iter().map(|f| f.data_type().clone()).collect();
    assert_eq!(types, [DataType::Int64, DataType::Utf8, DataType::Boolean, DataType::Float64]);
}

#[test]
fn json_values_keep_their_type_and_strings_of_digits_stay_strings() {
    let lines = "{\"id\": \"5\", \"n\": 12345678901234567890, \"t\": \"a\\\"b\", \"x\": 1}\n\
                 {\"id\": \"6\", \"n\": 2, \"x\": 2}\n{\"id\": \"7\", \"n\": 3.5, \"t\": null, \"x\": 1}\n";
    let (_folder, json) = carried("t.jsonl", lines, &["id", "n", "t"], "out.jsonl");
    assert_eq!(
        json,
        "{\"id\":\"5\",\"n\":\"12345678901234567890\",\"t\":\"a\\\"b\"}\n\
         {\"id\":\"6\",\"n\":\"2\",\"t\":null}\n{\"id\":\"7\",\"n\":3.5,\"t\":null}\n",
        "a number beyond 64 bits makes its block text"
    );
    let (_folder, csv) = carried("t.jsonl", lines, &["id", "n", "t"], "out.csv");
    assert_eq!(csv, "id,n,t\n5,12345678901234567890,\"a\"\"b\"\n6,2,\n7,3.5,\n");
}

#[test]
fn a_parquet_column_that_stops_being_numbers_is_told() {
    let folder = Folder::new();
    let source = folder.write("t.csv", "id,x\n1,1\n2,1\nA7,1\n");
    let error = carry(&source, &["id"], &Sink::Path(folder.path("o.parquet"))).expect_err("text now");
    assert_eq!(*error.problem, Problem::PassthroughTypeChanged { column: "id".into() });
    assert!(error.hint().is_some_and(|hint| hint.contains("jsonl")));
    assert_eq!(folder.names(), ["t.csv"], "nothing half written stays");
    let source = folder.write("t.csv", "id,x\n1,1\n2,1\n2.5,1\n");
    assert!(carry(&source, &["id"], &Sink::Path(folder.path("o.parquet"))).is_err());
    let source = folder.write("t.csv", "id,x\nA,1\n2,1\n3,1\n");
    carry(&source, &["id"], &Sink::Path(folder.path("o.parquet"))).expect("text holds everything");
}

#[test]
fn a_file_without_rows_is_still_a_parquet_file() {
    let (folder, _) = carried("t.csv", "id,x\n", &["id"], "out.parquet");
    let columns = [("id".to_owned(), ColumnType::Category)];
    let blocks = read_blocks(&folder.source("out.parquet"), &ReadOptions::default(), &columns, &[], 10);
    assert_eq!(blocks.expect("readable").count(), 0);
}

#[test]
fn zoned_times_are_carried_into_text_formats() {
    let folder = Folder::new();
    let times = TimestampMicrosecondArray::from(vec![Some(1_452_531_600_000_000), None]);
    let batch = RecordBatch::try_from_iter([
        ("t", Arc::new(times.with_timezone("UTC")) as ArrayRef),
        ("x", Arc::new(Int64Array::from(vec![1, 2]))),
    ])
    .expect("equal lengths");
    let sink = Sink::Path(folder.path("t.parquet"));
    let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
    writer.write(&batch).and_then(|()| writer.finish()).expect("writable");
    for (out, expected) in [
        ("o.csv", "t,x\n2016-01-11T17:00:00Z,1\n,2\n"),
        ("o.jsonl", "{\"t\":\"2016-01-11T17:00:00Z\",\"x\":1}\n{\"t\":null,\"x\":2}\n"),
    ] {
        carry(&folder.source("t.parquet"), &["t", "x"], &Sink::Path(folder.path(out))).expect("writable");
        assert_eq!(std::fs::read_to_string(folder.path(out)).expect("readable"), expected);
    }
}
