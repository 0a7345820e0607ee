//! The crate from outside: files in, tables, matrices and files out. One binary, because linking is slow.

mod bad_files;
mod bad_targets;
mod blocks;
mod folder;
mod prediction_faults;
mod reading;
mod round_trip;
mod schema;
mod typed_files;
mod writing;
