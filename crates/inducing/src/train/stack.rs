//! Fits what joins members and neighbours to rows that neither had seen.

use super::crossfit::{HeldOutFold, OutOfFold};
use super::join::{Joining, LinearFolds};
use crate::config::Config;
use crate::model::{Distances, Local, Query, Stack, Stacked};
use crate::neighbours::{Effort, LEAST_SPREAD, Place, Rows, feature_coordinates, fit, neighbours, spread};
use gp::{LocalProcess, LocalSpace, Matern};
use rayon::prelude::*;

/// Rows that the variance and the density are fitted to at most.
const MOST_ROWS: usize = 20_000;
/// Tables of at most this many rows look at this many neighbours at least.
const FEW: usize = 2000;
const FEW_COUNT: usize = 64;
/// Training rows as neighbours see them, and what members say of them.
pub(crate) struct Known<'a> {
    /// `[N, d]`
    pub(crate) x: &'a [f32],
    pub(crate) width: usize,
    /// Labels of one output `[N]`.
    pub(crate) y: Vec<f32>,
    /// Out-of-fold means and variances of it `[N]`.
    pub(crate) mean: Vec<f64>,
    pub(crate) var: Vec<f64>,
    /// Linear model of it.
    pub(crate) linear: Vec<f64>,
    /// The models that saw only a part of the rows, and which of them did not see a row; empty where none saw any.
    linear_folds: Vec<Vec<f64>>,
    fold_of_row: Vec<u32>,
    /// Members of an out-of-fold mean.
    pub(crate) repeats: usize,
    /// What every member says of the rows it left out, and which output this is.
    pub(crate) folds: &'a [HeldOutFold],
    pub(crate) output: (usize, usize),
    /// h and v_h of every row: see [`Stack`].
    pub(super) features: Vec<[f64; 2]>,
    /// What members of blocked folds say of their slabs, one slab after the other.
    pub(super) in_gaps: &'a [HeldOutFold],
    /// See [`Rows::apart`].
    apart: &'a [u32],
    /// Weights of the rows; empty for 1.
    weights: &'a [f64],
    /// Errors of new rows over those out of fold: the whole ensemble has more members than a row out of fold.
    shrink: f64,
}

/// What a fit gives.
pub(crate) struct Fitted {
    pub(crate) stack: Stack,
    /// Squared errors of every row when it was held out.
    pub(crate) errors: Vec<f32>,
    /// What is said of a sample of the rows.
    pub(crate) out_of_fold: Vec<Stacked>,
}

/// Rows out of `n` that scores look at.
pub(crate) fn sample(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(n.div_ceil(MOST_ROWS).max(1))
}

impl<'a> Known<'a> {
    /// Output `k` of `c` of the rows that join, whose inputs are `x [N, d]` and labels `y [N, C]`.
    pub(crate) fn new(
        joining: &'a Joining<'_>,
        x: &'a [f32],
        (y, c, k): (&[f32], usize, usize),
        oof: &OutOfFold,
        linear: &LinearFolds,
        folds: &'a [HeldOutFold],
    ) -> Self {
        let column = |values: &[f64]| values.iter().skip(k).step_by(c).copied().collect();
        let y = y.iter().skip(k).step_by(c).copied().collect();
        let (mean, var) = (column(&oof.mean), column(&oof.var));
        let (output, features) = ((c, k), Vec::new());
        let of_output = |beta: &Vec<f32>| beta.iter().skip(k).step_by(c).map(|&b| f64::from(b)).collect();
        Self {
            x,
            width: joining.inputs.width(),
            y,
            mean,
            var,
            linear: of_output(&linear.all),
            linear_folds: linear.folds.iter().map(of_output).collect(),
            fold_of_row: linear.of_rows.clone(),
            repeats: oof.repeats,
            folds,
            in_gaps: &joining.in_gaps,
            output,
            features,
            apart: &joining.apart,
            weights: &joining.weights,
            shrink: 1.0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.y.len()
    }

    /// How much a row counts.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    pub(super) fn row(&self, i: usize) -> &[f32] {
        &self.x[i * self.width..][..self.width]
    }

