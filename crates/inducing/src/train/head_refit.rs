//! The head refit of classes, to all training rows or as many as there is room for. With encoder, inducing points and kernel
//! frozen the latent means are linear in the pseudo-labels' `w` and `b`, and the loss of these rows has one minimum, or
//! with the probit link is close to that.
//!
//! ```text
//! ψ_i = [Z | 1]ᵀK_zz⁻¹k_zi [D+1]     f_i = ψ_iᵀθ, θ = [w; b] [D+1, C]
//! loss = Σ_i ω_i ℓ(f_i, v_i, y_i)/N + λ s²‖θ − θ₀‖²     ℓ = −log p_y;  s² = mean of ψ²
//! ```
//! Steps on shifted batches leave θ₀ some way from it. How far to go towards it, λ, is what the validation part says.

use super::{NetworkEvent, NetworkTrainer, Phase, Targets, lbfgs};
use crate::error::Error;
use crate::head::{AnyPosterior, FeatureScale, HeadParameters};
use crate::metrics::row_nll;
use crate::model::{FEWEST_TO_TRUST, minimise};
use gp::Link;
use linalg::gemm::{Plus, product};
use linalg::{MatMut, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// λ, one after the other until the validation part has enough.
const PULLS: [f64; 5] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
/// Steps with one of them.
const STEPS: usize = 40;
/// Numbers ψ of either part that are kept at most: 64 MiB.
const LARGEST: usize = 1 << 23;
/// Multiplications of a step in one direction at most: many classes see fewer rows.
const WORK: usize = 1 << 29;
/// More features than this are left alone: ψ takes a matrix of their square.
const MOST_FEATURES: usize = 1024;
/// Rows that are multiplied at a time, and in whose order sums are taken.
const ROWS: usize = 2048;

/// Rows as a linear model of the latent means sees them.
struct Rows {
    psi: Vec<f64>,     // [N, D+1]
    var: Vec<f64>,     // [N]
    labels: Vec<u32>,  // [N]
    weights: Vec<f64>, // [N] or empty
    link: Link,
    outputs: usize,
    threads: usize,
}

impl NetworkTrainer<'_> {
    /// Moves `w` and `b` if that lowers the validation part's loss; `theta` begins with the encoder's parameters.
    pub(super) fn refit(
        &self,
        theta: &[f32],
        scale: &FeatureScale,
        head: &mut HeadParameters,
        listen: &mut dyn FnMut(NetworkEvent<'_>) -> bool,
    ) -> Result<(), Error> {
        let (width, held_out) = (self.encoder.dim() + 1, self.validation_sample());
        if width > MOST_FEATURES || held_out.len() < FEWEST_TO_TRUST {
            return Ok(());
        }
        let mut rows = self.data.train.to_vec();
        rows.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed(9, Phase::Likelihood, 0)));
        rows.truncate((LARGEST / width).min(WORK / (width * self.head.outputs)).max(1));
        let train = self.linear_rows(theta, &rows, scale, head)?;
        let validation =
            self.linear_rows(theta, &held_out[..held_out.len().min(LARGEST / width)], scale, head)?;
        let start: Vec<f64> = head.w.iter().chain(&head.b).map(|&x| f64::from(x)).collect();
        let nll = |theta: &[f64]| validation.nll(theta, self.config.train.recalibrate);
        let before = nll(&start);
        let (mut fitted, mut best) = (start.clone(), (before, start.clone()));
        let square = train.psi.iter().map(|psi| psi * psi).sum::<f64>() / train.psi.len() as f64;
        for pull in PULLS {
            lbfgs::descend(&mut fitted, STEPS, |theta, gradient| {
                let mut loss = train.loss(theta, gradient);
                for ((x, start), gradient) in theta.iter().zip(&start).zip(gradient) {
                    loss += pull * square * (x - start).powi(2);
                    *gradient += 2.0 * pull * square * (x - start);
                }
                loss
            });
            let after = nll(&fitted);
            if after >= best.0 {
                break;
            }
            best = (after, fitted.clone());
        }
        if best.0 == before {
            return Ok(());
        }
        let (w, b) = best.1.split_at(head.w.len());
        head.w = w.iter().map(|&x| x as f32).collect();
        head.b = b.iter().map(|&x| x as f32).collect();
        listen(NetworkEvent::Notice(format!(
            "pseudo-labels fitted to {} training rows: validation NLL {before:.4} → {:.4}",
            rows.len(),
            best.0
        )));
        Ok(())
    }

    fn linear_rows(
        &self,
        theta: &[f32],
        rows: &[usize],
        scale: &FeatureScale,
        head: &HeadParameters,
    ) -> Result<Rows, Error> {
        let Targets::Classes { labels, .. } = self.data.targets else { unreachable!("classes have labels") };
        let mut phi = self.features(theta, rows)?;
        scale.apply(&mut phi);
        // Pseudo-labels that are Z itself and 1: what is predicted then is ψ.
        let d = self.encoder.dim();
        let w = (0..d * (d + 1)).map(|i| f32::from(u8::from(i / (d + 1) == i % (d + 1)))).collect();
        let b = (0..=d).map(|i| f32::from(u8::from(i == d))).collect();
        let basis = HeadParameters { w, b, ..head.clone() };
        let shape = &self.head;
        let (psi, var) =
            AnyPosterior::new(&basis, &shape.kernel, shape.jitter, shape.precision, self.threads)?
                .predict(&phi, rows.len());
        Ok(Rows {
            psi,
            var,
            labels: rows.iter().map(|&row| labels[row]).collect(),
            weights: self.data.targets.weights(rows),
            link: shape.link,
            outputs: shape.outputs,
            threads: self.threads,
        })
    }
}

