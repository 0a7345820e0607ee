//! Encoders: networks that map inputs of any kind to features `Φ [N, D]`.
//!
//! [`Encoder`] is what outsiders implement to bring a new kind of input. [`mlp`] is the encoder of tables, [`text`] of
//! their texts, [`cnn`] of images, [`graph`] of graphs, [`identity`] of features that were computed elsewhere.
//!
//! An encoder holds sizes, never parameters. Those are one flat vector θ, whose [`Layout`] the encoder knows: the
//! optimiser, checkpoints, model files and predictions all read that one θ.

pub mod cnn;
pub mod graph;
pub mod identity;
mod init;
mod layout;
pub mod mlp;
mod shape;
pub mod text;

pub use layout::{Layout, Param, Slot};
pub use shape::EncoderShape;

use crate::dataset::Inputs;
use crate::error::Error;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

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

/// Features, row-major `[N, D]`, and the way from their gradient to that of the parameters.
pub type Forward<'a> = (Vec<f32>, Box<dyn Backward + 'a>);

/// A differentiable map from inputs of any kind to features `Φ [N, D]`.
pub trait Encoder: Debug + Send + Sync {
    /// D
    fn dim(&self) -> usize;

    /// How many parallel networks the features come from, each with `D / members` of them.
    fn members(&self) -> usize {
        1
    }

    /// Name, shape and decay of every parameter, in the order of θ: the one place that knows it.
    fn layout(&self) -> &Layout;

    /// Initial θ; `seed` decides every number.
    fn initialise(&self, seed: u64) -> Vec<f32>;

    /// Features of some rows and what is needed to go back. Φ of a row is a function of that row and θ alone, to the
    /// last bit, whatever rows are beside it and however many threads the current rayon pool has.
    fn forward<'a>(
        &'a self,
        theta: &'a [f32],
        inputs: &'a Inputs,
        rows: &[usize],
        mode: Mode,
    ) -> Result<Forward<'a>, Error>;

    /// Features alone, in prediction: those of [`forward`](Self::forward) with [`Mode::Predict`], to the last bit,
    /// without keeping what a gradient needs.
    fn features(&self, theta: &[f32], inputs: &Inputs, rows: &[usize]) -> Result<Vec<f32>, Error> {
        Ok(self.forward(theta, inputs, rows, Mode::Predict)?.0)
    }
}

/// The second half of a pass.
pub trait Backward: Send {
    /// Sets `d_theta` to the gradient of all parameters, from `d_phi [N, D]`. Where an input is a row of numbers and
    /// `d_x [N, width]` is asked for, sets that too, and `d_theta` may then be empty: nobody asks for it. Encoders of
    /// other inputs leave `d_x` as it is.
    fn pull_back(self: Box<Self>, d_phi: &[f32], d_theta: &mut [f32], d_x: Option<&mut [f32]>);
}

/// An encoder that another crate defines and whose models are kept in files.
pub trait CustomEncoder: Encoder + Sized + 'static {
    /// All that fixes the layout; it goes into the model file.
    type Shape: Serialize + DeserializeOwned;

    /// The encoder of a shape; a message where that makes no sense.
    fn new(shape: &Self::Shape) -> Result<Self, String>;
}
