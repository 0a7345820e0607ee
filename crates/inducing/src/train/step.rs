//! Epochs and steps.

use super::adam::Segment;
use super::batches::{Batch, Batches};
use super::network_state::EpochSoFar;
use super::{NetworkEvent, NetworkState, NetworkTrainer, Phase, TrainingData};
use crate::config::{Precision, Schedule};
use crate::dataset::Inputs;
use crate::error::Error;
use crate::head::{FeatureScale, Head, HeadBatch, ReadoutBatch};
use crate::nn::{Backward, Encoder, Mode, Slot};
use pulp::{Arch, Simd, WithSimd};
use std::sync::Mutex;

/// Steps between two places that a run can go on from.
const STRIDE: usize = 500;
/// What lanes say besides their gradients: loss, utilisation, rows, wishes to stop, failures.
const MORE: usize = 5;

/// What is kept from step to step.
pub(super) struct StepSpace<'a> {
    precision: Precision,
    gradient: Vec<f32>, // of all of θ
    /// One for each lane that is evaluated at a time.
    heads: Mutex<Vec<Head>>,
    /// The epoch's, as far as it has come.
    batches: Option<Batches<'a>>,
    /// The listener of this process asked for a stop; the others hear of it in the next step.
    wants_stop: bool,
}

impl StepSpace<'_> {
    pub(super) fn new(precision: Precision) -> Self {
        let (gradient, heads) = (Vec::new(), Mutex::default());
        Self { precision, gradient, heads, batches: None, wants_stop: false }
    }

    /// Forgets where the epoch was: a run goes back.
    pub(super) fn rewind(&mut self) {
        self.batches = None;
    }
}

/// What a step found besides the gradient.
struct StepValue {
    loss: f64,
    utilisation: f64,
}

/// The encoder's part of a step.
pub(crate) struct EncoderPass<'a> {
    pub(super) encoder: &'a dyn Encoder,
    pub(super) theta: &'a [f32],
    pub(super) inputs: &'a Inputs,
    pub(super) rows: &'a [usize],
    pub(super) mode: Mode,
    /// What follows the encoder.
    pub(super) scale: &'a FeatureScale,
    /// Where the gradient goes; `None` for a frozen encoder.
    pub(super) d_theta: Option<&'a mut [f32]>,
}

/// The backward pass from scaled features to the encoder's parameters.
pub(crate) struct EncoderBackward<'a> {
    backward: Box<dyn Backward + 'a>,
    scale: &'a FeatureScale,
    d_theta: Option<&'a mut [f32]>,
}

impl<'a> EncoderPass<'a> {
    /// Scaled features `[N, D]`.
    pub(crate) fn forward(self) -> Result<(Vec<f32>, EncoderBackward<'a>), Error> {
        let Self { encoder, theta, inputs, rows, mode, scale, d_theta } = self;
        let (mut phi, backward) = encoder.forward(theta, inputs, rows, mode)?;
        scale.apply(&mut phi);
        Ok((phi, EncoderBackward { backward, scale, d_theta }))
    }
}

impl EncoderBackward<'_> {
    /// From `∂Φ [N, D]` to `∂θ`.
    pub(crate) fn pull_back(self, mut d_phi: Vec<f32>) {
        if let Some(d_theta) = self.d_theta {
            self.scale.pull_back(&mut d_phi);
            self.backward.pull_back(&d_phi, d_theta, None);
        }
    }
}

/// Why a step was not taken.
#[derive(Debug)]
pub(super) enum StepError {
    /// Numbers left their range: a smaller step may help.
    Diverged(String),
    /// Nothing helps.
    Fatal(Error),
}

impl From<Error> for StepError {
    fn from(error: Error) -> Self {
        match error {
            Error::Gp(error) => Self::Diverged(error.to_string()),
            error => Self::Fatal(error),
        }
    }
}

