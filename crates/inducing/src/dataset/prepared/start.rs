//! How an encoder begins: as a linear regression, where it can.

use super::Prepared;
use crate::config::Config;
use crate::nn::mlp::Mlp;
use crate::nn::{Encoder, EncoderShape, Mode};
use crate::train::{ReadoutStart, Start, Targets};

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
        Start { theta, readout }
    }

    /// Ridge regression of some rows' targets on the inputs: `β [width, C]`, then the intercepts `[C]`.
    pub(crate) fn ridge(&self, targets: Targets<'_>, rows: &[usize]) -> Option<Vec<f32>> {
        const WIDEST: usize = 512; // beyond it the normal equations cost more than they give
        const RIDGE: f64 = 1e-3;
        let (width, c) = (self.inputs.width(), targets.outputs());
        if width > WIDEST {
            return None;
        }
        let n = width + 1; // the last input is the constant
        let (mut gram, mut moments) = (vec![0.0; n * n], vec![0.0; n * c]);
        let even = 1.0 / rows.len() as f64;
        let weights = targets.weights(rows);
        for (at, &row) in rows.iter().enumerate() {
            let share = even * weights.get(at).copied().unwrap_or(1.0);
            let x = self.inputs.numbers(width, &[row], Mode::Predict).ok()?;
            let x: Vec<f64> = x.iter().chain([&1.0]).map(|&x| f64::from(x)).collect();
            let y = targets.batch(&[row]);
            for (i, x_i) in x.iter().enumerate() {
                for (to, x_j) in gram[i * n..][..n].iter_mut().zip(&x) {
                    *to += share * x_i * x_j;
                }
                for output in 0..c {
                    moments[i * c + output] += share * x_i * f64::from(y[output]);
                }
            }
        }
        // Inputs of wildly different sizes may have no solution; the network can do without this help.
        let beta = gp::solve_ridge(&gram, &moments, RIDGE).ok()?;
        Some(beta.into_iter().map(|b| b as f32).collect())
    }
}
