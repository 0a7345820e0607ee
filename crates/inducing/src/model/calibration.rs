//! Recalibration on held-out rows: the variance's two parts are rescaled, and intervals follow the residuals
//! that were really seen.
//!
//! ```text
//! var y = a·var f + b(μ)·σ²         a and b minimise the held-out negative log-likelihood
//! q(p)  = quantile of (y − μ)/s     of the held-out rows; Gaussian where there are too few
//! ```
//! `b` is a smooth function of the predicted mean, since targets are rarely as noisy where they are small as where
//! they are large. Training drives residuals of its own rows below those of new ones; without this step 95 %
//! intervals cover far fewer than 95 % (split conformal prediction, Vovk et al. 2005, in units of the predicted
//! deviation).

use crate::metrics::{gaussian_nll, normal_quantile};
use serde::{Deserialize, Serialize};

/// How an output's latent variance and noise become the variance and the quantiles of an observation; all of it
/// for standardised targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// a
    pub latent: f64,
    /// Predicted means at which `noise` is given, increasing; log b is linear between them, constant outside.
    pub knots: Vec<f64>,
    /// b at the knots, at least one.
    pub noise: Vec<f64>,
    /// Quantiles of standardised residuals at `(i + ½)/len`, not decreasing; empty means Gaussian.
    pub quantiles: Vec<f64>,
}

/// Held-out rows of one output: residual `y − μ`, predicted mean, latent variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// `y − μ`
    pub residual: f64,
    /// μ
    pub mean: f64,
    /// var f
    pub var: f64,
}

/// Rows that a knot of the noise needs.
const ROWS_A_KNOT: usize = 100;
/// Knots at the most.
const MOST_KNOTS: usize = 10;
/// Weight of `Σ(log bₖ₊₁ − log bₖ)²` against the sum of negative log-likelihoods.
const SMOOTHNESS: f64 = 2.0;
/// Weight of `(log a − log of the common factor)²`: rows that resemble the training rows say little about `a`, on
/// which the spread far from all of them depends.
const LATENT_PRIOR: f64 = 2.0;
/// Fewer held-out rows than this are not taken at their word.
const FEWEST_TO_TRUST: usize = 12;
/// With fewer held-out rows than this the tails of their quantiles are worse than a Gaussian's.
const FEWEST_FOR_QUANTILES: usize = 200;
/// Quantiles that are stored at the most.
const MOST_QUANTILES: usize = 400;

impl Calibration {
    /// Leaves a prediction as the model makes it.
    pub fn none() -> Self {
        Self { latent: 1.0, knots: vec![0.0], noise: vec![1.0], quantiles: Vec::new() }
    }

    /// Fits to held-out rows of a model whose noise is `sigma`.
    pub fn fit(seen: &[HeldOut], sigma: f64) -> Self {
        // A handful of rows may look good by luck: with them goes one whose error is the target's own deviation.
        let mut rows = seen.to_vec();
        if seen.len() < FEWEST_TO_TRUST {
            rows.extend(seen.first().map(|row| HeldOut { residual: 1.0, ..*row }));
        }
        let rows = &rows[..];
        let floor = 1e-12;
        let ratio = rows.iter().map(|r| r.residual.powi(2) / (r.var + sigma * sigma)).sum::<f64>()
            / rows.len() as f64;
        let start = ratio.max(floor);
        let knots = knots(rows);
        let mut fitted =
            Self { latent: start, noise: vec![start; knots.len()], knots, quantiles: Vec::new() };
        // The common factor was found in closed form; each part by itself from there, a few rounds.
        let objective = |candidate: &Self| {
            let rough: f64 = candidate.noise.windows(2).map(|pair| (pair[1] / pair[0]).ln().powi(2)).sum();
            let nll = |r: &HeldOut| gaussian_nll(r.residual, 0.0, candidate.std(r.mean, r.var, sigma));
            let prior = (candidate.latent / start).ln().powi(2);
            rows.iter().map(nll).sum::<f64>() + SMOOTHNESS * rough + LATENT_PRIOR * prior
        };
        for _ in 0..4 {
            for k in 0..fitted.noise.len() {
                let log = fitted.noise[k].max(floor).ln();
                fitted.noise[k] = minimise(log - 3.0, log + 3.0, |x| {
                    let mut candidate = fitted.clone();
                    candidate.noise[k] = x.exp();
                    objective(&candidate)
                })
                .exp();
            }
            let log = fitted.latent.max(floor).ln();
            fitted.latent =
                minimise(log - 3.0, log + 3.0, |x| objective(&Self { latent: x.exp(), ..fitted.clone() }))
                    .exp();
        }
        if rows.len() >= FEWEST_FOR_QUANTILES {
            let mut z: Vec<f64> =
                rows.iter().map(|r| r.residual / fitted.std(r.mean, r.var, sigma)).collect();
            z.sort_by(f64::total_cmp);
            let count = z.len().min(MOST_QUANTILES);
            let position = |i: usize| (i as f64 + 0.5) / count as f64 * z.len() as f64 - 0.5;
            fitted.quantiles = (0..count).map(|i| interpolate(&z, position(i).max(0.0))).collect();
        }
        fitted
    }

