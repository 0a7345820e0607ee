//! Everything that a page shows, as plain values: [`gather`](crate::gather) computes it, [`render`](crate::render)
//! draws it. Any number may be NaN or infinite and any string may be hostile: rendering copes with both.

mod baselines;
pub(crate) mod conditional;
mod thresholds;

pub use baselines::{Baseline, BaselineComparison, EvaluatedRows};
pub use conditional::{
    CoverageSlice, FamiliarityAccuracy, FamiliarityCoverage, SlicedColumn, SlicedCoverage,
};
pub use thresholds::{ClassThresholds, OperatingPoint};

use inducing::explain::PartialDependence;
use inducing::metrics::ClassMetrics;
use inducing::metrics::Metrics;

/// One page: the evaluation of one model, or of several side by side.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// Title of the page.
    pub title: String,
    /// The evaluation data, in words: `test.csv` or `the test split of houses.csv`.
    pub evaluated_on: String,
    /// What the models can have known of it.
    pub rows: EvaluatedRows,
    /// Program and version that made the record.
    pub generator: String,
    /// Warnings and remarks for the reader.
    pub notes: Vec<String>,
    /// At least one; several predict the same targets.
    pub models: Vec<ModelRecord>,
}

/// One model.
#[derive(Debug, Clone)]
pub struct ModelRecord {
    /// Usually the file's name.
    pub name: String,
    /// Label and value of everything worth knowing about the model: encoder, parameters, seed, …
    pub facts: Vec<(String, String)>,
    /// Names of the cells of a row; empty for images and graphs.
    pub columns: Vec<String>,
    /// All examples of the page; everything else refers to them by index.
    pub examples: Vec<Example>,
    /// One entry for each regression target, or one for all classes. The points of all entries are the same examples.
    pub targets: Vec<TargetRecord>,
    /// Features of the plotted points in two dimensions; `None` without inducing points.
    pub features: Option<FeatureSpace>,
    /// Usually one; one for each class in a one-vs-rest model.
    pub networks: Vec<NetworkRecord>,
    /// Permutation importance of the columns; `None` for images and graphs.
    pub importance: Option<PermutationImportance>,
    /// Partial dependence on the most important columns, most important first; empty for images and graphs.
    pub dependence: Vec<PartialDependence>,
    /// Where the nearest examples of the inducing points come from.
    pub nearest_from: DataSource,
    /// Which inputs were assigned to the inducing points.
    pub assigned_from: DataSource,
}

/// A set of inputs.
#[derive(Debug, Clone)]
pub struct DataSource {
    /// In words: `the training split`.
    pub description: String,
    /// Number of inputs.
    pub inputs: usize,
}

/// An input as a person can look at it.
#[derive(Debug, Clone)]
pub struct Example {
    /// `row 812`, or a file's name.
    pub name: String,
    /// What it looks like.
    pub body: Body,
}

/// What an input looks like.
#[derive(Debug, Clone)]
pub enum Body {
    /// Cells of a table row in original units, in the order of [`ModelRecord::columns`].
    Cells(Vec<String>),
    /// An image.
    Image(Image),
    /// A graph.
    Graph(Graph),
}

/// An image.
#[derive(Debug, Clone)]
pub struct Image {
    /// W, in pixels.
    pub width: usize,
    /// H, in pixels.
    pub height: usize,
    /// C: 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
    /// `[H, W, C]`
    pub pixels: Vec<u8>,
}

/// A graph.
#[derive(Debug, Clone)]
pub struct Graph {
    /// Number of nodes.
    pub nodes: usize,
    /// Each undirected edge once.
    pub edges: Vec<[usize; 2]>,
    /// Label of each node, or empty.
    pub labels: Vec<String>,
}

/// What is predicted.
#[derive(Debug, Clone)]
pub enum TargetRecord {
    /// A number.
    Regression(RegressionRecord),
    /// A class.
    Classification(ClassificationRecord),
}

