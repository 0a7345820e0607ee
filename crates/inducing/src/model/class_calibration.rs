//! Recalibration of class probabilities on held-out rows.
//!
//! ```text
//! s_c = β f_c / √(1 + a v)         probit; √(1 + π a v/8) for the logit
//! β and a minimise the held-out negative log-probability
//! ```
//! `a` rescales the latent variance as in regression; `β` is an inverse temperature. A softmax layer has `β` alone.

use super::calibration::minimise;
use serde::{Deserialize, Serialize};

/// How latent functions become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassCalibration {
    /// β
    pub slope: f64,
    /// a
    pub latent: f64,
}

/// Fewer held-out rows than this are not taken at their word.
pub(crate) const FEWEST_TO_TRUST: usize = 30;

impl ClassCalibration {
    /// Leaves probabilities as the model makes them.
    pub fn none() -> Self {
        Self { slope: 1.0, latent: 1.0 }
    }

    /// Minimises `nll` of the held-out rows, of which there are `rows`.
    pub(crate) fn fit(rows: usize, has_variance: bool, nll: impl Fn(Self) -> f64) -> Self {
        let mut fitted = Self::none();
        if rows < FEWEST_TO_TRUST {
            return fitted;
        }
        // A weak pull towards leaving things as they are: rows like the training rows say little about `a`.
        let objective = |candidate: Self| {
            rows as f64 * nll(candidate) + candidate.slope.ln().powi(2) + candidate.latent.ln().powi(2)
        };
        for _ in 0..3 {
            let at = fitted.slope.ln();
            fitted.slope =
                minimise(at - 2.0, at + 2.0, |x| objective(Self { slope: x.exp(), ..fitted })).exp();
            if has_variance {
                let at = fitted.latent.ln();
                fitted.latent =
                    minimise(at - 3.0, at + 3.0, |x| objective(Self { latent: x.exp(), ..fitted })).exp();
            }
        }
        fitted
    }

    /// Whether these are numbers that a fit can give.
    pub(crate) fn is_sound(&self) -> bool {
        [self.slope, self.latent].iter().all(|x| *x > 0.0 && x.is_finite())
    }
}
