//! Small tables, small models, and a run with its diary.

use data::{Column, Table};
use ign::encoder::Mode;
use ign::metrics::Metrics;
use ign::train::EpochRecord;
use ign::{Config, Error, Fit, FitEvent, Inputs, Kind, Matrix, Model, Prepared, Score};

/// Settings with which a few hundred rows are learned in milliseconds.
pub(crate) const TINY: [&str; 9] = [
    "train.warm_epochs=2",
    "train.warm_steps=0",
    "train.epochs=2",
    "gp.inducing=16",
    "encoder.members=1",
    "encoder.hidden=[16]",
    "encoder.features=8",
    "encoder.frequencies=4",
    "encoder.embedding_width=4",
];

/// Tiny settings for the target `y`, and then `more`.
pub(crate) fn tiny(more: &[&str]) -> Config {
    let overrides: Vec<String> =
        TINY.iter().chain(&["data.target=[\"y\"]"]).chain(more).map(|s| (*s).into()).collect();
    Config::resolve(Kind::Numbers, None, None, &overrides).expect("a valid configuration")
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

/// A table of numbers.
pub(crate) fn table<const N: usize>(columns: [(&str, Vec<f64>); N]) -> Table {
    let columns = columns.into_iter().map(|(name, values)| (name.to_owned(), Column::Number(values)));
    Table::new("memory", columns.collect()).expect("distinct names and equal lengths")
}

/// What a run said on its way.
#[derive(Debug, Default)]
pub(crate) struct Diary {
    pub(crate) records: Vec<EpochRecord>,
    pub(crate) notices: Vec<String>,
}

/// Trains, and writes down what is said.
pub(crate) fn fit(table: &Table, config: &Config) -> (Result<Model, Error>, Diary) {
    let mut diary = Diary::default();
    let run = |diary: &mut Diary| {
        let prepared = Prepared::new(table, config)?;
        let fit = prepared.fit(config, 1, None, &mut |event| {
            match event {
                FitEvent::Record { record, .. } => diary.records.push(record.clone()),
                FitEvent::Notice(text) => diary.notices.push(text),
                _ => {}
            }
            true
        })?;
        match fit {
            Fit::Finished(model) => Ok(*model),
            Fit::Interrupted(_) => unreachable!("the listener never asks for a stop"),
        }
    };
    let result = run(&mut diary);
    (result, diary)
}

/// Trains what can be trained.
pub(crate) fn model(table: &Table, config: &Config) -> Model {
    fit(table, config).0.expect("this run succeeds")
}

/// The rows of a table as a model sees them.
pub(crate) fn encoded(model: &Model, table: &Table) -> Inputs {
    let schema = model.header().schema.table().expect("a model of a table");
    schema.encode(table, None).expect("the columns of the training table").into()
}

/// The same rows, in another order.
pub(crate) fn reordered(inputs: &Inputs, order: &[usize]) -> Inputs {
    Inputs::Table(Matrix { x: inputs.gather(order, Mode::Predict), width: inputs.width() })
}

/// Scores of a number.
pub(crate) fn number(score: &Score) -> Metrics {
    match score {
        Score::Number(metrics) => *metrics,
        Score::Classes(_) => panic!("{score:?} is of classes"),
    }
}

/// A column of numbers.
pub(crate) fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name).expect("a column of this name") {
        Column::Number(values) => values,
        other => panic!("`{name}` is {other:?}"),
    }
}
