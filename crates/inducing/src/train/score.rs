//! What the validation part says of an epoch, and which epoch is kept.

use super::network_state::Best;
use super::{EpochRecord, NetworkState, NetworkTrainer, Phase, Targets};
use crate::config::StopOn;
use crate::error::Error;
use crate::head::{AnyPosterior, read_out};
use crate::metrics::{Metrics, average, predicted, row_nll};

/// Validation rows that an epoch's score looks at.
const VALIDATION_SAMPLE: usize = 20_000;

impl NetworkTrainer<'_> {
    /// Scores the validation part.
    pub(super) fn score(&self, state: &NetworkState) -> Result<EpochRecord, Error> {
        let mut record = EpochRecord::new(state.phase, state.epoch, state.epoch * self.batches(state.phase));
        let theta = &state.theta[self.encoder_len()..];
        let rows = self.validation_sample();
        let (c, weights) = (self.head.outputs, self.data.targets.row_weights(rows));
        let mut sigma = Vec::new();
        if state.phase == Phase::Likelihood {
            let parameters = self.head.unflatten(theta);
            sigma = parameters.log_sigma.iter().map(|&s| f64::from(s).exp()).collect();
            record.kernel = Some(parameters.log_kernel.map(|x| f64::from(x).exp()));
            record.noise = (!sigma.is_empty()).then(|| sigma.iter().sum::<f64>() / c as f64);
        }
        if rows.is_empty() {
            return Ok(record);
        }
        let mut phi = self.features(&state.theta, rows)?;
        let (mean, var) = match state.phase {
            Phase::Pretraining => {
                let (w, b) = self.readout.mean(theta);
                (read_out(&phi, &w, &b), vec![0.0; rows.len()])
            }
            Phase::Likelihood => {
                state.scale.apply(&mut phi);
                let (parameters, head) = (self.head.unflatten(theta), &self.head);
                AnyPosterior::new(&parameters, &head.kernel, head.jitter, head.precision, self.threads)?
                    .predict(&phi, rows.len())
            }
        };
        match self.data.targets {
            Targets::Classes { labels, .. } => {
                let truth = rows.iter().map(|&row| labels[row] as usize);
                self.score_classes(&mut record, &truth.collect::<Vec<_>>(), (&mean, &var), &weights);
            }
            Targets::Numbers { y, .. } => {
                let truth = |output: usize| rows.iter().map(move |&row| f64::from(y[row * c + output]));
                let column = |output: usize| mean.iter().skip(output).step_by(c).copied();
                let squares = |i: usize| -> f64 {
                    let own = y[rows[i] * c..].iter().zip(&mean[i * c..(i + 1) * c]);
                    own.map(|(y, mean)| (f64::from(*y) - mean).powi(2)).sum()
                };
                record.rmse = Some((average(rows.len(), &weights)(&squares) / c as f64).sqrt());
                if state.phase == Phase::Likelihood {
                    let scores = |output: usize| {
                        let noise = sigma[output].powi(2);
                        let std: Vec<f64> = var.iter().map(|v| (v + noise).sqrt()).collect();
                        let (y, mean): (Vec<f64>, Vec<f64>) =
                            (truth(output).collect(), column(output).collect());
                        Metrics::weighted_gaussian(&y, &mean, &std, &weights)
                    };
                    let scores: Vec<Metrics> = (0..c).map(scores).collect();
                    let of_all =
                        |f: &dyn Fn(&Metrics) -> f64| Some(scores.iter().map(f).sum::<f64>() / c as f64);
                    record.nll = of_all(&|m| m.nll);
                    record.crps = of_all(&|m| m.crps);
                }
            }
        }
        Ok(record)
    }

    pub(super) fn validation_sample(&self) -> &[usize] {
        &self.data.validation[..self.data.validation.len().min(VALIDATION_SAMPLE)]
    }

    fn score_classes(
        &self,
        record: &mut EpochRecord,
        truth: &[usize],
        (mean, var): (&[f64], &[f64]),
        weights: &[f64],
    ) {
        let latent = mean.chunks_exact(self.head.outputs).zip(var);
        let p: Vec<Vec<f64>> =
            latent.map(|(mean, &var)| gp::class_probabilities(self.config.link(), mean, var)).collect();
        let average = average(truth.len(), weights);
        record.accuracy = Some(average(&|i| f64::from(u8::from(predicted(&p[i]) == truth[i]))));
        record.nll = Some(average(&|i| row_nll(&p[i], truth[i])));
    }

    /// What decides between two epochs; smaller is better.
    fn criterion(&self, record: &EpochRecord) -> Option<f64> {
        match (record.phase, self.config.train.stop_on) {
            (_, StopOn::Never) => None,
            _ if self.data.targets.are_classes() => record.nll,
            (Phase::Pretraining, _) => record.rmse,
            (Phase::Likelihood, StopOn::Crps) => record.crps,
            (Phase::Likelihood, StopOn::Nll) => record.nll,
        }
    }

    pub(super) fn keep_best(&self, state: &mut NetworkState, record: &EpochRecord) {
        if let Some(score) = self.criterion(record).filter(|score| score.is_finite())
            && state.best.as_ref().is_none_or(|best| score < best.score)
        {
            state.best = Some(Best { theta: state.theta.clone(), score, epoch: state.epoch });
        }
    }

    pub(super) fn out_of_patience(&self, state: &NetworkState) -> bool {
        state.phase == Phase::Likelihood
            && state
                .best
                .as_ref()
                .is_some_and(|best| state.epoch - best.epoch >= self.config.train.patience.max(1))
    }
}