impl<'a> NetworkTrainer<'a> {
    /// The next steps of an epoch, and what follows its last one; false when the listener asked for a stop.
    pub(super) fn advance(
        &self,
        state: &mut NetworkState,
        space: &mut StepSpace<'a>,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<bool, StepError> {
        let phase = state.phase;
        let (segments, all) = (self.segments(phase), self.batches(phase));
        let batches = match space.batches.take() {
            Some(batches) => batches,
            None => self.batches_from(state),
        };
        let until = (state.so_far.steps + STRIDE).min(all);
        while state.so_far.steps < until {
            let Some(value) = self.step(state, space, &batches, &segments)? else { return Ok(false) };
            state.so_far.steps += 1;
            state.so_far.loss += value.loss / all as f64;
            state.so_far.utilisation += value.utilisation / all as f64;
            let before = match phase {
                Phase::Pretraining => 0,
                Phase::Likelihood => self.epochs(Phase::Pretraining) * self.batches(Phase::Pretraining),
            };
            let (done, planned) = (before + state.epoch * all + state.so_far.steps, self.planned_steps());
            if !self.goes_on(listen(NetworkEvent::Step { done, planned, phase, loss: value.loss }), space) {
                return Ok(false);
            }
        }
        if until < all {
            space.batches = Some(batches);
            return Ok(true);
        }
        let EpochSoFar { loss, utilisation, .. } = std::mem::take(&mut state.so_far);
        state.epoch += 1;
        let mut record = self.score(state)?;
        record.loss = Some(loss);
        if phase == Phase::Likelihood {
            record.utilisation = Some(utilisation);
            self.reinitialise_unused(state, utilisation, listen)?;
        }
        listen(NetworkEvent::Record(&record));
        self.keep_best(state, &record);
        state.history.push(record);
        Ok(true)
    }

    /// What a listener's answer means here: where processes share the network, none of them stops alone.
    pub(super) fn goes_on(&self, answer: bool, space: &mut StepSpace<'_>) -> bool {
        space.wants_stop |= !answer;
        answer || !self.team.is_alone()
    }

