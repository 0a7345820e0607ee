//! Predictions against the truth: points, curves and histograms of each target.

use super::conditional::{EvaluatedTable, familiarity_bins};
use super::summaries::{histogram, median, risk_curve, subsample};
use super::thresholds::thresholds;
use super::{ExampleCollector, Origin, baselines};
use crate::record::conditional::LEVEL;
use crate::record::*;
use inducing::Error;
use inducing::dataset::Inputs;
use inducing::metrics::{self, Metrics};
use inducing::model::{ClassificationBatch, Density, Latent, Model, RegressionBatch};

/// Levels of the intervals whose coverage is measured.
const LEVELS: [f64; 13] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99];

/// Records of all regression targets, and the positions of the plotted points among the evaluated rows, which may be a part
/// of the training data.
pub(super) fn regression(
    model: &Model,
    (prediction, uncalibrated): (&RegressionBatch, &RegressionBatch),
    (y, part): (&[f64], Option<&str>),
    max_points: usize,
    collector: &mut ExampleCollector<'_>,
) -> (Vec<TargetRecord>, Vec<usize>) {
    let c = model.outputs();
    let targets = model.header().schema.numbers();
    let standardised_sum = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let row = |i: usize| (0..c).map(|k| of(i * c + k) / targets[k].std).sum();
        (0..y.len() / c).map(row).collect()
    };
    let uncertainty = standardised_sum(&|at| prediction.std[at]);
    let error = standardised_sum(&|at| (y[at] - prediction.mean[at]).abs());
    let plotted = subsample(&uncertainty, &error, max_points);
    let rows = collector.request.evaluated.rows;
    let examples: Vec<usize> = plotted.iter().map(|&i| collector.index(Origin::Evaluated, rows[i])).collect();
    let table = match (collector.request.evaluated.inputs, model.header().schema.table()) {
        (Inputs::Table(matrix), Some(schema)) => Some(EvaluatedTable { schema, matrix, rows }),
        _ => None,
    };
    let record = |k: usize| {
        let column = |values: &[f64]| -> Vec<f64> { values.iter().skip(k).step_by(c).copied().collect() };
        let output = Output {
            y: &column(y),
            mean: &column(&prediction.mean),
            std: &column(&prediction.std),
            std_latent: &column(&prediction.std_latent),
            std_uncalibrated: &column(&uncalibrated.std),
            densities: &prediction.density.iter().skip(k).step_by(c).collect::<Vec<_>>(),
            familiarity: &column(&prediction.familiarity),
            table: table.as_ref(),
        };
        let name = targets[k].name.clone();
        let baselines = baselines::of_number(model, &name, part);
        TargetRecord::Regression(RegressionRecord { baselines, ..output.record(name, &plotted, &examples) })
    };
    ((0..c).map(record).collect(), plotted)
}

/// All rows of one regression target; every slice is `[N]`.
struct Output<'a> {
    y: &'a [f64],
    mean: &'a [f64],
    std: &'a [f64],
    std_latent: &'a [f64],
    std_uncalibrated: &'a [f64],
    densities: &'a [&'a Density],
    /// Empty for a model that says none.
    familiarity: &'a [f64],
    /// The rows' inputs, where they are a table's.
    table: Option<&'a EvaluatedTable<'a>>,
}

impl Output<'_> {
    fn record(&self, name: String, plotted: &[usize], examples: &[usize]) -> RegressionRecord {
        let Self { y, mean, std, .. } = self;
        let point = |(&i, &example): (&usize, &usize)| RegressionPoint {
            example,
            truth: y[i],
            mean: mean[i],
            std: std[i],
            std_latent: self.std_latent[i],
        };
        let calibrated: Vec<f64> = y.iter().zip(self.densities).map(|(y, density)| density.cdf(*y)).collect();
        let z = (0..y.len()).map(|i| (y[i] - mean[i]) / self.std_uncalibrated[i]);
        let uncalibrated: Vec<f64> = z.map(metrics::normal_cdf).collect();
        let share = |p: &[f64], level: f64| {
            p.iter().filter(|p| metrics::in_central_interval(**p, level)).count() as f64 / p.len() as f64
        };
        let coverage = |level: f64| CoveragePoint {
            level,
            calibrated: share(&calibrated, level),
            uncalibrated: share(&uncalibrated, level),
        };
        // In units of the largest error, whose square never overflows.
        let unit = y.iter().zip(*mean).map(|(y, mean)| (y - mean).abs()).fold(f64::MIN_POSITIVE, f64::max);
        let squares: Vec<f64> = y.iter().zip(*mean).map(|(y, mean)| ((y - mean) / unit).powi(2)).collect();
        let curve = risk_curve(std, &squares).into_iter();
        RegressionRecord {
            name,
            metrics: self.metrics(),
            median_error: median(y.iter().zip(*mean).map(|(y, mean)| (y - mean).abs()).collect()),
            baselines: None,
            points: plotted.iter().zip(examples).map(point).collect(),
            coverage: LEVELS.map(coverage).to_vec(),
            risk_curve: curve.map(|[share, mse]| [share, unit * mse.sqrt()]).collect(),
            std_histogram: histogram(std),
            by_familiarity: self.by_familiarity(&calibrated),
            by_slice: self.table.and_then(|table| {
                let inside = |p: &f64| metrics::in_central_interval(*p, LEVEL);
                table.coverage(&calibrated.iter().map(inside).collect::<Vec<_>>())
            }),
        }
    }

    /// `p` is where each observation lies in its predictive distribution.
    fn by_familiarity(&self, p: &[f64]) -> Vec<FamiliarityCoverage> {
        let bin = |(range, rows): ([f64; 2], Vec<usize>)| {
            let n = rows.len() as f64;
            let coverage = |level: f64| {
                rows.iter().filter(|&&i| metrics::in_central_interval(p[i], level)).count() as f64 / n
            };
            // Not a sum of squares, which overflows.
            let error = rows.iter().map(|&i| self.y[i] - self.mean[i]).fold(0.0, f64::hypot);
            FamiliarityCoverage {
                range,
                rows: rows.len(),
                coverage_95: coverage(LEVEL),
                coverage_50: coverage(0.5),
                mean_std: rows.iter().map(|&i| self.std[i] / n).sum(),
                rmse: error / n.sqrt(),
            }
        };
        familiarity_bins(self.familiarity).map(bin).collect()
    }

    /// Not looked up by the target's name: two targets may share one.
    fn metrics(&self) -> Metrics {
        Metrics::of_densities(self.y, self.mean, self.std, self.densities)
    }
}

