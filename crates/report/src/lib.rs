//! One self-contained HTML page about a trained model: metrics, uncertainty and calibration, feature space, inducing
//! points, training curves and permutation importance.
//!
//! ```text
//! model + labelled inputs ──gather──▶ RunRecord ──render───▶ HTML
//!                                               ──figures──▶ SVG ──Figure::png──▶ PNG
//! ```
//! [`RunRecord`] holds plain values, so a page can also be made without a model. Nothing here reads or writes files.
//!
//! ```
//! use inducing_report::{EvaluatedRows, RunRecord, render};
//!
//! let run = RunRecord {
//!     title: "House prices".into(),
//!     evaluated_on: "the test split".into(),
//!     rows: EvaluatedRows::Unseen,
//!     generator: "example 1.0".into(),
//!     notes: vec!["12 rows without a price were dropped".into()],
//!     models: Vec::new(), // usually from `gather`
//! };
//! let html = render(&run);
//! assert!(html.starts_with("<!doctype html>") && html.contains("12 rows without a price"));
//! ```
//!
//! # Features
//! `png` (on by default): `Figure::png`, which needs resvg and the DejaVu fonts. Without it figures are SVG only.
#![forbid(unsafe_code)]

mod compose;
mod escape;
mod example_pool;
mod examples;
mod export;
mod figure;
mod gather;
mod graph_layout;
mod inducing_lines;
mod number_format;
mod page;
mod page_data;
mod palette;
mod record;
mod sections;
mod sprite;
mod trials;

pub use compose::{JudgedModel, ROUGH_CALIBRATION, TrainedModel, cautions, title};
pub use example_pool::max_points;
pub use examples::ExampleRenderer;
pub use export::{example_file, gallery};
pub use figure::Figure;
#[cfg(feature = "png")]
pub use figure::PngError;
pub use gather::{
    ExampleSource, GatherRequest, InducingRequest, InputSet, MAX_SHOWN_POINTS, NEAREST_EXAMPLES,
    RefinedValues, gather, gather_inducing_points,
};
pub use inducing_lines::inducing_lines;
pub use number_format::{format_number, plain_number};
pub use page::{figures, render};
pub use record::*;
pub use trials::{TrialRecord, TrialsRecord, render_trials, trial_figures};
