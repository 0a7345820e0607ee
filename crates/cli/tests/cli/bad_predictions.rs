//! Tables that a model cannot predict. Nothing is written, not even a part.

use crate::folder::Folder;
use crate::tables::{linear, mixed};

/// Predicts and evaluates a table of this content with a model of `t.csv` and expects a refusal with these words.
#[track_caller]
fn refused(content: &str, words: &[&str]) {
    let folder = Folder::with_model();
    folder.write("new.csv", content);
    folder.refuses("predict m.ign new.csv -o p.csv", words);
    folder.refuses("predict m.ign new.csv -o p.parquet", words);
    folder.refuses("evaluate m.ign new.csv", words);
}

#[test]
fn a_missing_column_is_named() {
    refused("a,y\n1,2\n", &["new.csv: column `b`", "not among the 2 columns"]);
    refused("a,B,y\n1,2,3\n", &["new.csv: column `b`", "did you mean `B`?"]);
}

#[test]
fn a_cell_that_is_not_a_number_is_told_with_line_and_column() {
    refused("a,b,y\n1,2,3\n1,two,3\n", &["new.csv:3: column `b`: expected a number, got \"two\""]);
    refused("a,b,y\n1,2,3\n1,1e999,3\n", &["new.csv:3: column `b`: \"1e999\" is not a finite number"]);
}

#[test]
fn a_fault_in_a_late_block_leaves_nothing_of_the_blocks_before() {
    let mut text = linear(20_000);
    text += "1,oops,2\n";
    refused(&text, &["new.csv:20002: column `b`: expected a number, got \"oops\""]);
}

#[test]
fn a_file_without_rows_is_refused() {
    refused("", &["new.csv: the file is empty"]);
    refused("a,b,y\n1,2,3\n1,2\n", &["new.csv:3: expected 3 fields"]);
}

/// A pipeline without news is no failure; an evaluation of nothing is.
#[test]
fn a_header_alone_is_predicted_into_a_header_alone_but_not_evaluated() {
    let folder = Folder::with_model();
    folder.write("new.csv", "a,b,y\n");
    assert_eq!(folder.ign("predict m.ign new.csv").succeeds().stdout, "row,mean,lower_90,upper_90,std\n");
    folder.refuses("evaluate m.ign new.csv", &["new.csv", "not one row"]);
}

#[test]
fn cells_of_the_wrong_type_are_told_with_line_and_column() {
    let folder = Folder::new();
    folder.write("t.csv", mixed(200));
    folder.train("t.csv --target price -o m.ign --quiet").succeeds();
    folder.write("new.csv", "size,colour,sold,day\n1,red,perhaps,2024-01-01\n");
    folder.refuses("predict m.ign new.csv -o p.csv", &["new.csv:2: column `sold`", "\"perhaps\""]);
    folder.write("new.csv", "size,colour,sold,day\n1,red,yes,01/02/2024\n");
    folder.refuses("predict m.ign new.csv -o p.csv", &["new.csv:2: column `day`", "\"01/02/2024\""]);
}

#[test]
fn an_evaluation_needs_the_target() {
    let folder = Folder::with_model();
    folder.write("new.csv", "a,b\n1,2\n");
    folder.refuses("evaluate m.ign new.csv", &["new.csv: column `y`"]);
    folder.write("new.csv", "a,b,y\n1,2,\n");
    folder.refuses("evaluate m.ign new.csv", &["new.csv: column `y`: the target has no value"]);
    folder.ign("predict m.ign new.csv").succeeds(); // a prediction does not
}

#[test]
fn files_that_are_not_there_are_named() {
    let folder = Folder::with_model();
    folder.refuses("predict m.ign none.csv -o p.csv", &["none.csv: no such file"]);
    folder.refuses("predict m.ign t.csv --keep none -o p.csv", &["t.csv: column `none`"]);
    folder.refuses("evaluate m.ign none.csv", &["none.csv: no such file"]);
}
