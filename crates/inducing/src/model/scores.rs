//! Scores of predictions against what was observed.

use super::{ClassCalibration, ClassificationBatch, Density, Latent, Model, RegressionBatch, Score, Scores};
use crate::dataset::Inputs;
use crate::error::Error;
use crate::metrics::{ClassMetrics, Metrics};

impl Model {
    /// Takes over the scores of a model that the test part was held out from, where this one was trained on all rows.
    pub fn keep_test_scores(&mut self, judged: &Self) {
        let (own, of) = (self.header_mut(), judged.header());
        own.metrics.extend(of.metrics.get("test").map(|scores| ("test".to_owned(), scores.clone())));
        own.baselines.extend(of.baselines.get("test").map(|scores| ("test".to_owned(), scores.clone())));
    }

    /// Scores predicted numbers against `y [N, C]` in the target's own units; intervals are the calibrated ones. An error
    /// where the model predicts classes, or the lengths differ.
    pub fn score(&self, prediction: &RegressionBatch, y: &[f64]) -> Result<Scores, Error> {
        self.score_weighted(prediction, y, &[])
    }

    /// The same with a weight for each row; empty for 1.
    pub fn score_weighted(
        &self,
        prediction: &RegressionBatch,
        y: &[f64],
        weights: &[f64],
    ) -> Result<Scores, Error> {
        let c = self.outputs();
        if self.header.schema.classes().is_some() {
            return Err(Error::inputs("a model of numbers", "a model of classes"));
        }
        if y.len() != prediction.mean.len() || !y.len().is_multiple_of(c) {
            return Err(Error::inputs(format!("{} targets", prediction.mean.len()), y.len().to_string()));
        }
        let column = |values: &[f64], output: usize| {
            values.iter().skip(output).step_by(c).copied().collect::<Vec<_>>()
        };
        let scores = (0..c)
            .map(|output| {
                let (y, mean, std) =
                    (column(y, output), column(&prediction.mean, output), column(&prediction.std, output));
                let densities: Vec<&Density> = prediction.density.iter().skip(output).step_by(c).collect();
                let metrics = Metrics::of_weighted_densities(&y, &mean, &std, &densities, weights);
                (self.header.schema.numbers()[output].name.clone(), Score::Number(metrics))
            })
            .collect();
        Ok(scores)
    }

    /// Scores the predicted classes of some rows against their true ones, before and after recalibration.
    pub fn score_classes(&self, inputs: &Inputs, rows: &[usize], y: &[u32]) -> Result<Scores, Error> {
        self.score_weighted_classes(inputs, rows, y, &[])
    }

    /// The same with a weight for each row; empty for 1.
    pub fn score_weighted_classes(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        y: &[u32],
        weights: &[f64],
    ) -> Result<Scores, Error> {
        let features = self.encode(inputs, rows)?;
        let latent = self.latent(&features);
        let metrics = self.weighted_class_metrics(
            &self.classes_at(inputs, rows, &features, &latent)?,
            &latent,
            (y, weights),
        )?;
        Ok(Scores::from([(self.header.schema.target_names().remove(0), Score::Classes(metrics))]))
    }

    /// Scores of predicted classes, with those before recalibration beside them; an error where the model predicts numbers, or
    /// labels do not fit.
    pub fn class_metrics(
        &self,
        prediction: &ClassificationBatch,
        latent: &Latent,
        y: &[u32],
    ) -> Result<ClassMetrics, Error> {
        self.weighted_class_metrics(prediction, latent, (y, &[]))
    }

    /// The same with a weight for each row; empty for 1.
    pub fn weighted_class_metrics(
        &self,
        prediction: &ClassificationBatch,
        latent: &Latent,
        (y, weights): (&[u32], &[f64]),
    ) -> Result<ClassMetrics, Error> {
        let Some(labels) = self.header.schema.classes() else {
            return Err(Error::inputs("a model of classes", "a model of numbers"));
        };
        let rows = latent.mean.len() / self.outputs();
        let fits = prediction.p.len() == rows * labels.len() && y.len() == rows;
        if !fits || y.iter().any(|&label| label as usize >= labels.len()) {
            let expected = format!("{rows} labels of {} classes", labels.len());
            return Err(Error::inputs(expected, format!("{} others", y.len())));
        }
        let metrics = ClassMetrics::weighted(&prediction.p, y, labels, weights, &|p| prediction.decide(p));
        Ok(match self.header.class_calibration {
            Some(_) => {
                let before = self.classes_by(latent, ClassCalibration::none());
                metrics.beside(ClassMetrics::weighted(&before.p, y, labels, weights, &|p| before.decide(p)))
            }
            None => metrics,
        })
    }
}
