//! What a model says of some rows, by columns or row by row.

use super::{Decision, Density};
use crate::metrics::{entropy, predicted};
use std::sync::Arc;

/// Predicted numbers of some rows, in the targets' own units, row-major `[N, C]`.
#[derive(Debug, Clone, PartialEq)]
pub struct RegressionBatch {
    /// Expected value of y.
    pub mean: Vec<f64>,
    /// Standard deviation of y.
    pub std: Vec<f64>,
    /// Standard deviation of the latent function, without noise.
    pub std_latent: Vec<f64>,
    /// The whole density of y.
    pub density: Vec<Density>,
    /// Share of held-out rows that were at least as far from the training rows; empty without neighbours.
    pub familiarity: Vec<f64>,
}

impl RegressionBatch {
    pub(super) fn with_capacity(n: usize) -> Self {
        let new = || Vec::with_capacity(n);
        Self {
            mean: new(),
            std: new(),
            std_latent: new(),
            density: Vec::with_capacity(n),
            familiarity: Vec::new(),
        }
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.mean.append(&mut other.mean);
        self.std.append(&mut other.std);
        self.std_latent.append(&mut other.std_latent);
        self.density.append(&mut other.density);
        self.familiarity.append(&mut other.familiarity);
    }
}

/// Predicted classes of some rows, row-major `[N, K]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassificationBatch {
    /// K
    pub classes: usize,
    /// Probability of each class.
    pub p: Vec<f64>,
    /// Mean of each class's latent function; of a softmax layer, its logits. Two classes share one, with both signs.
    pub latent_mean: Vec<f64>,
    /// Standard deviation of each class's latent function; zero for a softmax layer.
    pub latent_std: Vec<f64>,
    /// Share of held-out rows that were at least as far from the training rows; empty without neighbours.
    pub familiarity: Vec<f64>,
    /// How a class is decided; `None` for the most probable one.
    pub decision: Option<Arc<Decision>>,
}

impl ClassificationBatch {
    pub(super) fn append(&mut self, mut other: Self) {
        self.p.append(&mut other.p);
        self.latent_mean.append(&mut other.latent_mean);
        self.latent_std.append(&mut other.latent_std);
        self.familiarity.append(&mut other.familiarity);
    }

    /// The class of each row: the most probable one, or what the decision says.
    pub fn labels(&self) -> impl Iterator<Item = usize> + '_ {
        self.p.chunks_exact(self.classes).map(|p| self.decide(p))
    }

    pub(super) fn decide(&self, p: &[f64]) -> usize {
        self.decision.as_ref().map_or_else(|| predicted(p), |decision| decision.class(p))
    }

    /// Entropy of each row's probabilities.
    pub fn entropy(&self) -> Vec<f64> {
        self.p.chunks_exact(self.classes).map(entropy).collect()
    }

    /// Mean latent deviation of each row.
    pub fn latent_spread(&self) -> Vec<f64> {
        let mean = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
        self.latent_std.chunks_exact(self.classes).map(mean).collect()
    }
}

/// Predictions of some rows: by columns in the batch, row by row as an iterator.
#[derive(Debug, Clone)]
pub struct Predictions {
    batch: Batch,
    names: Arc<[Arc<str>]>,
}

#[derive(Debug, Clone)]
enum Batch {
    Regression(RegressionBatch),
    Classification(ClassificationBatch),
}

impl Predictions {
    pub(super) fn regression(batch: RegressionBatch, names: &[String]) -> Self {
        Self { batch: Batch::Regression(batch), names: shared(names) }
    }

