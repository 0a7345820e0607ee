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
pub mod class_calibration;
pub mod class_metrics;
pub mod config;
pub mod encoder;
mod error;
mod fit;
mod inputs;
pub mod metrics;
mod model;
mod network;
mod prepare;
mod schema;
pub mod train;

pub use config::{Config, Kind};
pub use error::Error;
pub use fit::{Fit, FitEvent, Listener, Standing};
pub use gp::Kernel;
pub use inputs::{Images, Inputs, Matrix};
pub use model::{ClassPrediction, Model, ModelHeader, NetworkHeader, Prediction, Score, Scores};
pub use network::NetworkShape;
pub use prepare::Prepared;
pub use schema::Schema;
