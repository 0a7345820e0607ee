//! Training rows that a model keeps: local inducing points, which join those of its networks at prediction.

mod classes;
mod fit;
mod kept;
mod reconstruction;
mod search;

pub(crate) use classes::ClassNeighbours;
pub(crate) use fit::{Effort, LEAST_SPREAD, Place, Rows, distances, fit, neighbours, spread};
pub(crate) use kept::{KeptRows, folds_of};
pub(crate) use reconstruction::{MOST_IMAGES, Reconstruction};
pub(crate) use search::Index;

use crate::dataset::{Inputs, Matrix};
use crate::error::Error;
use crate::model::{Features, Latent, Network, Query, Stack, Stacked, linear};
use gp::LocalSpace;
use rayon::prelude::*;

/// Rows that a thread takes at a time.
const BLOCK: usize = 64;

/// Kept rows, ready to be asked.
#[derive(Debug)]
pub(crate) struct Neighbours {
    kept: KeptRows,
    outputs: Vec<Output>,
}

/// What one output's stack needs.
#[derive(Debug)]
struct Output {
    index: Index,
    weights: Vec<f32>,
    residuals: Vec<f32>,
    /// Rows that each member left out.
    pools: Vec<Pool>,
}

/// Rows that a member left out, in its coordinates.
#[derive(Debug)]
struct Pool {
    coordinates: Vec<f32>,
    labels: Vec<f32>,
    index: Index,
}

impl Neighbours {
    pub(crate) fn new(kept: KeptRows, stacks: &[Stack], networks: &[Network]) -> Result<Self, Error> {
        let (c, d) = (stacks.len(), kept.width);
        let inputs = Inputs::Table(Matrix { x: kept.x.clone(), width: d, ..Matrix::default() });
        let mut outputs = Vec::new();
        for (k, stack) in stacks.iter().enumerate() {
            let weights = narrow(&stack.process.inverse_lengths());
            let residual = |(i, x): (usize, &[f32])| kept.y[i * c + k] - linear(&stack.linear, x) as f32;
            let residuals = kept.x.chunks_exact(d).enumerate().map(residual).collect();
            let index = Index::new(&kept.x, &weights);
            outputs.push(Output { index, weights, residuals, pools: Vec::new() });
        }
        if stacks.iter().any(|stack| stack.feature_process.is_some()) {
            for (network, rows) in networks.iter().zip(kept.left_out(networks.len())) {
                let phi = network.features(&inputs, &rows)?;
                let (mean, _) = network.latent(&phi, rows.len());
                for (k, (stack, output)) in stacks.iter().zip(&mut outputs).enumerate() {
                    let Some(process) = &stack.feature_process else { continue };
                    let x = |i: usize| &kept.x[rows[i] * d..][..d];
                    let coordinates =
                        feature_coordinates(rows.len(), x, &output.weights, &phi, |i| mean[i * c + k]);
                    let label = |(i, &row): (usize, &usize)| kept.y[row * c + k] - mean[i * c + k] as f32;
                    let labels = rows.iter().enumerate().map(label).collect();
                    let index = Index::new(&coordinates, &narrow(&process.inverse_lengths()));
                    output.pools.push(Pool { coordinates, labels, index });
                }
            }
        }
        Ok(Self { kept, outputs })
    }

    /// d
    pub(crate) fn width(&self) -> usize {
        self.kept.width
    }

    pub(crate) fn kept(&self) -> &KeptRows {
        &self.kept
    }

