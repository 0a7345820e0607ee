//! `[train]`: the optimisation.

use super::reading::is_zero;
use super::{Positive, Share, Threshold};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Weight of a class's rows in the likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeights {
    /// All rows count the same.
    #[default]
    Equal,
    /// All classes count the same. Probabilities then are those of a world of equally frequent classes.
    Balanced,
}

/// Course of the learning rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Always the same.
    Constant,
    /// A twentieth of the steps rising, then half a cosine down to zero.
    Cosine,
}

/// The validation score that decides which weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopOn {
    /// Continuous ranked probability score.
    Crps,
    /// Negative log-likelihood.
    Nll,
    /// Nothing: the last weights are kept.
    Never,
}

/// The optimisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// Epochs of the likelihood.
    pub epochs: usize,
    /// Steps of the likelihood at most, for large tables, but never less than one epoch; 0 is no limit.
    pub max_steps: usize,
    /// Rows of a batch.
    pub batch_size: NonZeroUsize,
    /// Batches whose gradients are averaged in a step, of either phase; processes share them. 0 is one, or one for each 12,500,000 rows of
    /// a table that does not fit into memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub accumulate_batches: usize,
    /// Step size of Adam.
    pub learning_rate: Positive,
    /// The encoder's step size in the likelihood phase, as a multiple of `learning_rate`; 0 freezes it.
    pub encoder_rate: f64,
    /// Its course.
    pub schedule: Schedule,
    /// Decoupled weight decay of the encoder's matrices.
    pub weight_decay: f64,
    /// Largest norm of a gradient.
    pub clip_norm: Positive,
    /// Epochs of pretraining with a linear readout before the likelihood; 0 is the paper's plain start.
    #[serde(alias = "warm_epochs")]
    pub pretrain_epochs: usize,
    /// Steps of pretraining at least, for small tables.
    #[serde(alias = "warm_steps")]
    pub pretrain_min_steps: usize,
    /// Steps of pretraining at most, for large tables; 0 is no limit.
    #[serde(alias = "warm_max_steps")]
    pub pretrain_max_steps: usize,
    /// Rows of a batch in pretraining.
    #[serde(alias = "warm_batch_size")]
    pub pretrain_batch_size: NonZeroUsize,
    /// Step size of pretraining.
    #[serde(alias = "warm_learning_rate")]
    pub pretrain_learning_rate: Positive,
    /// Rescale and centre the features before the likelihood.
    pub scale_features: bool,
    /// Reinitialise inducing points that no feature comes near.
    #[serde(alias = "reseed")]
    pub reinitialise_unused: bool,
    /// Part of the training rows that decides when to stop and recalibrates the variance.
    pub validation_share: Share,
    /// Which score decides.
    pub stop_on: StopOn,
    /// Epochs without a better score before training stops.
    pub patience: usize,
    /// Recalibrate the variance on the validation part.
    pub recalibrate: bool,
    /// At the end, fit the pseudo-labels of classes to the training rows, all at once, as far as the validation part agrees.
    #[serde(default, alias = "refit", skip_serializing_if = "std::ops::Not::not")]
    pub head_refit: bool,
    /// Folds of the training rows: every member of an ensemble leaves one out. 0 trains one network, with a validation part.
    #[serde(default)]
    pub crossfit_folds: usize,
    /// How often the rows are parted into folds.
    #[serde(default = "one")]
    pub crossfit_repeats: NonZeroUsize,
    /// Slabs of the inputs of a small table that are held out, to fit how much a variance grows in a gap; only for an ensemble.
    #[serde(default)]
    pub blocked_folds: usize,
    /// Weight of a class's rows.
    #[serde(default)]
    pub class_weights: ClassWeights,
    /// From which probability on the second of two classes is predicted, or what held-out rows choose it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
    /// What each decision costs: rows are true classes in their order, columns are decisions. Classes of least expected cost are predicted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<Vec<f64>>,
    /// After the test part was judged, train again on all rows and keep the scores.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refit_on_all: bool,
}

fn one() -> NonZeroUsize {
    NonZeroUsize::MIN
}
