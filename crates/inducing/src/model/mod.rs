//! A fitted model: immutable, ready to predict.

mod calibration;
mod class_calibration;
mod class_stack;
mod density;
mod distances;
mod file;
mod out_of_fold;
mod predict;
mod prediction;
mod stack;
mod stream;

pub(crate) use calibration::minimise;
pub use calibration::{Calibration, HeldOut};
pub use class_calibration::ClassCalibration;
pub(crate) use class_calibration::FEWEST_TO_TRUST;
pub use class_stack::ClassStack;
pub use density::{Component, Density};
pub use distances::Distances;
pub use file::{FORMAT_VERSION, FileError};
pub use gp::Kernel;
pub use out_of_fold::OutOfFoldPredictions;
pub use predict::{EncodedData, TargetUse};
pub use prediction::{
    Classification, ClassificationBatch, Prediction, Predictions, Regression, RegressionBatch,
    TargetPrediction,
};
pub use stack::Stack;
pub(crate) use stack::{Local, MOST_NEIGHBOURS, Query, Stacked, linear};
pub use stream::{PredictedBlock, PredictionStream};

use crate::config::Config;
use crate::dataset::{EncoderFactory, Inputs, Schema};
use crate::error::Error;
pub use crate::head::{FeatureScale, HeadParameters};

use crate::head::{AnyPosterior, FittedHead, read_out};
use crate::metrics::{ClassMetrics, Metrics};
use crate::neighbours::{ClassNeighbours, KeptRows, Neighbours};
use crate::nn::{Encoder, EncoderShape, Mode};
use crate::train::EpochRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything about a model that is not a tensor; stored as JSON in the model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelHeader {
    /// Version of the file's layout.
    pub format_version: u32,
    /// Version of the program that wrote it.
    pub ign_version: String,
    /// The resolved configuration.
    pub config: Config,
    /// How an input becomes numbers.
    pub schema: Schema,
    /// Shape of the encoder.
    pub encoder: EncoderShape,
    /// The fixed map from the encoder's output to features.
    pub feature_scale: FeatureScale,
    /// The learned kernel.
    pub kernel: Kernel,
    /// One for each number to predict.
    pub calibration: Vec<Calibration>,
    /// Of class probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_calibration: Option<ClassCalibration>,
    /// Rows that were trained on, held for validation, held for the test.
    pub rows: [usize; 3],
    /// Epoch of the likelihood whose parameters these are.
    pub best_epoch: usize,
    /// All epochs.
    pub history: Vec<EpochRecord>,
    /// Scores of held-out rows: part (`validation`, `test`) → target → scores.
    pub metrics: BTreeMap<String, Scores>,
    /// The second and further networks where every class has its own; the fields above are the first's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<NetworkHeader>,
    /// What joins cross-fitted members, where the networks are members of an ensemble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<Ensemble>,
}

/// Networks that are members of an ensemble.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensemble {
    /// How members and the nearest rows are joined, for each number to predict; empty without neighbours.
    pub stacks: Vec<Stack>,
    /// The same for classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_stack: Option<ClassStack>,
}

/// What differs between several networks of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkHeader {
    /// As in [`ModelHeader`].
    pub feature_scale: FeatureScale,
    /// As in [`ModelHeader`].
    pub kernel: Kernel,
    /// As in [`ModelHeader`].
    pub best_epoch: usize,
    /// As in [`ModelHeader`].
    pub history: Vec<EpochRecord>,
}

/// Scores of each target by its name.
pub type Scores = BTreeMap<String, Score>;

/// Scores of numbers or of classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Score {
    /// Of a number.
    Number(Metrics),
    /// Of classes.
    Classes(ClassMetrics),
}

/// A fitted model.
#[derive(Debug)]
pub struct Model {
    header: ModelHeader,
    networks: Vec<Network>,
    neighbours: Option<Neighbours>,
    class_neighbours: Option<ClassNeighbours>,
    out_of_fold: Option<OutOfFoldPredictions>,
}

/// One network: an encoder with its parameters, and the head on it.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) encoder: Box<dyn Encoder>,
    pub(crate) theta: Vec<f32>,
    pub(crate) head: FittedHead,
    posterior: Option<AnyPosterior>,
    pub(crate) scale: FeatureScale,
}

/// Features of some rows, of each network row-major `[N, D]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// N
    pub rows: usize,
    /// One for each network.
    pub networks: Vec<Vec<f32>>,
}

/// Latent functions at some rows, before recalibration, both row-major `[N, C]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Latent {
    pub(crate) mean: Vec<f64>,
    pub(crate) var: Vec<f64>,
    /// Means of each member of an ensemble; empty for other models.
    pub(crate) members: Vec<Vec<f64>>,
}

