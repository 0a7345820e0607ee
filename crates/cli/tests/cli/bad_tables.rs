//! Tables that cannot be learned from. Each is refused before anything is written.

use crate::folder::Folder;
use crate::tables::linear;

/// Trains on a table of this content and expects a refusal with these words.
#[track_caller]
fn refused(content: impl AsRef<[u8]>, words: &[&str]) {
    let folder = Folder::new();
    folder.write("t.csv", content);
    folder.refuses_to_train("t.csv --target y -o m.ign", words);
}

#[test]
fn a_path_that_is_not_there_or_a_folder_is_refused() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sub")).expect("a temporary folder is writable");
    folder.refuses_to_train("none.csv --target y -o m.ign", &["none.csv: no such file"]);
    folder.refuses_to_train("sub --target y -o m.ign", &["sub", "--target"]); // a folder is taken for images
    folder.refuses_to_train("sub -o m.ign", &["sub: the folder is empty"]);
}

#[test]
fn a_file_without_rows_is_refused() {
    refused("", &["t.csv: the file is empty"]);
    refused("\n\n\n", &["t.csv: the file is empty"]);
    refused("a,b,y\n", &["t.csv: there is a header of 3 columns but not one row"]);
}

#[test]
fn a_ragged_row_is_refused_with_its_line() {
    refused("a,b,y\n1,2,3\n4,5,6\n7,8\n", &["t.csv:4: expected 3 fields as in the header, got 2"]);
    refused("a,b,y\n1,2,3\n4,5,6,7\n7,8,9\n", &["t.csv:3: expected 3 fields as in the header, got 4"]);
}

#[test]
fn a_wrong_delimiter_is_refused_with_the_right_one() {
    let folder = Folder::new();
    folder.write("t.csv", linear(50).replace(',', ";"));
    folder.train("t.csv --target y -o m.ign --quiet").succeeds(); // found by itself
    folder.refuses_to_train("t.csv --target y -o n.ign --delimiter ,", &["t.csv", "`a;b;y`"]);
    folder.write("u.csv", "a;b;y\n1;2\n3;4;5\n"); // ragged: no delimiter fits, the header's is told
    folder.refuses_to_train("u.csv --target y -o n.ign", &["u.csv:1", "--delimiter ';'"]);
    folder.refuses_to_train("t.csv --target y -o n.ign --delimiter é", &["t.csv", "delimiter"]);
}

#[test]
fn bytes_that_are_not_text_are_refused_with_their_line() {
    refused(b"a,b,y\n1,2,3\n4,\xff\xfe,6\n", &["t.csv:3", "not UTF-8 text"]);
    refused(b"a,b\xe9,y\n1,2,3\n", &["t.csv:1", "not UTF-8 text"]);
    refused(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &["t.csv"]);
    refused(b"PK\x03\x04\x14\0\0\0\x08\0", &["t.csv"]);
}

#[test]
fn a_target_that_is_not_there_is_refused_with_the_nearest_name() {
    let folder = Folder::new();
    folder.write("t.csv", linear(50).replace("a,b,y", "a,b,price"));
    folder.refuses_to_train(
        "t.csv --target prise -o m.ign",
        &["t.csv: column `prise`", "did you mean `price`?"],
    );
    folder
        .refuses_to_train("t.csv --target weight -o m.ign", &["t.csv: column `weight`", "`a`, `b`, `price`"]);
    folder.refuses_to_train("t.csv -o m.ign", &["t.csv", "--target"]);
}

#[test]
fn a_target_named_twice_is_refused() {
    let folder = Folder::new();
    folder.write("t.csv", linear(50));
    folder.refuses_to_train("t.csv --target y,y -o m.ign", &["`y`"]);
}

