//! The predictive density of one number: a mixture of Gaussians, from which quantiles, intervals, scores and samples come.

use super::Calibration;
use crate::metrics::{gaussian_crps, gaussian_nll, normal_cdf};
use rand::RngExt;
use std::sync::Arc;

/// A Gaussian of a mixture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// Its share.
    pub weight: f64,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub std: f64,
}

/// What is believed of a number before it is seen.
///
/// ```
/// use inducing::model::{Component, Density};
/// let two = Density::mixture(vec![
///     Component { weight: 0.5, mean: -1.0, std: 0.1 },
///     Component { weight: 0.5, mean: 1.0, std: 0.1 },
/// ]);
/// assert!(two.cdf(0.0) > 0.499 && two.pdf(0.0) < 1e-6 && (two.quantile(0.75) - 1.0).abs() < 1e-6);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Density(Form);

#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// Shares sum to one.
    Mixture(Vec<Component>),
    /// A Gaussian whose quantiles follow a table: models without neighbours.
    Scaled { mean: f64, std: f64, calibration: Arc<Calibration> },
}

impl Density {
    /// A mixture; shares are divided by their sum.
    pub fn mixture(mut components: Vec<Component>) -> Self {
        let total: f64 = components.iter().map(|c| c.weight).sum();
        components.iter_mut().for_each(|c| c.weight /= total);
        Self(Form::Mixture(components))
    }

    pub(crate) fn scaled(mean: f64, std: f64, calibration: Arc<Calibration>) -> Self {
        Self(Form::Scaled { mean, std, calibration })
    }

    /// The mean of several densities; what adds next to nothing is left out.
    pub(crate) fn average(densities: &[Self]) -> Self {
        const LEAST: f64 = 1e-4;
        let parts = densities.iter().flat_map(|density| match &density.0 {
            Form::Mixture(components) => components.clone(),
            Form::Scaled { mean, std, .. } => vec![Component { weight: 1.0, mean: *mean, std: *std }],
        });
        Self::mixture(parts.filter(|part| part.weight >= LEAST).collect())
    }

    /// The same around another mean, with a deviation of at least `least`.
    #[must_use]
    pub(crate) fn widened(self, to: f64, least: f64) -> Self {
        match self.0 {
            Form::Scaled { std, calibration, .. } => Self::scaled(to, std.max(least), calibration),
            Form::Mixture(components) => {
                let mean: f64 = components.iter().map(|c| c.weight * c.mean).sum();
                let own = Self(Form::Mixture(components.clone())).second_moment_about(mean).sqrt();
                let shifted = Self(Form::Mixture(components)).restored(to - mean, 1.0);
                shifted.stretched(to, (least / own).max(1.0))
            }
        }
    }

    /// The same, `factor` times as wide around a point.
    #[must_use]
    pub(crate) fn stretched(self, about: f64, factor: f64) -> Self {
        self.restored((1.0 - factor) * about, factor)
    }

    /// The density at `y`.
    pub fn pdf(&self, y: f64) -> f64 {
        self.log_pdf(y).exp()
    }

    /// Its logarithm.
    pub fn log_pdf(&self, y: f64) -> f64 {
        match &self.0 {
            Form::Scaled { mean, std, .. } => -gaussian_nll(y, *mean, *std),
            Form::Mixture(components) => {
                let log = |c: &Component| c.weight.ln() - gaussian_nll(y, c.mean, c.std);
                let largest = components.iter().map(log).fold(f64::NEG_INFINITY, f64::max);
                if largest == f64::NEG_INFINITY {
                    return largest;
                }
                largest + components.iter().map(|c| (log(c) - largest).exp()).sum::<f64>().ln()
            }
        }
    }

    /// The probability of at most `y`.
    pub fn cdf(&self, y: f64) -> f64 {
        match &self.0 {
            Form::Scaled { mean, std, calibration } => {
                let z = (y - mean) / std;
                bisect(0.0, 1.0, |p| calibration.quantile(p) < z)
            }
            Form::Mixture(components) => {
                components.iter().map(|c| c.weight * normal_cdf((y - c.mean) / c.std)).sum::<f64>().min(1.0)
            }
        }
    }

    /// The value that a number stays below with probability `p`; never falls as `p` rises.
    pub fn quantile(&self, p: f64) -> f64 {
        match &self.0 {
            Form::Scaled { mean, std, calibration } => mean + std * calibration.quantile(p),
            Form::Mixture(_) if p.is_nan() => f64::NAN,
            Form::Mixture(_) if p <= 0.0 => f64::NEG_INFINITY,
            Form::Mixture(_) if p >= 1.0 => f64::INFINITY,
            Form::Mixture(components) => {
                // Every component's own quantile: the mixture's lies between the outermost two.
                let own = crate::metrics::normal_quantile(p);
                let ends = components.iter().map(|c| c.mean + own * c.std);
                let low = ends.clone().fold(f64::INFINITY, f64::min);
                let high = ends.fold(f64::NEG_INFINITY, f64::max);
                bisect(low, high, |y| self.cdf(y) < p)
            }
        }
    }

    /// Both ends of the central interval that holds the number with probability `level`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        (self.quantile(0.5 - level / 2.0), self.quantile(0.5 + level / 2.0))
    }

    /// The continuous ranked probability score of an observation (Grimit et al. 2006 for mixtures).
    pub fn crps(&self, y: f64) -> f64 {
        match &self.0 {
            Form::Scaled { mean, std, .. } => gaussian_crps(y, *mean, *std),
            Form::Mixture(components) => {
                let to_y: f64 = components.iter().map(|c| c.weight * distance(y - c.mean, c.std)).sum();
                let mut apart = 0.0;
                for (i, a) in components.iter().enumerate() {
                    apart += 0.5 * a.weight * a.weight * distance(0.0, a.std * std::f64::consts::SQRT_2);
                    for b in &components[..i] {
                        apart += a.weight * b.weight * distance(a.mean - b.mean, a.std.hypot(b.std));
                    }
                }
                to_y - apart
            }
        }
    }

    /// A number drawn at random.
    pub fn sample(&self, rng: &mut impl rand::Rng) -> f64 {
        self.quantile(rng.random_range(f64::EPSILON..1.0))
    }

    /// The mean squared distance from a point.
    pub fn second_moment_about(&self, point: f64) -> f64 {
        match &self.0 {
            Form::Scaled { mean, std, .. } => (mean - point).powi(2) + std * std,
            Form::Mixture(components) => {
                components.iter().map(|c| c.weight * ((c.mean - point).powi(2) + c.std * c.std)).sum()
            }
        }
    }

    /// The density of `shift + factor·y`.
    #[must_use]
    pub(crate) fn restored(self, shift: f64, factor: f64) -> Self {
        match self.0 {
            Form::Scaled { mean, std, calibration } => {
                Self::scaled(shift + factor * mean, factor * std, calibration)
            }
            Form::Mixture(components) => {
                let restore =
                    |c: Component| Component { mean: shift + factor * c.mean, std: factor * c.std, ..c };
                Self(Form::Mixture(components.into_iter().map(restore).collect()))
            }
        }
    }
}

/// E|X| of `X ~ N(mean, std²)`.
fn distance(mean: f64, std: f64) -> f64 {
    let u = mean / std;
    mean * (2.0 * normal_cdf(u) - 1.0) + 2.0 * std * (-0.5 * u * u).exp() / std::f64::consts::TAU.sqrt()
}

/// Where `below` ends to be true.
fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