    /// The batches of the epoch that `state` is in.
    fn batches_from(&self, state: &NetworkState) -> Batches<'a> {
        let TrainingData { inputs, targets, train, stream, .. } = self.data;
        let (phase, epoch, done) = (state.phase, state.epoch, state.so_far.steps);
        let Some(stream) = stream else {
            let steps = (self.batches(phase), self.team.lanes);
            return Batches::of_memory((inputs, targets), train, steps, self.seed(2, phase, epoch));
        };
        // Members of an ensemble read the files in orders of their own.
        let own = (self.config.seed ^ self.start.stream_seed).wrapping_mul(0x9e37_79b9);
        let seed = self.seed(10, phase, epoch).wrapping_add(own);
        let lanes = (self.team.own(), self.team.lanes);
        Batches::of_files(stream, targets, lanes, self.batch_size(phase), (seed, done))
    }

    /// One step; nothing where a process of the team was asked to stop.
    fn step(
        &self,
        state: &mut NetworkState,
        space: &mut StepSpace<'a>,
        batches: &Batches<'a>,
        segments: &[Segment],
    ) -> Result<Option<StepValue>, StepError> {
        let Some(value) = self.gradient(state, space, batches)? else { return Ok(None) };
        let norm = sum_of_squares(&space.gradient).sqrt();
        if !(value.loss.is_finite() && norm.is_finite()) {
            return Err(StepError::Diverged("the loss or its gradient is not a finite number".into()));
        }
        let rate = self.rate(state, state.epoch * self.batches(state.phase) + state.so_far.steps);
        let shrink = (self.config.train.clip_norm.get() / norm).min(1.0) as f32;
        state.adam.step(&mut state.theta, &space.gradient, segments, rate, shrink);
        if state.phase == Phase::Likelihood {
            self.head.keep_noise(&mut state.theta[self.encoder_len()..]);
        }
        Ok(Some(value))
    }

    /// Leaves the gradient of a step in `space`: the mean over the rows of all lanes, of all processes of the team.
    fn gradient(
        &self,
        state: &NetworkState,
        space: &mut StepSpace<'a>,
        batches: &Batches<'a>,
    ) -> Result<Option<StepValue>, StepError> {
        let len = state.theta.len();
        let StepSpace { precision, gradient, heads, wants_stop, .. } = space;
        let heads = &*heads;
        let heads_of = || heads.lock().expect("no head panicked");
        let take_head = || heads_of().pop().unwrap_or_else(|| Head::new(*precision));
        let evaluate = |lane: usize, threads: usize, gradient: &mut [f32]| {
            let mut head = take_head();
            let found = batches.with_batch(state.so_far.steps, lane, |batch| {
                let rows = batch.rows.len();
                let value = match rows {
                    0 => StepValue { loss: 0.0, utilisation: 0.0 },
                    _ => self.loss_and_gradient(state, &mut head, batch, lane, threads, gradient)?,
                };
                Ok((value, rows))
            });
            heads_of().push(head);
            Ok(found?.unwrap_or((StepValue { loss: 0.0, utilisation: 0.0 }, 0)))
        };
        let no_rows = || {
            StepError::Fatal(Error::Request(
                "no file has a row to learn from\nhint: look at the target column of the files".into(),
            ))
        };
        if self.team.is_trivial() {
            gradient.resize(len, 0.0);
            return match evaluate(0, self.threads, gradient)? {
                (_, 0) => Err(no_rows()),
                (value, _) => Ok(Some(value)),
            };
        }
        let failure = Mutex::new(None);
        let lanes_at_a_time = self.threads.min(self.team.own().len()).max(1);
        let leaf = |lane: usize| {
            let mut said = vec![0.0; len + MORE];
            let (own, more) = said.split_at_mut(len);
            match evaluate(lane, self.threads / lanes_at_a_time, own) {
                Ok((StepValue { loss, utilisation }, rows)) => {
                    let n = rows as f32;
                    own.iter_mut().for_each(|g| *g *= n);
                    more[..3].copy_from_slice(&[loss as f32 * n, utilisation as f32 * n, n]);
                }
                // All see that the loss is no number, and go back together.
                Err(Error::Gp(_)) => own.iter_mut().chain(&mut more[..3]).for_each(|x| *x = f32::NAN),
                Err(error) => {
                    own.fill(0.0);
                    more[4] = 1.0;
                    failure.lock().expect("nobody panicked").get_or_insert(error);
                }
            }
            more[3] = f32::from(u8::from(*wants_stop));
            said
        };
        let mut sum = self.team.sum(len + MORE, lanes_at_a_time, &leaf)?;
        if let Some(error) = failure.into_inner().expect("nobody panicked") {
            return Err(StepError::Fatal(error));
        }
        let [loss, utilisation, rows, stops, failures] = sum[len..] else { unreachable!("{MORE} numbers") };
        if stops > 0.0 || failures > 0.0 {
            return Ok(None);
        }
        if rows == 0.0 {
            return Err(no_rows());
        }
        sum.truncate(len);
        sum.iter_mut().for_each(|g| *g /= rows);
        *gradient = sum;
        Ok(Some(StepValue { loss: f64::from(loss / rows), utilisation: f64::from(utilisation / rows) }))
    }

    /// Loss and utilisation of a batch; writes the gradient.
    fn loss_and_gradient(
        &self,
        state: &NetworkState,
        head: &mut Head,
        Batch { inputs, targets, rows }: Batch<'_>,
        lane: usize,
        threads: usize,
        gradient: &mut [f32],
    ) -> Result<StepValue, Error> {
        let encoder_len = self.encoder_len();
        let frozen =
            encoder_len == 0 || (state.phase == Phase::Likelihood && self.config.train.encoder_rate == 0.0);
        let (y, weights) = (targets.batch(rows), targets.weights(rows));
        let (d_encoder, d_theta) = gradient.split_at_mut(encoder_len);
        let (encoder_theta, theta) = state.theta.split_at(encoder_len);
        if frozen {
            d_encoder.fill(0.0);
        }
        let batch = (state.epoch * self.batches(state.phase) + state.so_far.steps) * self.team.lanes + lane;
        let pass = EncoderPass {
            encoder: self.encoder,
            theta: encoder_theta,
            inputs,
            rows,
            mode: Mode::Train { seed: self.seed(3, state.phase, batch) },
            scale: &state.scale,
            d_theta: (!frozen).then_some(d_encoder),
        };
        match state.phase {
            Phase::Pretraining => {
                let ((phi, backward), mut d_phi) = (pass.forward()?, Vec::new());
                let batch = ReadoutBatch { phi: &phi, y: &y, weights: &weights };
                let loss = self.readout.evaluate(theta, batch, &mut d_phi, d_theta);
                backward.pull_back(d_phi);
                Ok(StepValue { loss, utilisation: 0.0 })
            }
            Phase::Likelihood => {
                let batch = HeadBatch { theta, y: &y, weights: &weights, threads, d_theta };
                let value = head.evaluate(&self.head, batch, pass)?;
                Ok(StepValue { loss: value.loss, utilisation: value.utilisation })
            }
        }
    }

    /// Step sizes and decay, stretch by stretch.
    fn segments(&self, phase: Phase) -> Vec<Segment> {
        let train = &self.config.train;
        let encoder_rate = if phase == Phase::Likelihood { train.encoder_rate } else { 1.0 };
        let segment = |slot: &Slot| Segment {
            len: slot.param.len(),
            rate: encoder_rate,
            decay: if slot.decays { train.weight_decay } else { 0.0 },
        };
        let mut segments: Vec<Segment> = self.encoder.layout().slots().iter().map(segment).collect();
        let plain = |len: usize, rate: f64| Segment { len, rate, decay: 0.0 };
        match phase {
            Phase::Pretraining => segments.push(plain(self.readout.len(), 1.0)),
            Phase::Likelihood => {
                let [z, w, b, sigma, kernel] = self.head.lengths();
                let kernel_rate = if self.config.gp.learn_kernel { 1.0 } else { 0.0 };
                segments.extend([plain(z + w + b + sigma, 1.0), plain(kernel, kernel_rate)]);
            }
        }
        segments
    }

    /// Learning rate of a step.
    fn rate(&self, state: &NetworkState, step: usize) -> f64 {
        let train = &self.config.train;
        let base = state.rate_factor
            * match state.phase {
                Phase::Pretraining => train.pretrain_learning_rate.get(),
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
}

/// `Σ gᵢ²` in sixteen sums side by side, which are one vector or two. Stretches of zeros are passed over, which changes no
/// bit: most words of a vocabulary do not occur in a batch.
fn sum_of_squares(gradient: &[f32]) -> f64 {
    Arch::new().dispatch(Squares(gradient))
}

struct Squares<'a>(&'a [f32]);

impl WithSimd for Squares<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut sums = [0.0_f64; 16];
        let (stretches, rest) = self.0.as_chunks::<64>();
        for stretch in stretches {
            if stretch.iter().fold(0, |bits, g| bits | g.to_bits()) << 1 == 0 {
                continue;
            }
            for part in stretch.as_chunks::<16>().0 {
                for i in 0..16 {
                    sums[i] += f64::from(part[i]) * f64::from(part[i]);
                }
            }
        }
        for (i, &g) in rest.iter().enumerate() {
            sums[i % 16] += f64::from(g) * f64::from(g);
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_summed_whatever_their_number() {
        for len in [0, 1, 15, 16, 17, 64, 130, 1000] {
            let gradient: Vec<f32> = (0..len).map(|i| if i % 200 < 70 { 0.0 } else { i as f32 }).collect();
            let expected: f64 = gradient.iter().map(|&g| f64::from(g) * f64::from(g)).sum();
            assert_eq!(sum_of_squares(&gradient), expected, "{len} numbers");
        }
        assert!(sum_of_squares(&[0.0, f32::NAN, 1.0]).is_nan());
    }
}
