//! Reading in blocks of known types.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;
use inducing_data::{ColumnType, Format, ReadOptions, RowWriter, Sink, read_blocks, read_columns};

use crate::folder::{Folder, numbers, table_of};

fn wanted() -> Vec<(String, ColumnType)> {
    vec![("y".into(), ColumnType::Number), ("x".into(), ColumnType::Number)]
}

#[test]
fn blocks_cover_all_rows_in_order_with_the_kept_text_as_it_was() {
    let rows: String = (0..25).map(|i| format!("{i}, 0{i} ,skip \"me,{}\n", i * 2)).collect();
    let folder = Folder::new();
    let source = folder.write("t.csv", format!("x,id,junk,y\n{rows}"));
    let blocks =
        read_blocks(&source, &ReadOptions::default(), &wanted(), &["id".into()], 10).expect("readable");
    assert_eq!(blocks.passthrough_schema().field(0).data_type(), &DataType::Utf8);
    let mut row = 0;
    let mut sizes = Vec::new();
    for block in blocks {
        let block = block.expect("good rows");
        assert_eq!(block.first_row, row);
        assert_eq!(block.table.names(), ["y", "x"]);
        assert_eq!(block.table.line(0), Some(row as u64 + 2));
        let ids = block.passthrough.column(0).as_string::<i32>();
        for i in 0..block.table.rows() {
            assert_eq!(numbers(&block.table, "x")[i], row as f64);
            assert_eq!(numbers(&block.table, "y")[i], 2.0 * row as f64);
            assert_eq!(ids.value(i), format!(" 0{row} "));
            row += 1;
        }
        sizes.push(block.table.rows());
    }
    assert_eq!(sizes, [10, 10, 5]);
}

#[test]
fn parquet_keeps_types_across_blocks_that_cut_its_batches() {
    let folder = Folder::new();
    let n = 20_000;
    let ids = arrow_array::Int64Array::from_iter_values(0..n);
    let xs = arrow_array::Float64Array::from_iter_values((0..n).map(|i| i as f64 / 2.0));
    let batch = arrow_array::RecordBatch::try_from_iter([
        ("id", std::sync::Arc::new(ids) as arrow_array::ArrayRef),
        ("x", std::sync::Arc::new(xs)),
    ])
    .expect("equal lengths");
    let sink = Sink::Path(folder.path("t.parquet"));
    let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
    writer.write(&batch).and_then(|()| writer.finish()).expect("writable");
    let columns = [("x".to_owned(), ColumnType::Number)];
    let keep = ["id".to_owned(), "x".to_owned()];
    let blocks = read_blocks(&folder.source("t.parquet"), &ReadOptions::default(), &columns, &keep, 3000)
        .expect("readable");
    let mut next = 0;
    for block in blocks {
        let block = block.expect("good rows");
        let ids = block.passthrough.column(0).as_primitive::<Int64Type>();
        assert_eq!(ids.len(), block.table.rows());
        for (id, x) in ids.values().iter().zip(numbers(&block.table, "x")) {
            assert_eq!((*id, *x), (next, next as f64 / 2.0));
            next += 1;
        }
    }
    assert_eq!(next, n);
}

#[test]
fn json_blocks_keep_numbers_exactly_as_text() {
    let folder = Folder::new();
    let source =
        folder.write("t.jsonl", "{\"id\": 12345678901234567890, \"x\": 1, \"y\": 2}\n{\"x\": 3, \"y\": 4}\n");
    let mut blocks =
        read_blocks(&source, &ReadOptions::default(), &wanted(), &["id".into()], 100).expect("readable");
    let block = blocks.next().expect("one block").expect("good rows");
    let ids: Vec<Option<&str>> = block.passthrough.column(0).as_string::<i32>().iter().collect();
    assert_eq!(ids, [Some("12345678901234567890"), None]);
    assert!(blocks.next().is_none());
}

#[test]
fn a_file_without_rows_has_no_blocks() {
    let folder = Folder::new();
    let source = folder.write("t.csv", "x,y\n");
    let blocks =
        read_blocks(&source, &ReadOptions::default(), &wanted(), &[], 10).expect("a header is there");
    assert_eq!(blocks.count(), 0);
}

#[test]
fn read_columns_reads_known_types_without_inference() {
    let folder = Folder::new();
    let source = folder.write("t.csv", "code,x\n1,5\n2,6\n");
    let columns = [("code".to_owned(), ColumnType::Category)];
    let table = read_columns(&source, &ReadOptions::default(), &columns).expect("readable");
    assert_eq!(table.names(), ["code"]);
    assert_eq!(table.rows(), 2);
}

#[test]
fn rows_in_blocks_agree_with_the_whole_file() {
    let rows: String = (0..20_000).map(|i| format!("{},{}\n", i % 17, i * 31 % 1009)).collect();
    let content = format!("x,y\n{rows}");
    let whole = table_of("t.csv", &content);
    let folder = Folder::new();
    let source = folder.write("t.csv", &content);
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let blocks = read_blocks(&source, &options, &wanted(), &[], 777).expect("readable");
    let x: Vec<f64> = blocks.flat_map(|b| numbers(&b.expect("good").table, "x").to_vec()).collect();
    assert_eq!(x, numbers(&whole, "x"));
}
