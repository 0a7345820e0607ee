//! The whole network, forward and backward, over one flat vector of parameters.
//!
//! Rows do not see one another: blocks of them pass through all layers on the way there and on the way back, and threads
//! share the blocks. Then each parameter's gradient is a product over all rows, and threads share these products. Blocks
//! and products have fixed sizes: no result depends on the number of threads.

use super::MlpShape;
use super::waves::{Place, Waves};
use crate::encoder::vectors::{add_rows, each, relu_pull_back};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Rows that pass together.
const BLOCK: usize = 64;
/// Rows of a weight whose gradient is one product.
const PIECE: usize = 256;

/// Sizes of the parts of `u = [ embedded | x | tables ]`, and of the layers.
struct Sizes<'a> {
    shape: &'a MlpShape,
    /// Frequencies and outputs of a column.
    waves: [usize; 2],
    embedded: usize,
    inputs: usize,
    knots: usize,
    /// Inputs and outputs of each layer.
    layers: Vec<[usize; 2]>,
}

impl<'a> Sizes<'a> {
    fn new(shape: &'a MlpShape) -> Self {
        let waves = shape.periodic.filter(|_| shape.numeric > 0).map_or([0, 0], |p| [p.frequencies, p.width]);
        let inputs = shape.inputs() as usize;
        let outputs: Vec<usize> =
            shape.hidden.iter().copied().chain([shape.features / shape.members]).collect();
        let layers = std::iter::once(&inputs).chain(&outputs).zip(&outputs).map(|(&a, &b)| [a, b]).collect();
        let knots = shape.tables.iter().map(|table| table.knots).sum();
        Self { shape, waves, embedded: shape.numeric * waves[1], inputs, knots, layers }
    }

    /// D / K
    fn features(&self) -> usize {
        self.shape.features / self.shape.members
    }

    /// Where a column's numbers stand among the inputs, its waves among the waves, and its outputs in `u`.
    fn column(&self, column: usize, width: usize) -> [Place; 3] {
        let [f, e] = self.waves;
        [
            Place { start: column, stride: self.shape.width },
            Place { start: column * 2 * f, stride: self.shape.numeric * 2 * f },
            Place { start: column * e, stride: width },
        ]
    }
}

/// The parameters of one member.
struct Member<'a> {
    columns: Vec<Waves<&'a [f32]>>,
    layers: Vec<[&'a [f32]; 2]>,
    skip: Option<&'a [f32]>,
}

/// All parameters, in the module's order.
struct Parameters<'a> {
    members: Vec<Member<'a>>,
    tables: &'a [f32], // [Σ knots, K·W]
}

impl<'a> Parameters<'a> {
    fn new(sizes: &Sizes<'_>, parameters: &'a [f32]) -> Self {
        let (k, columns, [f, e]) = (sizes.shape.members, sizes.shape.numeric, sizes.waves);
        let mut rest = parameters;
        let mut take = |len: usize| {
            let (part, others) = rest.split_at(len);
            rest = others;
            part
        };
        let [frequency, map, offset] = [f, 2 * f * e, e].map(|each| (take(k * columns * each), each));
        let tables = take(sizes.knots * k * sizes.shape.table_width);
        let layers: Vec<[&[f32]; 2]> =
            sizes.layers.iter().map(|&[a, b]| [take(k * a * b), take(k * b)]).collect();
        let skip = sizes.shape.skip.then(|| take(k * sizes.shape.width * sizes.features()));
        let part = |(all, each): (&'a [f32], usize), index: usize| &all[index * each..][..each];
        let members = (0..k).map(|member| Member {
            columns: (0..if f > 0 { columns } else { 0 })
                .map(|column| {
                    let index = member * columns + column;
                    let [frequency, map, offset] = [frequency, map, offset].map(|all| part(all, index));
                    Waves { frequency, map, offset }
                })
                .collect(),
            layers: layers.iter().map(|both| both.map(|all| part((all, all.len() / k), member))).collect(),
            skip: skip.map(|all| part((all, all.len() / k), member)),
        });
        Self { members: members.collect(), tables }
    }
}

/// Between which knots a number stands.
#[derive(Debug, Clone, Copy)]
struct Knot {
    /// Row of the lower one among all knots.
    lower: usize,
    /// How far it is to the upper one.
    share: f32,
    /// Slope of the share, zero beyond the ends.
    slope: f32,
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
    threads: usize,
    read: Read,
    rows: usize,
    /// For each member: waves, u, and what the ReLUs gave, `[N, …]` each.
    kept: Vec<Vec<Vec<f32>>>,
    /// What dropout multiplies by what it keeps.
    keep: f32,
}

/// Numbers that a row keeps in each buffer of a member.
fn widths(sizes: &Sizes<'_>) -> Vec<usize> {
    let hidden = sizes.layers[1..].iter().map(|&[inputs, _]| inputs);
    [sizes.shape.numeric * 2 * sizes.waves[0], sizes.inputs].into_iter().chain(hidden).collect()
}

/// For each block of rows, its part of each buffer `[N, width]`.
fn by_blocks<'a>(
    buffers: impl Iterator<Item = (&'a mut Vec<f32>, usize)>,
    rows: usize,
) -> Vec<Vec<&'a mut [f32]>> {
    let mut blocks: Vec<Vec<&mut [f32]>> = (0..rows.div_ceil(BLOCK)).map(|_| Vec::new()).collect();
    for (buffer, width) in buffers {
        let mut rest = &mut buffer[..];
        for block in &mut blocks {
            let (part, others) = rest.split_at_mut((BLOCK * width).min(rest.len()));
            block.push(part);
            rest = others;
        }
    }
    blocks
}

