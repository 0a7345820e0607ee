//! The data layer of `ign`: tables, images, texts and graphs in, matrices through, predictions out.
//!
//! ```text
//! file or pipe ──read_table / read_blocks──▶ Table ──TableSchema::encode──▶ matrix
//! images       ──read_images──▶ ImageSet ──ImageSchema::conform──▶ bytes
//! graphs       ──read_graphs──▶ GraphSet ──GraphSchema::encode──▶ node features
//! predictions  ──RowWriter──▶ csv, parquet or json lines
//! ```
//!
//! Every failure is a [`DataError`] that names file, line and column and, where there is one, the remedy.
//! What this crate refuses to do: guess which number of a date is the day, repair ragged rows, accept infinite numbers.
//!
//! ```
//! use inducing_data::{EncodeOptions, Simulated, TableSchema, split};
//!
//! let table = Simulated::Borehole.sample(200, 1, 0.0);
//! let rows: Vec<usize> = (0..table.rows()).collect();
//! let parts = split(&rows, &[0.8, 0.2], 1);
//! let (schema, _notices) =
//!     TableSchema::fit(&table, &["y".into()], None, &parts[0], &EncodeOptions::default())?;
//! let test = schema.encode(&table, Some(&parts[1]))?;
//! assert_eq!((test.rows, test.width), (40, 8));
//! # Ok::<(), inducing_data::DataError>(())
//! ```
#![forbid(unsafe_code)]

mod datasets;
mod error;
mod graphs;
mod images;
mod io;
mod schema;
mod split;
mod table;
mod text;
mod together;

/// The arrow crates whose types stand in this crate's interface.
pub use {arrow_array, arrow_schema};

pub use arrow_array::RecordBatch;
pub use datasets::named::{NamedSet, SetKind, data_dir};
pub use datasets::named_table::NamedTable;
pub use datasets::simulated::Simulated;
pub use error::{DataError, Notice, Problem, nearest};
pub use graphs::{
    AttributeScale, DegreeFeature, DegreeScale, GraphFeatures, GraphOptions, GraphProblem, GraphSchema,
    GraphSet, GraphSource, read_graphs,
};
pub use images::{
    DatasetPart, ImageOptions, ImageProblem, ImageSchema, ImageSet, ImageSize, ImageSource, Progress,
    read_images,
};
pub use io::atomic::write_atomically;
pub use io::compression::decompress;
pub use io::shards::Shards;
pub use io::source::{Format, Source};
pub use schema::classes::{ClassTarget, class_codes};
pub use schema::encode::Encoded;
pub use schema::scale::{Scale, Scaling};
pub use schema::target::{Target, TargetColumn, TargetValues, rows_with_targets};
pub use schema::target_scale::{TargetScale, Transform};
pub use schema::task::{Task, recognise_task};
pub use schema::{DatePart, EncodeOptions, Encoding, InputColumn, TableSchema};
pub use split::{Related, fold, split, split_by_class};
pub use table::arrow::batches::Batches;
pub use table::blocks::{Block, Blocks, read_blocks};
pub use table::dates::format::DateFormat;
pub use table::dates::formats::DateFormats;
pub use table::npy::reader::read_npy_column;
pub use table::number_format::Notation;
pub use table::options::{ColumnType, ReadOptions};
pub use table::read::{read_columns, read_table};
pub use table::scan::TableScan;
pub use table::scan::sample::{Sample, SampledRows};
pub use table::scan::shuffled::{Lane, ShuffledRows};
pub use table::take::take_rows;
pub use table::write::{RowWriter, Sink};
pub use table::{Column, Table};
pub use text::{TextCounts, TextEnd, TextOptions, Texts, Tokenizer};
pub use together::{Alone, Together};
