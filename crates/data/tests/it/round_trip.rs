//! Any table, written and read, is itself.

use inducing_data::{Column, ReadOptions, RowWriter, Sink, Table, read_table};
use proptest::prelude::*;

use crate::folder::{Folder, texts};

/// Finite numbers of all magnitudes, some missing; the first is always there, so that the type can be
/// inferred.
fn number_column(rows: usize) -> impl Strategy<Value = Vec<f64>> {
    let cell = prop_oneof![4 => any::<f64>().prop_filter("finite", |x| x.is_finite()), 1 => Just(f64::NAN)];
    prop::collection::vec(cell, rows).prop_map(|mut cells| {
        cells[0] = 0.1;
        cells
    })
}

/// Texts with quotes, delimiters and line ends, without outer blanks, which reading removes.
fn text_column(rows: usize) -> impl Strategy<Value = Vec<Option<String>>> {
    let cell = prop::option::of("[a-zé]([ ,;\"\n\t']{0,3}|\r\n)[a-z\"0-9]{1,4}");
    prop::collection::vec(cell, rows).prop_map(|mut cells| {
        cells[0] = Some("no \"number\"".into());
        cells
    })
}

fn category(texts: &[Option<String>]) -> Column {
    let mut levels: Vec<String> = Vec::new();
    let codes = texts.iter().map(|text| {
        text.as_ref().map(|text| {
            let found = levels.iter().position(|level| level == text);
            found.unwrap_or_else(|| {
                levels.push(text.clone());
                levels.len() - 1
            }) as u32
        })
    });
    let codes = codes.collect();
    Column::Category { codes, levels }
}

/// The bits of a number, the same for every NaN (missing) and for both zeros.
fn one_nan_one_zero(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { (x + 0.0).to_bits() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_table_written_and_read_is_itself_in_every_format(
        (numbers, words, times) in (1usize..20).prop_flat_map(|rows| (
            number_column(rows),
            text_column(rows),
            prop::collection::vec(0i64..4_000_000_000_000_000, rows),
        )),
    ) {
        let columns = vec![
            ("a \"number\"".to_owned(), Column::Number(numbers.clone())),
            ("word, or two".to_owned(), category(&words)),
            ("time".to_owned(), Column::DateTime(times.iter().copied().map(Some).collect())),
        ];
        let table = Table::new("memory", columns).expect("equal lengths");
        let batch = table.to_batch().expect("has columns");
        let folder = Folder::new();
        for name in ["t.csv", "t.csv.gz", "t.tsv", "t.jsonl", "t.parquet"] {
            let sink = Sink::Path(folder.path(name));
            let mut writer = RowWriter::create(&sink, None, batch.schema()).expect("writable");
            writer.write(&batch).and_then(|()| writer.finish()).expect("writable");
            let again = read_table(&folder.source(name), &ReadOptions::default()).expect("readable");
            prop_assert_eq!(again.names(), table.names());
            let Column::Number(read) = &again.columns()[0] else { panic!("{name}: numbers expected") };
            let bits = |values: &[f64]| values.iter().map(|x| one_nan_one_zero(*x)).collect::<Vec<u64>>();
            prop_assert_eq!(bits(read), bits(&numbers), "{}", name);
            prop_assert_eq!(texts(&again, "word, or two"), words.clone(), "{}", name);
            prop_assert_eq!(&again.columns()[2], &table.columns()[2], "{}", name);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), name in 0usize..4) {
        let folder = Folder::new();
        let name = ["b.csv", "b.jsonl", "b.parquet", "b.csv.gz"][name];
        let _ = read_table(&folder.write(name, bytes), &ReadOptions::default());
    }

    #[test]
    fn no_text_of_csv_characters_makes_the_reader_panic(text in "[ab1.,;\"\n\r\t{}:-]{0,120}") {
        let folder = Folder::new();
        for name in ["b.csv", "b.jsonl"] {
            let _ = read_table(&folder.write(name, &text), &ReadOptions::default());
        }
    }
}
