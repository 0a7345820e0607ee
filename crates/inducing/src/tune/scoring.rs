//! What a trial is judged by.

use super::{Trial, TuneError};
use crate::config::Config;
use crate::model::{Model, Score, Scores};
use serde::{Deserialize, Serialize};

/// The score that chooses among trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// Negative log-likelihood.
    #[default]
    Nll,
    /// Continuous ranked probability score, of numbers.
    Crps,
    /// Share of rows whose most probable class is the true one.
    Accuracy,
    /// Root of the mean squared error, of numbers.
    Rmse,
}

impl Scoring {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 4] =
        [("nll", Self::Nll), ("crps", Self::Crps), ("accuracy", Self::Accuracy), ("rmse", Self::Rmse)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, scoring)| *scoring == self).map_or("", |(name, _)| name)
    }

    /// Whether more of it is better.
    pub fn is_larger_better(self) -> bool {
        self == Self::Accuracy
    }

    /// Whether the first score is better than the second.
    pub fn is_better(self, score: f64, than: f64) -> bool {
        if self.is_larger_better() { score > than } else { score < than }
    }

    /// The score of a model by training rows that it predicted without having seen them: out of fold, or the validation part.
    /// `None` where there are no such rows. The test part never counts.
    ///
    /// Several targets: the mean of their NLL; of CRPS and RMSE, which have units, the geometric mean.
    pub fn of(self, model: &Model) -> Option<f64> {
        let metrics = &model.header().metrics;
        self.of_scores(metrics.get("out_of_fold").or_else(|| metrics.get("validation"))?)
    }

    pub(super) fn of_scores(self, scores: &Scores) -> Option<f64> {
        let each: Option<Vec<f64>> = scores.values().map(|score| self.of_target(score)).collect();
        let each = each.filter(|each| !each.is_empty())?;
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / each.len() as f64;
        let score = match (self, &each[..]) {
            (_, [only]) => *only,
            (Self::Crps | Self::Rmse, _) => mean(&mut each.iter().map(|x| x.ln())).exp(),
            _ => mean(&mut each.iter().copied()),
        };
        score.is_finite().then_some(score)
    }

    fn of_target(self, score: &Score) -> Option<f64> {
        match (self, score) {
            (Self::Nll, Score::Number(metrics)) => Some(metrics.nll),
            (Self::Crps, Score::Number(metrics)) => Some(metrics.crps),
            (Self::Rmse, Score::Number(metrics)) => Some(metrics.rmse),
            (Self::Nll, Score::Classes(metrics)) => Some(metrics.nll),
            (Self::Accuracy, Score::Classes(metrics)) => Some(metrics.accuracy),
            (Self::Accuracy, Score::Number(_)) | (Self::Crps | Self::Rmse, Score::Classes(_)) => None,
        }
    }

    /// The best of some trials.
    pub(super) fn best(self, trials: &[Trial]) -> Option<&Trial> {
        let scored = trials.iter().filter_map(|trial| Some((trial, trial.score?)));
        // Of equals the first: the one nearest to the default.
        let best = scored.reduce(|best, next| if self.is_better(next.1, best.1) { next } else { best });
        best.map(|(trial, _)| trial)
    }

    /// An error where this score says nothing of the task, or no rows can give it.
    pub(super) fn check(self, config: &Config, classes: bool) -> Result<(), TuneError> {
        let task = if classes { "classes" } else { "numbers" };
        match (self, classes) {
            (Self::Accuracy, false) | (Self::Crps | Self::Rmse, true) => {
                let instead = if classes { "`nll` or `accuracy`" } else { "`nll`, `crps` or `rmse`" };
                return Err(TuneError::Scoring { given: self.name(), task, instead });
            }
            _ => {}
        }
        if config.train.crossfit_folds == 0 && config.train.validation_share.get() == 0.0 {
            return Err(TuneError::NothingHeldOut);
        }
        Ok(())
    }
}
