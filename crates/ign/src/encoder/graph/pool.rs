//! Maximum, mean or sum of rows over bags of any size, forward and backward, as one operation of burn.
//!
//! ```text
//! out_s = pool { h_i : i ∈ bag s }        h [K, n, W] → out [K, S, W], for every k alike; an empty bag gives 0
//! max      ∂h_i = Σ_s ∂out_s [i is the maximum of bag s]      by column; of equal rows the first
//! mean     ∂h_i = Σ_{s ∋ i} ∂out_s / |bag s|
//! sum      ∂h_i = Σ_{s ∋ i} ∂out_s
//! ```
//! Both directions gather: a thread writes rows of its own, each summed in the order of the bags, hence the same bytes
//! for any number of threads. O(K W Σ|bag|).

use crate::encoder::tensors::from_shape;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Rows that a thread takes at a time.
const BLOCK: usize = 64;

/// What becomes of a bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The largest of each column.
    Max,
    /// The mean.
    Mean,
    /// The sum.
    Sum,
}

/// Bags of rows in compressed form, and the same read from the rows' side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bags {
    starts: Vec<usize>,      // [S + 1], into members
    members: Vec<u32>,       // rows
    row_starts: Vec<usize>,  // [n + 1], into places
    places: Vec<(u32, u32)>, // (bag, index into members), in the order of the bags
}

impl Bags {
    /// Bag s holds the rows `members[starts[s]..starts[s + 1]]` of `rows`.
    ///
    /// # Panics
    /// When a start or a member lies outside, or starts descend.
    pub fn new(starts: Vec<usize>, members: Vec<u32>, rows: usize) -> Self {
        assert!(
            starts.first() == Some(&0) && starts.last() == Some(&members.len()),
            "bags cover the members"
        );
        assert!(starts.is_sorted() && u32::try_from(members.len()).is_ok(), "bags follow one another");
        let mut row_starts = vec![0; rows + 1];
        members.iter().for_each(|&row| row_starts[row as usize + 1] += 1);
        (0..rows).for_each(|row| row_starts[row + 1] += row_starts[row]);
        let mut free = row_starts.clone();
        let mut places = vec![(0, 0); members.len()];
        for (bag, range) in starts.windows(2).enumerate() {
            for index in range[0]..range[1] {
                let place = &mut free[members[index] as usize];
                places[*place] = (bag as u32, index as u32);
                *place += 1;
            }
        }
        Self { starts, members, row_starts, places }
    }

    /// Bags of consecutive rows.
    pub fn consecutive(starts: Vec<usize>) -> Self {
        let rows = starts.last().copied().unwrap_or(0);
        Self::new(starts, (0..rows as u32).collect(), rows)
    }

    /// S
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no bag.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// n
    pub fn rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    fn size(&self, bag: usize) -> usize {
        self.starts[bag + 1] - self.starts[bag]
    }
}

/// `h [K, n, W]` pooled over the bags of its rows: `[K, S, W]`. Differentiable in `h`.
///
/// # Panics
/// When `h` has another number of rows than the bags.
pub(super) fn pool(h: Tensor<3>, bags: &Arc<Bags>, pooling: Pooling) -> Tensor<3> {
    assert_eq!(h.dims()[1], bags.rows(), "rows of h [K, n, W]");
    let pooled = <Dispatch as PoolOps>::pool(h.into_dispatch(), Arc::clone(bags), pooling);
    Tensor::from_dispatch(pooled)
}

/// Row-major `[K, S, W]` for sizes `[K, W]`, and for the maximum which member of its bag each number comes from.
pub(super) fn forward(
    h: &[f32],
    [networks, width]: [usize; 2],
    bags: &Bags,
    pooling: Pooling,
) -> (Vec<f32>, Vec<u32>) {
    let (s, n) = (bags.len(), bags.rows());
    let mut out = vec![0.0; networks * s * width];
    let mut choice = vec![0; if pooling == Pooling::Max { out.len() } else { 0 }];
    let pool_row = |row: usize, out: &mut [f32], choice: &mut [u32]| {
        let (network, bag) = (row / s, row % s);
        let h = &h[network * n * width..(network + 1) * n * width];
        for index in bags.starts[bag]..bags.starts[bag + 1] {
            let h = &h[bags.members[index] as usize * width..][..width];
            if pooling != Pooling::Max {
                out.iter_mut().zip(h).for_each(|(out, h)| *out += h);
            } else if index == bags.starts[bag] {
                out.copy_from_slice(h);
                choice.fill(index as u32);
            } else {
                for ((out, choice), &h) in out.iter_mut().zip(choice.iter_mut()).zip(h) {
                    // Selection without a branch, so that it becomes vector code.
                    let larger = h > *out;
                    *out = if larger { h } else { *out };
                    *choice = if larger { index as u32 } else { *choice };
                }
            }
        }
        if pooling == Pooling::Mean && bags.size(bag) > 0 {
            let share = 1.0 / bags.size(bag) as f32;
            out.iter_mut().for_each(|out| *out *= share);
        }
    };
    if pooling == Pooling::Max {
        let blocks = out.par_chunks_mut(BLOCK * width).zip(choice.par_chunks_mut(BLOCK * width));
        blocks.enumerate().for_each(|(block, (out, choice))| {
            let rows = out.chunks_exact_mut(width).zip(choice.chunks_exact_mut(width));
            rows.enumerate().for_each(|(row, (out, choice))| pool_row(block * BLOCK + row, out, choice));
        });
    } else {
        out.par_chunks_mut(BLOCK * width).enumerate().for_each(|(block, out)| {
            let rows = out.chunks_exact_mut(width).enumerate();
            rows.for_each(|(row, out)| pool_row(block * BLOCK + row, out, &mut []));
        });
    }
    (out, choice)
}

