//! Targets that cannot be learned.

use inducing_data::{Column, DataError, EncodeOptions, Problem, Table, TableSchema, Task, rows_with_targets};

use crate::folder::{assert_place, table_of};

fn fit_error(content: &str, target: &str) -> DataError {
    task_error(content, target, None)
}

fn task_error(content: &str, target: &str, task: Option<Task>) -> DataError {
    let table = table_of("t.csv", content);
    let targets = [target.to_owned()];
    match rows_with_targets(&table, &targets) {
        Err(error) => error,
        Ok((rows, _)) => {
            TableSchema::fit(&table, &targets, task, &rows, &EncodeOptions::default()).expect_err("unusable")
        }
    }
}

#[test]
fn a_target_that_is_not_in_the_header_is_told_with_the_closest_name() {
    let error = fit_error("x,price\n1,2\n3,4\n", "prise");
    assert_place(&error, "t.csv", None, Some("prise"));
    assert_eq!(error.hint().as_deref(), Some("did you mean `price`?"));
    let error = fit_error("x,price\n1,2\n3,4\n", "weight");
    assert_eq!(error.hint().as_deref(), Some("the file has `x`, `price`"));
    let error = fit_error("5.1,3.5\n1,2\n3,4\n", "price");
    assert!(error.hint().is_some_and(|hint| hint.contains("header")), "{error}");
}

#[test]
fn a_target_that_is_not_numeric_is_told_with_examples_if_a_number_is_wanted() {
    let regression = Some(Task::Regression);
    let error = task_error("x,y\n1,red\n2,blue\n", "y", regression);
    assert_place(&error, "t.csv", None, Some("y"));
    assert!(error.to_string().contains("not numeric but category, with values such as \"red\", \"blue\""));
    let error = task_error("x,y\n1,yes\n2,no\n", "y", regression);
    assert_place(&error, "t.csv", None, Some("y"));
    assert!(matches!(*error.problem, Problem::TargetNotNumeric { .. }));
    assert!(error.hint().is_some_and(|hint| hint.contains("--task regression")), "{error}");
}

#[test]
fn numbers_in_foreign_notation_and_dates_are_not_taken_for_classes() {
    let error = fit_error("x;y\n1;1,5\n2;2,5\n3;1,5\n4;2,5\n", "y");
    assert_place(&error, "t.csv", None, Some("y"));
    assert!(error.hint().is_some_and(|hint| hint.contains("decimal point")), "{error}");
    let error = fit_error("x,y\n1,$5\n2,$7\n3,$5\n", "y");
    assert!(error.hint().is_some_and(|hint| hint.contains("currency")), "{error}");
    let error = fit_error("x,y\n1,31.12.2016\n2,30.12.2016\n3,31.12.2016\n", "y");
    assert!(error.to_string().contains("2016-12-31T00:00:00"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("data.columns.y = \"category\"")), "{error}");
}

#[test]
fn a_target_of_dates_is_refused_for_either_task() {
    for task in [None, Some(Task::Regression), Some(Task::Classification)] {
        let error = task_error("x,y\n1,2016-01-11\n2,2016-01-12\n3,2016-01-12\n", "y", task);
        assert_place(&error, "t.csv", None, Some("y"));
        assert!(error.to_string().contains("2016-01-11T00:00:00"), "{error}");
        assert!(matches!(*error.problem, Problem::TargetIsDate { .. }));
    }
}

#[test]
fn a_target_without_any_value_is_told() {
    let error = fit_error("x,y\n1,\n2,NA\n", "y");
    assert_place(&error, "t.csv", None, Some("y"));
    assert_eq!(*error.problem, Problem::TargetAllMissing { rows: 2 });
}

#[test]
fn one_row_is_too_few() {
    let error = fit_error("x,y\n1,2\n", "y");
    assert_place(&error, "t.csv", None, Some("y"));
    assert_eq!(*error.problem, Problem::TooFewRows { rows: 1 });
}

#[test]
fn a_target_of_one_value_is_told() {
    let error = fit_error("x,y\n1,0.1\n2,0.1\n3,0.1\n", "y");
    assert_place(&error, "t.csv", None, Some("y"));
    assert_eq!(*error.problem, Problem::ConstantTarget { value: 0.1, rows: 3 });
}

#[test]
fn a_table_without_usable_inputs_is_told() {
    let error = fit_error("x,y\n1,2\n1,3\n", "y");
    assert_place(&error, "t.csv", None, None);
    assert_eq!(*error.problem, Problem::NoInputs);
}

#[test]
fn an_infinite_target_made_in_memory_is_refused_at_its_row() {
    let columns = vec![("y".into(), Column::Number(vec![1.0, f64::INFINITY]))];
    let table = Table::new("frame", columns).expect("a table");
    let error = rows_with_targets(&table, &["y".into()]).expect_err("infinite");
    assert_eq!((error.row, error.column.as_deref()), (Some(2), Some("y")));
}

#[test]
fn rows_without_a_target_are_counted_and_left_out() {
    let table = table_of("t.csv", "x,y,z\n1,2,1\n2,,1\n3,4,\n5,6,1\n");
    let rows = rows_with_targets(&table, &["y".into(), "z".into()]).expect("two rows are complete");
    assert_eq!(rows, (vec![0, 3], 2));
}
