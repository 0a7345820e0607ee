//! Bags of bags: from x to the pooled nodes g.
//!
//! ```text
//! m⁰_i = relu(x_i A_0 + a_0)      mᵗ_i = relu([ cᵗ_i | x_i ] A_t + a_t)      cᵗ⁺¹_j = pool_{i ∈ N(j)} mᵗ_i
//! g = pool_j relu([ c^T_j | x_j ] B + b)
//! ```
//! Here c is without the x that the module's equations append to it: layers read x beside c, and nobody copies it.

use super::batch::Batch;
use super::dense::{Activation, Dense, Rows};
use super::pool::{self, Transposed};
use super::shape::GraphShape;
use crate::nn::Layout;

/// The layers of all rounds.
#[derive(Debug)]
pub(super) struct BagLayers {
    rounds: Vec<Dense>,
    last: Dense,
}

/// What one round leaves for the backward pass.
#[derive(Debug)]
struct Round {
    m: Vec<f32>, // [K, n, W]
    c: Vec<f32>, // [K, n, W]
    argmax: Vec<u32>,
}

/// What the backward pass needs.
#[derive(Debug)]
pub(super) struct BagTape {
    rounds: Vec<Round>,
    last: Vec<f32>, // [K, n, W]
    argmax: Vec<u32>,
}

impl BagLayers {
    /// Appends `rounds.{t}.first` and `last` to a layout.
    pub(super) fn new(shape: &GraphShape, layout: &mut Layout) -> Self {
        let (k, x, w) = (shape.members, shape.inputs, shape.width);
        let inputs = |round: usize| if round == 0 { x } else { w.saturating_add(x) };
        let dense = |layout: &mut Layout, name: &str, round| {
            Dense::new(layout, name, [k, inputs(round), w], Activation::Relu)
        };
        let rounds = (0..shape.rounds).map(|t| dense(layout, &format!("rounds.{t}.first"), t)).collect();
        Self { rounds, last: dense(layout, "last", shape.rounds) }
    }

    /// In the order in which they are initialised.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Dense> {
        self.rounds.iter().chain([&self.last])
    }

    /// g `[K, N, W]`; without `keep` a tape of no use.
    pub(super) fn forward(
        &self,
        shape: &GraphShape,
        theta: &[f32],
        batch: &Batch,
        keep: bool,
    ) -> (Vec<f32>, BagTape) {
        let (n, sizes) = (batch.nodes(), [shape.members, shape.width]);
        let mut rounds: Vec<Round> = Vec::new();
        for layer in &self.rounds {
            let m = layer.forward(theta, &parts(shape, rounds.last(), batch), n);
            let (c, argmax) = pool::forward(&m, sizes, &batch.neighbours, shape.node_pooling);
            if !keep {
                rounds.clear(); // the next round reads this one alone
            }
            rounds.push(Round { m, c, argmax });
        }
        let last = self.last.forward(theta, &parts(shape, rounds.last(), batch), n);
        let (g, argmax) = pool::forward(&last, sizes, &batch.graphs, shape.graph_pooling);
        (g, BagTape { rounds, last, argmax })
    }

    /// Sets the gradients of all layers, from that of g.
    pub(super) fn pull_back(
        &self,
        shape: &GraphShape,
        theta: &[f32],
        (batch, [neighbours, graphs]): (&Batch, [&Transposed; 2]),
        tape: BagTape,
        d_g: &[f32],
        d_theta: &mut [f32],
    ) {
        let (n, w) = (batch.nodes(), shape.width);
        let mut rounds = tape.rounds;
        let zeros = || vec![0.0; shape.members * n * w];
        let mut d = zeros();
        let choice = (shape.graph_pooling, &tape.argmax[..]);
        pool::pull_back(d_g, w, (&batch.graphs, graphs), choice, &mut d);
        self.last.pull_back(&parts(shape, rounds.last(), batch), n, (&tape.last, &mut d), d_theta);
        let mut above = &self.last;
        for layer in self.rounds.iter().rev() {
            let round = rounds.pop().expect("as many as layers");
            let d_c = above.pull_back_to_input(theta, n, &d, w);
            d = zeros();
            let choice = (shape.node_pooling, &round.argmax[..]);
            pool::pull_back(&d_c, w, (&batch.neighbours, neighbours), choice, &mut d);
            layer.pull_back(&parts(shape, rounds.last(), batch), n, (&round.m, &mut d), d_theta);
            above = layer;
        }
    }
}

/// What a layer reads: the round before, if any, and x.
fn parts<'a>(shape: &GraphShape, round: Option<&'a Round>, batch: &'a Batch) -> Vec<Rows<'a>> {
    let c = round.map(|round| Rows::of_members(&round.c, shape.width));
    c.into_iter().chain([Rows::shared(&batch.x, shape.inputs)]).collect()
}
