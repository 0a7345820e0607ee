//! One tower, forward and backward, over blocks of a few texts that threads share.
//!
//! Texts do not see one another: a block passes through all layers while its activations are in the cache, and threads
//! meet only at the end. Blocks and partial sums have fixed sizes: no result depends on the number of threads.

use super::attention::{Heads, Softmax, Space};
use super::layers::{Dense, Mask, add, pool, pool_pull_back};
use super::norm::Normed;
use super::rest::{Rest, split_mut};
use super::{Batch, TowerShape};
use crate::encoder::product::transposed;
use crate::encoder::vectors::{relu, relu_pull_back};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Texts that pass together.
pub(super) const BLOCK: usize = 4;
/// Gradients that are summed apart, then together; more threads than this stay idle in the backward pass.
const PARTS: usize = 8;

/// What the backward pass needs.
#[derive(Debug)]
pub(super) struct Tape {
    batch: Arc<Batch>,
    rest: Vec<f32>,
    blocks: Vec<BlockTape>,
}

impl Tape {
    /// W
    pub(super) fn width(&self) -> usize {
        self.batch.shape.width
    }
}

#[derive(Debug)]
struct BlockTape {
    layers: Vec<LayerTape>,
    last: Normed,
    places: Vec<u32>, // [texts, W], of the maxima
}

#[derive(Debug)]
struct LayerTape {
    before_attention: Normed,
    qkv: Vec<f32>, // [T, 3W]
    softmax: Vec<Softmax>,
    mixed: Vec<f32>, // [T, W]  P V
    before_dense: Normed,
    hidden: Vec<f32>, // [T, F]
    masks: Option<[Mask; 2]>,
}

/// Pooled `[N, P]`, row-major.
pub(super) fn forward(batch: &Batch, token: &[f32], rest: &[f32]) -> Vec<f32> {
    run(batch, token, rest, |_| ()).0
}

/// Pooled `[N, P]` and what [`pull_back`] needs.
pub(super) fn record(batch: Arc<Batch>, token: &[f32], rest: Vec<f32>) -> (Vec<f32>, Tape) {
    let (pooled, blocks) = run(&batch, token, &rest, |tape| tape);
    (pooled, Tape { batch, rest, blocks })
}

fn run<T: Send>(
    batch: &Batch,
    token: &[f32],
    rest: &[f32],
    keep: impl Fn(BlockTape) -> T + Sync,
) -> (Vec<f32>, Vec<T>) {
    let outputs = batch.shape.outputs();
    let mut pooled = vec![0.0; batch.texts() * outputs];
    let rest = Rest::new(&batch.shape, rest);
    let blocks = pooled.par_chunks_mut(BLOCK * outputs).enumerate().with_max_len(1);
    let tapes = blocks.map(|(block, pooled)| keep(run_block(batch, token, &rest, block, pooled))).collect();
    (pooled, tapes)
}

/// The tokens of each text of a block, from the block's first token on.
fn texts(batch: &Batch, block: usize) -> (usize, Vec<Range<usize>>) {
    let texts = &batch.offsets[block * BLOCK..(block * BLOCK + BLOCK + 1).min(batch.offsets.len())];
    let first = texts[0];
    (first, texts.windows(2).map(|pair| pair[0] - first..pair[1] - first).collect())
}

