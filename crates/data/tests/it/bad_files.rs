//! Each way a file can be broken, with the exact place and a remedy.

use inducing_data::{Format, Problem, ReadOptions, Sink, Source, read_table};

use crate::folder::{Folder, assert_place, error_of, gzip, numbers, table_of};

#[test]
fn a_path_that_does_not_exist_is_told() {
    let error = read_table(&Folder::new().source("no.csv"), &ReadOptions::default()).expect_err("no file");
    assert_place(&error, "no.csv", None, None);
    assert_eq!(*error.problem, Problem::NoSuchFile);
}

#[test]
fn a_folder_is_not_a_table() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("d.csv")).expect("writable");
    let error = read_table(&folder.source("d.csv"), &ReadOptions::default()).expect_err("a folder");
    assert_place(&error, "d.csv", None, None);
    assert_eq!(*error.problem, Problem::IsDirectory);
}

#[test]
fn an_empty_file_is_told_in_every_format() {
    for (name, content) in
        [("e.csv", ""), ("e.csv", "\n\n"), ("e.jsonl", ""), ("e.jsonl", "\n"), ("e.parquet", "")]
    {
        let error = error_of(name, content);
        assert_place(&error, name, None, None);
        assert_eq!(*error.problem, Problem::Empty, "{name}");
    }
    assert_eq!(*error_of("e.csv.gz", gzip(b"")).problem, Problem::Empty);
}

#[test]
fn a_header_without_rows_is_told() {
    for content in ["a,b,c\n", "a,b,c", "\u{feff}a,b,c\r\n\r\n"] {
        let error = error_of("h.csv", content);
        assert_place(&error, "h.csv", None, None);
        assert_eq!(*error.problem, Problem::HeaderOnly { columns: 3 });
    }
}

#[test]
fn a_ragged_row_is_told_at_its_physical_line() {
    let error = error_of("r.csv", "a,b\n1,2\n3\n");
    assert_place(&error, "r.csv", Some(3), None);
    assert_eq!(*error.problem, Problem::RaggedRow { expected: 2, got: 1 });
    let error = error_of("r.csv", "a,b\r\n1,\"two\r\nlines\"\r\n\r\n3,4,5\r\n");
    assert_place(&error, "r.csv", Some(5), None);
    assert_eq!(*error.problem, Problem::RaggedRow { expected: 2, got: 3 });
}

#[test]
fn a_foreign_delimiter_is_used_if_unambiguous_and_otherwise_told() {
    let table = table_of("s.csv", "a;b\n1;2\n3;4\n");
    assert_eq!(numbers(&table, "b"), [2.0, 4.0]);
    let table = table_of("s.tsv", "a\tb\n1\t2\n");
    assert_eq!(numbers(&table, "a"), [1.0]);
    let error = error_of("s.csv", "a;b;c\n1;2;3\n1;2\n");
    assert_place(&error, "s.csv", Some(1), None);
    assert_eq!(*error.problem, Problem::WrongDelimiter { delimiter: ',', found: ';' });
    assert_eq!(error.hint().as_deref(), Some("pass `--delimiter ';'`"));
}

#[test]
fn a_delimiter_that_cannot_be_is_told() {
    let folder = Folder::new();
    let source = folder.write("a.csv", "a,b\n1,2\n");
    let options = ReadOptions { delimiter: Some('→'), ..ReadOptions::default() };
    let error = read_table(&source, &options).expect_err("not ascii");
    assert_place(&error, "a.csv", Some(1), None);
}

#[test]
fn bytes_that_are_not_utf8_are_told_at_their_line() {
    let error = error_of("u.csv", b"a,b\n1,x\n2,caf\xe9\n");
    assert_place(&error, "u.csv", Some(3), None);
    assert_eq!(*error.problem, Problem::NotUtf8);
    let error = error_of("u.csv", b"\xff\xfea\x00,\x00b\x00\n\x00");
    assert_place(&error, "u.csv", Some(1), None);
    let error = error_of("u.jsonl", b"{\"a\": 1}\n{\"a\": \"\xe9\"}\n");
    assert_place(&error, "u.jsonl", Some(2), None);
}

#[test]
fn a_quote_that_never_closes_is_told_where_it_opens() {
    let error = error_of("q.csv", "a,b\n1,2\n3,\"4\n5,6\n7,8\n");
    assert_place(&error, "q.csv", Some(3), None);
    assert_eq!(*error.problem, Problem::UnclosedQuote);
}

#[test]
fn lines_that_end_with_carriage_returns_alone_are_told() {
    let error = error_of("mac.csv", "a,b\r1,2\r3,4\r");
    assert_place(&error, "mac.csv", Some(1), None);
    assert_eq!(*error.problem, Problem::CarriageReturns);
}

#[test]
fn infinite_numbers_are_refused_with_line_and_column() {
    for cell in ["1e999", "inf", "-Infinity"] {
        let error = error_of("i.csv", format!("a,b\n1,2\n3,{cell}\n"));
        assert_place(&error, "i.csv", Some(3), Some("b"));
        assert_eq!(*error.problem, Problem::InfiniteNumber { got: cell.into() });
    }
}

#[test]
fn a_word_among_numbers_is_told_with_line_column_and_both_remedies() {
    let rows: String = (0..40).map(|i| if i == 30 { "x,n/a\n".into() } else { format!("x,{i}\n") }).collect();
    let error = error_of("train.csv", format!("name,age\n{rows}"));
    assert_place(&error, "train.csv", Some(32), Some("age"));
    assert!(error.to_string().contains(
        "train.csv:32: column `age`: expected a number, got \"n/a\"\n\
         hint: list it under `data.missing_values`, or set `data.columns.age = \"category\"`"
    ));
}

