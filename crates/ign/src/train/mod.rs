//! Training: an optional warm start, then the likelihood of encoder and Gaussian process together.
//!
//! The encoder (f32) gives Φ; a head gives the loss and `∂Φ`, which the encoder pulls back to its parameters: by hand, or
//! by autodiff of the linear surrogate `⟨Φ, ∂Φ⟩`, which yields exactly its gradients (the paper's Proposition 1 by
//! construction). One optimiser steps one flat vector. Every random number follows from the seed and the
//! epoch, so a run that goes on from the beginning of any epoch arrives at the same bytes.

mod adam;
mod head;
mod lbfgs;
mod readout;
mod refit;
mod score;
mod seeding;
mod start;
mod state;
mod step;
mod targets;

pub use head::HeadParameters;
pub(crate) use head::{AnyPosterior, HeadShape};
pub(crate) use readout::read_out;
pub use seeding::FeatureScale;
pub(crate) use state::StateHeader;
pub use state::{EpochRecord, Phase, State};
pub use targets::Targets;
pub(crate) use targets::outputs_of;

use crate::config::{Config, HeadKind};
use crate::encoder::parameters::Slot;
use crate::encoder::{Encoder, Mode};
use crate::inputs::Inputs;
use crate::network::Network;
use burn::tensor::{Device, Tensor};
use head::Head;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use readout::{Loss, Readout};

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

/// What a run trains on.
#[derive(Debug)]
pub struct TrainingData<'a> {
    /// All rows.
    pub inputs: &'a Inputs,
    /// What is learned about them.
    pub targets: Targets<'a>,
    /// Rows that are trained on.
    pub train: &'a [usize],
    /// Rows that decide when to stop; may be empty.
    pub validation: &'a [usize],
}

/// What a run says on its way.
#[derive(Debug)]
pub enum Event<'a> {
    /// An epoch begins.
    Epoch {
        /// All that is needed to go on from here.
        state: &'a State,
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
pub struct Fitted {
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

/// What stands on the features.
#[derive(Debug, Clone, PartialEq)]
pub enum FittedHead {
    /// A Gaussian process conditioned on inducing points.
    Process(HeadParameters),
    /// A softmax layer.
    Softmax {
        /// Row-major `[D, C]`.
        w: Vec<f32>,
        /// `[C]`
        b: Vec<f32>,
    },
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// It is done.
    Finished(Box<Fitted>),
    /// The listener asked for a stop; the last [`Event::Epoch`] says where to go on.
    Interrupted,
}

/// Rows whose features are computed at a time outside of training.
const BLOCK: usize = 1024;
/// Failures that are answered by a smaller step before the run gives up.
const MOST_SETBACKS: usize = 8;

/// One run.
pub struct Trainer<'a> {
    config: &'a Config,
    data: TrainingData<'a>,
    device: Device,
    encoder: Box<dyn Network>,
    /// The encoder without autodiff, while it is at rest: a graph that nobody walks back would stay in memory.
    resting: Option<Box<dyn Network>>,
    slots: Vec<Slot>,
    head: HeadShape,
    readout: Readout,
    readout_start: ReadoutStart,
    threads: usize,
    gradient: Vec<f32>,
}

/// Where the linear readouts begin.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadoutStart {
    /// Glorot-uniform weights.
    Random,
    /// The first features of every member are the outputs, for an encoder that begins as a linear model; the
    /// others are random.
    FirstFeatures,
    /// A linear model of the features: `w [D, C]`, then `b [C]`.
    Linear(Vec<f32>),
}

impl<'a> Trainer<'a> {
    /// Prepares a run of `encoder`, whose parameters are taken as the start.
    pub fn new(
        config: &'a Config,
        encoder: impl Encoder,
        readout_start: ReadoutStart,
        data: TrainingData<'a>,
        threads: usize,
    ) -> Self {
        Self::with_network(config, &encoder, readout_start, data, threads)
    }

    pub(crate) fn with_network(
        config: &'a Config,
        encoder: &dyn Network,
        readout_start: ReadoutStart,
        data: TrainingData<'a>,
        threads: usize,
    ) -> Self {
        let device = Device::default().autodiff();
        let (slots, values) = encoder.parameters();
        let encoder = encoder.with(&values, &device);
        let inducing = config.gp.inducing.get().min(data.train.len());
        let (outputs, classes) = (data.targets.outputs(), data.targets.are_classes());
        let head = HeadShape::new(config, inducing, encoder.dim(), outputs, classes);
        let loss = match (classes, config.head) {
            (false, _) => Loss::Squares,
            (true, HeadKind::Gp) => Loss::Classes(config.gp.link),
            (true, HeadKind::Softmax) => Loss::Classes(gp::Link::Logit),
        };
        let readout = Readout { features: encoder.dim(), members: encoder.members(), outputs, loss };
        let (resting, gradient) = (None, Vec::new());
        Self {
            config,
            data,
            device,
            encoder,
            resting,
            slots,
            head,
            readout,
            readout_start,
            threads,
            gradient,
        }
    }