    /// Whether these are numbers that a fit can give.
    pub(crate) fn is_sound(&self) -> bool {
        let increasing = |values: &[f64]| values.windows(2).all(|pair| pair[0] <= pair[1]);
        let positive = |x: &f64| *x > 0.0 && x.is_finite();
        !self.noise.is_empty()
            && self.noise.len() == self.knots.len()
            && positive(&self.latent)
            && self.noise.iter().all(positive)
            && increasing(&self.knots)
            && increasing(&self.quantiles)
            && self.knots.iter().chain(&self.quantiles).all(|x| x.is_finite())
    }

    /// b at a predicted mean.
    fn noise_factor(&self, mean: f64) -> f64 {
        let above = self.knots.partition_point(|&knot| knot <= mean);
        match above {
            0 => self.noise[0],
            above if above == self.knots.len() => self.noise[above - 1],
            above => {
                let share = (mean - self.knots[above - 1]) / (self.knots[above] - self.knots[above - 1]);
                (self.noise[above - 1].ln() * (1.0 - share) + self.noise[above].ln() * share).exp()
            }
        }
    }

    /// Standard deviation of an observation, from the latent mean and variance.
    pub fn std(&self, mean: f64, var: f64, sigma: f64) -> f64 {
        (self.latent * var + self.noise_factor(mean) * sigma * sigma).sqrt()
    }

    /// Standardised quantile at `p`: an observation's is `mean + std · quantile(p)`.
    pub fn quantile(&self, p: f64) -> f64 {
        let Some(last) = self.quantiles.len().checked_sub(1) else {
            return normal_quantile(p);
        };
        let position = p * (last + 1) as f64 - 0.5;
        if (0.0..=last as f64).contains(&position) {
            return interpolate(&self.quantiles, position);
        }
        // Beyond what was seen, go on as a Gaussian does.
        let edge = if position < 0.0 { 0 } else { last };
        self.quantiles[edge] + normal_quantile(p) - normal_quantile((edge as f64 + 0.5) / (last + 1) as f64)
    }

    /// Both ends of the central interval of the given level.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        (self.quantile(0.5 - level / 2.0), self.quantile(0.5 + level / 2.0))
    }
}

/// Distinct quantiles of the predicted means, as many as the rows can bear.
fn knots(rows: &[HeldOut]) -> Vec<f64> {
    let mut means: Vec<f64> = rows.iter().map(|r| r.mean).collect();
    means.sort_by(f64::total_cmp);
    let count = (rows.len() / ROWS_A_KNOT).clamp(1, MOST_KNOTS);
    let mut knots: Vec<f64> = (0..count)
        .map(|k| interpolate(&means, (k as f64 + 0.5) / count as f64 * (means.len() - 1) as f64))
        .collect();
    knots.dedup_by(|b, a| *b - *a < 1e-6);
    knots
}

