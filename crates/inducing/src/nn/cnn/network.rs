//! The whole network, forward and backward, over blocks of a few images that threads share.
//!
//! Images do not see one another, hence a block passes through all layers while its activations are in the cache, and
//! threads meet only at the end. Blocks and partial sums have fixed sizes: no result depends on the number of threads.

use super::layers::{
    Grid, Moments, Norm, convolve, convolve_pull_back, flipped, multiply, pool, pool_pull_back,
};
use super::{Cnn, Convolution, Layer};
use linalg::MatRef;
use linalg::gemm::Plus;
use rayon::prelude::*;

/// Images that pass together; 2, 4 and 8 differ by 3 %.
const BLOCK: usize = 4;
/// Gradients that are summed apart, then together; more threads than this stay idle in the backward pass.
const PARTS: usize = 8;

/// What the backward pass needs.
#[derive(Debug)]
pub(super) struct Tape {
    blocks: Vec<BlockTape>,
}

#[derive(Debug)]
struct BlockTape {
    images: usize,
    layers: Vec<LayerTape>,
    flat: Vec<f32>, // [images, h·w·c]
}

#[derive(Debug)]
struct LayerTape {
    x: Vec<f32>,           // on the padded grid
    y: Vec<f32>,           // before the norm
    choice: Vec<u8>,       // of the pooling
    moments: Vec<Moments>, // of the norm
}

/// A layer with its grids and its parameters.
struct Step<'a> {
    params: Convolution,
    pool: bool,
    input: Grid,
    convolved: Grid,
    /// What the norm reads.
    pooled: Grid,
    /// What the norm writes.
    output: Grid,
    weight: &'a [f32],
    norm: Norm<'a>,
}

fn steps<'a>(cnn: &Cnn, theta: &'a [f32]) -> Vec<Step<'a>> {
    let layers = cnn.shape.layers();
    let last = layers.len() - 1;
    let step = |(index, (layer, params)): (usize, (&Layer, &Convolution))| {
        let &Layer { height, width, inputs, outputs, pool } = layer;
        let convolved = Grid::padded(height, width, outputs);
        let [h, w] = if pool { [height / 2, width / 2] } else { [height, width] };
        let (gain, shift) = (params.gain.of(theta), params.shift.of(theta));
        Step {
            params: *params,
            pool,
            input: Grid::padded(height, width, inputs),
            convolved,
            pooled: if pool { Grid::compact(h, w, outputs) } else { convolved },
            output: if index == last { Grid::compact(h, w, outputs) } else { Grid::padded(h, w, outputs) },
            weight: params.weight.of(theta),
            norm: Norm { gain, shift, group: cnn.shape.group },
        }
    };
    layers.iter().zip(&cnn.convolutions).enumerate().map(step).collect()
}

/// Φ, row-major `[N, D]`.
pub(super) fn features(cnn: &Cnn, theta: &[f32], images: &[f32]) -> Vec<f32> {
    run(cnn, theta, images, |_| ()).0
}

/// Φ and what [`pull_back`] needs.
pub(super) fn record(cnn: &Cnn, theta: &[f32], images: &[f32]) -> (Vec<f32>, Tape) {
    let (phi, blocks) = run(cnn, theta, images, |tape| tape);
    (phi, Tape { blocks })
}

fn run<T: Send>(
    cnn: &Cnn,
    theta: &[f32],
    images: &[f32],
    keep: impl Fn(BlockTape) -> T + Sync,
) -> (Vec<f32>, Vec<T>) {
    let (each, d) = (cnn.width(), cnn.shape.features);
    let mut phi = vec![0.0; images.len() / each * d];
    let steps = steps(cnn, theta);
    let blocks = phi.par_chunks_mut(BLOCK * d).zip(images.par_chunks(BLOCK * each)).with_max_len(1);
    let tapes = blocks.map(|(phi, images)| keep(run_block(cnn, theta, &steps, images, phi))).collect();
    (phi, tapes)
}

