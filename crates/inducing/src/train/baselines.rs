//! Simple models beside every result: what is always the same, what is linear, and the mean of the nearest rows.

use super::Targets;
use super::logistic::{Labelled, folds_by_class};
use crate::dataset::{Inputs, Prepared, Values};
use crate::explain::Observed;
use crate::metrics::{ClassMetrics, Metrics};
use crate::model::{LinearClasses, Model, Score, Scores};
use crate::neighbours::Index;
use crate::nn::Mode;
use std::collections::BTreeMap;

/// Rows that baselines learn from, and rows that they are judged by, at most.
const MOST_ROWS: usize = 5000;
/// Folds of rows without a test part.
const FOLDS: usize = 5;
/// Neighbours whose labels are averaged.
const NEIGHBOURS: usize = 10;
/// More inputs than this are no table.
const MOST_INPUTS: usize = 512;

/// Scores by the baseline's name.
type Baselines = BTreeMap<String, Scores>;

/// What a baseline says of some rows.
enum Said {
    /// Means `[N]` and one deviation.
    Numbers(Vec<f64>, f64),
    /// `[N, K]`
    Classes(Vec<f64>),
}

impl Prepared {
    /// Puts the scores of baselines beside those of a model, on the same parts.
    pub(crate) fn compare(&self, model: &mut Model, seed: u64) {
        let spread = |rows: &[usize]| -> Vec<usize> {
            rows.iter().copied().step_by(rows.len().div_ceil(MOST_ROWS).max(1)).collect()
        };
        let train = spread(&self.train);
        let parts: Vec<String> = model.header().metrics.keys().cloned().collect();
        for part in parts {
            let folds: Vec<[Vec<usize>; 2]> = match &part[..] {
                "test" => vec![[train.clone(), spread(&self.test)]],
                "validation" => vec![[train.clone(), spread(&self.validation)]],
                _ => {
                    let labels = match &self.values {
                        Values::Classes(labels) => train.iter().map(|&row| labels[row]).collect(),
                        Values::Numbers(_) => vec![0; train.len()],
                    };
                    let of_rows = self.related.folds(&train, FOLDS, seed);
                    let of_rows = of_rows.unwrap_or_else(|| folds_by_class(&labels, seed));
                    let fold = |fold: usize| {
                        let (own, others): (Vec<_>, Vec<_>) =
                            train.iter().zip(&of_rows).partition(|(_, of_row)| **of_row == fold);
                        let rows =
                            |pairs: Vec<(&usize, &usize)>| pairs.into_iter().map(|(&row, _)| row).collect();
                        [rows(others), rows(own)]
                    };
                    let folds = (0..FOLDS).map(fold);
                    folds
                        .filter(|[others, own]: &[Vec<usize>; 2]| others.len() > 1 && !own.is_empty())
                        .collect()
                }
            };
            if !folds.is_empty() {
                model.header_mut().baselines.insert(part, self.baselines(&folds));
            }
        }
    }

    fn baselines(&self, folds: &[[Vec<usize>; 2]]) -> Baselines {
        let mut baselines = Baselines::new();
        for (k, name) in self.schema.target_names().into_iter().enumerate() {
            for baseline in ["constant", "linear", "neighbours"] {
                let said: Option<Vec<Said>> =
                    folds.iter().map(|[train, test]| self.say(baseline, k, train, test)).collect();
                if let Some(score) = said.and_then(|said| self.judge(k, folds, said)) {
                    baselines.entry(baseline.into()).or_default().insert(name.clone(), score);
                }
            }
        }
        baselines
    }

