//! Encoders: networks that map an input of any kind to features `Φ [N, D]`.
//!
//! [`Encoder`] is the one trait of the workspace that outsiders implement to bring a new kind of input;
//! [`mlp`] is the encoder of tables, [`cnn`] of pictures, [`transformer`] of texts.

pub mod cnn;
pub mod mlp;
pub(crate) mod parameters;
pub mod transformer;

use burn::module::Module;
use burn::tensor::Tensor;

/// Whether a pass is part of training; then it may drop units, by numbers that follow from the seed alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Training: random numbers are made from `seed`, so that a resumed run repeats them.
    Train {
        /// Differs from step to step.
        seed: u64,
    },
    /// Prediction: deterministic.
    Predict,
}

/// A network from inputs to features; its parameters are those of the burn module.
pub trait Encoder: Module + Sync {
    /// A set of inputs held in memory.
    type Inputs: Sync;

    /// D
    fn dim(&self) -> usize;

    /// How many parallel networks the features come from, each with `D / members` of them.
    fn members(&self) -> usize {
        1
    }

    /// Features of the given rows `[N, D]`, on the device of the parameters.
    fn features(&self, inputs: &Self::Inputs, rows: &[usize], mode: Mode) -> Tensor<2>;

    /// Whether weight decay applies to the parameter of this path.
    fn decays(path: &str) -> bool {
        path.ends_with("weight")
    }
}