fn run_block(batch: &Batch, token: &[f32], rest: &Rest<'_>, block: usize, pooled: &mut [f32]) -> BlockTape {
    let shape = &batch.shape;
    let (w, f, heads) = (shape.width, shape.feed_forward, Heads { width: shape.width, heads: shape.heads });
    let (first, texts) = texts(batch, block);
    let tokens = texts.last().map_or(0, |text| text.end);
    let mut h = Vec::with_capacity(tokens * w);
    for text in &texts {
        for (&id, position) in batch.tokens[first..][text.clone()].iter().zip(rest.position.chunks_exact(w)) {
            let token = &token[id as usize * w..][..w];
            h.extend(token.iter().zip(position).map(|(token, position)| token + position));
        }
    }
    let (mut n, mut y, mut space) = (vec![0.0; tokens * w], vec![0.0; tokens * w], Space::default());
    let mut layers = Vec::with_capacity(rest.layers.len());
    for (depth, layer) in rest.layers.iter().enumerate() {
        let masks = batch.dropout.map(|(share, seed)| {
            [0, 1].map(|place| Mask::new(share, part_seed(seed, [block, depth, place])))
        });
        let before_attention = layer.norm_1.forward(&h, &mut n);
        let mut qkv = vec![0.0; tokens * 3 * w];
        layer.qkv.forward(&n, &mut qkv);
        let (mut mixed, mut softmax) = (vec![0.0; tokens * w], vec![[0.0; 2]; tokens * shape.heads]);
        for Range { start, end } in texts.iter().cloned() {
            let softmax = &mut softmax[start * shape.heads..end * shape.heads];
            let mixed = &mut mixed[start * w..end * w];
            heads.forward(&qkv[start * 3 * w..end * 3 * w], mixed, softmax, &mut space);
        }
        layer.mix.forward(&mixed, &mut y);
        add(&mut h, dropped(&y, masks.as_ref().map(|masks| &masks[0]), &mut n));
        let before_dense = layer.norm_2.forward(&h, &mut n);
        let mut hidden = vec![0.0; tokens * f];
        layer.up.forward(&n, &mut hidden);
        relu(&mut hidden);
        layer.down.forward(&hidden, &mut y);
        add(&mut h, dropped(&y, masks.as_ref().map(|masks| &masks[1]), &mut n));
        layers.push(LayerTape { before_attention, qkv, softmax, mixed, before_dense, hidden, masks });
    }
    let last = rest.last.forward(&h, &mut n);
    let mut places = vec![0; if shape.pooling.has_max() { texts.len() * w } else { 0 }];
    for (index, (text, pooled)) in texts.iter().zip(pooled.chunks_exact_mut(shape.outputs())).enumerate() {
        let (mean, max) = pooled.split_at_mut(if shape.pooling.has_mean() { w } else { 0 });
        let places = if max.is_empty() { &mut [] } else { &mut places[index * w..][..w] };
        pool(&n[text.start * w..text.end * w], mean, max, places);
    }
    BlockTape { layers, last, places }
}

