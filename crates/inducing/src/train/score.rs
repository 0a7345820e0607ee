//! What the validation part says of an epoch, and which epoch is kept.

use super::network_state::Best;
use super::{EpochRecord, NetworkState, NetworkTrainer, Phase, Targets};
use crate::config::StopOn;
use crate::error::Error;
use crate::head::{AnyPosterior, read_out};
use crate::metrics::{Metrics, predicted, row_nll};

/// Validation rows that an epoch's score looks at.
const VALIDATION_SAMPLE: usize = 20_000;

impl NetworkTrainer<'_> {
    /// Scores the validation part.
    pub(super) fn score(&self, state: &NetworkState) -> Result<EpochRecord, Error> {
        let mut record = EpochRecord::new(state.phase, state.epoch, state.epoch * self.batches(state.phase));
        let theta = &state.theta[self.encoder_len()..];
        let rows = self.validation_sample();
        let c = self.head.outputs;
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
                self.score_classes(&mut record, truth, &mean, &var);
            }
            Targets::Numbers { y, .. } => {
                let truth = |output: usize| rows.iter().map(move |&row| f64::from(y[row * c + output]));
                let column = |output: usize| mean.iter().skip(output).step_by(c).copied();
                let squares = |output| truth(output).zip(column(output)).map(|(y, m)| (y - m).powi(2));
                let total: f64 = (0..c).flat_map(squares).sum();
                record.rmse = Some((total / (rows.len() * c) as f64).sqrt());
                if state.phase == Phase::Likelihood {
                    let scores = |output: usize| {
                        let noise = sigma[output].powi(2);
                        let std: Vec<f64> = var.iter().map(|v| (v + noise).sqrt()).collect();
                        let (y, mean): (Vec<f64>, Vec<f64>) =
                            (truth(output).collect(), column(output).collect());
                        Metrics::gaussian(&y, &mean, &std)
                    };
                    let scores: Vec<Metrics> = (0..c).map(scores).collect();
                    let average =
                        |f: &dyn Fn(&Metrics) -> f64| Some(scores.iter().map(f).sum::<f64>() / c as f64);
                    record.nll = average(&|m| m.nll);
                    record.crps = average(&|m| m.crps);
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
        truth: impl Iterator<Item = usize>,
        mean: &[f64],
        var: &[f64],
    ) {
        let (mut right, mut nll) = (0, 0.0);
        for ((label, mean), &var) in truth.zip(mean.chunks_exact(self.head.outputs)).zip(var) {
            let p = gp::class_probabilities(self.config.link(), mean, var);
            right += usize::from(predicted(&p) == label);
            nll += row_nll(&p, label);
        }
        record.accuracy = Some(right as f64 / var.len() as f64);
        record.nll = Some(nll / var.len() as f64);
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
