//! Graph isomorphism network (Xu et al. 2019): from x to the pooled nodes g of all rounds.
//!
//! ```text
//! h⁰_j = x_j      s_j = (1 + ε_t) hᵗ_j + pool_{i ∈ N(j)} hᵗ_i      a = relu(s A + a₀)      hᵗ⁺¹ = relu(a B + b₀)
//! g = [ pool_j h⁰_j | … | pool_j h^T_j ]
//! ∂hᵗ = (1 + ε_t) ∂s + poolᵀ ∂s + readoutᵀ ∂g_t      ∂ε_t = Σ_j ⟨∂s_j, hᵗ_j⟩
//! ```
//! All members share x, its messages and its readout; the first sum with ε is where they part.

use super::batch::Batch;
use super::dense::{Activation, Block, Dense, Rows, blocks};
use super::pool::{self, Transposed};
use super::shape::GraphShape;
use super::threads::share;
use crate::nn::{Layout, Param};
use linalg::simd::{PIECE, each};

/// One round of messages.
#[derive(Debug)]
struct GinRound {
    first: Dense,
    second: Dense,
    epsilon: Param, // [K, 1, 1]
    inputs: usize,
}

/// All rounds.
#[derive(Debug)]
pub(super) struct GinLayers {
    rounds: Vec<GinRound>,
}

/// What one round leaves for the backward pass.
#[derive(Debug)]
struct Round {
    message_argmax: Vec<u32>,
    s: Vec<f32>, // [K, n, in]
    a: Vec<f32>, // [K, n, W]
    h: Vec<f32>, // [K, n, W]
    readout_argmax: Vec<u32>,
}

/// What the backward pass needs.
#[derive(Debug)]
pub(super) struct GinTape {
    rounds: Vec<Round>,
}

impl GinLayers {
    /// Appends `rounds.{t}.first`, `rounds.{t}.second` and `rounds.{t}.epsilon` to a layout.
    pub(super) fn new(shape: &GraphShape, layout: &mut Layout) -> Self {
        let (k, w) = (shape.members, shape.width);
        let round = |t: usize| {
            let inputs = if t == 0 { shape.inputs } else { w };
            let first = Dense::new(layout, &format!("rounds.{t}.first"), [k, inputs, w], Activation::Relu);
            let second = Dense::new(layout, &format!("rounds.{t}.second"), [k, w, w], Activation::Relu);
            let epsilon = layout.add(format!("rounds.{t}.epsilon"), &[k, 1, 1], false);
            GinRound { first, second, epsilon, inputs }
        };
        Self { rounds: (0..shape.rounds).map(round).collect() }
    }

    /// In the order in which they are initialised.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Dense> {
        self.rounds.iter().flat_map(|round| [&round.first, &round.second])
    }

    /// g `[K, N, in + T W]`; without `keep` a tape of no use.
    pub(super) fn forward(
        &self,
        shape: &GraphShape,
        theta: &[f32],
        batch: &Batch,
        keep: bool,
    ) -> (Vec<f32>, GinTape) {
        let (n, k, w) = (batch.nodes(), shape.members, shape.width);
        let mut g = Columns::zeros(k * batch.graphs.len(), shape.pooled());
        let (readout, _) = pool::forward(&batch.x, [1, shape.inputs], &batch.graphs, shape.graph_pooling);
        g.set(0, shape.inputs, &readout.repeat(k));
        let mut rounds: Vec<Round> = Vec::new();
        for (t, layers) in self.rounds.iter().enumerate() {
            let h = states(shape, rounds.last(), batch);
            let (data, sizes) = match rounds.last() {
                Some(round) => (&round.h, [k, w]),
                None => (&batch.x, [1, shape.inputs]),
            };
            let (messages, message_argmax) =
                pool::forward(data, sizes, &batch.neighbours, shape.node_pooling);
            let messages = if t == 0 { messages.repeat(k) } else { messages };
            let s = layers.add_states(theta, h, messages, n);
            let a = layers.first.forward(theta, &[Rows::of_members(&s, layers.inputs)], n);
            let h = layers.second.forward(theta, &[Rows::of_members(&a, w)], n);
            let (readout, readout_argmax) = pool::forward(&h, [k, w], &batch.graphs, shape.graph_pooling);
            g.set(shape.inputs + t * w, w, &readout);
            if !keep {
                rounds.clear(); // the next round reads this one alone
            }
            rounds.push(Round { message_argmax, s, a, h, readout_argmax });
        }
        (g.data, GinTape { rounds })
    }

    /// Sets the gradients of all rounds, from that of g.
    pub(super) fn pull_back(
        &self,
        shape: &GraphShape,
        theta: &[f32],
        (batch, [neighbours, graphs]): (&Batch, [&Transposed; 2]),
        tape: GinTape,
        d_g: Vec<f32>,
        d_theta: &mut [f32],
    ) {
        let (n, w) = (batch.nodes(), shape.width);
        let (mut rounds, d_g) = (tape.rounds, Columns { data: d_g, width: shape.pooled() });
        let mut d_h = vec![0.0; shape.members * n * w];
        for (t, layers) in self.rounds.iter().enumerate().rev() {
            let round = rounds.pop().expect("as many as layers");
            let d_readout = d_g.get(shape.inputs + t * w, w);
            let choice = (shape.graph_pooling, &round.readout_argmax[..]);
            pool::pull_back(&d_readout, w, (&batch.graphs, graphs), choice, &mut d_h);
            layers.second.pull_back(&[Rows::of_members(&round.a, w)], n, (&round.h, &mut d_h), d_theta);
            let mut d_a = layers.second.pull_back_to_input(theta, n, &d_h, w);
            let s = Rows::of_members(&round.s, layers.inputs);
            layers.first.pull_back(&[s], n, (&round.a, &mut d_a), d_theta);
            let d_s = layers.first.pull_back_to_input(theta, n, &d_a, layers.inputs);
            layers.pull_back_epsilon(states(shape, rounds.last(), batch), &d_s, n, d_theta);
            if t > 0 {
                d_h = layers.add_states(theta, Rows::of_members(&d_s, w), vec![0.0; d_s.len()], n);
                let choice = (shape.node_pooling, &round.message_argmax[..]);
                pool::pull_back(&d_s, w, (&batch.neighbours, neighbours), choice, &mut d_h);
            }
        }
    }
}