/// Gradients of the tokens' table and of all other parameters from `d_pooled [N, P]`.
pub(super) fn pull_back(tape: &Tape, d_pooled: &[f32]) -> [Vec<f32>; 2] {
    let Tape { batch, rest: parameters, blocks } = tape;
    let (shape, outputs) = (&batch.shape, batch.shape.outputs());
    let rest = Rest::new(shape, parameters);
    let flipped: Vec<[Vec<f32>; 4]> = rest
        .layers
        .iter()
        .map(|l| [l.qkv, l.mix, l.up, l.down].map(|dense| transposed(dense.weight, dense.bias.len())))
        .collect();
    let part = blocks.len().div_ceil(PARTS).max(1);
    let parts = blocks.par_chunks(part).zip(d_pooled.par_chunks(part * BLOCK * outputs)).enumerate();
    let gradients: Vec<(Vec<f32>, Vec<Vec<f32>>)> = parts
        .with_max_len(1)
        .map(|(index, (blocks, d_pooled))| {
            let mut gradient = vec![0.0; parameters.len()];
            let d_pooled = d_pooled.chunks(BLOCK * outputs);
            let inputs = blocks.iter().zip(d_pooled).enumerate().map(|(place, (block, d_pooled))| {
                let (_, texts) = texts(batch, index * part + place);
                pull_back_block(shape, &rest, &flipped, (block, &texts), d_pooled, &mut gradient)
            });
            let inputs = inputs.collect();
            (gradient, inputs)
        })
        .collect();
    let mut d_rest = vec![0.0; parameters.len()];
    let mut d_token = vec![0.0; shape.vocabulary * shape.width];
    let mut ids = batch.tokens.iter();
    for (gradient, inputs) in &gradients {
        add(&mut d_rest, gradient);
        for (row, &id) in inputs.iter().flat_map(|d_h| d_h.chunks_exact(shape.width)).zip(ids.by_ref()) {
            let d_token = &mut d_token[id as usize * shape.width..][..shape.width];
            d_token.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
    [d_token, d_rest]
}

/// Adds to the gradient of all parameters but the tokens'; returns that of the embedded tokens `[T, W]`.
fn pull_back_block(
    shape: &TowerShape,
    rest: &Rest<'_>,
    flipped: &[[Vec<f32>; 4]],
    (block, texts): (&BlockTape, &[Range<usize>]),
    d_pooled: &[f32],
    gradient: &mut [f32],
) -> Vec<f32> {
    let (w, heads) = (shape.width, Heads { width: shape.width, heads: shape.heads });
    let tokens = texts.last().map_or(0, |text| text.end);
    let (gradient, d_last) = gradient.split_at_mut(gradient.len() - 2 * w);
    let (d_gain, d_shift) = d_last.split_at_mut(w);
    let mut d_n = vec![0.0; tokens * w];
    for (index, (text, d_pooled)) in texts.iter().zip(d_pooled.chunks_exact(shape.outputs())).enumerate() {
        let (d_mean, d_max) = d_pooled.split_at(if shape.pooling.has_mean() { w } else { 0 });
        let places = if d_max.is_empty() { &[] } else { &block.places[index * w..][..w] };
        pool_pull_back(d_mean, d_max, places, &mut d_n[text.start * w..text.end * w]);
    }
    let mut d_h = vec![0.0; tokens * w];
    rest.last.pull_back(&block.last, &mut d_n, &mut d_h, d_gain, d_shift);

    let (mut n, mut d_hidden) = (vec![0.0; tokens * w], vec![0.0; tokens * shape.feed_forward]);
    let (mut d_mixed, mut d_qkv) = (vec![0.0; tokens * w], vec![0.0; tokens * 3 * w]);
    let mut space = Space::default();
    let (d_position, d_layers) = gradient.split_at_mut(shape.length * w);
    let size = shape.block_sizes().iter().sum();
    let layers = rest.layers.iter().zip(flipped).zip(&block.layers);
    for (((layer, flipped), tape), gradient) in layers.zip(d_layers.chunks_exact_mut(size)).rev() {
        let [d_gain_1, d_shift_1, d_q, d_qb, d_m, d_mb, d_gain_2, d_shift_2, d_u, d_ub, d_d, d_db] =
            split_mut(gradient, shape.block_sizes());
        let [qkv, mix, up, down] = flipped;
        let d_y = dropped(&d_h, tape.masks.as_ref().map(|masks| &masks[1]), &mut n);
        Dense::pull_back(down, (&tape.hidden, d_y), &mut d_hidden, (d_d, d_db));
        relu_pull_back(&tape.hidden, &mut d_hidden);
        layer.norm_2.restore(&tape.before_dense, &mut n);
        Dense::pull_back(up, (&n, &d_hidden), &mut d_n, (d_u, d_ub));
        layer.norm_2.pull_back(&tape.before_dense, &mut d_n, &mut d_h, d_gain_2, d_shift_2);

        let d_y = dropped(&d_h, tape.masks.as_ref().map(|masks| &masks[0]), &mut n);
        Dense::pull_back(mix, (&tape.mixed, d_y), &mut d_mixed, (d_m, d_mb));
        for Range { start, end } in texts.iter().cloned() {
            let (mixed, qkv) = (start * w..end * w, start * 3 * w..end * 3 * w);
            let softmax = &tape.softmax[start * shape.heads..end * shape.heads];
            let kept = (&tape.qkv[qkv.clone()], &tape.mixed[mixed.clone()], softmax);
            heads.pull_back(kept, &d_mixed[mixed], &mut d_qkv[qkv], &mut space);
        }
        layer.norm_1.restore(&tape.before_attention, &mut n);
        Dense::pull_back(qkv, (&n, &d_qkv), &mut d_n, (d_q, d_qb));
        layer.norm_1.pull_back(&tape.before_attention, &mut d_n, &mut d_h, d_gain_1, d_shift_1);
    }
    for text in texts {
        add(&mut d_position[..text.len() * w], &d_h[text.start * w..text.end * w]);
    }
    d_h
}

/// `x ∘ mask`, in `space` if there is a mask.
fn dropped<'a>(x: &'a [f32], mask: Option<&Mask>, space: &'a mut [f32]) -> &'a [f32] {
    let Some(mask) = mask else { return x };
    mask.apply(x, space);
    space
}

/// A seed for one of the places that draw random numbers.
pub(super) fn part_seed<const N: usize>(seed: u64, place: [usize; N]) -> u64 {
    // The finaliser of SplitMix64: neighbouring places give unrelated seeds.
    place.iter().fold(seed, |seed, &part| {
        let x = (seed ^ part as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    })
}
