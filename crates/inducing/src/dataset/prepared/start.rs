//! How an encoder begins: as a linear regression, where it can.

use super::Prepared;
use crate::config::Config;
use crate::nn::mlp::Mlp;
use crate::nn::{Encoder, EncoderShape, Mode};
use crate::train::{LinearFolds, ReadoutStart, Start, Targets};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

impl Prepared {
    /// Initial parameters. A dense network with a skip path begins as the ridge regression of the targets on the inputs.
    pub(crate) fn start(
        &self,
        config: &Config,
        encoder: &dyn Encoder,
        targets: Targets<'_>,
        rows: &[usize],
        seed: u64,
    ) -> Start {
        let mut theta = encoder.initialise(seed);
        let readout = match self.encoder_shape(config) {
            EncoderShape::Mlp(shape) if shape.skip => {
                let (width, c) = (shape.width, targets.outputs());
                let started = self.ridge(targets, rows).is_some_and(|values| {
                    let (beta, intercept) = values.split_at(width * c);
                    Mlp::new(shape).is_ok_and(|mlp| mlp.start_linear(&mut theta, beta, intercept))
                });
                if started { ReadoutStart::FirstFeatures } else { ReadoutStart::Random }
            }
            EncoderShape::Identity(_) => {
                self.ridge(targets, rows).map_or(ReadoutStart::Random, ReadoutStart::Linear)
            }
            _ => ReadoutStart::Random,
        };
        Start { theta, readout, stream_seed: seed }
    }

    /// Ridge regression of some rows' targets on the inputs: `β [width, C]`, then the intercepts `[C]`.
    pub(crate) fn ridge(&self, targets: Targets<'_>, rows: &[usize]) -> Option<Vec<f32>> {
        self.moments(targets, rows, &[])?.remove(0).solve()
    }

    /// Linear models of the training rows, and those that left a fold of `kept` rows out; related rows are `apart`.
    pub(crate) fn linear_folds(&self, kept: &[usize], apart: &[u32], seed: u64) -> Option<LinearFolds> {
        // Few rows miss those of a fold most.
        let folds = if kept.len() <= 2000 { 40 } else { 10 };
        let of_rows: Vec<u32> = match apart {
            [] => {
                let mut turns: Vec<u32> = (0..kept.len()).map(|i| (i % folds) as u32).collect();
                turns.shuffle(&mut ChaCha8Rng::seed_from_u64(seed ^ 0x11ea_4000));
                turns
            }
            apart => apart.to_vec(),
        };
        let mut fold = vec![0; self.inputs.rows()];
        kept.iter().zip(&of_rows).for_each(|(&row, &of_row)| fold[row] = of_row as usize + 1);
        let moments = self.moments(self.targets(), &self.train, &fold)?;
        let mut total = moments[0].clone();
        moments[1..].iter().for_each(|part| total.add(part, 1.0));
        let folds = moments[1..].iter().map(|part| {
            let mut others = total.clone();
            others.add(part, -1.0);
            others.solve()
        });
        Some(LinearFolds { all: total.solve()?, folds: folds.collect::<Option<_>>()?, of_rows })
    }

    /// Weighted second moments of the inputs and the targets of some rows, for each value of `part` (of every row of the table; empty for
    /// one part); none of very wide tables, whose normal equations cost more than they give.
    fn moments(&self, targets: Targets<'_>, rows: &[usize], part: &[usize]) -> Option<Vec<Moments>> {
        const WIDEST: usize = 512;
        let (width, c) = (self.inputs.width(), targets.outputs());
        if width > WIDEST {
            return None;
        }
        let n = width + 1; // the last input is the constant
        let parts = 1 + part.iter().max().copied().unwrap_or(0);
        let mut moments = vec![Moments { inputs: vec![0.0; n * n], targets: vec![0.0; n * c] }; parts];
        let even = 1.0 / rows.len() as f64;
        let weights = targets.weights(rows);
        for (at, &row) in rows.iter().enumerate() {
            let share = even * weights.get(at).copied().unwrap_or(1.0);
            let x = self.inputs.numbers(width, &[row], Mode::Predict).ok()?;
            let x: Vec<f64> = x.iter().chain([&1.0]).map(|&x| f64::from(x)).collect();
            let y = targets.batch(&[row]);
            let to = &mut moments[part.get(row).copied().unwrap_or(0)];
            for (i, x_i) in x.iter().enumerate() {
                for (to, x_j) in to.inputs[i * n..][..n].iter_mut().zip(&x) {
                    *to += share * x_i * x_j;
                }
                for (to, y) in to.targets[i * c..][..c].iter_mut().zip(&y) {
                    *to += share * x_i * f64::from(*y);
                }
            }
        }
        Some(moments)
    }
}

/// Sums over rows of a regression's normal equations.
#[derive(Clone)]
struct Moments {
    /// `Σ x xᵀ`
    inputs: Vec<f64>,
    /// `Σ x yᵀ`
    targets: Vec<f64>,
}

impl Moments {
    fn add(&mut self, other: &Self, factor: f64) {
        let pairs = [(&mut self.inputs, &other.inputs), (&mut self.targets, &other.targets)];
        for (own, other) in pairs {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += factor * other);
        }
    }

    fn solve(&self) -> Option<Vec<f32>> {
        const RIDGE: f64 = 1e-3;
        // Inputs of wildly different sizes may have no solution; the network can do without this help.
        let beta = gp::solve_ridge(&self.inputs, &self.targets, RIDGE).ok()?;
        Some(beta.into_iter().map(|b| b as f32).collect())
    }
}
