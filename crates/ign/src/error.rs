//! What the library can fail with. Messages say what, where, with which numbers, and what to do.

use crate::config::ConfigError;
use std::path::PathBuf;

/// Any failure of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Bad input data.
    #[error(transparent)]
    Data(#[from] data::DataError),
    /// Bad configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A file that is not a usable model.
    #[error(transparent)]
    Artifact(#[from] crate::artifact::ArtifactError),
    /// Training cannot go on.
    #[error(transparent)]
    Train(#[from] crate::train::TrainError),
    /// The closed-form part failed at prediction.
    #[error(transparent)]
    Gp(#[from] gp::Error),
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
