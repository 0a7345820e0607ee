//! What to read: [`Source`] and [`Format`].

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::compression::without_ending;
use super::shards::Shards;
use crate::table::arrow::batches::Batches;

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Arrow record batches.
    Batches(Batches),
    /// Several files.
    Shards(Shards),
}

impl Source {
    /// `-` is standard input, anything else a path.
    #[must_use]
    pub fn new(name: &str) -> Self {
        if name == "-" { Source::Stdin } else { Source::Path(name.into()) }
    }

    /// Whether these are files that can be read as often as need be.
    #[must_use]
    pub fn is_files(&self) -> bool {
        match self {
            Source::Path(path) => path.is_file(),
            Source::Shards(_) => true,
            Source::Stdin | Source::Batches(_) => false,
        }
    }

    /// Whether what was read is gone.
    #[must_use]
    pub fn is_read_once(&self) -> bool {
        match self {
            Source::Path(_) | Source::Shards(_) => false,
            Source::Stdin => true,
            Source::Batches(batches) => batches.in_memory().is_none(),
        }
    }
}

impl FromStr for Source {
    type Err = Infallible;
    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(Source::new(name))
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Source::Path(path.into())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Path(path) => write!(f, "{}", path.display()),
            Source::Stdin => f.write_str("<stdin>"),
            Source::Batches(batches) => f.write_str(batches.name()),
            Source::Shards(shards) => f.write_str(shards.name()),
        }
    }
}

/// How a table is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Delimited text with a header line.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// One JSON object a line.
    JsonLines,
    /// An array of NumPy, with columns `x0`, `x1`, …; read only.
    Npy,
}

impl Format {
    /// The format that a file's name promises; a trailing `.gz` or `.xz` is looked through.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        match without_ending(&name).rsplit_once('.')?.1 {
            "csv" | "tsv" | "txt" => Some(Format::Csv),
            "parquet" | "pq" => Some(Format::Parquet),
            "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
            "npy" => Some(Format::Npy),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_format_through_gz() {
        let format = |name: &str| Format::from_path(Path::new(name));
        assert_eq!(format("a/b.CSV.gz"), Some(Format::Csv));
        assert_eq!(format("b.tsv"), Some(Format::Csv));
        assert_eq!(format("b.pq"), Some(Format::Parquet));
        assert_eq!(format("b.ndjson.gz"), Some(Format::JsonLines));
        assert_eq!(format("b.jsonl.xz"), Some(Format::JsonLines));
        assert_eq!(format("b.npy"), Some(Format::Npy));
        assert_eq!(format("b.xlsx"), None);
    }

    #[test]
    fn a_dash_is_standard_input() {
        assert_eq!(Source::new("-"), Source::Stdin);
        assert_eq!(Source::new("-.csv"), Source::Path("-.csv".into()));
    }
}
