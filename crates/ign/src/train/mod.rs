//! Training: an optional warm start, then the likelihood of encoder and Gaussian process together.
//!
//! The encoder (burn, f32) gives Φ; a head gives the loss and `∂Φ`; the linear surrogate `⟨Φ, ∂Φ⟩` is
//! backpropagated through the encoder, which yields exactly its gradients (the paper's Proposition 1 by
//! construction). One optimiser steps one flat vector. Every random number follows from the seed and the
//! epoch, so a run that goes on from the beginning of any epoch arrives at the same bytes.

mod adam;
mod head;
mod readout;
mod seeding;
mod state;

pub use head::HeadParameters;
pub(crate) use head::{AnyPosterior, HeadShape};
pub use seeding::FeatureScale;
pub(crate) use state::StateHeader;
pub use state::{EpochRecord, Phase, State};

use crate::config::{Config, Schedule, StopOn};
use crate::encoder::parameters::{self, Slot};
use crate::encoder::{Encoder, Mode};
use crate::metrics::Metrics;
use adam::{Adam, Segment};
use burn::tensor::{Device, Tensor, TensorData};
use head::{Head, HeadBatch};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use readout::Readout;
use state::Best;
use std::sync::Mutex;

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

/// What a run trains on: rows of `inputs`, standardised targets `[N, C]`.
#[derive(Debug)]
pub struct TrainingData<'a, I> {
    /// All rows.
    pub inputs: &'a I,
    /// Standardised targets, row-major `[N, C]`.
    pub y: &'a [f32],
    /// C
    pub outputs: usize,
    /// Rows that are trained on.
    pub train: &'a [usize],
    /// Rows that decide when to stop; may be empty.
    pub validation: &'a [usize],
}

/// What a run says on its way.
#[derive(Debug)]
pub enum Event<'a> {
    /// A phase begins or, at an epoch's beginning, where the run stands: what a checkpoint must hold.
    Epoch {
        /// All that is needed to go on from here.
        state: &'a State,
        /// The planned steps of all phases.
        planned_steps: usize,
    },
    /// A step is done.
    Step {
        /// Steps done of all phases.
        done: usize,
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
    pub head: HeadParameters,
    /// The fixed map between the two.
    pub scale: FeatureScale,
    /// Epoch of the likelihood phase whose parameters these are.
    pub best_epoch: usize,
    /// All epochs.
    pub history: Vec<EpochRecord>,
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// It is done.
    Finished(Box<Fitted>),
    /// The listener asked for a stop; go on from here.
    Interrupted(Box<State>),
}

/// Rows whose features are computed at a time outside of training.
const BLOCK: usize = 1024;
/// Rows that k-means, the feature scale and the search for dead points look at.
const SAMPLE: usize = 8192;
/// Validation rows that an epoch's score looks at.
const VALIDATION_SAMPLE: usize = 20_000;
/// Failures that are answered by a smaller step before the run gives up.
const MOST_SETBACKS: usize = 8;
/// Utilisation below which the inducing points count as unused.
const LOW_UTILISATION: f64 = 0.05;

/// One run.
pub struct Trainer<'a, E: Encoder> {
    config: &'a Config,
    data: TrainingData<'a, E::Inputs>,
    device: Device,
    encoder: E,
    slots: Vec<Slot>,
    head: HeadShape,
    readout: Readout,
    readout_start: ReadoutStart,
    threads: usize,
}

/// Where the linear readouts begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadoutStart {
    /// Glorot-uniform weights.
    Random,
    /// The first features of every member are the outputs, for an encoder that begins as a linear model; the
    /// others are random.
    FirstFeatures,
}

