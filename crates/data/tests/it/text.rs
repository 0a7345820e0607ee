//! Text columns from files to ids.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use inducing_data::{
    Column, ColumnType, EncodeOptions, Encoded, Notice, Problem, ReadOptions, RowWriter, Sink, Source, Table,
    TableSchema, TextEnd, TextOptions, Tokenizer, read_blocks, read_table,
};
use lzma_rust2::{XzOptions, XzWriter};

use crate::folder::{Folder, assert_place, error_of, table_of};

const REVIEWS: &str = "stars,review,y\n\
    1,\"I don't like it,\nnot at all\",0\n\
    2,I like this film a lot,1\n\
    3,\"a \"\"film\"\" to like, and long\",1\n\
    1,not a film to like at all,0\n";

fn fit(table: &Table, options: &EncodeOptions) -> (TableSchema, Vec<Notice>) {
    let rows: Vec<usize> = (0..table.rows()).collect();
    TableSchema::fit(table, &["y".into()], None, &rows, options).expect("a usable table")
}

fn declared(source: &Source, column: &str) -> Table {
    let mut options = ReadOptions::default();
    options.column_types.insert(column.into(), ColumnType::Text);
    read_table(source, &options).expect("readable")
}

fn xz(content: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::default()).expect("valid options");
    writer.write_all(content).expect("memory is writable");
    writer.finish().expect("memory is writable")
}

fn words(tokenizer: &Tokenizer, ids: &[u32]) -> Vec<String> {
    let word = |id: &u32| match *id {
        Tokenizer::PADDING => "(padding)".to_owned(),
        Tokenizer::UNKNOWN => "?".to_owned(),
        id => tokenizer.words()[id as usize - 2].clone(),
    };
    ids.iter().map(word).collect()
}

fn encoded(schema: &TableSchema, table: &Table) -> (Encoded, Vec<String>) {
    let encoded = schema.encode(table, None).expect("the same columns");
    let (_, tokenizer) = schema.text_columns().next().expect("a text column");
    let texts = &encoded.texts[0];
    let shown = (0..texts.len()).map(|row| words(tokenizer, texts.row(row)).join(" ")).collect();
    (encoded, shown)
}

#[test]
fn prose_is_recognised_and_stands_beside_the_matrix() {
    let table = table_of("t.csv", REVIEWS);
    assert_eq!(table.columns()[1].column_type(), ColumnType::Text);
    let (schema, notices) = fit(&table, &EncodeOptions::default());
    let told = notices.iter().find(|notice| matches!(notice, Notice::TextRecognised { .. }));
    let told = told.expect("nobody asked for it").to_string();
    assert!(told.contains("data.columns.review = \"category\""), "{told}");
    assert_eq!((schema.feature_names(), schema.numeric_width()), (vec!["stars".to_owned()], 1));
    let (encoded, shown) = encoded(&schema, &table);
    assert_eq!((encoded.rows, encoded.width, encoded.x.len(), encoded.texts.len()), (4, 1, 4, 1));
    let expected =
        ["i ? like ? not at all", "i like ? film a ?", "a film to like ? ?", "not a film to like at all"];
    assert_eq!(shown, expected, "words that stand once are not known");
}

#[test]
fn frequent_words_come_first_and_the_alphabet_decides_between_equals() {
    let table = table_of("t.csv", REVIEWS);
    let text = TextOptions { vocabulary: 6, ..TextOptions::default() };
    let (schema, _) = fit(&table, &EncodeOptions { text, ..EncodeOptions::default() });
    let (name, tokenizer) = schema.text_columns().next().expect("a text column");
    assert_eq!((name, tokenizer.vocabulary()), ("review", 6));
    assert_eq!(tokenizer.words(), ["like", "a", "film", "all"]);
    let counts = tokenizer.counts();
    assert_eq!((counts.texts, counts.words, counts.unknown, counts.cut), (4, 26, 14, 0));
    let shuffled =
        Tokenizer::fit(&["b b a a c", "x x"], &TextOptions { vocabulary: 4, ..TextOptions::default() });
    let other =
        Tokenizer::fit(&["x x", "c a b a b"], &TextOptions { vocabulary: 4, ..TextOptions::default() });
    assert_eq!(shuffled, other);
    assert_eq!(shuffled.words(), ["a", "b"]);
}

