//! Probabilities of classes from latent functions, and the likelihood of one row's own label.
//!
//! ```text
//! probit   s_c = f_c/√(1 + v)       two classes: p = Φ(s)    more: p_c = Φ(s_c)/Σ_j Φ(s_j)   one-vs-all, normalised
//! logit    s_c = f_c/√(1 + πv/8)    two classes: p = σ(s)    more: p = softmax(s)
//! ```
//! `f_c` and `v` are the latent function's mean and variance; for two classes there is one, positive for the second.
//! The probit's division by √(1 + v) is exact for two classes; the logit's is MacKay's approximation (1992).

use crate::normal_cdf::log_cdf_derivatives;
use serde::{Deserialize, Serialize};

/// How a latent function becomes a probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// By the normal distribution function: the paper's.
    #[default]
    Probit,
    /// By the logistic function and softmax, whose straight tails forgive a wrong label more.
    Logit,
}

impl Link {
    /// What a latent variance makes of a mean: `1/√(1 + v)`, or `1/√(1 + πv/8)`.
    pub fn shrink(self, var: f64) -> f64 {
        1.0 / (1.0 + self.widening() * not_negative(var)).sqrt()
    }

    /// Of the latent variance, what widens a probability.
    fn widening(self) -> f64 {
        match self {
            Self::Probit => 1.0,
            Self::Logit => std::f64::consts::PI / 8.0,
        }
    }

    /// Unnormalised log-probability of a class at `s`, and its derivative.
    fn log_weight(self, s: f64) -> (f64, f64) {
        match self {
            Self::Probit => {
                let at = log_cdf_derivatives(s);
                (at.value, at.d1)
            }
            Self::Logit => (s, 1.0),
        }
    }
}

/// Rounding may take a variance below zero. One that is not a number stays none: as zero it would be certainty.
fn not_negative(var: f64) -> f64 {
    if var < 0.0 { 0.0 } else { var }
}

/// Classes that `outputs` latent functions tell apart.
pub fn classes_of(outputs: usize) -> usize {
    outputs.max(2)
}

/// The probability of each class from the latent means `[C]` (one for two classes) and their common variance.
///
/// ```
/// let p = inducing_gp::class_probabilities(inducing_gp::Link::Probit, &[2.0, -2.0, -2.0], 0.5);
/// assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p[0] > 0.8);
/// ```
pub fn class_probabilities(link: Link, mean: &[f64], var: f64) -> Vec<f64> {
    let scale = link.shrink(var);
    let both;
    let mean = match *mean {
        [f] => {
            both = second_of_two(link, f);
            &both
        }
        _ => mean,
    };
    let log_p: Vec<f64> = mean.iter().map(|f| link.log_weight(f * scale).0).collect();
    let largest = log_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = log_p.iter().map(|l| (l - largest).exp()).sum();
    log_p.iter().map(|l| (l - largest).exp() / total).collect()
}

/// Two classes' latent functions from the one of the second: `Φ(−f) + Φ(f) = 1`, `σ(f) = softmax(−f/2, f/2)`.
fn second_of_two(link: Link, f: f64) -> [f64; 2] {
    match link {
        Link::Probit => [-f, f],
        Link::Logit => [-0.5 * f, 0.5 * f],
    }
}

