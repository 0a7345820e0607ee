//! Intervals cover what they promise on rows that were never seen.

use crate::fixture::{encoded, linear, model, noise, normal, number, numbers, predict, table, tiny};
use data::Table;
use inducing::metrics::Metrics;

/// Runs that are averaged.
const RUNS: u64 = 6;

/// Mean scores of new rows over several runs with rows of their own.
fn scores(rows: impl Fn(u64) -> Table, more: &[&str]) -> Metrics {
    let run = |run: u64| {
        let (train, test) = (rows(2 * run), rows(2 * run + 1));
        let seed = format!("seed={run}");
        let model = model(&train, &tiny(&[more, &[&seed]].concat()));
        let prediction = predict(&model, &encoded(&model, &test));
        number(&model.score(&prediction, numbers(&test, "y")).expect("as many")["y"])
    };
    let all: Vec<Metrics> = (0..RUNS).map(run).collect();
    let mean = |f: fn(&Metrics) -> f64| all.iter().map(f).sum::<f64>() / RUNS as f64;
    Metrics {
        rmse: mean(|m| m.rmse),
        coverage_50: mean(|m| m.coverage_50),
        coverage_90: mean(|m| m.coverage_90),
        coverage_95: mean(|m| m.coverage_95),
        sharpness: mean(|m| m.sharpness),
        ..all[0]
    }
}

/// 240 validation rows fix the interval's ends: the coverage of 90 % then scatters by √(0.9·0.1/240) = 0.02 from run to
/// run (2,000 test rows add 0.007), that of 50 % by 0.034; 40 runs elsewhere have shown just that, around 0.899 and
/// 0.496. The mean of six scatters by 0.009 and 0.014; this is more than three such deviations.
const TOLERANCE: f64 = 0.03;

#[track_caller]
fn assert_covers(scores: &Metrics) {
    assert!((scores.coverage_90 - 0.9).abs() < TOLERANCE, "{scores:?}");
    assert!((scores.coverage_95 - 0.95).abs() < TOLERANCE, "{scores:?}");
    assert!((scores.coverage_50 - 0.5).abs() < 1.5 * TOLERANCE, "{scores:?}");
}

#[test]
fn intervals_cover_new_rows_of_a_linear_model_with_normal_noise() {
    let scores = scores(|seed| linear(2000, seed), &["train.epochs=5"]);
    assert_covers(&scores);
    // The noise is 0.3; nothing can be better, and a linear start should not be much worse.
    assert!(scores.rmse > 0.28 && scores.rmse < 0.36, "{scores:?}");
    assert!((scores.sharpness - scores.rmse).abs() < 0.05, "{scores:?}"); // the claimed deviation is the real one
}

/// Exponential noise: no Gaussian interval covers both ends, the empirical quantiles do.
#[test]
fn intervals_cover_new_rows_when_the_noise_is_skewed() {
    let skewed = |seed: u64| {
        let start = 1_000_000 * (seed + 100);
        let a: Vec<f64> = (0..2000).map(|i| normal(start + i)).collect();
        let y = a.iter().zip(0..).map(|(a, i)| a - (1.0 - noise(start + 500_000 + i)).ln()).collect();
        table([("a", a), ("y", y)])
    };
    assert_covers(&scores(skewed, &["train.epochs=5"]));
}

#[test]
fn recalibration_repairs_a_model_that_trusts_itself_too_much() {
    // No training to speak of: the process keeps the noise and variance that it began with.
    let idle = ["train.epochs=1", "train.learning_rate=1e-9", "train.pretrain_epochs=0", "gp.noise=0.01"];
    let rows = |seed| linear(2000, seed);
    let without = scores(rows, &[&idle[..], &["train.recalibrate=false"]].concat());
    assert!((without.coverage_90 - 0.9).abs() > 2.0 * TOLERANCE, "the test needs a bad model: {without:?}");
    assert_covers(&scores(rows, &idle));
}
