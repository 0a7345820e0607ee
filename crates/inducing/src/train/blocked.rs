//! Blocked folds: slabs of the inputs that some networks never saw, and how much a variance must grow in such a gap.
//!
//! Rows that are held out at random lie among the others. Coefficients that are fitted to them are too small for a gap, so small tables
//! train a few networks without the middle third of an input, and what they and the rows outside say of it decides how much what exceeds the
//! usual counts. These networks are not part of the model.

use super::crossfit::{HeldOutFold, Member, OutOfFold};
use super::stack::{Known, quantile};
use crate::config::Config;
use crate::dataset::{Inputs, Prepared, Values};
use crate::model::{Query, Stack};
use crate::neighbours::Index;
use crate::nn::Mode;
use gp::LocalSpace;
use rayon::prelude::*;

/// Tables of more rows than this have small gaps, and networks that take long.
const MOST_ROWS: usize = 6000;
/// A slab has at least this many rows, and twice as many are outside.
const FEWEST_ROWS: usize = 16;
/// An input of fewer values than this has no middle.
const FEWEST_VALUES: usize = 20;
/// Networks that leave a slab out: two disagree.
pub(crate) const MEMBERS: usize = 2;
/// One of this many rows outside decides when a network stops.
const VALIDATION: usize = 8;
/// What exceeds this quantile of rows held out at random is unusual.
const USUAL: f64 = 0.95;
/// Weights that are tried.
const WEIGHTS: [f64; 8] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

impl Prepared {
    /// Two members for each of the slabs, which both leave out; none where there is no slab.
    pub(crate) fn blocked_members(&self, config: &Config) -> Vec<Member> {
        let width = self.inputs.width();
        let is_small = (3 * FEWEST_ROWS..=MOST_ROWS).contains(&self.train.len());
        let is_table = matches!(&self.inputs, Inputs::Table(table) if table.texts.is_empty());
        let is_number = matches!(self.values, Values::Numbers(_));
        if config.train.blocked_folds == 0 || !(is_small && is_table && is_number) {
            return Vec::new();
        }
        let slopes = self.ridge(self.targets(), &self.train);
        let (Ok(x), Some(slopes)) = (self.inputs.numbers(width, &self.train, Mode::Predict), slopes) else {
            return Vec::new();
        };
        let c = slopes.len() / (width + 1);
        let mut slabs: Vec<(f64, Vec<usize>)> = (0..width)
            .filter_map(|column| {
                let values: Vec<f32> = x.iter().skip(column).step_by(width).copied().collect();
                let slope: f32 = slopes[column * c..][..c].iter().map(|b| b.abs()).sum();
                Some((f64::from(slope), middle_third(&values)?))
            })
            .collect();
        // The inputs that matter most to a linear model.
        slabs.sort_by(|a, b| b.0.total_cmp(&a.0));
        slabs.truncate(config.train.blocked_folds);
        let member = |inside: &Vec<usize>| {
            let held_out: Vec<usize> = inside.iter().map(|&i| self.train[i]).collect();
            let outside = self.train.iter().copied().filter(|row| held_out.binary_search(row).is_err());
            let (validation, train): (Vec<_>, Vec<_>) =
                outside.enumerate().partition(|(i, _)| i % VALIDATION == 0);
            let rows = |part: Vec<(usize, usize)>| part.into_iter().map(|(_, row)| row).collect();
            Member { train: rows(train), validation: Some(rows(validation)), held_out }
        };
        slabs.iter().flat_map(|(_, inside)| vec![member(inside); MEMBERS]).collect()
    }
}

/// Where values lie strictly between their 1/3 and 2/3 quantiles, if these leave enough on both sides.
fn middle_third(values: &[f32]) -> Option<Vec<usize>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    let n = sorted.len();
    let (low, high) = (sorted[n / 3], sorted[2 * n / 3]);
    sorted.dedup();
    let inside: Vec<usize> = (0..n).filter(|&i| low < values[i] && values[i] < high).collect();
    let is_slab = sorted.len() >= FEWEST_VALUES && inside.len() >= FEWEST_ROWS && n >= 3 * FEWEST_ROWS;
    is_slab.then_some(inside)
}

/// A row in a gap: its squared error, its variance without what is unusual, v_g and (f̄−g)² above what is usual.
struct InGap {
    square: f64,
    var: f64,
    unusual: [f64; 2],
}

