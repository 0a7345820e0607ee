//! What stands on the features: the Gaussian process, linear readouts in pretraining, or a softmax layer to compare with.

mod feature_scale;
mod process;
mod readout;

pub use feature_scale::FeatureScale;
pub(crate) use feature_scale::squared_distance;
pub use process::HeadParameters;
pub(crate) use process::{AnyPosterior, Head, HeadBatch, HeadShape};
pub(crate) use readout::{Loss, Readout, ReadoutBatch, read_out};

/// What stands on the features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FittedHead {
    /// A Gaussian process conditioned on inducing points.
    Process(HeadParameters),
    /// A softmax layer.
    Softmax {
        /// Row-major `[D, C]`.
        w: Vec<f32>,
        /// `[C]`
        b: Vec<f32>,
    },
}