#[test]
fn a_target_that_is_no_number_is_refused_with_examples() {
    let not_numeric = |content: &str, words: &[&str]| {
        let folder = Folder::new();
        folder.write("t.csv", content);
        let words = [&["t.csv: column `y`: the target is not numeric"], words].concat();
        folder.refuses_to_train("t.csv --target y -o m.ign --task regression", &words);
    };
    not_numeric("a,y\n1,low\n2,high\n3,low\n", &["\"low\""]);
    not_numeric("a,y\n1,true\n2,false\n3,true\n", &["to learn classes"]);
    refused("a,y\n1,2024-01-01\n2,2024-01-02\n3,2024-01-03\n", &["column `y`: the target is a date"]);
    refused("a,y\n1,\"1,5\"\n2,\"2,5\"\n3,\"3,5\"\n", &["column `y`", "decimal point"]);
}

#[test]
fn a_target_without_values_or_with_one_is_refused() {
    refused("a,y\n1,\n2,NA\n3,\n", &["t.csv: column `y`: the target has no value in any of 3 rows"]);
    refused("a,y\n1,5\n2,5\n3,5\n", &["t.csv: column `y`: the target is 5 in all 2 rows"]);
}

#[test]
fn one_row_is_too_few() {
    refused("a,y\n1,5\n", &["t.csv: column `y`: training needs at least 2 rows, got 1"]);
    refused("a,y\n1,5\n2,\n3,\n", &["training needs at least 2 rows, got 1"]);
}

#[test]
fn a_table_without_inputs_is_refused() {
    refused("y\n1\n2\n3\n", &["t.csv: no input column is left"]);
    refused("a,y\n7,1\n7,2\n7,3\n", &["t.csv: no input column is left"]);
}

#[test]
fn numbers_beyond_the_range_are_refused_with_line_and_column() {
    refused("a,b,y\n1,2,3\n4,1e999,6\n7,8,9\n", &["t.csv:3: column `b`: \"1e999\" is not a finite number"]);
    refused("a,b,y\n1,2,3\n4,5,-1e999\n7,8,9\n", &["t.csv:3: column `y`: \"-1e999\" is not a finite number"]);
    refused("a,b,y\n1,inf,3\n4,5,6\n7,8,9\n", &["t.csv:2: column `b`", "is not a finite number"]);
}

#[test]
fn one_word_in_a_column_of_numbers_is_refused_with_line_and_column() {
    let mut lines: Vec<String> = linear(50).lines().map(str::to_owned).collect();
    lines[20] = "n/a,0.5,1".into();
    refused(
        lines.join("\n"),
        &["t.csv:21: column `a`: expected a number, got \"n/a\"", "data.missing_values"],
    );
}

#[test]
fn two_columns_of_one_name_are_refused() {
    refused("a,b,a,y\n1,2,3,4\n5,6,7,8\n", &["t.csv", "column `a`", "column 1 and column 3"]);
}

#[test]
fn damaged_files_of_every_format_are_refused() {
    let folder = Folder::new();
    for name in ["t.csv.gz", "t.parquet", "t.jsonl"] {
        folder.ign(&format!("data generate levy --rows 100 -o {name}")).succeeds();
        let bytes = folder.read(name);
        folder.write(name, &bytes[..bytes.len() - 20]);
        folder.refuses_to_train(&format!("{name} --target y -o m.ign"), &[name]);
    }
    folder.write("t.jsonl", "{\"a\":1,\"y\":2}\n{\"a\":1,\"y\":\n");
    folder.refuses_to_train("t.jsonl --target y -o m.ign", &["t.jsonl:2: not valid json"]);
    folder.write("t.jsonl", "[1,2]\n");
    folder.refuses_to_train("t.jsonl --target y -o m.ign", &["t.jsonl:1", "jq -c"]);
}

#[test]
fn a_bad_table_on_a_pipe_is_told_as_standard_input() {
    let folder = Folder::new();
    let run = folder.ign_reading("train - --target y", b"a,b,y\n1,2,3\n4,5\n");
    run.is_refused(&["<stdin>:3: expected 3 fields"]);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}