impl Known<'_> {
    /// How much what exceeds the usual counts, by the density of rows in gaps.
    pub(super) fn fit_gaps(&self, stack: &mut Stack, usual: [Vec<f64>; 2], errors: &[f32]) {
        if self.in_gaps.is_empty() {
            return;
        }
        stack.gap_thresholds = usual.map(|values| quantile(values, USUAL));
        let rows: Vec<InGap> =
            (self.in_gaps.chunks(MEMBERS)).flat_map(|members| self.in_gap(stack, members, errors)).collect();
        let nll = |weights: [f64; 2]| -> f64 {
            let of_row = |row: &InGap| {
                let var = row.var + weights[0] * row.unusual[0] + weights[1] * row.unusual[1];
                var.ln() + row.square / var
            };
            rows.iter().map(of_row).sum()
        };
        let grid = WEIGHTS.into_iter().flat_map(|a| WEIGHTS.map(|b| [a, b]));
        let best = grid.map(|weights| (nll(weights), weights)).min_by(|a, b| a.0.total_cmp(&b.0));
        stack.gap_weights = best.map_or([0.0; 2], |(_, weights)| weights);
    }

    /// Rows of a slab, by members that never saw it and by the rows outside.
    fn in_gap(&self, stack: &Stack, members: &[HeldOutFold], errors: &[f32]) -> Vec<InGap> {
        let inside = &members[0].places;
        let (c, k) = self.output;
        let oof = OutOfFold::new(members, self.len(), c, MEMBERS);
        let mut is_inside = vec![false; self.len()];
        inside.iter().for_each(|&i| is_inside[i] = true);
        let outside: Vec<usize> = (0..self.len()).filter(|&i| !is_inside[i]).collect();
        let weights: Vec<f32> = stack.process.inverse_lengths().into_iter().map(|w| w as f32).collect();
        let x = |rows: &[usize]| rows.iter().flat_map(|&i| self.row(i)).copied().collect::<Vec<f32>>();
        let queries: Vec<f32> = x(inside)
            .chunks_exact(self.width)
            .flat_map(|x| x.iter().zip(&weights).map(|(x, w)| x * w))
            .collect();
        let found =
            Index::new(&x(&outside), &weights).nearest(&queries, None, stack.count.min(outside.len()));
        let of_row = |space: &mut LocalSpace, (&i, found): (&usize, &Vec<u32>)| {
            let found: Vec<u32> = found.iter().map(|&j| outside[j as usize] as u32).collect();
            let (differences, residuals) = self.around(&found, i);
            let errors: Vec<f64> = found.iter().map(|&j| f64::from(errors[j as usize])).collect();
            let mean = oof.mean[i * c + k];
            let query = Query {
                mean,
                var: oof.var[i * c + k],
                // No row outside is honest for these members.
                features: [mean, 0.0],
                differences: &differences,
                residuals: &residuals,
                errors: &errors,
                ..self.query(i)
            };
            let local = stack.local(query, space);
            let far = stack.distances.far(local.distance, stack.process.family);
            let said = (1.0 - far) * stack.mean(mean, local.mean, mean) + far * local.linear;
            let latent = stack.latent_variance(query, &local).max(far);
            let excess = |value: f64, usual: f64| (value - usual).max(0.0);
            InGap {
                square: (f64::from(self.y[i]) - said).powi(2),
                var: latent + stack.parts[4] * local.noise + stack.noise,
                unusual: [
                    excess(local.var, stack.gap_thresholds[0]),
                    excess((mean - local.mean).powi(2), stack.gap_thresholds[1]),
                ],
            }
        };
        inside.par_iter().zip(&found).map_init(LocalSpace::default, of_row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_third_is_a_slab_with_rows_on_both_sides() {
        let values: Vec<f32> = (0..90).map(|i| ((37 * i) % 90) as f32).collect();
        let inside = middle_third(&values).expect("ninety values");
        let slab: Vec<f32> = inside.iter().map(|&i| values[i]).collect();
        assert_eq!(slab.len(), 29);
        assert!(slab.iter().all(|value| (31.0..60.0).contains(value)), "{slab:?}");
    }

    #[test]
    fn few_values_few_rows_and_rows_on_one_value_have_no_middle() {
        let counts: Vec<f32> = (0..200).map(|i| (i % 15) as f32).collect();
        assert_eq!(middle_third(&counts), None);
        let few: Vec<f32> = (0..40).map(|i| i as f32).collect();
        assert_eq!(middle_third(&few), None);
        let heaped: Vec<f32> = (0..200).map(|i| if i % 10 == 0 { i as f32 } else { 100.5 }).collect();
        assert_eq!(middle_third(&heaped), None);
    }
}
