//! Joins the members of an ensemble by what they say of rows they never saw, and with the nearest of these rows.

use super::class_stack::{JoinedRows, fit_classes};
use super::crossfit::{HeldOutFold, OutOfFold, held_out};
use super::decision::decision;
use super::logistic::{Labelled, folds_by_class};
use super::stack::{Known, sample};
use crate::config::Config;
use crate::dataset::{Inputs, Values};
use crate::error::Error;
use crate::metrics::{average, row_nll};
use crate::model::{
    Calibration, ClassCalibration, Ensemble, HeldOut, Latent, LinearClasses, MILDEST, Model,
    OutOfFoldPredictions, Predictions, SHARPEST, Score, Scores, Stack, Stacked, minimise, sharpen,
};
use crate::neighbours::{KeptRows, folds_of};
use crate::nn::Mode;
use std::sync::Arc;

/// Fewer rows than this are no neighbourhood, and more columns than this have none.
const FEWEST_NEIGHBOURS: usize = 16;
const MOST_COLUMNS: usize = 256;

/// Rows that join members and neighbours.
pub(crate) struct Joining<'a> {
    pub(crate) inputs: &'a Inputs,
    /// Which of the inputs.
    pub(crate) rows: &'a [usize],
    /// Places among them that each member left out, most rows `repeats` times.
    pub(crate) left_out: Vec<Vec<usize>>,
    pub(crate) repeats: usize,
    /// What members of blocked folds say of their slabs.
    pub(crate) in_gaps: Vec<HeldOutFold>,
    /// What was observed of them: standardised numbers `[N, C]`, or classes `[N]`.
    pub(crate) labels: Values,
    /// See [`Rows::apart`](crate::neighbours::Rows::apart).
    pub(crate) apart: Vec<u32>,
    /// Weights of the rows; empty for 1.
    pub(crate) weights: Vec<f64>,
}

/// Where the fit begins.
pub(crate) enum Begin {
    /// With linear models of all training rows, if there are any.
    Anew(Option<LinearFolds>),
    /// With processes that are fitted already.
    From(Box<Ensemble>),
}

/// A linear model of the targets, `β [d, C]` and intercepts `[C]`, and those that left a fold of the rows out: errors of the first one
/// on its own rows are too small, of few rows by far.
#[derive(Debug)]
pub(crate) struct LinearFolds {
    pub(crate) all: Vec<f32>,
    pub(crate) folds: Vec<Vec<f32>>,
    /// The fold of every row that joins; empty where no row was seen by `all`.
    pub(crate) of_rows: Vec<u32>,
}

impl LinearFolds {
    /// The models of some stacks.
    fn fixed(stacks: &[Stack]) -> Self {
        let coefficients = 0..stacks.first().map_or(0, |stack| stack.linear.len());
        let all = coefficients.flat_map(|i| stacks.iter().map(move |stack| stack.linear[i] as f32)).collect();
        Self { all, folds: Vec::new(), of_rows: Vec::new() }
    }
}

