//! Tables in several files.

use inducing_data::{ColumnType, ReadOptions, Shards, Source, read_blocks, read_table};

use crate::folder::Folder;

fn shards(folder: &Folder, pattern: &str) -> Source {
    let name = folder.path(pattern).display().to_string();
    Source::Shards(Shards::recognise(&name).expect("a pattern").expect("files match"))
}

fn texts(source: &Source, column: &str) -> Vec<String> {
    let table = read_table(source, &ReadOptions::default()).expect("readable");
    let column = table.column(column).expect("there");
    (0..table.rows()).map(|row| column.text(row)).collect()
}

#[test]
fn files_are_one_table_in_the_order_of_their_names_with_columns_matched_by_name() {
    let folder = Folder::new();
    folder.write("b.csv", "y,x\n40,4\n");
    folder.write("a.csv", "x,y\n1,10\n2,20\n");
    folder.write("c.jsonl", "{\"x\": 5, \"y\": 50}\n{\"y\": 60}\n");
    folder.write("_SUCCESS", "");
    assert_eq!(texts(&shards(&folder, "*.csv"), "x"), ["1", "2", "4"]);
    assert_eq!(texts(&shards(&folder, "[ab].csv"), "y"), ["10", "20", "40"]);
    // A folder of nothing but tables needs no pattern; formats may differ as long as texts and numbers do not.
    let whole = Source::Shards(
        Shards::recognise(&folder.path("").display().to_string()).expect("readable").expect("tables"),
    );
    assert!(
        read_table(&whole, &ReadOptions::default()).is_err(),
        "text from CSV and numbers from JSON lines are two types"
    );
}

#[test]
fn a_key_that_only_a_later_file_has_is_missing_in_the_rows_before() {
    let folder = Folder::new();
    folder.write("1.jsonl", "{\"x\": 1}\n");
    folder.write("2.jsonl", "{\"z\": \"new\"}\n{\"x\": 3}\n");
    let source = shards(&folder, "*.jsonl");
    assert_eq!(texts(&source, "x"), ["1", "", "3"]);
    assert_eq!(texts(&source, "z"), ["", "new", ""]);
}

#[test]
fn an_empty_file_is_a_shard_without_rows_and_a_truncated_one_is_named() {
    let folder = Folder::new();
    folder.write("1.csv", "x\n1\n");
    folder.write("2.csv", "");
    folder.write("3.csv", "x\n");
    folder.write("4.csv", "x\n4\n");
    assert_eq!(texts(&shards(&folder, "*.csv"), "x"), ["1", "4"]);
    folder.write("5.parquet", "PAR1 and then nothing");
    let error =
        read_table(&shards(&folder, "[15].*"), &ReadOptions::default()).expect_err("cut off").to_string();
    assert!(error.contains("5.parquet: not a readable parquet file"), "{error}");
    let empty = Folder::new();
    empty.write("1.csv", "");
    assert!(read_table(&shards(&empty, "*.csv"), &ReadOptions::default()).is_err());
}

#[test]
fn a_shard_with_other_columns_is_named_with_the_column_and_the_first_shard() {
    let folder = Folder::new();
    folder.write("1.csv", "x,y\n1,2\n");
    folder.write("2.csv", "x\n3\n");
    let error =
        read_table(&shards(&folder, "*.csv"), &ReadOptions::default()).expect_err("y is missing").to_string();
    assert!(
        error.contains("2.csv: column `y`: the column is missing here, and")
            && error.contains("1.csv has it"),
        "{error}"
    );
    folder.write("2.csv", "x,y,z\n3,4,5\n");
    let error =
        read_table(&shards(&folder, "*.csv"), &ReadOptions::default()).expect_err("z is new").to_string();
    assert!(error.contains("2.csv: column `z`: the column is not in"), "{error}");
    // To predict, columns that nobody asks for do not matter.
    let columns = [("x".to_owned(), ColumnType::Number)];
    let blocks = read_blocks(&shards(&folder, "*.csv"), &ReadOptions::default(), &columns, &[], 100)
        .expect("readable");
    assert_eq!(blocks.map(|block| block.expect("sound").table.rows()).sum::<usize>(), 2);
}

#[test]
fn blocks_go_on_from_file_to_file_and_carry_columns_along() {
    let folder = Folder::new();
    for file in 0..5 {
        let rows: String = (0..7).map(|row| format!("{},row {file} {row}\n", 10 * file + row)).collect();
        folder.write(&format!("{file}.csv"), format!("x,name\n{rows}"));
    }
    let columns = [("x".to_owned(), ColumnType::Number)];
    let keep = ["name".to_owned()];
    let blocks = read_blocks(&shards(&folder, "*.csv"), &ReadOptions::default(), &columns, &keep, 8)
        .expect("readable");
    let blocks: Vec<_> = blocks.map(|block| block.expect("sound")).collect();
    let sizes: Vec<usize> = blocks.iter().map(|block| block.table.rows()).collect();
    assert_eq!(sizes, [8, 8, 8, 8, 3]);
    assert!(blocks.iter().all(|block| block.passthrough.num_rows() == block.table.rows()));
    assert_eq!(blocks[4].table.column("x").expect("there").text(2), "46");
}

#[test]
fn a_pattern_without_files_says_so() {
    let folder = Folder::new();
    let name = folder.path("*.parquet").display().to_string();
    let error = Shards::recognise(&name).expect_err("nothing there").to_string();
    assert!(error.contains("no file matches") && error.contains("hint:"), "{error}");
    assert!(Shards::recognise("a.csv").expect("no pattern").is_none());
}

#[cfg(unix)]
#[test]
fn links_and_hidden_folders_add_no_rows_and_a_link_to_nowhere_is_an_error() {
    let folder = Folder::new();
    for name in ["a", ".hidden", "_temporary"] {
        std::fs::create_dir(folder.path(name)).expect("writable");
        folder.write(&format!("{name}/1.csv"), "x\n1\n");
    }
    std::os::unix::fs::symlink(folder.path("a"), folder.path("a/loop")).expect("writable");
    std::os::unix::fs::symlink(folder.path("a/1.csv"), folder.path("a/2.csv")).expect("writable");
    assert_eq!(texts(&shards(&folder, "**/*.csv"), "x"), ["1"]);
    assert_eq!(texts(&shards(&folder, "_temporary/*.csv"), "x"), ["1"], "asked for by name");
    std::os::unix::fs::symlink(folder.path("nowhere"), folder.path("a/3.csv")).expect("writable");
    let name = folder.path("a/*.csv").display().to_string();
    let error = Shards::recognise(&name).expect_err("a link to nowhere").to_string();
    assert!(error.contains("3.csv") && error.contains("no such file"), "{error}");
}
