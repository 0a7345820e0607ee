//! The whole run, typed. A bad configuration cannot be built: values carry their ranges in their types, unknown
//! keys are refused, and [`Config::resolve`] layers preset, file and single overrides before anything is checked.

use crate::encoder::{graph, transformer};
use data::{ColumnType, GraphOptions, Scaling, Task, TextOptions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use toml::{Table, Value};

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The file is not TOML, or a key or value does not fit.
    #[error("{file}: {reason}")]
    Invalid {
        /// Where it was read.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// `--set` without `key=value`.
    #[error("`--set {given}`: expected `key=value`\nhint: for example `--set train.epochs=50`")]
    Override {
        /// What was given.
        given: String,
    },
    /// A preset of this name does not exist.
    #[error("there is no preset `{given}`\nhint: the presets are `default` and `paper`")]
    Preset {
        /// What was given.
        given: String,
    },
}

/// A finite number above zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Positive(f64);

impl TryFrom<f64> for Positive {
    type Error = String;
    fn try_from(x: f64) -> Result<Self, String> {
        if x.is_finite() && x > 0.0 { Ok(Self(x)) } else { Err(format!("{x} is not a number above zero")) }
    }
}
impl From<Positive> for f64 {
    fn from(x: Positive) -> f64 {
        x.0
    }
}
impl Positive {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A share: at least zero, below one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

impl TryFrom<f64> for Share {
    type Error = String;
    fn try_from(x: f64) -> Result<Self, String> {
        if (0.0..1.0).contains(&x) { Ok(Self(x)) } else { Err(format!("{x} is not a share in [0, 1)")) }
    }
}
impl From<Share> for f64 {
    fn from(x: Share) -> f64 {
        x.0
    }
}
impl Share {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Decides every random number.
    pub seed: u64,
    /// What stands on the features.
    #[serde(default)]
    pub head: HeadKind,
    /// From files to matrices.
    pub data: DataConfig,
    /// The network.
    pub encoder: EncoderConfig,
    /// The Gaussian process.
    pub gp: GpConfig,
    /// The optimisation.
    pub train: TrainConfig,
}

/// What stands on the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadKind {
    /// A Gaussian process conditioned on inducing points.
    #[default]
    Gp,
    /// A softmax layer: a plain network of the same capacity, to compare with. Classes only.
    Softmax,
}

/// From files to matrices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// Regression or classification; by default what the target looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Columns to predict.
    pub target: Vec<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Types that inference must not decide.
    pub columns: BTreeMap<String, ColumnType>,
    /// Cells that mean "missing"; empty for the usual ones.
    pub missing_values: Vec<String>,
    /// Scaling of numeric columns.
    pub scaling: Scaling,
    /// Integer columns with at most so many values get a one-hot code too; 0 turns it off.
    pub discrete_levels: usize,
    /// Rarer categories than the first so many share one level.
    pub max_categories: usize,
    /// Part of the rows that is held out, never trained on, and reported on at the end.
    pub test_share: Share,
    /// Instead of a share, one of so many equal parts; 0 is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folds: usize,
    /// Which of them, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fold: usize,
    /// How texts become words.
    #[serde(default)]
    pub text: TextOptions,
    /// How nodes of graphs become numbers.
    #[serde(default)]
    pub graph: GraphOptions,
}

fn is_zero(x: &usize) -> bool {
    *x == 0
}

/// Kind of network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncoderKind {
    /// Dense layers.
    #[default]
    Mlp,
    /// Convolutions; pictures only.
    Cnn,
    /// Attention over the words of texts, with dense layers for other columns beside them.
    Transformer,
    /// Graphs as bags of nodes, which are bags of their neighbours.
    Bag,
    /// Messages between the nodes of graphs.
    Gin,
    /// None: the inputs are features that were computed elsewhere.
    Identity,
}

