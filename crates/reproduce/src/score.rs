//! Scores of a model on the test part, as a flat list of named figures.
//!
//! ```text
//! numbers, of y/s with s the deviation of the training targets:
//!   rmse  mae  nll  crps            constant_nll = ½ log(2πe·rmse²), what a constant variance would give
//!   coverage_50 _90 _95             variance, variance_latent: mean of var y* and of var f*
//! and of a test part that is unlike the training part:
//!   baseline_rmse _nll _crps _coverage_95   of one Gaussian for all rows, the training targets' mean and deviation
//!   familiarity                             its mean, of models that keep rows; one half within the data
//! classes: accuracy  nll  brier  ece  auroc  uncalibrated_nll  uncalibrated_ece  variance_latent
//! ```

use crate::Error;
use crate::datasets::{Loaded, moments};
use inducing::Dataset;
use inducing::dataset::{Inputs, Prepared};
use inducing::explain::Observed;
use inducing::metrics::Metrics;
use inducing::model::{Model, RegressionBatch, Score, Scores, TargetUse};
use std::collections::BTreeMap;

/// All figures of a model.
pub(crate) fn figures(
    model: &Model,
    prepared: &Prepared,
    loaded: &Loaded,
) -> Result<BTreeMap<String, f64>, Error> {
    let [train, validation, test] = prepared.parts();
    let classes = model.header().schema.classes().is_some();
    let figures = match (&loaded.test, loaded.train.table()) {
        (Some(test), Some(table)) if !classes => {
            let name = model.header().schema.target_names().remove(0);
            let (center, std) = moments(table, &name, &[train, validation].concat())?;
            let judged = judge(model, test)?;
            let n = judged.y.len();
            let baseline = Metrics::gaussian(&judged.y, &vec![center; n], &vec![std; n]);
            let mut figures = of_numbers(&judged.metrics, std, &judged.prediction);
            figures.extend([
                ("baseline_rmse", baseline.rmse / std),
                ("baseline_nll", baseline.nll - std.ln()),
                ("baseline_crps", baseline.crps / std),
                ("baseline_coverage_95", baseline.coverage_95),
            ]);
            if !judged.prediction.familiarity.is_empty() {
                figures.push(("familiarity", mean(&judged.prediction.familiarity)));
            }
            figures
        }
        (Some(test), _) => {
            let part = model.encode_data(test, TargetUse::Needed)?;
            let Some(Observed::Classes(y)) = part.observed else { unreachable!("classes were asked for") };
            let all: Vec<usize> = (0..part.inputs.rows()).collect();
            let scores = model.score_classes(&part.inputs, &all, &y)?;
            of_classes(&scores, mean_latent(model, &part.inputs, &all)?)
        }
        (None, Some(table)) => {
            let name = model.header().schema.target_names().remove(0);
            let (_, std) = moments(table, &name, &[train, validation].concat())?;
            of_numbers(number(held_out(model)), std, &model.predict_numbers(prepared.inputs(), test)?)
        }
        (None, None) => of_classes(held_out(model), mean_latent(model, prepared.inputs(), test)?),
    };
    Ok(figures.into_iter().filter(|(_, x)| x.is_finite()).map(|(name, x)| (name.to_owned(), x)).collect())
}

/// What a model says of rows whose target is known, and how good that is.
pub(crate) struct Judged {
    pub(crate) y: Vec<f64>,
    pub(crate) prediction: RegressionBatch,
    pub(crate) metrics: Metrics,
}

/// Judges a model of one number, in the target's own units.
pub(crate) fn judge(model: &Model, test: &Dataset) -> Result<Judged, Error> {
    let part = model.encode_data(test, TargetUse::Needed)?;
    let Some(Observed::Numbers(y)) = part.observed else { unreachable!("numbers were asked for") };
    let all: Vec<usize> = (0..part.inputs.rows()).collect();
    let prediction = model.predict_numbers(&part.inputs, &all)?;
    let metrics = *number(&model.score(&prediction, &y)?);
    Ok(Judged { y, prediction, metrics })
}

fn held_out(model: &Model) -> &Scores {
    model.header().metrics.get("test").expect("a part was held out")
}

fn number(scores: &Scores) -> &Metrics {
    let Some(Score::Number(metrics)) = scores.values().next() else { unreachable!("numbers were asked for") };
    metrics
}

fn of_numbers(m: &Metrics, std: f64, prediction: &RegressionBatch) -> Vec<(&'static str, f64)> {
    let rmse = m.rmse / std;
    let variance = |stds: &[f64]| mean(&stds.iter().map(|s| (s / std).powi(2)).collect::<Vec<_>>());
    vec![
        ("rmse", rmse),
        ("mae", m.mae / std),
        ("nll", m.nll - std.ln()),
        ("constant_nll", 0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E).ln() + rmse.ln()),
        ("crps", m.crps / std),
        ("coverage_50", m.coverage_50),
        ("coverage_90", m.coverage_90),
        ("coverage_95", m.coverage_95),
        ("variance", variance(&prediction.std)),
        ("variance_latent", variance(&prediction.std_latent)),
    ]
}

fn of_classes(scores: &Scores, latent: f64) -> Vec<(&'static str, f64)> {
    let Some(Score::Classes(m)) = scores.values().next() else { unreachable!("classes were asked for") };
    let mut figures = vec![
        ("accuracy", m.accuracy),
        ("nll", m.nll),
        ("brier", m.brier),
        ("ece", m.ece),
        ("variance_latent", latent),
    ];
    figures.extend(m.auroc.map(|area| ("auroc", area)));
    if let Some(before) = &m.uncalibrated {
        figures.extend([("uncalibrated_nll", before.nll), ("uncalibrated_ece", before.ece)]);
    }
    figures
}

/// Mean variance of the latent functions of classes, over some rows.
fn mean_latent(model: &Model, inputs: &Inputs, rows: &[usize]) -> Result<f64, Error> {
    let prediction = model.predict_classes(inputs, rows)?;
    Ok(mean(&prediction.latent_std.iter().map(|s| s * s).collect::<Vec<_>>()))
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean and population deviation.
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    (center, (squares / values.len() as f64).sqrt())
}
