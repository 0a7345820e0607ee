//! Dates as people write them: what a text can mean, and which of its meanings a column has.
//!
//! `iso.rs` reads what is standardised, `notation.rs` what people write, `pattern.rs` what the user describes;
//! `evidence.rs` finds the order of day and month from all cells of a column, `format.rs` is what it found.

pub(crate) mod epochs;
pub(crate) mod evidence;
pub(crate) mod format;
pub(crate) mod formats;
pub(crate) mod iso;
pub(crate) mod notation;
pub(crate) mod pattern;
