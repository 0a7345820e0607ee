//! The encoder of texts: embedded tokens, transformer blocks, pooling over the tokens, then a linear feature layer.
//!
//! ```text
//! h = token[x_t] + position[t]                                    [L, W]
//! block  h ← h + attention(norm(h))                               softmax(Q Kᵀ / √d) V, `heads` of them
//!        h ← h + relu(norm(h) W₁ + b₁) W₂ + b₂
//! pooled = mean and maximum over the tokens of norm(h)            [P]
//! u = [ pooled of text 1 | … | beside(x) ]                        beside: an MLP of the table's other columns
//! Φ = u W_Φ + b_Φ                                                 [N, D]; one u and W_Φ for each member
//! ```
//! There is no padding: a text passes at its own length, and what is pooled of it is a function of that text and the
//! parameters alone, to the last bit.
//!
//! The tower of a text column is written by hand, forward and backward ([`network`]), and enters burn's autodiff as one
//! operation of two tensors ([`TowerOps`]): the tokens' table, which is read where it lies and whose gradient is made
//! once, and all other parameters in one flat vector. burn derives the rest.
//!
//! A training step with a vocabulary of 20,000, 200 tokens, width 32, 2 heads, 32 hidden units, one block and batch 32,
//! all included, on one thread of a Xeon with AVX-512 (`bench/peers`, busy machine, the best of each):
//!
//! ```text
//!                                      here   PyTorch: plain   MultiheadAttention   fused attention
//! all texts of 200 tokens           12.6 ms          21.2 ms              20.2 ms           16.4 ms
//! 40 % of them shorter               9.2 ms          28.1 ms              21.5 ms           17.4 ms
//! ```
//! Products take 53 % of it, at 120 GFLOP/s; softmax 10 %; Adam and the traffic of 640,000 embeddings 10 %.
//!
//! IMDB, 25,000 reviews to train on, vocabulary 20,000, 200 tokens, width 32, one block, mean, logistic readout, Adam
//! without decay, rate 1e-3 with cosine descent, batch 32, one seed, best epoch on 2,500 held-out reviews:
//!
//! ```text
//! first 200 tokens   88.4 %      last 200   89.6 %      first 100 and last 100   89.7 %     dropout 0.1
//! two epochs without dropout     90.1 %      four members, dropout 0.1   90.3 %  (test set, looked at once: 88.4 %)
//! four epochs, dropout 0.3, words 0.2 … 0.3:  width 32  89.4 %   width 64  89.5 %   two blocks  89.4 %
//! ```

mod attention;
mod layers;
mod network;
mod norm;
mod operation;
mod rest;
mod shape;

pub use operation::{Batch, TowerOps};
pub use shape::{Pooling, TextShape, TowerShape};

use super::mlp::{Mlp, dropout_mask, glorot, normal, zeros};
use super::{Encoder, Mode};
use crate::inputs::Inputs;
use burn::backend::Dispatch;
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use data::Texts;
use network::part_seed;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Deviation of the initial embeddings.
const EMBEDDING: f64 = 0.05;
/// The token of every word that the vocabulary does not know.
const UNKNOWN: u32 = 1;

/// Norm over the channels of a token.
#[derive(Module, Debug)]
struct Norm {
    gain: Param<Tensor<1>>,  // [W]
    shift: Param<Tensor<1>>, // [W]
}

/// `x W + b`
#[derive(Module, Debug)]
struct Dense {
    weight: Param<Tensor<2>>, // [in, out]
    bias: Param<Tensor<1>>,   // [out]
}

#[derive(Module, Debug)]
struct Block {
    before_attention: Norm,
    qkv: Dense, // [W, 3W]
    mix: Dense, // [W, W]
    before_dense: Norm,
    up: Dense,   // [W, F]
    down: Dense, // [F, W]
}

#[derive(Module, Debug)]
struct Tower {
    token: Param<Tensor<2>>,    // [V, W]
    position: Param<Tensor<2>>, // [L, W]
    blocks: Vec<Block>,
    last: Norm,
}

/// The network; see the module's equations.
#[derive(Module, Debug)]
pub struct Transformer {
    towers: Vec<Tower>, // one for each text of the first member, then of the second, …
    beside: Option<Mlp>,
    weight: Param<Tensor<3>>, // [K, U, D/K]
    bias: Param<Tensor<3>>,   // [K, 1, D/K]
    #[module(skip)]
    shape: TextShape,
}

impl Transformer {
    /// Normal embeddings, Glorot-uniform weights, gains of one, zero biases and shifts; `seed` decides every number.
    ///
    /// # Panics
    /// When the shape has a fault.
    pub fn new(shape: TextShape, seed: u64, device: &Device) -> Self {
        if let Some(fault) = shape.fault() {
            panic!("{fault}");
        }
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let (k, each) = (shape.members, shape.features / shape.members);
        let towers = (0..k).flat_map(|_| &shape.towers).map(|tower| Tower::new(tower, rng, device)).collect();
        let weight = glorot([k, shape.inputs(), each], rng, device);
        let beside = shape.beside.clone().map(|mlp| Mlp::new(mlp, part_seed(seed, [0]), device));
        Self { towers, beside, weight, bias: zeros([k, 1, each], device), shape }
    }

    /// The shape that it was made with.
    pub fn shape(&self) -> &TextShape {
        &self.shape
    }

