//! The network backward: from ∂Φ to the gradients of the parameters and of x.

use super::Mlp;
use super::forward::{BLOCK, Parameters, Sizes, Tape, by_blocks, share, table_rows, widths};
use super::periodic::Waves;
use linalg::gemm::{Plus, product};
use linalg::simd::{add_rows, each, relu_pull_back};
use linalg::{MatMut, MatRef};

/// Rows of a weight whose gradient is one product.
const PIECE: usize = 256;

/// Sets `d_theta` to the gradient of all parameters, unless it is empty, and `d_x [N, width]` where that is asked for,
/// from `d_phi [N, D]`.
pub(super) fn pull_back(
    mlp: &Mlp,
    theta: &[f32],
    tape: &Tape,
    d_phi: &[f32],
    d_theta: &mut [f32],
    d_x: Option<&mut [f32]>,
) {
    let shape = &mlp.shape;
    let (sizes, rows) = (Sizes::new(shape), tape.rows);
    if rows == 0 {
        return d_theta.fill(0.0);
    }
    let parameters = Parameters::new(mlp, theta);
    let wants_x = d_x.is_some();
    let d_x = d_x.unwrap_or(&mut []);
    d_x.fill(0.0);
    // Of u, what nobody asks for is left out.
    let reach = if wants_x || !shape.tables.is_empty() { sizes.inputs } else { sizes.embedded };
    // What the ReLUs gave, and u: a gradient of each, `[N, …]`.
    let widths: Vec<usize> = std::iter::once(reach).chain(widths(&sizes)[2..].iter().copied()).collect();
    let buffers = || widths.iter().map(|width| vec![0.0; rows * width]).collect();
    let mut slopes: Vec<Vec<Vec<f32>>> = (0..shape.members).map(|_| buffers()).collect();
    let all = slopes.iter_mut().flatten().map(|buffer| &mut buffer[..]);
    let all = all.zip(widths.iter().copied().cycle());
    let all: Vec<_> = all.chain([(d_x, if wants_x { shape.width } else { 0 })]).collect();
    share(
        by_blocks(all.into_iter(), rows).into_iter().enumerate().collect(),
        |(block, buffers): (usize, Vec<&mut [f32]>)| {
            let mut buffers = buffers.into_iter();
            let mut own: Vec<Vec<&mut [f32]>> =
                (0..shape.members).map(|_| buffers.by_ref().take(widths.len()).collect()).collect();
            let d_x = buffers.next().expect("that of x comes last");
            for (member, slopes) in own.iter_mut().enumerate() {
                let member = MemberBackward { sizes: &sizes, parameters: &parameters, tape, member };
                member.pass(block, d_phi, slopes, reach);
                if wants_x {
                    member.to_x(block, d_phi, slopes[0], d_x);
                }
            }
        },
    );
    if !d_theta.is_empty() {
        share(tasks(mlp, &sizes, d_theta), |task| {
            let member = MemberBackward { sizes: &sizes, parameters: &parameters, tape, member: task.member };
            member.gradient(task.part, d_phi, &slopes, reach);
        });
    }
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

/// Tasks for all parts of the gradient.
fn tasks<'a>(mlp: &Mlp, sizes: &Sizes<'_>, d_theta: &'a mut [f32]) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    let (k, columns, [f, e]) = (sizes.shape.members, sizes.shape.numeric, sizes.waves);
    let mut pieces = mlp.layout.pieces(d_theta);
    if let Some(periodic) = mlp.params.periodic {
        let [frequency, map, offset] =
            [periodic.frequency, periodic.map, periodic.offset].map(|param| pieces.take(param));
        let parts = frequency.chunks_exact_mut(f).zip(map.chunks_exact_mut(2 * f * e));
        for (index, ((frequency, map), offset)) in parts.zip(offset.chunks_exact_mut(e)).enumerate() {
            let (member, column) = (index / columns, index % columns);
            let waves = Waves { frequency, map, offset };
            tasks.push(Task { member, part: Part::Column { column, waves } });
        }
    }
    if let Some(tables) = mlp.params.tables {
        tasks.push(Task { member: 0, part: Part::Tables(pieces.take(tables)) });
    }
    for (layer, ([weight, bias], &[from, to])) in mlp.params.layers.iter().zip(&sizes.layers).enumerate() {
        for (member, weight) in pieces.take(*weight).chunks_exact_mut(from * to).enumerate() {
            for (index, weight) in weight.chunks_mut(PIECE * to).enumerate() {
                tasks.push(Task { member, part: Part::Weight { layer, row: index * PIECE, weight } });
            }
        }
        for (member, bias) in pieces.take(*bias).chunks_exact_mut(to).enumerate() {
            tasks.push(Task { member, part: Part::Bias { layer, bias } });
        }
    }
    if let Some(skip) = mlp.params.skip {
        let skip = pieces.take(skip);
        let each = skip.len() / k;
        for (member, skip) in skip.chunks_exact_mut(each).enumerate() {
            tasks.push(Task { member, part: Part::Skip(skip) });
        }
    }
    tasks
}

/// The gradients of one member.
struct MemberBackward<'a> {
    sizes: &'a Sizes<'a>,
    parameters: &'a Parameters<'a>,
    tape: &'a Tape,
    member: usize,
}

impl MemberBackward<'_> {
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
                let weight = MatRef::from_row_major_slice(&weight[..reach * to], reach, to);
                product(out, Plus::Nothing, d, weight.transpose(), 1.0);
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
        let knots = &self.tape.knots[row * tables..];
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
            product(d_x, Plus::Out, self.d_phi(d_phi, row, rows), skip, 1.0);
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
        let x = &self.tape.x;
        match part {
            Part::Weight { layer, row, weight } => {
                let [from, to] = sizes.layers[layer];
                let count = weight.len() / to;
                let given = if layer == 0 && sizes.plain() { x } else { &kept[layer + 1] };
                let left = MatRef::from_row_major_slice_with_stride(&given[row..], rows, count, from);
                let d = match own.get(layer + 1) {
                    Some(d) => MatRef::from_row_major_slice(d, rows, to),
                    None => self.d_phi(d_phi, 0, rows),
                };
                let out = MatMut::from_row_major_slice_mut(weight, count, to);
                product(out, Plus::Nothing, left.transpose(), d, 1.0);
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
                product(out, Plus::Nothing, x.transpose(), self.d_phi(d_phi, 0, rows), 1.0);
            }
            Part::Tables(tables) => {
                tables.fill(0.0);
                let (start, count) = (sizes.embedded + shape.width, shape.tables.len());
                for (member, slopes) in slopes.iter().enumerate() {
                    for (knots, d_u) in self.tape.knots.chunks_exact(count).zip(slopes[0].chunks_exact(reach))
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