/// Predictions of a number, in the target's units.
#[derive(Debug, Clone)]
pub struct RegressionRecord {
    /// Name of the target. Two targets may share one.
    pub name: String,
    /// Over all rows.
    pub metrics: Metrics,
    /// Median absolute error of all rows.
    pub median_error: f64,
    /// Simple models on the same rows, or on others that say so; `None` where none is known.
    pub baselines: Option<BaselineComparison<Metrics>>,
    /// The plotted rows: the most uncertain, the worst, and a random sample of the rest.
    pub points: Vec<RegressionPoint>,
    /// Coverage of central prediction intervals of increasing level.
    pub coverage: Vec<CoveragePoint>,
    /// Risk–coverage curve: share of rows kept, most certain first, and their RMSE.
    pub risk_curve: Vec<[f64; 2]>,
    /// Predicted standard deviations of all rows.
    pub std_histogram: Histogram,
    /// Coverage by familiarity, least familiar first; empty for a model that says none.
    pub by_familiarity: Vec<FamiliarityCoverage>,
    /// Coverage by the values of each input; `None` without number columns, or with too few rows.
    pub by_slice: Option<SlicedCoverage>,
}

/// A plotted row.
#[derive(Debug, Clone)]
pub struct RegressionPoint {
    /// Index in [`ModelRecord::examples`].
    pub example: usize,
    /// Observed value.
    pub truth: f64,
    /// Predicted mean.
    pub mean: f64,
    /// Predicted standard deviation of an observation.
    pub std: f64,
    /// Predicted standard deviation of the latent function, that is, without noise.
    pub std_latent: f64,
}

/// How many rows lie inside their central prediction intervals.
#[derive(Debug, Clone)]
pub struct CoveragePoint {
    /// Nominal level, in (0, 1).
    pub level: f64,
    /// Empirical coverage of the model as it is used.
    pub calibrated: f64,
    /// Empirical coverage without recalibration.
    pub uncalibrated: f64,
}

/// Counts between edges.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// One more than `counts`.
    pub edges: Vec<f64>,
    /// Rows in each bin.
    pub counts: Vec<usize>,
}

/// Predictions of a class.
#[derive(Debug, Clone)]
pub struct ClassificationRecord {
    /// Name of the target.
    pub name: String,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Over all rows; holds the reliability with and without recalibration.
    pub metrics: ClassMetrics,
    /// Simple models on the same rows, or on others that say so; `None` where none is known.
    pub baselines: Option<BaselineComparison<ClassMetrics>>,
    /// Of two classes the rarer against the other; of several each against the others, the most frequent first.
    pub thresholds: Vec<ClassThresholds>,
    /// The plotted rows: the most uncertain, the worst, and a random sample of the rest.
    pub points: Vec<ClassificationPoint>,
    /// Risk–coverage curve: share of rows kept, most certain first, and their error rate.
    pub risk_curve: Vec<[f64; 2]>,
    /// Predictive entropy of all rows, in nats.
    pub entropy_histogram: Histogram,
    /// Accuracy by familiarity, least familiar first; empty for a model that says none.
    pub by_familiarity: Vec<FamiliarityAccuracy>,
    /// Whether the latent functions have a variance; those of a softmax layer have none.
    pub has_latent_variance: bool,
}

/// A plotted row.
#[derive(Debug, Clone)]
pub struct ClassificationPoint {
    /// Index in [`ModelRecord::examples`].
    pub example: usize,
    /// Index in [`ClassificationRecord::classes`].
    pub truth: usize,
    /// Index in [`ClassificationRecord::classes`].
    pub predicted: usize,
    /// Probability of the predicted class.
    pub p: f64,
    /// Probability of the true class.
    pub p_truth: f64,
    /// Predictive entropy, in nats.
    pub entropy: f64,
    /// Mean of the latent function: of the second of two classes, otherwise of the predicted class.
    pub latent_mean: f64,
    /// Standard deviation of the same latent function.
    pub latent_std: f64,
}

