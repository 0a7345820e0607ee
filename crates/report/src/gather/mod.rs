//! From a model and labelled inputs to everything a page shows of them. Only this folder calls the library; the rest
//! of the crate draws plain records.

mod baselines;
mod chance;
mod conditional;
mod inducing_points;
mod summaries;
mod targets;
mod thresholds;

pub use inducing_points::gather_inducing_points;

use crate::number_format::count;
use crate::record::*;
use inducing::Error;
use inducing::dataset::Inputs;
use inducing::explain::{
    ColumnImportance, Importance, Observed, PartialDependence, Projection, RefineOptions,
};
use inducing::model::{Features, Model, OutOfFoldPredictions};
use std::collections::BTreeMap;
use targets::{classification, regression};

/// Inputs that can be shown to a person.
pub trait ExampleSource {
    /// One input as a person can look at it.
    fn example(&self, row: usize) -> Example;
    /// Its true target in words; empty if unknown.
    fn truth(&self, row: usize) -> String;
    /// The same input after refinement.
    fn refined(&self, row: usize, to: RefinedValues<'_>) -> Example;
}

/// Values of an input that was optimised to lie closer to an inducing point.
#[derive(Debug, Clone, Copy)]
pub enum RefinedValues<'a> {
    /// `[H, W, C]`
    Image(&'a [u8]),
    /// A table row as the encoder sees it, `[width]`.
    Row {
        /// Before refinement.
        from: &'a [f32],
        /// After refinement.
        to: &'a [f32],
    },
}

/// Some rows of some inputs.
pub struct InputSet<'a> {
    /// All inputs.
    pub inputs: &'a Inputs,
    /// The rows to use.
    pub rows: &'a [usize],
    /// How inputs look, by row of `inputs`.
    pub examples: &'a dyn ExampleSource,
    /// Where they come from, in words: `the training split`.
    pub description: String,
}

impl InputSet<'_> {
    fn source(&self) -> DataSource {
        DataSource { description: self.description.clone(), inputs: self.rows.len() }
    }
}

/// What the inducing points are shown with.
pub struct InducingRequest<'a> {
    /// The evaluation data: these inputs are assigned to the inducing points.
    pub evaluated: InputSet<'a>,
    /// Where the nearest examples are looked for, best the training data.
    pub reference: InputSet<'a>,
    /// Nearest examples of each inducing point, at least one.
    pub nearest: usize,
    /// Inducing points that are shown with examples: those with most assigned inputs.
    pub max_shown: usize,
    /// How examples are refined towards the inducing points, if they are.
    pub refine: Option<RefineOptions>,
}

/// What [`gather`] needs besides the model.
pub struct GatherRequest<'a> {
    /// Name of the model.
    pub name: String,
    /// Evaluation data, and where examples come from.
    pub inducing: InducingRequest<'a>,
    /// True targets of the evaluated rows, at least one.
    pub observed: &'a Observed,
    /// Predictions of the evaluated rows where the model must not be asked: of training rows, out of fold.
    pub out_of_fold: Option<&'a OutOfFoldPredictions>,
    /// The part of the training data that the evaluated rows are, as [`ModelHeader::metrics`](inducing::model::ModelHeader)
    /// names it; `None` for other rows.
    pub part: Option<&'a str>,
    /// Duration of each epoch by network, where it is known.
    pub seconds: Vec<Vec<Option<f64>>>,
    /// Share of the page that this model may fill, in (0, 1].
    pub page_share: f64,
}

/// Inducing points that a page shows with examples.
pub const MAX_SHOWN_POINTS: usize = 64;
/// Nearest examples that a page shows of each inducing point.
pub const NEAREST_EXAMPLES: usize = 5;
/// Columns whose partial dependence is measured, the most important ones.
const DEPENDENCE_COLUMNS: usize = 6;
/// With fewer rows the principal components are those of rows and inducing points together.
const FEW_ROWS: usize = 10;

/// Collects the examples of one model, each row of each input set once.
struct ExampleCollector<'a> {
    examples: Vec<Example>,
    places: BTreeMap<(Origin, usize), usize>,
    request: &'a InducingRequest<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Evaluated,
    Reference,
}

impl<'a> ExampleCollector<'a> {
    fn new(request: &'a InducingRequest<'a>) -> Self {
        Self { examples: Vec::new(), places: BTreeMap::new(), request }
    }

    /// Index of a row's example.
    fn index(&mut self, origin: Origin, row: usize) -> usize {
        let set = match origin {
            Origin::Evaluated => &self.request.evaluated,
            Origin::Reference => &self.request.reference,
        };
        let examples = &mut self.examples;
        *self.places.entry((origin, row)).or_insert_with(|| {
            examples.push(set.examples.example(row));
            examples.len() - 1
        })
    }
}

