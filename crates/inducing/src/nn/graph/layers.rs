//! The dense layers from the pooled nodes g to Φ, with dropout.
//!
//! ```text
//! u₀ = drop(g)     uₗ = drop(relu(uₗ₋₁ Wₗ + bₗ))     Φ_k = u_L W_Φ + b_Φ     Φ = [Φ₁ | … | Φ_K]  [N, D]
//! ```

use super::dense::{Activation, Dense, Rows};
use super::shape::GraphShape;
use crate::nn::init::dropout_mask;
use crate::nn::{Layout, Mode};

/// The layers; the last one gives Φ.
#[derive(Debug)]
pub(super) struct TopLayers {
    layers: Vec<Dense>,
    members: usize,
    pooled: usize,
    dropout: f64,
}

/// What the backward pass needs.
#[derive(Debug)]
pub(super) struct TopTape {
    u: Vec<Vec<f32>>,     // [K, N, ·] each: what the layers read
    masks: Vec<Vec<f32>>, // [K, N, ·] each, or nothing
}

impl TopLayers {
    /// Appends `layers.{l}` to a layout.
    pub(super) fn new(shape: &GraphShape, layout: &mut Layout) -> Self {
        let (members, pooled, depth) = (shape.members, shape.pooled(), shape.hidden.len());
        let outputs = shape.hidden.iter().copied().chain([shape.features / members]);
        let mut inputs = pooled;
        let dense = |(l, outputs)| {
            let activation = if l < depth { Activation::Relu } else { Activation::None };
            let sizes = [members, std::mem::replace(&mut inputs, outputs), outputs];
            Dense::new(layout, &format!("layers.{l}"), sizes, activation)
        };
        Self { layers: outputs.enumerate().map(dense).collect(), members, pooled, dropout: shape.dropout }
    }

    /// In the order in which they are initialised.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Dense> {
        self.layers.iter()
    }

    /// Φ `[N, D]` of N graphs' g `[K, N, ·]`; without `keep` a tape of no use.
    pub(super) fn forward(
        &self,
        theta: &[f32],
        g: Vec<f32>,
        n: usize,
        mode: Mode,
        keep: bool,
    ) -> (Vec<f32>, TopTape) {
        let (mut u, mut width) = (g, self.pooled);
        let mut tape = TopTape { u: Vec::new(), masks: Vec::new() };
        for (place, layer) in self.layers.iter().enumerate() {
            let mask = self.mask(u.len(), mode, place as u64);
            multiply(&mut u, &mask);
            let next = layer.forward(theta, &[Rows::of_members(&u, width)], n);
            let read = std::mem::replace(&mut u, next);
            width = layer.outputs;
            if keep {
                tape.u.push(read);
                tape.masks.push(mask);
            }
        }
        (swap_outer(&u, self.members, n, width), tape)
    }

    /// Sets the gradients of all layers, and returns that of g, from `d_phi [N, D]`.
    pub(super) fn pull_back(
        &self,
        theta: &[f32],
        tape: TopTape,
        d_phi: &[f32],
        n: usize,
        d_theta: &mut [f32],
    ) -> Vec<f32> {
        let TopTape { u, mut masks } = tape;
        let mut d = swap_outer(d_phi, n, self.members, d_phi.len() / (n * self.members).max(1));
        for (place, layer) in self.layers.iter().enumerate().rev() {
            let width = if place == 0 { self.pooled } else { self.layers[place - 1].outputs };
            // Where a mask is not zero, u is positive where the ReLU's output was: u may stand for it.
            let out = u.get(place + 1).map_or(&[][..], |u| u);
            layer.pull_back(&[Rows::of_members(&u[place], width)], n, (out, &mut d), d_theta);
            d = layer.pull_back_to_input(theta, n, &d, width);
            multiply(&mut d, &masks.pop().expect("as many as layers"));
        }
        d
    }

    /// What dropout multiplies the numbers at a place by, or nothing.
    fn mask(&self, len: usize, mode: Mode, place: u64) -> Vec<f32> {
        match mode {
            Mode::Train { seed } if self.dropout > 0.0 => {
                dropout_mask(len, self.dropout, seed.wrapping_add(place))
            }
            _ => Vec::new(),
        }
    }
}

/// Multiplies by a mask, where there is one.
fn multiply(u: &mut [f32], mask: &[f32]) {
    u.iter_mut().zip(mask).for_each(|(u, mask)| *u *= mask);
}

/// `[A, B, width]` to `[B, A, width]`
fn swap_outer(from: &[f32], a: usize, b: usize, width: usize) -> Vec<f32> {
    let order = (0..b).flat_map(|j| (0..a).map(move |i| i * b + j));
    order.flat_map(|row| &from[row * width..][..width]).copied().collect()
}
