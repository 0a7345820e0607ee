//! The encoder of images: 3×3 convolutions with group norm and ReLU, then a linear feature layer.
//!
//! ```text
//! stem   h ← relu(norm(conv(h)))                                  H × W, when `stem` > 0
//! block  h ← relu(norm(pool(conv(h))))                            pool: maximum of 2×2
//!        h ← relu(norm(conv(h)))                                  `convolutions` − 1 times
//! Φ = flatten(h) W_Φ + b_Φ                                        [N, D]
//! norm(h) = γ (h − mean) / √(var + ε) + β                         over the pixels and a group's channels of one image
//! ```
//! The norm needs no batch, hence Φ of an image is a function of that image and the parameters alone. Pooling right
//! after a block's first convolution quarters the cost of all that follows.
//!
//! Forward and backward pass are written by hand. Measured on two cores (Xeon with AVX-512), batch 128,
//! forward and backward, useful GFLOP/s:
//!
//! ```text
//! convolution     32→32 @32²   32→64 @16²   64→64 @16²   64→128 @8²   128→128 @8²
//! burn's conv2d           32           57           63          108           113   two threads
//! here                   138          145          158          132           139   one thread, four images
//! ```
//! The whole network with `stem` 16 and `blocks` 32, 64, 128 costs 21.8 million multiplications an image; a batch with
//! norm, pooling and all takes 95 ms: 170 GFLOP/s on two threads.
//!
//! Softmax cross-entropy on 64 features, AdamW (β = 0.9, 0.99), batch 128, rate 2e-3 with 10 % rise and cosine descent,
//! decay 0.05 of the weights, images moved at random by up to 4 pixels (digits 2) and mirrored (digits not), groups
//! of 8 channels, blocks of two convolutions, one seed, test set looked at once:
//!
//! ```text
//! data       stem   blocks         epochs   accuracy   processor time (two threads)
//! CIFAR-10     16   32, 64, 128        12     83.2 %   1120 s
//! MNIST         0   16, 32, 64          6     99.5 %    134 s
//! ```
//! Averaging over the last pixels instead of flattening them gave 58.5 % instead of 64.0 % after two epochs
//! (validation).

mod layers;
mod network;

use super::init::normal;
use super::{Backward, Encoder, Forward, Layout, Mode, Param};
use crate::dataset::Inputs;
use crate::error::Error;
use network::Tape;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// More convolutions in a block than this are refused.
const MOST_CONVOLUTIONS: usize = 1024;

/// Everything that fixes the parameters' shapes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CnnShape {
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// Colours of an image.
    pub channels: usize,
    /// Channels of a convolution before the first block, without pooling; 0 for none.
    pub stem: usize,
    /// Channels of each block; every block halves height and width, rounding down.
    pub blocks: Vec<usize>,
    /// Convolutions of a block, at least one.
    pub convolutions: usize,
    /// Channels that share mean and variance; divides `stem` and all of `blocks`.
    pub group: usize,
    /// D
    pub features: usize,
}

/// One convolution and what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layer {
    height: usize,
    width: usize,
    inputs: usize,
    outputs: usize,
    pool: bool,
}

impl CnnShape {
    /// What is wrong with it, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        let [h, w] = self.last_size();
        if self.channels == 0 || self.features == 0 || self.convolutions == 0 {
            Some("`channels`, `features` and `convolutions` must be positive".into())
        } else if self.convolutions > MOST_CONVOLUTIONS {
            Some(format!("{} convolutions in a block; at most {MOST_CONVOLUTIONS}", self.convolutions))
        } else if self.blocks.is_empty() {
            Some("an encoder of images needs at least one block".into())
        } else if h == 0 || w == 0 {
            let (h, w, b) = (self.height, self.width, self.blocks.len());
            Some(format!("an image of {h}×{w} pixels cannot be halved {b} times; use fewer blocks"))
        } else {
            let divides = |&c: &usize| self.group > 0 && c.is_multiple_of(self.group);
            let wrong = self.blocks.iter().chain([&self.stem]).find(|c| !divides(c));
            wrong
                .or(self.blocks.iter().find(|&&c| c == 0))
                .map(|c| format!("{c} channels are not a positive multiple of `group` = {}", self.group))
        }
    }

    /// Height and width after the last block.
    fn last_size(&self) -> [usize; 2] {
        let halve = |size: usize| size.checked_shr(self.blocks.len() as u32).unwrap_or(0);
        [halve(self.height), halve(self.width)]
    }

    /// Inputs of the feature layer.
    fn flat(&self) -> usize {
        let [h, w] = self.last_size();
        h.saturating_mul(w).saturating_mul(self.blocks.last().copied().unwrap_or(0))
    }

    fn layers(&self) -> Vec<Layer> {
        let (mut height, mut width, mut inputs) = (self.height, self.width, self.channels);
        let mut layers = Vec::new();
        if self.stem > 0 {
            layers.push(Layer { height, width, inputs, outputs: self.stem, pool: false });
            inputs = self.stem;
        }
        for &outputs in &self.blocks {
            for place in 0..self.convolutions {
                let pool = place == 0;
                layers.push(Layer { height, width, inputs, outputs, pool });
                if pool {
                    (height, width) = (height / 2, width / 2);
                }
                inputs = outputs;
            }
        }
        layers
    }
}

