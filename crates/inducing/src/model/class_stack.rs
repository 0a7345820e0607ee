//! What joins class probabilities and the classes of the nearest training rows.
//!
//! ```text
//! p(c) = (λ·p₀(c) + Σ_j κ_j·[c_j = c]) / (λ + Σ_j κ_j)        κ_j = exp(−r_j/r₀)
//! ```
//! Near training rows it counts them, far from all of them it goes over to the classes' frequencies.

use super::Distances;
use super::stack::MOST_NEIGHBOURS;
use gp::LocalProcess;
use serde::{Deserialize, Serialize};

/// How probabilities follow from members and neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassStack {
    /// Whose length scales measure distances.
    pub process: LocalProcess,
    /// How many of the nearest rows.
    pub count: usize,
    /// λ; none without the neighbours' classes.
    pub prior: Option<f64>,
    /// r₀, in length scales.
    pub reach: f64,
    /// Share of each class.
    pub frequencies: Vec<f64>,
    /// Of held-out rows.
    pub distances: Distances,
}

impl ClassStack {
    /// Changes the probabilities of one row, whose neighbours are at distances `r` and of these classes; returns how familiar it is.
    pub(crate) fn join(&self, p: &mut [f64], r: &[f64], classes: &[usize]) -> f64 {
        if let Some(prior) = self.prior {
            let mut total = prior;
            p.iter_mut().for_each(|p| *p *= prior);
            for (r, &class) in r.iter().zip(classes) {
                let weight = (-r / self.reach).exp();
                p[class] += weight;
                total += weight;
            }
            p.iter_mut().for_each(|p| *p /= total);
        }
        let distance = Distances::of_row(r);
        let far = self.distances.far(distance);
        p.iter_mut().zip(&self.frequencies).for_each(|(p, usual)| *p = (1.0 - far) * *p + far * usual);
        self.distances.familiarity(distance)
    }

    /// Whether these are numbers that a fit can give, for rows of some width and a number of classes.
    pub(crate) fn is_sound(&self, width: usize, classes: usize) -> bool {
        let positive = |x: &f64| *x > 0.0 && x.is_finite();
        self.process.is_sound(width)
            && (1..=MOST_NEIGHBOURS).contains(&self.count)
            && self.prior.as_ref().is_none_or(positive)
            && positive(&self.reach)
            && self.frequencies.len() == classes
            && self.frequencies.iter().all(|p| (0.0..=1.0).contains(p))
            && self.distances.is_sound()
    }
}
