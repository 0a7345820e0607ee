//! The flat vector of a tower's parameters without the tokens', as norms and dense layers.

use super::TowerShape;
use super::layers::Dense;
use super::norm::Norm;

/// The parameters of a transformer block.
#[derive(Clone, Copy)]
pub(super) struct Layer<'a> {
    pub(super) norm_1: Norm<'a>,
    pub(super) qkv: Dense<'a>,
    pub(super) mix: Dense<'a>,
    pub(super) norm_2: Norm<'a>,
    pub(super) up: Dense<'a>,
    pub(super) down: Dense<'a>,
}

/// All parameters but the tokens', in the module's order.
pub(super) struct Rest<'a> {
    pub(super) position: &'a [f32],
    pub(super) layers: Vec<Layer<'a>>,
    pub(super) last: Norm<'a>,
}

impl<'a> Rest<'a> {
    pub(super) fn new(shape: &TowerShape, rest: &'a [f32]) -> Self {
        let w = shape.width;
        let (position, mut rest) = rest.split_at(shape.length * w);
        let layers = (0..shape.blocks).map(|_| {
            let parts = split(&mut rest, shape.block_sizes());
            let [
                gain_1,
                shift_1,
                qkv,
                qkv_bias,
                mix,
                mix_bias,
                gain_2,
                shift_2,
                up,
                up_bias,
                down,
                down_bias,
            ] = parts;
            Layer {
                norm_1: Norm { gain: gain_1, shift: shift_1 },
                qkv: Dense { weight: qkv, bias: qkv_bias },
                mix: Dense { weight: mix, bias: mix_bias },
                norm_2: Norm { gain: gain_2, shift: shift_2 },
                up: Dense { weight: up, bias: up_bias },
                down: Dense { weight: down, bias: down_bias },
            }
        });
        let layers = layers.collect();
        let [gain, shift] = split(&mut rest, [w, w]);
        Self { position, layers, last: Norm { gain, shift } }
    }
}

fn split<'a, const N: usize>(rest: &mut &'a [f32], sizes: [usize; N]) -> [&'a [f32]; N] {
    sizes.map(|size| {
        let (part, others) = rest.split_at(size);
        *rest = others;
        part
    })
}

pub(super) fn split_mut<const N: usize>(mut rest: &mut [f32], sizes: [usize; N]) -> [&mut [f32]; N] {
    sizes.map(|size| {
        let (part, others) = std::mem::take(&mut rest).split_at_mut(size);
        rest = others;
        part
    })
}