/// Φ, row-major `[N, D]`, of `x [N, width]`; `mask` is what dropout multiplies the embeddings by, or nothing.
pub(super) fn forward(shape: &MlpShape, parameters: &[f32], x: Vec<f32>, mask: Vec<f32>) -> Vec<f32> {
    let (sizes, rows) = (Sizes::new(shape), x.len() / shape.width);
    let (parameters, read) = (Parameters::new(&sizes, parameters), Read::new(shape, x, mask));
    let mut phi = vec![0.0; rows * shape.features];
    let widths = widths(&sizes);
    let blocks = phi.chunks_mut(BLOCK * shape.features).enumerate().collect();
    share(rayon::current_num_threads(), blocks, |(block, phi): (_, &mut [f32])| {
        let rows = phi.len() / shape.features;
        let mut buffers: Vec<Vec<f32>> = widths.iter().map(|width| vec![0.0; rows * width]).collect();
        for member in 0..shape.members {
            let buffers: Vec<&mut [f32]> = buffers.iter_mut().map(|buffer| &mut buffer[..]).collect();
            pass(&sizes, &parameters, &read, [block, member], buffers, phi);
        }
    });
    phi
}

/// Φ and what [`pull_back`] needs, both ways on so many threads.
pub(super) fn record(
    shape: &MlpShape,
    parameters: &[f32],
    x: Vec<f32>,
    mask: Vec<f32>,
    threads: usize,
) -> (Vec<f32>, Tape) {
    let (sizes, rows) = (Sizes::new(shape), x.len() / shape.width);
    let keep = if mask.is_empty() { 1.0 } else { (1.0 / (1.0 - shape.dropout)) as f32 };
    let (parameters, read) = (Parameters::new(&sizes, parameters), Read::new(shape, x, mask));
    let mut phi = vec![0.0; rows * shape.features];
    let widths = widths(&sizes);
    let buffers = || widths.iter().map(|width| vec![0.0; rows * width]).collect();
    let mut kept: Vec<Vec<Vec<f32>>> = (0..shape.members).map(|_| buffers()).collect();
    let all = kept.iter_mut().flat_map(|member| member.iter_mut().zip(widths.iter().copied()));
    let blocks = by_blocks(all, rows);
    let blocks = phi.chunks_mut(BLOCK * shape.features).zip(blocks).enumerate().collect();
    share(threads, blocks, |(block, (phi, buffers)): (_, (&mut [f32], Vec<_>))| {
        let mut buffers = buffers.into_iter();
        for member in 0..shape.members {
            let own = buffers.by_ref().take(widths.len()).collect();
            pass(&sizes, &parameters, &read, [block, member], own, phi);
        }
    });
    (phi, Tape { threads, read, rows, kept, keep })
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
    let (waves, u) = (buffers.next().expect("waves"), buffers.next().expect("u"));
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
    let mut h: &[f32] = u;
    for ([weight, bias], &[from, to]) in own.layers.iter().zip(&sizes.layers) {
        let left = MatRef::from_row_major_slice(h, rows, from);
        let weight = MatRef::from_row_major_slice(weight, from, to);
        let Some(next) = buffers.next() else {
            // The features stand among those of the other members.
            let phi = &mut phi[member * to..];
            product(strided(phi, rows, to, shape.features), left, weight);
            for row in phi.chunks_mut(shape.features) {
                row.iter_mut().zip(*bias).for_each(|(phi, bias)| *phi += bias);
            }
            break;
        };
        product(MatMut::from_row_major_slice_mut(next, rows, to), left, weight);
        add_bias_and_relu(next, bias);
        h = next;
    }
    if let Some(skip) = own.skip {
        let each = sizes.features();
        let phi = strided(&mut phi[member * each..], rows, each, shape.features);
        let (x, skip) =
            (MatRef::from_row_major_slice(x, rows, width), MatRef::from_row_major_slice(skip, width, each));
        matmul(phi, Accum::Add, x, skip, 1.0, Par::Seq);
    }
}