impl Rows {
    /// Calls `work` with the latent means of parts of the rows; the results in order.
    fn parts<R: Send>(&self, theta: &[f64], work: impl Fn(usize, &[f64], &[f64]) -> R + Sync) -> Vec<R> {
        let (c, width) = (self.outputs, theta.len() / self.outputs);
        let of_part = |(part, psi): (usize, &[f64])| {
            let n = psi.len() / width;
            let mut f = vec![0.0; n * c];
            let (left, right) =
                (MatRef::from_row_major_slice(psi, n, width), MatRef::from_row_major_slice(theta, width, c));
            let out = MatMut::from_row_major_slice_mut(&mut f, n, c);
            product(out, Plus::Nothing, left, right, 1.0);
            work(part * ROWS, psi, &f)
        };
        let parts = self.psi.chunks(ROWS * width).enumerate();
        if self.threads < 2 {
            return parts.map(of_part).collect();
        }
        parts.collect::<Vec<_>>().into_par_iter().map(of_part).collect()
    }

    /// Mean loss at `theta [D+1, C]`; writes its gradient.
    fn loss(&self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        let (c, share) = (self.outputs, 1.0 / self.labels.len() as f64);
        let parts = self.parts(theta, |first, psi, f| {
            let n = f.len() / c;
            let (mut loss, mut d_f) = (0.0, vec![0.0; f.len()]);
            for (i, (f, d_f)) in f.chunks_exact(c).zip(d_f.chunks_exact_mut(c)).enumerate() {
                let row = first + i;
                let weight = share * self.weights.get(row).copied().unwrap_or(1.0);
                let (own, _) = gp::class_loss(self.link, f, self.var[row], self.labels[row] as usize, d_f);
                loss += weight * own;
                d_f.iter_mut().for_each(|d| *d *= weight);
            }
            let mut d_theta = vec![0.0; theta.len()];
            let width = theta.len() / c;
            let out = MatMut::from_row_major_slice_mut(&mut d_theta, width, c);
            let left = MatRef::from_row_major_slice(psi, n, width).transpose();
            product(out, Plus::Nothing, left, MatRef::from_row_major_slice(&d_f, n, c), 1.0);
            (loss, d_theta)
        });
        gradient.fill(0.0);
        let mut total = 0.0;
        for (loss, d_theta) in parts {
            total += loss;
            gradient.iter_mut().zip(d_theta).for_each(|(to, d)| *to += d);
        }
        total
    }

    /// Mean negative log-probability of the labels; at the temperature that suits them best, if one will be chosen.
    fn nll(&self, theta: &[f64], at_best_temperature: bool) -> f64 {
        let f = self.parts(theta, |_, _, f| f.to_vec()).concat();
        let nll = |log_slope: f64| {
            let slope = log_slope.exp();
            let mut sum = 0.0;
            for ((f, &var), &label) in f.chunks_exact(self.outputs).zip(&self.var).zip(&self.labels) {
                let scale = slope * self.link.shrink(var);
                let s: Vec<f64> = f.iter().map(|f| scale * f).collect();
                sum += row_nll(&gp::class_probabilities(self.link, &s, 0.0), label as usize);
            }
            sum / self.labels.len() as f64
        };
        if at_best_temperature { nll(minimise(-1.0, 1.0, nll)) } else { nll(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(link: Link, outputs: usize, weights: &[f64]) -> Rows {
        let (n, width) = (5, 3);
        let psi = (0..n * width).map(|i| (1.7 * i as f64).sin()).collect();
        let var = (0..n).map(|i| 0.1 * i as f64).collect();
        let labels = (0..n as u32).map(|i| i % gp::classes_of(outputs) as u32).collect();
        Rows { psi, var, labels, weights: weights.to_vec(), link, outputs, threads: 1 }
    }

    #[test]
    fn the_gradient_equals_central_differences_for_both_links_two_classes_and_more() {
        for link in [Link::Probit, Link::Logit] {
            for (outputs, weights) in [(1, &[][..]), (3, &[]), (3, &[0.5, 1.0, 2.0, 0.1, 1.0])] {
                let rows = rows(link, outputs, weights);
                let theta: Vec<f64> = (0..3 * outputs).map(|i| (0.9 * i as f64).cos()).collect();
                let mut gradient = vec![0.0; theta.len()];
                rows.loss(&theta, &mut gradient);
                for i in 0..theta.len() {
                    let moved = |h: f64| {
                        let mut theta = theta.clone();
                        theta[i] += h;
                        rows.loss(&theta, &mut vec![0.0; theta.len()])
                    };
                    let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    assert!((numeric - gradient[i]).abs() < 1e-8, "{link:?} {outputs} {i}");
                }
            }
        }
    }

    #[test]
    fn the_best_temperature_is_better_than_none() {
        let rows = rows(Link::Logit, 3, &[]);
        let theta = vec![2.0, -1.0, 0.5, 3.0, 0.0, -2.0, 1.0, 1.0, -1.0];
        let plain = rows.loss(&theta, &mut vec![0.0; theta.len()]);
        assert!((rows.nll(&theta, false) - plain).abs() < 1e-12);
        assert!(rows.nll(&theta, true) < plain);
    }
}
