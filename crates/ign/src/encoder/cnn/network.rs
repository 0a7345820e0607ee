//! The whole network, forward and backward, over blocks of a few images that threads share.
//!
//! Images do not see one another, hence a block passes through all layers while its activations are in the cache, and
//! threads meet only at the end. Blocks and partial sums have fixed sizes: no result depends on the number of threads.

use super::layers::{
    Grid, Moments, Norm, convolve, convolve_pull_back, flipped, pool, pool_pull_back, product,
};
use super::{CnnShape, Layer};
use faer::{Accum, MatRef};
use rayon::prelude::*;

/// Images that pass together; 2, 4 and 8 differ by 3 %.
const BLOCK: usize = 4;
/// Gradients that are summed apart, then together; more threads than this stay idle in the backward pass.
const PARTS: usize = 8;

/// What the backward pass needs.
#[derive(Debug)]
pub(super) struct Tape {
    shape: CnnShape,
    parameters: Vec<f32>,
    blocks: Vec<BlockTape>,
}

impl Tape {
    /// N, H, W, C
    pub(super) fn size(&self) -> [usize; 4] {
        let images = self.blocks.iter().map(|block| block.images).sum();
        [images, self.shape.height, self.shape.width, self.shape.channels]
    }
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

/// A layer with its place in the flat parameters, its grids and its parameters.
struct Step<'a> {
    start: usize,
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

fn steps<'a>(shape: &CnnShape, parameters: &'a [f32]) -> Vec<Step<'a>> {
    let layers = shape.layers();
    let (mut start, last) = (0, layers.len() - 1);
    let step = |(index, layer): (usize, &Layer)| {
        let &Layer { height, width, inputs, outputs, pool } = layer;
        let convolved = Grid::padded(height, width, outputs);
        let [h, w] = if pool { [height / 2, width / 2] } else { [height, width] };
        let (weight, rest) = parameters[start..].split_at(9 * inputs * outputs);
        let (gain, shift) = rest[..2 * outputs].split_at(outputs);
        let begin = start;
        start += weight.len() + 2 * outputs;
        Step {
            start: begin,
            pool,
            input: Grid::padded(height, width, inputs),
            convolved,
            pooled: if pool { Grid::compact(h, w, outputs) } else { convolved },
            output: if index == last { Grid::compact(h, w, outputs) } else { Grid::padded(h, w, outputs) },
            weight,
            norm: Norm { gain, shift, group: shape.group },
        }
    };
    layers.iter().enumerate().map(step).collect()
}

/// Weight and bias of the feature layer.
fn feature_layer<'a>(shape: &CnnShape, parameters: &'a [f32]) -> (&'a [f32], &'a [f32]) {
    let (rest, bias) = parameters.split_at(parameters.len() - shape.features);
    (&rest[rest.len() - shape.flat() * shape.features..], bias)
}

/// Φ, row-major `[N, D]`.
pub(super) fn forward(shape: &CnnShape, parameters: &[f32], images: &[f32]) -> Vec<f32> {
    run(shape, parameters, images, |_| ()).0
}

/// Φ and what [`pull_back`] needs.
pub(super) fn record(shape: &CnnShape, parameters: Vec<f32>, images: &[f32]) -> (Vec<f32>, Tape) {
    let (phi, blocks) = run(shape, &parameters, images, |tape| tape);
    (phi, Tape { shape: shape.clone(), parameters, blocks })
}

fn run<T: Send>(
    shape: &CnnShape,
    parameters: &[f32],
    images: &[f32],
    keep: impl Fn(BlockTape) -> T + Sync,
) -> (Vec<f32>, Vec<T>) {
    let each = shape.height * shape.width * shape.channels;
    let mut phi = vec![0.0; images.len() / each * shape.features];
    let steps = steps(shape, parameters);
    let blocks =
        phi.par_chunks_mut(BLOCK * shape.features).zip(images.par_chunks(BLOCK * each)).with_max_len(1);
    let tapes = blocks.map(|(phi, images)| keep(run_block(shape, parameters, &steps, images, phi))).collect();
    (phi, tapes)
}

fn run_block(
    shape: &CnnShape,
    parameters: &[f32],
    steps: &[Step<'_>],
    pixels: &[f32],
    phi: &mut [f32],
) -> BlockTape {
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
    let (weight, bias) = feature_layer(shape, parameters);
    phi.chunks_exact_mut(shape.features).for_each(|row| row.copy_from_slice(bias));
    let flat = MatRef::from_row_major_slice(&x, images, shape.flat());
    product(phi, Accum::Add, flat, MatRef::from_row_major_slice(weight, shape.flat(), shape.features));
    BlockTape { images, layers, flat: x }
}

/// What a gradient is asked of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) parameters: bool,
    pub(super) images: bool,
}

