//! The paper's experiments under its protocol: catalogue, runs, records, and a page of results beside the paper's own.
//!
//! ```text
//! names → requests → plan (records, data, time) → runs, one record each → page and figure
//! ```
//! Protocol: random 60/40 splits by seed, normalised by the training part; preset `paper` and preset `default` on the
//! same split. Images and texts keep their own test parts, graphs are cross-validated in ten folds. Beyond the paper:
//! test parts that are unlike the training part, gaps and clusters of tables and a wave with a gap.
//!
//! A run that has a record is not repeated, and an interrupted run resumes from its checkpoint. This crate writes
//! records, checkpoints and the page; it prints nothing (see [`Observer`]).
#![forbid(unsafe_code)]

mod ablation;
mod away;
mod catalogue;
mod datasets;
mod error;
mod experiment;
mod figure;
mod held_out;
mod listing;
mod machine;
mod notes;
mod observer;
mod page;
mod plan;
mod records;
mod reproduction;
mod request;
mod run;
mod scheduler;
mod score;
mod shortfalls;
mod summary;
mod tables;
mod variant;
mod wave;
mod wave_figure;

pub use error::Error;
pub use experiment::Preset;
pub use listing::{Listed, groups, list};
pub use machine::{Program, duration, now, parse_duration, utc_date};
pub use observer::Observer;
pub use plan::{LeftOut, Plan, Planned};
pub use records::Record;
pub use reproduction::{Options, Reproduction, WrittenPage};
pub use scheduler::Outcome;