impl Joining<'_> {
    /// Fits calibration, stack and density of a model's members to these rows, which it keeps.
    pub(crate) fn join(&self, model: &mut Model, config: &Config, begin: &Begin) -> Result<(), Error> {
        let folds = held_out(model, self.inputs, self.rows, &self.left_out)?;
        let oof = OutOfFold::new(&folds, self.rows.len(), model.outputs(), self.repeats);
        let latent = Latent { mean: oof.mean.clone(), var: oof.var.clone(), members: Vec::new() };
        let y = match &self.labels {
            Values::Classes(labels) => {
                calibrate_classes(model, &latent, labels, &self.weights);
                let sharper = self.sharpening(model, &folds, &oof, labels);
                self.join_classes(model, config, &latent, labels, begin)?;
                model.sharpen(sharper);
                return Ok(());
            }
            Values::Numbers(y) => y,
        };
        calibrate(model, &latent, y, &self.weights);
        if !self.keeps_neighbours(config) {
            let predictions = model.numbers(&latent);
            let places: Vec<usize> = (0..self.rows.len()).collect();
            let scores = model.score_weighted(&predictions, &self.observed(model, &places), &self.weights)?;
            model.header_mut().metrics.insert("out_of_fold".into(), scores);
            let predictions = model.named(predictions);
            model.set_out_of_fold(OutOfFoldPredictions { rows: self.rows.to_vec(), predictions, latent });
            return Ok(());
        }
        let (width, c) = (self.inputs.width(), model.outputs());
        let x = self.inputs.numbers(width, self.rows, Mode::Predict)?;
        let (mut stacks, mut errors, mut out_of_fold) = (Vec::new(), vec![0.0; y.len()], Vec::new());
        let (linear, before) = match begin {
            Begin::Anew(None) => return Ok(()),
            Begin::Anew(Some(linear)) => (linear, None),
            Begin::From(before) => (&LinearFolds::fixed(&before.stacks), Some(before)),
        };
        for k in 0..c {
            let known = Known::new(self, &x, (y, c, k), &oof, linear, &folds);
            let fitted = known.stack(config, before.and_then(|before| before.stacks.get(k)));
            stacks.push(fitted.stack);
            fitted.errors.into_iter().enumerate().for_each(|(i, error)| errors[i * c + k] = error);
            out_of_fold.push(fitted.out_of_fold);
        }
        let count = out_of_fold[0].len();
        let mut columns: Vec<_> = out_of_fold.into_iter().map(Vec::into_iter).collect();
        let stacked: Vec<Stacked> =
            (0..count * c).map(|at| columns[at % c].next().expect("as many of every output")).collect();
        let predictions = model.to_units(model.restore(stacked));
        let places: Vec<usize> = sample(self.rows.len()).collect();
        let weights: Vec<f64> = places.iter().filter_map(|&i| self.weights.get(i).copied()).collect();
        let scores = model.score_weighted(&predictions, &self.observed(model, &places), &weights)?;
        model.header_mut().metrics.insert("out_of_fold".into(), scores);
        let (predictions, latent) = (model.named(predictions), latent.select(&places, c));
        let rows = places.iter().map(|&i| self.rows[i]).collect();
        model.set_out_of_fold(OutOfFoldPredictions { rows, predictions, latent });
        let folds = folds_of(&self.left_out, self.rows.len(), self.repeats);
        model.set_neighbours(stacks, KeptRows { x, y: y.clone(), errors, folds, width })
    }

    /// Joins the probabilities of an ensemble with the classes of the nearest rows.
    fn join_classes(
        &self,
        model: &mut Model,
        config: &Config,
        latent: &Latent,
        labels: &[u32],
        begin: &Begin,
    ) -> Result<(), Error> {
        let mut prediction = model.classes(latent);
        if self.is_plain_table() {
            let width = self.inputs.width();
            let x = self.inputs.numbers(width, self.rows, Mode::Predict)?;
            let linear = match begin {
                Begin::Anew(_) => self.linear_classes(&x, labels, &mut prediction.p, config.seed),
                Begin::From(before) => {
                    before.linear_classes.iter().for_each(|linear| linear.mix(&x, &mut prediction.p));
                    before.linear_classes.clone()
                }
            };
            model.set_linear_classes(linear);
        }
        if self.keeps_neighbours(config) {
            let width = self.inputs.width();
            let x = self.inputs.numbers(width, self.rows, Mode::Predict)?;
            let before = match begin {
                Begin::Anew(_) => None,
                Begin::From(before) => before.class_stack.as_ref(),
            };
            let rows = JoinedRows { x: &x, width, labels, apart: &self.apart, weights: &self.weights };
            let (stack, familiarity) = fit_classes(rows, &mut prediction.p, config, before);
            prediction.familiarity = familiarity;
            let y = labels.iter().map(|&label| label as f32).collect();
            let folds = folds_of(&self.left_out, self.rows.len(), self.repeats);
            model.set_class_neighbours(stack, KeptRows { x, y, errors: Vec::new(), folds, width });
        }
        if matches!(begin, Begin::Anew(_)) {
            model.set_decision(decision(&config.train, &prediction.p, labels, &self.weights))?;
        }
        prediction.decision = model.header().decision.clone().map(Arc::new);
        let metrics = Score::Classes(model.weighted_class_metrics(
            &prediction,
            latent,
            (labels, &self.weights_in_scores()),
        )?);
        let schema = &model.header().schema;
        let scores = Scores::from([(schema.target_names().remove(0), metrics)]);
        let predictions = Predictions::classification(prediction, schema.classes().unwrap_or_default());
        model.header_mut().metrics.insert("out_of_fold".into(), scores);
        let (rows, latent) = (self.rows.to_vec(), latent.clone());
        model.set_out_of_fold(OutOfFoldPredictions { rows, predictions, latent });
        Ok(())
    }

    /// What rows count in scores: none that every member saw, such as the only row of a class; empty for 1.
    fn weights_in_scores(&self) -> Vec<f64> {
        let mut is_judged = vec![false; self.rows.len()];
        self.left_out.iter().flatten().for_each(|&place| is_judged[place] = true);
        if is_judged.iter().all(|judged| *judged) {
            return self.weights.clone();
        }
        let weight = |(i, judged)| if judged { self.weights.get(i).copied().unwrap_or(1.0) } else { 0.0 };
        is_judged.into_iter().enumerate().map(weight).collect()
    }

    /// How much surer the whole ensemble is than the few members that left a row out: a mean of more members is closer to what they
    /// agree on.
    ///
    /// ```text
    /// 1/β_m = A + B/m        slopes β₁ of single members and β_R of R of them give A and B; the factor is β_M/β_R
    /// ```
    fn sharpening(&self, model: &Model, folds: &[HeldOutFold], oof: &OutOfFold, labels: &[u32]) -> f64 {
        const MOST: f64 = 2.0;
        let Some(joint) = model.header().class_calibration else { return 1.0 };
        let (c, k, repeats) = (model.outputs(), gp::classes_of(model.outputs()), self.repeats as f64);
        if self.repeats < 2 {
            return 1.0;
        }
        let places: Vec<usize> = folds.iter().flat_map(|fold| &fold.places).copied().collect();
        let mean = folds.iter().flat_map(|fold| &fold.mean).copied().collect();
        let var = places.iter().flat_map(|&place| &oof.var[place * c..(place + 1) * c]).copied().collect();
        let single = Latent { mean, var, members: Vec::new() };
        let weights: Vec<f64> = places.iter().filter_map(|&place| self.weights.get(place).copied()).collect();
        let nll = |slope: f64| {
            let p = model.classes_by(&single, ClassCalibration { slope, ..joint }).p;
            average(places.len(), &weights)(&|i| row_nll(&p[i * k..][..k], labels[places[i]] as usize))
        };
        let at = joint.slope.ln();
        let alone = minimise(at - 2.0, at + 1.0, |x| nll(x.exp())).exp();
        let b = (1.0 / alone - 1.0 / joint.slope).max(0.0) / (1.0 - 1.0 / repeats);
        let a = 1.0 / alone - b;
        let all = 1.0 / (a + b / model.networks().len() as f64);
        if a > 0.0 { (all / joint.slope).clamp(1.0, MOST) } else { 1.0 }
    }

    fn keeps_neighbours(&self, config: &Config) -> bool {
        config.neighbours.count > 0 && self.rows.len() >= FEWEST_NEIGHBOURS && self.is_plain_table()
    }

    fn is_plain_table(&self) -> bool {
        (1..=MOST_COLUMNS).contains(&self.inputs.width())
            && matches!(self.inputs, Inputs::Table(table) if table.texts.is_empty())
    }

    /// A logistic regression, mixed into probabilities `p [N, K]` by as much as rows that it left out suggest.
    fn linear_classes(&self, x: &[f32], labels: &[u32], p: &mut [f64], seed: u64) -> Option<LinearClasses> {
        let (n, classes) = (labels.len(), p.len() / labels.len());
        let rows = Labelled { x, width: self.inputs.width(), labels, weights: &self.weights, classes };
        if n < FEWEST_NEIGHBOURS || !rows.is_small() {
            return None;
        }
        let folds = match &self.apart[..] {
            [] => folds_by_class(labels, seed),
            apart => apart.iter().map(|&fold| fold as usize).collect(),
        };
        let own = rows.out_of_fold(&folds);
        let mixed = |share: f64, at: usize| (1.0 - share) * p[at] + share * own.p[at];
        let nll = |share: f64| {
            average(n, &self.weights)(&|i| -mixed(share, i * classes + labels[i] as usize).max(1e-15).ln())
        };
        // A share must gain something: with few rows any seems to.
        let candidates = (1..=10).map(|tenths| f64::from(tenths) / 10.0);
        let (best, share) = candidates.map(|share| (nll(share), share)).min_by(|a, b| a.0.total_cmp(&b.0))?;
        if best >= nll(0.0) - 0.5 / n as f64 {
            return None;
        }
        let all: Vec<usize> = (0..n).collect();
        let mut mixed: Vec<f64> = (0..p.len()).map(|at| mixed(share, at)).collect();
        let nll = |log: f64| {
            let of_row = |i: usize| {
                let mut row = mixed[i * classes..][..classes].to_vec();
                sharpen(&mut row, log.exp());
                row_nll(&row, labels[i] as usize)
            };
            // A pull towards leaving things as they are: a few hundred rows that are all right say nothing of how sure to be.
            n as f64 * average(n, &self.weights)(&of_row) + 5.0 * log * log
        };
        let sharpness = minimise(MILDEST.ln(), SHARPEST.ln(), nll).exp();
        mixed.chunks_exact_mut(classes).for_each(|row| sharpen(row, sharpness));
        p.copy_from_slice(&mixed);
        Some(LinearClasses { share, sharpness, ..rows.fit(&all, own.penalty) })
    }

    /// What was observed of some places, in the targets' own units.
    fn observed(&self, model: &Model, places: &[usize]) -> Vec<f64> {
        let Values::Numbers(y) = &self.labels else { return Vec::new() };
        let targets = model.header().schema.numbers();
        let of_row = |&i: &usize| {
            let own = &y[i * targets.len()..][..targets.len()];
            own.iter().zip(targets).map(|(y, target)| target.restore(f64::from(*y))).collect::<Vec<_>>()
        };
        places.iter().flat_map(of_row).collect()
    }
}

