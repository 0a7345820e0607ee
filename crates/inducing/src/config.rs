//! The whole run, typed. A bad configuration cannot be built: values carry their ranges in their types, unknown
//! keys are refused, and [`Settings`] layer preset, file and single overrides before anything is checked.

mod check;
mod decision;
mod encoder;
mod layers;
mod neighbours;
mod number;
mod process;
mod reading;
mod target;
mod train;
mod unknown_key;

pub use decision::Threshold;
pub use encoder::{EncoderConfig, EncoderKind, GraphConfig, TextConfig};
pub use layers::{ProblemKind, Settings};
pub use neighbours::NeighboursConfig;
pub use number::{Positive, Share};
pub use process::{GpConfig, KernelFamily, Multiclass, Precision};
pub use reading::DataConfig;
pub use target::{Bounds, TargetTransform};
pub use train::{ClassWeights, Schedule, StopOn, TrainConfig};

use serde::{Deserialize, Serialize};

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The file is not TOML, or a key or value does not fit.
    #[error("{file}: {reason}")]
    Invalid {
        /// Where it was read.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// `--set` without `key=value`.
    #[error("`--set {given}`: expected `key=value`\nhint: for example `--set train.epochs=50`")]
    Override {
        /// What was given.
        given: String,
    },
    /// A preset of this name does not exist.
    #[error("there is no preset `{given}`\nhint: the presets are `default`, `single` and `paper`")]
    Preset {
        /// What was given.
        given: String,
    },
}

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Decides every random number.
    pub seed: u64,
    /// What stands on the features.
    #[serde(default)]
    pub head: HeadKind,
    /// From files to matrices.
    pub data: DataConfig,
    /// The network.
    pub encoder: EncoderConfig,
    /// The Gaussian process.
    pub gp: GpConfig,
    /// The optimisation.
    pub train: TrainConfig,
    /// Training rows that are kept.
    #[serde(default)]
    pub neighbours: NeighboursConfig,
}

/// What stands on the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadKind {
    /// A Gaussian process conditioned on inducing points.
    #[default]
    Gp,
    /// A softmax layer: a plain network of the same capacity, to compare with. Classes only.
    Softmax,
}

impl Config {
    /// How latent functions become probabilities.
    pub fn link(&self) -> gp::Link {
        if self.head == HeadKind::Softmax { gp::Link::Logit } else { self.gp.link }
    }

    /// The initial kernel.
    pub fn kernel(&self) -> gp::Kernel {
        let (scale, gamma) = (self.gp.scale.get(), self.gp.gamma.get());
        match self.gp.kernel {
            KernelFamily::Rbf => gp::Kernel::Rbf { scale, gamma },
            KernelFamily::Matern32 => gp::Kernel::Matern32 { scale, gamma },
            KernelFamily::Matern52 => gp::Kernel::Matern52 { scale, gamma },
            KernelFamily::Linear => gp::Kernel::Linear { scale, offset: gamma },
        }
    }
}