    /// Fits a stack; the processes of one that was fitted `before` stay.
    pub(crate) fn stack(mut self, config: &Config, before: Option<&Stack>) -> Fitted {
        let n = self.len();
        // Small tables can afford to look further.
        let count = if n <= FEW { config.neighbours.count.max(FEW_COUNT) } else { config.neighbours.count };
        let count = before.map_or(count.min(n.saturating_sub(1)), |before| before.count);
        let residuals: Vec<f32> = (0..n).map(|i| self.y[i] - self.linear_at(i, i) as f32).collect();
        let rows = Rows { coordinates: self.x, labels: &residuals, width: self.width, apart: self.apart };
        let log_spread = spread(&[rows]).max(LEAST_SPREAD).ln();
        let start = LocalProcess {
            family: Matern::Half,
            groups: (0..self.width).collect(),
            log_lengths: vec![(self.width as f64).sqrt().ln(); self.width],
            log_scale: log_spread,
            log_noise: log_spread + 0.1_f64.ln(),
        };
        let effort = Effort { rounds: 14, steps: 15, rows: (n / 8).clamp(16, 256) };
        let process = match before {
            Some(before) => before.process.clone(),
            None => fit(&[rows], start, count, effort, config.seed),
        };
        let all: Vec<Place> = (0..n).map(|i| (0, i)).collect();
        let found = neighbours(&[rows], &process, &all, count);
        // A member's held-out rows are related to each other.
        let feature_count = if self.apart.is_empty() { config.neighbours.feature_count } else { 0 };
        let (feature_process, features, spread) = match feature_count {
            0 => (None, self.mean.iter().map(|&mean| [mean, 0.0]).collect(), 0.0),
            count => {
                let lengths = process.inverse_lengths().into_iter().map(|w| w as f32).collect::<Vec<_>>();
                let before = before.and_then(|before| before.feature_process.clone());
                let (process, features, spread) =
                    self.by_features(&lengths, count, effort, config.seed, before);
                (Some(process), features, spread)
            }
        };
        self.features = features;
        let mut stack = Stack {
            process,
            count,
            linear: self.linear.clone(),
            feature_process,
            feature_count,
            weights: [1.0, 0.0, 0.0],
            parts: [1.0, 1.0, 0.1, 0.0, 0.0],
            noise: 0.0,
            usual_variance: f64::INFINITY,
            caution: 1.0,
            gap_weights: before.map_or([0.0; 2], |before| before.gap_weights),
            gap_thresholds: before.map_or([0.0; 2], |before| before.gap_thresholds),
            usual_error: 0.0,
            shape: vec![[1.0, 0.0, 1.0]],
            prior: None,
            reach: 1.0,
            bandwidth: 0.1,
            distances: Distances::default(),
        };
        let mut locals = self.local(&stack, &vec![0.0; n], &found);
        stack.weights = self.weights(&locals, spread, feature_count > 0);
        self.shrink = self.shrinkage(&stack, &locals, spread);
        let errors: Vec<f32> = (0..n).map(|i| self.error(&stack, &locals[i], i).powi(2) as f32).collect();
        let total: f64 = (0..n).map(|i| self.weight(i)).sum();
        stack.usual_error = (0..n).map(|i| self.weight(i) * f64::from(errors[i])).sum::<f64>() / total;
        let alone = locals.iter().zip(&self.y).map(|(local, &y)| (f64::from(y) - local.mean).powi(2));
        // v_g speaks of g alone: where the members are far better, it is far too large.
        stack.caution = (stack.usual_error / (alone.sum::<f64>() / n as f64).max(1e-12)).min(1.0);
        locals = self.local(&stack, &errors, &found);
        stack.usual_variance = quantile(locals.iter().map(|l| l.var).collect(), 0.5);
        stack.distances = Distances::new(locals.iter().map(|local| local.distance).collect());
        let sample: Vec<usize> = self.sample().collect();
        self.fit_variance(&mut stack, &locals, &sample);
        let disagreement = self.mean.iter().zip(&locals).map(|(mean, local)| (mean - local.mean).powi(2));
        let usual = [locals.iter().map(|local| local.var).collect(), disagreement.collect()];
        self.fit_gaps(&mut stack, usual, &errors);
        self.fit_shape(&mut stack, &locals, &sample);
        self.fit_mixing(&mut stack, &locals, &sample, &found);
        let sample = self.sample().map(|i| self.predict(&stack, &errors, &found[i], i));
        let out_of_fold = sample.collect();
        Fitted { stack, errors, out_of_fold }
    }

    /// Rows that scores look at.
    pub(crate) fn sample(&self) -> impl Iterator<Item = usize> + use<> {
        sample(self.len())
    }

    /// Everything about a row, by members that never saw it and by other rows.
    fn predict(&self, stack: &Stack, errors: &[f32], found: &[u32], i: usize) -> Stacked {
        let (differences, residuals) = self.around(found, i);
        let pick = |values: &[f32]| found.iter().map(|&j| f64::from(values[j as usize])).collect::<Vec<_>>();
        let query = Query {
            differences: &differences,
            labels: &pick(&self.y),
            residuals: &residuals,
            errors: &pick(errors),
            ..self.query(i)
        };
        let said = stack.predict(query, &mut LocalSpace::default());
        // Of fewer members than a new row has: as unsure as they are.
        let density = said.density.stretched(said.mean, 1.0 / self.shrink);
        Stacked { density, var_latent: said.var_latent / self.shrink.powi(2), ..said }
    }

