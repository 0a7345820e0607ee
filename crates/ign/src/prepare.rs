//! From a table, pictures, graphs or inputs of an outsider to numbers: rows assigned to parts, schema fitted on the training part alone,
//! and the network that suits them.

use crate::config::{ClassWeights, Config, EncoderKind, HeadKind, Share};
use crate::encoder::cnn::CnnShape;
use crate::encoder::graph::{GraphKind, GraphShape};
use crate::encoder::identity::IdentityShape;
use crate::encoder::mlp::{Mlp, MlpShape, PeriodicShape, TableShape};
use crate::encoder::transformer::{TextShape, TowerShape};
use crate::encoder::{Mode, OwnEncoder};
use crate::error::Error;
use crate::inputs::{Images, Inputs};
use crate::network::NetworkShape;
use crate::own::{Maker, OwnData, OwnSchema, OwnShape, Truth};
use crate::schema::Schema;
use crate::train::{ReadoutStart, Targets};
use burn::tensor::Device;
use data::{
    EncodeOptions, GraphSchema, GraphSet, ImageSchema, ImageSet, Notice, Table, TableSchema, TargetValues,
    Task,
};

/// Data made ready.
#[derive(Debug)]
pub struct Prepared {
    /// How an input becomes numbers.
    pub schema: Schema,
    /// What the user should know.
    pub notices: Vec<Notice>,
    pub(crate) inputs: Inputs,
    pub(crate) values: Values,
    pub(crate) train: Vec<usize>,
    pub(crate) validation: Vec<usize>,
    pub(crate) test: Vec<usize>,
    class_weights: Vec<f64>,
    own_shape: Option<OwnShape>,
    pub(crate) maker: Option<Maker>,
}

/// What is learned about each row.
#[derive(Debug)]
pub(crate) enum Values {
    /// Standardised, row-major `[N, C]`.
    Numbers(Vec<f32>),
    /// Class of each row; of rows without one, any.
    Classes(Vec<u32>),
}

/// A standardised target ends here, so that one wild cell stays finite in 32 bits and in squares of it.
const WILDEST: f64 = 1e6;

/// More numeric columns than this go into the network as they are: embeddings of all of them would be its bulk.
const MOST_EMBEDDED: usize = 256;

/// Channels that share mean and variance in a convolutional network.
const CHANNELS_A_GROUP: usize = 8;

/// A small table still needs so many held-out rows, but never more than a third of it.
const FEWEST_HELD_OUT: usize = 20;

impl Prepared {
    /// Splits and encodes a table.
    pub fn new(table: &Table, config: &Config) -> Result<Self, Error> {
        let targets = &config.data.target;
        let (rows, dropped) = data::rows_with_targets(table, targets)?;
        let task = match config.data.task {
            Some(task) => task,
            None => data::recognise_task(table, targets)?.0,
        };
        let classes = match (task, &targets[..]) {
            (Task::Classification, [target]) => {
                Some(data::class_codes(table, target)?.into_iter().map(|class| class.unwrap_or(0)).collect())
            }
            _ => None,
        };
        let [train, validation, test] = parts(&rows, classes, config);
        let options = EncodeOptions {
            scaling: config.data.scaling,
            discrete_levels: config.data.discrete_levels,
            max_categories: config.data.max_categories,
            missing_indicator: true,
            text: config.data.text.clone(),
        };
        let (schema, mut notices) = TableSchema::fit(table, targets, Some(task), &train, &options)?;
        if dropped > 0 {
            notices.insert(0, Notice::RowsWithoutTargetDropped { count: dropped });
        }
        let values = match schema.targets(table, None)? {
            TargetValues::Numbers(y) => {
                Values::Numbers(y.into_iter().map(|y| y.clamp(-WILDEST, WILDEST) as f32).collect())
            }
            TargetValues::Classes(labels) => {
                Values::Classes(labels.into_iter().map(|label| label.unwrap_or(0)).collect())
            }
        };
        let inputs = schema.encode(table, None)?.into();
        Self::of(Schema::Table(schema), notices, inputs, values, [train, validation, test], config)
            .checked(config)
    }

