//! A transformer block over the tokens of a few texts, with its `pull_back` beneath it.
//!
//! ```text
//! h ← h + mask₁ ∘ (attention(norm(h) W_qkv + b_qkv) W_mix + b_mix)          [T, W]
//! h ← h + mask₂ ∘ (relu(norm(h) W_up + b_up) W_down + b_down)               [T, W]
//! ```

use super::TowerShape;
use super::attention::{Heads, Softmax, Space};
use super::dropout::Mask;
use super::layers::{Dense, add};
use super::norm::{Norm, Normed};
use super::params::BlockParams;
use linalg::gemm::thin::transposed;
use linalg::simd::{relu, relu_pull_back};
use std::ops::Range;

/// A block's values, where they stand in θ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    params: &'a BlockParams,
    heads: Heads,
    before_attention: Norm<'a>,
    qkv: Dense<'a>,
    mix: Dense<'a>,
    before_dense: Norm<'a>,
    up: Dense<'a>,
    down: Dense<'a>,
}

/// What the backward pass needs of a block.
#[derive(Debug)]
pub(super) struct BlockTape {
    before_attention: Normed,
    qkv: Vec<f32>,         // [T, 3W]
    softmax: Vec<Softmax>, // [T · H]
    mixed: Vec<f32>,       // [T, W]  P V
    before_dense: Normed,
    hidden: Vec<f32>, // [T, F]
    masks: Option<[Mask; 2]>,
}

/// What all blocks of a forward pass write over.
#[derive(Debug)]
pub(super) struct Buffers {
    pub(super) n: Vec<f32>, // [T, W]  norm(h)
    y: Vec<f32>,            // [T, W]  what is added to h
    attention: Space,
}

impl Buffers {
    pub(super) fn new(shape: &TowerShape, tokens: usize) -> Self {
        let [n, y] = [0, 1].map(|_| vec![0.0; tokens * shape.width]);
        Self { n, y, attention: Space::default() }
    }
}

/// What all blocks of a backward pass write over.
#[derive(Debug)]
pub(super) struct GradientBuffers {
    n: Vec<f32>,              // [T, W]
    pub(super) d_n: Vec<f32>, // [T, W]
    d_hidden: Vec<f32>,       // [T, F]
    d_mixed: Vec<f32>,        // [T, W]
    d_qkv: Vec<f32>,          // [T, 3W]
    attention: Space,
}

impl GradientBuffers {
    pub(super) fn new(shape: &TowerShape, tokens: usize) -> Self {
        let [n, d_n, d_mixed] = [0, 1, 2].map(|_| vec![0.0; tokens * shape.width]);
        let [d_hidden, d_qkv] = [shape.feed_forward, 3 * shape.width].map(|width| vec![0.0; tokens * width]);
        Self { n, d_n, d_hidden, d_mixed, d_qkv, attention: Space::default() }
    }
}

/// Wᵀ of a block's dense layers.
#[derive(Debug)]
pub(super) struct Transposed {
    qkv: Vec<f32>,
    mix: Vec<f32>,
    up: Vec<f32>,
    down: Vec<f32>,
}

impl<'a> Block<'a> {
    /// `theta` is the tower's stretch without the tokens' table.
    pub(super) fn new(shape: &TowerShape, params: &'a BlockParams, theta: &'a [f32]) -> Self {
        Self {
            params,
            heads: Heads { width: shape.width, heads: shape.heads },
            before_attention: Norm::new(params.before_attention, theta),
            qkv: Dense::new(params.qkv, theta),
            mix: Dense::new(params.mix, theta),
            before_dense: Norm::new(params.before_dense, theta),
            up: Dense::new(params.up, theta),
            down: Dense::new(params.down, theta),
        }
    }

    pub(super) fn transposed(&self) -> Transposed {
        let [qkv, mix, up, down] =
            [self.qkv, self.mix, self.up, self.down].map(|dense| transposed(dense.weight, dense.bias.len()));
        Transposed { qkv, mix, up, down }
    }

