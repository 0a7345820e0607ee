//! From a model and inputs whose truth is known to all that a page shows of them.

mod inducing;
mod targets;

pub use inducing::inducing;

use crate::number::count;
use crate::record::*;
use ign::{Features, Inputs, Model, Observed, Projection, RefineOptions};
use inducing::networks;
use std::collections::BTreeMap;
use targets::{classes, numbers};

/// Inputs that can be shown.
pub trait Show {
    /// One of them as a person can look at it.
    fn example(&self, row: usize) -> Example;
    /// What is known of it, in words.
    fn truth(&self, row: usize) -> String;
    /// One of them after it was moved: the bytes of a picture, or the numbers of a row as the network sees them.
    fn moved(&self, row: usize, to: Moved<'_>) -> Example;
}

/// Where an input was moved to.
pub enum Moved<'a> {
    /// `[H, W, C]`
    Picture(&'a [u8]),
    /// `[width]`, before and after.
    Row {
        /// Before.
        from: &'a [f32],
        /// After.
        to: &'a [f32],
    },
}

/// Inputs, some of which are meant.
pub struct Side<'a> {
    /// All of them.
    pub inputs: &'a Inputs,
    /// Those that are meant.
    pub rows: &'a [usize],
    /// How they look; asked by rows of `inputs`.
    pub show: &'a dyn Show,
    /// Where they come from, in words.
    pub words: String,
}

/// Inducing points and what they are shown with.
pub struct Around<'a> {
    /// Inputs that lean on the points: what the model is judged on.
    pub judged: Side<'a>,
    /// Where the nearest examples are looked for.
    pub known: Side<'a>,
    /// Nearest examples of each point, at least one.
    pub nearest: usize,
    /// Points that are shown with examples: those that most inputs lean on.
    pub shown: usize,
    /// How examples are moved towards the points, if they are.
    pub refine: Option<RefineOptions>,
}

/// What is asked of a page.
pub struct Request<'a> {
    /// The model's name.
    pub name: String,
    /// What it is judged on, and where examples come from.
    pub around: Around<'a>,
    /// What was observed, of `around.judged.rows`, at least one.
    pub observed: &'a Observed,
    /// Seconds of each epoch, by network, where they are known.
    pub seconds: Vec<Vec<Option<f64>>>,
    /// Part of the page that this model may fill, in (0, 1].
    pub share: f64,
}

/// Inducing points that a page shows with their examples; the others only count.
pub const SHOWN: usize = 64;
/// Rows at least for directions of their own.
const FEW: usize = 10;
/// Nearest examples of each that a page shows.
pub const NEAREST: usize = 5;

/// The pool of examples of one model, each row of each side once.
struct Pool<'a> {
    examples: Vec<Example>,
    places: BTreeMap<(bool, usize), usize>,
    around: &'a Around<'a>,
}

impl<'a> Pool<'a> {
    fn new(around: &'a Around<'a>) -> Self {
        Self { examples: Vec::new(), places: BTreeMap::new(), around }
    }

    fn judged(&mut self, row: usize) -> usize {
        let show = self.around.judged.show;
        self.place((false, row), || show.example(row))
    }

    fn known(&mut self, row: usize) -> usize {
        let show = self.around.known.show;
        self.place((true, row), || show.example(row))
    }

    fn place(&mut self, key: (bool, usize), make: impl FnOnce() -> Example) -> usize {
        let (places, examples) = (&mut self.places, &mut self.examples);
        *places.entry(key).or_insert_with(|| {
            examples.push(make());
            examples.len() - 1
        })
    }
}

/// All that a page shows of one model.
pub fn gather(model: &Model, request: &Request<'_>) -> ModelRecord {
    let judged = &request.around.judged;
    let features = model.encode(judged.inputs, judged.rows);
    let latent = model.latent(&features);
    let mut pool = Pool::new(&request.around);
    let first = judged.show.example(judged.rows[0]);
    let most = ((crate::drawn(&first.body) as f64 * request.share) as usize).max(50);
    let (targets, drawn) = match request.observed {
        Observed::Numbers(y) => numbers(model, &latent, y, most, &mut pool),
        Observed::Classes(y) => classes(model, &latent, y, most, &mut pool),
    };
    let networks = networks(model, &features, &request.seconds, &mut pool);
    let feature_space = feature_space(model, &features, &drawn);
    ModelRecord {
        name: request.name.clone(),
        facts: facts(model),
        columns: columns(model),
        examples: pool.examples,
        targets,
        features: feature_space,
        networks,
        importance: importance(model, request),
        neighbours_from: (request.around.known.words.clone(), request.around.known.rows.len()),
        leaning_from: (judged.words.clone(), judged.rows.len()),
    }
}
fn feature_space(model: &Model, features: &Features, drawn: &[usize]) -> Option<FeatureSpace> {
    let head = model.heads().next()?;
    let (phi, d) = (&features.networks[0], head.w.len() / head.b.len());
    // A handful of rows has no directions of its own; the points then lend theirs.
    let few = features.rows < FEW;
    let projection =
        if few { Projection::fit(&[&phi[..], &head.z].concat(), d) } else { Projection::fit(phi, d) };
    let of_drawn: Vec<f32> = drawn.iter().flat_map(|&i| &phi[i * d..(i + 1) * d]).copied().collect();
    Some(FeatureSpace {
        dim: d,
        points: projection.apply(&of_drawn),
        inducing: projection.apply(&head.z),
        explained: projection.explained,
    })
}

fn importance(model: &Model, request: &Request<'_>) -> Option<Importance> {
    let judged = &request.around.judged;
    let measured =
        model.importance(judged.inputs, judged.rows, request.observed, model.header().config.seed)?;
    let ign::Importance { rows, shuffles, mut columns } = measured;
    columns.sort_by(|a, b| b.error.total_cmp(&a.error));
    let measure = match model.header().schema.numbers() {
        [] => "NLL (nats)".to_owned(),
        [only] => format!("RMSE of {}", only.name),
        _ => "RMSE in deviations of the targets".to_owned(),
    };
    let column =
        |c: ign::ColumnImportance| ColumnImportance { name: c.name, error: c.error, spread: c.spread };
    Some(Importance { rows, shuffles, measure, columns: columns.into_iter().map(column).collect() })
}

/// Names of a row's cells.
fn columns(model: &Model) -> Vec<String> {
    let table = model.header().schema.table();
    table.map_or(Vec::new(), |table| table.inputs.iter().map(|input| input.name.clone()).collect())
}

fn facts(model: &Model) -> Vec<(String, String)> {
    let header = model.header();
    let config = &header.config;
    let [train, validation, test] = header.rows.map(count);
    let mut facts = vec![
        ("predicts", header.schema.target_names().join(", ")),
        ("network", header.encoder.describe()),
        ("parameters", count(model.parameters())),
    ];
    if let Some(classes) = header.schema.classes() {
        facts.insert(1, ("classes", count(classes.len())));
    }
    if let Some(head) = model.heads().next() {
        let m = head.z.len() / (head.w.len() / head.b.len());
        let each = if header.others.is_empty() { "" } else { " for each class" };
        facts.push(("inducing points", format!("{m}{each}")));
    } else {
        facts.push(("head", "a softmax layer, without inducing points".into()));
    }
    facts.push(("rows", format!("{train} to train on, {validation} for validation, {test} for the test")));
    facts.push(("kept epoch", header.best_epoch.to_string()));
    facts.push(("seed", config.seed.to_string()));
    facts.push(("trained by", format!("ign {}", header.ign_version)));
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}