impl GinRound {
    /// `(1 + ε_k) h_k + messages_k`, `[K, n, in]`; with ∂s for h and zeros for messages also the gradient by h.
    fn add_states(&self, theta: &[f32], h: Rows<'_>, mut messages: Vec<f32>, n: usize) -> Vec<f32> {
        let (epsilon, width) = (self.epsilon.of(theta), self.inputs);
        share(blocks(&mut messages, n, width), |Block { member, row, out }| {
            let (factor, h) = (1.0 + epsilon[member], &h.of(member, n)[row * width..][..out.len()]);
            each(
                out.chunks_mut(PIECE).zip(h.chunks(PIECE)),
                #[inline(always)]
                |(out, h)| out.iter_mut().zip(h).for_each(|(out, h)| *out += factor * h),
            );
        });
        messages
    }

    /// Sets the gradient of ε.
    fn pull_back_epsilon(&self, h: Rows<'_>, d_s: &[f32], n: usize, d_theta: &mut [f32]) {
        let width = self.inputs;
        for (member, d_epsilon) in self.epsilon.of_mut(d_theta).iter_mut().enumerate() {
            let d_s = d_s[member * n * width..][..n * width].chunks_exact(width);
            let mut columns = vec![0.0; width];
            each(
                d_s.zip(h.of(member, n).chunks_exact(width)),
                #[inline(always)]
                |(d_s, h)| columns.iter_mut().zip(d_s).zip(h).for_each(|((sum, d), h)| *sum += d * h),
            );
            *d_epsilon = columns.iter().sum();
        }
    }
}

/// What the nodes know after the given round; before the first, x.
fn states<'a>(shape: &GraphShape, round: Option<&'a Round>, batch: &'a Batch) -> Rows<'a> {
    match round {
        Some(round) => Rows::of_members(&round.h, shape.width),
        None => Rows::shared(&batch.x, shape.inputs),
    }
}

/// Row-major numbers whose columns come in stretches.
struct Columns {
    data: Vec<f32>,
    width: usize,
}

impl Columns {
    fn zeros(rows: usize, width: usize) -> Self {
        Self { data: vec![0.0; rows * width], width }
    }

    /// Writes `part [rows, len]` to the columns from `start` on.
    fn set(&mut self, start: usize, len: usize, part: &[f32]) {
        for (row, part) in self.data.chunks_exact_mut(self.width).zip(part.chunks_exact(len)) {
            row[start..start + len].copy_from_slice(part);
        }
    }

    /// The columns from `start` on: `[rows, len]`.
    fn get(&self, start: usize, len: usize) -> Vec<f32> {
        self.data.chunks_exact(self.width).flat_map(|row| &row[start..start + len]).copied().collect()
    }
}