/// Features projected on their first two principal components.
#[derive(Debug, Clone)]
pub struct FeatureSpace {
    /// D
    pub dim: usize,
    /// Of the targets' points, in their order.
    pub points: Vec<[f64; 2]>,
    /// Of the first network's inducing points.
    pub inducing: Vec<[f64; 2]>,
    /// Share of the features' variance along each component.
    pub explained_variance_ratio: [f64; 2],
}

/// Inducing points and training history of one network.
#[derive(Debug, Clone)]
pub struct NetworkRecord {
    /// `setosa vs. rest`; empty for the only network.
    pub name: String,
    /// Empty for a softmax layer.
    pub inducing: Vec<InducingPointRecord>,
    /// Number of distinct examples that are the nearest to some inducing point.
    pub distinct_nearest: usize,
    /// All epochs of both phases.
    pub history: Vec<TrainingEpoch>,
    /// Training epoch whose parameters were kept.
    pub best_epoch: usize,
}

/// One inducing point.
#[derive(Debug, Clone)]
pub struct InducingPointRecord {
    /// `23.1` in the target's units, or the class and its probability.
    pub pseudo_label: String,
    /// Class of the pseudo-label.
    pub class: Option<usize>,
    /// Nearest first.
    pub nearest: Vec<NearestExample>,
    /// Number of inputs that are more similar to this inducing point than to any other.
    pub assigned: usize,
    /// The nearest example, optimised to lie closer to the inducing point.
    pub refined: Option<RefinedExample>,
}

/// An example near an inducing point.
#[derive(Debug, Clone)]
pub struct NearestExample {
    /// Index in [`ModelRecord::examples`].
    pub example: usize,
    /// `k(z, φ) / s`, at most 1.
    pub similarity: f64,
    /// ‖φ − z‖
    pub distance: f64,
    /// Its true target or class in words; empty if unknown.
    pub truth: String,
}

/// An example that was optimised to lie closer to an inducing point.
#[derive(Debug, Clone)]
pub struct RefinedExample {
    /// Index in [`ModelRecord::examples`].
    pub example: usize,
    /// ‖φ − z‖ of the nearest example.
    pub distance_before: f64,
    /// ‖φ − z‖ of the refined one.
    pub distance_after: f64,
}

/// Metrics and hyperparameters at the end of one epoch; what was not measured is `None`.
#[derive(Debug, Clone, Default)]
pub struct TrainingEpoch {
    /// Part of the training run.
    pub phase: TrainingPhase,
    /// From 1; 0 is the state before the first step.
    pub epoch: usize,
    /// Steps taken so far in this phase.
    pub steps: usize,
    /// Mean training loss.
    pub loss: Option<f64>,
    /// Validation root mean squared error, of standardised targets.
    pub rmse: Option<f64>,
    /// Validation negative log-likelihood, of standardised targets.
    pub nll: Option<f64>,
    /// Validation accuracy, in [0, 1].
    pub accuracy: Option<f64>,
    /// σ of standardised targets.
    pub noise: Option<f64>,
    /// Kernel scale s and inverse squared length scale γ (linear kernel: s and offset c).
    pub kernel: Option<[f64; 2]>,
    /// Duration of the epoch.
    pub seconds: Option<f64>,
}

/// Part of a training run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TrainingPhase {
    /// The encoder with a linear or softmax output layer.
    Pretraining,
    /// Encoder and Gaussian process together.
    #[default]
    Training,
}

/// How much predictions change when a column is shuffled.
#[derive(Debug, Clone)]
pub struct PermutationImportance {
    /// Rows that were shuffled.
    pub rows: usize,
    /// Shuffles that the effects are means of.
    pub repeats: usize,
    /// What [`ColumnEffect::error_increase`] is measured in: `RMSE (price)`, `NLL (nats)`.
    pub metric: String,
    /// Most important first.
    pub columns: Vec<ColumnEffect>,
}

/// Effect of shuffling one column.
#[derive(Debug, Clone)]
pub struct ColumnEffect {
    /// Name of the column.
    pub name: String,
    /// Increase of the metric.
    pub error_increase: f64,
    /// Mean absolute change of the predicted standard deviation (classes: of the entropy), relative to its mean.
    pub uncertainty_change: f64,
}