#[test]
fn only_training_rows_teach_words() {
    let table = table_of("t.csv", REVIEWS);
    let (schema, _) =
        TableSchema::fit(&table, &["y".into()], None, &[0, 1], &EncodeOptions::default()).expect("two rows");
    let (_, tokenizer) = schema.text_columns().next().expect("a text column");
    assert_eq!(tokenizer.words(), ["i", "like"]);
}

#[test]
fn a_declared_type_rules_over_the_look_of_a_column() {
    let folder = Folder::new();
    let source =
        folder.write("t.csv", "w,review,y\nred,one two three four,1\nblue,five two three six,2\nred,a,3\n");
    let table = declared(&source, "w");
    assert!(matches!(table.columns()[0], Column::Text(_)));
    let (schema, notices) = fit(&table, &EncodeOptions::default());
    assert_eq!(schema.text_columns().map(|(name, _)| name).collect::<Vec<_>>(), ["w"]);
    assert!(!notices.iter().any(|notice| matches!(notice, Notice::TextRecognised { .. })));
    let mut options = ReadOptions::default();
    options.column_types.insert("review".into(), ColumnType::Category);
    let source = folder.write("u.csv", REVIEWS);
    let table = read_table(&source, &options).expect("readable");
    assert!(matches!(table.columns()[1], Column::Category { .. }));
}

#[test]
fn identifiers_dates_and_repeated_sentences_are_no_prose() {
    let rows: String = (0..40)
        .map(|i| {
            format!(
                "key {i},{} Jan 20{:02} 17:{:02} PM,one of four answers {},{i}\n",
                i % 28 + 1,
                i,
                i,
                i % 4
            )
        })
        .collect();
    let table = table_of("t.csv", format!("id,day,answer,y\n{rows}"));
    for (column, expected) in
        table.columns().iter().zip([ColumnType::Category, ColumnType::DateTime, ColumnType::Category])
    {
        assert_eq!(column.column_type(), expected);
    }
}

