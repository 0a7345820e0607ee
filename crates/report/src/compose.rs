//! Whole pages: of a model that was just trained, and of one that is judged on other inputs.

use inducing::data::Notice;
use inducing::dataset::Prepared;
use inducing::explain::RefineOptions;
use inducing::model::EncodedData;
use inducing::nn::EncoderShape;
use inducing::{Dataset, Error, Model};

use crate::examples::ExampleRenderer;
use crate::gather::{GatherRequest, InducingRequest, InputSet, MAX_SHOWN_POINTS, NEAREST_EXAMPLES, gather};
use crate::number_format::counted;
use crate::record::{EvaluatedRows, ModelRecord, RunRecord};

/// With fewer rows, calibration is rough.
pub const ROUGH_CALIBRATION: usize = 50;
/// With fewer rows, shares of them are rough.
const FEW_ROWS: usize = 30;
/// Refinement steps with a convolutional encoder, where they are slow.
const CONVOLUTIONAL_STEPS: usize = 50;

/// What a reader should know about the rows behind the figures, of which there are `rows`.
pub fn cautions(model: &Model, rows: usize) -> Vec<String> {
    let header = model.header();
    let rows_of = |n: usize| counted(n, "row", "rows");
    let mut notes = Vec::new();
    let calibrated = if header.ensemble.is_some() { header.rows[0] } else { header.rows[1] };
    if header.config.train.recalibrate && calibrated < ROUGH_CALIBRATION {
        notes.push(format!("only {} to calibrate on: uncertainties are rough", rows_of(calibrated)));
    }
    if rows < FEW_ROWS {
        notes.push(format!("only {} to evaluate on: scores and shares are rough", rows_of(rows)));
    }
    notes
}

/// `price.ign: price`
pub fn title(names: &[String], model: &Model) -> String {
    format!("{}: {}", names.join(", "), model.header().schema.target_names().join(", "))
}

/// What the inducing points are shown with.
fn inducing_request<'a>(
    model: &Model,
    evaluated: InputSet<'a>,
    reference: InputSet<'a>,
) -> InducingRequest<'a> {
    let mut options = RefineOptions::default();
    if matches!(model.header().encoder, EncoderShape::Cnn(_)) {
        options.steps = CONVOLUTIONAL_STEPS;
    }
    let (nearest, max_shown) = (NEAREST_EXAMPLES, MAX_SHOWN_POINTS);
    InducingRequest { evaluated, reference, nearest, max_shown, refine: Some(options) }
}

/// A model that was just trained, with what it learned from.
#[derive(Debug)]
pub struct TrainedModel<'a> {
    /// The model.
    pub model: &'a Model,
    /// What it learned from, encoded.
    pub prepared: &'a Prepared,
    /// The same as it was read.
    pub data: &'a Dataset,
    /// The model's name, usually that of its file.
    pub name: String,
    /// Duration of each epoch by network, where it is known.
    pub seconds: Vec<Vec<Option<f64>>>,
    /// Program and version.
    pub generator: String,
}

impl TrainedModel<'_> {
    /// The page: on the test part, else on the training rows out of fold, else on the validation part, else on the training part.
    pub fn page(self) -> Result<RunRecord, Error> {
        let Self { model, prepared, data, name, seconds, generator } = self;
        let [train, validation, test] = prepared.parts();
        let own = model.out_of_fold().filter(|_| test.is_empty());
        let (rows, kind, words) = match (test, validation, own) {
            ([], [], Some(own)) => (
                &own.rows[..],
                EvaluatedRows::OutOfFold,
                "the training rows, each predicted by members of the ensemble that never saw it",
            ),
            ([], [], None) => (
                train,
                EvaluatedRows::Training,
                "the training rows themselves, which says little about new ones",
            ),
            ([], validation, _) => (
                validation,
                EvaluatedRows::Validation,
                "the validation part (these rows also chose the epoch and calibrated the uncertainties)",
            ),
            (test, ..) => (test, EvaluatedRows::Unseen, "the test part, which was not used for training"),
        };
        let part = match kind {
            EvaluatedRows::Unseen => Some("test"),
            EvaluatedRows::Validation => Some("validation"),
            EvaluatedRows::OutOfFold => Some("out_of_fold"),
            EvaluatedRows::Training | EvaluatedRows::Given => None,
        };
        let examples = ExampleRenderer::new(prepared.inputs(), data, &model.header().schema, None);
        let set = |rows, words: &str| InputSet {
            inputs: prepared.inputs(),
            rows,
            examples: &examples,
            description: words.into(),
        };
        let record = gather(
            model,
            &GatherRequest {
                name: name.clone(),
                inducing: inducing_request(model, set(rows, words), set(train, "the training part")),
                observed: &prepared.observed(rows),
                out_of_fold: own,
                part,
                seconds,
                page_share: 1.0,
            },
        )?;
        let notes = prepared.notices.iter().map(Notice::to_string).chain(cautions(model, rows.len()));
        Ok(RunRecord {
            title: title(&[name], model),
            evaluated_on: words.into(),
            rows: kind,
            generator,
            notes: notes.collect(),
            models: vec![record],
        })
    }
}

/// A model that is judged on inputs with known targets.
#[derive(Debug)]
pub struct JudgedModel<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its name, usually that of its file.
    pub name: String,
    /// The inputs, with what was observed of them, and what they are in words.
    pub evaluated: (&'a EncodedData, &'a str),
    /// Where to look for the examples nearest to the inducing points, best the training data; by default the evaluated inputs.
    pub reference: Option<(&'a EncodedData, &'a str)>,
    /// Duration of each epoch by network, where it is known.
    pub seconds: Vec<Vec<Option<f64>>>,
    /// Share of the page that this model may fill, in (0, 1].
    pub page_share: f64,
}

impl JudgedModel<'_> {
    /// What a page shows of it.
    ///
    /// # Panics
    /// Where nothing was observed of the evaluated inputs.
    pub fn record(self) -> Result<ModelRecord, Error> {
        let Self { model, name, evaluated, reference, seconds, page_share } = self;
        let schema = &model.header().schema;
        let examples = ExampleRenderer::of_encoded(evaluated.0, schema);
        let rows: Vec<usize> = (0..evaluated.0.inputs.rows()).collect();
        let set = || input_set(evaluated, &rows, &examples);
        let gather_with = |reference: InputSet<'_>| {
            let inducing = inducing_request(model, set(), reference);
            let observed = evaluated.0.observed.as_ref().expect("targets were required");
            gather(
                model,
                &GatherRequest {
                    name,
                    inducing,
                    observed,
                    out_of_fold: None,
                    part: None,
                    seconds,
                    page_share,
                },
            )
        };
        match reference {
            None => gather_with(set()),
            Some(given) => {
                let (rows, examples): (Vec<usize>, _) =
                    ((0..given.0.inputs.rows()).collect(), ExampleRenderer::of_encoded(given.0, schema));
                gather_with(input_set(given, &rows, &examples))
            }
        }
    }
}

fn input_set<'a>(
    (data, words): (&'a EncodedData, &str),
    rows: &'a [usize],
    examples: &'a ExampleRenderer<'a>,
) -> InputSet<'a> {
    InputSet { inputs: &data.inputs, rows, examples, description: words.into() }
}