impl Latent {
    /// The same of some of the rows, of `c` functions, without members.
    pub(crate) fn select(&self, rows: &[usize], c: usize) -> Self {
        let pick = |values: &[f64]| rows.iter().flat_map(|&i| values[i * c..(i + 1) * c].to_vec()).collect();
        Self { mean: pick(&self.mean), var: pick(&self.var), members: Vec::new() }
    }
}

/// Rows that go through the encoder at a time.
const BLOCK: usize = 2048;

impl Model {
    /// Puts the parts together and factors `K_zz`: parameters of the encoder and what stands on it, for each network.
    pub(crate) fn new(
        header: ModelHeader,
        networks: Vec<(Vec<f32>, FittedHead)>,
        factory: Option<&EncoderFactory>,
        threads: usize,
    ) -> Result<Self, Error> {
        let gp = &header.config.gp;
        let first = (&header.feature_scale, &header.kernel);
        let others = header.others.iter().map(|other| (&other.feature_scale, &other.kernel));
        let fitted: Result<Vec<Network>, Error> = networks
            .into_iter()
            .zip(std::iter::once(first).chain(others))
            .map(|((theta, head), (scale, kernel))| {
                let posterior = match &head {
                    FittedHead::Process(parameters) => {
                        let (jitter, precision) = (gp.jitter.get(), gp.precision);
                        Some(AnyPosterior::new(parameters, kernel, jitter, precision, threads)?)
                    }
                    FittedHead::Softmax { .. } => None,
                };
                let encoder = header.encoder.build(factory);
                let encoder =
                    encoder.map_err(|reason| Error::inputs("an encoder that can be built", reason))?;
                Ok(Network { encoder, theta, head, posterior, scale: scale.clone() })
            })
            .collect();
        let networks = fitted?;
        Ok(Self { header, networks, neighbours: None, class_neighbours: None, out_of_fold: None })
    }

    /// What is known besides the tensors.
    pub fn header(&self) -> &ModelHeader {
        &self.header
    }

    /// The inducing points and what belongs to them, of each network; none for a softmax layer.
    pub fn heads(&self) -> impl Iterator<Item = &HeadParameters> {
        self.networks.iter().filter_map(|fitted| match &fitted.head {
            FittedHead::Process(parameters) => Some(parameters),
            FittedHead::Softmax { .. } => None,
        })
    }

    /// The networks.
    pub(crate) fn networks(&self) -> &[Network] {
        &self.networks
    }

    pub(crate) fn header_mut(&mut self) -> &mut ModelHeader {
        &mut self.header
    }

    /// C: latent functions.
    pub fn outputs(&self) -> usize {
        self.header.schema.outputs()
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        let head = |head: &FittedHead| match head {
            FittedHead::Process(parameters) => parameters.flat().len(),
            FittedHead::Softmax { w, b } => w.len() + b.len(),
        };
        let size = |network: &Network| network.theta.len() + head(&network.head);
        self.networks.iter().map(size).sum()
    }

    /// Features of some rows, by every network.
    pub fn encode(&self, inputs: &Inputs, rows: &[usize]) -> Result<Features, Error> {
        let networks = self.networks.iter().map(|network| network.features(inputs, rows));
        Ok(Features { rows: rows.len(), networks: networks.collect::<Result<_, Error>>()? })
    }

    /// Latent functions of standardised targets or of classes.
    pub fn latent(&self, features: &Features) -> Latent {
        let (n, c) = (features.rows, self.outputs());
        if self.header.ensemble.is_some() {
            return self.ensemble_latent(features);
        }
        let mut latent = Latent { mean: vec![0.0; n * c], var: vec![0.0; n * c], members: Vec::new() };
        let each = c / self.networks.len();
        for (k, (fitted, phi)) in self.networks.iter().zip(&features.networks).enumerate() {
            let (mean, var) = fitted.latent(phi, n);
            for i in 0..n {
                let place = i * c + k * each..i * c + (k + 1) * each;
                latent.mean[place.clone()].copy_from_slice(&mean[i * each..(i + 1) * each]);
                latent.var[place].fill(var[i]);
            }
        }
        latent
    }

    /// Whether every class has its own network.
    pub fn is_one_vs_rest(&self) -> bool {
        !self.header.others.is_empty() && self.header.ensemble.is_none()
    }

