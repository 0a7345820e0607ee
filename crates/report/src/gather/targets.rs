//! Predictions against the truth: points, curves and histograms of each target.

use super::Pool;
use crate::pick::{histogram, pick, risk_curve};
use crate::record::*;
use ign::calibration::Calibration;
use ign::{ClassPrediction, Latent, Model, Prediction, Score};

/// Levels of the intervals whose coverage is measured.
const LEVELS: [f64; 13] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99];

/// Records of all numbers, and the positions among the judged rows that are drawn.
pub(super) fn numbers(
    model: &Model,
    latent: &Latent,
    y: &[f64],
    most: usize,
    pool: &mut Pool<'_>,
) -> (Vec<TargetRecord>, Vec<usize>) {
    let c = model.outputs();
    let (prediction, before) = (model.numbers(latent), model.uncalibrated_numbers(latent));
    let targets = model.header().schema.numbers();
    let mean_over_targets = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let row = |i: usize| (0..c).map(|k| of(i * c + k) / targets[k].std).sum();
        (0..y.len() / c).map(row).collect()
    };
    let uncertain = mean_over_targets(&|at| prediction.std[at]);
    let wrong = mean_over_targets(&|at| (y[at] - prediction.mean[at]).abs());
    let drawn = pick(&uncertain, &wrong, most);
    let rows = pool.around.judged.rows;
    let places: Vec<usize> = drawn.iter().map(|&i| pool.judged(rows[i])).collect();
    let mut scores = model.score(&prediction, y);
    let record = |k: usize| {
        let name = targets[k].name.clone();
        let Some(Score::Number(metrics)) = scores.remove(&name) else {
            unreachable!("numbers have scores of numbers")
        };
        let of = |values: &[f64]| -> Vec<f64> { values.iter().skip(k).step_by(c).copied().collect() };
        let column = |p: &Prediction| [of(&p.mean), of(&p.std)];
        let (y, [mean, std], [_, std_before]) = (of(y), column(&prediction), column(&before));
        let point = |(&i, &example): (&usize, &usize)| NumberPoint {
            example,
            truth: y[i],
            mean: mean[i],
            std: std[i],
            std_latent: prediction.std_latent[i * c + k],
        };
        let within = |calibration: &Calibration, std: &[f64], level: f64| {
            let (low, high) = calibration.interval(level);
            let inside = |i: &usize| (mean[*i] + low * std[*i]..=mean[*i] + high * std[*i]).contains(&y[*i]);
            (0..y.len()).filter(inside).count() as f64 / y.len() as f64
        };
        let coverage = |level: f64| Coverage {
            level,
            after: within(&model.header().calibration[k], &std, level),
            before: within(&Calibration::none(), &std_before, level),
        };
        // In units of the largest error, whose square always exists.
        let unit = y.iter().zip(&mean).map(|(y, mean)| (y - mean).abs()).fold(f64::MIN_POSITIVE, f64::max);
        let squares: Vec<f64> = y.iter().zip(&mean).map(|(y, mean)| ((y - mean) / unit).powi(2)).collect();
        TargetRecord::Number(NumberRecord {
            name,
            metrics,
            points: drawn.iter().zip(&places).map(point).collect(),
            coverage: LEVELS.map(coverage).to_vec(),
            risk: risk_curve(&std, &squares)
                .into_iter()
                .map(|[share, mse]| [share, unit * mse.sqrt()])
                .collect(),
            spread: histogram(&std),
        })
    };
    ((0..c).map(record).collect(), drawn)
}

/// The record of the classes, and the positions among the judged rows that are drawn.
pub(super) fn classes(
    model: &Model,
    latent: &Latent,
    y: &[u32],
    most: usize,
    pool: &mut Pool<'_>,
) -> (Vec<TargetRecord>, Vec<usize>) {
    let prediction = model.classes(latent);
    let metrics = model.class_metrics(latent, y);
    let k = prediction.classes;
    let (labels, entropy): (Vec<usize>, _) = (prediction.labels().collect(), prediction.entropy());
    let p = |i: usize, class: usize| prediction.p[i * k + class];
    let unsure: Vec<f64> = (0..y.len()).map(|i| 1.0 - p(i, labels[i])).collect();
    let wrong: Vec<f64> = (0..y.len()).map(|i| 1.0 - p(i, y[i] as usize)).collect();
    let mistakes: Vec<f64> = (0..y.len()).map(|i| f64::from(u8::from(labels[i] != y[i] as usize))).collect();
    let drawn = pick(&entropy, &wrong, most);
    let has_variance = model.heads().next().is_some();
    let rows = pool.around.judged.rows;
    let point = |&i: &usize| {
        let latent = i * k + if k == 2 { 1 } else { labels[i] };
        let ClassPrediction { latent_mean, latent_std, .. } = &prediction;
        ClassPoint {
            example: pool.judged(rows[i]),
            truth: y[i] as usize,
            predicted: labels[i],
            p: p(i, labels[i]),
            p_truth: p(i, y[i] as usize),
            entropy: entropy[i],
            latent_mean: latent_mean[latent],
            latent_std: latent_std[latent],
        }
    };
    let record = ClassRecord {
        name: model.header().schema.target_names().remove(0),
        classes: model.header().schema.classes().unwrap_or_default().to_vec(),
        metrics,
        points: drawn.iter().map(point).collect(),
        risk: risk_curve(&unsure, &mistakes),
        spread: histogram(&entropy),
        has_variance,
    };
    (vec![TargetRecord::Classes(record)], drawn)
}
