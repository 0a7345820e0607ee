//! Small data sets, small models, and a run with its log.

use data::{Column, ImageSet, Table};
use inducing::config::{ProblemKind, Settings};
use inducing::dataset::{Inputs, Matrix, Prepared};
use inducing::metrics::{ClassMetrics, Metrics};
use inducing::model::{ClassificationBatch, RegressionBatch, Score, TargetUse};
use inducing::nn::Mode;
use inducing::train::{EpochRecord, Event, Fit};
use inducing::{Config, Dataset, Error, Model, Trainer};

/// Settings with which a few hundred rows are learned in milliseconds.
pub(crate) const TINY: [&str; 11] = [
    "train.crossfit_folds=0",
    "neighbours.count=0",
    "train.pretrain_epochs=2",
    "train.pretrain_min_steps=0",
    "train.epochs=2",
    "gp.inducing=16",
    "encoder.members=1",
    "encoder.hidden=[16]",
    "encoder.features=8",
    "encoder.frequencies=4",
    "encoder.embedding_width=4",
];

/// Settings with which members of an ensemble learn the target `y` of a few hundred rows in a second.
pub(crate) const SMALL_MEMBERS: [&str; 8] = [
    "data.target=[\"y\"]",
    "train.pretrain_min_steps=250",
    "train.pretrain_epochs=5",
    "encoder.hidden=[32]",
    "encoder.frequencies=4",
    "encoder.embedding_width=4",
    "gp.inducing=16",
    "train.crossfit_folds=3",
];

/// The same, and then `more`.
pub(crate) fn small_members(kind: ProblemKind, more: &[&str]) -> Config {
    resolve(kind, "default", &[&SMALL_MEMBERS, more].concat()).expect("valid settings")
}

/// The configuration of some settings.
pub(crate) fn resolve(kind: ProblemKind, preset: &str, settings: &[&str]) -> Result<Config, Error> {
    let start = Settings::default().preset(preset);
    settings.iter().fold(start, |all, setting| all.set(*setting)).resolve(kind)
}

/// Tiny settings of a kind of problem, and then `more`.
pub(crate) fn tiny_of(kind: ProblemKind, more: &[&str]) -> Config {
    resolve(kind, "default", &[&TINY, more].concat()).expect("valid settings")
}

/// The same for a number, the target `y` of a table.
pub(crate) fn tiny(more: &[&str]) -> Config {
    tiny_of(ProblemKind::Regression, &[&["data.target=[\"y\"]"], more].concat())
}

/// The same for a class, the target `y` of a table.
pub(crate) fn tiny_classes(more: &[&str]) -> Config {
    tiny_of(ProblemKind::Classification, &[&["data.target=[\"y\"]"], more].concat())
}

/// The same for images.
pub(crate) fn tiny_images(more: &[&str]) -> Config {
    tiny_of(ProblemKind::Images, more)
}

/// A number in [0, 1) that looks random and is the same everywhere (SplitMix64).
pub(crate) fn noise(index: u64) -> f64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// A standard normal number of the same kind (Box–Muller).
pub(crate) fn normal(index: u64) -> f64 {
    let (u, v) = (1.0 - noise(2 * index), noise(2 * index + 1));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// `a`, `b`, `y = 2a − b + 0.3 ε` with normal ε; `seed` picks the rows.
pub(crate) fn linear(rows: usize, seed: u64) -> Table {
    let start = seed * 1_000_000;
    let column = |k: u64| (0..rows as u64).map(move |i| normal(start + 3 * i + k)).collect::<Vec<f64>>();
    let (a, b, e) = (column(0), column(1), column(2));
    let y = (0..rows).map(|i| 2.0 * a[i] - b[i] + 0.3 * e[i]).collect();
    table([("a", a), ("b", b), ("y", y)])
}

/// `a`, `b` and the class `y` of `2a − b + 0.5 ε`, by size: as many classes as there are names.
pub(crate) fn classes(rows: usize, names: &[&str], seed: u64) -> Table {
    let numbers = linear(rows, seed);
    let [Column::Number(a), Column::Number(b), Column::Number(y)] = numbers.columns() else {
        unreachable!("three columns of numbers")
    };
    let noise = |row: usize| 0.5 * normal(700_000_000 + seed * 1_000_000 + row as u64);
    let share = |row: usize| ((y[row] + noise(row)) / 8.0 + 0.5).clamp(0.0, 0.999); // y has a deviation of 2.3
    let codes = (0..rows).map(|row| Some((share(row) * names.len() as f64) as u32)).collect();
    let levels = names.iter().map(|name| (*name).to_owned()).collect();
    let columns = [
        ("a".to_owned(), Column::Number(a.clone())),
        ("b".to_owned(), Column::Number(b.clone())),
        ("y".to_owned(), Column::Category { codes, levels }),
    ];
    Table::new("memory", columns.into()).expect("distinct names and equal lengths")
}

/// Images of 6 × 6 pixels whose class is the brightest of three stripes; `channels` is 1 or 3.
pub(crate) fn stripes(count: usize, channels: usize, seed: u64) -> ImageSet {
    let (side, classes) = (6, 3);
    let label = |i: usize| (i % classes) as u32;
    let pixel = |at: usize| {
        let (i, x) = (at / (side * side * channels), at / channels % side);
        let bright = if x / 2 == label(i) as usize { 100.0 } else { 0.0 };
        (bright + 120.0 * noise(seed * 1_000_000 + at as u64)) as u8
    };
    ImageSet {
        pixels: (0..count * side * side * channels).map(pixel).collect(),
        height: side,
        width: side,
        channels,
        labels: Some((0..count).map(label).collect()),
        classes: ["left", "middle", "right"].map(String::from).into(),
        names: Vec::new(),
        origin: "memory".into(),
    }
}

/// A table of numbers.
pub(crate) fn table<const N: usize>(columns: [(&str, Vec<f64>); N]) -> Table {
    let columns = columns.into_iter().map(|(name, values)| (name.to_owned(), Column::Number(values)));
    Table::new("memory", columns.collect()).expect("distinct names and equal lengths")
}

/// What a run said on its way.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) records: Vec<EpochRecord>,
    pub(crate) notices: Vec<String>,
}

