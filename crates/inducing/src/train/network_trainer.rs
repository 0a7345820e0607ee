//! One network's run from beginning to end: phases, epochs, setbacks, and what is kept.

use super::step::{StepError, StepSpace};
use super::{
    EpochRecord, Fitted, NetworkEvent, NetworkState, Outcome, Phase, ReadoutStart, Team, TrainError,
    TrainingData,
};
use crate::config::{Config, HeadKind};
use crate::error::Error;
use crate::head::{FittedHead, HeadShape, Loss, Readout};
use crate::nn::Encoder;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows whose features are computed at a time outside of training.
const BLOCK: usize = 1024;
/// Batches of an epoch at least, for members of an ensemble, and rows of a batch at least.
const FEWEST_BATCHES: usize = 8;
const SMALLEST_BATCH: usize = 32;
/// Held-out rows without an error that are no luck, and their negative log-likelihood at most.
const FEWEST_FOR_PERFECT: usize = 50;
const CERTAIN: f64 = 1e-3;
/// Failures that are answered by a smaller step before the run gives up.
const MOST_SETBACKS: usize = 8;

/// The training of one network: its encoder and the head on it.
pub(crate) struct NetworkTrainer<'a> {
    pub(super) config: &'a Config,
    pub(super) data: TrainingData<'a>,
    pub(super) encoder: &'a dyn Encoder,
    pub(super) head: HeadShape,
    pub(super) readout: Readout,
    pub(super) start: Start,
    pub(super) threads: usize,
    /// The batches of a step, and who shares them.
    pub(super) team: Team<'a>,
}

/// Where a run begins.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    /// The encoder's parameters.
    pub(crate) theta: Vec<f32>,
    /// The readouts.
    pub(crate) readout: ReadoutStart,
    /// Tells the orders in which networks read a stream apart.
    pub(crate) stream_seed: u64,
}

impl<'a> NetworkTrainer<'a> {
    /// Prepares a run of `encoder` from `start`.
    pub(crate) fn new(
        config: &'a Config,
        encoder: &'a dyn Encoder,
        start: Start,
        data: TrainingData<'a>,
        threads: usize,
        team: Team<'a>,
    ) -> Self {
        let inducing = config.gp.inducing.get().min(data.train.len());
        let (outputs, classes) = (data.targets.outputs(), data.targets.are_classes());
        let head = HeadShape::new(config, inducing, encoder.dim(), outputs, classes);
        let loss = match (classes, config.head) {
            (false, _) => Loss::Squares,
            (true, HeadKind::Gp) => Loss::Classes(config.gp.link),
            (true, HeadKind::Softmax) => Loss::Classes(gp::Link::Logit),
        };
        let readout = Readout { features: encoder.dim(), members: encoder.members(), outputs, loss };
        Self { config, data, encoder, head, readout, start, threads, team }
    }

