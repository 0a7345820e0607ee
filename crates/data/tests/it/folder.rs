//! A temporary folder with files to read.

use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use inducing_data::{Column, DataError, ReadOptions, Source, Table, read_table};

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn source(&self, name: &str) -> Source {
        Source::Path(self.path(name))
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Source {
        std::fs::write(self.path(name), content).expect("a temporary folder is writable");
        self.source(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a temporary folder is readable");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).expect("memory is writable");
    encoder.finish().expect("memory is writable")
}

/// The table in a file of this name and content.
pub(crate) fn table_of(name: &str, content: impl AsRef<[u8]>) -> Table {
    let folder = Folder::new();
    read_table(&folder.write(name, content), &ReadOptions::default()).expect("a readable table")
}

/// The error in a file of this name and content.
pub(crate) fn error_of(name: &str, content: impl AsRef<[u8]>) -> DataError {
    let folder = Folder::new();
    read_table(&folder.write(name, content), &ReadOptions::default()).expect_err("an unreadable table")
}

/// File name, line and column, and that the message carries a hint.
#[track_caller]
pub(crate) fn assert_place(error: &DataError, file: &str, line: Option<u64>, column: Option<&str>) {
    assert!(error.file.ends_with(file), "{error}");
    assert_eq!((error.line, error.column.as_deref()), (line, column), "{error}");
    let hint = error.hint().expect("every fault has a remedy");
    assert!(error.to_string().ends_with(&format!("\nhint: {hint}")), "{error}");
}

#[track_caller]
pub(crate) fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name).expect("the column exists") {
        Column::Number(values) => values,
        other => panic!("`{name}` is not a number column but {other:?}"),
    }
}

#[track_caller]
pub(crate) fn texts(table: &Table, name: &str) -> Vec<Option<String>> {
    match table.column(name).expect("the column exists") {
        Column::Category { codes, levels } => {
            codes.iter().map(|code| code.map(|code| levels[code as usize].clone())).collect()
        }
        other => panic!("`{name}` is not a category but {other:?}"),
    }
}