#[test]
fn two_columns_of_one_name_are_told_with_both_positions() {
    let error = error_of("d.csv", "a,b, a \n1,2,3\n");
    assert_place(&error, "d.csv", Some(1), Some("a"));
    assert_eq!(*error.problem, Problem::DuplicateColumn { first: 1, second: 3 });
}

#[test]
fn cut_off_and_damaged_gzip_data_is_told() {
    let rows: String = (0..20_000).map(|i| format!("{i},{}\n", i * 7919 % 1000)).collect();
    let whole = gzip(format!("a,b\n{rows}").as_bytes());
    let error = error_of("g.csv.gz", &whole[..whole.len() / 2]);
    assert!(error.line.is_some_and(|line| line > 1000), "{error}");
    assert!(matches!(*error.problem, Problem::BrokenGzip { truncated: true, .. }), "{error}");
    assert!(error.hint().is_some());
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0xff);
    let error = error_of("g.csv.gz", &damaged);
    assert!(matches!(
        *error.problem,
        Problem::BrokenGzip { .. } | Problem::RaggedRow { .. } | Problem::NotUtf8
    ));
    assert!(error_of("g.csv.gz", &whole[..12]).to_string().contains("gzip"));
}

#[test]
fn a_cut_off_parquet_file_is_told() {
    let folder = Folder::new();
    let table = table_of("a.csv", "a,b\n1,2\n3,4\n");
    let batch = table.to_batch().expect("two columns");
    let path = folder.path("p.parquet");
    let mut writer =
        inducing_data::RowWriter::create(&Sink::Path(path.clone()), None, batch.schema()).expect("writable");
    writer.write(&batch).and_then(|()| writer.finish()).expect("writable");
    let whole = std::fs::read(&path).expect("readable");
    for length in [4, 20, whole.len() / 2, whole.len() - 1] {
        let error = error_of("p.parquet", &whole[..length]);
        assert_place(&error, "p.parquet", None, None);
        assert!(matches!(*error.problem, Problem::BrokenParquet { .. }), "{error}");
    }
    let error = error_of("p.parquet", "a,b\n1,2\n");
    assert!(matches!(*error.problem, Problem::BrokenParquet { .. }), "{error}");
}

#[test]
fn broken_json_is_told_at_its_line() {
    let error = error_of("j.jsonl", "{\"a\": 1}\n\n{\"a\": 2\n{\"a\": 3}\n");
    assert_place(&error, "j.jsonl", Some(3), None);
    assert!(matches!(*error.problem, Problem::BrokenJson { .. }), "{error}");
    let error = error_of("j.jsonl", "[{\"a\": 1}]\n");
    assert_place(&error, "j.jsonl", Some(1), None);
    assert!(matches!(*error.problem, Problem::NotAJsonObject { .. }), "{error}");
    let error = error_of("j.jsonl", "{\"a\": 1}\n{\"a\": 1e999}\n");
    assert_place(&error, "j.jsonl", Some(2), Some("a"));
}

#[test]
fn types_that_conflict_between_json_rows_are_told_at_the_second() {
    let error = error_of("j.jsonl", "{\"a\": 1}\n{\"a\": null}\n{\"a\": \"red\"}\n");
    assert_place(&error, "j.jsonl", Some(3), Some("a"));
    assert_eq!(*error.problem, Problem::MixedTypes { first: "a number", got: "text" });
}

#[test]
fn nested_json_is_refused_and_can_be_ignored() {
    let folder = Folder::new();
    let source = folder.write("n.jsonl", "{\"a\": 1, \"my tags\": [1, 2]}\n");
    let error = read_table(&source, &ReadOptions::default()).expect_err("nested");
    assert_place(&error, "n.jsonl", Some(1), Some("my tags"));
    assert_eq!(error.hint().as_deref(), Some("set `data.columns.\"my tags\" = \"ignore\"`"));
    let mut options = ReadOptions::default();
    options.column_types.insert("my tags".into(), inducing_data::ColumnType::Ignore);
    assert_eq!(read_table(&source, &options).expect("readable").names(), ["a"]);
}

#[test]
fn a_type_for_a_column_that_is_not_there_is_told() {
    let folder = Folder::new();
    let mut options = ReadOptions::default();
    options.column_types.insert("agee".into(), inducing_data::ColumnType::Ignore);
    let error = read_table(&folder.write("a.csv", "age,b\n1,2\n"), &options).expect_err("a typo");
    assert_place(&error, "a.csv", None, Some("agee"));
    assert_eq!(error.hint().as_deref(), Some("did you mean `age`?"));
}

#[test]
fn archives_are_recognised() {
    let error = error_of("book.csv", b"PK\x03\x04 something");
    assert_place(&error, "book.csv", None, None);
    assert!(error.to_string().contains("zip"));
}

#[test]
fn the_chosen_format_overrules_name_and_content() {
    let folder = Folder::new();
    let options = ReadOptions { format: Some(Format::JsonLines), ..ReadOptions::default() };
    let source = folder.write("a.csv", "a,b\n1,2\n");
    let error = read_table(&source, &options).expect_err("not json");
    assert_place(&error, "a.csv", Some(1), None);
    assert!(matches!(source, Source::Path(_)));
}