    pub(crate) fn classification(batch: ClassificationBatch, classes: &[String]) -> Self {
        Self { batch: Batch::Classification(batch), names: shared(classes) }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match &self.batch {
            Batch::Regression(batch) => batch.mean.len() / self.names.len(),
            Batch::Classification(batch) => batch.p.len() / batch.classes,
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Predicted numbers by columns; `None` for classes.
    pub fn as_regression(&self) -> Option<&RegressionBatch> {
        match &self.batch {
            Batch::Regression(batch) => Some(batch),
            Batch::Classification(_) => None,
        }
    }

    /// Predicted classes by columns; `None` for numbers.
    pub fn as_classification(&self) -> Option<&ClassificationBatch> {
        match &self.batch {
            Batch::Classification(batch) => Some(batch),
            Batch::Regression(_) => None,
        }
    }

    /// Of each row the share of held-out rows that were at least as far from the training rows; empty where the model keeps no rows.
    pub fn familiarity(&self) -> Vec<f64> {
        match &self.batch {
            Batch::Regression(batch) => {
                let least = |row: &[f64]| row.iter().copied().fold(f64::INFINITY, f64::min);
                batch.familiarity.chunks(self.names.len().max(1)).map(least).collect()
            }
            Batch::Classification(batch) => batch.familiarity.clone(),
        }
    }

    /// One row; `None` where there are not as many.
    pub fn get(&self, row: usize) -> Option<Prediction> {
        if row >= self.len() {
            return None;
        }
        let k = self.names.len();
        Some(match &self.batch {
            Batch::Regression(batch) => {
                let target = |j: usize| TargetPrediction {
                    name: Arc::clone(&self.names[j]),
                    mean: batch.mean[row * k + j],
                    std: batch.std[row * k + j],
                    std_latent: batch.std_latent[row * k + j],
                    density: batch.density[row * k + j].clone(),
                    familiarity: batch.familiarity.get(row * k + j).copied(),
                };
                Prediction::Regression(Regression { targets: (0..k).map(target).collect() })
            }
            Batch::Classification(batch) => {
                let part = |values: &[f64]| values[row * k..(row + 1) * k].to_vec();
                Prediction::Classification(Classification {
                    classes: Arc::clone(&self.names),
                    label: batch.decide(&batch.p[row * k..(row + 1) * k]),
                    p: part(&batch.p),
                    latent_mean: part(&batch.latent_mean),
                    latent_std: part(&batch.latent_std),
                    familiarity: batch.familiarity.get(row).copied(),
                })
            }
        })
    }

    /// Row by row.
    pub fn iter(&self) -> impl Iterator<Item = Prediction> + '_ {
        (0..self.len()).filter_map(|row| self.get(row))
    }
}

impl IntoIterator for Predictions {
    type Item = Prediction;
    type IntoIter = Rows;

    fn into_iter(self) -> Rows {
        Rows { predictions: self, next: 0 }
    }
}

/// Predictions, row by row.
#[derive(Debug)]
pub struct Rows {
    predictions: Predictions,
    next: usize,
}

impl Iterator for Rows {
    type Item = Prediction;

    fn next(&mut self) -> Option<Prediction> {
        self.next += 1;
        self.predictions.get(self.next - 1)
    }
}

fn shared(names: &[String]) -> Arc<[Arc<str>]> {
    names.iter().map(|name| Arc::from(name.as_str())).collect()
}

/// What a model says of one row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Prediction {
    /// Numbers.
    Regression(Regression),
    /// A class.
    Classification(Classification),
}

/// Predicted numbers of one row: one for each target. The short forms are of the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    targets: Vec<TargetPrediction>,
}

impl Regression {
    /// All targets.
    pub fn targets(&self) -> &[TargetPrediction] {
        &self.targets
    }

    /// Expected value of the first target.
    pub fn mean(&self) -> f64 {
        self.targets[0].mean
    }

    /// Standard deviation of the first target.
    pub fn std(&self) -> f64 {
        self.targets[0].std
    }

    /// Central interval of the first target.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        self.targets[0].interval(level)
    }

    /// Quantile of the first target.
    pub fn quantile(&self, p: f64) -> f64 {
        self.targets[0].quantile(p)
    }
}

/// A predicted number in its own units.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TargetPrediction {
    /// The target's name.
    pub name: Arc<str>,
    /// Expected value.
    pub mean: f64,
    /// Standard deviation of an observation.
    pub std: f64,
    /// Standard deviation of the latent function, without noise.
    pub std_latent: f64,
    /// The whole density of an observation.
    pub density: Density,
    /// Share of held-out rows that were at least as far from the training rows: near zero, the row is like none of them.
    /// `None` where the model keeps no rows.
    pub familiarity: Option<f64>,
}

impl TargetPrediction {
    /// The value that an observation stays below with probability `p`.
    pub fn quantile(&self, p: f64) -> f64 {
        self.density.quantile(p)
    }

    /// Both ends of the central interval that holds an observation with probability `level`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        self.density.interval(level)
    }
}

/// The predicted class of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    classes: Arc<[Arc<str>]>,
    label: usize,
    p: Vec<f64>,
    latent_mean: Vec<f64>,
    latent_std: Vec<f64>,
    familiarity: Option<f64>,
}

impl Classification {
    /// Share of held-out rows that were at least as far from the training rows: near zero, the row is like none of them.
    /// `None` where the model keeps no rows.
    pub fn familiarity(&self) -> Option<f64> {
        self.familiarity
    }

    /// The predicted class: the most probable one, unless the model decides by a threshold or by costs.
    pub fn label(&self) -> &str {
        &self.classes[self.label]
    }

    /// Its probability.
    pub fn probability(&self) -> f64 {
        self.p[self.label]
    }

    /// Every class with its probability.
    pub fn probabilities(&self) -> impl Iterator<Item = (&str, f64)> {
        self.classes.iter().zip(&self.p).map(|(class, p)| (class.as_ref(), *p))
    }

    /// Mean and standard deviation of every class's latent function.
    pub fn latent(&self) -> impl Iterator<Item = (f64, f64)> {
        self.latent_mean.iter().copied().zip(self.latent_std.iter().copied())
    }

    /// `−Σ p log p`
    pub fn entropy(&self) -> f64 {
        entropy(&self.p)
    }
}
