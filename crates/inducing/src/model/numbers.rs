//! Predicted numbers: by the stack of an ensemble and its neighbours, or by a recalibrated latent function.

use super::{Calibration, Density, Features, Latent, Model, RegressionBatch, Stacked};
use crate::dataset::Inputs;
use crate::error::Error;
use crate::nn::Mode;
use std::sync::Arc;

impl Model {
    /// Predicts the numbers of some rows; an error where the model predicts classes.
    pub fn predict_numbers(&self, inputs: &Inputs, rows: &[usize]) -> Result<RegressionBatch, Error> {
        if self.header.schema.classes().is_some() {
            return Err(Error::inputs("a model of numbers", "a model of classes"));
        }
        let features = self.encode(inputs, rows)?;
        self.numbers_at(inputs, rows, &features, &self.latent(&features))
    }

    /// The same where the rows' features and latent functions are known.
    pub fn numbers_at(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        features: &Features,
        latent: &Latent,
    ) -> Result<RegressionBatch, Error> {
        Ok(self.to_units(self.modelled_numbers(inputs, rows, features, latent)?))
    }

    /// The same on the scales on which the targets are modelled.
    pub(crate) fn modelled_numbers(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        features: &Features,
        latent: &Latent,
    ) -> Result<RegressionBatch, Error> {
        let mut prediction = match (&self.neighbours, &self.header.ensemble) {
            (Some(neighbours), Some(ensemble)) => {
                let x = inputs.numbers(neighbours.width(), rows, Mode::Predict)?;
                self.restore(neighbours.predict(&ensemble.stacks, &x, features, latent))
            }
            _ => self.numbers_by(latent, &self.header.calibration),
        };
        if let (Some(stack), Some(neighbours)) = (&self.header.feature_stack, &self.class_neighbours) {
            let x = self.feature_coordinates(features, &latent.mean);
            let errors = self.reconstruction_errors(inputs, rows)?;
            let targets = self.header.schema.numbers();
            neighbours.widen(stack, &x, errors.as_deref(), &mut prediction, targets);
        }
        self.number_absent(inputs, rows, &mut prediction)?;
        Ok(prediction)
    }

    /// From the scales on which targets are modelled to their own units and ranges.
    pub(crate) fn to_units(&self, mut batch: RegressionBatch) -> RegressionBatch {
        let targets = self.header.schema.numbers();
        for (k, target) in targets.iter().enumerate().filter(|(_, target)| !target.scale.is_plain()) {
            let scale = Arc::new(target.scale);
            for at in (k..batch.mean.len()).step_by(targets.len()) {
                let density = batch.density[at].clone().on_scale(&scale);
                let Some((mean, std)) = density.moments() else { continue };
                // What is latent keeps its share.
                batch.std_latent[at] *= std / batch.std[at].max(f64::MIN_POSITIVE);
                (batch.mean[at], batch.std[at], batch.density[at]) = (mean, std, density);
            }
        }
        batch
    }

    /// Numbers on the scales on which the targets are modelled, `[N, C]`.
    pub(crate) fn restore(&self, stacked: Vec<Stacked>) -> RegressionBatch {
        let targets = self.header.schema.numbers();
        let mut prediction = RegressionBatch::with_capacity(stacked.len());
        for (i, Stacked { mean, var_latent, density, familiarity }) in stacked.into_iter().enumerate() {
            let target = &targets[i % targets.len()];
            let std = density.second_moment_about(mean).sqrt();
            prediction.mean.push(target.mean + target.std * mean);
            prediction.std.push(target.std * std);
            prediction.std_latent.push(target.std * var_latent.sqrt().min(std));
            prediction.density.push(density.restored(target.mean, target.std));
            prediction.familiarity.push(familiarity);
        }
        prediction
    }

    /// Numbers that follow from latent functions.
    pub fn numbers(&self, latent: &Latent) -> RegressionBatch {
        self.to_units(self.numbers_by(latent, &self.header.calibration))
    }

    /// The same without recalibration: what intervals were before, Gaussian ones.
    pub fn uncalibrated_numbers(&self, latent: &Latent) -> RegressionBatch {
        self.to_units(self.numbers_by(latent, &vec![Calibration::none(); self.outputs()]))
    }

    fn numbers_by(&self, Latent { mean, var, .. }: &Latent, calibration: &[Calibration]) -> RegressionBatch {
        let c = self.outputs();
        let mut prediction = RegressionBatch::with_capacity(mean.len());
        let shared: Vec<Arc<Calibration>> = calibration.iter().cloned().map(Arc::new).collect();
        let sigma: Vec<f64> = (0..c).map(|output| self.sigma(output)).collect();
        for (i, (mean, var)) in mean.iter().zip(var).enumerate() {
            let target = &self.header.schema.numbers()[i % c];
            let calibration = &calibration[i % c];
            let std = calibration.std(*mean, *var, sigma[i % c]);
            prediction.mean.push(target.mean + target.std * mean);
            prediction.std.push(target.std * std);
            let density = Density::scaled(*mean, std, Arc::clone(&shared[i % c]));
            prediction.density.push(density.restored(target.mean, target.std));
            prediction.std_latent.push(target.std * (calibration.latent * var).sqrt());
        }
        prediction
    }
}
