//! What no single value's type can say.

use crate::model::MOST_NEIGHBOURS;

use super::{Config, ConfigError, Precision, StopOn};

impl Config {
    /// An error where a configuration that was changed by hand cannot be used.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.check().map_err(|reason| ConfigError::Invalid { file: "configuration".into(), reason })
    }

    /// The first fault, if there is one.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(twice) =
            self.data.target.iter().enumerate().find(|(i, name)| self.data.target[..*i].contains(name))
        {
            return Err(format!("the target `{}` is named twice\nhint: name each column once", twice.1));
        }
        if !self.encoder.features.get().is_multiple_of(self.encoder.members.get()) {
            return Err(format!(
                "encoder.features = {} is not a multiple of encoder.members = {}",
                self.encoder.features, self.encoder.members
            ));
        }
        if let Some(both) = self.data.target.iter().find(|name| self.data.ignore.contains(name)) {
            return Err(format!(
                "`{both}` cannot be both the target and left out\nhint: take it out of `--ignore`"
            ));
        }
        if self.data.folds > 0 && (self.data.folds == 1 || self.data.fold >= self.data.folds) {
            return Err(format!(
                "data.fold = {} of data.folds = {}: there must be at least two, counted from 0",
                self.data.fold, self.data.folds
            ));
        }
        if self.data.folds > 0 && self.data.test_share.is_some_and(|share| share.get() > 0.0) {
            return Err(
                "data.test_share and data.folds exclude each other\nhint: a fold is the test part".into()
            );
        }
        if self.gp.precision == Precision::F32 && self.gp.jitter.get() < 1e-3 {
            return Err(format!(
                "gp.precision = \"f32\" needs gp.jitter of at least 1e-3 (it is {}): below it the factorisation \
                 succeeds and the gradients are wrong",
                self.gp.jitter.get()
            ));
        }
        if self.gp.link == gp::Link::Logit && self.gp.coupling == gp::Coupling::Batch {
            return Err(
                "gp.coupling = \"batch\" needs gp.link = \"probit\": Laplace's approximation is made for it"
                    .into(),
            );
        }
        let is_cost = |cost: &f64| cost.is_finite() && *cost >= 0.0;
        if self.train.costs.iter().any(|row| row.len() != self.train.costs.len() || !row.iter().all(is_cost))
        {
            return Err("train.costs is not a square of numbers from 0 on\nhint: a row for each true class, in it a cost for each decision, such as [[0, 1], [5, 0]]".into());
        }
        let costs_nothing = self.train.costs.iter().flatten().all(|cost| *cost == 0.0);
        if !self.train.costs.is_empty() && costs_nothing {
            return Err("train.costs are all 0: every decision is as good as any other\nhint: say what wrong ones cost, such as [[0, 1], [5, 0]]".into());
        }
        if !self.train.costs.is_empty() && self.train.threshold.is_some() {
            return Err("train.threshold and train.costs exclude each other\nhint: costs have a threshold of their own".into());
        }
        if self.data.weight.is_some() && self.gp.coupling == gp::Coupling::Batch {
            return Err("data.weight needs gp.coupling = \"rows\": rows of a coupled batch have no likelihood of their own".into());
        }
        let needs_validation = self.train.recalibrate || self.train.stop_on != StopOn::Never;
        if needs_validation && self.train.crossfit_folds == 0 && self.train.validation_share.get() == 0.0 {
            return Err(
                "train.validation_share = 0 needs train.stop_on = \"never\" and train.recalibrate = false"
                    .into(),
            );
        }
        for (key, count) in [
            ("neighbours.count", self.neighbours.count),
            ("neighbours.feature_count", self.neighbours.feature_count),
        ] {
            if count > MOST_NEIGHBOURS {
                return Err(format!("{key} = {count} is more than {MOST_NEIGHBOURS}\nhint: 32 is usual"));
            }
        }
        for (key, value) in [
            ("gp.noise_floor", self.gp.noise_floor),
            ("train.weight_decay", self.train.weight_decay),
            ("train.encoder_rate", self.train.encoder_rate),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(format!("{key} = {value} is not a number of at least zero"));
            }
        }
        Ok(())
    }
}
