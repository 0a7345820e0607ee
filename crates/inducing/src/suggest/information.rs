//! What a class label would say of the latent functions: the mutual information of both.
//!
//! ```text
//! I(y; f) = H(E p(y|f)) − E H(p(y|f))        BALD (Houlsby et al. 2011)
//! ```
//! f is drawn from the members of an ensemble in turn, or from the one network, each with its own latent variance: members that
//! disagree and a process far from its inducing points both count. What is left, `E H(p(y|f))`, is the label's own noise. A single
//! softmax layer has no latent variance and cannot tell the two apart: there all of the entropy counts.

use crate::metrics::{entropy, normal_quantile};
use crate::model::{ClassCalibration, Features, Latent, Model};
use gp::Link;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Draws of the latent functions of one row, at least.
const DRAWS: usize = 32;

/// What labels of some rows would say.
#[derive(Debug)]
pub(super) struct Information {
    /// I(y; f) in nats `[n]`.
    pub(super) gained: Vec<f64>,
    /// E H(p(y|f)) `[n]`.
    pub(super) noise: Vec<f64>,
}

impl Information {
    /// Of rows whose features and latent functions are known.
    pub(super) fn new(model: &Model, features: &Features, latent: &Latent) -> Self {
        let (n, c) = (features.rows, model.outputs());
        let calibration = model.header().class_calibration.unwrap_or(ClassCalibration::none());
        let link = model.header().config.link();
        // Means and variances [n, C] of the members, or of the only network.
        let sources: Vec<(Vec<f64>, Vec<f64>)> = if latent.members.is_empty() {
            vec![(latent.mean.clone(), latent.var.clone())]
        } else {
            let networks = model.networks().iter().zip(&features.networks);
            let of_member = networks.map(|(network, phi)| network.latent(phi, n));
            of_member.map(|(mean, var)| (mean, var.into_iter().flat_map(|v| vec![v; c]).collect())).collect()
        };
        let blind = sources.len() == 1 && model.heads().next().is_none();
        let normal = normal_draws(DRAWS.div_ceil(sources.len()), c, model.header().config.seed);
        let of_row = |i: usize| {
            let row = i * c..(i + 1) * c;
            let scaled = |(mean, var): &(Vec<f64>, Vec<f64>)| {
                let mean = mean[row.clone()].iter().map(|f| calibration.slope * f).collect();
                let std =
                    var[row.clone()].iter().map(|v| calibration.slope * (calibration.latent * v).sqrt());
                Gaussian { mean, std: std.collect() }
            };
            let (gained, noise) = of_row(link, &sources.iter().map(scaled).collect::<Vec<_>>(), &normal);
            if blind { (gained + noise, 0.0) } else { (gained, noise) }
        };
        let (gained, noise) = (0..n).into_par_iter().map(of_row).unzip();
        Self { gained, noise }
    }
}

/// Latent functions of one row `[C]`, independent of each other.
struct Gaussian {
    mean: Vec<f64>,
    std: Vec<f64>,
}

/// I(y; f) and E H(p(y|f)) where f is drawn from all `sources` equally often.
fn of_row(link: Link, sources: &[Gaussian], normal: &[Vec<f64>]) -> (f64, f64) {
    let draws = (sources.len() * normal.len()) as f64;
    let (mut mean_p, mut noise) = (Vec::new(), 0.0);
    for Gaussian { mean, std } in sources {
        for e in normal {
            let f: Vec<f64> = mean.iter().zip(std).zip(e).map(|((f, std), e)| f + std * e).collect();
            let p = gp::class_probabilities(link, &f, 0.0);
            noise += entropy(&p) / draws;
            mean_p.resize(p.len(), 0.0);
            mean_p.iter_mut().zip(&p).for_each(|(sum, p)| *sum += p / draws);
        }
    }
    ((entropy(&mean_p) - noise).max(0.0), noise)
}

/// Standard normal vectors `[count][c]` whose every coordinate is spread evenly (a Latin hypercube): the same for all rows.
fn normal_draws(count: usize, c: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draws = vec![vec![0.0; c]; count];
    for k in 0..c {
        let mut strata: Vec<usize> = (0..count).collect();
        strata.shuffle(&mut rng);
        for (draw, stratum) in draws.iter_mut().zip(strata) {
            draw[k] = normal_quantile((stratum as f64 + 0.5) / count as f64);
        }
    }
    draws
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(mean: &[f64], std: f64) -> Gaussian {
        Gaussian { mean: mean.to_vec(), std: vec![std; mean.len()] }
    }

    #[test]
    fn members_without_variance_inform_by_their_disagreement_alone() {
        let means = [[0.3, -1.0, 0.2], [2.0, 0.0, -1.0], [-0.5, -0.5, 1.5]];
        let members: Vec<Gaussian> = means.iter().map(|mean| gaussian(mean, 0.0)).collect();
        let p: Vec<Vec<f64>> = means.iter().map(|f| gp::class_probabilities(Link::Logit, f, 0.0)).collect();
        let mean_p: Vec<f64> = (0..3).map(|k| p.iter().map(|p| p[k]).sum::<f64>() / 3.0).collect();
        let expected = p.iter().map(|p| entropy(p)).sum::<f64>() / 3.0;
        let (gained, noise) = of_row(Link::Logit, &members, &normal_draws(8, 3, 0));
        assert!((noise - expected).abs() < 1e-12 && (gained - (entropy(&mean_p) - expected)).abs() < 1e-12);
        let agreed = [gaussian(&means[0], 0.0), gaussian(&means[0], 0.0)];
        assert!(of_row(Link::Logit, &agreed, &normal_draws(8, 3, 0)).0 < 1e-12);
    }

    #[test]
    fn one_network_informs_by_its_latent_variance_as_the_integral_says() {
        for (mean, std) in [(0.0, 0.5), (1.0, 1.0), (-2.0, 3.0)] {
            let (mut noise, step) = (0.0, 1e-3);
            for i in -8000..8000 {
                let e = (f64::from(i) + 0.5) * step;
                let weight = step * (-0.5 * e * e).exp() / std::f64::consts::TAU.sqrt();
                noise += weight * entropy(&gp::class_probabilities(Link::Probit, &[mean + std * e], 0.0));
            }
            let total = entropy(&gp::class_probabilities(Link::Probit, &[mean], std * std));
            let found = of_row(Link::Probit, &[gaussian(&[mean], std)], &normal_draws(DRAWS, 1, 0));
            // 32 strata for the integral.
            assert!(
                (found.0 - (total - noise)).abs() < 0.01 && (found.1 - noise).abs() < 0.01,
                "{found:?} {total} {noise}"
            );
        }
    }

    #[test]
    fn draws_have_the_moments_of_a_normal_distribution_and_follow_from_the_seed() {
        let draws = normal_draws(32, 3, 7);
        for k in 0..3 {
            let column: Vec<f64> = draws.iter().map(|draw| draw[k]).collect();
            let square: f64 = column.iter().map(|e| e * e).sum::<f64>() / 32.0;
            // Middles of strata leave the tails out: 0.96 of the variance at 32 of them.
            assert!(column.iter().sum::<f64>().abs() < 1e-9 && (0.93..1.0).contains(&square), "{square}");
        }
        assert!(draws == normal_draws(32, 3, 7) && draws != normal_draws(32, 3, 8));
    }
}