/// Where a member's numbers of the lower and the upper knot begin.
fn table_rows(sizes: &Sizes<'_>, member: usize, knot: &Knot) -> [usize; 2] {
    let (k, each) = (sizes.shape.members, sizes.shape.table_width);
    [knot.lower, knot.lower + 1].map(|row| (row * k + member) * each)
}

/// `[rows, columns]`, rows `stride` apart. faer 0.24's `from_row_major_slice_with_stride_mut` takes the stride for that of
/// the columns.
fn strided(slice: &mut [f32], rows: usize, columns: usize, stride: usize) -> MatMut<'_, f32> {
    MatMut::from_column_major_slice_with_stride_mut(slice, columns, rows, stride).transpose_mut()
}

/// `out = a b` on one thread.
fn product(out: MatMut<'_, f32>, a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
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

/// All of them, on so many threads. One thread alone does not ask the pool: it would wait there for others, and might be
/// given work that has nothing to do with this.
fn share<T: Send>(threads: usize, items: Vec<T>, work: impl Fn(T) + Send + Sync) {
    if items.len() < 2 || threads < 2 {
        items.into_iter().for_each(work);
    } else {
        items.into_par_iter().with_max_len(1).for_each(work);
    }
}

/// What a gradient is asked of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) parameters: bool,
    pub(super) x: bool,
}

/// Sets `gradient` to that of all parameters, and returns that of `x [N, width]`, from `d_phi [N, D]`; of what is not
/// asked for, nothing of any use.
pub(super) fn pull_back(
    shape: &MlpShape,
    parameters: &[f32],
    tape: &Tape,
    d_phi: &[f32],
    wanted: Wanted,
    gradient: &mut [f32],
) -> Vec<f32> {
    let (sizes, rows) = (Sizes::new(shape), tape.rows);
    let parameters = Parameters::new(&sizes, parameters);
    // Of u, what nobody asks for is left out.
    let reach = if wanted.x || !shape.tables.is_empty() { sizes.inputs } else { sizes.embedded };
    // What the ReLUs gave, and u: a gradient of each, `[N, …]`.
    let widths: Vec<usize> = std::iter::once(reach).chain(widths(&sizes)[2..].iter().copied()).collect();
    let buffers = || widths.iter().map(|width| vec![0.0; rows * width]).collect();
    let mut slopes: Vec<Vec<Vec<f32>>> = (0..shape.members).map(|_| buffers()).collect();
    let mut d_x = vec![0.0; if wanted.x { rows * shape.width } else { 0 }];
    let all = slopes.iter_mut().flat_map(|member| member.iter_mut().zip(widths.iter().copied()));
    let all: Vec<_> = all.chain([(&mut d_x, if wanted.x { shape.width } else { 0 })]).collect();
    share(
        tape.threads,
        by_blocks(all.into_iter(), rows).into_iter().enumerate().collect(),
        |(block, buffers): (usize, Vec<&mut [f32]>)| {
            let mut buffers = buffers.into_iter();
            let mut own: Vec<Vec<&mut [f32]>> =
                (0..shape.members).map(|_| buffers.by_ref().take(widths.len()).collect()).collect();
            let d_x = buffers.next().expect("that of x comes last");
            for (member, slopes) in own.iter_mut().enumerate() {
                let way = WayBack { sizes: &sizes, parameters: &parameters, tape, member };
                way.pass(block, d_phi, slopes, reach);
                if wanted.x {
                    way.to_x(block, d_phi, slopes[0], d_x);
                }
            }
        },
    );
    if wanted.parameters {
        let mut tasks = Vec::new();
        take_apart(&sizes, gradient, &mut tasks);
        share(tape.threads, tasks, |task| {
            let way = WayBack { sizes: &sizes, parameters: &parameters, tape, member: task.member };
            way.gradient(task.part, d_phi, &slopes, reach);
        });
    }
    d_x
}

/// A part of the gradient.
struct Task<'a> {
    member: usize,
    part: Part<'a>,
}