/// Value of a list between its entries.
fn interpolate(values: &[f64], position: f64) -> f64 {
    let below = (position.floor() as usize).min(values.len() - 1);
    let above = (below + 1).min(values.len() - 1);
    values[below] + (values[above] - values[below]) * (position - below as f64)
}

/// Golden-section search for the minimum of a unimodal function.
pub(crate) fn minimise(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut f_a, mut f_b) = (f(a), f(b));
    for _ in 0..40 {
        if f_a < f_b {
            (high, b, f_b) = (b, a, f_a);
            a = high - golden * (high - low);
            f_a = f(a);
        } else {
            (low, a, f_a) = (a, b, f_b);
            b = low + golden * (high - low);
            f_b = f(b);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Residuals whose true variance is `3·var + b(μ)·σ²` with `b` rising from ½ to 4, at the Gaussian quantiles.
    fn held_out(n: usize) -> Vec<HeldOut> {
        (0..n)
            .map(|i| {
                let var = 0.01 + (i % 17) as f64 * 0.05;
                let mean = (i % 101) as f64 / 50.0 - 1.0;
                // A stride that is coprime to n decouples the residual from the other two.
                let p = ((i * 617) % n) as f64 / n as f64 + 0.5 / n as f64;
                let b = 0.5 * (mean + 1.0).exp2().powf(1.5);
                HeldOut { residual: normal_quantile(p) * (3.0 * var + b * SIGMA * SIGMA).sqrt(), mean, var }
            })
            .collect()
    }

    const SIGMA: f64 = 0.7;

    #[test]
    fn the_two_parts_of_the_variance_are_found() {
        let fitted = Calibration::fit(&held_out(20_000), SIGMA);
        // Statistical: 20,000 rows over 17 variances and 10 knots.
        assert!((fitted.latent - 3.0).abs() < 0.3, "{}", fitted.latent);
        for mean in [-0.8, 0.0, 0.8_f64] {
            let b = 0.5 * (mean + 1.0).exp2().powf(1.5);
            assert!(
                (fitted.noise_factor(mean) / b).ln().abs() < 0.25,
                "{mean}: {} {b}",
                fitted.noise_factor(mean)
            );
        }
    }

    #[test]
    fn intervals_cover_on_the_held_out_rows_what_they_promise() {
        let mut rows = held_out(3000);
        rows.iter_mut().for_each(|r| r.residual = r.residual.exp()); // skewed
        let fitted = Calibration::fit(&rows, SIGMA);
        for level in [0.5, 0.9, 0.95] {
            let (low, high) = fitted.interval(level);
            let inside =
                |r: &&HeldOut| (low..=high).contains(&(r.residual / fitted.std(r.mean, r.var, SIGMA)));
            let share = rows.iter().filter(inside).count() as f64 / 3000.0;
            assert!((share - level).abs() < 0.01, "{level}: {share}"); // the table's step is 1/400
        }
    }

    #[test]
    fn quantiles_never_cross_and_go_on_beyond_what_was_seen() {
        let rows = held_out(300);
        for fitted in
            [Calibration::fit(&rows, SIGMA), Calibration::fit(&rows[..50], SIGMA), Calibration::none()]
        {
            let mut previous = f64::NEG_INFINITY;
            for i in 1..100_000 {
                let q = fitted.quantile(f64::from(i) * 1e-5);
                assert!(q.is_finite() && q >= previous);
                previous = q;
            }
        }
    }

    #[test]
    fn perfect_or_constant_predictions_give_a_finite_calibration() {
        let exact = vec![HeldOut { residual: 0.0, mean: 1.0, var: 0.0 }; 500];
        let fitted = Calibration::fit(&exact, 0.1);
        let std = fitted.std(1.0, 0.0, 0.1);
        assert!(std > 0.0 && std < 0.1 && fitted.interval(0.9).0.is_finite());
    }
}
