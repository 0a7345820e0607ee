//! Figures of merit: of predicted numbers, of class probabilities, and of telling out-of-distribution inputs apart.

mod classification;
mod regression;

pub use classification::{
    Bin, ClassMetrics, ClassScores, OodMetrics, Uncalibrated, entropy, predicted, row_nll,
};
pub(crate) use regression::average;
pub use regression::{
    LEVELS, Metrics, gaussian_crps, gaussian_nll, in_central_interval, normal_cdf, normal_quantile,
};