enum Part<'a> {
    /// Some rows of a layer's weight, from `row` on.
    Weight {
        layer: usize,
        row: usize,
        weight: &'a mut [f32],
    },
    Bias {
        layer: usize,
        bias: &'a mut [f32],
    },
    Column {
        column: usize,
        waves: Waves<&'a mut [f32]>,
    },
    Skip(&'a mut [f32]),
    /// Of all members.
    Tables(&'a mut [f32]),
}

/// Tasks for all parts of the gradient, in the order of the parameters.
fn take_apart<'a>(sizes: &Sizes<'_>, gradient: &'a mut [f32], tasks: &mut Vec<Task<'a>>) {
    let (k, columns, [f, e]) = (sizes.shape.members, sizes.shape.numeric, sizes.waves);
    let mut rest = gradient;
    let mut take = |len: usize| {
        let (part, others) = std::mem::take(&mut rest).split_at_mut(len);
        rest = others;
        part
    };
    let [frequency, map, offset] = [f, 2 * f * e, e].map(|each| take(k * columns * each));
    if f > 0 {
        let parts = frequency.chunks_exact_mut(f).zip(map.chunks_exact_mut(2 * f * e));
        for (index, ((frequency, map), offset)) in parts.zip(offset.chunks_exact_mut(e)).enumerate() {
            let (member, column) = (index / columns, index % columns);
            let waves = Waves { frequency, map, offset };
            tasks.push(Task { member, part: Part::Column { column, waves } });
        }
    }
    let tables = take(sizes.knots * k * sizes.shape.table_width);
    if !tables.is_empty() {
        tasks.push(Task { member: 0, part: Part::Tables(tables) });
    }
    for (layer, &[from, to]) in sizes.layers.iter().enumerate() {
        for (member, weight) in take(k * from * to).chunks_exact_mut(from * to).enumerate() {
            for (index, weight) in weight.chunks_mut(PIECE * to).enumerate() {
                tasks.push(Task { member, part: Part::Weight { layer, row: index * PIECE, weight } });
            }
        }
        for (member, bias) in take(k * to).chunks_exact_mut(to).enumerate() {
            tasks.push(Task { member, part: Part::Bias { layer, bias } });
        }
    }
    if sizes.shape.skip {
        let each = sizes.shape.width * sizes.features();
        for (member, skip) in take(k * each).chunks_exact_mut(each).enumerate() {
            tasks.push(Task { member, part: Part::Skip(skip) });
        }
    }
}

/// The way back through one member.
struct WayBack<'a> {
    sizes: &'a Sizes<'a>,
    parameters: &'a Parameters<'a>,
    tape: &'a Tape,
    member: usize,
}

