//! NumPy arrays as tables.

use std::path::Path;

use inducing_data::{
    Column, Problem, ReadOptions, RowWriter, Sink, Table, Task, read_npy_column, read_table, recognise_task,
};

use crate::folder::{Folder, assert_place, error_of, gzip, numbers, table_of};

/// A file of version 1 as `numpy.save` writes it.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    header += &" ".repeat(63 - (10 + header.len()) % 64);
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

fn bytes<const B: usize, T: Copy>(values: &[T], to: impl Fn(T) -> [u8; B]) -> Vec<u8> {
    values.iter().flat_map(|value| to(*value)).collect()
}

#[test]
fn arrays_are_tables_in_every_number_type_and_both_orders() {
    let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let integers = [1, 2, 3, 4, 5, 6];
    for (descr, data) in [
        ("<f8", bytes(&rows, f64::to_le_bytes)),
        ("<f4", bytes(&rows.map(|x| x as f32), f32::to_le_bytes)),
        ("<i8", bytes(&integers.map(i64::from), i64::to_le_bytes)),
        ("<i4", bytes(&integers, i32::to_le_bytes)),
        ("|u1", bytes(&integers.map(|i| i as u8), u8::to_le_bytes)),
    ] {
        let table = table_of("a.npy", npy(descr, false, "(3, 2)", &data));
        assert_eq!(table.names(), ["x0", "x1"]);
        assert_eq!(
            (numbers(&table, "x0"), numbers(&table, "x1")),
            (&[1.0, 3.0, 5.0][..], &[2.0, 4.0, 6.0][..])
        );
        let table = table_of("a.npy", npy(descr, true, "(3, 2)", &data));
        assert_eq!(
            (numbers(&table, "x0"), numbers(&table, "x1")),
            (&[1.0, 2.0, 3.0][..], &[4.0, 5.0, 6.0][..])
        );
    }
    let data = bytes(&rows, f64::to_le_bytes);
    assert_eq!(numbers(&table_of("a.npy", npy("<f8", false, "(6,)", &data)), "x0"), rows);
    assert_eq!(table_of("a.npy.gz", gzip(&npy("<f8", false, "(3, 2)", &data))).rows(), 3);
    assert_eq!(table_of("a.csv", npy("<f8", false, "(3, 2)", &data)).rows(), 3, "content beats the name");
    let truth = table_of("a.npy", npy("|b1", false, "(3,)", &[1, 0, 1]));
    assert_eq!(truth.columns()[0], Column::Boolean(vec![Some(true), Some(false), Some(true)]));
    let negative = table_of("a.npy", npy("<i4", false, "(2,)", &bytes(&[-7, 7], i32::to_le_bytes)));
    assert_eq!(numbers(&negative, "x0"), [-7.0, 7.0]);
}

#[test]
fn nan_is_missing_and_infinity_is_told_by_its_row() {
    let data = bytes(&[1.0, f64::NAN], f64::to_le_bytes);
    assert!(numbers(&table_of("a.npy", npy("<f8", false, "(2,)", &data)), "x0")[1].is_nan());
    let error = error_of("a.npy", npy("<f8", false, "(2,)", &bytes(&[1.0, f64::INFINITY], f64::to_le_bytes)));
    assert_place(&error, "a.npy", None, Some("x0"));
    assert_eq!(error.row, Some(2));
}

#[test]
fn arrays_that_are_no_tables_are_refused_with_a_remedy() {
    let data = [0; 48];
    for (file, expected) in [
        (npy(">f8", false, "(3, 2)", &data), "NpyType"),
        (npy("|O", false, "(3,)", &data), "NpyType"),
        (npy("<f8", false, "(1, 2, 3)", &data), "NpyShape"),
        (npy("<f8", false, "()", &data), "NpyShape"),
        (npy("<f8", false, "(3, 2)", &data[..40]), "BrokenNpy"),
        (npy("<f8", true, "(3, 2)", &data[..40]), "BrokenNpy"),
        (npy("<f8", true, "(99999999999, 9)", &data), "BrokenNpy"),
        (npy("<f8", false, "(2, 2)", &data), "BrokenNpy"),
        (npy("<f8", false, "(3, 2)", &data)[..20].to_vec(), "BrokenNpy"),
        (b"\x93NUMPY\x09\x00 and more bytes".to_vec(), "BrokenNpy"),
        (npy("<f8", false, "(0, 2)", &[]), "HeaderOnly"),
    ] {
        let error = error_of("a.npy", &file);
        assert_place(&error, "a.npy", None, None);
        assert!(format!("{:?}", error.problem).starts_with(expected), "{error}");
    }
}

#[test]
fn labels_stand_beside_a_table_under_their_files_name() {
    let folder = Folder::new();
    let x = npy("<f4", false, "(4, 2)", &bytes(&[0.5f32; 8], f32::to_le_bytes));
    let table = read_table(&folder.write("x.npy", x), &ReadOptions::default()).expect("readable");
    folder.write("labels.npy", npy("<i8", false, "(4,)", &bytes(&[0, 1, 1, 0], i64::to_le_bytes)));
    let (name, column) = read_npy_column(&folder.path("labels.npy")).expect("readable");
    assert_eq!(name, "labels");
    let both = table.clone().with_column(&name, column.clone()).expect("as many rows");
    assert_eq!(numbers(&both, "labels"), [0.0, 1.0, 1.0, 0.0]);
    let (task, _) = recognise_task(&both, &[name]).expect("numbers");
    assert_eq!(task, Task::Classification, "whole numbers that repeat are classes");
    assert!(matches!(
        *table.clone().with_column("x0", column).expect_err("taken").problem,
        Problem::DuplicateColumn { .. }
    ));
    folder.write("short.npy", npy("<i8", false, "(3,)", &[0; 24]));
    let (name, column) = read_npy_column(&folder.path("short.npy")).expect("readable");
    let error = table.with_column(&name, column).expect_err("one too few");
    assert_eq!(*error.problem, Problem::UnequalLengths { expected: 4, got: 3 });
    assert_eq!(error.column.as_deref(), Some("short"));
    let error = read_npy_column(&folder.path("x.npy")).expect_err("two columns");
    assert!(matches!(*error.problem, Problem::NpyShape { .. }));
    let error = read_npy_column(Path::new("no.npy")).expect_err("no file");
    assert_eq!(*error.problem, Problem::NoSuchFile);
}

#[test]
fn arrays_are_not_written() {
    let folder = Folder::new();
    let table = Table::new("memory", vec![("a".into(), Column::Number(vec![1.0]))]).expect("one column");
    let schema = table.to_batch().expect("one column").schema();
    assert!(RowWriter::create(&Sink::Path(folder.path("o.npy")), None, schema).is_err());
}
