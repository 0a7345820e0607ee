//! Inducing Gaussian process networks: a network maps any input to features, a Gaussian process conditioned on
//! inducing points in that space gives every prediction a mean and a variance.
//!
//! ```text
//! train:    config → table → split → schema (training part only) → Trainer → Model → file
//! predict:  file → rows through the stored schema, in blocks → encoder → posterior → calibration
//! ```
#![forbid(unsafe_code)]

pub mod artifact;
pub mod calibration;
pub mod config;
pub mod encoder;
mod error;
mod fit;
pub mod metrics;
mod model;
pub mod train;

pub use config::Config;
pub use encoder::mlp::Matrix;
pub use error::Error;
pub use fit::{Fit, Prepared};
pub use model::{Model, ModelHeader, Prediction};