    /// Replaces `h [T, W]`; `texts` are the tokens of each text.
    pub(super) fn forward(
        &self,
        texts: &[Range<usize>],
        masks: Option<[Mask; 2]>,
        h: &mut [f32],
        Buffers { n, y, attention }: &mut Buffers,
    ) -> BlockTape {
        let Heads { width: w, heads } = self.heads;
        let tokens = h.len() / w;
        let before_attention = self.before_attention.forward(h, n);
        let mut qkv = vec![0.0; tokens * 3 * w];
        self.qkv.forward(n, &mut qkv);
        let (mut mixed, mut softmax) = (vec![0.0; tokens * w], vec![[0.0; 2]; tokens * heads]);
        for Range { start, end } in texts.iter().cloned() {
            let softmax = &mut softmax[start * heads..end * heads];
            let mixed = &mut mixed[start * w..end * w];
            self.heads.forward(&qkv[start * 3 * w..end * 3 * w], mixed, softmax, attention);
        }
        self.mix.forward(&mixed, y);
        add(h, dropped(y, masks.as_ref().map(|masks| &masks[0]), n));

        let before_dense = self.before_dense.forward(h, n);
        let mut hidden = vec![0.0; tokens * self.up.bias.len()];
        self.up.forward(n, &mut hidden);
        relu(&mut hidden);
        self.down.forward(&hidden, y);
        add(h, dropped(y, masks.as_ref().map(|masks| &masks[1]), n));
        BlockTape { before_attention, qkv, softmax, mixed, before_dense, hidden, masks }
    }

    /// Replaces `d_h [T, W]`, and adds to `gradient` of the tower's stretch without the tokens' table.
    pub(super) fn pull_back(
        &self,
        (tape, weights): (&BlockTape, &Transposed),
        texts: &[Range<usize>],
        d_h: &mut [f32],
        gradient: &mut [f32],
        buffers: &mut GradientBuffers,
    ) {
        let Heads { width: w, heads } = self.heads;
        let GradientBuffers { n, d_n, d_hidden, d_mixed, d_qkv, attention } = buffers;
        let d_y = dropped(d_h, tape.masks.as_ref().map(|masks| &masks[1]), n);
        Dense::pull_back(&weights.down, (&tape.hidden, d_y), d_hidden, self.params.down.of_mut(gradient));
        relu_pull_back(&tape.hidden, d_hidden);
        self.before_dense.restore(&tape.before_dense, n);
        Dense::pull_back(&weights.up, (n, d_hidden), d_n, self.params.up.of_mut(gradient));
        let d_norm = self.params.before_dense.of_mut(gradient);
        self.before_dense.pull_back(&tape.before_dense, d_n, d_h, d_norm);

        let d_y = dropped(d_h, tape.masks.as_ref().map(|masks| &masks[0]), n);
        Dense::pull_back(&weights.mix, (&tape.mixed, d_y), d_mixed, self.params.mix.of_mut(gradient));
        for Range { start, end } in texts.iter().cloned() {
            let (mixed, qkv) = (start * w..end * w, start * 3 * w..end * 3 * w);
            let softmax = &tape.softmax[start * heads..end * heads];
            let kept = (&tape.qkv[qkv.clone()], &tape.mixed[mixed.clone()], softmax);
            self.heads.pull_back(kept, &d_mixed[mixed], &mut d_qkv[qkv], attention);
        }
        self.before_attention.restore(&tape.before_attention, n);
        Dense::pull_back(&weights.qkv, (n, d_qkv), d_n, self.params.qkv.of_mut(gradient));
        let d_norm = self.params.before_attention.of_mut(gradient);
        self.before_attention.pull_back(&tape.before_attention, d_n, d_h, d_norm);
    }
}

/// `x ∘ mask`, in `space` if there is a mask.
fn dropped<'a>(x: &'a [f32], mask: Option<&Mask>, space: &'a mut [f32]) -> &'a [f32] {
    let Some(mask) = mask else { return x };
    mask.apply(x, space);
    space
}
