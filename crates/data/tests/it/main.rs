//! The crate from outside: files in, tables, matrices and files out. One binary, because linking is slow.

mod bad_files;
mod bad_targets;
mod blocks;
mod classes;
mod folder;
mod graphs;
mod images;
mod kept;
mod npy;
mod prediction_faults;
mod reading;
mod round_trip;
mod schema;
mod suspect;
mod text;
mod typed_files;
mod writing;
