//! Epochs and steps.

use super::adam::Segment;
use super::{NetworkEvent, NetworkState, NetworkTrainer, Phase, Targets, TrainingData};
use crate::config::{Precision, Schedule};
use crate::dataset::{Inputs, RowStream};
use crate::error::Error;
use crate::head::{FeatureScale, Head, HeadBatch, ReadoutBatch};
use crate::nn::{Backward, Encoder, Mode, Slot};
use pulp::{Arch, Simd, WithSimd};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// What is kept from step to step.
pub(super) struct StepSpace {
    head: Head,
    gradient: Vec<f32>, // of all of θ
}

impl StepSpace {
    pub(super) fn new(precision: Precision) -> Self {
        Self { head: Head::new(precision), gradient: Vec::new() }
    }
}

/// Rows of one step.
#[derive(Clone, Copy)]
struct Batch<'a> {
    inputs: &'a Inputs,
    targets: Targets<'a>,
    rows: &'a [usize],
}

/// An epoch on its way.
struct Epoch {
    losses: f64,
    utilisation: f64,
    /// Steps done.
    batch: usize,
    segments: Vec<Segment>,
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

impl NetworkTrainer<'_> {
    /// One pass over the training rows; false when the listener asked for a stop.
    pub(super) fn epoch(
        &self,
        state: &mut NetworkState,
        space: &mut StepSpace,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<bool, StepError> {
        let phase = state.phase;
        let mut run = Epoch { losses: 0.0, utilisation: 0.0, batch: 0, segments: self.segments(phase) };
        let done = match self.data.stream {
            None => self.steps_in_memory(state, space, &mut run, listen)?,
            Some(stream) => self.steps_on_stream(stream, state, space, &mut run, listen)?,
        };
        if !done {
            return Ok(false);
        }
        let Epoch { losses, utilisation, .. } = run;
        state.epoch += 1;
        let mut record = self.score(state)?;
        record.loss = Some(losses);
        if phase == Phase::Likelihood {
            record.utilisation = Some(utilisation);
            self.reinitialise_unused(state, utilisation, listen)?;
        }
        listen(NetworkEvent::Record(&record));
        self.keep_best(state, &record);
        state.history.push(record);
        Ok(true)
    }

    /// The steps of an epoch on rows in memory; false when the listener asked for a stop.
    fn steps_in_memory(
        &self,
        state: &mut NetworkState,
        space: &mut StepSpace,
        run: &mut Epoch,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<bool, StepError> {
        let TrainingData { inputs, targets, train, .. } = self.data;
        let mut rows = train.to_vec();
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed(2, state.phase, state.epoch)));
        let batches = self.batches(state.phase);
        for batch in 0..batches {
            // Parts of nearly equal size: no straggler of a single row.
            let rows = &rows[batch * rows.len() / batches..(batch + 1) * rows.len() / batches];
            if !self.counted_step(state, space, run, Batch { inputs, targets, rows }, listen)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same on rows that are read from files, from the beginning again where there are too few.
    fn steps_on_stream(
        &self,
        stream: &Arc<RowStream>,
        state: &mut NetworkState,
        space: &mut StepSpace,
        run: &mut Epoch,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<bool, StepError> {
        let (batches, size) = (self.batches(state.phase), self.batch_size(state.phase));
        let own = self.config.seed ^ self.start.stream_seed;
        for pass in 0.. {
            let before = run.batch;
            let seed = self
                .seed(10, state.phase, state.epoch)
                .wrapping_add(own.wrapping_mul(0x9e37_79b9))
                .wrapping_add(pass);
            for (index, window) in stream.windows(seed).into_iter().enumerate() {
                let window = window?;
                let (inputs, targets) = (&window.inputs, window.targets(self.data.targets));
                let mut rows: Vec<usize> = (0..inputs.rows()).collect();
                rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed ^ (index as u64) << 32));
                for rows in rows.chunks_exact(size.min(rows.len())) {
                    if !self.counted_step(state, space, run, Batch { inputs, targets, rows }, listen)? {
                        return Ok(false);
                    }
                    if run.batch == batches {
                        return Ok(true);
                    }
                }
            }
            if run.batch == before {
                return Err(StepError::Fatal(Error::inputs("training rows in the files", "none")));
            }
        }
        unreachable!("passes end when all steps are done")
    }

    /// One step of an epoch; false when the listener asked for a stop.
    fn counted_step(
        &self,
        state: &mut NetworkState,
        space: &mut StepSpace,
        run: &mut Epoch,
        batch: Batch<'_>,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<bool, StepError> {
        let (phase, batches) = (state.phase, self.batches(state.phase));
        let step = state.epoch * batches + run.batch;
        let (loss, used) = self.step(state, space, batch, step, &run.segments)?;
        run.losses += loss / batches as f64;
        run.utilisation += used / batches as f64;
        run.batch += 1;
        let before = match phase {
            Phase::Pretraining => 0,
            Phase::Likelihood => self.epochs(Phase::Pretraining) * self.batches(Phase::Pretraining),
        };
        let (done, planned) = (before + step + 1, self.planned_steps());
        Ok(listen(NetworkEvent::Step { done, planned, phase, loss }))
    }

    /// One step; returns loss and utilisation.
    fn step(
        &self,
        state: &mut NetworkState,
        space: &mut StepSpace,
        batch: Batch<'_>,
        step: usize,
        segments: &[Segment],
    ) -> Result<(f64, f64), StepError> {
        let (loss, utilisation) = self.loss_and_gradient(state, space, batch, step)?;
        let norm = sum_of_squares(&space.gradient).sqrt();
        if !(loss.is_finite() && norm.is_finite()) {
            return Err(StepError::Diverged("the loss or its gradient is not a finite number".into()));
        }
        let rate = self.rate(state, step);
        let shrink = (self.config.train.clip_norm.get() / norm).min(1.0) as f32;
        state.adam.step(&mut state.theta, &space.gradient, segments, rate, shrink);
        if state.phase == Phase::Likelihood {
            self.head.keep_noise(&mut state.theta[self.encoder_len()..]);
        }
        Ok((loss, utilisation))
    }

    /// Loss and utilisation of some rows; leaves the gradient in `space`.
    fn loss_and_gradient(
        &self,
        state: &NetworkState,
        space: &mut StepSpace,
        Batch { inputs, targets, rows }: Batch<'_>,
        step: usize,
    ) -> Result<(f64, f64), StepError> {
        let encoder_len = self.encoder_len();
        let frozen =
            encoder_len == 0 || (state.phase == Phase::Likelihood && self.config.train.encoder_rate == 0.0);
        let (y, weights) = (targets.batch(rows), targets.weights(rows));
        let StepSpace { head, gradient } = space;
        gradient.resize(state.theta.len(), 0.0);
        let (d_encoder, d_theta) = gradient.split_at_mut(encoder_len);
        let (encoder_theta, theta) = state.theta.split_at(encoder_len);
        if frozen {
            d_encoder.fill(0.0);
        }
        let pass = EncoderPass {
            encoder: self.encoder,
            theta: encoder_theta,
            inputs,
            rows,
            mode: Mode::Train { seed: self.seed(3, state.phase, step) },
            scale: &state.scale,
            d_theta: (!frozen).then_some(d_encoder),
        };
        match state.phase {
            Phase::Pretraining => {
                let ((phi, backward), mut d_phi) = (pass.forward()?, Vec::new());
                let batch = ReadoutBatch { phi: &phi, y: &y, weights: &weights };
                let loss = self.readout.evaluate(theta, batch, &mut d_phi, d_theta);
                backward.pull_back(d_phi);
                Ok((loss, 0.0))
            }
            Phase::Likelihood => {
                let batch = HeadBatch { theta, y: &y, weights: &weights, threads: self.threads, d_theta };
                let value = head.evaluate(&self.head, batch, pass)?;
                Ok((value.loss, value.utilisation))
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
