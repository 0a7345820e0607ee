//! Cells that are empty, or of an unknown category, though no training row's was.
//!
//! ```text
//! p(y | known cells) ≈ mean_j p(y | known cells, absent cells of row j)        j: training rows that are like it in the known cells
//! ```
//! A row with such a cell is as unsure as training rows that agree with it in everything else differ, and not familiar. A model that
//! keeps no rows goes towards the targets' own distribution, by the share of the columns that are absent.

use super::{ClassificationBatch, Density, Model, RegressionBatch};
use crate::dataset::{Inputs, Matrix};
use crate::error::Error;
use crate::neighbours::{Index, narrow, scale};
use std::collections::BTreeMap;

/// Training rows whose cells stand in for absent ones.
const DONORS: usize = 32;
/// The version of model files that first looked at absent cells.
const FIRST_VERSION: u32 = 5;

/// A row with absent cells: its place, and the share of its columns that are absent.
struct Absent {
    at: usize,
    share: f64,
}

/// Rows with absent cells; the same completed by the cells of so many training rows each, where the model keeps inputs.
type Completed = (Vec<Absent>, Option<(Inputs, usize)>);

impl Model {
    /// Rows among some that have absent cells, each with cells of `donors` training rows in their place, one after the other. No
    /// donors where the model keeps no inputs.
    fn completed(&self, inputs: &Inputs, rows: &[usize]) -> Option<Completed> {
        let (Inputs::Table(matrix), Some(schema)) = (inputs, self.header.schema.table()) else { return None };
        // Models of earlier versions predict as they did.
        if self.header.format_version < FIRST_VERSION {
            return None;
        }
        let of_row = |(at, row): (usize, &usize)| Some((at, matrix.absent.get(row)?));
        let found: Vec<(usize, &Vec<usize>)> = rows.iter().enumerate().filter_map(of_row).collect();
        if found.is_empty() {
            return None;
        }
        let share = |(at, columns): &(usize, &Vec<usize>)| Absent {
            at: *at,
            share: columns.len() as f64 / schema.inputs.len() as f64,
        };
        let places = found.iter().map(share).collect();
        let ensemble = self.header.ensemble.as_ref();
        let process = ensemble.and_then(|ensemble| {
            let numbers = ensemble.stacks.first().map(|stack| &stack.process);
            numbers.or(ensemble.class_stack.as_ref().map(|stack| &stack.process))
        });
        let (Some(kept), Some(process)) = (self.kept_rows(), process) else { return Some((places, None)) };
        let (d, donors) = (kept.width, DONORS.min(kept.len()));
        // Of rows that are equally like it any may stand in for a row, and files are often sorted.
        let mut order: Vec<usize> = (0..kept.len()).collect();
        order.sort_by_key(|&row| scattered(row as u64));
        let shuffled: Vec<f32> = order.iter().flat_map(|&row| &kept.x[row * d..][..d]).copied().collect();
        let ranges = schema.feature_ranges();
        let mut patterns: BTreeMap<&Vec<usize>, Vec<usize>> = BTreeMap::new();
        found.iter().enumerate().for_each(|(i, (_, columns))| patterns.entry(columns).or_default().push(i));
        let mut x = vec![0.0; found.len() * donors * d];
        for (columns, members) in patterns {
            let unknown: Vec<usize> =
                columns.iter().flat_map(|&column| ranges[column].clone()).flatten().collect();
            let mut weights = narrow(&process.inverse_lengths());
            unknown.iter().for_each(|&feature| weights[feature] = 0.0);
            let row = |&i: &usize| &matrix.x[rows[found[i].0] * d..][..d];
            let queries: Vec<f32> = members.iter().flat_map(row).copied().collect();
            let like = Index::new(&shuffled, &weights).nearest(&scale(&queries, &weights), None, donors);
            for ((i, own), like) in members.iter().zip(queries.chunks_exact(d)).zip(like) {
                let block = x[i * donors * d..][..donors * d].chunks_exact_mut(d);
                for (to, donor) in block.zip(like) {
                    to.copy_from_slice(own);
                    let donor = &shuffled[donor as usize * d..][..d];
                    unknown.iter().for_each(|&feature| to[feature] = donor[feature]);
                }
            }
        }
        Some((places, Some((Inputs::Table(Matrix { x, width: d, ..Matrix::default() }), donors))))
    }

