//! A noisy wave with a gap in its data: what a model says in the gap, beyond the ends, and where the noise grows.
//!
//! ```text
//! y = sin(2.2 x) + 0.3 x + σ(x) ε,   σ = 0.08, from x = 1.5 on 0.30,   ε ~ N(0, 1)
//! 1,600 draws of x in −4 … 4, less those in the gap −1.9 … −0.7
//! ```
//! The run's seed draws the rows: a repeat is another sample.

use crate::Error;
use crate::datasets::Loaded;
use crate::score::{judge, mean, mean_and_deviation};
use data::{Column, Table};
use inducing::metrics::{Metrics, gaussian_nll};
use inducing::{Dataset, Model};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// No training row lies between these.
pub(crate) const GAP: (f64, f64) = (-1.9, -0.7);
/// Training rows lie between these.
const ENDS: (f64, f64) = (-4.0, 4.0);
/// Rows beyond the ends lie between these.
pub(crate) const FAR: (f64, f64) = (-5.0, 5.0);
/// From here on the noise is larger.
const NOISY: f64 = 1.5;
/// Draws of training rows, and of each test part.
const DRAWS: usize = 1600;
/// Points of the curve.
const POINTS: usize = 201;

/// Mean, lower and upper ends of the intervals of 90 and of 50 %, at one point of the curve.
pub(crate) type Point = [f64; 5];

/// What the rows are drawn around.
pub(crate) fn truth(x: f64) -> f64 {
    (2.2 * x).sin() + 0.3 * x
}

/// Deviation of the noise.
fn noise(x: f64) -> f64 {
    if x > NOISY { 0.30 } else { 0.08 }
}

fn in_gap(x: f64) -> bool {
    GAP.0 < x && x < GAP.1
}

/// Which rows are drawn; each part has random numbers of its own.
#[derive(Clone, Copy)]
enum Part {
    Train,
    Inside,
    Gap,
    Beyond,
}

