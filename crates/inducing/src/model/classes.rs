//! Predicted classes: by recalibrated latent functions, joined with the classes of the nearest rows.

use super::{ClassCalibration, ClassificationBatch, Decision, Features, Latent, Model};
use crate::dataset::Inputs;
use crate::error::Error;
use crate::nn::Mode;
use std::sync::Arc;

impl Model {
    /// Makes probabilities surer by a factor of the slope of their calibration.
    pub(crate) fn sharpen(&mut self, factor: f64) {
        self.header.class_calibration.iter_mut().for_each(|calibration| calibration.slope *= factor);
    }

    /// Decides classes otherwise from now on; an error where the decision is for another number of classes.
    pub fn set_decision(&mut self, decision: Option<Decision>) -> Result<(), Error> {
        let classes = self.header.schema.classes().map_or(0, <[String]>::len);
        if decision.as_ref().is_some_and(|decision| !decision.is_sound(classes)) {
            return Err(Error::inputs(
                "a threshold for two classes, or a cost for each pair of classes",
                format!("{classes} classes"),
            ));
        }
        self.header.decision = decision;
        Ok(())
    }

    /// Predicts the classes of some rows; an error where the model predicts numbers.
    pub fn predict_classes(&self, inputs: &Inputs, rows: &[usize]) -> Result<ClassificationBatch, Error> {
        if self.header.schema.classes().is_none() {
            return Err(Error::inputs("a model of classes", "a model of numbers"));
        }
        let features = self.encode(inputs, rows)?;
        self.classes_at(inputs, rows, &features, &self.latent(&features))
    }

    /// The same where the rows' features and latent functions are known.
    pub fn classes_at(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        features: &Features,
        latent: &Latent,
    ) -> Result<ClassificationBatch, Error> {
        let mut prediction = self.classes(latent);
        if let Some(linear) =
            self.header.ensemble.as_ref().and_then(|ensemble| ensemble.linear_classes.as_ref())
        {
            linear.mix(&inputs.numbers(inputs.width(), rows, Mode::Predict)?, &mut prediction.p);
        }
        let stack = self.header.ensemble.as_ref().and_then(|ensemble| ensemble.class_stack.as_ref());
        match (&self.class_neighbours, stack, &self.header.feature_stack) {
            (Some(neighbours), Some(stack), _) => {
                let x = inputs.numbers(neighbours.kept().width, rows, Mode::Predict)?;
                neighbours.join(stack, &x, None, &mut prediction);
            }
            (Some(neighbours), None, Some(stack)) => {
                let x = self.feature_coordinates(features, &latent.mean);
                let errors = self.reconstruction_errors(inputs, rows)?;
                neighbours.join(stack, &x, errors.as_deref(), &mut prediction);
            }
            _ => {}
        }
        self.class_absent(inputs, rows, &mut prediction)?;
        Ok(prediction)
    }

    /// Classes that follow from latent functions.
    pub fn classes(&self, latent: &Latent) -> ClassificationBatch {
        self.classes_by(latent, self.header.class_calibration.unwrap_or(ClassCalibration::none()))
    }

    pub(crate) fn classes_by(&self, latent: &Latent, calibration: ClassCalibration) -> ClassificationBatch {
        let c = self.outputs();
        let classes = gp::classes_of(c);
        let link = self.header.config.link();
        let n = latent.mean.len() / c;
        let mut prediction = ClassificationBatch {
            classes,
            p: Vec::with_capacity(n * classes),
            latent_mean: Vec::with_capacity(n * classes),
            latent_std: Vec::with_capacity(n * classes),
            familiarity: Vec::new(),
            decision: self.header.decision.clone().map(Arc::new),
        };
        for (mean, var) in latent.mean.chunks_exact(c).zip(latent.var.chunks_exact(c)) {
            let scaled = |(f, v): (&f64, &f64)| calibration.slope * f * link.shrink(calibration.latent * v);
            let s: Vec<f64> = mean.iter().zip(var).map(scaled).collect();
            prediction.p.extend(gp::class_probabilities(link, &s, 0.0));
            let std = var.iter().map(|v| (calibration.latent * v).sqrt());
            if let [f] = *mean {
                prediction.latent_mean.extend([-f, f]);
                prediction.latent_std.extend(std.flat_map(|std| [std, std]));
            } else {
                prediction.latent_mean.extend_from_slice(mean);
                prediction.latent_std.extend(std);
            }
        }
        prediction
    }
}
