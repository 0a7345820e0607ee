//! Kept rows of a model of classes, and kept features of a single network.

use super::search::Index;
use super::{BLOCK, KeptRows, Rows, narrow, scale};
use crate::model::{ClassStack, ClassificationBatch, Distances, Position, RegressionBatch};
use data::TargetColumn;
use gp::LocalSpace;
use rayon::prelude::*;

/// Kept rows, ready to be asked.
#[derive(Debug)]
pub(crate) struct ClassNeighbours {
    kept: KeptRows,
    index: Index,
    weights: Vec<f32>,
    /// Labels for a variance, which needs none.
    zeros: Vec<f32>,
}

impl ClassNeighbours {
    pub(crate) fn new(kept: KeptRows, stack: &ClassStack) -> Self {
        let weights = narrow(&stack.process.inverse_lengths());
        Self { index: Index::new(&kept.x, &weights), zeros: vec![0.0; kept.len()], kept, weights }
    }

    pub(crate) fn kept(&self) -> &KeptRows {
        &self.kept
    }

    /// Joins the probabilities of some rows `x [n, d]`, whose reconstructions have these errors, with the classes of their nearest
    /// rows.
    pub(crate) fn join(
        &self,
        stack: &ClassStack,
        x: &[f32],
        errors: Option<&[f64]>,
        batch: &mut ClassificationBatch,
    ) {
        let (d, k) = (self.kept.width, batch.classes);
        let block = |(block, (x, p)): (usize, (&[f32], &mut [f64]))| -> Vec<f64> {
            let scaled = scale(x, &self.weights);
            let found = self.index.nearest(&scaled, None, stack.count);
            let rows = scaled.chunks_exact(d).zip(&found).zip(p.chunks_exact_mut(k));
            rows.enumerate()
                .map(|(i, ((x, found), p))| {
                    let error = errors.map(|errors| errors[block * BLOCK + i]);
                    let classes: Vec<usize> =
                        found.iter().map(|&j| self.kept.y[j as usize] as usize).collect();
                    stack.join(p, &self.index.distances(x, found), &classes, error)
                })
                .collect()
        };
        let blocks: Vec<Vec<f64>> =
            x.par_chunks(BLOCK * d).zip(batch.p.par_chunks_mut(BLOCK * k)).enumerate().map(block).collect();
        batch.familiarity = blocks.into_iter().flatten().collect();
    }

    /// Variances of the process at some features `[n, d]`: small where many training rows are near.
    pub(crate) fn variances(&self, stack: &ClassStack, phi: &[f32]) -> Vec<f64> {
        let rows =
            Rows { coordinates: &self.kept.x, labels: &self.zeros, width: self.kept.width, apart: &[] };
        let of_row = |space: &mut LocalSpace, (phi, found): (&[f32], &Vec<u32>)| {
            let (differences, labels) = rows.around(phi, found);
            let local = stack.process.condition(&differences, &labels, space);
            local.map_or(stack.process.log_scale.exp(), |(_, var)| var)
        };
        let found = self.index.nearest(&scale(phi, &self.weights), None, stack.count);
        let rows = phi.par_chunks_exact(self.kept.width).zip(&found);
        rows.map_init(LocalSpace::default, of_row).collect()
    }

    /// Distances and classes of the nearest rows of some coordinates.
    pub(crate) fn around(&self, stack: &ClassStack, x: &[f32]) -> Vec<(Vec<f64>, Vec<usize>)> {
        let scaled = scale(x, &self.weights);
        let found = self.index.nearest(&scaled, None, stack.count);
        let of_row = |(x, found): (&[f32], &Vec<u32>)| {
            let classes = found.iter().map(|&j| self.kept.y[j as usize] as usize).collect();
            (self.index.distances(x, found), classes)
        };
        scaled.chunks_exact(self.kept.width).zip(&found).map(of_row).collect()
    }

    /// How far some features are from the nearest kept ones.
    pub(crate) fn distances(&self, stack: &ClassStack, phi: &[f32]) -> Vec<f64> {
        self.around(stack, phi).into_iter().map(|(r, _)| Distances::of_row(&r)).collect()
    }

    /// How familiar numbers of some rows are; far from all features they are as unsure as the targets themselves.
    pub(crate) fn widen(
        &self,
        stack: &ClassStack,
        x: &[f32],
        errors: Option<&[f64]>,
        batch: &mut RegressionBatch,
        targets: &[TargetColumn],
    ) {
        let c = targets.len();
        batch.familiarity = Vec::with_capacity(batch.mean.len());
        for (row, distance) in self.distances(stack, x).into_iter().enumerate() {
            let at = Position { distance, error: errors.map(|errors| errors[row]) };
            let (far, familiarity) = (stack.far(at), stack.familiarity(at));
            for (k, target) in targets.iter().enumerate() {
                let (at, least) = (row * c + k, far.sqrt() * target.std);
                if far > 0.0 {
                    batch.std[at] = batch.std[at].max(least);
                    batch.std_latent[at] = batch.std_latent[at].max(least);
                    batch.mean[at] = (1.0 - far) * batch.mean[at] + far * target.mean;
                    batch.density[at] = batch.density[at].clone().widened(batch.mean[at], least);
                }
                batch.familiarity.push(familiarity);
            }
        }
    }
}
