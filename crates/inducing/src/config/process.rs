//! `[gp]`: the Gaussian process.

use super::Positive;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Arithmetic of the Gaussian process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single; needs `gp.jitter` of at least 1e-3.
    F32,
    /// Double.
    F64,
}

/// Shape of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelFamily {
    /// Squared exponential.
    Rbf,
    /// Matérn 3/2.
    Matern32,
    /// Matérn 5/2.
    Matern52,
    /// Dot product.
    Linear,
}

/// The Gaussian process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpConfig {
    /// Family of the kernel.
    pub kernel: KernelFamily,
    /// Initial s.
    pub scale: Positive,
    /// Initial γ (offset c of the linear kernel).
    pub gamma: Positive,
    /// Whether s and γ are learned.
    pub learn_kernel: bool,
    /// M
    pub inducing: NonZeroUsize,
    /// ε, added to the diagonal of K_zz.
    pub jitter: Positive,
    /// Initial σ of standardised targets.
    pub noise: Positive,
    /// σ is never below it.
    #[serde(default)]
    pub noise_floor: f64,
    /// Arithmetic.
    pub precision: Precision,
    /// What a batch's likelihood couples.
    pub coupling: gp::Coupling,
    /// How latent functions become probabilities of classes.
    #[serde(default)]
    pub link: gp::Link,
    /// More than two classes: one network for all, or one for each.
    #[serde(default)]
    pub multiclass: Multiclass,
}

/// How more than two classes share the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multiclass {
    /// One encoder and one set of inducing points, with a pseudo-label for each class.
    #[default]
    Shared,
    /// One network with its inducing points per class, against the rest: the paper's tables.
    Independent,
}