/// `d_h [K, n, W]` from `d_out [K, S, W]`.
pub(super) fn pull_back(
    d_out: &[f32],
    [networks, width]: [usize; 2],
    bags: &Bags,
    pooling: Pooling,
    choice: &[u32],
) -> Vec<f32> {
    let (s, n) = (bags.len(), bags.rows());
    let mut d_h = vec![0.0; networks * n * width];
    d_h.par_chunks_mut(BLOCK * width).enumerate().for_each(|(block, d_h)| {
        for (row, d_h) in d_h.chunks_exact_mut(width).enumerate() {
            let (network, row) = ((block * BLOCK + row) / n, (block * BLOCK + row) % n);
            for &(bag, index) in &bags.places[bags.row_starts[row]..bags.row_starts[row + 1]] {
                let from = (network * s + bag as usize) * width;
                let d_out = &d_out[from..from + width];
                match pooling {
                    Pooling::Sum => d_h.iter_mut().zip(d_out).for_each(|(d_h, d)| *d_h += d),
                    Pooling::Mean => {
                        let share = 1.0 / bags.size(bag as usize) as f32;
                        d_h.iter_mut().zip(d_out).for_each(|(d_h, d)| *d_h += share * d);
                    }
                    Pooling::Max => {
                        let chosen = &choice[from..from + width];
                        for ((d_h, d), &chosen) in d_h.iter_mut().zip(d_out).zip(chosen) {
                            *d_h += if chosen == index { *d } else { 0.0 };
                        }
                    }
                }
            }
        }
    });
    d_h
}

/// Pooling as one operation of burn.
#[backend_extension(Flex, Autodiff)]
pub trait PoolOps: Backend {
    /// `h [K, n, W]` over the bags of its rows: `[K, S, W]`.
    fn pool(h: FloatTensor<Self>, bags: Arc<Bags>, pooling: Pooling) -> FloatTensor<Self>;
}

impl PoolOps for Flex {
    fn pool(h: FloatTensor<Self>, bags: Arc<Bags>, pooling: Pooling) -> FloatTensor<Self> {
        let (h, sizes) = to_vec(h);
        from_vec(forward(&h, sizes, &bags, pooling).0, sizes, bags.len())
    }
}

impl<C: CheckpointStrategy> PoolOps for Autodiff<Flex, C> {
    fn pool(h: FloatTensor<Self>, bags: Arc<Bags>, pooling: Pooling) -> FloatTensor<Self> {
        match PullBack.prepare::<C>([h.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let (h, sizes) = to_vec(h.into_primitive());
                let (out, choice) = forward(&h, sizes, &bags, pooling);
                let out = from_vec(out, sizes, bags.len());
                prepared.finish(Arc::new(Tape { bags, pooling, choice }), out)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::pool(h.into_primitive(), bags, pooling)),
        }
    }
}

/// What the backward pass needs.
#[derive(Debug)]
struct Tape {
    bags: Arc<Bags>,
    pooling: Pooling,
    choice: Vec<u32>,
}

/// From ∂out to ∂h.
#[derive(Debug)]
struct PullBack;

impl Backward<Flex, 1> for PullBack {
    type State = Arc<Tape>;

    fn backward(self, ops: Ops<Arc<Tape>, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let Tape { bags, pooling, choice } = &*ops.state;
        unary::<Flex, _>(ops.parents, ops.node, grads, |d_out| {
            let (d_out, sizes) = to_vec(d_out);
            from_vec(pull_back(&d_out, sizes, bags, *pooling, choice), sizes, bags.rows())
        });
    }
}

/// Values of `[K, rows, W]` with K and W.
fn to_vec(tensor: FloatTensor<Flex>) -> (Vec<f32>, [usize; 2]) {
    let data = tensor.to_contiguous().into_data();
    let sizes = [data.shape()[0], data.shape()[2]];
    (data.try_into_vec().expect("the encoder computes in f32"), sizes)
}

fn from_vec(values: Vec<f32>, [networks, width]: [usize; 2], rows: usize) -> FloatTensor<Flex> {
    from_shape(values, [networks, rows, width])
}
