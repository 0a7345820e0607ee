//! Training: optional pretraining with linear readouts, then the likelihood of encoder and Gaussian process together.
//!
//! The encoder (f32) gives Φ; a head gives the loss and `∂Φ`, which the encoder pulls back to its parameters: the paper's
//! Proposition 1 by construction. One optimiser steps one flat vector. Every random number follows from the seed and
//! the epoch, so a run that goes on from the beginning of any epoch arrives at the same bytes.

mod adam;
mod baselines;
mod batches;
mod blocked;
mod class_stack;
mod collective;
mod crossfit;
mod decision;
mod feature_stack;
mod fit;
mod head_refit;
mod initialise;
mod join;
mod lbfgs;
mod logistic;
mod network_state;
mod network_trainer;
mod score;
mod stack;
mod stack_density;
mod start;
mod step;
mod targets;
mod team;
mod threads;
mod trainer;

pub use collective::{Alone, Collective};
pub use fit::{Checkpoint, Event, Fit, Listener};
pub(crate) use join::{Begin, Joining, LinearFolds};
pub(crate) use logistic::softmax;
pub(crate) use network_state::NetworkStateHeader;
pub use network_state::{EpochRecord, NetworkState, Phase};
pub(crate) use network_trainer::{NetworkTrainer, Start};
pub(crate) use step::EncoderPass;
pub(crate) use targets::{Targets, outputs_of};
pub(crate) use team::Team;
pub use threads::on_threads;
pub use trainer::Trainer;

use crate::dataset::{Inputs, RowStream};
use crate::head::{FeatureScale, FittedHead};
use std::sync::Arc;

/// Training cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// The loss kept leaving the numbers in spite of smaller steps.
    #[error(
        "training broke down {setbacks} times in epoch {epoch}, the last time because {cause}\nhint: lower \
         `train.learning_rate`, raise `gp.jitter`, or look for extreme values in the inputs"
    )]
    Diverged {
        /// How often.
        setbacks: usize,
        /// In which epoch.
        epoch: usize,
        /// Why, the last time.
        cause: String,
    },
    /// The checkpoint belongs to another run.
    #[error(
        "the checkpoint does not fit this run: {reason}\nhint: resume with the same data and configuration, or start anew without `--resume`"
    )]
    Checkpoint {
        /// What differs.
        reason: String,
    },
}

/// What one network trains on.
#[derive(Debug)]
pub(crate) struct TrainingData<'a> {
    /// All rows.
    pub inputs: &'a Inputs,
    /// What is learned about them.
    pub targets: Targets<'a>,
    /// Rows that are trained on.
    pub train: &'a [usize],
    /// Rows that decide when to stop; may be empty.
    pub validation: &'a [usize],
    /// Training rows that are not in memory: steps are of them, and all else is of the rows above.
    pub stream: Option<&'a Arc<RowStream>>,
}

/// What a run says on its way.
#[derive(Debug)]
pub(crate) enum NetworkEvent<'a> {
    /// A place that a run can go on from: the beginning of an epoch, or some steps later.
    Waypoint {
        /// All that is needed to go on from here.
        state: &'a NetworkState,
    },
    /// A step is done.
    Step {
        /// Steps done of all phases.
        done: usize,
        /// Steps planned for all phases.
        planned: usize,
        /// Which phase.
        phase: Phase,
        /// The batch's loss.
        loss: f64,
    },
    /// An epoch is done.
    Record(&'a EpochRecord),
    /// Something the user should know.
    Notice(String),
}

/// What training leaves.
#[derive(Debug, Clone)]
pub(crate) struct Fitted {
    /// The encoder's parameters, flat.
    pub encoder: Vec<f32>,
    /// The head's.
    pub head: FittedHead,
    /// The fixed map between the two.
    pub scale: FeatureScale,
    /// Epoch of the likelihood phase whose parameters these are.
    pub best_epoch: usize,
    /// All epochs.
    pub history: Vec<EpochRecord>,
}

/// Where the linear readouts begin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReadoutStart {
    /// Glorot-uniform weights.
    Random,
    /// The first features of every member are the outputs, for an encoder that begins as a linear model; the
    /// others are random.
    FirstFeatures,
    /// A linear model of the features: `w [D, C]`, then `b [C]`.
    Linear(Vec<f32>),
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is done.
    Finished(Box<Fitted>),
    /// The listener asked for a stop; the last [`NetworkEvent::Waypoint`] says where to go on.
    Interrupted,
}