/// The network; see [`crate::encoder`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderConfig {
    /// Kind of network.
    #[serde(default)]
    pub kind: EncoderKind,
    /// Channels of a convolutional network's blocks; each block halves the picture.
    #[serde(default)]
    pub blocks: Vec<NonZeroUsize>,
    /// Channels of a convolution before the first block; 0 for none.
    #[serde(default)]
    pub stem: usize,
    /// Convolutions of a block.
    #[serde(default)]
    pub convolutions: usize,
    /// Shift and mirror pictures at random while training.
    #[serde(default)]
    pub augment: bool,
    /// Units of the hidden layers of one member.
    pub hidden: Vec<NonZeroUsize>,
    /// D
    pub features: NonZeroUsize,
    /// Parallel networks; divides `features`.
    pub members: NonZeroUsize,
    /// Frequencies of a numeric column's periodic embedding; 0 turns it off.
    pub frequencies: usize,
    /// Outputs of a column's embedding.
    pub embedding_width: NonZeroUsize,
    /// Standard deviation of the initial frequencies.
    pub frequency_scale: Positive,
    /// A linear path from the inputs to the features.
    pub skip: bool,
    /// Tables for serial columns (time, row number), found by how smoothly the target follows them.
    pub tables: bool,
    /// Share dropped in training: of a table's embedding outputs, of what a text's blocks add and pool, of a graph's
    /// pooled and hidden units.
    pub dropout: Share,
    /// The network of a text column.
    #[serde(default)]
    pub text: TextConfig,
    /// The network of graphs.
    #[serde(default)]
    pub graph: GraphConfig,
}

/// The network of a text column; see [`crate::encoder::transformer`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TextConfig {
    /// Numbers of a word.
    pub width: NonZeroUsize,
    /// Heads of attention; divides `width`.
    pub heads: NonZeroUsize,
    /// Hidden units of a block's dense part.
    pub feed_forward: NonZeroUsize,
    /// Transformer blocks; without any a text is a bag of words.
    pub blocks: usize,
    /// How words become one vector.
    pub pooling: transformer::Pooling,
    /// Share of words that training replaces by the unknown one.
    pub word_dropout: Share,
    /// Features of the columns beside the texts, for each member.
    pub beside: NonZeroUsize,
}

impl Default for TextConfig {
    fn default() -> Self {
        Self {
            width: size(32),
            heads: size(2),
            feed_forward: size(32),
            blocks: 1,
            pooling: transformer::Pooling::Mean,
            word_dropout: Share(0.0),
            beside: size(16),
        }
    }
}

/// The network of graphs; see [`crate::encoder::graph`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphConfig {
    /// Units of a node.
    pub width: NonZeroUsize,
    /// Rounds: a node hears of others at most so many edges away.
    pub rounds: usize,
    /// What becomes of a node's neighbours.
    pub node_pooling: graph::Pooling,
    /// What becomes of a graph's nodes.
    pub graph_pooling: graph::Pooling,
}

impl Default for GraphConfig {
    fn default() -> Self {
        let pooling = graph::Pooling::Sum;
        Self { width: size(32), rounds: 2, node_pooling: pooling, graph_pooling: pooling }
    }
}

fn size(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("a default is not zero")
}

/// Arithmetic of the Gaussian process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single; needs `gp.jitter` of at least 1e-3.
    F32,
    /// Double.
    F64,
}

/// Shape of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelFamily {
    /// Squared exponential.
    Rbf,
    /// Matérn 3/2.
    Matern32,
    /// Matérn 5/2.
    Matern52,
    /// Dot product.
    Linear,
}

/// The Gaussian process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpConfig {
    /// Family of the kernel.
    pub kernel: KernelFamily,
    /// Initial s.
    pub scale: Positive,
    /// Initial γ (offset c of the linear kernel).
    pub gamma: Positive,
    /// Whether s and γ are learned.
    pub learn_kernel: bool,
    /// M
    pub inducing: NonZeroUsize,
    /// ε, added to the diagonal of K_zz.
    pub jitter: Positive,
    /// Initial σ of standardised targets.
    pub noise: Positive,
    /// σ is never below it.
    #[serde(default)]
    pub noise_floor: f64,
    /// Arithmetic.
    pub precision: Precision,
    /// What a batch's likelihood couples.
    pub coupling: gp::Coupling,
    /// How latent functions become probabilities of classes.
    #[serde(default)]
    pub link: gp::Link,
    /// More than two classes: one network for all, or one for each.
    #[serde(default)]
    pub multiclass: Multiclass,
}

/// How more than two classes share the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multiclass {
    /// One encoder and one set of inducing points, with a pseudo-label for each class.
    #[default]
    Shared,
    /// A network and inducing points of its own for each class against the others: the paper's tables.
    Independent,
}

/// Weight of a class's rows in the likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeights {
    /// All rows count the same.
    #[default]
    Equal,
    /// All classes count the same. Probabilities then are those of a world of equally frequent classes.
    Balanced,
}

/// Course of the learning rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Always the same.
    Constant,
    /// A twentieth of the steps rising, then half a cosine down to zero.
    Cosine,
}

/// The validation score that decides which weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopOn {
    /// Continuous ranked probability score.
    Crps,
    /// Negative log-likelihood.
    Nll,
    /// Nothing: the last weights are kept.
    Never,
}

