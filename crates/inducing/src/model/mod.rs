//! A fitted model: immutable, ready to predict.

mod absent;
mod calibration;
mod class_calibration;
mod class_stack;
mod classes;
mod columns;
mod decision;
mod density;
mod distances;
mod file;
mod input_check;
mod linear_classes;
mod numbers;
mod out_of_fold;
mod predict;
mod prediction;
mod scores;
mod stack;
mod stream;
mod update;

pub(crate) use calibration::minimise;
pub use calibration::{Calibration, HeldOut};
pub use class_calibration::ClassCalibration;
pub(crate) use class_calibration::FEWEST_TO_TRUST;
pub use class_stack::ClassStack;
pub(crate) use class_stack::Position;
pub(crate) use columns::distinct;
pub use columns::{ColumnRequest, PredictionColumns};
pub use decision::Decision;
pub use density::{Component, Density};
pub use distances::Distances;
pub use file::{FORMAT_VERSION, FileError, NamedTensor};
pub use gp::Kernel;
pub use input_check::{InputCheck, InputNote, UNFAMILIAR};
pub use linear_classes::LinearClasses;
pub(crate) use linear_classes::{MILDEST, SHARPEST, sharpen};
pub use out_of_fold::OutOfFoldPredictions;
pub use predict::{EncodedData, TargetUse};
pub use prediction::{
    Classification, ClassificationBatch, Prediction, Predictions, Regression, RegressionBatch,
    TargetPrediction,
};
pub use stack::Stack;
pub(crate) use stack::{Local, MOST_NEIGHBOURS, Query, Stacked, linear};
pub use stream::{PredictedBlock, PredictionStream};
pub use update::Update;

use crate::config::Config;
use crate::dataset::{EncoderFactory, Inputs, Schema};
use crate::error::Error;
pub use crate::head::{FeatureScale, HeadParameters};

use crate::head::{AnyPosterior, FittedHead, read_out};
use crate::metrics::{ClassMetrics, Metrics};
use crate::neighbours::{ClassNeighbours, KeptRows, Neighbours, Reconstruction};
use crate::nn::{Encoder, EncoderShape, Mode};
use crate::train::EpochRecord;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

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
    /// How a class is decided, where it is not the most probable one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Rows that were trained on, held for validation, held for the test.
    pub rows: [usize; 3],
    /// Epoch of the likelihood whose parameters these are.
    pub best_epoch: usize,
    /// All epochs.
    pub history: Vec<EpochRecord>,
    /// Scores of held-out rows: part (`validation`, `test`) → target → scores.
    pub metrics: BTreeMap<String, Scores>,
    /// Scores of simple models on the same rows: part → `constant`, `linear` or `neighbours` → target → scores.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub baselines: BTreeMap<String, BTreeMap<String, Scores>>,
    /// The second and further networks where every class has its own; the fields above are the first's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<NetworkHeader>,
    /// What joins cross-fitted members, where the networks are members of an ensemble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<Ensemble>,
    /// What the nearest training features say, where one network keeps them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_stack: Option<ClassStack>,
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
    /// A linear model of the classes, where it helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear_classes: Option<LinearClasses>,
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
    reconstruction: Option<Reconstruction>,
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
    /// Means of each member of an ensemble, row-major `[N, C]`; empty for other models.
    pub fn members(&self) -> &[Vec<f64>] {
        &self.members
    }

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
        let (neighbours, class_neighbours, reconstruction, out_of_fold) = (None, None, None, None);
        Ok(Self { header, networks, neighbours, class_neighbours, reconstruction, out_of_fold })
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
        if let (Some(stack), Some(neighbours)) = (&self.header.feature_stack, &self.class_neighbours) {
            let local = neighbours.variances(stack, &self.feature_coordinates(features, &latent.mean));
            for (var, local) in latent.var.chunks_exact_mut(c).zip(local) {
                var.iter_mut().for_each(|var| *var += local);
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

    /// Mixes a linear model into the probabilities of an ensemble.
    pub(crate) fn set_linear_classes(&mut self, linear: Option<LinearClasses>) {
        self.header.ensemble.get_or_insert_default().linear_classes = linear;
    }

    /// The same for a model of classes.
    pub(crate) fn set_class_neighbours(&mut self, stack: ClassStack, kept: KeptRows) {
        self.class_neighbours = Some(ClassNeighbours::new(kept, &stack));
        self.header.ensemble.get_or_insert_default().class_stack = Some(stack);
    }

    /// Keeps features of training rows, and principal components of images.
    pub(crate) fn set_feature_neighbours(
        &mut self,
        stack: ClassStack,
        kept: KeptRows,
        reconstruction: Option<Reconstruction>,
    ) {
        self.reconstruction = reconstruction;
        self.class_neighbours = Some(ClassNeighbours::new(kept, &stack));
        self.header.feature_stack = Some(stack);
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

    /// How many of some rows have the inputs of a row that the model keeps: rows that it has seen.
    pub fn count_seen(&self, inputs: &Inputs, rows: &[usize]) -> usize {
        let (Some(kept), Some(_)) = (self.kept_rows(), &self.header.ensemble) else { return 0 };
        let seen: HashSet<&[u8]> = kept.x.chunks_exact(kept.width).map(bytemuck::cast_slice).collect();
        let asked = inputs.numbers(kept.width, rows, Mode::Predict).unwrap_or_default();
        asked
            .chunks_exact(kept.width)
            .filter(|row| seen.contains(bytemuck::cast_slice::<f32, u8>(row)))
            .count()
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
        let [low, high] = [low - margin, high + margin].map(|z| target.restore(z));
        let step = (high - low) / count.saturating_sub(1).max(1) as f64;
        (0..count).map(|i| low + step * i as f64).collect()
    }

    /// Coordinates `[N, D + C]` of a single network's rows: features, and latent means or, of classes, `tanh(f/4)`. Few training rows
    /// are near a row that lies between the classes; those that are sure of a class lie together.
    pub(crate) fn feature_coordinates(&self, features: &Features, mean: &[f64]) -> Vec<f32> {
        let (phi, classes) = (&features.networks[0], self.header.schema.classes().is_some());
        let (d, c) = (phi.len() / features.rows.max(1), mean.len() / features.rows.max(1));
        let latent = |&f: &f64| if classes { (f / 4.0).tanh() as f32 } else { f as f32 };
        let rows = phi.chunks_exact(d.max(1)).zip(mean.chunks_exact(c.max(1)));
        rows.flat_map(|(phi, mean)| phi.iter().copied().chain(mean.iter().map(latent))).collect()
    }

    pub(crate) fn reconstruction(&self) -> Option<&Reconstruction> {
        self.reconstruction.as_ref()
    }

    /// Errors of some images when they are drawn by principal components of training images.
    pub(crate) fn reconstruction_errors(
        &self,
        inputs: &Inputs,
        rows: &[usize],
    ) -> Result<Option<Vec<f64>>, Error> {
        let Some(reconstruction) = &self.reconstruction else { return Ok(None) };
        let mut errors = Vec::with_capacity(rows.len());
        for rows in rows.chunks(BLOCK) {
            let x = inputs.numbers(reconstruction.mean.len(), rows, Mode::Predict)?;
            errors.extend(reconstruction.errors(&x));
        }
        Ok(Some(errors))
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
