//! Features that were computed elsewhere: `Φ = x`, without parameters.

use super::{Encoder, Mode};
use crate::inputs::Inputs;
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// How many features there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityShape {
    /// D, the width of the inputs.
    pub features: usize,
}

/// The map that changes nothing.
#[derive(Module, Debug)]
pub struct Identity {
    #[module(skip)]
    shape: IdentityShape,
}

impl Identity {
    /// Of so many features.
    pub fn new(shape: IdentityShape) -> Self {
        Self { shape }
    }
}

impl Encoder for Identity {
    fn dim(&self) -> usize {
        self.shape.features
    }

    fn features(&self, inputs: &Inputs, rows: &[usize], mode: Mode) -> Tensor<2> {
        let x = inputs.gather(rows, mode);
        Tensor::from_data(TensorData::new(x, [rows.len(), self.shape.features]), &Device::default())
    }

    fn features_at(&self, x: Tensor<2>) -> Option<Tensor<2>> {
        Some(x)
    }
}