    /// Splits and standardises pictures.
    pub fn images(set: ImageSet, config: &Config) -> Result<Self, Error> {
        let rows: Vec<usize> = (0..set.len()).collect();
        let [train, validation, test] = parts(&rows, set.labels.clone(), config);
        let (schema, notices) = ImageSchema::fit(&set, &train)?;
        let set = schema.conform(set)?;
        let values = Values::Classes(set.labels.clone().unwrap_or_default());
        let inputs = Inputs::Images(Images::new(set, &schema, config.encoder.augment));
        Self::of(Schema::Images(schema), notices, inputs, values, [train, validation, test], config)
            .checked(config)
    }

    /// Splits graphs and makes numbers of their nodes.
    pub fn graphs(set: GraphSet, config: &Config) -> Result<Self, Error> {
        let rows: Vec<usize> = (0..set.len()).collect();
        let parts = parts(&rows, set.labels.clone(), config);
        let (schema, notices) = GraphSchema::fit(&set, &parts[0], &config.data.graph)?;
        let set = schema.conform(set)?;
        let values = Values::Classes(set.labels.clone().unwrap_or_default());
        let inputs = Inputs::graphs(set, &schema)?;
        Self::of(Schema::Graphs(schema), notices, inputs, values, parts, config).checked(config)
    }

    /// Splits inputs of an encoder from outside.
    pub fn own<E: OwnEncoder>(
        data: OwnData<impl std::any::Any + Send + Sync>,
        shape: &E::Shape,
        config: &Config,
    ) -> Result<Self, Error> {
        let OwnData { inputs, truth, name } = data;
        let rows: Vec<usize> = (0..truth.rows()).collect();
        let classes = match &truth {
            Truth::Numbers(_) => None,
            Truth::Classes { labels, .. } => Some(labels.clone()),
        };
        let [train, validation, test] = parts(&rows, classes, config);
        if let Some(fault) = truth.fault(&train) {
            return Err(refusal(&fault));
        }
        let targets = truth.target(&name, &train);
        let values = match truth {
            Truth::Numbers(y) => {
                let column = &targets.numbers()[0];
                Values::Numbers(y.iter().map(|y| ((y - column.mean) / column.std) as f32).collect())
            }
            Truth::Classes { labels, .. } => Values::Classes(labels),
        };
        let own_shape = OwnShape::new::<E>(shape);
        let schema = Schema::Own(OwnSchema { own: own_shape.own.clone(), targets });
        let inputs = Inputs::own_of(inputs, rows.len());
        let mut prepared = Self::of(schema, Vec::new(), inputs, values, [train, validation, test], config);
        (prepared.own_shape, prepared.maker) = (Some(own_shape), Some(Maker::of::<E>()));
        prepared.checked(config)
    }

    fn of(
        schema: Schema,
        notices: Vec<Notice>,
        inputs: Inputs,
        values: Values,
        [train, validation, test]: [Vec<usize>; 3],
        config: &Config,
    ) -> Self {
        let class_weights = weights(schema.class_counts(), config);
        let (own_shape, maker) = (None, None);
        Self { schema, notices, inputs, values, train, validation, test, class_weights, own_shape, maker }
    }

    /// Refuses what the configuration cannot have with these data.
    fn checked(self, config: &Config) -> Result<Self, Error> {
        let refuse = |reason: &str| Err(refusal(reason));
        if self.schema.classes().is_none() && config.head == HeadKind::Softmax {
            return refuse(
                "head = \"softmax\" is for classes, and the target is a number\nhint: leave it out, or say `--task classification`",
            );
        }
        let (kind, texts) = (config.encoder.kind, self.schema.texts().next().is_some());
        let fits = match (&self.schema, kind) {
            // Texts that turn out to be of no use leave a plain table.
            (Schema::Table(_), EncoderKind::Transformer) => true,
            (Schema::Table(_), EncoderKind::Mlp | EncoderKind::Identity) => !texts,
            (Schema::Images(_), kind) => {
                matches!(kind, EncoderKind::Mlp | EncoderKind::Cnn | EncoderKind::Identity)
            }
            (Schema::Graphs(_), kind) => matches!(kind, EncoderKind::Bag | EncoderKind::Gin),
            (Schema::Own(_), _) => true,
            (Schema::Table(_), _) => false,
        };
        if !fits {
            let given = match (&self.schema, texts) {
                (Schema::Images(_), _) => "pictures",
                (Schema::Graphs(_), _) => "graphs",
                (_, true) => "a table with texts",
                _ => "a table without texts",
            };
            let domain = match kind {
                EncoderKind::Mlp | EncoderKind::Identity => "pictures and tables without texts",
                EncoderKind::Cnn => "pictures",
                EncoderKind::Transformer => "tables with texts",
                EncoderKind::Bag | EncoderKind::Gin => "graphs",
            };
            let kind = toml::Value::try_from(kind).expect("a kind is a word");
            return refuse(&format!(
                "encoder.kind = {kind} is for {domain}, not for {given}\nhint: leave it out"
            ));
        }
        let fault = match self.network_shape(config) {
            NetworkShape::Cnn(shape) => shape
                .fault()
                .map(|fault| format!("{fault}\nhint: choose other `encoder.blocks`, or `--image-size`")),
            NetworkShape::Text(shape) => {
                shape.fault().map(|fault| format!("{fault}\nhint: choose other sizes under `encoder.text`"))
            }
            NetworkShape::Graph(shape) => {
                shape.fault().map(|fault| format!("{fault}\nhint: choose other sizes under `encoder.graph`"))
            }
            _ => None,
        };
        if let Some(fault) = fault {
            return refuse(&fault);
        }
        Ok(self)
    }