/// The record of the classes, and the positions of the plotted points among the evaluated rows.
pub(super) fn classification(
    model: &Model,
    (prediction, latent): (&ClassificationBatch, &Latent),
    (y, part): (&[u32], Option<&str>),
    max_points: usize,
    collector: &mut ExampleCollector<'_>,
) -> Result<(Vec<TargetRecord>, Vec<usize>), Error> {
    let metrics = model.class_metrics(prediction, latent, y)?;
    let k = prediction.classes;
    let (labels, entropy): (Vec<usize>, _) = (prediction.labels().collect(), prediction.entropy());
    let p = |i: usize, class: usize| prediction.p[i * k + class];
    let uncertainty: Vec<f64> = (0..y.len()).map(|i| 1.0 - p(i, labels[i])).collect();
    let error: Vec<f64> = (0..y.len()).map(|i| 1.0 - p(i, y[i] as usize)).collect();
    let mistakes: Vec<f64> = (0..y.len()).map(|i| f64::from(u8::from(labels[i] != y[i] as usize))).collect();
    let plotted = subsample(&entropy, &error, max_points);
    let rows = collector.request.evaluated.rows;
    let point = |&i: &usize| {
        let latent = i * k + if k == 2 { 1 } else { labels[i] };
        let ClassificationBatch { latent_mean, latent_std, .. } = prediction;
        ClassificationPoint {
            example: collector.index(Origin::Evaluated, rows[i]),
            truth: y[i] as usize,
            predicted: labels[i],
            p: p(i, labels[i]),
            p_truth: p(i, y[i] as usize),
            entropy: entropy[i],
            latent_mean: latent_mean[latent],
            latent_std: latent_std[latent],
        }
    };
    let accuracy = |(range, rows): ([f64; 2], Vec<usize>)| {
        let mean = |of: &dyn Fn(usize) -> f64| rows.iter().map(|&i| of(i)).sum::<f64>() / rows.len() as f64;
        FamiliarityAccuracy {
            range,
            rows: rows.len(),
            accuracy: 1.0 - mean(&|i| mistakes[i]),
            confidence: mean(&|i| p(i, labels[i])),
        }
    };
    let name = model.header().schema.target_names().remove(0);
    let record = ClassificationRecord {
        baselines: baselines::of_classes(model, &name, part),
        thresholds: thresholds(&prediction.p, k, y),
        name,
        classes: model.header().schema.classes().unwrap_or_default().to_vec(),
        metrics,
        points: plotted.iter().map(point).collect(),
        risk_curve: risk_curve(&uncertainty, &mistakes),
        entropy_histogram: histogram(&entropy),
        by_familiarity: familiarity_bins(&prediction.familiarity).map(accuracy).collect(),
        has_latent_variance: model.heads().next().is_some(),
    };
    Ok((vec![TargetRecord::Classification(record)], plotted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inducing::model::Component;

    #[test]
    fn numbers_that_are_not_finite_are_summarised_without_panic() {
        let values = [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300];
        let density = Density::mixture(vec![Component { weight: 1.0, mean: 0.0, std: 1.0 }]);
        for std in [[1.0; 5], [f64::NAN; 5], [f64::INFINITY; 5], [0.0; 5]] {
            let output = Output {
                y: &values,
                mean: &[0.0; 5],
                std: &std,
                std_latent: &std,
                std_uncalibrated: &std,
                densities: &[&density; 5],
                familiarity: &[0.3, f64::NAN, 0.3, 0.0, 1.0],
                table: None,
            };
            let record = output.record("y".into(), &[0, 1], &[0, 1]);
            assert_eq!(record.by_familiarity.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [2, 2, 1]);
            assert_eq!((record.points.len(), record.coverage.len()), (2, LEVELS.len()));
            assert!(record.coverage.iter().all(|c| (0.0..=1.0).contains(&c.calibrated)));
        }
    }
}
