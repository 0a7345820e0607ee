//! Delimited text: `records.rs` cuts it into records, `delimiter.rs` finds the delimiter, `reader.rs` and `writer.rs`
//! move cells.

pub(crate) mod delimiter;
pub(crate) mod reader;
pub(crate) mod records;
pub(crate) mod writer;
