//! Dates as people write them, from the training table to the table of a prediction.

use inducing_data::{
    Column, DataError, DateFormat, DateFormats, EncodeOptions, Problem, ReadOptions, RowWriter, Sink, Source,
    Table, TableSchema, Task, read_blocks, read_columns, read_table,
};

use crate::folder::{Folder, assert_place, error_of, table_of};

const DAY: i64 = 86_400_000_000;
/// 1 February 2020.
const FIRST: i64 = 18_293 * DAY;

fn schema_of(table: &Table) -> TableSchema {
    let rows: Vec<usize> = (0..table.rows()).collect();
    let fitted =
        TableSchema::fit(table, &["y".into()], Some(Task::Regression), &rows, &EncodeOptions::default());
    fitted.expect("a usable table").0
}

fn read_with(content: &str, formats: DateFormats) -> Result<Table, DataError> {
    let folder = Folder::new();
    let options = ReadOptions { date_formats: formats, ..ReadOptions::default() };
    read_table(&folder.write("t.csv", content), &options)
}

fn every(format: &str) -> DateFormats {
    DateFormats { every: Some(format.parse().expect("a format")), ..DateFormats::default() }
}

fn dates(table: &Table) -> Vec<Option<i64>> {
    match table.column("t").expect("the column exists") {
        Column::DateTime(values) => values.clone(),
        other => panic!("no dates but {other:?}"),
    }
}

/// What a prediction sees of a file, whole and in blocks of one row.
fn predicted(schema: &TableSchema, source: &Source) -> Vec<Option<i64>> {
    let options = schema.read_options(ReadOptions::default());
    let whole = read_columns(source, &options, &schema.columns()).expect("readable");
    let blocks = read_blocks(source, &options, &schema.columns(), &[], 1).expect("readable");
    let in_blocks: Vec<Option<i64>> =
        blocks.flat_map(|block| dates(&block.expect("a readable block").table)).collect();
    assert_eq!(dates(&whole), in_blocks);
    in_blocks
}

#[test]
fn a_prediction_reads_ambiguous_dates_in_the_order_that_training_found() {
    let folder = Folder::new();
    for (train, order, day) in [
        ("t,y\n31/01/2020,1\n01/02/2020,2\n02/02/2020,4\n", "day-first", FIRST),
        ("t,y\n01/31/2020,1\n02/01/2020,2\n02/02/2020,4\n", "month-first", FIRST - 30 * DAY),
    ] {
        let table = table_of("train.csv", train);
        assert_eq!(dates(&table)[1], Some(FIRST));
        let schema = schema_of(&table);
        let json = serde_json::to_string(&schema).expect("finite");
        assert!(json.contains(&format!("\"format\":\"{order}\"")), "{json}");
        let schema: TableSchema = serde_json::from_str(&json).expect("as it was written");
        assert_eq!(schema.fault(), None);
        let csv =
            folder.write("p.csv", "t\n01/02/2020\n\n2020-02-01\n1 Feb 2020\n".replace("\n\n", "\nNA\n"));
        assert_eq!(predicted(&schema, &csv), [Some(day), None, Some(FIRST), Some(FIRST)]);
        let json = folder.write("p.jsonl", "{\"t\": \"01/02/2020\"}\n{\"t\": null}\n");
        assert_eq!(predicted(&schema, &json), [Some(day), None]);
        let texts = Column::Category { codes: vec![Some(0), None], levels: vec!["01/02/2020".into()] };
        let batch = Table::new("memory", vec![("t".into(), texts)]).and_then(|table| table.to_batch());
        let batch = batch.expect("one column");
        let sink = Sink::Path(folder.path("p.parquet"));
        let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
        writer.write(&batch).expect("writable");
        writer.finish().expect("writable");
        assert_eq!(predicted(&schema, &folder.source("p.parquet")), [Some(day), None]);
    }
}

#[test]
fn every_text_format_shows_its_order() {
    let json = table_of("t.jsonl", "{\"t\": \"01/02/2020\", \"y\": 1}\n{\"t\": \"13/02/2020\", \"y\": 2}\n");
    assert_eq!(dates(&json)[0], Some(FIRST));
}

#[test]
fn dates_that_go_without_saying_leave_no_trace_in_a_schema() {
    let schema = schema_of(&table_of("t.csv", "t,y\n2020-02-01,1\n2020-02-02,2\n2020-02-03,4\n"));
    let json = serde_json::to_string(&schema).expect("finite");
    assert!(!json.contains("format"), "files stay as they were before formats: {json}");
    let again: TableSchema = serde_json::from_str(&json).expect("as it was written");
    assert_eq!(again, schema);
}