/// Gradients of all parameters and of the images `[N, H, W, C]` from `d_phi [N, D]`; of what is not asked for, nothing
/// of any use.
pub(super) fn pull_back(tape: &Tape, d_phi: &[f32], wanted: Wanted) -> (Vec<f32>, Vec<f32>) {
    let Tape { shape, parameters, blocks } = tape;
    let steps = steps(shape, parameters);
    let flipped: Vec<Vec<f32>> =
        shape.layers().par_iter().zip(&steps).map(|(l, step)| flipped(step.weight, l.inputs)).collect();
    let part = blocks.len().div_ceil(PARTS).max(1);
    let parts = blocks.par_chunks(part).zip(d_phi.par_chunks(part * BLOCK * shape.features)).with_max_len(1);
    let (gradients, d_images): (Vec<Vec<f32>>, Vec<Vec<f32>>) = parts
        .map(|(blocks, d_phi)| {
            let mut gradient = vec![0.0; parameters.len()];
            let mut d_images = Vec::new();
            for (block, d_phi) in blocks.iter().zip(d_phi.chunks(BLOCK * shape.features)) {
                let d_x = pull_back_block(tape, &steps, &flipped, block, d_phi, wanted, &mut gradient);
                d_images.extend(d_x);
            }
            (gradient, d_images)
        })
        .unzip();
    let mut total = vec![0.0; parameters.len()];
    total.par_chunks_mut(1 << 14).enumerate().for_each(|(chunk, total)| {
        for gradient in &gradients {
            total.iter_mut().zip(&gradient[chunk << 14..]).for_each(|(total, part)| *total += part);
        }
    });
    (total, d_images.concat())
}

/// Adds to `gradient`; returns that of the block's images if it is wanted.
fn pull_back_block(
    tape: &Tape,
    steps: &[Step<'_>],
    flipped: &[Vec<f32>],
    block: &BlockTape,
    d_phi: &[f32],
    wanted: Wanted,
    gradient: &mut [f32],
) -> Vec<f32> {
    let Tape { shape, parameters, .. } = tape;
    let (images, flat, d) = (block.images, shape.flat(), shape.features);
    let (weight, _) = feature_layer(shape, parameters);
    let (rest, d_bias) = gradient.split_at_mut(parameters.len() - d);
    for row in d_phi.chunks_exact(d) {
        d_bias.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    let (_, d_weight) = rest.split_at_mut(rest.len() - flat * d);
    let d_phi = MatRef::from_row_major_slice(d_phi, images, d);
    if wanted.parameters {
        let flat = MatRef::from_row_major_slice(&block.flat, images, flat);
        product(d_weight, Accum::Add, flat.transpose(), d_phi);
    }
    let mut d_z = vec![0.0; images * flat];
    product(&mut d_z, Accum::Replace, d_phi, MatRef::from_row_major_slice(weight, flat, d).transpose());

    for (index, step) in steps.iter().enumerate().rev() {
        let tape = &block.layers[index];
        let outputs = step.norm.gain.len();
        let (d_weight, rest) = gradient[step.start..].split_at_mut(step.weight.len());
        let (d_gain, d_shift) = rest[..2 * outputs].split_at_mut(outputs);
        let mut d_y = step.pooled.zeros(images);
        let (y, d_output) = ((&tape.y[..], step.pooled), (&mut d_z[..], step.output));
        step.norm.pull_back(y, images, &tape.moments, d_output, &mut d_y, d_gain, d_shift);
        if step.pool {
            let mut spread = step.convolved.zeros(images);
            pool_pull_back(&d_y, &tape.choice, step.pooled, images, &mut spread, step.convolved);
            d_y = spread;
        }
        if wanted.parameters {
            convolve_pull_back(&tape.x, step.input, images, &d_y, d_weight);
        }
        if index > 0 || wanted.images {
            d_z = step.input.zeros(images);
            convolve(&d_y, step.convolved, images, &flipped[index], &mut d_z);
        }
    }
    if !wanted.images {
        return Vec::new();
    }
    let rows = (0..images).flat_map(|image| (0..shape.height).map(move |row| (image, row)));
    rows.flat_map(|(image, row)| &d_z[steps[0].input.row(image, row)]).copied().collect()
}