    /// The linear model that did not see row `i`, at row `j`.
    fn linear_at(&self, i: usize, j: usize) -> f64 {
        let fold = self.fold_of_row.get(i).map(|&fold| &self.linear_folds[fold as usize]);
        crate::model::linear(fold.unwrap_or(&self.linear), self.row(j))
    }

    /// Differences of some rows from row `i`, and what a linear model that did not see it leaves of their labels.
    pub(super) fn around(&self, found: &[u32], i: usize) -> (Vec<f64>, Vec<f64>) {
        let rows = Rows { coordinates: self.x, labels: &self.y, width: self.width, apart: &[] };
        let (differences, mut labels) = rows.around(self.row(i), found);
        labels.iter_mut().zip(found).for_each(|(label, &j)| *label -= self.linear_at(i, j as usize));
        (differences, labels)
    }

    fn local(&self, stack: &Stack, errors: &[f32], found: &[Vec<u32>]) -> Vec<Local> {
        let of_row = |space: &mut LocalSpace, i: usize| {
            let (differences, residuals) = self.around(&found[i], i);
            let errors: Vec<f64> = found[i].iter().map(|&j| f64::from(errors[j as usize])).collect();
            let query =
                Query { differences: &differences, residuals: &residuals, errors: &errors, ..self.query(i) };
            stack.local(query, space)
        };
        (0..self.len()).into_par_iter().map_init(LocalSpace::default, of_row).collect()
    }

    /// What is asked about a row, but for its neighbours.
    pub(super) fn query(&self, i: usize) -> Query<'_> {
        let (linear, features) = (self.linear_at(i, i), self.features.get(i).copied().unwrap_or_default());
        let (mean, var) = (self.mean[i], self.var[i]);
        Query { linear, mean, var, features, differences: &[], labels: &[], residuals: &[], errors: &[] }
    }

    /// The process of each member on the rows it left out; what it says of every one of them by the others, and how much the
    /// members that left a row out differ.
    fn by_features(
        &self,
        weights: &[f32],
        count: usize,
        effort: Effort,
        seed: u64,
        before: Option<LocalProcess>,
    ) -> (LocalProcess, Vec<[f64; 2]>, f64) {
        let (c, k) = self.output;
        let pools: Vec<(Vec<f32>, Vec<f32>)> = self
            .folds
            .iter()
            .map(|fold| {
                let (n, mean) = (fold.places.len(), |i: usize| fold.mean[i * c + k]);
                let x = |i: usize| self.row(fold.places[i]);
                let label = |(i, &place): (usize, &usize)| self.y[place] - mean(i) as f32;
                let labels = fold.places.iter().enumerate().map(label).collect();
                (feature_coordinates(n, x, weights, &fold.phi, mean), labels)
            })
            .collect();
        let features = self.folds[0].phi.len() / self.folds[0].places.len();
        let width = weights.len() + features + 1;
        let pools: Vec<Rows<'_>> = pools
            .iter()
            .map(|(coordinates, labels)| Rows { coordinates, labels, width, apart: &[] })
            .collect();
        let log_spread = spread(&pools).max(LEAST_SPREAD).ln();
        let groups = [vec![0; weights.len()], vec![1; features], vec![2]].concat();
        let start = LocalProcess {
            family: Matern::Half,
            groups,
            log_lengths: vec![1.5_f64.ln(), 3_f64.ln(), 0.0],
            log_scale: log_spread,
            log_noise: log_spread + 0.3_f64.ln(),
        };
        let process = before.unwrap_or_else(|| fit(&pools, start, count, effort, seed ^ 0xfea));
        let places: Vec<Place> =
            pools.iter().enumerate().flat_map(|(m, pool)| (0..pool.len()).map(move |i| (m, i))).collect();
        let found = neighbours(&pools, &process, &places, count);
        let condition = |space: &mut LocalSpace, (&(m, i), found): (&Place, &Vec<u32>)| {
            let (differences, labels) = pools[m].around(pools[m].row(i), found);
            let (add, var) =
                process.condition(&differences, &labels, space).unwrap_or((0.0, process.log_scale.exp()));
            (self.folds[m].mean[i * c + k] + add, var)
        };
        let said: Vec<(f64, f64)> =
            places.par_iter().zip(&found).map_init(LocalSpace::default, condition).collect();
        // Sums of means, of their squares, of variances, and how many.
        let mut sums = vec![[0.0; 4]; self.len()];
        for ((m, i), (mean, var)) in places.into_iter().zip(said) {
            let sum = &mut sums[self.folds[m].places[i]];
            *sum = [sum[0] + mean, sum[1] + mean * mean, sum[2] + var, sum[3] + 1.0];
        }
        let mut apart = 0.0;
        let features = sums.iter().enumerate().map(|(i, [mean, squares, var, n])| match n {
            0.0 => [self.mean[i], 0.0],
            n => {
                apart += (squares / n - (mean / n).powi(2)).max(0.0) * n / (n - 1.0).max(1.0);
                [mean / n, var / n]
            }
        });
        let features = features.collect();
        (process, features, apart / self.len() as f64)
    }

    /// Weights of members, neighbours and features: what their errors out of fold suggest, corrected for the ensemble having more
    /// members than a row out of fold. Not negative, they sum to one.
    fn weights(&self, locals: &[Local], spread: f64, with_features: bool) -> [f64; 3] {
        let n = self.len() as f64;
        let mut errors = [[0.0; 3]; 3];
        for (i, local) in locals.iter().enumerate() {
            let y = f64::from(self.y[i]);
            let e = [y - self.mean[i], y - local.mean, y - self.features[i][0]];
            for (row, a) in errors.iter_mut().zip(e) {
                row.iter_mut().zip(e).for_each(|(sum, b)| *sum += self.weight(i) * a * b / n);
            }
        }
        if self.repeats > 1 {
            let share = 1.0 / self.repeats as f64 - 1.0 / self.folds.len() as f64;
            let members = self.var.iter().sum::<f64>() / n;
            errors[0][0] -= share * members;
            errors[2][2] -= share * spread;
            // Both follow the same members.
            let both = share * members.min(spread);
            errors[0][2] -= both;
            errors[2][0] -= both;
        }
        simplex(&errors, if with_features { 3 } else { 2 })
    }

    /// Root of `1 − (1/R − 1/E)(w₁²V_f + w₃²V_h + 2w₁w₃ min(V_f, V_h))/M`: the variances V of members fall with their number, of the
    /// mean squared error M the rest stays, and at least half of it.
    fn shrinkage(&self, stack: &Stack, locals: &[Local], spread: f64) -> f64 {
        const MOST: f64 = 0.5;
        if self.repeats < 2 {
            return 1.0; // One member has no variance to be seen.
        }
        let n = self.len() as f64;
        let squares: f64 = (0..self.len()).map(|i| self.error(stack, &locals[i], i).powi(2)).sum();
        let share = 1.0 / self.repeats as f64 - 1.0 / self.folds.len() as f64;
        let [members, _, features] = stack.weights;
        let own = self.var.iter().sum::<f64>() / n;
        let both = 2.0 * members * features * own.min(spread);
        let less = share * (members.powi(2) * own + features.powi(2) * spread + both);
        (1.0 - (less * n / squares.max(1e-12)).min(MOST)).sqrt()
    }

    pub(super) fn error(&self, stack: &Stack, local: &Local, i: usize) -> f64 {
        self.shrink * (f64::from(self.y[i]) - stack.mean(self.mean[i], local.mean, self.features[i][0]))
    }
}

