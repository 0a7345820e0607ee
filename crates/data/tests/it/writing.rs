//! Files out.

use inducing_data::{Problem, RowWriter, Sink};

use crate::folder::{Folder, table_of};

#[test]
fn nothing_half_written_stays() {
    let folder = Folder::new();
    let batch = table_of("t.csv", "a,b\n1,x\n").to_batch().expect("two columns");
    let sink = Sink::Path(folder.path("out.csv"));
    let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
    writer.write(&batch).expect("writable");
    drop(writer);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
    writer.write(&batch).expect("writable");
    writer.write(&batch).expect("writable");
    writer.finish().expect("writable");
    assert_eq!(folder.names(), ["out.csv"]);
    assert_eq!(std::fs::read_to_string(folder.path("out.csv")).expect("readable"), "a,b\n1.0,x\n1.0,x\n");
}

#[test]
fn no_rows_still_make_a_header() {
    let folder = Folder::new();
    let batch = table_of("t.csv", "a,b\n1,x\n").to_batch().expect("two columns");
    let sink = Sink::Path(folder.path("out.tsv"));
    RowWriter::create(&sink, None, batch.schema()).expect("writable").finish().expect("writable");
    assert_eq!(std::fs::read_to_string(folder.path("out.tsv")).expect("readable"), "a\tb\n");
}

#[test]
fn json_lines_say_null() {
    let folder = Folder::new();
    let batch = table_of("t.csv", "a,b\n1,x\n,y\n").to_batch().expect("two columns");
    let sink = Sink::Path(folder.path("out.jsonl"));
    let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
    writer.write(&batch).and_then(|()| writer.finish()).expect("writable");
    let text = std::fs::read_to_string(folder.path("out.jsonl")).expect("readable");
    assert_eq!(text, "{\"a\":1.0,\"b\":\"x\"}\n{\"a\":null,\"b\":\"y\"}\n");
}

#[test]
fn rows_of_another_schema_are_refused() {
    let folder = Folder::new();
    let first = table_of("t.csv", "a,b\n1,x\n").to_batch().expect("two columns");
    let second = table_of("t.csv", "a,c\n1,x\n").to_batch().expect("two columns");
    let sink = Sink::Path(folder.path("out.csv"));
    let mut writer = RowWriter::create(&sink, None, first.schema()).expect("writable");
    let error = writer.write(&second).expect_err("another schema");
    assert!(matches!(*error.problem, Problem::Unwritable { .. }));
}

#[test]
fn a_folder_cannot_be_written_over() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("d")).expect("writable");
    let schema = table_of("t.csv", "a,b\n1,x\n").to_batch().expect("two columns").schema();
    let error = RowWriter::create(&Sink::Path(folder.path("d")), None, schema).err().expect("a folder");
    assert_eq!(*error.problem, Problem::IsDirectory);
}
