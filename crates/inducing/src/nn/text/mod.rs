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
//! There is no padding: a text passes at its own length, and features in prediction are a function of their row and the
//! parameters alone, to the last bit.
//!
//! Forward and backward pass are written by hand. A tower (`tower`) passes its texts in small groups, each through all
//! of its blocks (`block`); the tokens' table is read where it lies and its gradient is made once, all other gradients
//! are summed in eight parts. `feature_layer` is the last equation, `params` the place of every parameter in θ.
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
mod batch;
mod block;
mod dropout;
mod feature_layer;
mod forward;
mod layers;
mod norm;
mod params;
mod shape;
mod tower;

pub use shape::{Pooling, TextShape, TowerShape};

use super::mlp::Mlp;
use super::{Encoder, Layout, Param};
use crate::dataset::Inputs;
use crate::error::Error;
use data::Texts;
use feature_layer::FeatureParams;
use params::TowerParams;

/// The network; see the module's equations.
///
/// ```
/// use inducing::nn::Encoder;
/// use inducing::nn::text::{Pooling, TextEncoder, TextShape, TowerShape};
/// let tower = TowerShape {
///     vocabulary: 100,
///     length: 20,
///     width: 8,
///     heads: 2,
///     feed_forward: 8,
///     blocks: 1,
///     pooling: Pooling::MeanMax,
/// };
/// let shape = TextShape {
///     towers: vec![tower],
///     beside: None,
///     features: 4,
///     members: 1,
///     dropout: 0.1,
///     word_dropout: 0.1,
/// };
/// let encoder = TextEncoder::new(shape)?;
/// assert_eq!(encoder.layout().slots()[0].name, "towers.0.token");
/// assert_eq!(encoder.initialise(7).len(), encoder.layout().len());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct TextEncoder {
    shape: TextShape,
    layout: Layout,
    towers: Vec<TowerParams>, // one for each text of the first member, then of the second, …
    beside: Option<Beside>,
    top: FeatureParams,
}

/// The network of the table's other columns, and where its parameters stand in θ.
#[derive(Debug)]
struct Beside {
    mlp: Mlp,
    params: Param,
}

impl TextEncoder {
    /// The encoder of a shape; what is wrong with it, where that makes no sense.
    pub fn new(shape: TextShape) -> Result<Self, String> {
        if let Some(fault) = shape.fault() {
            return Err(fault);
        }
        let mut layout = Layout::default();
        let towers = (0..shape.members).flat_map(|_| &shape.towers).enumerate();
        let towers = towers
            .map(|(index, tower)| TowerParams::add(&mut layout, &format!("towers.{index}"), tower))
            .collect();
        let beside = match shape.beside.clone() {
            Some(beside) => {
                let mlp = Mlp::new(beside)?;
                let params = layout.add_all("beside", mlp.layout());
                Some(Beside { mlp, params })
            }
            None => None,
        };
        let top = FeatureParams::add(&mut layout, &shape);
        Ok(Self { shape, layout, towers, beside, top })
    }

    /// The shape that it was made with.
    pub fn shape(&self) -> &TextShape {
        &self.shape
    }

    /// The texts of each tower, if that is what the inputs are.
    fn texts<'a>(&self, inputs: &'a Inputs) -> Result<&'a [Texts], Error> {
        let count = self.shape.towers.len();
        let expected = || format!("a table with {count} text columns");
        match inputs {
            Inputs::Table(matrix) if matrix.texts.len() == count => Ok(&matrix.texts),
            Inputs::Table(matrix) => {
                Err(Error::inputs(expected(), format!("{} text columns", matrix.texts.len())))
            }
            _ => Err(Error::inputs(expected(), "inputs of another kind")),
        }
    }
}

#[cfg(test)]
mod tests;