/// The optimisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// Epochs of the likelihood.
    pub epochs: usize,
    /// At most so many steps of the likelihood, for large tables, but never less than one epoch; 0 is no limit.
    pub max_steps: usize,
    /// Rows of a batch.
    pub batch_size: NonZeroUsize,
    /// Step size of Adam.
    pub learning_rate: Positive,
    /// The encoder's step size in the likelihood phase, as a multiple of `learning_rate`; 0 freezes it.
    pub encoder_rate: f64,
    /// Its course.
    pub schedule: Schedule,
    /// Decoupled weight decay of the encoder's matrices.
    pub weight_decay: f64,
    /// Largest norm of a gradient.
    pub clip_norm: Positive,
    /// Epochs of least squares with a linear readout before the likelihood; 0 is the paper's plain start.
    pub warm_epochs: usize,
    /// At least so many steps of warm start, for small tables.
    pub warm_steps: usize,
    /// At most so many, for large ones; 0 is no limit.
    pub warm_max_steps: usize,
    /// Rows of a batch in the warm start.
    pub warm_batch_size: NonZeroUsize,
    /// Step size of the warm start.
    pub warm_learning_rate: Positive,
    /// Rescale and centre the features before the likelihood.
    pub scale_features: bool,
    /// Reseed inducing points that no feature comes near.
    pub reseed: bool,
    /// Part of the training rows that decides when to stop and recalibrates the variance.
    pub validation_share: Share,
    /// Which score decides.
    pub stop_on: StopOn,
    /// Epochs without a better score before training stops.
    pub patience: usize,
    /// Recalibrate the variance on the validation part.
    pub recalibrate: bool,
    /// Weight of a class's rows.
    #[serde(default)]
    pub class_weights: ClassWeights,
}

/// What is learned from, where the best settings differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers from a table.
    Numbers,
    /// Classes from a table.
    Classes,
    /// Classes of pictures.
    Images,
    /// Numbers from a table with texts.
    TextNumbers,
    /// Classes from a table with texts.
    TextClasses,
    /// Classes of graphs.
    Graphs,
}

/// The paper's setting to the letter.
const PAPER: &str = include_str!("presets/paper.toml");
/// The best known.
const DEFAULT: &str = include_str!("presets/default.toml");
/// What it has otherwise for pictures.
const PAPER_IMAGES: &str = include_str!("presets/paper-images.toml");
/// For texts.
const PAPER_TEXT: &str = include_str!("presets/paper-text.toml");
/// And for graphs.
const PAPER_GRAPHS: &str = include_str!("presets/paper-graphs.toml");
/// What the best known has otherwise for classes from tables.
const CLASSES: &str = include_str!("presets/default-classes.toml");
/// What it has otherwise for pictures.
const IMAGES: &str = include_str!("presets/default-images.toml");
/// What it has otherwise for tables with texts.
const TEXT: &str = include_str!("presets/default-text.toml");
/// What it has otherwise for classes of texts.
const TEXT_CLASSES: &str = include_str!("presets/default-text-classes.toml");
/// What it has otherwise for graphs.
const GRAPHS: &str = include_str!("presets/default-graphs.toml");
/// And for pictures in a convolutional network.
const CNN: &str = include_str!("presets/default-cnn.toml");

