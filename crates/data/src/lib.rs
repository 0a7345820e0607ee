//! The data layer of `ign`: tables, images and graphs in, matrices through, predictions out.
//!
//! ```text
//! file or pipe ──read_table / read_blocks──▶ Table ──TableSchema::encode──▶ matrix
//! pictures     ──read_images──▶ ImageSet ──ImageSchema::conform──▶ bytes
//! graphs       ──read_graphs──▶ GraphSet ──GraphSchema::encode──▶ node features
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
mod classes;
mod container;
mod csv_reader;
mod datetime;
mod delimiter;
mod encode;
mod error;
mod fit;
mod graphs;
mod hint;
mod images;
mod infer;
mod input;
mod json_reader;
mod json_row;
mod kept;
mod looks;
mod named;
mod named_table;
mod natural;
mod nearest;
mod notice;
mod npy;
mod npy_reader;
mod output;
mod parquet_reader;
mod parquet_writer;
mod places;
mod problem;
mod prose;
mod read;
mod reader;
mod records;
mod scale;
mod schema;
mod simulated;
mod sniff;
mod source;
mod split;
mod suspect;
mod table;
mod target;
mod task;
mod text;
mod write;
mod zoned;

pub use arrow::record_batch::RecordBatch;
pub use atomic::write_atomically;
pub use blocks::{Block, Blocks, read_blocks};
pub use classes::{ClassTarget, class_codes};
pub use container::unpacked;
pub use datetime::DatePart;
pub use encode::Encoded;
pub use error::DataError;
pub use graphs::{
    AttributeScale, DegreeFeature, DegreeScale, GraphFeatures, GraphOptions, GraphProblem, GraphSchema,
    GraphSet, GraphSource, read_graphs,
};
pub use images::{
    ImageOptions, ImageProblem, ImageSchema, ImageSet, ImageSize, ImageSource, Part, Progress, read_images,
};
pub use looks::Notation;
pub use named::{NamedSet, SetKind, data_dir};
pub use named_table::NamedTable;
pub use nearest::nearest;
pub use notice::Notice;
pub use npy_reader::read_npy_column;
pub use problem::Problem;
pub use read::{read_columns, read_table};
pub use scale::{Scale, Scaling};
pub use schema::{EncodeOptions, Encoding, InputColumn, TableSchema};
pub use simulated::Simulated;
pub use source::{ColumnType, Format, ReadOptions, Source};
pub use split::{fold, split, split_by_class};
pub use table::{Column, Table};
pub use target::{Target, TargetColumn, TargetValues, rows_with_targets};
pub use task::{Task, recognise_task};
pub use text::{TextCounts, TextEnd, TextOptions, Texts, Tokenizer};
pub use write::{RowWriter, Sink};
