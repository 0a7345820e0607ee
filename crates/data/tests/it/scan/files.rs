//! Processes have the same files, or are told which differs.

use std::time::{Duration, SystemTime};

use inducing_data::{ReadOptions, TableScan, Together};

use super::threads::together;
use super::{scan, shards};
use crate::folder::Folder;

const HINT: &str = "\nhint: put the same files at the same places on all hosts";

/// The error that each process gets, of which each has a folder.
fn errors(folders: &[Folder]) -> Vec<String> {
    let found = together(folders.len(), |process| {
        let source = shards(&folders[process.rank()], "*.csv");
        TableScan::new(&source, &ReadOptions::default(), process).expect_err("other files").to_string()
    });
    let message = |error: String| error.split_once(": ").expect("a name").1.to_owned();
    found.into_iter().map(message).collect()
}

fn three() -> [Folder; 3] {
    let folders = [Folder::new(), Folder::new(), Folder::new()];
    for folder in &folders {
        folder.write("part-1.csv", "x\n1\n");
        folder.write("part-2.csv", "x\n2\n");
    }
    folders
}

/// What all processes are told if one of them has this file.
#[track_caller]
fn told(process: usize, file: &str, content: &str) -> String {
    let folders = three();
    folders[process].write(file, content);
    let errors = errors(&folders);
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    let message = errors[0].strip_suffix(HINT).expect("a hint");
    message.strip_prefix("processes read different files: ").expect("the problem").to_owned()
}

#[test]
fn every_process_is_told_the_first_file_that_differs_and_how() {
    let size = "`part-2.csv` has 4 bytes at process 0 and 5 at process 2";
    assert_eq!(told(2, "part-2.csv", "x\n22\n"), size);
    let contents = "`part-1.csv` has other contents at process 0 than at process 1";
    assert_eq!(told(1, "part-1.csv", "x\n7\n"), contents);
    let more = "`part-3.csv` is at process 1 and not at process 0";
    assert_eq!(told(1, "part-3.csv", "x\n7\n"), more);
    let fewer = "`part-3.csv` is at process 0 and not at process 1";
    assert_eq!(told(0, "part-3.csv", "x\n7\n"), fewer);
    let other = "file 1 is `part-1.csv` at process 0 and `part-0.csv` at process 1";
    assert_eq!(told(1, "part-0.csv", "x\n7\n"), other);
}

#[test]
fn the_end_of_a_large_file_is_compared_too() {
    let folders = [Folder::new(), Folder::new()];
    for (folder, last) in folders.iter().zip(["1", "2"]) {
        folder.write("1.csv", format!("x\n{}{last}\n", "5\n".repeat(100_000)));
    }
    assert!(errors(&folders)[0].contains("`1.csv` has other contents"));
}

#[test]
fn copies_have_one_fingerprint_whenever_and_wherever_they_are() {
    let [one, other, _] = three();
    let file = std::fs::File::options().write(true).open(other.path("part-1.csv")).expect("there");
    file.set_modified(SystemTime::now() - Duration::from_secs(1000)).expect("settable");
    let fingerprint = |folder: &Folder| scan(&shards(folder, "*.csv")).expect("readable").fingerprint();
    assert_eq!(fingerprint(&one), fingerprint(&other));
    assert!(fingerprint(&one).len() < 60);
    other.write("part-1.csv", "x\n3\n");
    assert_ne!(fingerprint(&one), fingerprint(&other), "as many rows and bytes");
}
