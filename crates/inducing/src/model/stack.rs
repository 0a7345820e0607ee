//! What joins the members of an ensemble and the nearest training rows: one mean, a variance in parts, one density.
//!
//! ```text
//! μ     = w₁f̄ + w₂g + w₃h                            f̄ mean of members, g of the process on the nearest rows,
//!                                                     h of members with the nearest of the rows they left out
//! var y = a₁v_f + a₂v_g + a₃(f̄−g)² + a₄v_h + a₅n + a₆ + κ·max(0, v_g − v₅₀)     n squared errors of the nearest rows
//!         + b₁·max(0, v_g − v₉₅) + b₂·max(0, (f̄−g)² − d₉₅)                           in gaps, fitted to blocked folds
//! p     = (λ·p₀ + Σ_j κ_j·N(y_j, η²)) / (λ + Σ_j κ_j)   p₀ a shape scaled by μ and var y, κ_j = exp(−r_j/r₀)
//! ```
//! Far from all rows μ goes over to a linear model, and the deviation is at least the targets' own deviation. All of it is fitted to rows
//! that neither the members nor the process had seen, for standardised targets.

use super::Distances;
use super::density::{Component, Density};
use gp::{LocalProcess, LocalSpace};
use serde::{Deserialize, Serialize};

/// How a number follows from members and neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// The process on the nearest rows, on what a linear model leaves.
    pub process: LocalProcess,
    /// How many of the nearest rows.
    pub count: usize,
    /// The linear model: a coefficient for each coordinate, then the intercept.
    pub linear: Vec<f64>,
    /// The process of each member on the rows it left out, in the coordinates `[x/ℓ | φ | f]`, on what the member leaves of them.
    pub feature_process: Option<LocalProcess>,
    /// How many of the nearest of them.
    pub feature_count: usize,
    /// w₁ to w₃
    pub weights: [f64; 3],
    /// a₁ to a₅
    pub parts: [f64; 5],
    /// a₆
    pub noise: f64,
    /// v₅₀
    pub usual_variance: f64,
    /// κ: squared errors of the stack over those of g alone, at most one.
    #[serde(default = "one")]
    pub caution: f64,
    /// b₁, b₂: what counts more in a gap.
    #[serde(default)]
    pub gap_weights: [f64; 2],
    /// v₉₅ and d₉₅, of held-out rows.
    #[serde(default)]
    pub gap_thresholds: [f64; 2],
    /// The mean squared error of held-out rows, which counts as one neighbour's.
    pub usual_error: f64,
    /// p₀ of a mean of zero and a deviation of one: weight, mean, deviation of each Gaussian.
    pub shape: Vec<[f64; 3]>,
    /// λ; none without the neighbours' labels.
    pub prior: Option<f64>,
    /// r₀, in length scales.
    pub reach: f64,
    /// η
    pub bandwidth: f64,
    /// Of held-out rows.
    pub distances: Distances,
}

fn one() -> f64 {
    1.0
}

/// What a stack is asked about one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query<'a> {
    /// The linear model there.
    pub(crate) linear: f64,
    /// f̄
    pub(crate) mean: f64,
    /// v_f
    pub(crate) var: f64,
    /// h and v_h; f̄ and 0 without.
    pub(crate) features: [f64; 2],
    /// Differences of the nearest rows from x, `[k, d]`.
    pub(crate) differences: &'a [f64],
    /// Their labels.
    pub(crate) labels: &'a [f64],
    /// What the linear model leaves of them.
    pub(crate) residuals: &'a [f64],
    /// Their squared errors when they were held out.
    pub(crate) errors: &'a [f64],
}

/// What the nearest rows say of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Local {
    /// g
    pub(crate) mean: f64,
    /// v_g
    pub(crate) var: f64,
    /// n
    pub(crate) noise: f64,
    /// Distance, in length scales.
    pub(crate) distance: f64,
    /// The linear model.
    pub(crate) linear: f64,
}

/// What is said of one row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stacked {
    pub(crate) mean: f64,
    pub(crate) var_latent: f64,
    pub(crate) density: Density,
    /// Share of held-out rows that were at least as far from their neighbours.
    pub(crate) familiarity: f64,
}

/// More neighbours than this cost more than they give.
pub(crate) const MOST_NEIGHBOURS: usize = 1024;