    /// Rows that are trained on, held for validation, held for the test.
    pub fn rows(&self) -> [usize; 3] {
        [self.train.len(), self.validation.len(), self.test.len()]
    }

    /// The same rows, by their numbers among [`Prepared::inputs`].
    pub fn parts(&self) -> [&[usize]; 3] {
        [&self.train, &self.validation, &self.test]
    }

    /// All inputs, of all parts.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Names what is trained on, for a checkpoint to be matched with: sizes, and a checksum of every number.
    pub fn fingerprint(&self) -> String {
        let mut hasher = crc32fast::Hasher::new();
        self.inputs.checksum(&mut hasher);
        hasher.update(match &self.values {
            Values::Numbers(y) => bytemuck::cast_slice(y),
            Values::Classes(labels) => bytemuck::cast_slice(labels),
        });
        let (rows, width) = (self.inputs.rows(), self.inputs.width());
        format!("{rows} rows, {width} columns, checksum {:08x}", hasher.finalize())
    }

    /// Weights of all other classes and of one, where each class has a network of its own.
    pub(crate) fn weights_against_the_rest(&self, config: &Config, class: usize) -> Vec<f64> {
        let counts = self.schema.class_counts();
        let total: usize = counts.iter().sum();
        weights(&[total - counts[class], counts[class]], config)
    }

