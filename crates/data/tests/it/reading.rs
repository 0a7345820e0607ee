//! What a CSV file means.

use std::time::{Duration, Instant};

use inducing_data::{Column, ColumnType, ReadOptions, read_table};

use crate::folder::{Folder, gzip, numbers, table_of, texts};

#[test]
fn each_column_gets_the_type_of_its_values() {
    let table = table_of(
        "t.csv",
        "n,b,c,d\n1,yes,red,2016-01-11 17:00:00\n-,No,blue,2016-01-12T00:00:00Z\n2.5e1,,red,2016-01-13\n",
    );
    assert_eq!(numbers(&table, "n")[0], 1.0);
    assert!(numbers(&table, "n")[1].is_nan());
    assert_eq!(table.columns()[1], Column::Boolean(vec![Some(true), Some(false), None]));
    assert_eq!(texts(&table, "c"), ["red", "blue", "red"].map(|text| Some(text.to_owned())));
    let day = 86_400_000_000;
    let first = 1_452_531_600_000_000;
    let midnight = first + 7 * day / 24;
    assert_eq!(table.columns()[3], Column::DateTime(vec![Some(first), Some(midnight), Some(midnight + day)]));
}

#[test]
fn byte_order_mark_crlf_padding_and_quotes_are_understood() {
    let table =
        table_of("t.csv", "\u{feff}\"a\", b ,c\r\n\" 12.5 \",  7,\"x, \"\"y\"\"\r\nz\"\r\n3,NA,w\r\n");
    assert_eq!(table.names(), ["a", "b", "c"]);
    assert_eq!(numbers(&table, "a"), [12.5, 3.0]);
    assert_eq!(numbers(&table, "b")[0], 7.0);
    assert_eq!(texts(&table, "c")[0].as_deref(), Some("x, \"y\"\r\nz"));
    assert_eq!((table.line(0), table.line(1)), (Some(2), Some(4)));
}

#[test]
fn gzip_is_seen_through_whatever_the_name_says() {
    for name in ["a.csv.gz", "a.csv", "a"] {
        let table = table_of(name, gzip(b"a,b\n1,2\n"));
        assert_eq!(numbers(&table, "b"), [2.0], "{name}");
    }
}

#[test]
fn an_unnamed_column_is_named_by_its_position() {
    let table = table_of("t.csv", ",a\n0,5\n1,6\n");
    assert_eq!(table.names(), ["column_1", "a"]);
}

#[test]
fn options_overrule_types_delimiter_and_missing_values() {
    let folder = Folder::new();
    let source = folder.write("t.csv", "zip:age:note\n10115:-999:x\n10117:40:y\n");
    let mut options = ReadOptions { delimiter: Some(':'), ..ReadOptions::default() };
    options.missing_values.push("-999".into());
    options.column_types.insert("zip".into(), ColumnType::Category);
    options.column_types.insert("note".into(), ColumnType::Ignore);
    let table = read_table(&source, &options).expect("readable");
    assert_eq!(table.names(), ["zip", "age"]);
    assert_eq!(texts(&table, "zip")[0].as_deref(), Some("10115"));
    assert!(numbers(&table, "age")[0].is_nan());
}

#[test]
fn a_column_without_values_is_numbers_all_missing() {
    let table = table_of("t.csv", "a,b\n1,\n2,NA\n");
    assert!(numbers(&table, "b").iter().all(|value| value.is_nan()));
}

#[test]
fn ten_thousand_columns_are_read_quickly() {
    let header: Vec<String> = (0..10_000).map(|i| format!("c{i}")).collect();
    let row: Vec<String> = (0..10_000).map(|i| format!("{}.5", i % 97)).collect();
    let mut content = header.join(",");
    for _ in 0..20 {
        content.push('\n');
        content.push_str(&row.join(","));
    }
    let start = Instant::now();
    let table = table_of("wide.csv", content);
    assert_eq!((table.columns().len(), table.rows()), (10_000, 20));
    // 200,000 cells take some 20 ms; a quadratic search among names would take minutes.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_once_and_still_inferred() {
    let folder = Folder::new();
    let path = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    let writer = {
        let path = path.clone();
        std::thread::spawn(move || std::fs::write(path, "a,b\n1,x\n2,y\n"))
    };
    let table = read_table(&folder.source("pipe"), &ReadOptions::default()).expect("readable");
    writer.join().expect("no panic").expect("writable");
    assert_eq!(numbers(&table, "a"), [1.0, 2.0]);
}
