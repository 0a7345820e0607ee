//! Everything that a page shows, as plain values: what `gather` computes and `render`
//! draws.

use ign::class_metrics::ClassMetrics;
use ign::metrics::Metrics;
use ign::train::EpochRecord;

/// One page: one model, or several side by side.
#[derive(Debug, Clone)]
pub struct Report {
    /// Heads the page.
    pub title: String,
    /// What the predictions were judged on, in words: `test.csv` or `the test part of houses.csv`.
    pub judged_on: String,
    /// Program and version.
    pub made_by: String,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// At least one; several predict the same target.
    pub models: Vec<ModelRecord>,
}

/// One model.
#[derive(Debug, Clone)]
pub struct ModelRecord {
    /// Of the file.
    pub name: String,
    /// What it is: label and value.
    pub facts: Vec<(String, String)>,
    /// Names of a row's cells; empty where examples are no rows.
    pub columns: Vec<String>,
    /// All inputs that the page shows; everything else refers to them by their place here.
    pub examples: Vec<Example>,
    /// What is predicted: one entry for each number, one for classes. Points of all entries are the same examples.
    pub targets: Vec<TargetRecord>,
    /// Features of the points in two dimensions; none without inducing points.
    pub features: Option<FeatureSpace>,
    /// Usually one; one for each class where each has its own.
    pub networks: Vec<NetworkRecord>,
    /// Which columns matter; tables alone.
    pub importance: Option<Importance>,
    /// Where the nearest examples were looked for, in words, and how many inputs that was.
    pub neighbours_from: (String, usize),
    /// What leans on the inducing points was counted here, in words, and how many inputs that was.
    pub leaning_from: (String, usize),
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
    /// A row of a table in its own units, in the order of [`ModelRecord::columns`]; long texts are cut in their middle.
    Cells(Vec<String>),
    /// A picture.
    Picture(Picture),
    /// A graph.
    Graph(Graph),
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
    /// `[H, W, C]`
    pub pixels: Vec<u8>,
}

/// A graph.
#[derive(Debug, Clone)]
pub struct Graph {
    /// How many nodes it has.
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
    Number(NumberRecord),
    /// Classes.
    Classes(ClassRecord),
}

/// Predictions of a number; everything in the target's own units.
#[derive(Debug, Clone)]
pub struct NumberRecord {
    /// Of the target.
    pub name: String,
    /// Over all rows.
    pub metrics: Metrics,
    /// The rows that are drawn: the most uncertain, the worst, and a random part of the others.
    pub points: Vec<NumberPoint>,
    /// Of intervals of increasing level.
    pub coverage: Vec<Coverage>,
    /// Share of rows that are kept, the surest first, and the RMSE of them.
    pub risk: Vec<[f64; 2]>,
    /// Predicted deviations of all rows.
    pub spread: Histogram,
}

/// A row that is drawn.
#[derive(Debug, Clone)]
pub struct NumberPoint {
    /// In [`ModelRecord::examples`].
    pub example: usize,
    /// What was observed.
    pub truth: f64,
    /// What was expected.
    pub mean: f64,
    /// Deviation of an observation.
    pub std: f64,
    /// Deviation of the function behind it.
    pub std_latent: f64,
}

/// How many rows lie in their central intervals.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// What the interval promises, in (0, 1).
    pub level: f64,
    /// What it holds.
    pub after: f64,
    /// The same without recalibration.
    pub before: f64,
}

/// Counts between edges.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// One more than counts.
    pub edges: Vec<f64>,
    /// Rows.
    pub counts: Vec<usize>,
}

/// Predictions of classes.
#[derive(Debug, Clone)]
pub struct ClassRecord {
    /// Of the target.
    pub name: String,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Over all rows; holds the reliability before and after recalibration.
    pub metrics: ClassMetrics,
    /// The rows that are drawn: the most uncertain, the worst, and a random part of the others.
    pub points: Vec<ClassPoint>,
    /// Share of rows that are kept, the surest first, and the share of mistakes among them.
    pub risk: Vec<[f64; 2]>,
    /// Entropy of all rows' probabilities, in nats.
    pub spread: Histogram,
    /// Whether latent functions have a variance: not those of a softmax layer.
    pub has_variance: bool,
}