    /// What the latent functions learn.
    pub(crate) fn targets(&self) -> Targets<'_> {
        match &self.values {
            Values::Numbers(y) => Targets::Numbers { y, outputs: self.schema.outputs() },
            Values::Classes(labels) => Targets::Classes {
                labels,
                classes: self.schema.class_counts().len(),
                weights: &self.class_weights,
            },
        }
    }

    pub(crate) fn network_shape(&self, config: &Config) -> NetworkShape {
        let encoder = &config.encoder;
        match (&self.own_shape, &self.schema, encoder.kind) {
            (Some(shape), ..) => return NetworkShape::Own(shape.clone()),
            (_, Schema::Images(images), EncoderKind::Cnn) => {
                return NetworkShape::Cnn(cnn_shape(images, config));
            }
            (_, Schema::Graphs(graphs), kind) => {
                return NetworkShape::Graph(graph_shape(graphs, kind, config));
            }
            (.., EncoderKind::Identity) => {
                return NetworkShape::Identity(IdentityShape { features: self.inputs.width() });
            }
            _ if self.schema.texts().next().is_some() => return NetworkShape::Text(self.text_shape(config)),
            _ => {}
        }
        NetworkShape::Mlp(self.mlp_shape(config))
    }

    fn text_shape(&self, config: &Config) -> TextShape {
        let (encoder, text) = (&config.encoder, &config.encoder.text);
        let tower = |tokenizer: &data::Tokenizer| TowerShape {
            vocabulary: tokenizer.vocabulary(),
            length: tokenizer.length(),
            width: text.width.get(),
            heads: text.heads.get(),
            feed_forward: text.feed_forward.get(),
            blocks: text.blocks,
            pooling: text.pooling,
        };
        let beside = (self.inputs.width() > 0).then(|| MlpShape {
            features: text.beside.get() * encoder.members.get(),
            ..self.mlp_shape(config)
        });
        TextShape {
            towers: self.schema.texts().map(tower).collect(),
            beside,
            features: encoder.features.get(),
            members: encoder.members.get(),
            dropout: encoder.dropout.get(),
            word_dropout: text.word_dropout.get(),
        }
    }

    fn mlp_shape(&self, config: &Config) -> MlpShape {
        let encoder = &config.encoder;
        let tables = if encoder.tables { self.serial_columns() } else { Vec::new() };
        MlpShape {
            numeric: self.schema.numeric_width(),
            width: self.inputs.width(),
            hidden: encoder.hidden.iter().map(|units| units.get()).collect(),
            features: encoder.features.get(),
            members: encoder.members.get(),
            periodic: (encoder.frequencies > 0 && (1..=MOST_EMBEDDED).contains(&self.schema.numeric_width()))
                .then(|| PeriodicShape {
                    frequencies: encoder.frequencies,
                    width: encoder.embedding_width.get(),
                    scale: encoder.frequency_scale.get(),
                }),
            skip: encoder.skip,
            tables,
            table_width: 8,
            dropout: encoder.dropout.get(),
        }
    }

    /// A new encoder; with a skip path it begins as the ridge regression of the targets on the inputs.
    pub(crate) fn mlp(&self, shape: &MlpShape, targets: Targets<'_>, seed: u64) -> (Mlp, ReadoutStart) {
        let (width, c) = (shape.width, targets.outputs());
        let encoder = Mlp::new(shape.clone(), seed, &Device::default());
        if !shape.skip || c > shape.features / shape.members {
            return (encoder, ReadoutStart::Random);
        }
        match self.ridge(targets) {
            Some(values) => {
                let (beta, intercept) = values.split_at(width * c);
                (encoder.with_linear_start(beta, intercept), ReadoutStart::FirstFeatures)
            }
            None => (encoder, ReadoutStart::Random),
        }
    }

    /// Ridge regression of the targets on the inputs: `β [width, C]`, then the intercepts `[C]`.
    pub(crate) fn ridge(&self, targets: Targets<'_>) -> Option<Vec<f32>> {
        const WIDEST: usize = 512; // beyond it the normal equations cost more than they give
        const RIDGE: f64 = 1e-3;
        let (width, c) = (self.inputs.width(), targets.outputs());
        if width > WIDEST {
            return None;
        }
        let n = width + 1; // the last input is the constant
        let (mut gram, mut moments) = (vec![0.0; n * n], vec![0.0; n * c]);
        let share = 1.0 / self.train.len() as f64;
        for &row in &self.train {
            let x = self.inputs.gather(&[row], Mode::Predict);
            let x: Vec<f64> = x.iter().chain([&1.0]).map(|&x| f64::from(x)).collect();
            let y = targets.batch(&[row]);
            for (i, x_i) in x.iter().enumerate() {
                for (to, x_j) in gram[i * n..][..n].iter_mut().zip(&x) {
                    *to += share * x_i * x_j;
                }
                for output in 0..c {
                    moments[i * c + output] += share * x_i * f64::from(y[output]);
                }
            }
        }
        // Inputs of wildly different sizes may have no solution; the network can do without this help.
        let beta = gp::solve_ridge(&gram, &moments, RIDGE).ok()?;
        Some(beta.into_iter().map(|b| b as f32).collect())
    }

    /// Tables for columns that count something off in equal steps (a row number, a clock) and whose neighbours have
    /// similar targets: von Neumann's ratio `Σ(yᵢ₊₁−yᵢ)² / 2Σ(yᵢ−ȳ)²` in the column's order, 1 for unrelated ones.
    fn serial_columns(&self) -> Vec<TableShape> {
        const RATIO: f32 = 0.5;
        const ROWS_A_KNOT: [usize; 3] = [48, 12, 3];
        let Values::Numbers(numbers) = &self.values else { return Vec::new() };
        let Inputs::Table(matrix) = &self.inputs else { return Vec::new() };
        let (n, c) = (self.train.len(), self.schema.outputs());
        let mut tables = Vec::new();
        for column in 0..self.schema.numeric_width() {
            let mut rows = self.train.clone();
            let value = |row: usize| matrix.x[row * matrix.width + column];
            rows.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
            let mut distinct: Vec<f32> = rows.iter().map(|&row| value(row)).collect();
            distinct.dedup();
            if distinct.len() < 32 || distinct.len() <= n / 2 {
                continue;
            }
            let (low, high) = (distinct[0], distinct[distinct.len() - 1]);
            let smallest = distinct.windows(2).map(|pair| pair[1] - pair[0]).fold(f32::INFINITY, f32::min);
            let equal_steps = smallest * (distinct.len() - 1) as f32 > 0.2 * (high - low);
            let ratio = |output: usize| {
                let y = |row: usize| numbers[row * c + output];
                let steps = rows.windows(2).map(|pair| (y(pair[1]) - y(pair[0])).powi(2)).sum::<f32>();
                steps / (2.0 * rows.iter().map(|&row| y(row).powi(2)).sum::<f32>())
            };
            if equal_steps && (0..c).map(ratio).fold(f32::INFINITY, f32::min) < RATIO {
                tables.extend(ROWS_A_KNOT.map(|rows| {
                    let knots = (distinct.len() / rows).max(4);
                    TableShape { column, low, high, knots }
                }));
            }
        }
        tables
    }
}

