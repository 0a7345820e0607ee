//! Where the parameters of a tower stand in θ, and their initial values.
//!
//! ```text
//! token [V, W] | position [L, W] | blocks.b: before_attention, qkv, mix, before_dense, up, down | … | last
//! ```

use super::TowerShape;
use crate::nn::init::{glorot, normal};
use crate::nn::{Layout, Param};
use rand_chacha::ChaCha8Rng;

/// Deviation of the initial embeddings.
const EMBEDDING: f64 = 0.05;

/// Two parameters, one behind the other: gain and shift of a norm, or weight and bias of a dense layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    both: Param,
    first: usize, // length of the first
}

impl Pair {
    /// Gain `[W]` and shift `[W]`.
    fn norm(layout: &mut Layout, name: &str, width: usize) -> Self {
        let mut pair = Layout::default();
        pair.add("gain", &[width], false);
        pair.add("shift", &[width], false);
        Self { both: layout.add_all(name, &pair), first: width }
    }

    /// Weight `[in, out]` and bias `[out]`.
    fn dense(layout: &mut Layout, name: &str, [inputs, outputs]: [usize; 2]) -> Self {
        let mut pair = Layout::default();
        let first = pair.add("weight", &[inputs, outputs], true).len();
        pair.add("bias", &[outputs], false);
        Self { both: layout.add_all(name, &pair), first }
    }

    /// The values of both.
    pub(super) fn of<'a>(&self, theta: &'a [f32]) -> (&'a [f32], &'a [f32]) {
        self.both.of(theta).split_at(self.first)
    }

    /// The values of both, to be written.
    pub(super) fn of_mut<'a>(&self, theta: &'a mut [f32]) -> (&'a mut [f32], &'a mut [f32]) {
        self.both.of_mut(theta).split_at_mut(self.first)
    }
}

/// The parameters of a transformer block.
#[derive(Debug, Clone)]
pub(super) struct BlockParams {
    pub(super) before_attention: Pair,
    pub(super) qkv: Pair, // [W, 3W]
    pub(super) mix: Pair, // [W, W]
    pub(super) before_dense: Pair,
    pub(super) up: Pair,   // [W, F]
    pub(super) down: Pair, // [F, W]
}

/// The parameters of a tower: the tokens' table, then all others in one stretch. Gradients of that stretch are summed
/// in several parts; those of the table, which is much larger, are made once.
#[derive(Debug, Clone)]
pub(super) struct TowerParams {
    /// In θ, `[V, W]`.
    pub(super) token: Param,
    /// In θ, the stretch in which all parameters below stand.
    pub(super) others: Param,
    pub(super) position: Param, // [L, W]
    pub(super) blocks: Vec<BlockParams>,
    pub(super) last: Pair,
}

impl TowerParams {
    /// Appends the parameters of a tower to `layout`.
    pub(super) fn add(layout: &mut Layout, name: &str, shape: &TowerShape) -> Self {
        let &TowerShape { vocabulary, length, width: w, feed_forward: f, .. } = shape;
        let token = layout.add(format!("{name}.token"), &[vocabulary, w], false);
        let others = &mut Layout::default();
        let position = others.add("position", &[length, w], false);
        let block = |block: usize| BlockParams {
            before_attention: Pair::norm(others, &format!("blocks.{block}.before_attention"), w),
            qkv: Pair::dense(others, &format!("blocks.{block}.qkv"), [w, w.saturating_mul(3)]),
            mix: Pair::dense(others, &format!("blocks.{block}.mix"), [w, w]),
            before_dense: Pair::norm(others, &format!("blocks.{block}.before_dense"), w),
            up: Pair::dense(others, &format!("blocks.{block}.up"), [w, f]),
            down: Pair::dense(others, &format!("blocks.{block}.down"), [f, w]),
        };
        let blocks = (0..shape.blocks).map(block).collect();
        let last = Pair::norm(others, "last", w);
        Self { token, others: layout.add_all(name, others), position, blocks, last }
    }

    /// Normal embeddings, Glorot-uniform weights, gains of one; biases and shifts stay as they are.
    pub(super) fn initialise(&self, shape: &TowerShape, theta: &mut [f32], rng: &mut ChaCha8Rng) {
        let (w, f) = (shape.width, shape.feed_forward);
        normal(self.token.of_mut(theta), EMBEDDING, rng);
        let others = self.others.of_mut(theta);
        normal(self.position.of_mut(others), EMBEDDING, rng);
        for block in &self.blocks {
            for norm in [block.before_attention, block.before_dense] {
                norm.of_mut(others).0.fill(1.0);
            }
            let dense =
                [(block.qkv, [w, 3 * w]), (block.mix, [w, w]), (block.up, [w, f]), (block.down, [f, w])];
            for (dense, sizes) in dense {
                glorot(dense.of_mut(others).0, sizes, rng);
            }
        }
        self.last.of_mut(others).0.fill(1.0);
    }
}