/// A row that is drawn.
#[derive(Debug, Clone)]
pub struct ClassPoint {
    /// In [`ModelRecord::examples`].
    pub example: usize,
    /// In [`ClassRecord::classes`].
    pub truth: usize,
    /// In [`ClassRecord::classes`].
    pub predicted: usize,
    /// Probability of the predicted class.
    pub p: f64,
    /// Probability of the true class.
    pub p_truth: f64,
    /// Of all probabilities, in nats.
    pub entropy: f64,
    /// Mean of the latent function: of the second of two classes, else of the predicted one.
    pub latent_mean: f64,
    /// Its deviation.
    pub latent_std: f64,
}

/// Features in two dimensions: principal components.
#[derive(Debug, Clone)]
pub struct FeatureSpace {
    /// D
    pub dim: usize,
    /// Of the points of the targets, in their order.
    pub points: Vec<[f64; 2]>,
    /// Of the first network's inducing points.
    pub inducing: Vec<[f64; 2]>,
    /// Share of the features' variance along each axis.
    pub explained: [f64; 2],
}

/// Inducing points and training of one network.
#[derive(Debug, Clone)]
pub struct NetworkRecord {
    /// `3 against the rest`; empty for the only one.
    pub name: String,
    /// None for a softmax layer.
    pub inducing: Vec<InducingRecord>,
    /// How many different examples are the nearest of some inducing point.
    pub distinct: usize,
    /// All epochs.
    pub history: Vec<EpochRecord>,
    /// Seconds that each epoch took, where they are known: as long as `history`, or empty.
    pub seconds: Vec<Option<f64>>,
    /// Epoch of the likelihood whose parameters were kept.
    pub best_epoch: usize,
}

/// One inducing point.
#[derive(Debug, Clone)]
pub struct InducingRecord {
    /// Pseudo-label in words: `23.1` in the target's units, or the class and its probability.
    pub label: String,
    /// Class of the pseudo-label.
    pub class: Option<usize>,
    /// The nearest first.
    pub nearest: Vec<Neighbour>,
    /// Inputs whose most similar inducing point this is.
    pub leaning: usize,
    /// The nearest example moved towards it.
    pub refined: Option<Refined>,
}

/// An example near an inducing point.
#[derive(Debug, Clone)]
pub struct Neighbour {
    /// In [`ModelRecord::examples`].
    pub example: usize,
    /// `k(z, φ) / s`, at most 1.
    pub similarity: f64,
    /// ‖φ − z‖
    pub distance: f64,
    /// Its true target or class in words.
    pub truth: String,
}

/// An input that was moved towards an inducing point.
#[derive(Debug, Clone)]
pub struct Refined {
    /// In [`ModelRecord::examples`].
    pub example: usize,
    /// ‖φ − z‖ of the nearest example.
    pub before: f64,
    /// ‖φ − z‖ afterwards.
    pub after: f64,
}

/// What predictions lose when a column is shuffled.
#[derive(Debug, Clone)]
pub struct Importance {
    /// Rows that were shuffled.
    pub rows: usize,
    /// How often.
    pub shuffles: usize,
    /// What `error` is: `RMSE of price`, `NLL`.
    pub measure: String,
    /// The most important first.
    pub columns: Vec<ColumnImportance>,
}

/// One column.
#[derive(Debug, Clone)]
pub struct ColumnImportance {
    /// Of the column.
    pub name: String,
    /// How much the error grows.
    pub error: f64,
    /// Mean absolute change of the predicted deviation (of classes: of the entropy) against its mean, 0.1 is 10 %.
    pub spread: f64,
}
