//! The `ign` command end to end: files in, files, text and exit codes out. One binary, because linking is slow.
//!
//! Every test works in a temporary folder of its own, needs no network and trains networks that fit in a
//! few milliseconds; what a network learns is the business of `ign reproduce`, not of these tests.

mod bad_classes;
mod bad_images;
mod bad_models;
mod bad_options;
mod bad_outputs;
mod bad_predictions;
mod bad_tables;
mod classes;
mod columns;
mod companions;
mod configuration;
mod dashboard;
mod dates;
mod determinism;
mod ensemble;
mod export;
mod features;
#[cfg(feature = "fetch")]
mod fetch;
mod folder;
mod graphs;
mod image_files;
mod images;
mod interruption;
mod pipes;
mod published;
mod reports;
mod reproduce;
mod results;
#[cfg(feature = "fetch")]
mod server;
mod shards;
mod simulated;
mod suggest;
mod tables;
mod terminal;
mod texts;
mod trust;
mod tune;
mod workflow;