pub(super) fn quantile(mut values: Vec<f64>, p: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * p) as usize]
}

/// The weights `w ≥ 0`, `Σw = 1` of the first `count` that minimise `wᵀEw`: the best of all faces.
fn simplex(errors: &[[f64; 3]; 3], count: usize) -> [f64; 3] {
    let mut best = (f64::INFINITY, [1.0, 0.0, 0.0]);
    for face in 1_usize..1 << count {
        let chosen: Vec<usize> = (0..count).filter(|k| face >> k & 1 == 1).collect();
        let m = chosen.len();
        // E w = 1 up to a factor; a little on the diagonal, for two that are the same.
        let ridge = 1e-9 * chosen.iter().map(|&k| errors[k][k]).fold(1e-300, f64::max);
        let matrix: Vec<f64> = chosen
            .iter()
            .flat_map(|&i| chosen.iter().map(move |&j| errors[i][j] + if i == j { ridge } else { 0.0 }))
            .collect();
        let Ok(solved) = gp::solve_ridge(&matrix, &vec![1.0; m], 0.0) else { continue };
        let total: f64 = solved.iter().sum();
        if !(total.is_finite() && total != 0.0) || solved.iter().any(|w| w / total < 0.0) {
            continue;
        }
        let mut weights = [0.0; 3];
        chosen.iter().zip(&solved).for_each(|(&k, w)| weights[k] = w / total);
        let value: f64 = (0..3)
            .flat_map(|i| (0..3).map(move |j| (i, j)))
            .map(|(i, j)| weights[i] * errors[i][j] * weights[j])
            .sum();
        if value < best.0 {
            best = (value, weights);
        }
    }
    best.1
}