/// A table in memory, split and encoded.
pub(crate) fn prepared(table: &Table, config: &Config) -> Result<Prepared, Error> {
    prepared_data(&Dataset::from_table(table.clone()), config)
}

/// Images in memory, split and encoded.
pub(crate) fn prepared_images(set: &ImageSet, config: &Config) -> Result<Prepared, Error> {
    prepared_data(&Dataset::from_images(set.clone()), config)
}

/// Any data, split and encoded.
pub(crate) fn prepared_data(data: &Dataset, config: &Config) -> Result<Prepared, Error> {
    Ok(Trainer::new(data).config(config.clone()).prepare()?.0)
}

/// Trains on one thread, and writes down what is said.
pub(crate) fn fit(table: &Table, config: &Config) -> (Result<Model, Error>, Log) {
    let mut log = Log::default();
    let data = Dataset::from_table(table.clone());
    let result = on_threads(1, || {
        let listener = |event: Event<'_>| {
            match event {
                Event::Record { record, .. } => log.records.push(record.clone()),
                Event::Notice(text) => log.notices.push(text),
                _ => {}
            }
            true
        };
        Trainer::new(&data).config(config.clone()).on_event(listener).fit()
    });
    (result, log)
}

/// Runs `work` in a pool of so many threads.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

/// Trains on data made ready, encoder and process on so many threads.
pub(crate) fn trained(prepared: &Prepared, config: &Config, threads: usize) -> Model {
    match on_threads(threads, || prepared.fit(config, threads, None, &mut |_| true)) {
        Ok(Fit::Finished(model)) => *model,
        other => panic!("{other:?}"),
    }
}

/// The bytes of a model's file.
pub(crate) fn bytes(model: &Model) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("m.ign");
    model.save(&path).expect("a temporary folder is writable");
    std::fs::read(path).expect("just written")
}

/// Trains what can be trained.
pub(crate) fn model(table: &Table, config: &Config) -> Model {
    fit(table, config).0.expect("this run succeeds")
}

/// The rows of a table as a model sees them.
pub(crate) fn encoded(model: &Model, table: &Table) -> Inputs {
    encoded_data(model, &Dataset::from_table(table.clone()))
}

/// Images as a model sees them.
pub(crate) fn encoded_images(model: &Model, set: &ImageSet) -> Inputs {
    encoded_data(model, &Dataset::from_images(set.clone()))
}

/// Any data as a model sees it.
pub(crate) fn encoded_data(model: &Model, data: &Dataset) -> Inputs {
    model.encode_data(data, TargetUse::Ignored).expect("the kind of data that was trained on").inputs
}

/// The numbers of all rows.
pub(crate) fn values(inputs: &Inputs) -> Vec<f32> {
    inputs.numbers(inputs.width(), &all(inputs), Mode::Predict).expect("rows of numbers")
}

/// All rows.
pub(crate) fn all(inputs: &Inputs) -> Vec<usize> {
    (0..inputs.rows()).collect()
}

/// The same rows, in another order.
pub(crate) fn reordered(inputs: &Inputs, order: &[usize]) -> Inputs {
    let x = inputs.numbers(inputs.width(), order, Mode::Predict).expect("rows of numbers");
    Inputs::Table(Matrix { x, width: inputs.width(), ..Matrix::default() })
}

/// Predicted numbers of all rows.
pub(crate) fn predict(model: &Model, inputs: &Inputs) -> RegressionBatch {
    model.predict_numbers(inputs, &all(inputs)).expect("a model of numbers")
}

/// Predicted classes of all rows.
pub(crate) fn predict_classes(model: &Model, inputs: &Inputs) -> ClassificationBatch {
    model.predict_classes(inputs, &all(inputs)).expect("a model of classes")
}

/// Scores of a number.
pub(crate) fn number(score: &Score) -> Metrics {
    match score {
        Score::Number(metrics) => *metrics,
        Score::Classes(_) => panic!("{score:?} is of classes"),
    }
}

/// Scores of classes.
pub(crate) fn class_scores(score: &Score) -> &ClassMetrics {
    match score {
        Score::Classes(metrics) => metrics,
        Score::Number(_) => panic!("{score:?} is of a number"),
    }
}

/// A column of numbers.
pub(crate) fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name).expect("a column of this name") {
        Column::Number(values) => values,
        other => panic!("`{name}` is {other:?}"),
    }
}
