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
mod importance;
mod inputs;
pub mod metrics;
mod model;
mod neighbours;
mod network;
mod own;
mod prepare;
mod projection;
mod refine;
mod schema;
pub mod train;

/// For encoders of your own, in the version that this library is built with.
pub use burn;
pub use config::{Config, Kind};
pub use error::Error;
pub use fit::{Fit, FitEvent, Listener, Standing};
pub use gp::Kernel;
pub use importance::{ColumnImportance, Importance, Observed};
pub use inputs::{Images, Inputs, Matrix, Own};
pub use model::{
    ClassPrediction, Features, Latent, Model, ModelHeader, NetworkHeader, Prediction, Score, Scores,
};
pub use neighbours::{Neighbour, Neighbourhood, PseudoLabel};
pub use network::NetworkShape;
pub use own::{OwnData, OwnSchema, OwnShape, Truth};
pub use prepare::Prepared;
pub use projection::Projection;
pub use refine::{RefineOptions, Refined, RefinedInputs};
pub use schema::Schema;
