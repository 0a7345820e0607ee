#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod encoder;
mod module;
mod parameters;
mod random;

pub use burn;
pub use encoder::BurnEncoder;
pub use module::{Batch, BurnModule};