    /// Mean of the members, and their variance beside their own.
    fn ensemble_latent(&self, features: &Features) -> Latent {
        let (n, c) = (features.rows, self.outputs());
        let (mut mean, mut squares, mut var) = (vec![0.0; n * c], vec![0.0; n * c], vec![0.0; n * c]);
        let (members, mut of_members) = (self.networks.len() as f64, Vec::new());
        for (fitted, phi) in self.networks.iter().zip(&features.networks) {
            let (f, v) = fitted.latent(phi, n);
            for (i, f) in f.iter().enumerate() {
                mean[i] += f / members;
                squares[i] += f * f / members;
                var[i] += v[i / c] / members;
            }
            of_members.push(f);
        }
        for ((var, square), mean) in var.iter_mut().zip(squares).zip(&mean) {
            *var += (square - mean * mean).max(0.0) * members / (members - 1.0).max(1.0);
        }
        Latent { mean, var, members: of_members }
    }

    /// Keeps training rows, and what joins them with the members.
    pub(crate) fn set_neighbours(&mut self, stacks: Vec<Stack>, kept: KeptRows) -> Result<(), Error> {
        self.neighbours = Some(Neighbours::new(kept, &stacks, &self.networks)?);
        self.header.ensemble.get_or_insert_default().stacks = stacks;
        Ok(())
    }

    /// The same for a model of classes.
    pub(crate) fn set_class_neighbours(&mut self, stack: ClassStack, kept: KeptRows) {
        self.class_neighbours = Some(ClassNeighbours::new(kept, &stack));
        self.header.ensemble.get_or_insert_default().class_stack = Some(stack);
    }

    /// Predictions of training rows by members that never saw them: what says how good the model is where no row was held out.
    /// `None` for a model that was read from a file, or is no ensemble.
    pub fn out_of_fold(&self) -> Option<&OutOfFoldPredictions> {
        self.out_of_fold.as_ref()
    }

    pub(crate) fn set_out_of_fold(&mut self, out_of_fold: OutOfFoldPredictions) {
        self.out_of_fold = Some(out_of_fold);
    }

    /// Whether the model keeps training rows, as neighbours of what it predicts.
    pub fn keeps_rows(&self) -> bool {
        self.kept_rows().is_some()
    }

