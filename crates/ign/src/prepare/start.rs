//! How a dense network begins: as a linear regression, where it can.

use super::Prepared;
use crate::encoder::Mode;
use crate::encoder::mlp::{Mlp, MlpShape};
use crate::train::{ReadoutStart, Targets};
use burn::tensor::Device;

impl Prepared {
    /// A new encoder; with a skip path it begins as the ridge regression of the targets on the inputs.
    pub(crate) fn mlp(&self, shape: &MlpShape, targets: Targets<'_>, seed: u64) -> (Mlp, ReadoutStart) {
        let (width, c) = (shape.width, targets.outputs());
        let encoder = Mlp::new(shape.clone(), seed, &Device::default());
        if !shape.skip || c > shape.features / shape.members {
            return (encoder, ReadoutStart::Random);
        }
        match self.ridge(targets) {
            Some(values) => {
                let (beta, intercept) = values.split_at(width * c);
                (encoder.with_linear_start(beta, intercept), ReadoutStart::FirstFeatures)
            }
            None => (encoder, ReadoutStart::Random),
        }
    }

    /// Ridge regression of the targets on the inputs: `β [width, C]`, then the intercepts `[C]`.
    pub(crate) fn ridge(&self, targets: Targets<'_>) -> Option<Vec<f32>> {
        const WIDEST: usize = 512; // beyond it the normal equations cost more than they give
        const RIDGE: f64 = 1e-3;
        let (width, c) = (self.inputs.width(), targets.outputs());
        if width > WIDEST {
            return None;
        }
        let n = width + 1; // the last input is the constant
        let (mut gram, mut moments) = (vec![0.0; n * n], vec![0.0; n * c]);
        let share = 1.0 / self.train.len() as f64;
        for &row in &self.train {
            let x = self.inputs.gather(&[row], Mode::Predict);
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
