//! The whole network, forward. [`backward`](super::backward) has the gradients.
//!
//! Rows do not see one another: blocks of them pass through all layers, forward and backward, and threads share the
//! blocks. Then each parameter's gradient is a product over all rows, and threads share these products. Blocks
//! and products have fixed sizes: no result depends on the number of threads.

use super::periodic::{Place, Waves};
use super::{Mlp, MlpShape, Param};
use linalg::gemm::{Plus, product};
use linalg::simd::each;
use linalg::{MatMut, MatRef};
use rayon::prelude::*;

/// Rows that pass together.
pub(super) const BLOCK: usize = 64;

/// Sizes of the parts of `u = [ embedded | x | tables ]`, and of the layers.
pub(super) struct Sizes<'a> {
    pub(super) shape: &'a MlpShape,
    /// Frequencies and outputs of a column.
    pub(super) waves: [usize; 2],
    pub(super) embedded: usize,
    pub(super) inputs: usize,
    /// Inputs and outputs of each layer.
    pub(super) layers: Vec<[usize; 2]>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(shape: &'a MlpShape) -> Self {
        let waves = shape.periodic.filter(|_| shape.numeric > 0).map_or([0, 0], |p| [p.frequencies, p.width]);
        let inputs = shape.inputs();
        let outputs: Vec<usize> =
            shape.hidden.iter().copied().chain([shape.features / shape.members]).collect();
        let layers = std::iter::once(&inputs).chain(&outputs).zip(&outputs).map(|(&a, &b)| [a, b]).collect();
        Self { shape, waves, embedded: shape.numeric * waves[1], inputs, layers }
    }

    /// Whether u is x itself, which is then read where it is.
    pub(super) fn plain(&self) -> bool {
        self.embedded == 0 && self.shape.tables.is_empty()
    }

    /// D / K
    pub(super) fn features(&self) -> usize {
        self.shape.features / self.shape.members
    }

    /// Where a column's numbers stand among the inputs, its waves among the waves, and its outputs in `u`.
    pub(super) fn column(&self, column: usize, width: usize) -> [Place; 3] {
        let [f, e] = self.waves;
        [
            Place { start: column, stride: self.shape.width },
            Place { start: column * 2 * f, stride: self.shape.numeric * 2 * f },
            Place { start: column * e, stride: width },
        ]
    }
}

/// The parameters of one member.
pub(super) struct Member<'a> {
    pub(super) columns: Vec<Waves<&'a [f32]>>,
    pub(super) layers: Vec<[&'a [f32]; 2]>,
    pub(super) skip: Option<&'a [f32]>,
}

/// All parameters.
pub(super) struct Parameters<'a> {
    pub(super) members: Vec<Member<'a>>,
    pub(super) tables: &'a [f32], // [Σ knots, K·W]
}

impl<'a> Parameters<'a> {
    pub(super) fn new(mlp: &Mlp, theta: &'a [f32]) -> Self {
        let (k, columns, params) = (mlp.shape.members, mlp.shape.numeric, &mlp.params);
        // Part `index` of `of` equal ones.
        let part = |param: Param, index: usize, of: usize| {
            let each = param.len() / of;
            &param.of(theta)[index * each..][..each]
        };
        let members = (0..k).map(|member| Member {
            columns: params.periodic.map_or(Vec::new(), |periodic| {
                let column = |column: usize| {
                    let [frequency, map, offset] = [periodic.frequency, periodic.map, periodic.offset]
                        .map(|param| part(param, member * columns + column, k * columns));
                    Waves { frequency, map, offset }
                };
                (0..columns).map(column).collect()
            }),
            layers: params.layers.iter().map(|both| both.map(|param| part(param, member, k))).collect(),
            skip: params.skip.map(|param| part(param, member, k)),
        });
        Self { members: members.collect(), tables: params.tables.map_or(&[], |param| param.of(theta)) }
    }
}

/// Between which knots a number stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Knot {
    /// Row of the lower one among all knots.
    pub(super) lower: usize,
    /// How far it is to the upper one.
    pub(super) share: f32,
    /// Slope of the share, zero beyond the ends.
    pub(super) slope: f32,
}

/// What all members read.
#[derive(Debug)]
struct Read {
    x: Vec<f32>,      // [N, width]
    knots: Vec<Knot>, // [N, tables]
    mask: Vec<f32>,   // [K, N, embedded] or nothing
}

