//! Files for prediction that do not fit the model.

use inducing_data::{ColumnType, DataError, Problem, ReadOptions, read_blocks};

use crate::folder::{Folder, assert_place};

fn fault(name: &str, content: &str, keep: &[&str]) -> DataError {
    let folder = Folder::new();
    let source = folder.write(name, content);
    let columns = [("age".to_owned(), ColumnType::Number), ("born".to_owned(), ColumnType::DateTime)];
    let keep: Vec<String> = keep.iter().map(|name| (*name).to_owned()).collect();
    match read_blocks(&source, &ReadOptions::default(), &columns, &keep, 2) {
        Err(error) => error,
        Ok(blocks) => blocks.filter_map(Result::err).next().expect("a fault"),
    }
}

#[test]
fn a_missing_column_is_told_with_the_closest_name() {
    let error = fault("p.csv", "Age,borne\n1,2016-01-01\n", &[]);
    assert_place(&error, "p.csv", None, Some("age"));
    assert_eq!(error.hint().as_deref(), Some("did you mean `Age`?"));
    let error = fault("p.csv", "age,born\n1,2016-01-01\n", &["idd"]);
    assert_place(&error, "p.csv", None, Some("idd"));
}

#[test]
fn a_key_that_no_json_row_has_is_a_missing_column() {
    let error = fault("p.jsonl", "{\"age\": 1, \"Born\": \"2016-01-01\"}\n{\"age\": 2}\n", &[]);
    assert_place(&error, "p.jsonl", None, Some("born"));
    assert_eq!(error.hint().as_deref(), Some("did you mean `Born`?"));
}

#[test]
fn a_cell_that_is_not_a_number_is_told_with_line_and_column() {
    let error = fault("p.csv", "born,age\n2016-01-01,1\n2016-01-01,2\n2016-01-01,3\n2016-01-01,old\n", &[]);
    assert_place(&error, "p.csv", Some(5), Some("age"));
    assert_eq!(*error.problem, Problem::ExpectedNumber { got: "old".into() });
}

#[test]
fn a_cell_that_is_not_a_date_is_told_with_line_and_column() {
    let error = fault("p.csv", "born,age\n2016-01-01,1\n01/02/2016,2\n", &[]);
    assert_place(&error, "p.csv", Some(3), Some("born"));
    assert!(matches!(*error.problem, Problem::ExpectedDateTime { .. }));
}

#[test]
fn an_infinite_cell_is_told_with_line_and_column() {
    let error = fault("p.csv", "born,age\n2016-01-01,1e999\n", &[]);
    assert_place(&error, "p.csv", Some(2), Some("age"));
}

#[test]
fn the_iterator_ends_after_its_first_error() {
    let folder = Folder::new();
    let source = folder.write("p.csv", "age\n1\nx\n2\n3\n");
    let columns = [("age".to_owned(), ColumnType::Number)];
    let blocks = read_blocks(&source, &ReadOptions::default(), &columns, &[], 1).expect("readable");
    let good: Vec<bool> = blocks.map(|block| block.is_ok()).collect();
    assert_eq!(good, [true, false]);
}
