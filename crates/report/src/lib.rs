//! One self-contained page about what a model learned and how far to trust it.
//!
//! ```text
//! model + inputs with their truth ──gather──▶ Report ──render──▶ HTML;  ──figures──▶ SVG, PNG
//! ```
//! No file is read or written here.
#![forbid(unsafe_code)]

mod record;

pub use record::*;