impl WayBack<'_> {
    /// The member's columns of `d_phi`, from a row on.
    fn d_phi<'a>(&self, d_phi: &'a [f32], row: usize, rows: usize) -> MatRef<'a, f32> {
        let (all, each) = (self.sizes.shape.features, self.sizes.features());
        let d_phi = &d_phi[row * all + self.member * each..];
        MatRef::from_row_major_slice_with_stride(d_phi, rows, each, all)
    }

    /// One block of rows: gradients before each ReLU, and of the first `reach` numbers of u.
    fn pass(&self, block: usize, d_phi: &[f32], slopes: &mut [&mut [f32]], reach: usize) {
        let (sizes, kept) = (self.sizes, &self.tape.kept[self.member]);
        let row = block * BLOCK;
        let rows = BLOCK.min(self.tape.rows - row);
        let layers = self.parameters.members[self.member].layers.iter().zip(&sizes.layers);
        for (layer, (&[weight, _], &[from, to])) in layers.enumerate().rev() {
            let (before, after) = slopes.split_at_mut(layer + 1);
            let d = match after.first() {
                Some(d) => MatRef::from_row_major_slice(d, rows, to),
                None => self.d_phi(d_phi, row, rows),
            };
            let reach = if layer == 0 { reach } else { from };
            if reach > 0 {
                let out = MatMut::from_row_major_slice_mut(before[layer], rows, reach);
                product(out, d, MatRef::from_row_major_slice(&weight[..reach * to], reach, to).transpose());
            }
            if layer > 0 {
                relu_pull_back(&kept[layer + 1][row * from..][..rows * from], before[layer]);
            }
        }
        let (embedded, inputs, keep) = (sizes.embedded, sizes.inputs, self.tape.keep);
        if embedded > 0 {
            // Zero where the ReLU or dropout made it so.
            let u = &kept[1][row * inputs..][..rows * inputs];
            each(
                u.chunks_exact(inputs).zip(slopes[0].chunks_exact_mut(reach)),
                #[inline(always)]
                |(u, d)| {
                    for (d, &u) in d[..embedded].iter_mut().zip(u) {
                        *d *= if u > 0.0 { keep } else { 0.0 };
                    }
                },
            );
        }
    }

    /// Adds one block's gradient of x, once that of all of u is known.
    fn to_x(&self, block: usize, d_phi: &[f32], d_u: &[f32], d_x: &mut [f32]) {
        let (sizes, shape) = (self.sizes, self.sizes.shape);
        let own = &self.parameters.members[self.member];
        let (width, inputs, tables) = (shape.width, sizes.inputs, shape.tables.len());
        let row = block * BLOCK;
        let rows = d_x.len() / width;
        let knots = &self.tape.read.knots[row * tables..];
        for (index, (d_x, d_u)) in d_x.chunks_exact_mut(width).zip(d_u.chunks_exact(inputs)).enumerate() {
            d_x.iter_mut().zip(&d_u[sizes.embedded..]).for_each(|(d_x, d_u)| *d_x += d_u);
            let slopes = d_u[sizes.embedded + width..].chunks_exact(shape.table_width.max(1));
            for ((knot, table), d) in knots[index * tables..].iter().zip(&shape.tables).zip(slopes) {
                let [lower, upper] =
                    table_rows(sizes, self.member, knot).map(|start| &self.parameters.tables[start..]);
                let rise = d.iter().zip(lower).zip(upper).map(|((d, lower), upper)| d * (upper - lower));
                d_x[table.column] += knot.slope * rise.sum::<f32>();
            }
        }
        if let Some(skip) = own.skip {
            let d_x = MatMut::from_row_major_slice_mut(&mut *d_x, rows, width);
            let skip = MatRef::from_row_major_slice(skip, width, sizes.features()).transpose();
            matmul(d_x, Accum::Add, self.d_phi(d_phi, row, rows), skip, 1.0, Par::Seq);
        }
        for (column, waves) in own.columns.iter().enumerate() {
            let [at, waves_at, d_at] = sizes.column(column, inputs);
            let kept = &self.tape.kept[self.member][0][row * waves_at.stride..][..rows * waves_at.stride];
            waves.pull_back_to_x((kept, waves_at), (d_u, d_at), (d_x, at));
        }
    }

    /// One part of the gradient, once those before all ReLUs are known.
    fn gradient(&self, part: Part<'_>, d_phi: &[f32], slopes: &[Vec<Vec<f32>>], reach: usize) {
        let (sizes, shape, rows) = (self.sizes, self.sizes.shape, self.tape.rows);
        let (kept, own) = (&self.tape.kept[self.member], &slopes[self.member]);
        let x = &self.tape.read.x;
        match part {
            Part::Weight { layer, row, weight } => {
                let [from, to] = sizes.layers[layer];
                let count = weight.len() / to;
                let left =
                    MatRef::from_row_major_slice_with_stride(&kept[layer + 1][row..], rows, count, from);
                let d = match own.get(layer + 1) {
                    Some(d) => MatRef::from_row_major_slice(d, rows, to),
                    None => self.d_phi(d_phi, 0, rows),
                };
                product(MatMut::from_row_major_slice_mut(weight, count, to), left.transpose(), d);
            }
            Part::Bias { layer, bias } => {
                bias.fill(0.0);
                match own.get(layer + 1) {
                    Some(d) => add_rows(d, bias.len(), bias),
                    None => add_rows(&d_phi[self.member * bias.len()..], shape.features, bias),
                }
            }
            Part::Column { column, waves } => {
                let [at, waves_at, d_at] = sizes.column(column, reach);
                let parameters = &self.parameters.members[self.member].columns[column];
                parameters.pull_back((x, at), (&kept[0], waves_at), (&own[0], d_at), waves);
            }
            Part::Skip(skip) => {
                let out = MatMut::from_row_major_slice_mut(skip, shape.width, sizes.features());
                let x = MatRef::from_row_major_slice(x, rows, shape.width);
                product(out, x.transpose(), self.d_phi(d_phi, 0, rows));
            }
            Part::Tables(tables) => {
                tables.fill(0.0);
                let (start, count) = (sizes.embedded + shape.width, shape.tables.len());
                for (member, slopes) in slopes.iter().enumerate() {
                    for (knots, d_u) in
                        self.tape.read.knots.chunks_exact(count).zip(slopes[0].chunks_exact(reach))
                    {
                        for (knot, d) in knots.iter().zip(d_u[start..].chunks_exact(shape.table_width)) {
                            let [lower, upper] = table_rows(sizes, member, knot);
                            for (index, d) in d.iter().enumerate() {
                                tables[lower + index] += d * (1.0 - knot.share);
                                tables[upper + index] += d * knot.share;
                            }
                        }
                    }
                }
            }
        }
    }
}
