//! One tower, forward and backward, over groups of a few texts that threads share.
//!
//! Texts do not see one another: a group passes through all blocks while its activations are in the cache, and threads
//! meet only at the end. Groups and partial sums have fixed sizes: no result depends on the number of threads.

use super::TowerShape;
use super::batch::{Batch, part_seed};
use super::block::{Block, BlockTape, Buffers, GradientBuffers, Transposed};
use super::dropout::Mask;
use super::layers::{add, pool, pool_pull_back};
use super::norm::{Norm, Normed};
use super::params::TowerParams;
use rayon::prelude::*;
use std::ops::Range;

/// Texts that pass together.
pub(super) const GROUP: usize = 4;
/// Gradients that are summed apart, then together; more threads than this stay idle in the backward pass.
const PARTS: usize = 8;

/// A tower's values, where they stand in θ.
#[derive(Debug, Clone)]
pub(super) struct Tower<'a> {
    shape: &'a TowerShape,
    params: &'a TowerParams,
    token: &'a [f32],    // [V, W]
    position: &'a [f32], // [L, W]
    blocks: Vec<Block<'a>>,
    last: Norm<'a>,
}

/// What the backward pass needs of a tower.
#[derive(Debug)]
pub(super) struct TowerTape<'a> {
    tower: Tower<'a>,
    batch: Batch,
    groups: Vec<GroupTape>,
}

/// What it needs of a group.
#[derive(Debug)]
struct GroupTape {
    blocks: Vec<BlockTape>,
    last: Normed,
    places: Vec<u32>, // [texts, W], of the maxima
}

impl<'a> Tower<'a> {
    pub(super) fn new(shape: &'a TowerShape, params: &'a TowerParams, theta: &'a [f32]) -> Self {
        let others = params.others.of(theta);
        Self {
            shape,
            params,
            token: params.token.of(theta),
            position: params.position.of(others),
            blocks: params.blocks.iter().map(|block| Block::new(shape, block, others)).collect(),
            last: Norm::new(params.last, others),
        }
    }

    /// Pooled texts `[N, P]`.
    pub(super) fn pooled(&self, batch: &Batch) -> Vec<f32> {
        self.run(batch, |_| ()).0
    }

    /// Pooled texts `[N, P]` and what [`TowerTape::pull_back`] needs.
    pub(super) fn forward(self, batch: Batch) -> (Vec<f32>, TowerTape<'a>) {
        let (pooled, groups) = self.run(&batch, |tape| tape);
        (pooled, TowerTape { tower: self, batch, groups })
    }

    fn run<T: Send>(&self, batch: &Batch, keep: impl Fn(GroupTape) -> T + Sync) -> (Vec<f32>, Vec<T>) {
        let outputs = self.shape.outputs();
        let mut pooled = vec![0.0; batch.texts() * outputs];
        let groups = pooled.par_chunks_mut(GROUP * outputs).enumerate().with_max_len(1);
        let tapes = groups.map(|(group, pooled)| keep(self.group_forward(batch, group, pooled))).collect();
        (pooled, tapes)
    }

    fn group_forward(&self, batch: &Batch, group: usize, pooled: &mut [f32]) -> GroupTape {
        let (shape, w) = (self.shape, self.shape.width);
        let (first, texts) = texts_of(batch, group);
        let tokens = texts.last().map_or(0, |text| text.end);
        let mut h = Vec::with_capacity(tokens * w);
        for text in &texts {
            let ids = &batch.tokens[first..][text.clone()];
            for (&id, position) in ids.iter().zip(self.position.chunks_exact(w)) {
                let token = &self.token[id as usize * w..][..w];
                h.extend(token.iter().zip(position).map(|(token, position)| token + position));
            }
        }
        let mut buffers = Buffers::new(shape, tokens);
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for (depth, block) in self.blocks.iter().enumerate() {
            let masks = batch.dropout.map(|(share, seed)| {
                [0, 1].map(|place| Mask::new(share, part_seed(seed, [group, depth, place])))
            });
            blocks.push(block.forward(&texts, masks, &mut h, &mut buffers));
        }
        let n = &mut buffers.n;
        let last = self.last.forward(&h, n);
        let mut places = vec![0; if shape.pooling.has_max() { texts.len() * w } else { 0 }];
        for (index, (text, pooled)) in texts.iter().zip(pooled.chunks_exact_mut(shape.outputs())).enumerate()
        {
            let (mean, max) = pooled.split_at_mut(if shape.pooling.has_mean() { w } else { 0 });
            let places = if max.is_empty() { &mut [] } else { &mut places[index * w..][..w] };
            pool(&n[text.start * w..text.end * w], mean, max, places);
        }
        GroupTape { blocks, last, places }
    }

