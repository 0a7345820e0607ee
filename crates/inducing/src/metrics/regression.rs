//! Figures of merit of predictions that say how sure they are.
//!
//! ```text
//! nll  = mean( ½ log 2πs² + (y−μ)²/2s² )                          Gaussian with the predicted μ, s
//! crps = mean( s·( u(2Φ(u)−1) + 2φ(u) − 1/√π ) ),  u = (y−μ)/s     (Gneiting & Raftery 2007, eq. 21)
//! ```

use crate::model::Density;
pub use gp::cdf as normal_cdf;
use serde::{Deserialize, Serialize};

/// Scores of one output over `n` rows, in the target's own units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Rows.
    pub n: usize,
    /// Root of the mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Share of the variance that is explained; `None` when the targets do not vary.
    pub r2: Option<f64>,
    /// Mean negative log-likelihood.
    pub nll: f64,
    /// Mean continuous ranked probability score.
    pub crps: f64,
    /// Share of rows inside their central 50 % interval.
    pub coverage_50: f64,
    /// Share of rows inside their central 90 % interval.
    pub coverage_90: f64,
    /// Share of rows inside their central 95 % interval.
    pub coverage_95: f64,
    /// Mean predicted standard deviation.
    pub sharpness: f64,
}

/// The three intervals that are always reported.
pub const LEVELS: [f64; 3] = [0.5, 0.9, 0.95];

impl Metrics {
    /// Scores `mean` and `std` against `y`; `inside(row, level)` says whether a row lies in its interval.
    pub fn new(y: &[f64], mean: &[f64], std: &[f64], inside: impl Fn(usize, f64) -> bool) -> Self {
        Self::weighted(y, mean, std, &[], inside)
    }

    /// The same with a weight for each row; empty for 1.
    pub fn weighted(
        y: &[f64],
        mean: &[f64],
        std: &[f64],
        weights: &[f64],
        inside: impl Fn(usize, f64) -> bool,
    ) -> Self {
        let n = y.len();
        let average = average(n, weights);
        let y_mean = average(&|i| y[i]);
        let spread = root_mean_square(y.iter().map(|y| y - y_mean), weights);
        let rmse = root_mean_square(y.iter().zip(mean).map(|(y, m)| y - m), weights);
        let coverage = |level: f64| average(&|i| f64::from(u8::from(inside(i, level))));
        Self {
            n,
            rmse,
            mae: average(&|i| (y[i] - mean[i]).abs()),
            // Equal targets differ from their computed mean in the last bits.
            r2: (spread > 1e-12 * y_mean.abs()).then(|| 1.0 - (rmse / spread).powi(2)),
            nll: average(&|i| gaussian_nll(y[i], mean[i], std[i])),
            crps: average(&|i| gaussian_crps(y[i], mean[i], std[i])),
            coverage_50: coverage(LEVELS[0]),
            coverage_90: coverage(LEVELS[1]),
            coverage_95: coverage(LEVELS[2]),
            sharpness: average(&|i| std[i]),
        }
    }

    /// The same by predictive densities: NLL, CRPS and intervals come from them.
    pub fn of_densities(y: &[f64], mean: &[f64], std: &[f64], densities: &[&Density]) -> Self {
        Self::of_weighted_densities(y, mean, std, densities, &[])
    }

    /// The same with a weight for each row; empty for 1.
    pub fn of_weighted_densities(
        y: &[f64],
        mean: &[f64],
        std: &[f64],
        densities: &[&Density],
        weights: &[f64],
    ) -> Self {
        let p: Vec<f64> = y.iter().zip(densities).map(|(y, density)| density.cdf(*y)).collect();
        let inside = |i: usize, level: f64| in_central_interval(p[i], level);
        let average = average(y.len(), weights);
        let nll = average(&|i| -densities[i].log_pdf(y[i]));
        let crps = average(&|i| densities[i].crps(y[i]));
        Self { nll, crps, ..Self::weighted(y, mean, std, weights, inside) }
    }

    /// The same with central Gaussian intervals.
    pub fn gaussian(y: &[f64], mean: &[f64], std: &[f64]) -> Self {
        Self::weighted_gaussian(y, mean, std, &[])
    }

    /// The same with a weight for each row; empty for 1.
    pub fn weighted_gaussian(y: &[f64], mean: &[f64], std: &[f64], weights: &[f64]) -> Self {
        let half_widths = LEVELS.map(|level| normal_quantile(0.5 + level / 2.0));
        Self::weighted(y, mean, std, weights, |i, level| {
            let k = LEVELS.iter().position(|&l| l == level).unwrap_or(0);
            (y[i] - mean[i]).abs() <= half_widths[k] * std[i]
        })
    }
}

/// Whether a value with this distribution function lies in the central interval of a level.
pub fn in_central_interval(p: f64, level: f64) -> bool {
    (0.5 - level / 2.0..=0.5 + level / 2.0).contains(&p)
}

/// The mean over `n` rows with these weights; empty for 1.
pub(crate) fn average(n: usize, weights: &[f64]) -> impl Fn(&dyn Fn(usize) -> f64) -> f64 + '_ {
    let total = if weights.is_empty() { n as f64 } else { weights.iter().sum() };
    move |f| match weights {
        [] => (0..n).map(f).sum::<f64>() / total,
        weights => weights.iter().enumerate().map(|(i, weight)| weight * f(i)).sum::<f64>() / total,
    }
}

/// Root of the mean square, scaled so that no square overflows.
fn root_mean_square(values: impl Iterator<Item = f64> + Clone, weights: &[f64]) -> f64 {
    let largest = values.clone().fold(0.0_f64, |a, x| a.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let values: Vec<f64> = values.collect();
    largest * average(values.len(), weights)(&|i| (values[i] / largest).powi(2)).sqrt()
}

/// `−log N(y; mean, std²)`.
pub fn gaussian_nll(y: f64, mean: f64, std: f64) -> f64 {
    0.5 * (2.0 * std::f64::consts::PI).ln() + std.ln() + 0.5 * ((y - mean) / std).powi(2)
}

/// CRPS of a Gaussian in closed form.
pub fn gaussian_crps(y: f64, mean: f64, std: f64) -> f64 {
    let u = (y - mean) / std;
    let density = (-0.5 * u * u).exp() / (2.0 * std::f64::consts::PI).sqrt();
    std * (u * (2.0 * normal_cdf(u) - 1.0) + 2.0 * density - 1.0 / std::f64::consts::PI.sqrt())
}

/// Φ⁻¹(p): a rational start (Abramowitz & Stegun 26.2.23), then Halley steps against the cdf above.
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    // A coarse start in the lower half; the steps converge cubically.
    let t = (-2.0 * p.ln()).sqrt();
    let mut x = -(t
        - (2.515_517 + 0.802_853 * t + 0.010_328 * t * t)
            / (1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t));
    for _ in 0..3 {
        let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let step = (normal_cdf(x) - p) / density;
        x -= step / (1.0 + 0.5 * x * step);
    }
    x
}
