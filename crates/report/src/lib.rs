//! One self-contained page about what a model learned and how far to trust it.
//!
//! ```text
//! model + inputs with their truth ──gather──▶ Report ──render──▶ HTML;  ──figures──▶ SVG, PNG
//! ```
//! No file is read or written here.
#![forbid(unsafe_code)]

mod data;
mod escape;
mod figure;
mod files;
mod gather;
mod layout;
mod number;
mod page;
mod palette;
mod pick;
mod pool;
mod record;
mod sections;
mod sprite;

pub use figure::{Figure, FigureError};
pub use files::{gallery, picture_file};
pub use gather::{Around, Moved, NEAREST, Request, SHOWN, Show, Side, gather, inducing};
pub use number::number;
pub use page::{figures, render};
pub use pool::drawn;
pub use record::*;
