//! What a model is worth on the test part, as a flat list of figures.
//!
//! ```text
//! numbers, of y/s with s the deviation of the training targets:
//!   rmse  mae  nll  crps            constant_nll = ½ log(2πe·rmse²), what a constant variance would give
//!   coverage_50 _90 _95             variance, variance_latent: mean of var y* and of var f*
//! classes: accuracy  nll  brier  ece  auroc  uncalibrated_nll  uncalibrated_ece  variance_latent
//! ```

use super::source::{Loaded, deviation};
use crate::commands::Failure;
use crate::commands::given::Known;
use data::TargetValues;
use ign::{Images, Inputs, Model, Prepared, Schema, Score, Scores};
use std::collections::BTreeMap;

/// All figures of a model.
pub(crate) fn figures(
    model: &Model,
    prepared: &Prepared,
    loaded: &Loaded,
) -> Result<BTreeMap<String, f64>, Failure> {
    let [train, validation, test] = prepared.parts();
    let figures = match (&loaded.test, &loaded.known) {
        (Some(test), _) => {
            let (inputs, y) = other_part(model, test)?;
            let all: Vec<usize> = (0..inputs.rows()).collect();
            of_classes(&model.score_classes(&inputs, &all, &y), mean_latent(model, &inputs, &all))
        }
        (None, Known::Table(table)) => {
            let name = model.header().schema.target_names().remove(0);
            let std = deviation(table, &name, &[train, validation].concat())?;
            let prediction = model.predict_rows(prepared.inputs(), test);
            let variance = |stds: &[f64]| mean(stds.iter().map(|s| (s / std).powi(2)));
            let variances = [variance(&prediction.std), variance(&prediction.std_latent)];
            of_numbers(held_out(model), std, variances)
        }
        (None, _) => of_classes(held_out(model), mean_latent(model, prepared.inputs(), test)),
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
fn mean_latent(model: &Model, inputs: &Inputs, rows: &[usize]) -> f64 {
    let prediction = model.predict_classes(inputs);
    let k = prediction.classes;
    let of_row = |&row: &usize| mean(prediction.latent_std[row * k..(row + 1) * k].iter().map(|s| s * s));
    mean(rows.iter().map(of_row))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

/// Inputs and classes of a test part of its own, through the model's schema.
fn other_part(model: &Model, part: &Known) -> Result<(Inputs, Vec<u32>), Failure> {
    match (&model.header().schema, part) {
        (Schema::Table(schema), Known::Table(table)) => {
            let (rows, _) = data::rows_with_targets(table, &schema.targets.names())?;
            let inputs = Inputs::from(schema.encode(table, Some(&rows))?);
            let TargetValues::Classes(labels) = schema.targets(table, Some(&rows))? else {
                unreachable!("a part of its own is of classes")
            };
            Ok((inputs, labels.into_iter().map(|label| label.unwrap_or(0)).collect()))
        }
        (Schema::Images(schema), Known::Images(set)) => {
            let set = schema.conform(set.clone())?;
            let y = set.labels.clone().unwrap_or_default();
            Ok((Inputs::Images(Images::new(set, schema, false)), y))
        }
        _ => unreachable!("both parts are of one kind"),
    }
}
