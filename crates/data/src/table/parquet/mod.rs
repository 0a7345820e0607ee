//! Parquet through its column API, without the `arrow` feature of the `parquet` crate: that feature compiles arrow's
//! compute kernels (`arrow-select`, `arrow-ord`, `arrow-cast`, `arrow-ipc`), of which a table needs none.
//!
//! `types.rs` maps types both ways, `reader.rs` and `writer.rs` move the values.

pub(crate) mod reader;
pub(crate) mod types;
pub(crate) mod writer;