    /// Joins what the members say of some rows `x [n, d]` with their nearest rows, `[n, C]`.
    pub(crate) fn predict(
        &self,
        stacks: &[Stack],
        x: &[f32],
        features: &Features,
        latent: &Latent,
    ) -> Vec<Stacked> {
        let (c, d, n) = (stacks.len(), self.kept.width, features.rows);
        let block = |block: usize| -> Vec<Stacked> {
            let rows = block * BLOCK..((block + 1) * BLOCK).min(n);
            let mut space = LocalSpace::default();
            let mut stacked = Vec::with_capacity(rows.len() * c);
            let outputs: Vec<_> = (0..c)
                .map(|k| {
                    let scaled = scale(&x[rows.start * d..rows.end * d], &self.outputs[k].weights);
                    let found = self.outputs[k].index.nearest(&scaled, None, stacks[k].count);
                    let local =
                        self.by_features(k, &stacks[k], rows.clone(), x, features, latent, &mut space);
                    (found, local)
                })
                .collect();
            for i in rows.clone() {
                for (k, stack) in stacks.iter().enumerate() {
                    let (at, own) = (i * c + k, i - rows.start);
                    let (found, local) = (&outputs[k].0[own], outputs[k].1.as_ref().map(|local| local[own]));
                    let x = &x[i * d..][..d];
                    let labels = &self.outputs[k].residuals;
                    let (differences, residuals) =
                        Rows { coordinates: &self.kept.x, labels, width: d, apart: &[] }.around(x, found);
                    let pick = |values: &[f32]| -> Vec<f64> {
                        found.iter().map(|&j| f64::from(values[j as usize * c + k])).collect()
                    };
                    let (labels, errors) = (pick(&self.kept.y), pick(&self.kept.errors));
                    let query = Query {
                        linear: linear(&stack.linear, x),
                        mean: latent.mean[at],
                        var: latent.var[at],
                        features: local.unwrap_or([latent.mean[at], 0.0]),
                        differences: &differences,
                        labels: &labels,
                        residuals: &residuals,
                        errors: &errors,
                    };
                    stacked.push(stack.predict(query, &mut space));
                }
            }
            stacked
        };
        let blocks: Vec<Vec<Stacked>> = (0..n.div_ceil(BLOCK)).into_par_iter().map(block).collect();
        blocks.into_iter().flatten().collect()
    }

    /// h and v_h of some rows: each member with the nearest of the rows it left out, on average.
    #[allow(clippy::too_many_arguments)]
    fn by_features(
        &self,
        k: usize,
        stack: &Stack,
        rows: std::ops::Range<usize>,
        x: &[f32],
        features: &Features,
        latent: &Latent,
        space: &mut LocalSpace,
    ) -> Option<Vec<[f64; 2]>> {
        let process = stack.feature_process.as_ref()?;
        let (output, d, members) = (&self.outputs[k], self.kept.width, latent.members.len() as f64);
        let weights = narrow(&process.inverse_lengths());
        let mut sums = vec![[0.0; 2]; rows.len()];
        for ((pool, phi), mean) in output.pools.iter().zip(&features.networks).zip(&latent.members) {
            let (width, c) = (phi.len() / features.rows, mean.len() / features.rows);
            let x = |i: usize| &x[(rows.start + i) * d..][..d];
            let mean = |i: usize| mean[(rows.start + i) * c + k];
            let phi = &phi[rows.start * width..rows.end * width];
            let asked = feature_coordinates(rows.len(), x, &output.weights, phi, mean);
            let own = Rows {
                coordinates: &pool.coordinates,
                labels: &pool.labels,
                width: process.groups.len(),
                apart: &[],
            };
            let found = pool.index.nearest(&scale(&asked, &weights), None, stack.feature_count);
            let asked = asked.chunks_exact(own.width).zip(&found);
            for (i, (sum, (asked, found))) in sums.iter_mut().zip(asked).enumerate() {
                let (differences, labels) = own.around(asked, found);
                let local = process.condition(&differences, &labels, space);
                let (add, var) = local.unwrap_or((0.0, process.log_scale.exp()));
                sum[0] += (mean(i) + add) / members;
                sum[1] += var / members;
            }
        }
        Some(sums)
    }
}

/// Coordinates `[x/ℓ | φ | f]` of some rows.
pub(crate) fn feature_coordinates<'a>(
    n: usize,
    x: impl Fn(usize) -> &'a [f32],
    weights: &[f32],
    phi: &[f32],
    mean: impl Fn(usize) -> f64,
) -> Vec<f32> {
    let d = phi.len() / n.max(1);
    let mut coordinates = Vec::with_capacity(n * (weights.len() + d + 1));
    for i in 0..n {
        coordinates.extend(x(i).iter().zip(weights).map(|(x, w)| x * w));
        coordinates.extend_from_slice(&phi[i * d..][..d]);
        coordinates.push(mean(i) as f32);
    }
    coordinates
}

/// Rows of numbers, each times its weight.
pub(crate) fn scale(rows: &[f32], weights: &[f32]) -> Vec<f32> {
    rows.chunks_exact(weights.len()).flat_map(|row| row.iter().zip(weights).map(|(x, w)| x * w)).collect()
}

pub(crate) fn narrow(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&x| x as f32).collect()
}
