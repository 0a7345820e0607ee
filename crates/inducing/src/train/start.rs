//! Where a run begins, where the likelihood takes over, and inducing points that need a new place.

use super::adam::Adam;
use super::network_state::EpochSoFar;
use super::{NetworkEvent, NetworkState, NetworkTrainer, Phase, ReadoutStart, TrainError, initialise};
use crate::config::HeadKind;
use crate::error::Error;
use crate::head::{FeatureScale, HeadParameters};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows that k-means, the feature scale and the search for dead points look at.
const SAMPLE: usize = 8192;
/// Utilisation below which the inducing points count as unused.
const LOW_UTILISATION: f64 = 0.05;

impl NetworkTrainer<'_> {
    pub(super) fn begin(
        &self,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<NetworkState, Error> {
        let mut theta = self.start.theta.clone();
        let pretrains = self.epochs(Phase::Pretraining) > 0 || self.config.head == HeadKind::Softmax;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed(1, Phase::Pretraining, 0));
        let bound = (6.0 / (self.readout.features + 1) as f32).sqrt();
        let (c, each) = (self.readout.outputs, self.readout.features / self.readout.members);
        for weight in 0..self.readout.features * c {
            let (feature, output) = (weight / c % each, weight % c);
            let random = rng.random_range(-bound..bound);
            theta.push(match &self.start.readout {
                ReadoutStart::FirstFeatures if feature == output => 1.0,
                ReadoutStart::FirstFeatures if feature < c => 0.0,
                ReadoutStart::Linear(values) => values[weight],
                _ => random,
            });
        }
        if let ReadoutStart::Linear(values) = &self.start.readout {
            theta.extend_from_slice(&values[self.readout.features * c..]);
        }
        theta.resize(self.encoder_len() + self.readout.len(), 0.0);
        let state = NetworkState {
            phase: Phase::Pretraining,
            epoch: 0,
            so_far: EpochSoFar::default(),
            adam: Adam::new(theta.len()),
            theta,
            scale: FeatureScale::identity(self.readout.features),
            rate_factor: 1.0,
            setbacks: 0,
            best: None,
            history: Vec::new(),
        };
        if pretrains { Ok(state) } else { self.begin_likelihood_from(state, listen) }
    }

    /// Checks that a checkpoint's vectors have this run's lengths.
    pub(super) fn accept(&self, state: NetworkState) -> Result<NetworkState, TrainError> {
        if state.phase == Phase::Likelihood && self.config.head == HeadKind::Softmax {
            return Err(TrainError::Checkpoint { reason: "it has inducing points, the run has none".into() });
        }
        let head: usize = match state.phase {
            Phase::Pretraining => self.readout.len(),
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
        Ok(state)
    }

    /// From linear readouts to inducing points, with the best parameters of pretraining.
    pub(super) fn begin_likelihood(
        &self,
        mut state: NetworkState,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<NetworkState, Error> {
        if let Some(best) = state.best.take() {
            state.theta = best.theta;
        }
        self.begin_likelihood_from(state, listen)
    }

    fn begin_likelihood_from(
        &self,
        mut state: NetworkState,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<NetworkState, Error> {
        let (d, c) = (self.encoder.dim(), self.head.outputs);
        let (encoder, readout) = state.theta.split_at(self.encoder_len());
        let (mut w, mut b) = self.readout.mean(readout);
        let best = state.history.iter().filter_map(|record| record.rmse).reduce(f64::min);
        let noise = best.map_or(self.config.gp.noise.get(), |rmse| rmse.clamp(1e-3, 1.0));
        let noise = noise.max(self.config.gp.noise_floor);
        let sample = self.sample(4, 0);
        let mut phi = self.features(&state.theta, &sample)?;
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
        let z = if self.config.train.pretrain_epochs > 0 {
            initialise::k_means(&phi, d, self.head.inducing, self.seed(6, Phase::Likelihood, 0))
        } else {
            phi[..self.head.inducing * d].to_vec()
        };
        let log_sigma = if self.head.classes { Vec::new() } else { vec![noise.ln() as f32; c] };
        let log_kernel = self.head.kernel.log_parameters().map(|x| x as f32);
        let head = HeadParameters { z, w, b, log_sigma, log_kernel };
        let theta = [encoder, &head.flat()].concat();
        let mut state = NetworkState {
            phase: Phase::Likelihood,
            epoch: 0,
            so_far: EpochSoFar::default(),
            adam: Adam::new(theta.len()),
            theta,
            best: None,
            rate_factor: 1.0,
            setbacks: 0,
            ..state
        };
        // The start counts too: the likelihood must earn its place.
        if let Ok(record) = self.score(&state) {
            listen(NetworkEvent::Record(&record));
            self.keep_best(&mut state, &record);
            state.history.push(record);
        }
        Ok(state)
    }

    /// At most [`SAMPLE`] training rows in random order, never fewer than there are inducing points.
    fn sample(&self, purpose: u64, index: usize) -> Vec<usize> {
        let mut rows = self.data.train.to_vec();
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed(purpose, Phase::Likelihood, index)));
        rows.truncate(SAMPLE.max(self.head.inducing));
        rows
    }

    /// Notices inducing points that do nothing and gives them a new place.
    pub(super) fn reinitialise_unused(
        &self,
        state: &mut NetworkState,
        utilisation: f64,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<(), Error> {
        // In the last third the points have settled; moving one then only adds noise.
        if !self.config.train.reinitialise_unused || state.epoch * 3 > self.epochs(Phase::Likelihood) * 2 {
            return Ok(());
        }
        let d = self.encoder.dim();
        let front = self.encoder_len();
        let parameters = self.head.unflatten(&state.theta[front..]);
        let gamma = match parameters.kernel(&self.head.kernel) {
            gp::Kernel::Linear { .. } => return Ok(()),
            kernel => kernel.log_parameters()[1].exp(),
        };
        let sample = &self.sample(7, state.epoch)[..2048.min(self.data.train.len())];
        let mut phi = self.features(&state.theta, sample)?;
        state.scale.apply(&mut phi);
        let z = &mut state.theta[front..front + self.head.inducing * d];
        let seed = self.seed(8, Phase::Likelihood, state.epoch);
        let moved = if utilisation < LOW_UTILISATION {
            z.copy_from_slice(&initialise::k_means(&phi, d, self.head.inducing, seed));
            self.head.inducing
        } else {
            initialise::reinitialise_dead(z, &phi, d, gamma, seed)
        };
        if moved > 0 {
            listen(NetworkEvent::Notice(format!(
                "epoch {}: {moved} of {} inducing points were far from all features and were reinitialised \
                 (utilisation {utilisation:.3})",
                state.epoch, self.head.inducing
            )));
        }
        Ok(())
    }
}
