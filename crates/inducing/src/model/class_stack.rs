//! What joins class probabilities and the classes of the nearest training rows.
//!
//! ```text
//! p(c) = (λ·p₀(c) + Σ_j κ_j·[c_j = c]) / (λ + Σ_j κ_j)        κ_j = exp(−r_j/r₀)
//! ```
//! Near training rows it counts them, far from all of them it goes over to the classes' frequencies. In an ensemble of tables rows are
//! compared by their inputs; a single network compares their features, and the variance of the process joins its latent variance.

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
    /// Share of each class; empty where numbers are predicted.
    pub frequencies: Vec<f64>,
    /// Of held-out rows.
    pub distances: Distances,
    /// Errors of held-out images when they are drawn by principal components of training images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<Distances>,
}

/// What is known of where a row is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Position {
    /// From its neighbours.
    pub(crate) distance: f64,
    /// Error of its reconstruction.
    pub(crate) error: Option<f64>,
}

impl ClassStack {
    /// From 0 where training rows are to 1 where none is.
    pub(crate) fn far(&self, at: Position) -> f64 {
        let (usual, far) =
            (self.reconstruction.as_ref(), self.distances.far(at.distance, self.process.family));
        usual.zip(at.error).map_or(far, |(usual, error)| usual.beyond(error).max(far))
    }

    /// A p-value: of the distance, or of the smaller of two that are asked for at once.
    pub(crate) fn familiarity(&self, at: Position) -> f64 {
        let near = self.distances.familiarity(at.distance);
        match self.reconstruction.as_ref().zip(at.error) {
            None => near,
            Some((usual, error)) => 1.0 - (1.0 - near.min(usual.familiarity(error))).powi(2),
        }
    }

    /// Changes the probabilities of one row, whose neighbours are at distances `r` and of these classes; returns how familiar it is.
    pub(crate) fn join(&self, p: &mut [f64], r: &[f64], classes: &[usize], error: Option<f64>) -> f64 {
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
        let at = Position { distance: Distances::of_row(r), error };
        let far = self.far(at);
        p.iter_mut().zip(&self.frequencies).for_each(|(p, usual)| *p = (1.0 - far) * *p + far * usual);
        self.familiarity(at)
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
            && self.reconstruction.as_ref().is_none_or(Distances::is_sound)
    }
}