impl Read {
    fn new(shape: &MlpShape, x: Vec<f32>, mask: Vec<f32>) -> Self {
        let mut knots = Vec::with_capacity(x.len() / shape.width * shape.tables.len());
        if !shape.tables.is_empty() {
            for row in x.chunks_exact(shape.width) {
                let mut start = 0;
                for table in &shape.tables {
                    let whole = (row[table.column] - table.low) / (table.high - table.low);
                    let position = whole.clamp(0.0, 1.0) * (table.knots - 1) as f32;
                    let knot = (position as usize).min(table.knots - 2);
                    let inside = (0.0..=1.0).contains(&whole);
                    let slope = (table.knots - 1) as f32 / (table.high - table.low);
                    let (share, slope) = (position - knot as f32, if inside { slope } else { 0.0 });
                    knots.push(Knot { lower: start + knot, share, slope });
                    start += table.knots;
                }
            }
        }
        Self { x, knots, mask }
    }
}

/// What the backward pass needs.
#[derive(Debug)]
pub(super) struct Tape {
    pub(super) x: Vec<f32>,      // [N, width]
    pub(super) knots: Vec<Knot>, // [N, tables]
    pub(super) rows: usize,
    /// For each member: waves, u, and what the ReLUs gave, `[N, …]` each.
    pub(super) kept: Vec<Vec<Vec<f32>>>,
    /// What dropout multiplies what it keeps by.
    pub(super) keep: f32,
}

/// Numbers that a row keeps in each buffer of a member.
pub(super) fn widths(sizes: &Sizes<'_>) -> Vec<usize> {
    let hidden = sizes.layers[1..].iter().map(|&[inputs, _]| inputs);
    let u = if sizes.plain() { 0 } else { sizes.inputs };
    [sizes.shape.numeric * 2 * sizes.waves[0], u].into_iter().chain(hidden).collect()
}

/// For each block of rows, its part of each buffer `[N, width]`.
pub(super) fn by_blocks<'a>(
    buffers: impl Iterator<Item = (&'a mut [f32], usize)>,
    rows: usize,
) -> Vec<Vec<&'a mut [f32]>> {
    let mut blocks: Vec<Vec<&mut [f32]>> = (0..rows.div_ceil(BLOCK)).map(|_| Vec::new()).collect();
    for (buffer, width) in buffers {
        let mut rest = buffer;
        for block in &mut blocks {
            let len = (BLOCK * width).min(rest.len());
            let (part, others) = std::mem::take(&mut rest).split_at_mut(len);
            block.push(part);
            rest = others;
        }
    }
    blocks
}

/// Φ, row-major `[N, D]`, of `x [N, width]` in prediction.
pub(super) fn features(mlp: &Mlp, theta: &[f32], x: Vec<f32>) -> Vec<f32> {
    let shape = &mlp.shape;
    let (sizes, rows) = (Sizes::new(shape), x.len() / shape.width);
    let (parameters, read) = (Parameters::new(mlp, theta), Read::new(shape, x, Vec::new()));
    let mut phi = vec![0.0; rows * shape.features];
    let widths = widths(&sizes);
    let blocks = phi.chunks_mut(BLOCK * shape.features).enumerate().collect();
    share(blocks, |(block, phi): (_, &mut [f32])| {
        let rows = phi.len() / shape.features;
        let mut buffers: Vec<Vec<f32>> = widths.iter().map(|width| vec![0.0; rows * width]).collect();
        for member in 0..shape.members {
            let buffers: Vec<&mut [f32]> = buffers.iter_mut().map(|buffer| &mut buffer[..]).collect();
            pass(&sizes, &parameters, &read, [block, member], buffers, phi);
        }
    });
    phi
}

/// Φ and what the gradients need; `mask` is what dropout multiplies the embeddings by, or nothing.
pub(super) fn record(mlp: &Mlp, theta: &[f32], x: Vec<f32>, mask: Vec<f32>) -> (Vec<f32>, Tape) {
    let shape = &mlp.shape;
    let (sizes, rows) = (Sizes::new(shape), x.len() / shape.width);
    let keep = if mask.is_empty() { 1.0 } else { (1.0 / (1.0 - shape.dropout)) as f32 };
    let (parameters, read) = (Parameters::new(mlp, theta), Read::new(shape, x, mask));
    let mut phi = vec![0.0; rows * shape.features];
    let widths = widths(&sizes);
    let buffers = || widths.iter().map(|width| vec![0.0; rows * width]).collect();
    let mut kept: Vec<Vec<Vec<f32>>> = (0..shape.members).map(|_| buffers()).collect();
    let all = kept.iter_mut().flatten().map(|buffer| &mut buffer[..]).zip(widths.iter().copied().cycle());
    let blocks = by_blocks(all, rows);
    let blocks = phi.chunks_mut(BLOCK * shape.features).zip(blocks).enumerate().collect();
    share(blocks, |(block, (phi, buffers)): (_, (&mut [f32], Vec<_>))| {
        let mut buffers = buffers.into_iter();
        for member in 0..shape.members {
            let own = buffers.by_ref().take(widths.len()).collect();
            pass(&sizes, &parameters, &read, [block, member], own, phi);
        }
    });
    (phi, Tape { x: read.x, knots: read.knots, rows, kept, keep })
}

