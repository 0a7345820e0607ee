//! A fault of one file reaches all processes, with its true place.

use inducing_data::{Alone, EncodeOptions, Lane, Problem, ReadOptions, TableScan, TableSchema};

use super::threads::together;
use super::{rest, sample, scan, shards, texts};
use crate::folder::{Folder, assert_place};

/// The one error of a scan, on however many processes.
#[track_caller]
fn scan_error(folder: &Folder, pattern: &str) -> String {
    let source = shards(folder, pattern);
    let alone = scan(&source).expect_err("a fault").to_string();
    for size in 2..5 {
        let errors = together(size, |process| {
            TableScan::new(&source, &ReadOptions::default(), process).expect_err("a fault").to_string()
        });
        assert!(errors.iter().all(|error| *error == alone), "{size}: {errors:?} {alone}");
    }
    alone
}

#[test]
fn of_several_faults_that_of_the_first_file_is_told_everywhere() {
    let folder = Folder::new();
    folder.write("1.csv", "x,y\n1,2\n");
    folder.write("2.csv", "x,y\n1,2\n3\n");
    folder.write("3.csv", "x\n1\n");
    folder.write("4.csv", "\n\n");
    let error = scan_error(&folder, "*.csv");
    assert!(error.contains("2.csv:3: expected 2 fields"), "{error}");
    folder.write("2.csv", "x,y\n1,2\n3,4\n");
    let error = scan_error(&folder, "*.csv");
    assert!(error.contains("3.csv: column `y`: the column is missing here"), "{error}");
}

#[test]
fn a_spoiled_column_is_told_by_file_and_line() {
    let folder = Folder::new();
    folder.write("1.csv", format!("x\n{}", "1\n".repeat(30)));
    folder.write("2.csv", "x\n2\nn.a.\n3\n");
    let error = scan(&shards(&folder, "*.csv")).expect_err("a word among numbers");
    assert_place(&error, "2.csv", Some(3), Some("x"));
    scan_error(&folder, "*.csv");
}

#[test]
fn dates_that_contradict_each_other_are_told_with_both_files() {
    let folder = Folder::new();
    folder.write("1.csv", "d\n01/02/2020\n31/12/2020\n");
    folder.write("2.csv", "d\n03/04/2020\n12/30/2020\n");
    let error = scan_error(&folder, "*.csv");
    assert!(error.contains("2.csv:3: column `d`"), "{error}");
    assert!(error.contains("\"31/12/2020\" in line 3 of "), "{error}");
    assert!(error.contains("1.csv has the day first"), "{error}");
}

#[test]
fn two_types_in_two_files_are_told_at_the_first_cell_of_the_other_type() {
    let folder = Folder::new();
    folder.write("1.jsonl", "{\"x\": 1}\n");
    folder.write("2.jsonl", "{\"y\": 1}\n{\"y\": 2, \"x\": \"a\"}\n{\"x\": [1]}\n");
    let error = scan_error(&folder, "*.jsonl");
    assert!(error.contains("2.jsonl:2: column `x`: text here, but a number in the rows before"), "{error}");
    folder.write("2.jsonl", "{\"z\": []}\n{\"y\": 2, \"x\": \"a\"}\n");
    let error = scan_error(&folder, "*.jsonl");
    assert!(error.contains("2.jsonl:1: column `z`"), "a fault before it: {error}");
}

#[test]
fn a_file_that_changed_is_told_at_all_processes() {
    let folder = Folder::new();
    for file in 0..4 {
        folder.write(&format!("{file}.csv"), format!("x\n{}", format!("{file}\n").repeat(50)));
    }
    let scan = scan(&shards(&folder, "*.csv")).expect("readable");
    let rows = sample(&scan, 10, None).rows;
    folder.write("2.csv", "x\n1\n");
    let errors = together(3, |process| scan.sample(10, 7, None, process).expect_err("changed").to_string());
    assert!(errors[0].contains("2.csv: the file changed while it was learned from\nhint: "), "{errors:?}");
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    let alone = scan.sample(10, 7, None, &Alone).expect_err("changed");
    assert!(matches!(*alone.problem, Problem::FileChanged));
    let lane = Lane { index: 0, count: 1 };
    let error = scan.shuffled(&rows, 1, lane, 10).find_map(Result::err).expect("changed");
    assert_place(&error, "2.csv", None, None);
}

#[test]
fn an_infinite_number_is_found_when_rows_are_read_and_told_by_file_and_line() {
    let folder = Folder::new();
    folder.write("1.csv", format!("x\n{}", "1\n".repeat(50)));
    folder.write("2.csv", format!("x\n{}1e999\n", "\n2\n".repeat(50)));
    let scan = scan(&shards(&folder, "*.csv")).expect("types are clear");
    let errors = together(2, |process| scan.sample(10, 7, None, process).expect_err("infinite"));
    errors.iter().for_each(|error| assert_place(error, "2.csv", Some(102), Some("x")));
    assert_eq!(errors[0].to_string(), errors[1].to_string());
}

#[test]
fn rows_of_samples_and_windows_remember_their_file_and_line() {
    let folder = Folder::new();
    for file in 1..4 {
        let rows: String = (0..40).map(|row| format!("{file},{}\n", row + 2)).collect();
        folder.write(&format!("{file}.csv"), format!("file,line\n{rows}"));
    }
    let scan = scan(&shards(&folder, "*.csv")).expect("readable");
    let sample = sample(&scan, 20, None);
    let mut tables = rest(&scan, &sample.rows, 25);
    tables.push(sample.table);
    for table in tables {
        let (files, lines) = (texts(&table, "file"), texts(&table, "line"));
        for row in 0..table.rows() {
            assert!(table.file_of(row).ends_with(&format!("{}.csv", files[row])));
            assert_eq!(table.line(row).map(|line| line.to_string()), Some(lines[row].clone()));
        }
    }
}

#[test]
fn an_outlier_in_a_sample_is_told_by_file_and_line() {
    let folder = Folder::new();
    folder.write("1.csv", format!("x,y\n{}", "1,2\n2,3\n3,5\n".repeat(20)));
    folder.write("2.csv", format!("x,y\n{}9e15,1\n", "1,2\n3,2\n".repeat(5)));
    let scan = scan(&shards(&folder, "*.csv")).expect("readable");
    let table = sample(&scan, 100, None).table;
    let rows: Vec<usize> = (0..table.rows()).collect();
    let fitted = TableSchema::fit(&table, &["y".into()], None, &rows, &EncodeOptions::default());
    let notices: Vec<String> = fitted.expect("numbers").1.iter().map(ToString::to_string).collect();
    let place = format!("in line 12 of {} is so far away", folder.path("2.csv").display());
    assert!(notices.iter().any(|notice| notice.contains(&place)), "{notices:?}");
}
