//! Dense layer and pooling of the tokens of a few texts, each with its `pull_back` beneath it.
//!
//! Tokens lie one after another, `[T, W]` row-major, whatever text they belong to.

use super::params::Pair;
use linalg::gemm::thin::{Left, Start, View, product};
use linalg::simd::{PIECE, add_rows, each};

/// `y = x W + b`, `W [in, out]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dense<'a> {
    pub(super) weight: &'a [f32],
    pub(super) bias: &'a [f32],
}

impl<'a> Dense<'a> {
    pub(super) fn new(params: Pair, theta: &'a [f32]) -> Self {
        let (weight, bias) = params.of(theta);
        Self { weight, bias }
    }

    pub(super) fn forward(&self, x: &[f32], y: &mut [f32]) {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs;
        let (x, weight) = (Left::Plain(View::new(x, inputs)), View::new(self.weight, outputs));
        let sizes = [y.len() / outputs, inputs, outputs];
        product((y, outputs), sizes, Start::Bias(self.bias), x, weight);
    }

    /// `d_x = d_y Wᵀ`; adds to `d_weight` and `d_bias`. `transposed` is `Wᵀ`.
    pub(super) fn pull_back(
        transposed: &[f32],
        (x, d_y): (&[f32], &[f32]),
        d_x: &mut [f32],
        (d_weight, d_bias): (&mut [f32], &mut [f32]),
    ) {
        let outputs = d_bias.len();
        let (inputs, tokens) = (d_weight.len() / outputs, d_y.len() / outputs);
        add_rows(d_y, outputs, d_bias);
        let rows = View::new(d_y, outputs);
        let sizes = [inputs, tokens, outputs];
        let x = Left::Transposed(View::new(x, inputs));
        product((d_weight, outputs), sizes, Start::Output, x, rows);
        let sizes = [tokens, outputs, inputs];
        product((d_x, inputs), sizes, Start::Zero, Left::Plain(rows), View::new(transposed, inputs));
    }
}

/// `h += y`
pub(super) fn add(h: &mut [f32], y: &[f32]) {
    each(
        h.chunks_mut(PIECE).zip(y.chunks(PIECE)),
        #[inline(always)]
        |(h, y)| h.iter_mut().zip(y).for_each(|(h, y)| *h += y),
    );
}

/// Mean and maximum `[W]` over the tokens of one text, either of which may be empty; `places` says where each maximum
/// stands.
pub(super) fn pool(x: &[f32], mean: &mut [f32], max: &mut [f32], places: &mut [u32]) {
    let w = mean.len().max(max.len());
    let share = w as f32 / x.len() as f32;
    mean.fill(0.0);
    max.fill(f32::NEG_INFINITY);
    each(
        x.chunks_exact(w).zip(0..),
        #[inline(always)]
        |(x, t)| {
            mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += share * x);
            for ((max, place), &x) in max.iter_mut().zip(places.iter_mut()).zip(x) {
                *place = if x > *max { t } else { *place };
                *max = if x > *max { x } else { *max };
            }
        },
    );
}

/// ∂x of one text.
pub(super) fn pool_pull_back(d_mean: &[f32], d_max: &[f32], places: &[u32], d_x: &mut [f32]) {
    let w = d_mean.len().max(d_max.len());
    let share = w as f32 / d_x.len() as f32;
    d_x.fill(0.0);
    for d_x in d_x.chunks_exact_mut(w) {
        d_x.iter_mut().zip(d_mean).for_each(|(d_x, d)| *d_x = share * d);
    }
    for (c, (d, &place)) in d_max.iter().zip(places).enumerate() {
        d_x[place as usize * w + c] += d;
    }
}
