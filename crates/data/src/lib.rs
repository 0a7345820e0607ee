//! The data layer of `ign`: tables in, matrices through, predictions out.
//!
//! ```text
//! file or pipe ──read_table / read_blocks──▶ Table ──TableSchema::encode──▶ matrix
//! predictions  ──RowWriter──▶ csv, parquet or json lines
//! ```
//!
//! Every failure is a [`DataError`] that names file, line and column and, where there is one, the remedy.
//! What this crate refuses to do: guess ambiguous dates, repair ragged rows, accept infinite numbers.
#![forbid(unsafe_code)]

mod atomic;
mod blocks;
mod build;
mod cell;
mod csv_reader;
mod datetime;
mod delimiter;
mod encode;
mod error;
mod fit;
mod hint;
mod infer;
mod input;
mod json_reader;
mod json_row;
mod nearest;
mod notice;
mod output;
mod parquet_reader;
mod places;
mod problem;
mod read;
mod reader;
mod records;
mod scale;
mod schema;
mod simulated;
mod sniff;
mod source;
mod split;
mod table;
mod target;
mod write;

pub use arrow::record_batch::RecordBatch;
pub use atomic::write_atomically;
pub use blocks::{Block, Blocks, read_blocks};
pub use datetime::DatePart;
pub use encode::Encoded;
pub use error::DataError;
pub use notice::Notice;
pub use problem::Problem;
pub use read::{read_columns, read_table};
pub use scale::{Scale, Scaling};
pub use schema::{EncodeOptions, Encoding, InputColumn, TableSchema, TargetColumn};
pub use simulated::Simulated;
pub use source::{ColumnType, Format, ReadOptions, Source};
pub use split::split;
pub use table::{Column, Table};
pub use target::rows_with_targets;
pub use write::{RowWriter, Sink};