/// One block of rows through one member; `buffers` are its waves, u, and hidden layers.
fn pass(
    sizes: &Sizes<'_>,
    parameters: &Parameters<'_>,
    read: &Read,
    [block, member]: [usize; 2],
    buffers: Vec<&mut [f32]>,
    phi: &mut [f32],
) {
    let Sizes { shape, embedded, inputs, .. } = sizes;
    let own = &parameters.members[member];
    let (width, rows) = (shape.width, phi.len() / shape.features);
    let x = &read.x[block * BLOCK * width..][..rows * width];
    let mut buffers = buffers.into_iter();
    let (waves, u) = (buffers.next().expect("two at least"), buffers.next().expect("two at least"));
    for (column, parameters) in own.columns.iter().enumerate() {
        let [at, waves_at, out_at] = sizes.column(column, *inputs);
        parameters.forward((x, at), (waves, waves_at), (u, out_at));
    }
    each(
        u.chunks_exact_mut(*inputs),
        #[inline(always)]
        |u| u[..*embedded].iter_mut().for_each(|u| *u = if *u < 0.0 { 0.0 } else { *u }),
    );
    let tables = shape.tables.len();
    for (row, u) in u.chunks_exact_mut(*inputs).enumerate() {
        u[*embedded..][..width].copy_from_slice(&x[row * width..][..width]);
        let at = block * BLOCK + row;
        let knots = &read.knots[at * tables..][..tables];
        let looked_up = u[embedded + width..].chunks_exact_mut(shape.table_width.max(1));
        for (knot, out) in knots.iter().zip(looked_up) {
            let [lower, upper] = table_rows(sizes, member, knot).map(|start| &parameters.tables[start..]);
            for ((out, lower), upper) in out.iter_mut().zip(lower).zip(upper) {
                *out = lower + (upper - lower) * knot.share;
            }
        }
        if !read.mask.is_empty() {
            let all_rows = read.x.len() / width;
            let mask = &read.mask[(member * all_rows + at) * embedded..][..*embedded];
            u.iter_mut().zip(mask).for_each(|(u, mask)| *u *= mask);
        }
    }
    let mut h: &[f32] = if sizes.plain() { x } else { u };
    for ([weight, bias], &[from, to]) in own.layers.iter().zip(&sizes.layers) {
        let left = MatRef::from_row_major_slice(h, rows, from);
        let weight = MatRef::from_row_major_slice(weight, from, to);
        let Some(next) = buffers.next() else {
            // The features stand among those of the other members.
            let phi = &mut phi[member * to..];
            let out = MatMut::from_row_major_slice_with_stride_mut(phi, rows, to, shape.features);
            product(out, Plus::Nothing, left, weight, 1.0);
            for row in phi.chunks_mut(shape.features) {
                row.iter_mut().zip(*bias).for_each(|(phi, bias)| *phi += bias);
            }
            break;
        };
        product(MatMut::from_row_major_slice_mut(next, rows, to), Plus::Nothing, left, weight, 1.0);
        add_bias_and_relu(next, bias);
        h = next;
    }
    if let Some(skip) = own.skip {
        let each = sizes.features();
        let phi = &mut phi[member * each..];
        let phi = MatMut::from_row_major_slice_with_stride_mut(phi, rows, each, shape.features);
        let (x, skip) =
            (MatRef::from_row_major_slice(x, rows, width), MatRef::from_row_major_slice(skip, width, each));
        product(phi, Plus::Out, x, skip, 1.0);
    }
}

/// Where a member's numbers of the lower and the upper knot begin.
pub(super) fn table_rows(sizes: &Sizes<'_>, member: usize, knot: &Knot) -> [usize; 2] {
    let (k, each) = (sizes.shape.members, sizes.shape.table_width);
    [knot.lower, knot.lower + 1].map(|row| (row * k + member) * each)
}

fn add_bias_and_relu(h: &mut [f32], bias: &[f32]) {
    each(
        h.chunks_exact_mut(bias.len()),
        #[inline(always)]
        |row| {
            for (h, bias) in row.iter_mut().zip(bias) {
                let sum = *h + bias;
                *h = if sum < 0.0 { 0.0 } else { sum };
            }
        },
    );
}

/// Calls `work` for all items, on the threads of the current pool. One thread alone does not ask the pool: it would wait
/// there for others, and might be given work that has nothing to do with this.
pub(super) fn share<T: Send>(items: Vec<T>, work: impl Fn(T) + Send + Sync) {
    if items.len() < 2 || rayon::current_num_threads() < 2 {
        items.into_iter().for_each(work);
    } else {
        items.into_par_iter().with_max_len(1).for_each(work);
    }
}
