//! What the library can fail with. Messages say what, where, with which numbers, and what to do.

use crate::config::ConfigError;
use std::path::PathBuf;

/// Any failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bad input data.
    #[error(transparent)]
    Data(#[from] data::DataError),
    /// Bad configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A file that is not a usable model.
    #[error(transparent)]
    File(#[from] crate::model::FileError),
    /// Training cannot go on.
    #[error(transparent)]
    Train(#[from] crate::train::TrainError),
    /// Rows of a pool cannot be suggested.
    #[error(transparent)]
    Suggest(#[from] crate::suggest::SuggestError),
    /// Settings cannot be searched.
    #[error(transparent)]
    Tune(#[from] crate::tune::TuneError),
    /// The closed-form part failed at prediction.
    #[error(transparent)]
    Gp(#[from] gp::Error),
    /// The listener asked for a stop.
    #[error("training was stopped\nhint: go on from its checkpoint")]
    Stopped {
        /// Where the run stands.
        checkpoint: Box<crate::train::Checkpoint>,
    },
    /// A prediction was stopped.
    #[error("stopped before all rows were predicted")]
    Interrupted,
    /// An encoder or a model was given inputs that it does not read.
    #[error(
        "expected {expected}, got {found}\nhint: give the model inputs of the kind that it was trained on"
    )]
    Inputs {
        /// What is read.
        expected: String,
        /// What was given.
        found: String,
    },
    /// Something was asked for that there is not.
    #[error("{0}")]
    Request(String),
    /// The features of an input are no numbers, so nothing can be said of it.
    #[error("row {row}: its features are not finite numbers\nhint: look for extreme values in that row")]
    NotFinite {
        /// Which of the rows given, from 0.
        row: usize,
    },
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}\nhint: {hint}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
        /// What to do.
        hint: &'static str,
    },
}

impl Error {
    /// Inputs that an encoder does not read.
    pub fn inputs(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Inputs { expected: expected.into(), found: found.into() }
    }
}