/// Everything that a page shows of one model; an error where the model cannot read the inputs.
///
/// # Panics
/// When no row is evaluated.
pub fn gather(model: &Model, request: &GatherRequest<'_>) -> Result<ModelRecord, Error> {
    let evaluated = &request.inducing.evaluated;
    let features = model.encode(evaluated.inputs, evaluated.rows)?;
    let asked = model.latent(&features);
    let latent = request.out_of_fold.map_or(&asked, |own| &own.latent);
    let mut collector = ExampleCollector::new(&request.inducing);
    let first = evaluated.examples.example(evaluated.rows[0]);
    let max_points = ((crate::max_points(&first.body) as f64 * request.page_share) as usize).max(50);
    let (targets, plotted) = match request.observed {
        Observed::Numbers(y) => {
            let own = request.out_of_fold.and_then(|own| own.predictions.as_regression());
            let prediction = match own {
                Some(prediction) => prediction.clone(),
                None => model.numbers_at(evaluated.inputs, evaluated.rows, &features, &asked)?,
            };
            let before = model.uncalibrated_numbers(latent);
            regression(model, (&prediction, &before), (y, request.part), max_points, &mut collector)
        }
        Observed::Classes(y) => {
            let own = request.out_of_fold.and_then(|own| own.predictions.as_classification());
            let prediction = match own {
                Some(prediction) => prediction.clone(),
                None => model.classes_at(evaluated.inputs, evaluated.rows, &features, &asked)?,
            };
            classification(model, (&prediction, latent), (y, request.part), max_points, &mut collector)?
        }
    };
    let networks = inducing_points::networks(model, &features, &request.seconds, &mut collector)?;
    let importance = importance(model, request)?;
    let dependence = dependence(model, request, importance.as_ref())?;
    Ok(ModelRecord {
        name: request.name.clone(),
        facts: facts(model),
        columns: columns(model),
        examples: collector.examples,
        targets,
        features: feature_space(model, &features, &plotted),
        networks,
        importance,
        dependence,
        nearest_from: request.inducing.reference.source(),
        assigned_from: evaluated.source(),
    })
}

fn feature_space(model: &Model, features: &Features, plotted: &[usize]) -> Option<FeatureSpace> {
    let head = model.heads().next()?;
    let (phi, d) = (&features.networks[0], head.w.len() / head.b.len());
    let projection = match features.rows < FEW_ROWS {
        true => Projection::fit(&[&phi[..], &head.z].concat(), d),
        false => Projection::fit(phi, d),
    };
    let of_plotted: Vec<f32> = plotted.iter().flat_map(|&i| &phi[i * d..(i + 1) * d]).copied().collect();
    Some(FeatureSpace {
        dim: d,
        points: projection.apply(&of_plotted),
        inducing: projection.apply(&head.z),
        explained_variance_ratio: projection.explained,
    })
}

fn importance(model: &Model, request: &GatherRequest<'_>) -> Result<Option<PermutationImportance>, Error> {
    let InputSet { inputs, rows, .. } = request.inducing.evaluated;
    let measured = model.importance(inputs, rows, request.observed, model.header().config.seed)?;
    let Some(Importance { rows, shuffles, mut columns }) = measured else { return Ok(None) };
    columns.sort_by(|a, b| b.error.total_cmp(&a.error));
    let metric = match model.header().schema.numbers() {
        [] => "NLL (nats)".to_owned(),
        [only] => format!("RMSE ({})", only.name),
        _ => "mean RMSE (standardised targets)".to_owned(),
    };
    let effect = |c: ColumnImportance| ColumnEffect {
        name: c.name,
        error_increase: c.error,
        uncertainty_change: c.spread,
    };
    let columns = columns.into_iter().map(effect).collect();
    Ok(Some(PermutationImportance { rows, repeats: shuffles, metric, columns }))
}

/// Of the most important columns; of the only one where there is nothing to rank.
fn dependence(
    model: &Model,
    request: &GatherRequest<'_>,
    importance: Option<&PermutationImportance>,
) -> Result<Vec<PartialDependence>, Error> {
    let InputSet { inputs, rows, .. } = request.inducing.evaluated;
    let names = match importance {
        Some(importance) => importance.columns.iter().map(|column| column.name.clone()).collect(),
        None => columns(model),
    };
    let names: Vec<&str> = names.iter().take(DEPENDENCE_COLUMNS).map(String::as_str).collect();
    model.partial_dependence(inputs, rows, &names, model.header().config.seed)
}

/// Names of the cells of a row.
fn columns(model: &Model) -> Vec<String> {
    let table = model.header().schema.table();
    table.map_or(Vec::new(), |table| table.inputs.iter().map(|input| input.name.clone()).collect())
}

fn facts(model: &Model) -> Vec<(String, String)> {
    let header = model.header();
    let config = &header.config;
    let [train, validation, test] = header.rows.map(count);
    let names = header.schema.target_names();
    let mut facts = vec![
        (if names.len() == 1 { "Target" } else { "Targets" }, names.join(", ")),
        ("Encoder", header.encoder.describe()),
        ("Parameters", count(model.parameters())),
    ];
    if let Some(classes) = header.schema.classes() {
        facts.insert(1, ("Classes", count(classes.len())));
    }
    if let Some(head) = model.heads().next() {
        let m = head.z.len() / (head.w.len() / head.b.len());
        let each = match (header.others.is_empty(), model.is_one_vs_rest()) {
            (true, _) => "",
            (_, true) => " per class",
            _ => " per member",
        };
        facts.push(("Inducing points", format!("{m}{each}")));
    } else {
        facts.push(("Head", "softmax layer, no inducing points".into()));
    }
    if header.ensemble.is_some() {
        facts.push(("Members", format!("{}, cross-fitted", header.others.len() + 1)));
    }
    facts.push(("Rows", format!("{train} training, {validation} validation, {test} test")));
    facts.push(("Best epoch", header.best_epoch.to_string()));
    facts.push(("Seed", config.seed.to_string()));
    facts.push(("Trained with", format!("ign {}", header.ign_version)));
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}
