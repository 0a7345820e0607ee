//! How to read a table: [`ReadOptions`] and [`ColumnType`].

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::io::source::Format;
use crate::table::dates::formats::DateFormats;

/// What a column means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// A finite number.
    Number,
    /// True or false.
    Boolean,
    /// One of several names.
    Category,
    /// Words in their order.
    Text,
    /// A date or a date with a time.
    #[serde(alias = "datetime")]
    DateTime,
    /// Not read at all.
    Ignore,
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ColumnType::Number => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Category => "category",
            ColumnType::Text => "text",
            ColumnType::DateTime => "date_time",
            ColumnType::Ignore => "ignore",
        })
    }
}

/// How to read a file; the default suits most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadOptions {
    /// Overrules the file's name and its first bytes.
    pub format: Option<Format>,
    /// Overrules the search for the delimiter of a CSV file.
    pub delimiter: Option<char>,
    /// Cells (without surrounding blanks) that mean "no value".
    pub missing_values: Vec<String>,
    /// Overrules the inferred type of single columns.
    pub column_types: BTreeMap<String, ColumnType>,
    /// Overrules what the cells of dates tell.
    #[serde(skip_serializing_if = "DateFormats::is_empty")]
    pub date_formats: DateFormats,
    /// Columns in which `yes` and `no` (or `TRUE` and `false`, …) are kept as they are spelled, such as a target whose
    /// labels are shown again. Columns of typed files (Parquet, JSON) that hold booleans stay booleans.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep_spelling: Vec<String>,
}

impl ReadOptions {
    /// The type that the user gave a column; a format of its dates makes it one of dates.
    pub(crate) fn given_type(&self, name: &str) -> Option<ColumnType> {
        let dates = || self.date_formats.columns.contains_key(name).then_some(ColumnType::DateTime);
        self.column_types.get(name).copied().or_else(dates)
    }

    /// Columns whose type the user gave.
    pub(crate) fn given(&self) -> impl Iterator<Item = &String> {
        self.column_types.keys().chain(self.date_formats.columns.keys())
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        let missing = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"];
        ReadOptions {
            format: None,
            delimiter: None,
            missing_values: missing.map(String::from).into(),
            column_types: BTreeMap::new(),
            date_formats: DateFormats::default(),
            keep_spelling: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_is_refused() {
        assert!(serde_json::from_str::<ReadOptions>(r#"{"delimitr": ";"}"#).is_err());
        let options: ReadOptions =
            serde_json::from_str(r#"{"column_types": {"t": "date_time"}}"#).expect("valid");
        assert_eq!(options.column_types["t"], ColumnType::DateTime);
        assert_eq!(options.missing_values.len(), 10);
    }
}
