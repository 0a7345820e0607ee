#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod config;
pub mod dataset;
mod error;
pub mod explain;
mod head;
pub mod metrics;
pub mod model;
mod neighbours;
pub mod nn;
pub mod suggest;
pub mod train;
pub mod tune;

/// The data layer, in the version that this library is built with.
pub use data;

pub use config::{Config, Settings};
pub use dataset::{Dataset, DatasetReader};
pub use error::Error;
pub use model::{Model, Prediction};
pub use suggest::{Goal, SuggestOptions, Suggestion};
pub use train::Trainer;
pub use tune::Tuner;
