//! What follows the towers: pooled texts and the other columns' features side by side, dropout, and the feature layer
//! of each member.
//!
//! ```text
//! u_k = mask_k ∘ [ pooled of text 1 | … | beside_k ]        [N, U]
//! Φ = [ u₁ W₁ + b₁ | … | u_K W_K + b_K ]                    [N, D]
//! ```
//! The order in which an entry of Φ is summed does not depend on N: a row's features are the same bits in any batch.

use super::TextShape;
use super::batch::part_seed;
use crate::nn::init::dropout_mask;
use crate::nn::{Layout, Mode, Param};
use linalg::gemm::thin::{Left, Start, View, product, transposed};
use linalg::simd::add_rows;

/// Where the feature layer stands in θ.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeatureParams {
    pub(super) weight: Param, // [K, U, D/K]
    pub(super) bias: Param,   // [K, 1, D/K]
}

impl FeatureParams {
    /// Appends the feature layer to `layout`.
    pub(super) fn add(layout: &mut Layout, shape: &TextShape) -> Self {
        let [k, inputs, each] = sizes(shape);
        Self {
            weight: layout.add("weight", &[k, inputs, each], true),
            bias: layout.add("bias", &[k, 1, each], false),
        }
    }
}

/// K, U and D/K.
pub(super) fn sizes(shape: &TextShape) -> [usize; 3] {
    [shape.members, shape.inputs(), shape.features / shape.members]
}

/// The feature layer of all members; its values stand in θ.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeatureLayer<'a> {
    sizes: [usize; 3],
    params: FeatureParams,
    weight: &'a [f32],
    bias: &'a [f32],
}

impl<'a> FeatureLayer<'a> {
    pub(super) fn new(shape: &TextShape, params: FeatureParams, theta: &'a [f32]) -> Self {
        Self { sizes: sizes(shape), params, weight: params.weight.of(theta), bias: params.bias.of(theta) }
    }

    /// `Φ [N, D]` of `u [K, N, U]`.
    pub(super) fn forward(&self, u: &[f32]) -> Vec<f32> {
        let [k, inputs, each] = self.sizes;
        let (rows, d) = (u.len() / (k * inputs), k * each);
        let mut phi = vec![0.0; rows * d];
        if rows > 0 {
            for member in 0..k {
                let u = View::new(&u[member * rows * inputs..], inputs);
                let weight = View::new(&self.weight[member * inputs * each..], each);
                let bias = Start::Bias(&self.bias[member * each..][..each]);
                let out = (&mut phi[member * each..], d);
                product(out, [rows, inputs, each], bias, Left::Plain(u), weight);
            }
        }
        phi
    }

    /// `d_u [K, N, U]` from `d_phi [N, D]`; sets the gradients of weight and bias in `d_theta`.
    pub(super) fn pull_back(&self, u: &[f32], d_phi: &[f32], d_theta: &mut [f32]) -> Vec<f32> {
        let [k, inputs, each] = self.sizes;
        let (rows, d) = (u.len() / (k * inputs), k * each);
        let mut d_u = vec![0.0; u.len()];
        self.params.weight.of_mut(d_theta).fill(0.0);
        self.params.bias.of_mut(d_theta).fill(0.0);
        if rows == 0 {
            return d_u;
        }
        for (member, (u, d_u)) in
            u.chunks_exact(rows * inputs).zip(d_u.chunks_exact_mut(rows * inputs)).enumerate()
        {
            let d_phi = &d_phi[member * each..];
            add_rows(d_phi, d, &mut self.params.bias.of_mut(d_theta)[member * each..][..each]);
            let d_phi = View::new(d_phi, d);
            let d_weight = &mut self.params.weight.of_mut(d_theta)[member * inputs * each..];
            let u = Left::Transposed(View::new(u, inputs));
            product((d_weight, each), [inputs, rows, each], Start::Zero, u, d_phi);
            let weight = transposed(&self.weight[member * inputs * each..][..inputs * each], each);
            let weight = View::new(&weight, inputs);
            product((d_u, inputs), [rows, each, inputs], Start::Zero, Left::Plain(d_phi), weight);
        }
        d_u
    }
}

/// What dropout multiplies `u [K, N, U]` by, or nothing.
pub(super) fn masks(shape: &TextShape, rows: usize, mode: Mode) -> Option<Vec<f32>> {
    match mode {
        Mode::Train { seed } if shape.dropout > 0.0 => {
            let mask = |member| {
                let seed = part_seed(seed, [member, usize::MAX]);
                dropout_mask(rows * shape.inputs(), shape.dropout, seed)
            };
            Some((0..shape.members).flat_map(mask).collect())
        }
        _ => None,
    }
}

/// Copies columns of one row-major matrix to another; each is given with its width and the first column.
pub(super) fn copy_columns(
    (from, from_width, from_first): (&[f32], usize, usize),
    (to, to_width, to_first): (&mut [f32], usize, usize),
    columns: usize,
) {
    for (from, to) in from.chunks_exact(from_width).zip(to.chunks_exact_mut(to_width)) {
        to[to_first..][..columns].copy_from_slice(&from[from_first..][..columns]);
    }
}