fn run_block(cnn: &Cnn, theta: &[f32], steps: &[Step<'_>], pixels: &[f32], phi: &mut [f32]) -> BlockTape {
    let shape = &cnn.shape;
    let images = phi.len() / shape.features;
    let input = steps[0].input;
    let mut x = input.zeros(images);
    for (index, row) in pixels.chunks_exact(shape.width * shape.channels).enumerate() {
        x[input.row(index / shape.height, index % shape.height)].copy_from_slice(row);
    }
    let mut layers = Vec::with_capacity(steps.len());
    for step in steps {
        let (mut y, mut choice) = (step.convolved.zeros(images), Vec::new());
        convolve(&x, step.input, images, step.weight, &mut y);
        if step.pool {
            let mut pooled = step.pooled.zeros(images);
            choice.resize(pooled.len(), 0);
            pool(&y, step.convolved, images, &mut pooled, &mut choice, step.pooled);
            y = pooled;
        }
        let mut z = step.output.zeros(images);
        let moments = step.norm.forward(&y, step.pooled, images, &mut z, step.output);
        layers.push(LayerTape { x, y, choice, moments });
        x = z;
    }
    let (weight, bias) = (cnn.weight.of(theta), cnn.bias.of(theta));
    phi.chunks_exact_mut(shape.features).for_each(|row| row.copy_from_slice(bias));
    let flat = MatRef::from_row_major_slice(&x, images, shape.flat());
    multiply(phi, Plus::Out, flat, MatRef::from_row_major_slice(weight, shape.flat(), shape.features));
    BlockTape { images, layers, flat: x }
}

/// Sets `d_theta` to the gradient of all parameters, unless it is empty, and `d_images [N, H, W, C]` where that is asked
/// for, from `d_phi [N, D]`.
pub(super) fn pull_back(
    cnn: &Cnn,
    theta: &[f32],
    tape: &Tape,
    d_phi: &[f32],
    d_theta: &mut [f32],
    d_images: Option<&mut [f32]>,
) {
    let (shape, blocks) = (&cnn.shape, &tape.blocks);
    let steps = steps(cnn, theta);
    let flipped: Vec<Vec<f32>> =
        shape.layers().par_iter().zip(&steps).map(|(l, step)| flipped(step.weight, l.inputs)).collect();
    let part = blocks.len().div_ceil(PARTS).max(1);
    let parts = blocks.par_chunks(part).zip(d_phi.par_chunks(part * BLOCK * shape.features)).with_max_len(1);
    let wanted = Wanted { parameters: !d_theta.is_empty(), images: d_images.is_some() };
    let (gradients, by_images): (Vec<Vec<f32>>, Vec<Vec<f32>>) = parts
        .map(|(blocks, d_phi)| {
            let mut gradient = vec![0.0; if wanted.parameters { theta.len() } else { 0 }];
            let mut d_images = Vec::new();
            for (block, d_phi) in blocks.iter().zip(d_phi.chunks(BLOCK * shape.features)) {
                let backward = BlockBackward { cnn, theta, steps: &steps, flipped: &flipped, block, wanted };
                d_images.extend(backward.pull_back(d_phi, &mut gradient));
            }
            (gradient, d_images)
        })
        .unzip();
    d_theta.par_chunks_mut(1 << 14).enumerate().for_each(|(chunk, total)| {
        total.fill(0.0);
        for gradient in &gradients {
            total.iter_mut().zip(&gradient[chunk << 14..]).for_each(|(total, part)| *total += part);
        }
    });
    if let Some(d_images) = d_images {
        d_images.copy_from_slice(&by_images.concat());
    }
}

/// What a gradient is asked of.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    parameters: bool,
    images: bool,
}

/// The gradients of a few images.
struct BlockBackward<'a> {
    cnn: &'a Cnn,
    theta: &'a [f32],
    steps: &'a [Step<'a>],
    flipped: &'a [Vec<f32>],
    block: &'a BlockTape,
    wanted: Wanted,
}

impl BlockBackward<'_> {
    /// Adds to `gradient`, unless it is empty; returns the gradient of the images if it is wanted.
    fn pull_back(&self, d_phi: &[f32], gradient: &mut [f32]) -> Vec<f32> {
        let Self { cnn, theta, steps, flipped, block, wanted } = *self;
        let (images, flat, d) = (block.images, cnn.shape.flat(), cnn.shape.features);
        let rows = MatRef::from_row_major_slice(d_phi, images, d);
        if wanted.parameters {
            let d_bias = cnn.bias.of_mut(gradient);
            for row in d_phi.chunks_exact(d) {
                d_bias.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            let flat = MatRef::from_row_major_slice(&block.flat, images, flat);
            multiply(cnn.weight.of_mut(gradient), Plus::Out, flat.transpose(), rows);
        }
        let mut d_z = vec![0.0; images * flat];
        let weight = MatRef::from_row_major_slice(cnn.weight.of(theta), flat, d);
        multiply(&mut d_z, Plus::Nothing, rows, weight.transpose());

        let mut norm_gradient = Vec::new();
        for (index, step) in steps.iter().enumerate().rev() {
            let tape = &block.layers[index];
            let outputs = step.norm.gain.len();
            norm_gradient.clear();
            norm_gradient.resize(2 * outputs, 0.0);
            let (d_gain, d_shift) = norm_gradient.split_at_mut(outputs);
            let mut d_y = step.pooled.zeros(images);
            let (y, d_output) = ((&tape.y[..], step.pooled), (&mut d_z[..], step.output));
            step.norm.pull_back(y, images, &tape.moments, d_output, &mut d_y, d_gain, d_shift);
            if step.pool {
                let mut spread = step.convolved.zeros(images);
                pool_pull_back(&d_y, &tape.choice, step.pooled, images, &mut spread, step.convolved);
                d_y = spread;
            }
            if wanted.parameters {
                for (param, d) in [(step.params.gain, &*d_gain), (step.params.shift, &*d_shift)] {
                    param.of_mut(gradient).iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
                }
                convolve_pull_back(&tape.x, step.input, images, &d_y, step.params.weight.of_mut(gradient));
            }
            if index > 0 || wanted.images {
                d_z = step.input.zeros(images);
                convolve(&d_y, step.convolved, images, &flipped[index], &mut d_z);
            }
        }
        if !wanted.images {
            return Vec::new();
        }
        let rows = (0..images).flat_map(|image| (0..cnn.shape.height).map(move |row| (image, row)));
        rows.flat_map(|(image, row)| &d_z[steps[0].input.row(image, row)]).copied().collect()
    }
}
