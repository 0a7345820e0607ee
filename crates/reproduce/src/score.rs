//! Scores of a model on the test part, as a flat list of named figures.
//!
//! ```text
//! numbers, of y/s with s the deviation of the training targets:
//!   rmse  mae  nll  crps            constant_nll = ½ log(2πe·rmse²), what a constant variance would give
//!   coverage_50 _90 _95             variance, variance_latent: mean of var y* and of var f*
//! classes: accuracy  nll  brier  ece  auroc  uncalibrated_nll  uncalibrated_ece  variance_latent
//! ```

use crate::Error;
use crate::datasets::{Loaded, deviation};
use inducing::dataset::{Inputs, Prepared};
use inducing::explain::Observed;
use inducing::model::{Model, Score, Scores, TargetUse};
use std::collections::BTreeMap;

/// All figures of a model.
pub(crate) fn figures(
    model: &Model,
    prepared: &Prepared,
    loaded: &Loaded,
) -> Result<BTreeMap<String, f64>, Error> {
    let [train, validation, test] = prepared.parts();
    let figures = match (&loaded.test, loaded.train.table()) {
        (Some(test), _) => {
            let part = model.encode_data(test, TargetUse::Needed)?;
            let Some(Observed::Classes(y)) = part.observed else {
                unreachable!("only classes come with a published test part")
            };
            let all: Vec<usize> = (0..part.inputs.rows()).collect();
            let scores = model.score_classes(&part.inputs, &all, &y)?;
            of_classes(&scores, mean_latent(model, &part.inputs, &all)?)
        }
        (None, Some(table)) => {
            let name = model.header().schema.target_names().remove(0);
            let std = deviation(table, &name, &[train, validation].concat())?;
            let prediction = model.predict_numbers(prepared.inputs(), test)?;
            let variance = |stds: &[f64]| mean(stds.iter().map(|s| (s / std).powi(2)));
            let variances = [variance(&prediction.std), variance(&prediction.std_latent)];
            of_numbers(held_out(model), std, variances)
        }
        (None, None) => of_classes(held_out(model), mean_latent(model, prepared.inputs(), test)?),
    };
    Ok(figures.into_iter().filter(|(_, x)| x.is_finite()).map(|(name, x)| (name.to_owned(), x)).collect())
}

fn held_out(model: &Model) -> &Scores {
    model.header().metrics.get("test").expect("a part was held out")
}

fn of_numbers(scores: &Scores, std: f64, [y, latent]: [f64; 2]) -> Vec<(&'static str, f64)> {
    let Some(Score::Number(m)) = scores.values().next() else { unreachable!("numbers were asked for") };
    let rmse = m.rmse / std;
    vec![
        ("rmse", rmse),
        ("mae", m.mae / std),
        ("nll", m.nll - std.ln()),
        ("constant_nll", 0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E).ln() + rmse.ln()),
        ("crps", m.crps / std),
        ("coverage_50", m.coverage_50),
        ("coverage_90", m.coverage_90),
        ("coverage_95", m.coverage_95),
        ("variance", y),
        ("variance_latent", latent),
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
    Ok(mean(prediction.latent_std.iter().map(|s| s * s)))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}
