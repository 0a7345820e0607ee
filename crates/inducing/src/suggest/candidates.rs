//! What a model knows of every row of a pool, before one is chosen.

use super::conditioning::Metric;
use super::information::Information;
use crate::dataset::Inputs;
use crate::error::Error;
use crate::head::squared_distance;
use crate::metrics::entropy;
use crate::model::{ClassStack, Features, Latent, Model, Stack};
use crate::nn::Mode;
use gp::{LocalProcess, Matern};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows that are predicted at a time.
const BLOCK: usize = 2048;
/// Pairs whose median distance is the length scale of features.
const PAIRS: usize = 2000;
/// Rows less familiar than this go over to what is known of rows that are like none.
const UNFAMILIAR: f64 = 0.05;
/// Least variance of the noise, of a standardised target.
const LEAST_NOISE: f64 = 1e-6;

/// The rows of a pool.
#[derive(Debug)]
pub(super) struct Candidates {
    /// Coordinates of the rows `[n, d]`.
    pub(super) x: Vec<f32>,
    /// One for each number to predict, or one for classes.
    pub(super) outputs: Vec<Output>,
}

/// What is known of one output; numbers are standardised.
#[derive(Debug, Clone)]
pub(super) struct Output {
    /// How rows are correlated.
    pub(super) metric: Metric,
    /// Mean `[n]`; empty for classes.
    pub(super) mean: Vec<f64>,
    /// Latent variance, or the information of a label, `[n]`.
    pub(super) var: Vec<f64>,
    /// Variance, or entropy, of a label's noise `[n]`.
    pub(super) noise: Vec<f64>,
}

impl Candidates {
    pub(super) fn new(model: &Model, inputs: &Inputs) -> Result<Self, Error> {
        let rows: Vec<usize> = (0..inputs.rows()).collect();
        let classes = model.header().schema.classes().is_some();
        let count = if classes { 1 } else { model.outputs() };
        let empty = || Output {
            metric: Metric { weights: Vec::new(), family: Matern::ThreeHalves },
            mean: Vec::new(),
            var: Vec::new(),
            noise: Vec::new(),
        };
        let mut candidates = Self { x: Vec::new(), outputs: (0..count).map(|_| empty()).collect() };
        for block in rows.chunks(BLOCK) {
            let features = model.encode(inputs, block)?;
            let latent = model.latent(&features);
            candidates.x.extend(match model.kept_rows() {
                Some(_) if model.header().feature_stack.is_some() => {
                    model.feature_coordinates(&features, &latent.mean)
                }
                Some(kept) => inputs.numbers(kept.width, block, Mode::Predict)?,
                None => features.networks[0].clone(),
            });
            if classes {
                candidates.add_classes(model, inputs, block, &features, &latent)?;
            } else {
                candidates.add_numbers(model, inputs, block, &features, &latent)?;
            }
        }
        let d = candidates.x.len() / rows.len().max(1);
        for (k, output) in candidates.outputs.iter_mut().enumerate() {
            output.metric = match process(model, k) {
                Some(process) => Metric { weights: process.inverse_lengths(), family: process.family },
                None => by_median(&candidates.x, d, model.header().config.seed),
            };
        }
        Ok(candidates)
    }

    fn add_numbers(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        rows: &[usize],
        features: &Features,
        latent: &Latent,
    ) -> Result<(), Error> {
        let batch = model.modelled_numbers(inputs, rows, features, latent)?;
        let (c, targets) = (self.outputs.len(), model.header().schema.numbers());
        for (at, mean) in batch.mean.iter().enumerate() {
            let (output, target) = (&mut self.outputs[at % c], &targets[at % c]);
            let [var_y, var] = [batch.std[at], batch.std_latent[at]].map(|std| (std / target.std).powi(2));
            output.mean.push((mean - target.mean) / target.std);
            output.var.push(var);
            output.noise.push((var_y - var).max(LEAST_NOISE));
        }
        Ok(())
    }

    /// A row unlike all others counts as one of which nothing but the classes' frequencies is known.
    fn add_classes(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        rows: &[usize],
        features: &Features,
        latent: &Latent,
    ) -> Result<(), Error> {
        let familiarity = model.classes_at(inputs, rows, features, latent)?.familiarity;
        let Information { gained, noise } = Information::new(model, features, latent);
        let usual = class_stack(model).map_or(0.0, |stack| entropy(&stack.frequencies));
        let output = &mut self.outputs[0];
        for (i, gained) in gained.into_iter().enumerate() {
            let familiarity = familiarity.get(i).copied().unwrap_or(1.0);
            let unfamiliar = (1.0 - familiarity / UNFAMILIAR).max(0.0);
            output.var.push((1.0 - unfamiliar) * gained + unfamiliar * usual.max(gained));
        }
        output.noise.extend(noise.iter().map(|noise| noise.max(LEAST_NOISE)));
        Ok(())
    }
}

/// The process on training rows whose length scales measure distances; `None` for a model that keeps none.
fn process(model: &Model, output: usize) -> Option<&LocalProcess> {
    let stack: Option<&Stack> = model.header().ensemble.as_ref().and_then(|joined| joined.stacks.get(output));
    let of_numbers = stack.map(|stack| &stack.process);
    of_numbers.or_else(|| class_stack(model).map(|stack| &stack.process)).filter(|_| model.keeps_rows())
}

fn class_stack(model: &Model) -> Option<&ClassStack> {
    let header = model.header();
    header
        .ensemble
        .as_ref()
        .and_then(|ensemble| ensemble.class_stack.as_ref())
        .or(header.feature_stack.as_ref())
}

/// The median distance of random pairs as the only length scale; one where all rows are the same.
fn by_median(x: &[f32], d: usize, seed: u64) -> Metric {
    let n = x.len() / d.max(1);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut pair = || [(); 2].map(|()| &x[rng.random_range(0..n) * d..][..d]);
    let mut squares: Vec<f64> = (0..PAIRS)
        .map(|_| {
            let [a, b] = pair();
            squared_distance(a, b)
        })
        .filter(|&square| square > 0.0)
        .collect();
    squares.sort_by(f64::total_cmp);
    let median = squares.get(squares.len() / 2).copied().unwrap_or(1.0);
    Metric { weights: vec![1.0 / median.sqrt(); d], family: Matern::ThreeHalves }
}