impl Config {
    /// Layers, from the bottom: preset `default`, what it has otherwise for this kind of problem, the preset asked
    /// for (by `preset` or by the file's `preset` key), the file, single `key=value` overrides.
    pub fn resolve(
        kind: Kind,
        preset: Option<&str>,
        file: Option<(&str, &str)>,
        overrides: &[String],
    ) -> Result<Self, ConfigError> {
        let parse = |name: &str, text: &str| {
            text.parse::<Table>().map_err(|e| ConfigError::Invalid {
                file: name.into(),
                reason: e.to_string().trim_end().into(),
            })
        };
        let mut from_file = match file {
            Some((name, text)) => parse(name, text)?,
            None => Table::new(),
        };
        let named = match from_file.remove("preset") {
            None => None,
            Some(Value::String(name)) => Some(name),
            Some(other) => return Err(ConfigError::Preset { given: other.to_string() }),
        };
        let mut upper = from_file;
        for given in overrides {
            let malformed = || ConfigError::Override { given: given.clone() };
            let (key, value) = given.split_once('=').ok_or_else(malformed)?;
            // A line of TOML, so that quoted keys work too; a value that is none is taken as a string.
            let line = format!("{key} = {value}").parse::<Table>();
            let line = line.or_else(|_| format!("{key} = {}", Value::from(value)).parse::<Table>());
            merge(&mut upper, line.map_err(|_| malformed())?);
        }
        let mut tree = parse("preset default", DEFAULT)?;
        let paper = match preset.map(str::to_owned).or(named).as_deref() {
            None | Some("default") => false,
            Some("paper") => true,
            Some(other) => return Err(ConfigError::Preset { given: other.into() }),
        };
        let convolutions =
            upper.get("encoder").and_then(|e| e.get("kind")).and_then(Value::as_str) == Some("cnn");
        let layers: &[(&str, &str)] = match (kind, paper) {
            (Kind::Numbers, false) => &[],
            (Kind::Classes, false) => &[("preset default, classes", CLASSES)],
            (Kind::Images, false) if convolutions => {
                &[("preset default, images", IMAGES), ("preset default, cnn", CNN)]
            }
            (Kind::Images, true) if convolutions => &[
                ("preset paper", PAPER),
                ("preset paper, images", PAPER_IMAGES),
                ("preset default, cnn", CNN),
            ],
            (Kind::Images, true) => &[("preset paper", PAPER), ("preset paper, images", PAPER_IMAGES)],
            (Kind::Images, false) => &[("preset default, images", IMAGES)],
            (Kind::TextNumbers, false) => &[("preset default, texts", TEXT)],
            (Kind::TextClasses, false) => &[
                ("preset default, classes", CLASSES),
                ("preset default, texts", TEXT),
                ("preset default, classes of texts", TEXT_CLASSES),
            ],
            (Kind::Graphs, false) => {
                &[("preset default, classes", CLASSES), ("preset default, graphs", GRAPHS)]
            }
            (Kind::Numbers | Kind::Classes, true) => &[("preset paper", PAPER)],
            (Kind::TextNumbers | Kind::TextClasses, true) => {
                &[("preset paper", PAPER), ("preset paper, texts", PAPER_TEXT)]
            }
            (Kind::Graphs, true) => &[("preset paper", PAPER), ("preset paper, graphs", PAPER_GRAPHS)],
        };
        for (name, text) in layers {
            merge(&mut tree, parse(name, text)?);
        }
        merge(&mut tree, upper);
        let place = file.map_or("configuration", |(name, _)| name);
        let config: Self = Value::Table(tree).try_into().map_err(|e: toml::de::Error| {
            ConfigError::Invalid { file: place.into(), reason: e.to_string().trim_end().into() }
        })?;
        config.check().map_err(|reason| ConfigError::Invalid { file: place.into(), reason })?;
        Ok(config)
    }

    /// What no single value's type can say.
    fn check(&self) -> Result<(), String> {
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
        if self.data.folds > 0 && (self.data.folds == 1 || self.data.fold >= self.data.folds) {
            return Err(format!(
                "data.fold = {} of data.folds = {}: there must be at least two, counted from 0",
                self.data.fold, self.data.folds
            ));
        }
        if self.data.folds > 0 && self.data.test_share.get() > 0.0 {
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
        let needs_validation = self.train.recalibrate || self.train.stop_on != StopOn::Never;
        if needs_validation && self.train.validation_share.get() == 0.0 {
            return Err(
                "train.validation_share = 0 needs train.stop_on = \"never\" and train.recalibrate = false"
                    .into(),
            );
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

    /// How latent functions become probabilities.
    pub fn link(&self) -> gp::Link {
        if self.head == HeadKind::Softmax { gp::Link::Logit } else { self.gp.link }
    }

    /// The initial kernel.
    pub fn kernel(&self) -> gp::Kernel {
        let (scale, gamma) = (self.gp.scale.get(), self.gp.gamma.get());
        match self.gp.kernel {
            KernelFamily::Rbf => gp::Kernel::Rbf { scale, gamma },
            KernelFamily::Matern32 => gp::Kernel::Matern32 { scale, gamma },
            KernelFamily::Matern52 => gp::Kernel::Matern52 { scale, gamma },
            KernelFamily::Linear => gp::Kernel::Linear { scale, offset: gamma },
        }
    }
}

/// Lays `upper` over `lower`, table by table.
fn merge(lower: &mut Table, upper: Table) {
    for (key, value) in upper {
        match (lower.get_mut(&key), value) {
            (Some(Value::Table(lower)), Value::Table(upper)) => merge(lower, upper),
            (_, value) => {
                lower.insert(key, value);
            }
        }
    }
}
