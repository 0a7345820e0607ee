//! Parquet files as other programs write them: every codec, several row groups, required and optional columns.

use std::fs::File;
use std::sync::Arc;

use inducing_data::{Column, ColumnType, Problem, ReadOptions, read_blocks, read_table};
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type, Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::folder::{Folder, numbers, texts};

const SCHEMA: &str = "message t {
    required double x; optional binary s (UTF8); optional int32 d (DATE); required int64 u (INTEGER(64, false));
    optional int96 old; optional int64 t (TIMESTAMP(NANOS, true)); optional int32 m (DECIMAL(9, 2)); }";

fn write(folder: &Folder, compression: Compression, groups: usize) {
    let schema = Arc::new(parse_message_type(SCHEMA).expect("a schema"));
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let file = File::create(folder.path("t.parquet")).expect("writable");
    let mut writer = SerializedFileWriter::new(file, schema, properties).expect("writable");
    for group in 0..groups {
        let mut rows = writer.next_row_group().expect("writable");
        macro_rules! column {
            ($kind:ty, $values:expr, $levels:expr) => {{
                let mut column = rows.next_column().expect("writable").expect("one more");
                let levels: Option<&[i16]> = $levels;
                column.typed::<$kind>().write_batch(&$values, levels, None).expect("writable");
                column.close().expect("writable");
            }};
        }
        column!(DoubleType, [group as f64, 0.5], None);
        column!(ByteArrayType, [ByteArray::from("é, \"q\"")], Some(&[1, 0]));
        column!(Int32Type, [1], Some(&[0, 1]));
        column!(Int64Type, [-1, 7], None);
        let mut old = Int96::new();
        old.set_data(0, 0, 2_440_588); // 1970-01-01 as a Julian day
        column!(Int96Type, [old], Some(&[1, 0]));
        column!(Int64Type, [1_500, -1], Some(&[1, 1]));
        column!(Int32Type, [-125], Some(&[1, 0]));
        rows.close().expect("writable");
    }
    writer.close().expect("writable");
}

#[test]
fn every_codec_and_every_row_group_is_read() {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
        Compression::BROTLI(BrotliLevel::default()),
    ];
    for codec in codecs {
        let folder = Folder::new();
        write(&folder, codec, 3);
        let table = read_table(&folder.source("t.parquet"), &ReadOptions::default()).expect("readable");
        assert_eq!(numbers(&table, "x"), [0.0, 0.5, 1.0, 0.5, 2.0, 0.5], "{codec:?}");
        assert_eq!(texts(&table, "s")[2..4], [Some("é, \"q\"".to_owned()), None]);
        assert_eq!(numbers(&table, "u")[..2], [u64::MAX as f64, 7.0]);
        assert_eq!(
            table.column("d").expect("there"),
            &Column::DateTime([None, Some(86_400_000_000)].repeat(3))
        );
        assert_eq!(table.column("old").expect("there"), &Column::DateTime([Some(0), None].repeat(3)));
        assert_eq!(table.column("t").expect("there"), &Column::DateTime([Some(1), Some(-1)].repeat(3)));
        assert_eq!(numbers(&table, "m")[0], -1.25);
    }
}

#[test]
fn passthrough_columns_cross_row_groups_in_text_formats() {
    let folder = Folder::new();
    write(&folder, Compression::SNAPPY, 2);
    let keep = ["x", "s", "d", "u", "old", "t", "m"].map(String::from);
    let columns = [("x".to_owned(), ColumnType::Number)];
    let blocks = read_blocks(&folder.source("t.parquet"), &ReadOptions::default(), &columns, &keep, 3);
    let blocks = blocks.expect("readable");
    let sink = inducing_data::Sink::Path(folder.path("t.csv"));
    let mut writer =
        inducing_data::RowWriter::create(&sink, None, blocks.passthrough_schema()).expect("writable");
    for block in blocks {
        writer.write(&block.expect("readable").passthrough).expect("writable");
    }
    writer.finish().expect("writable");
    let text = std::fs::read_to_string(folder.path("t.csv")).expect("readable");
    let first =
        "0.0,\"é, \"\"q\"\"\",,18446744073709551615,1970-01-01T00:00:00,1970-01-01T00:00:00.000001500Z,-1.25";
    assert_eq!(text.lines().nth(1), Some(first));
    assert_eq!(text.lines().nth(4), Some("0.5,,1970-01-02,7,,1969-12-31T23:59:59.999999999Z,"));
    assert_eq!(text.lines().count(), 5);
}

#[test]
fn nested_columns_are_refused_and_can_be_ignored() {
    let folder = Folder::new();
    let schema = "message t { required double x; required group g { required double a; required double b; } required double y; }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = File::create(folder.path("t.parquet")).expect("writable");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).expect("writable");
    let mut rows = writer.next_row_group().expect("writable");
    for value in [1.0, 2.0, 3.0, 4.0] {
        let mut column = rows.next_column().expect("writable").expect("one more");
        column.typed::<DoubleType>().write_batch(&[value], None, None).expect("writable");
        column.close().expect("writable");
    }
    rows.close().expect("writable");
    writer.close().expect("writable");
    let mut options = ReadOptions::default();
    let error = read_table(&folder.source("t.parquet"), &options).expect_err("a struct");
    assert_eq!(error.column.as_deref(), Some("g"));
    assert!(matches!(*error.problem, Problem::UnsupportedType { .. }), "{error}");
    options.column_types.insert("g".into(), ColumnType::Ignore);
    let table = read_table(&folder.source("t.parquet"), &options).expect("the rest");
    assert_eq!((table.names(), numbers(&table, "y")), (&["x".to_owned(), "y".to_owned()][..], &[4.0][..]));
}

#[test]
fn a_damaged_byte_is_an_error_or_another_value_but_no_panic() {
    let folder = Folder::new();
    write(&folder, Compression::SNAPPY, 1);
    let whole = std::fs::read(folder.path("t.parquet")).expect("readable");
    for (at, flip) in (0..whole.len()).zip([0x01, 0x80, 0xff].into_iter().cycle()) {
        let mut bytes = whole.clone();
        bytes[at] ^= flip;
        let _ = read_table(&folder.write("b.parquet", bytes), &ReadOptions::default());
    }
}
