//! Logistic regression: the linear baseline of classes, and a member of their ensembles where it helps.

use super::lbfgs::descend;
use crate::metrics::{average, row_nll};
use crate::model::LinearClasses;

/// Steps of a fit.
const STEPS: usize = 100;
/// Penalties `½λ‖W‖²/n` that are tried.
const PENALTIES: [f64; 4] = [0.1, 1.0, 10.0, 100.0];
/// Parts of the rows that leave each other out.
const FOLDS: usize = 5;
/// Rows times inputs times classes of one fit at most.
const MOST: usize = 20_000_000;

/// Rows `x [N, d]` of these classes, `k` of them.
#[derive(Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub(super) x: &'a [f32],
    pub(super) width: usize,
    pub(super) labels: &'a [u32],
    /// Empty for 1.
    pub(super) weights: &'a [f64],
    pub(super) classes: usize,
}

/// Probabilities of all rows by fits that left them out `[N, K]`, and the penalty that made them best.
pub(super) struct Logistic {
    pub(super) p: Vec<f64>,
    pub(super) penalty: f64,
}

impl Labelled<'_> {
    pub(super) fn is_small(&self) -> bool {
        self.labels.len() * self.width * self.classes <= MOST
    }

    /// Leaves every fold out in turns; `folds` says which one a row is in.
    pub(super) fn out_of_fold(&self, folds: &[usize]) -> Logistic {
        let n = self.labels.len();
        let tried = PENALTIES.map(|penalty| {
            let mut p = vec![0.0; n * self.classes];
            for fold in 0..folds.iter().max().map_or(0, |most| most + 1) {
                let (inside, outside): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| folds[i] == fold);
                if inside.is_empty() || outside.is_empty() {
                    continue;
                }
                let fitted = self.fit(&outside, penalty);
                for i in inside {
                    let own = fitted.probabilities(&self.x[i * self.width..][..self.width]);
                    p[i * self.classes..][..self.classes].copy_from_slice(&own);
                }
            }
            let nll = average(n, self.weights)(&|i| {
                row_nll(&p[i * self.classes..][..self.classes], self.labels[i] as usize)
            });
            (nll, Logistic { p, penalty })
        });
        tried.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are penalties").1
    }

    /// The fit to some rows.
    pub(super) fn fit(&self, rows: &[usize], penalty: f64) -> LinearClasses {
        let (d, k) = (self.width, self.classes);
        let total: f64 = rows.iter().map(|&i| self.weights.get(i).copied().unwrap_or(1.0)).sum();
        let mut theta = vec![0.0; (d + 1) * k];
        descend(&mut theta, STEPS, |theta, gradient| {
            let (w, b) = theta.split_at(d * k);
            gradient.iter_mut().zip(w).for_each(|(g, w)| *g = penalty * w / total);
            gradient[d * k..].fill(0.0);
            let mut value = 0.5 * penalty * w.iter().map(|w| w * w).sum::<f64>() / total;
            let mut p = vec![0.0; k];
            for &i in rows {
                let x = &self.x[i * d..][..d];
                let share = self.weights.get(i).copied().unwrap_or(1.0) / total;
                softmax(x, w, b, &mut p);
                value += share * row_nll(&p, self.labels[i] as usize);
                p[self.labels[i] as usize] -= 1.0;
                p.iter_mut().for_each(|p| *p *= share);
                for (x, to) in x.iter().zip(gradient.chunks_exact_mut(k)) {
                    to.iter_mut().zip(&p).for_each(|(to, p)| *to += f64::from(*x) * p);
                }
                gradient[d * k..].iter_mut().zip(&p).for_each(|(to, p)| *to += p);
            }
            value
        });
        LinearClasses { share: 0.0, sharpness: 1.0, classes: k, theta }
    }
}

/// Which of a few folds each of `n` rows is in, where nothing relates them: dealt by class.
pub(super) fn folds_by_class(labels: &[u32], seed: u64) -> Vec<usize> {
    let rows: Vec<usize> = (0..labels.len()).collect();
    let mut folds = vec![0; labels.len()];
    for fold in 0..FOLDS {
        data::fold(&rows, labels, FOLDS, fold, seed).into_iter().for_each(|i| folds[i] = fold);
    }
    folds
}

/// `softmax(xW + b)`
pub(crate) fn softmax(x: &[f32], w: &[f64], b: &[f64], p: &mut [f64]) {
    p.copy_from_slice(b);
    for (x, w) in x.iter().zip(w.chunks_exact(p.len())) {
        p.iter_mut().zip(w).for_each(|(p, w)| *p += f64::from(*x) * w);
    }
    let largest = p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    p.iter_mut().for_each(|p| *p = (*p - largest).exp());
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn the_fit_finds_the_slopes_that_made_the_classes() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let n = 4000;
        let x: Vec<f32> = (0..2 * n).map(|_| rng.random_range(-2.0..2.0)).collect();
        let labels: Vec<u32> = x
            .chunks_exact(2)
            .map(|x| {
                let p = 1.0 / (1.0 + (-(1.5 * f64::from(x[0]) - 0.5 * f64::from(x[1]) + 0.3)).exp());
                u32::from(rng.random_range(0.0..1.0) < p)
            })
            .collect();
        let rows = Labelled { x: &x, width: 2, labels: &labels, weights: &[], classes: 2 };
        let all: Vec<usize> = (0..n).collect();
        let theta = rows.fit(&all, 0.1).theta;
        let slope = |j: usize| theta[2 * j + 1] - theta[2 * j];
        assert!((slope(0) - 1.5).abs() < 0.15 && (slope(1) + 0.5).abs() < 0.1, "{theta:?}");
        assert!((slope(2) - 0.3).abs() < 0.12, "{theta:?}");
        let folds = folds_by_class(&labels, 1);
        let p = rows.out_of_fold(&folds).p;
        assert!(p.chunks_exact(2).all(|p| (p[0] + p[1] - 1.0).abs() < 1e-9));
    }

    #[test]
    fn a_weight_of_two_is_a_row_that_is_there_twice() {
        let (x, labels) = ([0.1_f32, -0.4, 0.9, 0.9, -1.2], [0, 0, 1, 1, 1]);
        let all: Vec<usize> = (0..5).collect();
        let twice = Labelled { x: &x, width: 1, labels: &labels, weights: &[], classes: 2 };
        let (x, labels) = ([0.1_f32, -0.4, 0.9, -1.2], [0, 0, 1, 1]);
        let weighted =
            Labelled { x: &x, width: 1, labels: &labels, weights: &[1.0, 1.0, 2.0, 1.0], classes: 2 };
        let (a, b) = (twice.fit(&all, 1.0).theta, weighted.fit(&all[..4], 1.0).theta);
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-3), "{a:?} {b:?}");
    }
}