    /// What a baseline says of the target `k` of `test`.
    fn say(&self, baseline: &str, k: usize, train: &[usize], test: &[usize]) -> Option<Said> {
        let weights = self.weights_of(train);
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let total: f64 = (0..train.len()).map(weight).sum();
        let width = self.inputs.width();
        let x = |rows: &[usize]| -> Option<Vec<f32>> {
            let is_table = matches!(&self.inputs, Inputs::Table(table) if table.texts.is_empty());
            let fits = is_table && (1..=MOST_INPUTS).contains(&width);
            if fits { self.inputs.numbers(width, rows, Mode::Predict).ok() } else { None }
        };
        let nearest = |k: usize| -> Option<Vec<Vec<u32>>> {
            Some(Index::new(&x(train)?, &vec![1.0; width]).nearest(&x(test)?, None, k))
        };
        match self.observed(train) {
            Observed::Numbers(y) => {
                let c = self.schema.numbers().len();
                let y: Vec<f64> = y.into_iter().skip(k).step_by(c).collect();
                let mean = (0..y.len()).map(|i| weight(i) * y[i]).sum::<f64>() / total;
                let deviation = |of_row: &dyn Fn(usize) -> f64, dof: usize| {
                    let squares: f64 = (0..y.len()).map(|i| weight(i) * (y[i] - of_row(i)).powi(2)).sum();
                    let kept = (y.len().saturating_sub(dof)).max(1) as f64 / y.len() as f64;
                    (squares / total / kept).sqrt().max(1e-9 * (1.0 + mean.abs()))
                };
                Some(match baseline {
                    "constant" => Said::Numbers(vec![mean; test.len()], deviation(&|_| mean, 1)),
                    "linear" => {
                        let std = deviation(&|_| mean, 1);
                        let mut standard = vec![0.0; self.inputs.rows()];
                        train.iter().zip(&y).for_each(|(&row, y)| standard[row] = ((y - mean) / std) as f32);
                        let targets =
                            Targets::Numbers { y: &standard, outputs: 1, row_weights: &self.row_weights };
                        let beta: Vec<f64> = self.ridge(targets, train)?.into_iter().map(f64::from).collect();
                        let predict = |x: &[f32]| mean + std * crate::model::linear(&beta, x);
                        let (own, asked) = (x(train)?, x(test)?);
                        let said = asked.chunks_exact(width).map(predict).collect();
                        Said::Numbers(said, deviation(&|i| predict(&own[i * width..][..width]), width + 1))
                    }
                    _ => {
                        let average = |found: &Vec<u32>| {
                            found.iter().map(|&j| y[j as usize]).sum::<f64>() / found.len().max(1) as f64
                        };
                        let said = nearest(NEIGHBOURS)?.iter().map(average).collect();
                        let rows: Vec<usize> = (0..train.len()).collect();
                        let own = x(train)?;
                        let others =
                            Index::new(&own, &vec![1.0; width]).nearest(&own, Some(&rows), NEIGHBOURS);
                        Said::Numbers(said, deviation(&|i| average(&others[i]), 0))
                    }
                })
            }
            Observed::Classes(labels) => {
                let k = self.schema.class_counts().len();
                let mut shares = vec![1.0; k];
                labels.iter().enumerate().for_each(|(i, &label)| shares[label as usize] += weight(i));
                let sum: f64 = shares.iter().sum();
                shares.iter_mut().for_each(|share| *share /= sum);
                Some(Said::Classes(match baseline {
                    "constant" => shares.repeat(test.len()),
                    "linear" => {
                        let own = x(train)?;
                        let rows =
                            Labelled { x: &own, width, labels: &labels, weights: &weights, classes: k };
                        if !rows.is_small() {
                            return None;
                        }
                        let penalty = rows.out_of_fold(&folds_by_class(&labels, 0)).penalty;
                        let all: Vec<usize> = (0..labels.len()).collect();
                        let fitted: LinearClasses = rows.fit(&all, penalty);
                        x(test)?.chunks_exact(width).flat_map(|x| fitted.probabilities(x)).collect()
                    }
                    _ => nearest(NEIGHBOURS)?
                        .iter()
                        .flat_map(|found| {
                            // As if one neighbour more were of every class in part.
                            let mut p = shares.clone();
                            found.iter().for_each(|&j| p[labels[j as usize] as usize] += 1.0);
                            let sum = 1.0 + found.len() as f64;
                            p.into_iter().map(move |p| p / sum)
                        })
                        .collect(),
                }))
            }
        }
    }

    fn judge(&self, k: usize, folds: &[[Vec<usize>; 2]], said: Vec<Said>) -> Option<Score> {
        let rows: Vec<usize> = folds.iter().flat_map(|[_, test]| test).copied().collect();
        let weights = self.weights_of(&rows);
        match self.observed(&rows) {
            Observed::Numbers(y) => {
                let c = self.schema.numbers().len();
                let y: Vec<f64> = y.into_iter().skip(k).step_by(c).collect();
                let (mut mean, mut std) = (Vec::new(), Vec::new());
                for said in said {
                    let Said::Numbers(means, deviation) = said else { return None };
                    std.extend(vec![deviation; means.len()]);
                    mean.extend(means);
                }
                Some(Score::Number(Metrics::weighted_gaussian(&y, &mean, &std, &weights)))
            }
            Observed::Classes(y) => {
                let parts = said.into_iter().map(|said| match said {
                    Said::Classes(p) => p,
                    Said::Numbers(..) => Vec::new(),
                });
                let p: Vec<f64> = parts.flatten().collect();
                let labels = self.schema.classes()?;
                Some(Score::Classes(ClassMetrics::weighted(
                    &p,
                    &y,
                    labels,
                    &weights,
                    &crate::metrics::predicted,
                )))
            }
        }
    }
}
