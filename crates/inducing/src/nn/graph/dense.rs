//! One dense layer of every member, with its `pull_back` beneath it.
//!
//! ```text
//! out_k = act([ h¹_k | h²_k | … ] W_k + b_k)        hⁱ [K, n, inⁱ] → out [K, n, out]
//! ```
//! What stands side by side is read where it is, and rows that all members share are held once. Threads take blocks of
//! rows, and pieces of a weight's gradient; both have fixed sizes, hence the same bytes for any number of threads. A row
//! of the output depends on that row of the inputs alone. O(K n in out).

use super::threads::{BLOCK, share};
use crate::nn::init::glorot;
use crate::nn::{Layout, Param};
use linalg::gemm::thin::{Left, Start, View, product, transposed};
use linalg::simd::{add_rows, relu, relu_pull_back};
use rand_chacha::ChaCha8Rng;

/// Rows of a weight whose gradient is one task: two strips of the product's registers.
const PIECE: usize = 16;

/// Rows over which a piece of a gradient is summed at a time: two factors of some 32 columns fit into the cache.
const DEPTH: usize = 256;

/// What is done to a layer's sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    Relu,
    None,
}

/// `[K, n, width]`, or `[n, width]` that all members share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    data: &'a [f32],
    width: usize,
    shared: bool,
}

impl<'a> Rows<'a> {
    /// `[K, n, width]`
    pub(super) fn of_members(data: &'a [f32], width: usize) -> Self {
        Self { data, width, shared: false }
    }

    /// `[n, width]`
    pub(super) fn shared(data: &'a [f32], width: usize) -> Self {
        Self { data, width, shared: true }
    }

    /// What one member reads: `[n, width]`.
    pub(super) fn of(&self, member: usize, n: usize) -> &'a [f32] {
        if self.shared { self.data } else { &self.data[member * n * self.width..][..n * self.width] }
    }
}

/// A layer of K members.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dense {
    weight: Param, // [K, in, out]
    bias: Param,   // [K, 1, out]
    members: usize,
    inputs: usize,
    pub(super) outputs: usize,
    activation: Activation,
}

impl Dense {
    /// Appends `{name}.weight [K, in, out]` and `{name}.bias [K, 1, out]` to a layout.
    pub(super) fn new(
        layout: &mut Layout,
        name: &str,
        [members, inputs, outputs]: [usize; 3],
        activation: Activation,
    ) -> Self {
        let weight = layout.add(format!("{name}.weight"), &[members, inputs, outputs], true);
        let bias = layout.add(format!("{name}.bias"), &[members, 1, outputs], false);
        Self { weight, bias, members, inputs, outputs, activation }
    }

    /// Glorot-uniform weights; biases stay zero.
    pub(super) fn initialise(&self, theta: &mut [f32], rng: &mut ChaCha8Rng) {
        glorot(self.weight.of_mut(theta), [self.inputs, self.outputs], rng);
    }

    /// One member's weight `[in, out]`.
    fn weight_of<'a>(&self, theta: &'a [f32], member: usize) -> &'a [f32] {
        let each = self.inputs * self.outputs;
        &self.weight.of(theta)[member * each..][..each]
    }

    /// `[K, n, out]` of parts that stand side by side, whose widths sum to `in`.
    pub(super) fn forward(&self, theta: &[f32], parts: &[Rows<'_>], n: usize) -> Vec<f32> {
        let outputs = self.outputs;
        let mut out = vec![0.0; self.members * n * outputs];
        share(blocks(&mut out, n, outputs), |Block { member, row, out }| {
            let (weight, rows) = (self.weight_of(theta, member), out.len() / outputs);
            let mut start = Start::Bias(&self.bias.of(theta)[member * outputs..][..outputs]);
            let mut above = 0; // rows of the weight
            for part in parts {
                let left = Left::Plain(View::new(&part.of(member, n)[row * part.width..], part.width));
                let right = View::new(&weight[above * outputs..], outputs);
                product((&mut *out, outputs), [rows, part.width, outputs], start, left, right);
                (start, above) = (Start::Output, above + part.width);
            }
            if self.activation == Activation::Relu {
                relu(out);
            }
        });
        out
    }

    /// Sets the gradients of weight and bias from `d_out`, that of `out`, which becomes that of the sums before the
    /// activation: `∂W_k = h_kᵀ ∂_k`, `∂b_k = Σ_n ∂_k`.
    pub(super) fn pull_back(
        &self,
        parts: &[Rows<'_>],
        n: usize,
        (out, d_out): (&[f32], &mut [f32]),
        d_theta: &mut [f32],
    ) {
        if self.activation == Activation::Relu {
            relu_pull_back(out, d_out);
        }
        let (outputs, d_out) = (self.outputs, &*d_out);
        let d_of = |member: usize| &d_out[member * n * outputs..][..n * outputs];
        for (member, d_bias) in self.bias.of_mut(d_theta).chunks_exact_mut(outputs).enumerate() {
            d_bias.fill(0.0);
            add_rows(d_of(member), outputs, d_bias);
        }
        let mut tasks = Vec::new();
        for (member, weight) in
            self.weight.of_mut(d_theta).chunks_exact_mut(self.inputs * outputs).enumerate()
        {
            let mut rest = weight;
            for part in parts {
                let (own, others) = rest.split_at_mut(part.width * outputs);
                let pieces = own.chunks_mut(PIECE * outputs).enumerate();
                tasks.extend(pieces.map(|(index, piece)| (part, member, index * PIECE, piece)));
                rest = others;
            }
        }
        share(tasks, |(part, member, column, d_weight)| {
            let (h, d, rows) = (part.of(member, n), d_of(member), d_weight.len() / outputs);
            d_weight.fill(0.0);
            for row in (0..n).step_by(DEPTH) {
                let left = Left::Transposed(View::new(&h[row * part.width + column..], part.width));
                let right = View::new(&d[row * outputs..], outputs);
                let sizes = [rows, DEPTH.min(n - row), outputs];
                product((&mut *d_weight, outputs), sizes, Start::Output, left, right);
            }
        });
    }

    /// Gradient `[K, n, width]` of the first part, from that of the sums before the activation: `∂h_k = ∂_k W_kᵀ`.
    pub(super) fn pull_back_to_input(&self, theta: &[f32], n: usize, d: &[f32], width: usize) -> Vec<f32> {
        let outputs = self.outputs;
        let weights: Vec<Vec<f32>> = (0..self.members)
            .map(|member| transposed(&self.weight_of(theta, member)[..width * outputs], outputs))
            .collect(); // [out, width] each
        let mut d_h = vec![0.0; self.members * n * width];
        share(blocks(&mut d_h, n, width), |Block { member, row, out }| {
            let left = Left::Plain(View::new(&d[(member * n + row) * outputs..], outputs));
            let (sizes, right) = ([out.len() / width, outputs, width], View::new(&weights[member], width));
            product((out, width), sizes, Start::Zero, left, right);
        });
        d_h
    }
}

/// Some rows of one member, from `row` on.
pub(super) struct Block<'a> {
    pub(super) member: usize,
    pub(super) row: usize,
    pub(super) out: &'a mut [f32],
}

/// `[K, n, width]` in blocks of rows.
pub(super) fn blocks(out: &mut [f32], n: usize, width: usize) -> Vec<Block<'_>> {
    let members = out.chunks_exact_mut((n * width).max(1)).enumerate();
    let blocks = members.flat_map(|(member, out)| {
        let blocks = out.chunks_mut(BLOCK * width).enumerate();
        blocks.map(move |(block, out)| Block { member, row: block * BLOCK, out })
    });
    blocks.collect()
}
