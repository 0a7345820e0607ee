//! Honest predictions of training rows, which only the run that trained the model has.

use super::{Latent, Predictions};

/// Predictions of training rows by members that never saw them, with neighbours among the other rows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OutOfFoldPredictions {
    /// Which of the prepared rows.
    pub rows: Vec<usize>,
    /// What is predicted of them.
    pub predictions: Predictions,
    /// The members' latent functions, before recalibration.
    pub latent: Latent,
}
