//! Epochs and steps.

use super::adam::Segment;
use super::head::{Head, HeadBatch};
use super::readout::ReadoutBatch;
use super::{Event, Phase, State, Trainer, to_vec};
use crate::config::Schedule;
use crate::encoder::Mode;
use burn::tensor::{Device, Tensor, TensorData};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::sync::Mutex;

impl Trainer<'_> {
    /// One pass over the training rows; false when the listener asked for a stop.
    pub(super) fn epoch(
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
            let (done, planned) = (before + step + 1, self.planned_steps());
            if !listen(Event::Step { done, planned, phase, loss }) {
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
        let encoder_len = self.encoder_len();
        let frozen =
            encoder_len == 0 || (state.phase == Phase::Likelihood && self.config.train.encoder_rate == 0.0);
        let mode = Mode::Train { seed: self.seed(3, state.phase, step) };
        if frozen && self.resting.is_none() {
            self.resting = Some(self.encoder.with(&self.encoder.parameters().1, &Device::default()));
        }
        let encoder = if frozen { self.resting.as_ref() } else { None }.unwrap_or(&self.encoder);
        let (y, weights) = (self.data.targets.batch(rows), self.data.targets.weights(rows));
        let mut d_head = vec![0.0; state.theta.len() - encoder_len];
        let theta = &state.theta[encoder_len..];
        let features = Mutex::new(None);
        let mut gradient = Vec::with_capacity(state.theta.len());
        let forward = || {
            let output = encoder.features(self.data.inputs, rows, mode); // [N, D]
            *features.lock().expect("no panic in between") = Some(output.clone());
            to_vec(output)
        };
        let mut backward = |d_phi: Vec<f32>| {
            if frozen {
                return gradient.resize(encoder_len, 0.0);
            }
            let features = features.lock().expect("no panic in between").take().expect("forward ran");
            let d_phi = Tensor::<2>::from_data(TensorData::new(d_phi, features.dims()), &self.device);
            let mut gradients = (features * d_phi).sum().backward();
            self.encoder.take_gradients(&mut gradients, &mut gradient);
        };
        let (loss, utilisation) = match state.phase {
            Phase::WarmStart => {
                let (phi, mut d_phi) = (forward(), Vec::new());
                let batch = ReadoutBatch { phi: &phi, y: &y, weights: &weights };
                let loss = self.readout.evaluate(theta, batch, &mut d_phi, &mut d_head);
                backward(d_phi);
                (loss, 0.0)
            }
            Phase::Likelihood => {
                let (threads, d_theta) = (self.threads, &mut d_head[..]);
                let batch = HeadBatch { theta, y: &y, weights: &weights, threads, d_theta };
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
        let norm = sum_of_squares(&gradient).sqrt();
        if !(loss.is_finite() && norm.is_finite()) {
            return Err("the loss or its gradient is not a finite number".into());
        }
        let rate = self.rate(state, step);
        let shrink = (self.config.train.clip_norm.get() / norm).min(1.0) as f32;
        state.adam.step(&mut state.theta, &gradient, segments, rate, shrink);
        if state.phase == Phase::Likelihood {
            self.head.keep_noise(&mut state.theta[encoder_len..]);
        }
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
                decay: if self.encoder.decays(&slot.path) { train.weight_decay } else { 0.0 },
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
}

/// `Σ gᵢ²`, in order. Stretches of zeros are passed over, which changes no bit: most words of a vocabulary do not occur
/// in a batch.
fn sum_of_squares(gradient: &[f32]) -> f64 {
    let mut sum = 0.0;
    for stretch in gradient.chunks(32) {
        if stretch.iter().fold(0, |bits, g| bits | g.to_bits()) << 1 != 0 {
            sum = stretch.iter().fold(sum, |sum, &g| sum + f64::from(g) * f64::from(g));
        }
    }
    sum
}