/// What the configuration or the caller's data cannot have.
fn refusal(reason: &str) -> Error {
    let (file, reason) = ("configuration".into(), reason.into());
    crate::config::ConfigError::Invalid { file, reason }.into()
}

/// Rows to train on, for validation, for the test; by class where there are classes of all rows.
fn parts(rows: &[usize], classes: Option<Vec<u32>>, config: &Config) -> [Vec<usize>; 3] {
    let split = |rows: &[usize], share: f64, seed: u64| {
        let shares = [1.0 - share, share];
        let mut parts = match &classes {
            Some(classes) => {
                let of_rows: Vec<u32> = rows.iter().map(|&row| classes[row]).collect();
                data::split_by_class(rows, &of_rows, &shares, seed)
            }
            None => data::split(rows, &shares, seed),
        };
        let second = parts.pop().unwrap_or_default();
        (parts.pop().unwrap_or_default(), second)
    };
    let of = |share: Share| share.get();
    let (rest, test) = match config.data.folds {
        0 => split(rows, of(config.data.test_share), config.seed),
        folds => {
            let class = |&row: &usize| classes.as_ref().map_or(0, |classes| classes[row]);
            let of_rows: Vec<u32> = rows.iter().map(class).collect();
            let test = data::fold(rows, &of_rows, folds, config.data.fold, config.seed);
            (rows.iter().copied().filter(|row| test.binary_search(row).is_err()).collect(), test)
        }
    };
    let wanted = of(config.train.validation_share);
    let least = FEWEST_HELD_OUT.min(rest.len() / 3) as f64 / rest.len().max(1) as f64;
    let share = if wanted > 0.0 { wanted.max(least) } else { 0.0 };
    // Another stream of the same seed: the validation part must not follow from the test part.
    let (train, validation) = split(&rest, share, config.seed ^ 0x5eed);
    [train, validation, test]
}

/// The convolutional network that the configuration asks for.
fn cnn_shape(images: &ImageSchema, config: &Config) -> CnnShape {
    let encoder = &config.encoder;
    CnnShape {
        height: images.height,
        width: images.width,
        channels: images.channels,
        stem: encoder.stem,
        blocks: encoder.blocks.iter().map(|channels| channels.get()).collect(),
        convolutions: encoder.convolutions,
        group: CHANNELS_A_GROUP,
        features: encoder.features.get(),
    }
}

/// The network of graphs that the configuration asks for.
fn graph_shape(graphs: &GraphSchema, kind: EncoderKind, config: &Config) -> GraphShape {
    let (encoder, graph) = (&config.encoder, &config.encoder.graph);
    GraphShape {
        kind: if kind == EncoderKind::Bag { GraphKind::Bag } else { GraphKind::Gin },
        inputs: graphs.width(),
        width: graph.width.get(),
        rounds: graph.rounds,
        node_pooling: graph.node_pooling,
        graph_pooling: graph.graph_pooling,
        hidden: encoder.hidden.iter().map(|units| units.get()).collect(),
        features: encoder.features.get(),
        members: encoder.members.get(),
        dropout: encoder.dropout.get(),
    }
}

/// Weights of classes of so many training rows, one on average over the rows; empty where all are one.
fn weights(counts: &[usize], config: &Config) -> Vec<f64> {
    match config.train.class_weights {
        ClassWeights::Equal => Vec::new(),
        ClassWeights::Balanced => {
            let total: usize = counts.iter().sum();
            counts.iter().map(|&n| total as f64 / (counts.len() * n.max(1)) as f64).collect()
        }
    }
}