/// Recalibrates numbers by latent functions of some rows with these targets, `[N, C]`, and weights; empty for 1.
pub(super) fn calibrate(model: &mut Model, latent: &Latent, y: &[f32], weights: &[f64]) {
    let c = model.outputs();
    for output in 0..c {
        let held_out = |at: usize| {
            let (mean, var) = (latent.mean[at], latent.var[at]);
            HeldOut { residual: f64::from(y[at]) - mean, mean, var }
        };
        let held_out: Vec<HeldOut> =
            by_weight(y.len() / c, weights).map(|i| held_out(i * c + output)).collect();
        model.header_mut().calibration[output] = Calibration::fit(&held_out, model.sigma(output));
    }
}

/// `n` rows, each as often as its weight says: what is fitted to them counts weights without knowing of them.
fn by_weight(n: usize, weights: &[f64]) -> impl Iterator<Item = usize> + '_ {
    let total: f64 = weights.iter().sum();
    let (mut row, mut until) = (0, weights.first().copied().unwrap_or(0.0));
    (0..n).map(move |i| {
        if weights.is_empty() {
            return i;
        }
        while until < (i as f64 + 0.5) / n as f64 * total && row + 1 < n {
            row += 1;
            until += weights[row];
        }
        row
    })
}

/// Recalibrates classes by latent functions of some rows of these classes.
pub(super) fn calibrate_classes(model: &mut Model, latent: &Latent, labels: &[u32], weights: &[f64]) {
    let k = gp::classes_of(model.outputs());
    let nll = |candidate: ClassCalibration| {
        let p = model.classes_by(latent, candidate).p;
        average(labels.len(), weights)(&|i| row_nll(&p[i * k..][..k], labels[i] as usize))
    };
    let has_variance = model.heads().next().is_some();
    let calibration = ClassCalibration::fit(labels.len(), has_variance, nll);
    model.header_mut().class_calibration = Some(calibration);
}
