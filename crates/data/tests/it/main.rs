//! The public interface: files in, tables, matrices and files out. One binary, because linking is slow.

mod bad_files;
mod bad_targets;
mod blocks;
mod classes;
mod dates;
mod folder;
mod graphs;
mod hostile;
mod images;
mod npy;
mod outliers;
mod parquet_files;
mod passthrough;
mod prediction_faults;
mod reading;
mod round_trip;
mod scan;
mod schema;
mod schema_faults;
mod shards;
mod text;
mod typed_files;
mod writing;
