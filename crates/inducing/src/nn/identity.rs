//! Features that were computed elsewhere: `Φ = x`, without parameters.

use super::{Backward, Encoder, Forward, Layout, Mode};
use crate::dataset::Inputs;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// How many features there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityShape {
    /// D, the width of the inputs.
    pub features: usize,
}

/// The map that changes nothing.
#[derive(Debug)]
pub struct Identity {
    shape: IdentityShape,
    layout: Layout,
}

impl Identity {
    /// The identity on rows of that width.
    pub fn new(shape: IdentityShape) -> Result<Self, String> {
        match shape.features {
            0 => Err("`features` must be positive".into()),
            _ => Ok(Self { shape, layout: Layout::default() }),
        }
    }
}

impl Encoder for Identity {
    fn dim(&self) -> usize {
        self.shape.features
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initialise(&self, _seed: u64) -> Vec<f32> {
        Vec::new()
    }

    fn forward<'a>(
        &'a self,
        _theta: &'a [f32],
        inputs: &'a Inputs,
        rows: &[usize],
        mode: Mode,
    ) -> Result<Forward<'a>, Error> {
        Ok((inputs.numbers(self.shape.features, rows, mode)?, Box::new(IdentityBackward)))
    }
}

struct IdentityBackward;

impl Backward for IdentityBackward {
    fn pull_back(self: Box<Self>, d_phi: &[f32], _d_theta: &mut [f32], d_x: Option<&mut [f32]>) {
        if let Some(d_x) = d_x {
            d_x.copy_from_slice(d_phi);
        }
    }
}
