//! Where a run stands: all that is needed to go on to the same bytes.

use super::adam::Adam;
use crate::head::FeatureScale;
use serde::{Deserialize, Serialize};

/// The two parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Least squares or cross-entropy with linear readouts.
    #[serde(alias = "warm_start")]
    Pretraining,
    /// The Gaussian process likelihood.
    Likelihood,
}

/// One epoch's line in the history; validation figures are of standardised targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Which part of the run.
    pub phase: Phase,
    /// From 1; 0 is the state before the likelihood's first step.
    pub epoch: usize,
    /// Steps taken so far in this phase.
    pub steps: usize,
    /// Mean training loss.
    pub loss: Option<f64>,
    /// Validation root mean squared error.
    pub rmse: Option<f64>,
    /// Validation negative log-likelihood.
    pub nll: Option<f64>,
    /// Validation CRPS.
    pub crps: Option<f64>,
    /// Validation accuracy, of classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// Mean utilisation of the inducing points.
    pub utilisation: Option<f64>,
    /// Mean σ of the outputs.
    pub noise: Option<f64>,
    /// The kernel's scale s and γ, or s and offset c of the linear kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<[f64; 2]>,
}

impl EpochRecord {
    /// A line to be filled.
    pub(crate) fn new(phase: Phase, epoch: usize, steps: usize) -> Self {
        Self {
            phase,
            epoch,
            steps,
            loss: None,
            rmse: None,
            nll: None,
            crps: None,
            accuracy: None,
            utilisation: None,
            noise: None,
            kernel: None,
        }
    }
}

/// What an epoch has come to.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EpochSoFar {
    /// Steps done.
    pub(crate) steps: usize,
    /// Their part of the mean loss, and of the mean utilisation.
    pub(crate) loss: f64,
    pub(crate) utilisation: f64,
}

impl EpochSoFar {
    fn is_nothing(&self) -> bool {
        self.steps == 0
    }
}

/// The best parameters so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Best {
    pub(crate) theta: Vec<f32>,
    pub(crate) score: f64,
    pub(crate) epoch: usize,
}

/// A run at the beginning of an epoch, or after some of its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkState {
    pub(crate) phase: Phase,
    /// Epochs of this phase that are done.
    pub(crate) epoch: usize,
    /// The epoch after them.
    pub(crate) so_far: EpochSoFar,
    pub(crate) theta: Vec<f32>,
    pub(crate) adam: Adam,
    pub(crate) scale: FeatureScale,
    /// Product of all reductions of the step size after a failure.
    pub(crate) rate_factor: f64,
    pub(crate) setbacks: usize,
    pub(crate) best: Option<Best>,
    pub(crate) history: Vec<EpochRecord>,
}

/// The part of a [`NetworkState`] that is not tensors, as a checkpoint stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkStateHeader {
    pub(crate) phase: Phase,
    pub(crate) epoch: usize,
    #[serde(default, skip_serializing_if = "EpochSoFar::is_nothing")]
    pub(crate) so_far: EpochSoFar,
    pub(crate) adam_steps: u64,
    pub(crate) scale: FeatureScale,
    pub(crate) rate_factor: f64,
    pub(crate) setbacks: usize,
    pub(crate) best: Option<(f64, usize)>,
    pub(crate) history: Vec<EpochRecord>,
}

impl NetworkState {
    /// Header and named vectors.
    pub(crate) fn to_parts(&self) -> (NetworkStateHeader, Vec<(&'static str, &[f32])>) {
        let header = NetworkStateHeader {
            phase: self.phase,
            epoch: self.epoch,
            so_far: self.so_far,
            adam_steps: self.adam.steps,
            scale: self.scale.clone(),
            rate_factor: self.rate_factor,
            setbacks: self.setbacks,
            best: self.best.as_ref().map(|best| (best.score, best.epoch)),
            history: self.history.clone(),
        };
        let mut vectors = vec![
            ("theta", &self.theta[..]),
            ("adam.first", &self.adam.first[..]),
            ("adam.second", &self.adam.second[..]),
        ];
        if let Some(best) = &self.best {
            vectors.push(("best", &best.theta));
        }
        (header, vectors)
    }

    /// The inverse; `None` when a vector is missing.
    pub(crate) fn from_parts(
        header: NetworkStateHeader,
        vector: impl Fn(&str) -> Option<Vec<f32>>,
    ) -> Option<Self> {
        let best = match header.best {
            Some((score, epoch)) => Some(Best { theta: vector("best")?, score, epoch }),
            None => None,
        };
        Some(Self {
            phase: header.phase,
            epoch: header.epoch,
            so_far: header.so_far,
            theta: vector("theta")?,
            adam: Adam {
                first: vector("adam.first")?,
                second: vector("adam.second")?,
                steps: header.adam_steps,
            },
            scale: header.scale,
            rate_factor: header.rate_factor,
            setbacks: header.setbacks,
            best,
            history: header.history,
        })
    }
}