#[test]
fn a_column_of_one_date_with_gaps_keeps_its_format() {
    let folder = Folder::new();
    let table = table_of("t.csv", "t,x,y\n31/01/2020,1,1\n,2,2\n31/01/2020,3,4\n");
    let schema = schema_of(&table);
    let source = folder.write("p.csv", "t,x\n01/02/2020,1\n");
    assert_eq!(predicted(&schema, &source), [Some(FIRST)]);
}

#[test]
fn an_ambiguous_column_asks_for_its_format_and_is_read_by_it() {
    let content = "t,y\n01/02/2020,1\n03/02/2020,2\n";
    let error = error_of("t.csv", content);
    assert_place(&error, "t.csv", Some(2), Some("t"));
    let text = error.to_string();
    assert!(text.contains("2020-02-01 (day-first) or 2020-01-02 (month-first)"), "{text}");
    assert!(text.contains("`--set data.date_format=day-first`"), "{text}");
    for (format, first) in [
        ("day-first", FIRST),
        ("month-first", FIRST - 30 * DAY),
        ("%d/%m/%Y", FIRST),
        ("%m/%d/%Y", FIRST - 30 * DAY),
    ] {
        let table = read_with(content, every(format)).expect("the order is declared");
        assert_eq!(dates(&table)[0], Some(first), "{format}");
        assert!(!table.is_declared("t"), "a format of all columns declares none");
    }
}

#[test]
fn contradicting_dates_are_refused_with_both_lines() {
    let error = error_of("t.csv", "t,y\n01/02/2020,1\n31/12/2020,2\n12/31/2020,3\n");
    assert_place(&error, "t.csv", Some(4), Some("t"));
    assert!(error.to_string().contains("\"31/12/2020\" in line 3"), "{error}");
}

#[test]
fn columns_can_have_a_format_each() {
    let content = "t,u,n,y\n01/02/2020,1580515200,20200201,1\n02/02/2020,1580515201,20200202,2\n";
    let format = |text: &str| text.parse::<DateFormat>().expect("a format");
    let columns = [("t", "month-first"), ("u", "epoch-seconds"), ("n", "%Y%m%d")];
    let columns = columns.map(|(name, text)| (name.to_owned(), format(text)));
    let table = read_with(content, DateFormats { every: None, columns: columns.into() }).expect("readable");
    assert_eq!(dates(&table)[0], Some(FIRST - 30 * DAY));
    assert_eq!(
        table.column("u").expect("there"),
        &Column::DateTime(vec![Some(FIRST), Some(FIRST + 1_000_000)])
    );
    assert_eq!(table.column("n").expect("there"), &Column::DateTime(vec![Some(FIRST), Some(FIRST + DAY)]));
    assert!(table.is_declared("u") && !table.is_declared("y"));
    let unknown = DateFormats { every: None, columns: [("v".to_owned(), format("day-first"))].into() };
    let error = read_with(content, unknown).expect_err("no such column");
    assert!(matches!(*error.problem, Problem::NoSuchColumn { .. }));
}

#[test]
fn a_fault_of_a_prediction_table_asks_for_another_training_and_one_of_training_does_not() {
    let folder = Folder::new();
    let schema = schema_of(&table_of("t.csv", "t,y\n31/01/2020,1\n01/02/2020,2\n02/02/2020,4\n"));
    let source = folder.write("p.csv", "t\n02/31/2020\n");
    let options = schema.read_options(ReadOptions::default());
    let error = read_columns(&source, &options, &schema.columns()).expect_err("no such day");
    assert_place(&error, "p.csv", Some(2), Some("t"));
    assert!(error.to_string().contains("the day first"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("train again")), "{error}");
    let block = read_blocks(&source, &options, &schema.columns(), &[], 10).expect("a header").next();
    let error = block.expect("a row").expect_err("no such day");
    assert!(error.hint().is_some_and(|hint| hint.contains("train again")), "{error}");
    let rows: String = (0..30).map(|i| format!("{}/01/2020,{i}\n", i % 28 + 1)).collect();
    let error = error_of("t.csv", format!("t,y\n{rows}31/02/2020,1\n"));
    assert!(error.hint().is_some_and(|hint| !hint.contains("train again")), "{error}");
}