impl<'a, E: Encoder> Trainer<'a, E> {
    /// Prepares a run of `encoder`, whose parameters are taken as the start.
    pub fn new(
        config: &'a Config,
        encoder: E,
        readout_start: ReadoutStart,
        data: TrainingData<'a, E::Inputs>,
        threads: usize,
    ) -> Self {
        let device = Device::default().autodiff();
        let (slots, values) = parameters::read(&encoder);
        let encoder = parameters::write(encoder, &values, &device);
        let inducing = config.gp.inducing.get().min(data.train.len());
        let head = HeadShape::new(config, inducing, encoder.dim(), data.outputs);
        let readout = Readout { features: encoder.dim(), members: encoder.members(), outputs: data.outputs };
        Self { config, data, device, encoder, slots, head, readout, readout_start, threads }
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
            if finished && state.phase == Phase::Likelihood {
                return Ok(Outcome::Finished(Box::new(self.finish(state))));
            }
            if finished {
                state = self.begin_likelihood(state, listen);
                good = state.clone();
                continue;
            }
            if !listen(Event::Epoch { state: &state, planned_steps: self.planned_steps() }) {
                return Ok(Outcome::Interrupted(Box::new(good)));
            }
            match self.epoch(&mut state, &mut objective, listen) {
                Ok(true) => good = state.clone(),
                Ok(false) => return Ok(Outcome::Interrupted(Box::new(good))),
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
            Phase::WarmStart => (train.warm_epochs, train.warm_steps, train.warm_max_steps),
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

    fn begin(&self, listen: &mut dyn FnMut(Event<'_>) -> bool) -> State {
        let (_, mut theta) = parameters::read(&self.encoder);
        let warm = self.epochs(Phase::WarmStart) > 0;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed(1, Phase::WarmStart, 0));
        let bound = (6.0 / (self.readout.features + 1) as f32).sqrt();
        let (c, each) = (self.readout.outputs, self.readout.features / self.readout.members);
        for weight in 0..self.readout.features * c {
            let (feature, output) = (weight / c % each, weight % c);
            let random = rng.random_range(-bound..bound);
            theta.push(match self.readout_start {
                ReadoutStart::FirstFeatures if feature == output => 1.0,
                ReadoutStart::FirstFeatures if feature < c => 0.0,
                _ => random,
            });
        }
        theta.resize(self.encoder_len() + self.readout.len(), 0.0);
        let state = State {
            phase: Phase::WarmStart,
            epoch: 0,
            adam: Adam::new(theta.len()),
            theta,
            scale: FeatureScale::identity(self.readout.features),
            rate_factor: 1.0,
            setbacks: 0,
            best: None,
            history: Vec::new(),
        };
        if warm { state } else { self.begin_likelihood_from(state, listen) }
    }

    /// Checks that a checkpoint's vectors have this run's lengths, and takes its encoder over.
    fn accept(&mut self, state: State) -> Result<State, TrainError> {
        let head: usize = match state.phase {
            Phase::WarmStart => self.readout.len(),
            Phase::Likelihood => self.head.lengths().iter().sum(),
        };
        let expected = self.encoder_len() + head;
        let lengths = [state.theta.len(), state.adam.first.len(), state.adam.second.len()];
        let best = state.best.as_ref().map_or(expected, |best| best.theta.len());
        if lengths.iter().chain([&best]).any(|&len| len != expected)
            || state.scale.shift.len() != self.encoder.dim()
        {
            let reason = format!("it holds {} parameters, the run has {expected}", lengths[0]);
            return Err(TrainError::Checkpoint { reason });
        }
        self.load(&state.theta);
        Ok(state)
    }

    /// Gives the encoder the parameters at the front of `theta`.
    fn load(&mut self, theta: &[f32]) {
        let len = self.encoder_len();
        self.encoder = parameters::write(self.encoder.clone(), &theta[..len], &self.device);
    }

    /// One pass over the training rows; false when the listener asked for a stop.
    fn epoch(
        &mut self,
        state: &mut State,
        objective: &mut Head,
        listen: &mut dyn FnMut(Event<'_>) -> bool,
    ) -> Result<bool, String> {
        let phase = state.phase;
        let mut rows = self.data.train.to_vec();
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed(2, phase, state.epoch)));
        let batches = self.batches(phase);
        let before = if phase == Phase::WarmStart {
            0
        } else {
            self.epochs(Phase::WarmStart) * self.batches(Phase::WarmStart)
        };
        let (mut losses, mut utilisation) = (0.0, 0.0);
        let segments = self.segments(phase);
        for batch in 0..batches {
            // Parts of nearly equal size: no straggler of a single row.
            let part = &rows[batch * rows.len() / batches..(batch + 1) * rows.len() / batches];
            let step = state.epoch * batches + batch;
            let (loss, used) = self.step(state, objective, part, step, &segments)?;
            losses += loss / batches as f64;
            utilisation += used / batches as f64;
            if !listen(Event::Step { done: before + step + 1, phase, loss }) {
                return Ok(false);
            }
        }
        state.epoch += 1;
        let mut record = self.score(state)?;
        record.loss = Some(losses);
        if phase == Phase::Likelihood {
            record.utilisation = Some(utilisation);
            self.revive(state, utilisation, listen);
        }
        listen(Event::Record(&record));
        self.keep_best(state, &record);
        state.history.push(record);
        Ok(true)
    }

    /// One step; returns loss and utilisation.
    fn step(
        &mut self,
        state: &mut State,
        objective: &mut Head,
        rows: &[usize],
        step: usize,
        segments: &[Segment],
    ) -> Result<(f64, f64), String> {
        let c = self.data.outputs;
        let encoder_len = self.encoder_len();
        let frozen = state.phase == Phase::Likelihood && self.config.train.encoder_rate == 0.0;
        let mode = Mode::Train { seed: self.seed(3, state.phase, step) };
        let y: Vec<f32> =
            rows.iter().flat_map(|&row| &self.data.y[row * c..(row + 1) * c]).copied().collect();
        let mut d_head = vec![0.0; state.theta.len() - encoder_len];
        let theta = &state.theta[encoder_len..];
        let features = Mutex::new(None);
        let mut gradient = Vec::with_capacity(state.theta.len());
        let forward = || {
            let output = self.encoder.features(self.data.inputs, rows, mode); // [N, D]
            *features.lock().expect("no panic in between") = Some(output.clone());
            to_vec(output)
        };
        let mut backward = |d_phi: Vec<f32>| {
            if frozen {
                return gradient.resize(encoder_len, 0.0);
            }
            let features = features.lock().expect("no panic in between").take().expect("forward ran");
            let d_phi = Tensor::<2>::from_data(TensorData::new(d_phi, features.dims()), &self.device);
            let gradients = (features * d_phi).sum().backward();
            parameters::read_gradients(&self.encoder, &gradients, &mut gradient);
        };
        let (loss, utilisation) = match state.phase {
            Phase::WarmStart => {
                let (phi, mut d_phi) = (forward(), Vec::new());
                let loss = self.readout.evaluate(theta, &phi, &y, &mut d_phi, &mut d_head);
                backward(d_phi);
                (loss, 0.0)
            }
            Phase::Likelihood => {
                let batch = HeadBatch { theta, y: &y, threads: self.threads, d_theta: &mut d_head };
                let scale = &state.scale;
                let value = objective
                    .evaluate(
                        &self.head,
                        batch,
                        || {
                            let mut phi = forward();
                            scale.apply(&mut phi);
                            phi
                        },
                        |mut d_phi| {
                            scale.pull_back(&mut d_phi);
                            backward(d_phi);
                        },
                    )
                    .map_err(|e| e.to_string())?;
                (value.loss, value.utilisation)
            }
        };
        gradient.extend_from_slice(&d_head);
        let norm = gradient.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt();
        if !(loss.is_finite() && norm.is_finite()) {
            return Err("the loss or its gradient is not a finite number".into());
        }
        let rate = self.rate(state, step);
        let shrink = (self.config.train.clip_norm.get() / norm).min(1.0) as f32;
        state.adam.step(&mut state.theta, &gradient, segments, rate, shrink);
        if !frozen {
            self.load(&state.theta);
        }
        Ok((loss, utilisation))
    }

    /// Step sizes and decay, stretch by stretch.
    fn segments(&self, phase: Phase) -> Vec<Segment> {
        let train = &self.config.train;
        let encoder_rate = if phase == Phase::Likelihood { train.encoder_rate } else { 1.0 };
        let mut segments: Vec<Segment> = self
            .slots
            .iter()
            .map(|slot| Segment {
                len: slot.len(),
                rate: encoder_rate,
                decay: if E::decays(&slot.path) { train.weight_decay } else { 0.0 },
            })
            .collect();
        let plain = |len: usize, rate: f64| Segment { len, rate, decay: 0.0 };
        match phase {
            Phase::WarmStart => segments.push(plain(self.readout.len(), 1.0)),
            Phase::Likelihood => {
                let [z, w, b, sigma, kernel] = self.head.lengths();
                let kernel_rate = if self.config.gp.learn_kernel { 1.0 } else { 0.0 };
                segments.extend([plain(z + w + b + sigma, 1.0), plain(kernel, kernel_rate)]);
            }
        }
        segments
    }

    /// Learning rate of a step.
    fn rate(&self, state: &State, step: usize) -> f64 {
        let train = &self.config.train;
        let base = state.rate_factor
            * match state.phase {
                Phase::WarmStart => train.warm_learning_rate.get(),
                Phase::Likelihood => train.learning_rate.get(),
            };
        let total = (self.epochs(state.phase) * self.batches(state.phase)) as f64;
        match train.schedule {
            Schedule::Constant => base,
            Schedule::Cosine => {
                let done = (step as f64 + 0.5) / total;
                let rise = 0.05;
                if done < rise {
                    base * done / rise
                } else {
                    base * 0.5 * (1.0 + (std::f64::consts::PI * (done - rise) / (1.0 - rise)).cos())
                }
            }
        }
    }

    /// Features of some rows, as the encoder gives them, row-major `[N, D]`.
    fn features(&self, rows: &[usize]) -> Vec<f32> {
        // Without autodiff: its graphs of past blocks stay in memory for a while, a gigabyte at 20,000 rows.
        let plain =
            parameters::write(self.encoder.clone(), &parameters::read(&self.encoder).1, &Device::default());
        let mut phi = Vec::with_capacity(rows.len() * self.encoder.dim());
        for block in rows.chunks(BLOCK) {
            phi.extend(to_vec(plain.features(self.data.inputs, block, Mode::Predict)));
        }
        phi
    }

    /// From linear readouts to inducing points, by way of the best warm parameters.
    fn begin_likelihood(&mut self, mut state: State, listen: &mut dyn FnMut(Event<'_>) -> bool) -> State {
        if let Some(best) = state.best.take() {
            state.theta = best.theta;
        }
        self.load(&state.theta);
        self.begin_likelihood_from(state, listen)
    }

    fn begin_likelihood_from(&self, mut state: State, listen: &mut dyn FnMut(Event<'_>) -> bool) -> State {
        let (d, c) = (self.encoder.dim(), self.data.outputs);
        let (encoder, readout) = state.theta.split_at(self.encoder_len());
        let (mut w, mut b) = self.readout.mean(readout);
        let best = state.history.iter().filter_map(|record| record.rmse).reduce(f64::min);
        let noise = best.map_or(self.config.gp.noise.get(), |rmse| rmse.clamp(1e-3, 1.0));
        let sample = self.sample(4, 0);
        let mut phi = self.features(&sample);
        if self.config.train.scale_features {
            state.scale = FeatureScale::fit(&phi, d, self.seed(5, Phase::Likelihood, 0));
            state.scale.apply(&mut phi);
            // wᵀg + b = (w/a)ᵀ·a(g − shift) + (b + wᵀshift)
            for (j, shift) in state.scale.shift.iter().enumerate() {
                for output in 0..c {
                    b[output] += shift * w[j * c + output];
                    w[j * c + output] /= state.scale.scale;
                }
            }
        }
        let z = if self.config.train.warm_epochs > 0 {
            seeding::k_means(&phi, d, self.head.inducing, self.seed(6, Phase::Likelihood, 0))
        } else {
            phi[..self.head.inducing * d].to_vec()
        };
        let log_kernel = self.head.kernel.log_parameters().map(|x| x as f32);
        let head = HeadParameters { z, w, b, log_sigma: vec![noise.ln() as f32; c], log_kernel };
        let theta = [encoder, &head.flat()].concat();
        let mut state = State {
            phase: Phase::Likelihood,
            epoch: 0,
            adam: Adam::new(theta.len()),
            theta,
            best: None,
            rate_factor: 1.0,
            setbacks: 0,
            ..state
        };
        // The start counts too: the likelihood must earn its place.
        if let Ok(record) = self.score(&state) {
            listen(Event::Record(&record));
            self.keep_best(&mut state, &record);
            state.history.push(record);
        }
        state
    }

    /// At most [`SAMPLE`] training rows in random order, never fewer than there are inducing points.
    fn sample(&self, purpose: u64, index: usize) -> Vec<usize> {
        let mut rows = self.data.train.to_vec();
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed(purpose, Phase::Likelihood, index)));
        rows.truncate(SAMPLE.max(self.head.inducing));
        rows
    }

    /// Scores the validation part.
    fn score(&self, state: &State) -> Result<EpochRecord, String> {
        let mut record = EpochRecord {
            phase: state.phase,
            epoch: state.epoch,
            steps: state.epoch * self.batches(state.phase),
            loss: None,
            rmse: None,
            nll: None,
            crps: None,
            utilisation: None,
            noise: None,
        };
        let c = self.data.outputs;
        let theta = &state.theta[self.encoder_len()..];
        let validation = &self.data.validation[..self.data.validation.len().min(VALIDATION_SAMPLE)];
        let n = validation.len();
        let mut phi = self.features(validation);
        let y = |output: usize| {
            validation.iter().map(|&row| f64::from(self.data.y[row * c + output])).collect::<Vec<_>>()
        };
        let column = |values: &[f64], output: usize| {
            values.iter().skip(output).step_by(c).copied().collect::<Vec<_>>()
        };
        match state.phase {
            Phase::WarmStart if n > 0 => {
                let (w, b) = self.readout.mean(theta);
                let d = self.encoder.dim();
                let mut squares = 0.0;
                for (i, row) in phi.chunks_exact(d).enumerate() {
                    for output in 0..c {
                        let mean = b[output]
                            + row.iter().enumerate().map(|(j, x)| x * w[j * c + output]).sum::<f32>();
                        squares += f64::from(mean - self.data.y[validation[i] * c + output]).powi(2);
                    }
                }
                record.rmse = Some((squares / (n * c) as f64).sqrt());
            }
            Phase::WarmStart => {}
            Phase::Likelihood => {
                let parameters = self.head.take_apart(theta);
                let sigma = |output: usize| f64::from(parameters.log_sigma[output]).exp();
                record.noise = Some((0..c).map(sigma).sum::<f64>() / c as f64);
                if n > 0 {
                    state.scale.apply(&mut phi);
                    let HeadShape { kernel, jitter, precision, .. } = &self.head;
                    let (mean, var) =
                        AnyPosterior::new(&parameters, kernel, *jitter, *precision, self.threads)
                            .map_err(|e| e.to_string())?
                            .predict(&phi, n);
                    let scores: Vec<Metrics> = (0..c)
                        .map(|output| {
                            let std: Vec<f64> =
                                var.iter().map(|v| (v + sigma(output).powi(2)).sqrt()).collect();
                            Metrics::gaussian(&y(output), &column(&mean, output), &std)
                        })
                        .collect();
                    let average =
                        |f: &dyn Fn(&Metrics) -> f64| Some(scores.iter().map(f).sum::<f64>() / c as f64);
                    record.rmse = average(&|m| m.rmse * m.rmse).map(f64::sqrt);
                    record.nll = average(&|m| m.nll);
                    record.crps = average(&|m| m.crps);
                }
            }
        }
        Ok(record)
    }

    /// What decides between two epochs; smaller is better.
    fn criterion(&self, record: &EpochRecord) -> Option<f64> {
        match (record.phase, self.config.train.stop_on) {
            (_, StopOn::Never) => None,
            (Phase::WarmStart, _) => record.rmse,
            (Phase::Likelihood, StopOn::Crps) => record.crps,
            (Phase::Likelihood, StopOn::Nll) => record.nll,
        }
    }

    fn keep_best(&self, state: &mut State, record: &EpochRecord) {
        if let Some(score) = self.criterion(record).filter(|score| score.is_finite())
            && state.best.as_ref().is_none_or(|best| score < best.score)
        {
            state.best = Some(Best { theta: state.theta.clone(), score, epoch: state.epoch });
        }
    }

    fn out_of_patience(&self, state: &State) -> bool {
        state.phase == Phase::Likelihood
            && state
                .best
                .as_ref()
                .is_some_and(|best| state.epoch - best.epoch >= self.config.train.patience.max(1))
    }

    /// Notices inducing points that do nothing and gives them a new place.
    fn revive(&self, state: &mut State, utilisation: f64, listen: &mut dyn FnMut(Event<'_>) -> bool) {
        // In the last third the points have settled; moving one then only adds noise.
        if !self.config.train.reseed || state.epoch * 3 > self.epochs(Phase::Likelihood) * 2 {
            return;
        }
        let d = self.encoder.dim();
        let front = self.encoder_len();
        let parameters = self.head.take_apart(&state.theta[front..]);
        let gamma = match parameters.kernel(&self.head.kernel) {
            gp::Kernel::Linear { .. } => return,
            kernel => kernel.log_parameters()[1].exp(),
        };
        let mut phi = self.features(&self.sample(7, state.epoch)[..2048.min(self.data.train.len())]);
        state.scale.apply(&mut phi);
        let z = &mut state.theta[front..front + self.head.inducing * d];
        let seed = self.seed(8, Phase::Likelihood, state.epoch);
        let moved = if utilisation < LOW_UTILISATION {
            z.copy_from_slice(&seeding::k_means(&phi, d, self.head.inducing, seed));
            self.head.inducing
        } else {
            seeding::reseed_dead(z, &phi, d, gamma, seed)
        };
        if moved > 0 {
            listen(Event::Notice(format!(
                "epoch {}: {moved} of {} inducing points were far from all features and have been reseeded \
                 (utilisation {utilisation:.3})",
                state.epoch, self.head.inducing
            )));
        }
    }

    fn finish(&self, state: State) -> Fitted {
        let (theta, best_epoch) = match state.best {
            Some(best) => (best.theta, best.epoch),
            None => (state.theta, state.epoch),
        };
        let (encoder, head) = theta.split_at(self.encoder_len());
        Fitted {
            encoder: encoder.to_vec(),
            head: self.head.take_apart(head),
            scale: state.scale,
            best_epoch,
            history: state.history,
        }
    }
}

fn to_vec(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().try_to_vec::<f32>().expect("features are f32")
}