    /// Runs to the end, or until `listen` returns false; `resume` goes on from an earlier [`NetworkState`].
    pub(crate) fn run(
        self,
        resume: Option<NetworkState>,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<Outcome, Error> {
        let mut state = match resume {
            Some(state) => self.accept(state)?,
            None => self.begin(listen)?,
        };
        let mut good = state.clone();
        let mut space = StepSpace::new(self.head.precision);
        loop {
            let is_perfect = self.is_perfect(&state);
            if is_perfect && state.epoch == 1 && state.phase == Phase::Pretraining {
                listen(NetworkEvent::Notice(
                    "one epoch suffices: every held-out row has its class, and training stops early. Does an input say the class in \
                     other words?"
                        .into(),
                ));
            }
            let finished =
                is_perfect || state.epoch >= self.epochs(state.phase) || self.out_of_patience(&state);
            if finished && (state.phase == Phase::Likelihood || self.config.head == HeadKind::Softmax) {
                return Ok(Outcome::Finished(Box::new(self.finish(state, listen)?)));
            }
            if finished {
                state = self.begin_likelihood(state, listen)?;
                good = state.clone();
                continue;
            }
            if !self.goes_on(listen(NetworkEvent::Waypoint { state: &state }), &mut space) {
                return Ok(Outcome::Interrupted);
            }
            match self.advance(&mut state, &mut space, listen) {
                Ok(true) => good = state.clone(),
                Ok(false) => return Ok(Outcome::Interrupted),
                Err(StepError::Fatal(error)) => return Err(error),
                Err(StepError::Diverged(cause)) => {
                    let (setbacks, factor) = (good.setbacks + 1, good.rate_factor / 2.0);
                    if setbacks > MOST_SETBACKS {
                        return Err(TrainError::Diverged { setbacks, epoch: state.epoch + 1, cause }.into());
                    }
                    listen(NetworkEvent::Notice(format!(
                        "epoch {} broke down ({cause}); going back some steps, with half the step size",
                        state.epoch + 1
                    )));
                    (good.setbacks, good.rate_factor) = (setbacks, factor);
                    state = good.clone();
                    space.rewind();
                }
            }
        }
    }

    /// Whether nothing is left to learn: every held-out row has its class, with certainty.
    fn is_perfect(&self, state: &NetworkState) -> bool {
        let is_last = |record: &&EpochRecord| record.phase == state.phase && record.epoch == state.epoch;
        let Some(record) = state.history.last().filter(is_last) else { return false };
        state.epoch > 0
            && self.data.validation.len() >= FEWEST_FOR_PERFECT
            && record.accuracy == Some(1.0)
            && record.nll.is_some_and(|nll| nll < CERTAIN)
    }

    pub(super) fn encoder_len(&self) -> usize {
        self.encoder.layout().len()
    }

    /// Epochs of a phase: as configured, within the configured limits on steps.
    pub(super) fn epochs(&self, phase: Phase) -> usize {
        let train = &self.config.train;
        let (epochs, least, most) = match phase {
            // A plain network has this phase alone, and as many epochs in it as the other's encoder has in both.
            Phase::Pretraining if self.config.head == HeadKind::Softmax => {
                let more = if train.encoder_rate > 0.0 { train.epochs } else { 0 };
                (train.pretrain_epochs + more, train.pretrain_min_steps, train.pretrain_max_steps)
            }
            Phase::Pretraining => (train.pretrain_epochs, train.pretrain_min_steps, train.pretrain_max_steps),
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

    /// Steps of an epoch.
    pub(super) fn batches(&self, phase: Phase) -> usize {
        let (rows, train) = (self.data.train.len(), &self.config.train);
        let size = self.batch_size(phase) * self.team.lanes;
        if let Some(stream) = self.data.stream {
            // An epoch of very many rows ends with the last step that is planned.
            let most = match phase {
                Phase::Pretraining => train.pretrain_max_steps,
                Phase::Likelihood => train.max_steps,
            };
            return (stream.rows / size).clamp(1, if most == 0 { usize::MAX } else { most });
        }
        // Members of an ensemble on few rows: smaller batches take less time and fit no worse.
        let fewest = if train.crossfit_folds > 0 { FEWEST_BATCHES.min(rows / SMALLEST_BATCH) } else { 1 };
        rows.div_ceil(size).max(fewest)
    }

    pub(super) fn batch_size(&self, phase: Phase) -> usize {
        match phase {
            Phase::Pretraining => self.config.train.pretrain_batch_size.get(),
            Phase::Likelihood => self.config.train.batch_size.get(),
        }
    }

    pub(super) fn planned_steps(&self) -> usize {
        [Phase::Pretraining, Phase::Likelihood]
            .map(|phase| self.epochs(phase) * self.batches(phase))
            .iter()
            .sum()
    }

    /// A number for each purpose, epoch and step, so that nothing depends on how often a generator was asked.
    pub(super) fn seed(&self, purpose: u64, phase: Phase, index: usize) -> u64 {
        let phase = match phase {
            Phase::Pretraining => 1,
            Phase::Likelihood => 2,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(self.config.seed);
        rng.set_stream((purpose << 56) | (phase << 48) | index as u64);
        rng.random()
    }

    /// Features of some rows by the encoder's parameters at the front of `theta`, row-major `[N, D]`.
    pub(super) fn features(&self, theta: &[f32], rows: &[usize]) -> Result<Vec<f32>, Error> {
        let theta = &theta[..self.encoder_len()];
        let mut phi = Vec::with_capacity(rows.len() * self.encoder.dim());
        for block in rows.chunks(BLOCK) {
            phi.extend(self.encoder.features(theta, self.data.inputs, block)?);
        }
        Ok(phi)
    }

    fn finish(
        &self,
        state: NetworkState,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<Fitted, Error> {
        let (theta, best_epoch) = match state.best {
            Some(best) => (best.theta, best.epoch),
            None => (state.theta, state.epoch),
        };
        let (encoder, head) = theta.split_at(self.encoder_len());
        let fitted_head = match state.phase {
            Phase::Likelihood => {
                let mut head = self.head.unflatten(head);
                if self.config.train.head_refit && self.head.classes && !self.data.validation.is_empty() {
                    match self.refit(&theta, &state.scale, &mut head, listen) {
                        Err(Error::Gp(error)) => {
                            listen(NetworkEvent::Notice(format!(
                                "the pseudo-labels were not fitted: {error}"
                            )));
                        }
                        other => other?,
                    }
                }
                FittedHead::Process(head)
            }
            Phase::Pretraining => {
                let (w, b) = self.readout.mean(head);
                FittedHead::Softmax { w, b }
            }
        };
        Ok(Fitted {
            encoder: encoder.to_vec(),
            head: fitted_head,
            scale: state.scale,
            best_epoch,
            history: state.history,
        })
    }
}