/// Inputs and targets of a part.
fn draw(part: Part, seed: u64) -> Vec<(f64, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(part as u64);
    let (low, high) = match part {
        Part::Train | Part::Inside => ENDS,
        Part::Gap => GAP,
        Part::Beyond => FAR,
    };
    let row = |_| {
        let x = low + (high - low) * rng.random::<f64>();
        // Box–Muller.
        let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
        let normal = (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos();
        (x, truth(x) + noise(x) * normal)
    };
    let rows = (0..DRAWS).map(row);
    match part {
        Part::Train | Part::Inside => rows.filter(|(x, _)| !in_gap(*x)).collect(),
        Part::Gap => rows.collect(),
        Part::Beyond => rows.filter(|(x, _)| *x < ENDS.0 || ENDS.1 < *x).collect(),
    }
}

/// The training rows.
pub(crate) fn training_rows(seed: u64) -> Vec<(f64, f64)> {
    draw(Part::Train, seed)
}

fn table(rows: &[(f64, f64)]) -> Result<Dataset, Error> {
    let (x, y) = rows.iter().copied().unzip();
    let columns = vec![("x".to_owned(), Column::Number(x)), ("y".to_owned(), Column::Number(y))];
    Ok(Dataset::from_table(Table::new("wave", columns)?).target("y")?)
}

/// Training rows, and rows between them to judge by.
pub(crate) fn load(seed: u64) -> Result<Loaded, Error> {
    let [train, inside] = [Part::Train, Part::Inside].map(|part| table(&draw(part, seed)));
    Ok(Loaded { train: train?, test: Some(inside?) })
}

/// Deviations at some inputs.
fn deviations(model: &Model, x: &[f64]) -> Result<Vec<f64>, Error> {
    let rows: Vec<(f64, f64)> = x.iter().map(|&x| (x, truth(x))).collect();
    Ok(judge(model, &table(&rows)?)?.prediction.std)
}

/// Figures besides those of the rows inside the data.
///
/// ```text
/// gap_std_ratio    deviation in the middle of the gap, over the mean deviation in the data on its left
/// noise_std_ratio  mean deviation where the noise is larger, over the same; of the noise itself 3.75
/// gap_nll gap_coverage_95  beyond_nll beyond_coverage_95   of the gap, and of 4 < |x| < 5
/// baseline_gap_nll  baseline_beyond_nll                    of the training targets' mean and deviation
/// truth_nll                                                inside, of the truth with its noise
/// ```
pub(crate) fn figures(model: &Model, seed: u64) -> Result<Vec<(String, f64)>, Error> {
    let between = |low: f64, high: f64| -> Vec<f64> {
        (0..100).map(|i| low + (high - low) * (f64::from(i) + 0.5) / 100.0).collect()
    };
    let y: Vec<f64> = training_rows(seed).iter().map(|(_, y)| *y).collect();
    let (center, std) = mean_and_deviation(&y);
    let left = mean(&deviations(model, &between(ENDS.0, GAP.0))?);
    let middle = deviations(model, &[(GAP.0 + GAP.1) / 2.0])?[0];
    let noisy = mean(&deviations(model, &between(NOISY, ENDS.1))?);
    let inside = draw(Part::Inside, seed);
    let of_truth: Vec<f64> = inside.iter().map(|(x, y)| gaussian_nll(*y, truth(*x), noise(*x))).collect();
    let mut figures = vec![
        ("gap_std_ratio".to_owned(), middle / left),
        ("noise_std_ratio".to_owned(), noisy / left),
        ("truth_nll".to_owned(), mean(&of_truth) - std.ln()),
    ];
    for (name, part) in [("gap", Part::Gap), ("beyond", Part::Beyond)] {
        let judged = judge(model, &table(&draw(part, seed))?)?;
        let n = judged.y.len();
        let baseline = Metrics::gaussian(&judged.y, &vec![center; n], &vec![std; n]);
        figures.extend([
            (format!("{name}_nll"), judged.metrics.nll - std.ln()),
            (format!("{name}_coverage_95"), judged.metrics.coverage_95),
            (format!("baseline_{name}_nll"), baseline.nll - std.ln()),
        ]);
    }
    Ok(figures)
}

/// Where the curve has its points.
pub(crate) fn grid() -> Vec<f64> {
    (0..POINTS).map(|i| FAR.0 + (FAR.1 - FAR.0) * i as f64 / (POINTS - 1) as f64).collect()
}

/// What the model says along x, rounded: it is to be drawn, and records are read by people.
pub(crate) fn curve(model: &Model) -> Result<Vec<Point>, Error> {
    let rows: Vec<(f64, f64)> = grid().into_iter().map(|x| (x, truth(x))).collect();
    let prediction = judge(model, &table(&rows)?)?.prediction;
    let point = |(mean, density): (&f64, &inducing::model::Density)| {
        let ((low_90, high_90), (low_50, high_50)) = (density.interval(0.9), density.interval(0.5));
        [*mean, low_90, high_90, low_50, high_50].map(|y| (1e4 * y).round() / 1e4)
    };
    Ok(prediction.mean.iter().zip(&prediction.density).map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_rows_leave_the_gap_free_and_follow_from_the_seed() {
        let rows = training_rows(3);
        // A share of 1.2 in 8 falls into the gap: 240 of 1,600, give or take five deviations of 14.
        assert!((1290..1430).contains(&rows.len()), "{} rows", rows.len());
        assert!(rows.iter().all(|(x, _)| !in_gap(*x) && x.abs() <= 4.0));
        assert!(rows.iter().any(|(x, _)| *x < GAP.0) && rows.iter().any(|(x, _)| *x > GAP.1));
        assert_eq!(rows, training_rows(3));
        assert_ne!(rows, training_rows(4));
        assert_ne!(rows[0], draw(Part::Inside, 3)[0], "rows to judge by are others");
    }

    #[test]
    fn parts_lie_where_their_names_say_and_noise_grows_on_the_right() {
        assert!(draw(Part::Gap, 0).iter().all(|(x, _)| in_gap(*x)));
        let beyond = draw(Part::Beyond, 0);
        assert!(beyond.len() > 200 && beyond.iter().all(|(x, _)| (4.0..=5.0).contains(&x.abs())));
        let spread = |keep: &dyn Fn(f64) -> bool| {
            let rows = training_rows(0).into_iter().filter(|(x, _)| keep(*x));
            let errors: Vec<f64> = rows.map(|(x, y)| (y - truth(x)).powi(2)).collect();
            mean(&errors).sqrt()
        };
        let (quiet, noisy) = (spread(&|x| x <= NOISY), spread(&|x| x > NOISY));
        // Of five hundred rows and more a deviation is known to 3 %; five times that.
        assert!((quiet / 0.08 - 1.0).abs() < 0.16 && (noisy / 0.30 - 1.0).abs() < 0.16, "{quiet} {noisy}");
    }
}