    /// Runs to the end, or until `listen` returns false; `resume` goes on from an earlier [`State`].
    pub fn run(
        mut self,
        resume: Option<State>,
        listen: &mut dyn FnMut(Event<'_>) -> bool,
    ) -> Result<Outcome, TrainError> {
        let mut state = match resume {
            Some(state) => self.accept(state)?,
            None => self.begin(listen),
        };
        let mut good = state.clone();
        let mut objective = Head::new(self.head.precision);
        loop {
            let finished = state.epoch >= self.epochs(state.phase) || self.out_of_patience(&state);
            if finished && (state.phase == Phase::Likelihood || self.config.head == HeadKind::Softmax) {
                return Ok(Outcome::Finished(Box::new(self.finish(state, listen))));
            }
            if finished {
                state = self.begin_likelihood(state, listen);
                good = state.clone();
                continue;
            }
            if !listen(Event::Epoch { state: &state }) {
                return Ok(Outcome::Interrupted);
            }
            match self.epoch(&mut state, &mut objective, listen) {
                Ok(true) => good = state.clone(),
                Ok(false) => return Ok(Outcome::Interrupted),
                Err(cause) => {
                    let (setbacks, factor) = (good.setbacks + 1, good.rate_factor / 2.0);
                    if setbacks > MOST_SETBACKS {
                        return Err(TrainError::Diverged { setbacks, epoch: state.epoch + 1, cause });
                    }
                    listen(Event::Notice(format!(
                        "epoch {} broke down ({cause}); going back to its beginning with half the step size",
                        state.epoch + 1
                    )));
                    (good.setbacks, good.rate_factor) = (setbacks, factor);
                    state = good.clone();
                    self.load(&state.theta);
                }
            }
        }
    }

    fn encoder_len(&self) -> usize {
        self.slots.iter().map(Slot::len).sum()
    }

    /// Epochs of a phase: as configured, within the configured limits on steps.
    fn epochs(&self, phase: Phase) -> usize {
        let train = &self.config.train;
        let (epochs, least, most) = match phase {
            // A plain network has this phase alone, and as many epochs in it as the other's encoder has in both.
            Phase::WarmStart if self.config.head == HeadKind::Softmax => {
                let more = if train.encoder_rate > 0.0 { train.epochs } else { 0 };
                (train.warm_epochs + more, train.warm_steps, train.warm_max_steps)
            }
            Phase::WarmStart => (train.warm_epochs, train.warm_steps, train.warm_max_steps),
            Phase::Likelihood if self.config.head == HeadKind::Softmax => (0, 0, 0),
            Phase::Likelihood => (train.epochs, 0, train.max_steps),
        };
        if epochs == 0 {
            return 0;
        }
        let a_epoch = self.batches(phase);
        let within = if most == 0 { usize::MAX } else { (most / a_epoch).max(1) };
        epochs.max(least.div_ceil(a_epoch)).min(within)
    }

    fn batches(&self, phase: Phase) -> usize {
        let size = match phase {
            Phase::WarmStart => self.config.train.warm_batch_size,
            Phase::Likelihood => self.config.train.batch_size,
        };
        self.data.train.len().div_ceil(size.get())
    }

    fn planned_steps(&self) -> usize {
        [Phase::WarmStart, Phase::Likelihood]
            .map(|phase| self.epochs(phase) * self.batches(phase))
            .iter()
            .sum()
    }

    /// A number for each purpose, epoch and step, so that nothing depends on how often a generator was asked.
    fn seed(&self, purpose: u64, phase: Phase, index: usize) -> u64 {
        let phase = match phase {
            Phase::WarmStart => 1,
            Phase::Likelihood => 2,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(self.config.seed);
        rng.set_stream((purpose << 56) | (phase << 48) | index as u64);
        rng.random()
    }

    /// Gives the encoder the parameters at the front of `theta`.
    fn load(&mut self, theta: &[f32]) {
        let len = self.encoder_len();
        self.encoder = self.encoder.with(&theta[..len], &self.device);
        self.resting = None;
    }

    /// Features of some rows, as the encoder gives them, row-major `[N, D]`.
    fn features(&self, rows: &[usize]) -> Vec<f32> {
        // Without autodiff: its graphs of past blocks stay in memory for a while, a gigabyte at 20,000 rows.
        let plain = self.encoder.with(&self.encoder.parameters().1, &Device::default());
        let mut phi = Vec::with_capacity(rows.len() * self.encoder.dim());
        for block in rows.chunks(BLOCK) {
            phi.extend(to_vec(plain.features(self.data.inputs, block, Mode::Predict)));
        }
        phi
    }

    fn finish(&mut self, state: State, listen: &mut dyn FnMut(Event<'_>) -> bool) -> Fitted {
        let (theta, best_epoch) = match state.best {
            Some(best) => (best.theta, best.epoch),
            None => (state.theta, state.epoch),
        };
        let (encoder, head) = theta.split_at(self.encoder_len());
        let fitted_head = match state.phase {
            Phase::Likelihood => {
                let mut head = self.head.take_apart(head);
                if self.config.train.refit && self.head.classes && !self.data.validation.is_empty() {
                    self.load(&theta);
                    if let Err(error) = self.refit(&state.scale, &mut head, listen) {
                        listen(Event::Notice(format!("the pseudo-labels were not fitted: {error}")));
                    }
                }
                FittedHead::Process(head)
            }
            Phase::WarmStart => {
                let (w, b) = self.readout.mean(head);
                FittedHead::Softmax { w, b }
            }
        };
        Fitted {
            encoder: encoder.to_vec(),
            head: fitted_head,
            scale: state.scale,
            best_epoch,
            history: state.history,
        }
    }
}

fn to_vec(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().try_to_vec::<f32>().expect("features are f32")
}
