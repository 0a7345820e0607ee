//! Epochs and steps.

use super::adam::Segment;
use super::head::{Head, HeadBatch};
use super::readout::ReadoutBatch;
use super::{Event, Phase, State, Trainer, to_vec};
use crate::config::Schedule;
use crate::encoder::{Mode, WayBack};
use burn::tensor::{Device, Tensor, TensorData};
use pulp::{Arch, Simd, WithSimd};
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
        if self.encoder.by_hand().is_some() {
            self.load(&state.theta);
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
        if frozen && self.resting.is_none() {
            self.resting = Some(self.encoder.with(&self.encoder.parameters().1, &Device::default()));
        }
        let mut gradient = std::mem::take(&mut self.gradient);
        let slope = self.slope(state, objective, rows, step, frozen, &mut gradient);
        self.gradient = gradient;
        let ((loss, utilisation), gradient) = (slope?, &self.gradient);
        let norm = sum_of_squares(gradient).sqrt();
        if !(loss.is_finite() && norm.is_finite()) {
            return Err("the loss or its gradient is not a finite number".into());
        }
        let rate = self.rate(state, step);
        let shrink = (self.config.train.clip_norm.get() / norm).min(1.0) as f32;
        state.adam.step(&mut state.theta, gradient, segments, rate, shrink);
        if state.phase == Phase::Likelihood {
            self.head.keep_noise(&mut state.theta[encoder_len..]);
        }
        // What is written by hand reads the flat vector itself.
        if !frozen && self.encoder.by_hand().is_none() {
            self.load(&state.theta);
        }
        Ok((loss, utilisation))
    }

    /// Loss and utilisation of some rows; writes the gradient, in a vector that is kept from step to step.
    fn slope(
        &self,
        state: &State,
        objective: &mut Head,
        rows: &[usize],
        step: usize,
        frozen: bool,
        gradient: &mut Vec<f32>,
    ) -> Result<(f64, f64), String> {
        let encoder_len = self.encoder_len();
        let mode = Mode::Train { seed: self.seed(3, state.phase, step) };
        let encoder = if frozen { self.resting.as_ref() } else { None }.unwrap_or(&self.encoder);
        let by_hand = encoder.by_hand().filter(|_| !frozen);
        let (y, weights) = (self.data.targets.batch(rows), self.data.targets.weights(rows));
        gradient.resize(state.theta.len(), 0.0);
        let (gradient, d_head) = gradient.split_at_mut(encoder_len);
        if by_hand.is_none() {
            gradient.fill(0.0);
        }
        let (parameters, theta) = state.theta.split_at(encoder_len);
        let way_back: Mutex<Option<WayBack<'_>>> = Mutex::new(None);
        let forward = || {
            let (phi, back): (_, WayBack<'_>) = match by_hand {
                Some(by_hand) => by_hand.record(parameters, self.data.inputs, rows, mode, self.threads),
                None => {
                    let features = encoder.features(self.data.inputs, rows, mode); // [N, D]
                    let phi = to_vec(features.clone());
                    (phi, Box::new(|d_phi, gradient| self.pull_back(features, d_phi, gradient)))
                }
            };
            *way_back.lock().expect("no panic in between") = Some(back);
            phi
        };
        let mut backward = |d_phi: Vec<f32>| {
            let way_back = way_back.lock().expect("no panic in between").take().expect("forward ran");
            if !frozen {
                way_back(&d_phi, gradient);
            }
        };
        let (loss, utilisation) = match state.phase {
            Phase::WarmStart => {
                let (phi, mut d_phi) = (forward(), Vec::new());
                let batch = ReadoutBatch { phi: &phi, y: &y, weights: &weights };
                let loss = self.readout.evaluate(theta, batch, &mut d_phi, d_head);
                backward(d_phi);
                (loss, 0.0)
            }
            Phase::Likelihood => {
                let batch =
                    HeadBatch { theta, y: &y, weights: &weights, threads: self.threads, d_theta: d_head };
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
        Ok((loss, utilisation))
    }

    /// The gradient of the encoder's parameters from that of its features, by autodiff.
    fn pull_back(&self, features: Tensor<2>, d_phi: &[f32], gradient: &mut [f32]) {
        let d_phi = Tensor::<2>::from_data(TensorData::new(d_phi.to_vec(), features.dims()), &self.device);
        let mut gradients = (features * d_phi).sum().backward();
        self.encoder.take_gradients(&mut gradients, gradient);
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
