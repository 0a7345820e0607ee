//! JSON lines: `row.rs` parses one object, `reader.rs` and `writer.rs` move cells.

pub(crate) mod reader;
pub(crate) mod row;
pub(crate) mod writer;