impl Stack {
    /// Whether these are numbers that a fit can give, for rows of some width and features.
    pub(crate) fn is_sound(&self, width: usize, features: usize) -> bool {
        let share = |x: &f64| *x >= 0.0 && x.is_finite();
        let positive = |x: &f64| *x > 0.0 && x.is_finite();
        self.process.is_sound(width)
            && (1..=MOST_NEIGHBOURS).contains(&self.count)
            && self.linear.len() == width + 1
            && self.linear.iter().all(|x| x.is_finite())
            && self.weights.iter().all(share)
            && self.feature_process.as_ref().is_none_or(|process| process.is_sound(width + features + 1))
            && self.feature_count <= MOST_NEIGHBOURS
            && self.parts.iter().chain([&self.usual_error, &self.usual_variance, &self.caution]).all(share)
            && self.gap_weights.iter().chain(&self.gap_thresholds).all(share)
            && positive(&self.noise)
            && !self.shape.is_empty()
            && self.shape.iter().all(|[w, m, s]| positive(w) && m.is_finite() && positive(s))
            && self.prior.as_ref().is_none_or(positive)
            && positive(&self.reach)
            && positive(&self.bandwidth)
            && self.distances.is_sound()
    }

    /// What the nearest rows say.
    pub(crate) fn local(&self, query: Query<'_>, space: &mut LocalSpace) -> Local {
        let linear = query.linear;
        let prior = self.process.log_scale.exp();
        // What cannot be computed is as far as can be.
        let Some((mean, var)) = self.process.condition(query.differences, query.residuals, space) else {
            return Local {
                mean: linear,
                var: prior,
                noise: self.usual_error,
                distance: f64::INFINITY,
                linear,
            };
        };
        let r = self.process.distances(space);
        let (mut weights, mut errors) = (1.0, self.usual_error);
        for (r, error) in r.iter().zip(query.errors) {
            let weight = (-r).exp();
            weights += weight;
            errors += weight * error;
        }
        let distance = Distances::of_row(r);
        Local { mean: linear + mean, var, noise: errors / weights, distance, linear }
    }

    /// Everything about one row.
    pub(crate) fn predict(&self, query: Query<'_>, space: &mut LocalSpace) -> Stacked {
        let local = self.local(query, space);
        let far = self.distances.far(local.distance, self.process.family);
        let stacked = self.mean(query.mean, local.mean, query.features[0]);
        let mean = (1.0 - far) * stacked + far * local.linear;
        let var_latent = self.latent_variance(query, &local).max(far);
        let std = (var_latent + self.parts[4] * local.noise + self.noise).sqrt();
        let mut components: Vec<Component> = self
            .shape
            .iter()
            .map(|[weight, shift, width]| Component {
                weight: *weight,
                mean: mean + std * shift,
                std: std * width,
            })
            .collect();
        if let Some(prior) = self.prior {
            components.iter_mut().for_each(|c| c.weight *= prior);
            for (r, y) in self.process.distances(space).iter().zip(query.labels) {
                let weight = (-r / self.reach).exp();
                if weight > 1e-6 * prior {
                    components.push(Component { weight, mean: *y, std: self.bandwidth });
                }
            }
        }
        Stacked {
            mean,
            var_latent,
            density: Density::mixture(components),
            familiarity: self.distances.familiarity(local.distance),
        }
    }

    /// `w₁f̄ + w₂g + w₃h`
    pub(crate) fn mean(&self, members: f64, local: f64, features: f64) -> f64 {
        let [f, g, h] = self.weights;
        f * members + g * local + h * features
    }

    /// `a₁v_f + a₂v_g + a₃(f̄−g)² + a₄v_h + κ·max(0, v_g − v₅₀)` and what counts more in a gap.
    pub(crate) fn latent_variance(&self, query: Query<'_>, local: &Local) -> f64 {
        let [a, b, c, d, _] = self.parts;
        let unusual = self.caution * (local.var - self.usual_variance).max(0.0);
        let disagreement = (query.mean - local.mean).powi(2);
        let excess = [local.var - self.gap_thresholds[0], disagreement - self.gap_thresholds[1]];
        let gap: f64 = excess.iter().zip(&self.gap_weights).map(|(excess, b)| b * excess.max(0.0)).sum();
        a * query.var + b * local.var + c * disagreement + d * query.features[1] + unusual + gap
    }
}

/// The linear model at a row.
pub(crate) fn linear(coefficients: &[f64], x: &[f32]) -> f64 {
    let (slopes, intercept) = coefficients.split_at(x.len());
    slopes.iter().zip(x).map(|(b, x)| b * f64::from(*x)).sum::<f64>() + intercept[0]
}
