//! Logistic regression on the inputs, mixed into the probabilities of an ensemble.

use crate::train::softmax;
use serde::{Deserialize, Serialize};

/// A linear model of classes: `q(c) = (1 − share)·p₀(c) + share·softmax(xW + b)_c`, then `p(c) ∝ q(c)^sharpness`: a mean of two sure
/// opinions is less sure than either.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearClasses {
    /// How much it counts, from 0 to 1.
    pub share: f64,
    /// The exponent.
    pub sharpness: f64,
    /// K
    pub classes: usize,
    /// `W [d, K]`, then `b [K]`.
    pub theta: Vec<f64>,
}

/// Exponents at least and at most.
pub(crate) const MILDEST: f64 = 0.5;
pub(crate) const SHARPEST: f64 = 4.0;

/// `p(c)^t`, of sum one.
pub(crate) fn sharpen(p: &mut [f64], t: f64) {
    let largest = p.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    p.iter_mut().for_each(|p| *p = (*p / largest).powf(t));
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= sum);
}

impl LinearClasses {
    pub(crate) fn probabilities(&self, x: &[f32]) -> Vec<f64> {
        let (w, b) = self.theta.split_at(x.len() * self.classes);
        let mut p = vec![0.0; self.classes];
        softmax(x, w, b, &mut p);
        p
    }

    /// Mixes it into probabilities `p [N, K]` of rows `x [N, d]`.
    pub(crate) fn mix(&self, x: &[f32], p: &mut [f64]) {
        let width = self.theta.len() / self.classes - 1;
        for (x, p) in x.chunks_exact(width).zip(p.chunks_exact_mut(self.classes)) {
            let own = self.probabilities(x);
            p.iter_mut().zip(own).for_each(|(p, own)| *p = (1.0 - self.share) * *p + self.share * own);
            sharpen(p, self.sharpness);
        }
    }

    /// Whether it suits inputs of this width and this many classes.
    pub(crate) fn is_sound(&self, width: usize, classes: usize) -> bool {
        self.classes == classes
            && self.theta.len() == (width + 1) * classes
            && (0.0..=1.0).contains(&self.share)
            && (MILDEST..=SHARPEST).contains(&self.sharpness)
            && self.theta.iter().all(|t| t.is_finite())
    }
}
