//! Encoders: networks that map an input of any kind to features `Φ [N, D]`.
//!
//! [`Encoder`] and [`OwnEncoder`] are what outsiders implement to bring a new kind of input; [`mlp`] is the encoder of
//! tables, [`transformer`] of their texts, [`cnn`] of pictures, [`graph`] of graphs, [`identity`] of features that were
//! computed elsewhere.

pub mod cnn;
pub mod graph;
pub mod identity;
pub mod mlp;
pub(crate) mod parameters;
mod product;
mod tensors;
pub mod transformer;
mod vectors;

use crate::inputs::Inputs;
use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Serialize, de::DeserializeOwned};

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
pub trait Encoder: Module + Sync + 'static {
    /// D
    fn dim(&self) -> usize;

    /// How many parallel networks the features come from, each with `D / members` of them.
    fn members(&self) -> usize {
        1
    }

    /// Features of the given rows `[N, D]`, on the device of the parameters. Inputs of an outsider's kind are had by
    /// [`Inputs::own`].
    fn features(&self, inputs: &Inputs, rows: &[usize], mode: Mode) -> Tensor<2>;

    /// Features `[N, D]` in prediction of numbers `[N, width]`, as [`Inputs::gather`] gives them, and differentiable in
    /// them; `None` where an input is more than a row of numbers.
    fn features_at(&self, _x: Tensor<2>) -> Option<Tensor<2>> {
        None
    }

    /// The same with gradients that are written by hand, where there are such.
    fn by_hand(&self) -> Option<&dyn ByHand> {
        None
    }

    /// Whether weight decay applies to the parameter of this path.
    fn decays(path: &str) -> bool {
        path.ends_with("weight")
    }
}

/// An encoder whose gradients are written by hand. Training then works on the flat vector of its parameters, in the
/// module's order, without autodiff; the module's own parameters are brought up to date at the end of an epoch.
pub trait ByHand: Sync {
    /// Features of the given rows, row-major `[N, D]`, and the way back; with one thread, on this
    /// one alone where that is faster than to share.
    fn record<'a>(
        &'a self,
        parameters: &'a [f32],
        inputs: &Inputs,
        rows: &[usize],
        mode: Mode,
        threads: usize,
    ) -> (Vec<f32>, WayBack<'a>);
}

/// Sets the gradient of all parameters, the second argument, from that of the features, the first.
pub type WayBack<'a> = Box<dyn FnOnce(&[f32], &mut [f32]) + Send + 'a>;

/// An encoder from outside of this library whose models are kept in files.
pub trait OwnEncoder: Encoder {
    /// All that fixes the parameters' shapes; it goes into the model file.
    type Shape: Serialize + DeserializeOwned;

    /// Initial parameters, by a seed.
    fn new(shape: &Self::Shape, seed: u64) -> Self;
}