#[test]
fn the_same_texts_come_out_of_every_format() {
    let folder = Folder::new();
    let texts = ["a film, to like", "two\nlines of \"film\"", "", "a plain film of 8"];
    let expected = read_table(
        &folder.write(
            "t.csv",
            "t,y\n\"a film, to like\",1\n\"two\nlines of \"\"film\"\"\",2\n,3\na plain film of 8,4\n",
        ),
        &ReadOptions::default(),
    );
    let expected = expected.expect("readable").columns()[0].clone();
    assert_eq!(expected, Column::Text(texts.map(|text| (!text.is_empty()).then(|| text.to_owned())).into()));
    let json: String =
        texts.iter().enumerate().map(|(i, text)| format!("{{\"t\": {text:?}, \"y\": {i}}}\n")).collect();
    for (name, content) in [
        ("t.jsonl", json.clone().into_bytes()),
        ("t.jsonl.xz", xz(json.as_bytes())),
        ("t", xz(json.as_bytes())),
    ] {
        let table = read_table(&folder.write(name, content), &ReadOptions::default()).expect("readable");
        assert_eq!(table.columns()[0], expected, "{name}");
    }
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("t", Arc::new(StringArray::from(texts.to_vec()))),
        ("y", Arc::new(Int64Array::from(vec![1, 2, 3, 4]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("equal lengths");
    let mut writer =
        RowWriter::create(&Sink::Path(folder.path("t.parquet")), None, batch.schema()).expect("writable");
    writer.write(&batch).and_then(|()| writer.finish()).expect("writable");
    let table = read_table(&folder.source("t.parquet"), &ReadOptions::default()).expect("readable");
    assert_eq!(table.columns()[0], expected);
    let numbers = declared(&folder.source("t.parquet"), "y");
    assert_eq!(numbers.columns()[1], Column::Text([1, 2, 3, 4].map(|n: u8| Some(n.to_string())).into()));
    assert_eq!(table.to_batch().expect("columns").num_rows(), 4);
}

#[test]
fn a_cut_or_damaged_xz_table_is_told() {
    let folder = Folder::new();
    let whole = xz(format!("a,b\n{}", "1,2\n3,4\n".repeat(2000)).as_bytes());
    let table = read_table(&folder.write("t.csv.xz", &whole), &ReadOptions::default()).expect("readable");
    assert_eq!(table.rows(), 4000);
    for end in [8, 40, whole.len() / 2, whole.len() - 3] {
        let error = error_of("t.csv.xz", &whole[..end]);
        assert!(matches!(*error.problem, Problem::BrokenXz { .. }), "{end}: {error}");
        assert!(error.hint().is_some());
    }
    let refused = RowWriter::create(
        &Sink::Path(folder.path("o.csv.xz")),
        None,
        table.to_batch().expect("columns").schema(),
    );
    assert!(refused.is_err(), "xz is not written");
}

#[test]
fn strange_texts_have_words_too() {
    let folder = Folder::new();
    let texts =
        ["", "zzz qqq", "👍🏽 👍🏽 gut ❤️", "سينما رائعة جدا سينما", "סרט נהדר סרט", "... !!!", "NA", "gut zzz"];
    let rows: String = texts.iter().enumerate().map(|(i, text)| format!("{text},{i}\n")).collect();
    let table = declared(&folder.write("t.csv", format!("t,y\n{rows}")), "t");
    let (schema, _) = fit(&table, &EncodeOptions::default());
    let (encoded, shown) = encoded(&schema, &table);
    let expected = ["?", "zzz ?", "👍🏽 👍🏽 gut ?", "سينما ? ? سينما", "סרט ? סרט", "?", "?", "gut zzz"];
    assert_eq!(shown, expected);
    assert_eq!((encoded.rows, encoded.width), (8, 0));
    let unknown = schema.encode(&declared(&folder.write("p.csv", "t,y\nnever seen any,1\n"), "t"), None);
    assert_eq!(unknown.expect("fits").texts[0].row(0), [1, 1, 1]);
}

#[test]
fn a_text_of_a_million_characters_is_cut_to_its_length() {
    let long = "word and again, ".repeat(70_000) + "the very end";
    let unbroken = "漢".repeat(400_000);
    let letters = "a".repeat(1_000_000);
    let folder = Folder::new();
    let source = folder
        .write("t.csv", format!("t,y\n\"{long}\",1\n{unbroken},2\n{letters},3\nthe end,4\nthe very end,5\n"));
    let table = declared(&source, "t");
    for keep in [TextEnd::Start, TextEnd::End, TextEnd::Both] {
        let text = TextOptions { keep, length: 8, ..TextOptions::default() };
        let (schema, _) = fit(&table, &EncodeOptions { text, ..EncodeOptions::default() });
        let (encoded, shown) = encoded(&schema, &table);
        let expected = match keep {
            TextEnd::Start => "word and again word and again word and",
            TextEnd::End => "and again word and again the very end",
            TextEnd::Both => "word and word and again the very end",
        };
        assert_eq!(shown[0], expected);
        assert_eq!(
            (encoded.texts[0].row(1).len(), shown[2].as_str(), shown[3].as_str()),
            (8, "?", "the end")
        );
        let counts = schema.text_columns().next().expect("a text column").1.counts();
        assert_eq!(counts.cut, 2);
    }
}

#[test]
fn text_that_is_not_utf8_is_told_with_its_line() {
    let error = error_of("t.csv", b"t,y\na fine film indeed,1\na \xff film indeed,2\n");
    assert_place(&error, "t.csv", Some(3), None);
    assert_eq!(*error.problem, Problem::NotUtf8);
    let error = error_of("t.jsonl", b"{\"t\": \"a fine film\"}\n{\"t\": \"a \xff film\"}\n");
    assert_place(&error, "t.jsonl", Some(2), None);
}

#[test]
fn texts_that_cannot_help_are_left_out() {
    let folder = Folder::new();
    let table = declared(&folder.write("t.csv", "t,x,y\nsame text,1,1\nsame text,2,2\n"), "t");
    let (schema, notices) = fit(&table, &EncodeOptions::default());
    assert_eq!(schema.text_columns().count(), 0);
    assert_eq!(notices, [Notice::ConstantColumnDropped { column: "t".into() }]);
    let table = declared(&folder.write("t.csv", "t,x,y\nred,1,1\nblue,2,2\n"), "t");
    let (schema, notices) = fit(&table, &EncodeOptions::default());
    assert_eq!(schema.text_columns().count(), 0);
    assert_eq!(notices, [Notice::NoKnownWords { column: "t".into(), min_count: 2 }]);
    assert!(notices[0].to_string().contains("data.text.min_count"));
    let text = TextOptions { min_count: 1, ..TextOptions::default() };
    let (schema, _) = fit(&table, &EncodeOptions { text, ..EncodeOptions::default() });
    assert_eq!(schema.text_columns().count(), 1);
}

#[test]
fn options_outside_their_range_are_refused() {
    let table = table_of("t.csv", REVIEWS);
    let sound = TextOptions::default();
    for text in [
        TextOptions { vocabulary: 2, ..sound.clone() },
        TextOptions { min_count: 0, ..sound.clone() },
        TextOptions { length: 0, ..sound.clone() },
        TextOptions { length: usize::MAX, ..sound },
    ] {
        let options = EncodeOptions { text, ..EncodeOptions::default() };
        let error =
            TableSchema::fit(&table, &["y".into()], None, &[0, 1, 2], &options).expect_err("no sense");
        assert!(matches!(*error.problem, Problem::TextOption { .. }), "{error}");
        assert!(error.hint().is_some());
    }
    let read: EncodeOptions = serde_json::from_str(r#"{"text": {"keep": "both"}}"#).expect("valid");
    assert_eq!((read.text.keep, read.text.length), (TextEnd::Both, 200));
    assert!(serde_json::from_str::<EncodeOptions>(r#"{"text": {"lenght": 5}}"#).is_err());
    assert_eq!(serde_json::from_str::<EncodeOptions>("{}").expect("an old file"), EncodeOptions::default());
}

#[test]
fn a_schema_with_text_survives_json_and_a_forged_one_is_found() {
    let table = table_of("t.csv", REVIEWS);
    let (schema, _) = fit(&table, &EncodeOptions::default());
    let json = serde_json::to_string(&schema).expect("all numbers are finite");
    let again: TableSchema = serde_json::from_str(&json).expect("valid");
    assert_eq!(again, schema);
    assert_eq!(again.encode(&table, None).expect("fits"), schema.encode(&table, None).expect("fits"));
    assert_eq!(schema.fault(), None);
    let forged = json.replacen("\"film\"", "\"like\"", 1);
    let forged: TableSchema = serde_json::from_str(&forged).expect("json as before");
    assert!(forged.fault().is_some_and(|fault| fault.contains("`review`") && fault.contains("like")));
}

#[test]
fn blocks_of_rows_carry_texts() {
    let folder = Folder::new();
    let (schema, _) = fit(&table_of("t.csv", REVIEWS), &EncodeOptions::default());
    let source = folder.write("p.jsonl", "{\"review\": \"I like it\", \"stars\": 1}\n{\"stars\": 2}\n");
    let blocks = read_blocks(&source, &ReadOptions::default(), &schema.columns(), &[], 1).expect("readable");
    let ids: Vec<usize> = blocks
        .map(|block| {
            schema.encode(&block.expect("readable").table, None).expect("fits").texts[0].row(0).len()
        })
        .collect();
    assert_eq!(ids, [3, 1]);
}

#[test]
fn long_labels_are_classes_all_the_same() {
    let rows: String = (0..12).map(|i| format!("{i},this is answer number {}\n", i % 7)).collect();
    let table = table_of("t.csv", format!("x,y\n{rows}"));
    assert_eq!(table.columns()[1].column_type(), ColumnType::Text);
    let (schema, _) = fit(&table, &EncodeOptions::default());
    assert_eq!(schema.targets.classes().expect("a classification").levels.len(), 7);
    assert!(schema.targets(&table, None).is_ok());
}
