//! The report: what `ign report` and the end of a training run share.

use crate::failure::Failure;
use crate::input::render_example::ExampleRenderer;
use crate::output_file::make_folder;
use crate::training::train_run::ROUGH_CALIBRATION;
use crate::ui::output::note;
use crate::ui::text::count;
use crate::ui::times::Times;
use data::write_atomically;
use inducing::dataset::Prepared;
use inducing::explain::{Observed, RefineOptions};
use inducing::nn::EncoderShape;
use inducing::{Dataset, Model};
use report::{
    EvaluatedRows, Figure, GatherRequest, InducingRequest, InputSet, MAX_SHOWN_POINTS, NEAREST_EXAMPLES,
    RunRecord, gather,
};
use std::path::{Path, PathBuf};

/// With fewer rows, shares of them are rough.
const FEW_ROWS: usize = 30;
/// Refinement steps with a convolutional encoder, where they are slow; `ign inspect` takes more.
const CONVOLUTIONAL_STEPS: usize = 50;

/// What a reader should know about the rows behind the figures.
pub(crate) fn cautions(model: &Model, rows: usize) -> Vec<String> {
    let header = model.header();
    let mut notes = Vec::new();
    let calibrated = if header.ensemble.is_some() { header.rows[0] } else { header.rows[1] };
    if header.config.train.recalibrate && calibrated < ROUGH_CALIBRATION {
        notes.push(format!("only {} to calibrate on: uncertainties are rough", count(calibrated, "row")));
    }
    if rows < FEW_ROWS {
        notes.push(format!("only {} to evaluate on: scores and shares are rough", count(rows, "row")));
    }
    notes
}

/// Names of files, or their paths if two have the same name.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| file_name(path)).collect();
    let unique = names.iter().collect::<std::collections::BTreeSet<_>>().len() == names.len();
    if unique { names } else { paths.iter().map(|path| path.display().to_string()).collect() }
}

/// `models/price.ign` → `price.ign`
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The page's title.
pub(crate) fn title(paths: &[PathBuf], model: &Model) -> String {
    format!("{}: {}", names(paths).join(", "), model.header().schema.target_names().join(", "))
}

/// The program's name and version.
pub(crate) fn generator() -> String {
    format!("ign {}", env!("CARGO_PKG_VERSION"))
}

/// What the inducing points are shown with.
pub(crate) fn inducing_request<'a>(
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

/// Writes figures into a folder, each as SVG and, in a build that can, as PNG.
pub(crate) fn write_figures(
    folder: &Path,
    figures: impl IntoIterator<Item = (String, Figure)>,
) -> Result<(), Failure> {
    make_folder(folder)?;
    for (name, figure) in figures {
        let svg = folder.join(format!("{name}.svg"));
        write_atomically(&svg, |file| file.write_all(figure.svg.as_bytes()))?;
        #[cfg(feature = "png")]
        {
            let png = figure.png(2.0).map_err(|e| Failure::Usage(e.to_string()))?;
            write_atomically(&folder.join(format!("{name}.png")), |file| file.write_all(&png))?;
        }
    }
    if cfg!(not(feature = "png")) {
        note("figures are SVG only: this build lacks the feature `png`");
    }
    Ok(())
}

/// The report that training writes: on the test part, else on the validation part, else on the training part.
pub(crate) fn write_training_report(
    model: &Model,
    prepared: &Prepared,
    data: &Dataset,
    out: &Path,
    times: &Times,
    page: &Path,
) -> Result<(), Failure> {
    let [train, validation, test] = prepared.parts();
    let own = model.out_of_fold().filter(|_| test.is_empty());
    let (rows, kind, words) = match (test, validation, own) {
        ([], [], Some(own)) => (
            &own.rows[..],
            EvaluatedRows::OutOfFold,
            "the training rows, each predicted by members of the ensemble that never saw it",
        ),
        ([], [], None) => {
            (train, EvaluatedRows::Training, "the training rows themselves, which says little about new ones")
        }
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
    let renderer = ExampleRenderer::new(prepared.inputs(), data, &model.header().schema, None);
    let set = |rows, words: &str| InputSet {
        inputs: prepared.inputs(),
        rows,
        examples: &renderer,
        description: words.into(),
    };
    let observed: Observed = prepared.observed(rows);
    let record = gather(
        model,
        &GatherRequest {
            name: file_name(out),
            inducing: inducing_request(model, set(rows, words), set(train, "the training part")),
            observed: &observed,
            out_of_fold: own,
            part,
            seconds: times.by_epoch(model.header()),
            page_share: 1.0,
        },
    )?;
    let report = RunRecord {
        title: title(&[out.to_owned()], model),
        evaluated_on: words.into(),
        rows: kind,
        generator: generator(),
        notes: prepared.notices.iter().map(ToString::to_string).chain(cautions(model, rows.len())).collect(),
        models: vec![record],
    };
    let html = report::render(&report);
    Ok(write_atomically(page, |file| file.write_all(html.as_bytes()))?)
}