    /// Replaces predictions of rows with absent cells.
    pub(super) fn number_absent(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        batch: &mut RegressionBatch,
    ) -> Result<(), Error> {
        let Some((places, completed)) = self.completed(inputs, rows) else { return Ok(()) };
        let (c, targets) = (self.outputs(), self.header.schema.numbers());
        let Some((inputs, donors)) = completed else {
            for Absent { at, share } in places {
                for (k, target) in targets.iter().enumerate() {
                    let i = at * c + k;
                    let (mean, least) = (batch.mean[i], share.sqrt() * target.std);
                    batch.mean[i] = (1.0 - share) * mean + share * target.mean;
                    batch.std[i] = batch.std[i].max(least);
                    batch.std_latent[i] = batch.std_latent[i].max(least);
                    let density = std::mem::replace(&mut batch.density[i], Density::mixture(Vec::new()));
                    batch.density[i] = density.widened(batch.mean[i], least);
                    batch.familiarity.iter_mut().skip(i).take(1).for_each(|p| *p = 0.0);
                }
            }
            return Ok(());
        };
        let all: Vec<usize> = (0..inputs.rows()).collect();
        let features = self.encode(&inputs, &all)?;
        let said = self.modelled_numbers(&inputs, &all, &features, &self.latent(&features))?;
        for (i, Absent { at, .. }) in places.into_iter().enumerate() {
            for k in 0..c {
                let of = |values: &[f64]| -> Vec<f64> {
                    (0..donors).map(|j| values[(i * donors + j) * c + k]).collect()
                };
                let to = at * c + k;
                let (mean, spread) = mean_and_variance(&of(&said.mean));
                let latent: f64 = of(&said.std_latent).iter().map(|s| s * s).sum::<f64>() / donors as f64;
                let densities: Vec<Density> =
                    (0..donors).map(|j| said.density[(i * donors + j) * c + k].clone()).collect();
                let density = Density::average(&densities);
                batch.mean[to] = mean;
                batch.std[to] = density.second_moment_about(mean).sqrt();
                batch.std_latent[to] = (latent + spread).sqrt().min(batch.std[to]);
                batch.density[to] = density;
                batch.familiarity[to] = 0.0;
            }
        }
        Ok(())
    }

    /// The same for classes.
    pub(super) fn class_absent(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        batch: &mut ClassificationBatch,
    ) -> Result<(), Error> {
        let Some((places, completed)) = self.completed(inputs, rows) else { return Ok(()) };
        let k = batch.classes;
        let Some((inputs, donors)) = completed else {
            let counts = self.header.schema.class_counts();
            let total: usize = counts.iter().sum();
            for Absent { at, share } in places {
                for (p, &count) in batch.p[at * k..][..k].iter_mut().zip(counts) {
                    *p = (1.0 - share) * *p + share * count as f64 / total as f64;
                }
                batch.familiarity.iter_mut().skip(at).take(1).for_each(|p| *p = 0.0);
            }
            return Ok(());
        };
        let all: Vec<usize> = (0..inputs.rows()).collect();
        let said = self.predict_classes(&inputs, &all)?;
        for (i, Absent { at, .. }) in places.into_iter().enumerate() {
            for class in 0..k {
                let of = |values: &[f64]| -> Vec<f64> {
                    (0..donors).map(|j| values[(i * donors + j) * k + class]).collect()
                };
                let to = at * k + class;
                batch.p[to] = mean_and_variance(&of(&said.p)).0;
                let (mean, spread) = mean_and_variance(&of(&said.latent_mean));
                let latent = of(&said.latent_std).iter().map(|s| s * s).sum::<f64>() / donors as f64;
                batch.latent_mean[to] = mean;
                batch.latent_std[to] = (latent + spread).sqrt();
            }
            batch.familiarity[at] = 0.0;
        }
        Ok(())
    }
}

/// A number that looks random and is the same everywhere (SplitMix64).
fn scattered(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n)
}