    /// Adds to the gradient of all parameters but the tokens'; returns that of the embedded tokens `[T, W]`.
    fn group_pull_back(
        &self,
        weights: &[Transposed],
        (tape, texts): (&GroupTape, &[Range<usize>]),
        d_pooled: &[f32],
        gradient: &mut [f32],
    ) -> Vec<f32> {
        let (shape, w) = (self.shape, self.shape.width);
        let tokens = texts.last().map_or(0, |text| text.end);
        let mut buffers = GradientBuffers::new(shape, tokens);
        let d_n = &mut buffers.d_n;
        for (index, (text, d_pooled)) in texts.iter().zip(d_pooled.chunks_exact(shape.outputs())).enumerate()
        {
            let (d_mean, d_max) = d_pooled.split_at(if shape.pooling.has_mean() { w } else { 0 });
            let places = if d_max.is_empty() { &[] } else { &tape.places[index * w..][..w] };
            pool_pull_back(d_mean, d_max, places, &mut d_n[text.start * w..text.end * w]);
        }
        let mut d_h = vec![0.0; tokens * w];
        self.last.pull_back(&tape.last, d_n, &mut d_h, self.params.last.of_mut(gradient));
        for (block, kept) in self.blocks.iter().zip(tape.blocks.iter().zip(weights)).rev() {
            block.pull_back(kept, texts, &mut d_h, gradient, &mut buffers);
        }
        let d_position = self.params.position.of_mut(gradient);
        for text in texts {
            add(&mut d_position[..text.len() * w], &d_h[text.start * w..text.end * w]);
        }
        d_h
    }
}

impl TowerTape<'_> {
    /// Sets the gradients of the tower's parameters in `d_theta`, from `d_pooled [N, P]`.
    pub(super) fn pull_back(&self, d_pooled: &[f32], d_theta: &mut [f32]) {
        let Self { tower, batch, groups } = self;
        let (w, outputs) = (tower.shape.width, tower.shape.outputs());
        let weights: Vec<Transposed> = tower.blocks.iter().map(Block::transposed).collect();
        let part = groups.len().div_ceil(PARTS).max(1);
        let parts = groups.par_chunks(part).zip(d_pooled.par_chunks(part * GROUP * outputs)).enumerate();
        let gradients: Vec<(Vec<f32>, Vec<Vec<f32>>)> = parts
            .with_max_len(1)
            .map(|(index, (groups, d_pooled))| {
                let mut gradient = vec![0.0; tower.params.others.len()];
                let d_pooled = d_pooled.chunks(GROUP * outputs);
                let embedded = groups.iter().zip(d_pooled).enumerate().map(|(place, (group, d_pooled))| {
                    let (_, texts) = texts_of(batch, index * part + place);
                    tower.group_pull_back(&weights, (group, &texts), d_pooled, &mut gradient)
                });
                let embedded = embedded.collect();
                (gradient, embedded)
            })
            .collect();
        let d_others = tower.params.others.of_mut(d_theta);
        d_others.fill(0.0);
        gradients.iter().for_each(|(gradient, _)| add(d_others, gradient));
        let d_token = tower.params.token.of_mut(d_theta);
        d_token.fill(0.0);
        let rows = gradients.iter().flat_map(|(_, embedded)| embedded).flat_map(|d_h| d_h.chunks_exact(w));
        for (row, &id) in rows.zip(&batch.tokens) {
            let d_token = &mut d_token[id as usize * w..][..w];
            d_token.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// Where a group's first token stands in the batch, and the tokens of each of its texts, counted from there.
fn texts_of(batch: &Batch, group: usize) -> (usize, Vec<Range<usize>>) {
    let texts = &batch.offsets[group * GROUP..(group * GROUP + GROUP + 1).min(batch.offsets.len())];
    let first = texts[0];
    (first, texts.windows(2).map(|pair| pair[0] - first..pair[1] - first).collect())
}