    /// Features `[N, D]` of some rows of one set of texts for each tower, and of the table's other columns.
    ///
    /// # Panics
    /// When there are fewer texts than towers, when the other columns are missing, or when a text is empty, longer
    /// than its tower allows or has a token outside of the vocabulary.
    pub fn features_of(
        &self,
        texts: &[&Texts],
        beside: Option<&Inputs>,
        rows: &[usize],
        mode: Mode,
    ) -> Tensor<2> {
        let (k, n, count) = (self.shape.members, rows.len(), self.shape.towers.len());
        let device = &self.bias.val().device();
        assert_eq!(texts.len(), count, "one set of texts for each tower");
        let each = self.shape.beside.as_ref().map_or(0, |mlp| mlp.features / k);
        let beside = self.beside.as_ref().map(|mlp| {
            mlp.features(beside.expect("the columns beside the texts"), rows, mode) // [N, K · each]
        });
        let members = (0..k).map(|member| {
            let towers = self.towers[member * count..(member + 1) * count].iter().zip(texts);
            let mut parts: Vec<Tensor<2>> = towers
                .enumerate()
                .map(|(text, (tower, texts))| {
                    let batch = Batch::new(&self.shape, text, texts, rows, mode, [member, text]);
                    tower.pooled(Arc::new(batch))
                })
                .collect();
            parts.extend(beside.clone().map(|phi| phi.narrow(1, member * each, each)));
            let u = if parts.len() == 1 { parts.remove(0) } else { Tensor::cat(parts, 1) };
            let u = match mode {
                Mode::Train { seed } if self.shape.dropout > 0.0 => {
                    let size = [n, self.shape.inputs()];
                    let seed = part_seed(seed, [member, usize::MAX]);
                    let mask = dropout_mask(size[0] * size[1], self.shape.dropout, seed);
                    u * Tensor::from_data(TensorData::new(mask, size), device)
                }
                _ => u,
            };
            u.unsqueeze_dim(0)
        });
        let mut members: Vec<Tensor<3>> = members.collect();
        let u = if k == 1 { members.remove(0) } else { Tensor::cat(members, 0) }; // [K, N, U]
        let phi = u.matmul(self.weight.val()) + self.bias.val(); // [K, N, D/K]
        let d = self.shape.features;
        if k == 1 { phi.reshape([n, d]) } else { phi.swap_dims(0, 1).reshape([n, d]) }
    }
}

impl Tower {
    fn new(shape: &TowerShape, rng: &mut ChaCha8Rng, device: &Device) -> Self {
        let &TowerShape { vocabulary, length, width, feed_forward, blocks, .. } = shape;
        let norm = || Norm {
            gain: Param::from_tensor(Tensor::from_data(
                TensorData::new(vec![1.0_f32; width], [width]),
                device,
            )),
            shift: zeros([width], device),
        };
        let dense = |inputs: usize, outputs: usize, rng: &mut ChaCha8Rng| {
            let weight = glorot([1, inputs, outputs], rng, device);
            Dense {
                weight: Param::from_tensor(weight.val().reshape([inputs, outputs]).detach()),
                bias: zeros([outputs], device),
            }
        };
        Self {
            token: normal([vocabulary, width], EMBEDDING, rng, device),
            position: normal([length, width], EMBEDDING, rng, device),
            blocks: (0..blocks)
                .map(|_| Block {
                    before_attention: norm(),
                    qkv: dense(width, 3 * width, rng),
                    mix: dense(width, width, rng),
                    before_dense: norm(),
                    up: dense(width, feed_forward, rng),
                    down: dense(feed_forward, width, rng),
                })
                .collect(),
            last: norm(),
        }
    }

    /// `[N, P]`
    fn pooled(&self, batch: Arc<Batch>) -> Tensor<2> {
        let size = [batch.texts(), batch.shape.outputs()];
        let mut rest = vec![self.position.val().reshape([-1])];
        let norm = |norm: &Norm, rest: &mut Vec<Tensor<1>>| rest.extend([norm.gain.val(), norm.shift.val()]);
        let dense = |dense: &Dense, rest: &mut Vec<Tensor<1>>| {
            rest.extend([dense.weight.val().reshape([-1]), dense.bias.val()]);
        };
        for block in &self.blocks {
            norm(&block.before_attention, &mut rest);
            dense(&block.qkv, &mut rest);
            dense(&block.mix, &mut rest);
            norm(&block.before_dense, &mut rest);
            dense(&block.up, &mut rest);
            dense(&block.down, &mut rest);
        }
        norm(&self.last, &mut rest);
        let (token, rest) = (self.token.val().into_dispatch(), Tensor::<1>::cat(rest, 0).into_dispatch());
        Tensor::<2>::from_dispatch(<Dispatch as TowerOps>::tower(token, rest, batch)).reshape(size)
    }
}

impl Encoder for Transformer {
    fn dim(&self) -> usize {
        self.shape.features
    }

    fn members(&self) -> usize {
        self.shape.members
    }

    fn features(&self, inputs: &Inputs, rows: &[usize], mode: Mode) -> Tensor<2> {
        let Inputs::Table(matrix) = inputs else { panic!("an encoder of texts reads a table") };
        self.features_of(&matrix.texts.iter().collect::<Vec<_>>(), Some(inputs), rows, mode)
    }
}

#[cfg(test)]
mod tests;
