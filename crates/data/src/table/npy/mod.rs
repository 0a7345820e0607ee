//! NumPy arrays: `header.rs` parses what an array is, `reader.rs` moves cells. They are read, not written.

pub(crate) mod header;
pub(crate) mod reader;
