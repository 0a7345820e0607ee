//! The predictive density of one number: a mixture of Gaussians, from which quantiles, intervals, scores and samples come.

use super::Calibration;
use crate::metrics::{gaussian_crps, gaussian_nll, normal_cdf};
use data::{TargetScale, Transform};
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
pub struct Density {
    /// On the scale on which the number is modelled.
    form: Form,
    /// That scale and the number's range, if it is not modelled as it is.
    scale: Option<Arc<TargetScale>>,
}

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
        Self::of(Form::Mixture(components))
    }

    fn of(form: Form) -> Self {
        Self { form, scale: None }
    }

    /// The density of a number that is modelled on a scale.
    #[must_use]
    pub(crate) fn on_scale(self, scale: &Arc<TargetScale>) -> Self {
        Self { scale: Some(Arc::clone(scale)), ..self }
    }

    pub(crate) fn scaled(mean: f64, std: f64, calibration: Arc<Calibration>) -> Self {
        Self::of(Form::Scaled { mean, std, calibration })
    }

    /// The mean of several densities; what adds next to nothing is left out.
    pub(crate) fn average(densities: &[Self]) -> Self {
        const LEAST: f64 = 1e-4;
        let parts = densities.iter().flat_map(|density| match &density.form {
            Form::Mixture(components) => components.clone(),
            Form::Scaled { mean, std, .. } => vec![Component { weight: 1.0, mean: *mean, std: *std }],
        });
        Self::mixture(parts.filter(|part| part.weight >= LEAST).collect())
    }

    /// The same around another mean, with a deviation of at least `least`.
    #[must_use]
    pub(crate) fn widened(self, to: f64, least: f64) -> Self {
        match self.form {
            Form::Scaled { std, calibration, .. } => Self::scaled(to, std.max(least), calibration),
            Form::Mixture(components) => {
                let mean: f64 = components.iter().map(|c| c.weight * c.mean).sum();
                let own = Self::of(Form::Mixture(components.clone())).second_moment_about(mean).sqrt();
                let shifted = Self::of(Form::Mixture(components)).restored(to - mean, 1.0);
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
        match &self.scale {
            None => self.modelled_log_pdf(y),
            Some(scale) if scale.clamp(y) != y => f64::NEG_INFINITY,
            Some(scale) => self.modelled_log_pdf(scale.transform.apply(y)) + scale.transform.log_slope(y),
        }
    }

    fn modelled_log_pdf(&self, y: f64) -> f64 {
        match &self.form {
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
        match &self.scale {
            None => self.modelled_cdf(y),
            Some(scale) if scale.lower.is_some_and(|lower| y < lower) => 0.0,
            Some(scale) if scale.upper.is_some_and(|upper| y >= upper) => 1.0,
            Some(scale) => self.modelled_cdf(scale.transform.apply(y)),
        }
    }

    fn modelled_cdf(&self, y: f64) -> f64 {
        match &self.form {
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
        let modelled = self.modelled_quantile(p);
        self.scale.as_ref().map_or(modelled, |scale| scale.invert(modelled))
    }

    fn modelled_quantile(&self, p: f64) -> f64 {
        match &self.form {
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
                bisect(low, high, |y| self.modelled_cdf(y) < p)
            }
        }
    }

    /// Both ends of the central interval that holds the number with probability `level`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        (self.quantile(0.5 - level / 2.0), self.quantile(0.5 + level / 2.0))
    }

    /// The continuous ranked probability score of an observation (Grimit et al. 2006 for mixtures).
    pub fn crps(&self, y: f64) -> f64 {
        match &self.scale {
            Some(scale) if self.reaches_bounds(scale) => self.crps_on_grid(scale, y),
            _ => self.modelled_crps(y),
        }
    }

    fn modelled_crps(&self, y: f64) -> f64 {
        match &self.form {
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
        match self.moments() {
            Some((mean, std)) if self.scale.is_some() => (mean - point).powi(2) + std * std,
            _ => self.modelled_second_moment(point),
        }
    }

    fn modelled_second_moment(&self, point: f64) -> f64 {
        match &self.form {
            Form::Scaled { mean, std, .. } => (mean - point).powi(2) + std * std,
            Form::Mixture(components) => {
                components.iter().map(|c| c.weight * ((c.mean - point).powi(2) + c.std * c.std)).sum()
            }
        }
    }

    /// Whether the scale changes the moments: it is curved, or a bound cuts something off.
    fn reaches_bounds(&self, scale: &TargetScale) -> bool {
        const NOTHING: f64 = 1e-9;
        scale.transform != Transform::Identity
            || scale.lower.is_some_and(|lower| self.modelled_cdf(lower) > NOTHING)
            || scale.upper.is_some_and(|upper| 1.0 - self.modelled_cdf(upper) > NOTHING)
    }

    /// Equal steps of the modelled scale between far quantiles, in the number's units, with the distribution function there.
    fn grid(&self, scale: &TargetScale) -> Vec<(f64, f64)> {
        const STEPS: usize = 256;
        const TAIL: f64 = 1e-4;
        let [low, high] = [TAIL, 1.0 - TAIL].map(|p| self.modelled_quantile(p));
        let step = (high - low) / STEPS as f64;
        let at = |i: usize| low + step * i as f64;
        (0..=STEPS).map(|i| (scale.invert(at(i)), self.modelled_cdf(at(i)))).collect()
    }

    /// Mean and standard deviation; `None` where they are not finite. Of a curved scale, without the last ten-thousandth on
    /// both sides, where a far tail would decide.
    pub(crate) fn moments(&self) -> Option<(f64, f64)> {
        let Some(scale) = self.scale.as_ref().filter(|scale| self.reaches_bounds(scale)) else {
            let mean = match &self.form {
                Form::Scaled { mean, .. } => *mean,
                Form::Mixture(components) => components.iter().map(|c| c.weight * c.mean).sum(),
            };
            return Some((mean, self.modelled_second_moment(mean).sqrt()));
        };
        let grid = self.grid(scale);
        let total = grid.last()?.1 - grid[0].1;
        let (mut mean, mut square) = (0.0, 0.0);
        let origin = grid[grid.len() / 2].0;
        for pair in grid.windows(2) {
            let (share, [a, b]) = ((pair[1].1 - pair[0].1) / total, [pair[0].0 - origin, pair[1].0 - origin]);
            mean += share * 0.5 * (a + b);
            square += share * (a * a + a * b + b * b) / 3.0;
        }
        let std = (square - mean * mean).max(0.0).sqrt().max(1e-12 * (origin + mean).abs().max(1e-12));
        (mean.is_finite() && std.is_finite()).then_some((origin + mean, std))
    }

    /// `∫ (F(t) − 1[t ≥ y])² dt` by trapezes.
    fn crps_on_grid(&self, scale: &TargetScale, y: f64) -> f64 {
        let mut grid = self.grid(scale);
        let own = (y, self.cdf(y));
        let place = grid.partition_point(|(t, _)| *t < y);
        grid.insert(place, own);
        let before = |(t, p): (f64, f64)| (t, p * p);
        let after = |(t, p): (f64, f64)| (t, (1.0 - p) * (1.0 - p));
        let area = |points: &[(f64, f64)], f: &dyn Fn((f64, f64)) -> (f64, f64)| -> f64 {
            let values: Vec<(f64, f64)> = points.iter().map(|&point| f(point)).collect();
            values.windows(2).map(|pair| (pair[1].0 - pair[0].0) * 0.5 * (pair[0].1 + pair[1].1)).sum()
        };
        area(&grid[..=place], &before) + area(&grid[place..], &after)
    }

    /// The density of `shift + factor·y`.
    #[must_use]
    pub(crate) fn restored(self, shift: f64, factor: f64) -> Self {
        match self.form {
            Form::Scaled { mean, std, calibration } => {
                Self::scaled(shift + factor * mean, factor * std, calibration)
            }
            Form::Mixture(components) => {
                let restore =
                    |c: Component| Component { mean: shift + factor * c.mean, std: factor * c.std, ..c };
                Self::of(Form::Mixture(components.into_iter().map(restore).collect()))
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

#[cfg(test)]
mod tests;