/// Where a convolution's parameters stand in θ. Rows of the weight: kernel row, kernel column, input channel.
#[derive(Debug, Clone, Copy)]
struct Convolution {
    weight: Param, // [9·in, out]
    gain: Param,   // [out]  γ
    shift: Param,  // [out]  β
}

/// The network; see the module's equations.
#[derive(Debug)]
pub struct Cnn {
    shape: CnnShape,
    layout: Layout,
    convolutions: Vec<Convolution>,
    weight: Param, // [h·w·c, D]
    bias: Param,   // [D]
}

impl Cnn {
    /// The network of a shape, or what is wrong with it.
    pub fn new(shape: CnnShape) -> Result<Self, String> {
        if let Some(fault) = shape.fault() {
            return Err(fault);
        }
        let mut layout = Layout::default();
        let mut convolutions = Vec::new();
        for (index, layer) in shape.layers().into_iter().enumerate() {
            let rows = layer.inputs.saturating_mul(9);
            convolutions.push(Convolution {
                weight: layout.add(format!("convolutions.{index}.weight"), &[rows, layer.outputs], true),
                gain: layout.add(format!("convolutions.{index}.gain"), &[layer.outputs], false),
                shift: layout.add(format!("convolutions.{index}.shift"), &[layer.outputs], false),
            });
        }
        let weight = layout.add("weight", &[shape.flat(), shape.features], true);
        let bias = layout.add("bias", &[shape.features], false);
        Ok(Self { shape, layout, convolutions, weight, bias })
    }

    /// Numbers of an image.
    fn width(&self) -> usize {
        self.shape.height * self.shape.width * self.shape.channels
    }
}

impl Encoder for Cnn {
    fn dim(&self) -> usize {
        self.shape.features
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Normal weights of variance 2 / (9 in) before a ReLU (He et al. 2015) and 1 / in before the features, gains of
    /// one, zero shifts.
    fn initialise(&self, seed: u64) -> Vec<f32> {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut theta = vec![0.0; self.layout.len()];
        for (params, layer) in self.convolutions.iter().zip(self.shape.layers()) {
            let deviation = (2.0 / (9 * layer.inputs) as f64).sqrt();
            normal(params.weight.of_mut(&mut theta), deviation, rng);
            params.gain.of_mut(&mut theta).fill(1.0);
        }
        normal(self.weight.of_mut(&mut theta), (1.0 / self.shape.flat() as f64).sqrt(), rng);
        theta
    }

    /// What the gradient needs is some 0.5 MB an image of 32×32 pixels.
    fn forward<'a>(
        &'a self,
        theta: &'a [f32],
        inputs: &'a Inputs,
        rows: &[usize],
        mode: Mode,
    ) -> Result<Forward<'a>, Error> {
        let images = inputs.numbers(self.width(), rows, mode)?;
        let (phi, tape) = network::record(self, theta, &images);
        Ok((phi, Box::new(CnnBackward { cnn: self, theta, tape })))
    }

    fn features(&self, theta: &[f32], inputs: &Inputs, rows: &[usize]) -> Result<Vec<f32>, Error> {
        let images = inputs.numbers(self.width(), rows, Mode::Predict)?;
        Ok(network::features(self, theta, &images))
    }
}

struct CnnBackward<'a> {
    cnn: &'a Cnn,
    theta: &'a [f32],
    tape: Tape,
}

impl Backward for CnnBackward<'_> {
    fn pull_back(self: Box<Self>, d_phi: &[f32], d_theta: &mut [f32], d_x: Option<&mut [f32]>) {
        network::pull_back(self.cnn, self.theta, &self.tape, d_phi, d_theta, d_x);
    }
}

#[cfg(test)]
mod tests;
