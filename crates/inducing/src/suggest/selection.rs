//! The greedy choice of rows: the best, then the best given that it was observed, and so on.

use super::conditioning::PoolProcess;
use super::improvement::log_expected_improvement;

/// By what rows are ordered.
#[derive(Debug)]
pub(super) enum Criterion {
    /// The variance (or information) that is left, summed over the outputs.
    Variance,
    /// Expected improvement of one number.
    Improvement(Improvement),
}

/// What a standardised number may improve on.
#[derive(Debug)]
pub(super) struct Improvement {
    /// μ of each row `[n]`.
    pub(super) mean: Vec<f64>,
    /// 1 for the largest value, −1 for the smallest.
    sign: f64,
    /// sign times the best value.
    best: f64,
    /// The target's deviation.
    unit: f64,
}

impl Criterion {
    /// Of a number of this deviation, over the best value known times the sign; means are to be filled in.
    pub(super) fn improvement(sign: f64, best: f64, unit: f64) -> Self {
        Self::Improvement(Improvement { mean: Vec::new(), sign, best, unit })
    }

    /// What orders rows, the largest first: a variance, or the logarithm of an improvement.
    fn key(&self, processes: &[PoolProcess<'_>], row: usize) -> f64 {
        let var: f64 = processes.iter().map(|process| process.var()[row]).sum();
        match self {
            Self::Variance => var,
            Self::Improvement(Improvement { mean, sign, best, .. }) => {
                log_expected_improvement(sign * mean[row], var.sqrt(), *best)
            }
        }
    }

    /// The key as people read it.
    fn score(&self, key: f64) -> f64 {
        match self {
            Self::Variance => key,
            Self::Improvement(Improvement { unit, .. }) => unit * key.exp(),
        }
    }

    /// Takes a row as observed at its mean (the kriging believer: Ginsbourger, Le Riche and Carraro 2010). Means stay,
    /// because what is observed is what was predicted.
    fn believe(&mut self, row: usize) {
        if let Self::Improvement(Improvement { mean, sign, best, .. }) = self {
            *best = best.max(*sign * mean[row]);
        }
    }
}

/// Chooses rows out of `n` with their scores, the best first; ties go to the first row.
pub(super) fn choose(
    mut processes: Vec<PoolProcess<'_>>,
    mut criterion: Criterion,
    n: usize,
    count: usize,
) -> Vec<(usize, f64)> {
    let mut left: Vec<usize> = (0..n).collect();
    let mut chosen = Vec::with_capacity(count.min(n));
    while chosen.len() < count && !left.is_empty() {
        let (mut at, mut largest) = (0, f64::NEG_INFINITY);
        for (place, &row) in left.iter().enumerate() {
            let key = criterion.key(&processes, row);
            if key > largest {
                (at, largest) = (place, key);
            }
        }
        let row = left.remove(at);
        chosen.push((row, criterion.score(largest)));
        criterion.believe(row);
        processes.iter_mut().for_each(|process| process.observe(row));
    }
    chosen
}