    /// Equally spaced values of a target, over its kept labels and a little beyond, or four deviations around its mean.
    pub fn target_grid(&self, output: usize, count: usize) -> Vec<f64> {
        let (c, Some(target)) = (self.outputs(), self.header.schema.numbers().get(output)) else {
            return Vec::new();
        };
        let labels = self.kept_rows().map_or(&[][..], |kept| &kept.y).iter().skip(output).step_by(c);
        let ends = labels.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &y| {
            [low.min(f64::from(y)), high.max(f64::from(y))]
        });
        let [low, high] = if ends[0] < ends[1] { ends } else { [-4.0, 4.0] };
        let margin = 0.05 * (high - low);
        let step = (high - low + 2.0 * margin) / count.saturating_sub(1).max(1) as f64;
        (0..count).map(|i| target.restore(low - margin + step * i as f64)).collect()
    }

    /// Training rows that the model keeps.
    pub(crate) fn kept_rows(&self) -> Option<&KeptRows> {
        let numbers = self.neighbours.as_ref().map(Neighbours::kept);
        numbers.or_else(|| self.class_neighbours.as_ref().map(ClassNeighbours::kept))
    }

    /// σ of standardised targets.
    pub(crate) fn sigma(&self, output: usize) -> f64 {
        let log_sigma = self.heads().next().and_then(|head| head.log_sigma.get(output));
        f64::from(*log_sigma.expect("numbers have a process with noise")).exp()
    }

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
        let (Some(neighbours), Some(ensemble)) = (&self.neighbours, &self.header.ensemble) else {
            return Ok(self.numbers(latent));
        };
        let x = inputs.numbers(neighbours.width(), rows, Mode::Predict)?;
        Ok(self.restore(neighbours.predict(&ensemble.stacks, &x, features, latent)))
    }

    /// Numbers in the targets' own units, `[N, C]`.
    pub(crate) fn restore(&self, stacked: Vec<Stacked>) -> RegressionBatch {
        let targets = self.header.schema.numbers();
        let mut prediction = RegressionBatch::with_capacity(stacked.len());
        for (i, Stacked { mean, var_latent, density, familiarity }) in stacked.into_iter().enumerate() {
            let target = &targets[i % targets.len()];
            let std = density.second_moment_about(mean).sqrt();
            prediction.mean.push(target.restore(mean));
            prediction.std.push(target.std * std);
            prediction.std_latent.push(target.std * var_latent.sqrt());
            prediction.density.push(density.restored(target.mean, target.std));
            prediction.familiarity.push(familiarity);
        }
        prediction
    }

    /// Numbers that follow from latent functions.
    pub fn numbers(&self, latent: &Latent) -> RegressionBatch {
        self.numbers_by(latent, &self.header.calibration)
    }

    /// The same without recalibration: what intervals were before, Gaussian ones.
    pub fn uncalibrated_numbers(&self, latent: &Latent) -> RegressionBatch {
        self.numbers_by(latent, &vec![Calibration::none(); self.outputs()])
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
            prediction.mean.push(target.restore(*mean));
            prediction.std.push(target.std * std);
            let density = Density::scaled(*mean, std, Arc::clone(&shared[i % c]));
            prediction.density.push(density.restored(target.mean, target.std));
            prediction.std_latent.push(target.std * (calibration.latent * var).sqrt());
        }
        prediction
    }

    /// Predicts the classes of some rows; an error where the model predicts numbers.
    pub fn predict_classes(&self, inputs: &Inputs, rows: &[usize]) -> Result<ClassificationBatch, Error> {
        if self.header.schema.classes().is_none() {
            return Err(Error::inputs("a model of classes", "a model of numbers"));
        }
        self.classes_at(inputs, rows, &self.latent(&self.encode(inputs, rows)?))
    }

    /// The same where the rows' latent functions are known.
    pub fn classes_at(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        latent: &Latent,
    ) -> Result<ClassificationBatch, Error> {
        let mut prediction = self.classes(latent);
        let stack = self.header.ensemble.as_ref().and_then(|ensemble| ensemble.class_stack.as_ref());
        if let (Some(neighbours), Some(stack)) = (&self.class_neighbours, stack) {
            let x = inputs.numbers(neighbours.kept().width, rows, Mode::Predict)?;
            neighbours.join(stack, &x, &mut prediction);
        }
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

    /// Scores predicted numbers against `y [N, C]` in the target's own units; intervals are the calibrated ones. An error
    /// where the model predicts classes, or the lengths differ.
    pub fn score(&self, prediction: &RegressionBatch, y: &[f64]) -> Result<Scores, Error> {
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
                let metrics = Metrics::of_densities(&y, &mean, &std, &densities);
                (self.header.schema.numbers()[output].name.clone(), Score::Number(metrics))
            })
            .collect();
        Ok(scores)
    }

    /// Scores the predicted classes of some rows against their true ones, before and after recalibration.
    pub fn score_classes(&self, inputs: &Inputs, rows: &[usize], y: &[u32]) -> Result<Scores, Error> {
        let latent = self.latent(&self.encode(inputs, rows)?);
        let metrics = self.class_metrics(&self.classes_at(inputs, rows, &latent)?, &latent, y)?;
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
        let Some(labels) = self.header.schema.classes() else {
            return Err(Error::inputs("a model of classes", "a model of numbers"));
        };
        let rows = latent.mean.len() / self.outputs();
        let fits = prediction.p.len() == rows * labels.len() && y.len() == rows;
        if !fits || y.iter().any(|&label| label as usize >= labels.len()) {
            let expected = format!("{rows} labels of {} classes", labels.len());
            return Err(Error::inputs(expected, format!("{} others", y.len())));
        }
        let metrics = ClassMetrics::new(&prediction.p, y, labels);
        Ok(match self.header.class_calibration {
            Some(_) => {
                let before = self.classes_by(latent, ClassCalibration::none());
                metrics.beside(ClassMetrics::new(&before.p, y, labels))
            }
            None => metrics,
        })
    }
}

impl Network {
    /// Latent mean `[N, C]` and variance `[N]`.
    pub(crate) fn latent(&self, phi: &[f32], n: usize) -> (Vec<f64>, Vec<f64>) {
        match (&self.posterior, &self.head) {
            (Some(posterior), _) => posterior.predict(phi, n),
            (None, FittedHead::Softmax { w, b }) => (read_out(phi, w, b), vec![0.0; n]),
            (None, FittedHead::Process(_)) => unreachable!("a process is conditioned when it is made"),
        }
    }

    pub(crate) fn features(&self, inputs: &Inputs, rows: &[usize]) -> Result<Vec<f32>, Error> {
        let (mut phi, d) = (Vec::new(), self.encoder.dim());
        for block in rows.chunks(BLOCK) {
            phi.extend(self.encoder.features(&self.theta, inputs, block)?);
        }
        self.scale.apply(&mut phi);
        match phi.iter().position(|x| !x.is_finite()) {
            Some(at) => Err(Error::NotFinite { row: rows[at / d] }),
            None => Ok(phi),
        }
    }
}
