//! Arrow: record batches as a source of rows, and the cells of their arrays, which Parquet shares.

pub(crate) mod batches;
pub(crate) mod cells;
pub(crate) mod reader;