/// Negative log-probability of class `label`; writes its derivatives by the means, returns it and the derivative by
/// the variance.
pub fn class_loss(link: Link, mean: &[f64], var: f64, label: usize, d_mean: &mut [f64]) -> (f64, f64) {
    if let [f] = *mean {
        let both = second_of_two(link, f);
        if link == Link::Probit {
            // Φ(−s) and Φ(s) sum to one: the own class alone has a say.
            let variance = 1.0 + not_negative(var);
            let (value, slope) = link.log_weight(both[label] / variance.sqrt());
            d_mean[0] = if label == 1 { -slope } else { slope } / variance.sqrt();
            return (-value, 0.5 * slope * both[label] / variance.powf(1.5));
        }
        let mut d_both = [0.0; 2];
        let (loss, d_var) = class_loss(link, &both, var, label, &mut d_both);
        d_mean[0] = 0.5 * (d_both[1] - d_both[0]);
        return (loss, d_var);
    }
    let variance = 1.0 + link.widening() * not_negative(var);
    let scale = 1.0 / variance.sqrt();
    let mut largest = f64::NEG_INFINITY;
    let at: Vec<(f64, f64)> = mean
        .iter()
        .map(|f| {
            let at = link.log_weight(f * scale);
            largest = largest.max(at.0);
            at
        })
        .collect();
    let total: f64 = at.iter().map(|(value, _)| (value - largest).exp()).sum();
    let mut d_var = 0.0;
    for (c, ((value, slope), (f, d))) in at.iter().zip(mean.iter().zip(d_mean)).enumerate() {
        let p = (value - largest).exp() / total;
        let d_s = (p - f64::from(u8::from(c == label))) * slope;
        *d = d_s * scale;
        d_var -= 0.5 * link.widening() * d_s * f * scale / variance;
    }
    (largest + total.ln() - at[label].0, d_var)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: [Link; 2] = [Link::Probit, Link::Logit];

    /// Means that are near, far apart and far below zero; for two and for more classes.
    const MEANS: [&[f64]; 5] =
        [&[0.3], &[-4.0], &[0.5, -0.2, 0.1], &[9.0, -30.0, 2.0], &[-40.0, -41.0, -45.0]];

    #[test]
    fn the_loss_is_the_negative_logarithm_of_the_probability() {
        for (link, mean) in LINKS.iter().flat_map(|&link| MEANS.map(|mean| (link, mean))) {
            for var in [0.0, 0.7, 30.0] {
                let p = class_probabilities(link, mean, var);
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                for (label, p) in p.iter().enumerate() {
                    let (loss, _) = class_loss(link, mean, var, label, &mut vec![0.0; mean.len()]);
                    assert!((loss + p.ln()).abs() < 1e-9 * (1.0 + loss), "{mean:?} {label}");
                }
            }
        }
    }

    #[test]
    fn a_variance_that_is_not_finite_is_never_certainty() {
        for link in LINKS {
            assert!(link.shrink(f64::NAN).is_nan() && link.shrink(f64::INFINITY) == 0.0);
            for mean in MEANS {
                let classes = classes_of(mean.len());
                let p = class_probabilities(link, mean, f64::INFINITY);
                assert!(p.iter().all(|p| (p - 1.0 / classes as f64).abs() < 1e-12), "{p:?}");
                assert!(class_probabilities(link, mean, f64::NAN).iter().all(|p| p.is_nan()));
                assert!(class_loss(link, mean, f64::NAN, 0, &mut vec![0.0; mean.len()]).0.is_nan());
            }
        }
    }

    #[test]
    fn derivatives_equal_central_differences() {
        for (link, mean) in LINKS.iter().flat_map(|&link| MEANS.map(|mean| (link, mean))) {
            for var in [0.2, 3.0] {
                for label in 0..classes_of(mean.len()) {
                    let mut d_mean = vec![0.0; mean.len()];
                    let (_, d_var) = class_loss(link, mean, var, label, &mut d_mean);
                    let loss =
                        |mean: &[f64], var| class_loss(link, mean, var, label, &mut vec![0.0; mean.len()]).0;
                    let close = |analytic: f64, numeric: f64| {
                        assert!(
                            (analytic - numeric).abs() < 1e-7 * (1.0 + numeric.abs()),
                            "{analytic} {numeric}"
                        );
                    };
                    let h = 1e-6;
                    close(d_var, (loss(mean, var + h) - loss(mean, var - h)) / (2.0 * h));
                    for c in 0..mean.len() {
                        let moved = |h: f64| {
                            let mut mean = mean.to_vec();
                            mean[c] += h;
                            loss(&mean, var)
                        };
                        close(d_mean[c], (moved(h) - moved(-h)) / (2.0 * h));
                    }
                }
            }
        }
    }
}
