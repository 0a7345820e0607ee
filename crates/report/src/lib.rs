//! One self-contained page about what a model learned and how far to trust it.
//!
//! ```text
//! model + inputs with their truth ──gather──▶ Report ──render──▶ HTML;  ──figures──▶ SVG, PNG
//! ```
//! No file is read or written here.
#![forbid(unsafe_code)]

mod gather;
mod number;
mod pick;
mod record;

pub use gather::{Around, Moved, NEAREST, Request, SHOWN, Show, Side, gather, inducing};
pub use number::number;
pub use record::*;

/// stub
pub fn drawn(_: &Body) -> usize {
    2000
}
/// stub
pub fn render(_: &Report) -> String {
    String::new()
}
/// stub
pub struct Figure {
    /// a
    pub name: String,
    /// b
    pub title: String,
    /// c
    pub svg: String,
}
/// stub
pub fn figures(_: &Report) -> Vec<Figure> {
    Vec::new()
}
impl Figure {
    /// stub
    pub fn png(&self, _: f32) -> Result<Vec<u8>, String> {
        Ok(Vec::new())
    }
}

/// stub
pub fn picture_file(_: &Body) -> Option<(&'static str, Vec<u8>)> {
    None
}
/// stub
pub fn gallery(_: &NetworkRecord, _: &[Example]) -> Option<Figure> {
    None
}
