//! The variance in parts and the density of a stack, fitted to errors of held-out rows.

use super::lbfgs::descend;
use super::stack::{Known, quantile};
use crate::metrics::{gaussian_nll, normal_cdf};
use crate::model::{Local, Stack};
use crate::neighbours::{Rows, distances};
use rayon::prelude::*;

/// Variances are at least this part of the mean squared error.
const FLOOR: f64 = 1e-4;
/// The smallest deviation of a neighbour's label.
const NARROWEST: f64 = 0.01;
/// Labels that are rounded to larger steps are never resolved finer than this part of one: a density has no end there.
const LATTICE: f64 = 0.1;

/// A row's density without neighbours; distance and difference of labels of each neighbour.
type Seen = (f64, Vec<(f64, f64)>);

impl Known<'_> {
    /// Median step from one label to the next larger: of counts and other rounded labels it is large.
    fn step_of_labels(&self) -> f64 {
        let mut labels = self.y.clone();
        labels.sort_by(f32::total_cmp);
        labels.dedup();
        let steps: Vec<f64> = labels.windows(2).map(|pair| f64::from(pair[1] - pair[0])).collect();
        if steps.is_empty() { 0.0 } else { quantile(steps, 0.5) }
    }

    /// Parts of the variance by the density of held-out errors.
    pub(super) fn fit_variance(&self, stack: &mut Stack, locals: &[Local], sample: &[usize]) {
        let floor = FLOOR * stack.usual_error.max(1e-9);
        let rows: Vec<([f64; 6], f64, f64, f64)> = sample
            .iter()
            .map(|&i| {
                let local = &locals[i];
                let disagreement = (self.mean[i] - local.mean).powi(2);
                let parts = [self.var[i], local.var, disagreement, self.features[i][1], local.noise, 1.0];
                let unusual = stack.caution * (local.var - stack.usual_variance).max(0.0);
                (parts, floor + unusual, self.error(stack, local, i).powi(2), self.weight(i))
            })
            .collect();
        let average = |k: usize| rows.iter().map(|(parts, ..)| parts[k]).sum::<f64>() / rows.len() as f64;
        // Every part begins with a share of the error.
        let start: Vec<f64> =
            (0..6).map(|k| (0.15 * stack.usual_error / average(k).max(1e-9)).max(1e-9).ln()).collect();
        let mut theta = start.clone();
        descend(&mut theta, 200, |theta, gradient| {
            gradient.fill(0.0);
            let a: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
            let mut sum = 0.0;
            for (parts, least, square, weight) in &rows {
                let var = least + parts.iter().zip(&a).map(|(p, a)| p * a).sum::<f64>();
                sum += 0.5 * weight * (var.ln() + square / var);
                let by = 0.5 * weight * (1.0 / var - square / (var * var));
                for ((g, p), a) in gradient.iter_mut().zip(parts).zip(&a) {
                    *g += by * p * a;
                }
            }
            // A weak pull towards the start: parts that say nothing stay small but do not vanish.
            for ((g, t), s) in gradient.iter_mut().zip(theta).zip(&start) {
                sum += 0.25 * (t - s) * (t - s);
                *g += 0.5 * (t - s);
            }
            sum
        });
        let a: Vec<f64> = theta.iter().map(|t| t.exp()).collect();
        // Few rows look better than they are by what was fitted to them (Akaike's correction).
        let honest = 1.0 + 2.0 * (self.width + 11) as f64 / self.len() as f64;
        stack.parts = [a[0], a[1], a[2], a[3], a[4]].map(|part| honest * part);
        stack.noise = honest * (a[5] + floor);
    }

    fn std(&self, stack: &Stack, local: &Local, i: usize) -> f64 {
        let latent = stack.latent_variance(self.query(i), local);
        (latent + stack.parts[4] * local.noise + stack.noise).sqrt()
    }

    /// The shape of standardised errors: a few Gaussians, by expectation and maximisation.
    pub(super) fn fit_shape(&self, stack: &mut Stack, locals: &[Local], sample: &[usize]) {
        const FEWEST: usize = 60;
        const ROUNDS: usize = 60;
        let z: Vec<f64> = sample
            .iter()
            .map(|&i| self.error(stack, &locals[i], i) / self.std(stack, &locals[i], i))
            .collect();
        if z.len() < FEWEST {
            return;
        }
        let count = if z.len() < 400 { 2 } else { 4 };
        let mut shape: Vec<[f64; 3]> =
            (0..count).map(|k| [1.0 / count as f64, 0.0, 0.3 * 2.0_f64.powi(k)]).collect();
        for _ in 0..ROUNDS {
            let mut sums = vec![[0.0; 3]; shape.len()];
            for (&z, &i) in z.iter().zip(sample) {
                let p: Vec<f64> =
                    shape.iter().map(|[w, m, s]| w * (-gaussian_nll(z, *m, *s)).exp()).collect();
                let total = p.iter().sum::<f64>().max(1e-300);
                for (sums, p) in sums.iter_mut().zip(&p) {
                    let share = self.weight(i) * p / total;
                    sums[0] += share;
                    sums[1] += share * z;
                    sums[2] += share * z * z;
                }
            }
            // As if four rows more had been seen, of a Gaussian.
            let prior = 4.0 / shape.len() as f64;
            for (component, [n, sum, squares]) in shape.iter_mut().zip(sums) {
                let mean = sum / (n + prior);
                let var = (squares - 2.0 * mean * sum + n * mean * mean + prior) / (n + prior);
                *component = [(n + prior) / (z.len() as f64 + 4.0), mean, var.sqrt().max(0.02)];
            }
        }
        stack.shape = shape;
    }

    /// How much the neighbours' labels count, by a grid.
    pub(super) fn fit_mixing(
        &self,
        stack: &mut Stack,
        locals: &[Local],
        sample: &[usize],
        found: &[Vec<u32>],
    ) {
        const MOST: usize = 5000;
        // Of labels that are rounded, what counts is the probability of the step around a label, not a density.
        let cell = Some(self.step_of_labels()).filter(|step| 0.5 * step > NARROWEST);
        let density = |error: f64, std: f64| match cell {
            None => (-gaussian_nll(error, 0.0, std)).exp(),
            Some(cell) => {
                let cdf = |sign: f64| normal_cdf((error + sign * 0.5 * cell) / std);
                (cdf(1.0) - cdf(-1.0)) / cell
            }
        };
        let step = sample.len().div_ceil(MOST);
        let sample: Vec<usize> = sample.iter().copied().step_by(step).collect();
        let rows_of_y = Rows { coordinates: self.x, labels: &self.y, width: self.width, apart: &[] };
        // Density without neighbours, and each neighbour's distance and difference of labels.
        let rows: Vec<Seen> = sample
            .par_iter()
            .map(|&i| {
                let std = self.std(stack, &locals[i], i);
                let error = self.error(stack, &locals[i], i);
                let p = stack.shape.iter().map(|[w, m, s]| w * density(error - m * std, s * std)).sum();
                let r = distances(rows_of_y, &stack.process, i, &found[i]).into_iter();
                let apart = found[i].iter().map(|&j| f64::from(self.y[j as usize] - self.y[i]));
                (p, r.zip(apart).collect())
            })
            .collect();
        let plain = -rows.iter().map(|(p, _)| p.max(1e-300).ln()).sum::<f64>() / rows.len() as f64;
        let narrowest = LATTICE * cell.unwrap_or(0.0);
        let grid: Vec<(f64, f64)> = [0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6]
            .into_iter()
            .flat_map(|reach| [NARROWEST, 0.02, 0.05, 0.1, 0.2, 0.4].map(|h: f64| (reach, h.max(narrowest))))
            .collect();
        let best = grid
            .into_par_iter()
            .map(|(reach, bandwidth)| {
                let sums: Vec<(f64, f64)> = rows
                    .iter()
                    .map(|(_, near)| {
                        near.iter().fold((0.0, 0.0), |(q, k), (r, y)| {
                            let weight = (-r / reach).exp();
                            (q + weight * density(*y, bandwidth), k + weight)
                        })
                    })
                    .collect();
                let nll = |prior: f64| {
                    let of_row = |((p, _), (q, k)): (&Seen, &(f64, f64))| {
                        -((prior * p + q) / (prior + k)).max(1e-300).ln()
                    };
                    rows.iter().zip(&sums).map(of_row).sum::<f64>() / rows.len() as f64
                };
                let priors = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];
                let (value, prior) = priors
                    .into_iter()
                    .map(|prior| (nll(prior), prior))
                    .min_by(|a, b| a.0.total_cmp(&b.0))
                    .expect("not empty");
                (value, prior, reach, bandwidth)
            })
            .collect::<Vec<_>>()
            .into_iter()
            .min_by(|a, b| a.0.total_cmp(&b.0));
        // Few rows must gain more: a label that is there twice by chance would be believed.
        let margin = 0.5 / (rows.len() as f64).sqrt();
        if let Some((value, prior, reach, bandwidth)) = best
            && value < plain - margin.max(0.005)
        {
            (stack.prior, stack.reach, stack.bandwidth) = (Some(prior), reach, bandwidth);
        }
    }
}
