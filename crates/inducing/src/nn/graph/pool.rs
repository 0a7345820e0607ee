//! Maximum, mean or sum of rows over bags of any size, forward and backward.
//!
//! ```text
//! out_s = pool { h_i : i ∈ bag s }        h [K, n, W] → out [K, S, W], for every k alike; an empty bag gives 0
//! max      ∂h_i = Σ_s ∂out_s [i is the maximum of bag s]      by column; of equal rows the first
//! mean     ∂h_i = Σ_{s ∋ i} ∂out_s / |bag s|
//! sum      ∂h_i = Σ_{s ∋ i} ∂out_s
//! ```
//! Both directions gather: each output row is written by one thread and summed in the order of the bags, hence the same
//! bytes for any number of threads. O(K W Σ|bag|).

use super::threads::{BLOCK, share};
use linalg::simd::each;
use serde::{Deserialize, Serialize};

/// Columns whose maximum is taken at once.
const LANES: usize = 16;

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

/// Bags of rows in compressed form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bags {
    starts: Vec<usize>, // [S + 1], into members
    members: Vec<u32>,  // rows
    rows: usize,        // n
}

/// The same bags read from the rows' side: what the backward pass needs.
#[derive(Debug)]
pub(super) struct Transposed {
    starts: Vec<usize>,      // [n + 1], into places
    places: Vec<(u32, u32)>, // (bag, index into members), in the order of the bags
}

impl Bags {
    /// Bag s holds the rows `members[starts[s]..starts[s + 1]]` of `rows`; none of the three is above 2³².
    pub(super) fn new(starts: Vec<usize>, members: Vec<u32>, rows: usize) -> Self {
        debug_assert!(starts.is_sorted() && starts.last() == Some(&members.len()), "bags cover the members");
        Self { starts, members, rows }
    }

    /// Bags of consecutive rows.
    pub(super) fn consecutive(starts: Vec<usize>) -> Self {
        let rows = starts.last().copied().unwrap_or(0);
        Self::new(starts, (0..rows as u32).collect(), rows)
    }

    /// S
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// For each row the bags that it is in: O(n + Σ|bag|).
    pub(super) fn transpose(&self) -> Transposed {
        let mut starts = vec![0; self.rows + 1];
        self.members.iter().for_each(|&row| starts[row as usize + 1] += 1);
        (0..self.rows).for_each(|row| starts[row + 1] += starts[row]);
        let mut free = starts.clone();
        let mut places = vec![(0, 0); self.members.len()];
        for (bag, range) in self.starts.windows(2).enumerate() {
            for index in range[0]..range[1] {
                let place = &mut free[self.members[index] as usize];
                places[*place] = (bag as u32, index as u32);
                *place += 1;
            }
        }
        Transposed { starts, places }
    }

    fn size(&self, bag: usize) -> usize {
        self.starts[bag + 1] - self.starts[bag]
    }
}

/// `h [K, n, W]`, for sizes `[K, W]`, pooled over the bags of its rows: `[K, S, W]`, and for the maximum which member of
/// its bag each number comes from.
pub(super) fn forward(
    h: &[f32],
    [networks, width]: [usize; 2],
    bags: &Bags,
    pooling: Pooling,
) -> (Vec<f32>, Vec<u32>) {
    let (s, n) = (bags.len(), bags.rows);
    let mut out = vec![0.0; networks * s * width];
    let mut argmax = vec![0; if pooling == Pooling::Max { out.len() } else { 0 }];
    let mut choices = argmax.chunks_mut(BLOCK * width);
    let blocks = out.chunks_mut(BLOCK * width).map(|out| (out, choices.next().unwrap_or_default()));
    share(blocks.enumerate().collect(), |(block, (out, argmax)): (usize, (&mut [f32], &mut [u32]))| {
        let mut choices = argmax.chunks_exact_mut(width);
        let rows = out.chunks_exact_mut(width).map(|out| (out, choices.next().unwrap_or_default()));
        each(
            rows.enumerate(),
            #[inline(always)]
            |(row, (out, argmax))| {
                let (network, bag) = ((block * BLOCK + row) / s, (block * BLOCK + row) % s);
                pool_row(&h[network * n * width..][..n * width], bag, bags, pooling, out, argmax);
            },
        );
    });
    (out, argmax)
}

/// One bag of one network.
#[inline(always)]
fn pool_row(h: &[f32], bag: usize, bags: &Bags, pooling: Pooling, out: &mut [f32], argmax: &mut [u32]) {
    let (width, start) = (out.len(), bags.starts[bag]);
    let members = &bags.members[start..bags.starts[bag + 1]];
    if members.is_empty() {
        return;
    }
    if pooling == Pooling::Max {
        let ((out, out_rest), (argmax, argmax_rest)) =
            (out.as_chunks_mut::<LANES>(), argmax.as_chunks_mut::<LANES>());
        let mut column = 0;
        for (out, argmax) in out.iter_mut().zip(argmax) {
            max_columns(&h[column..], width, (members, start), out, argmax);
            column += LANES;
        }
        for (out, argmax) in out_rest.iter_mut().zip(argmax_rest) {
            let (out, argmax) = (std::array::from_mut(out), std::array::from_mut(argmax));
            max_columns(&h[column..], width, (members, start), out, argmax);
            column += 1;
        }
        return;
    }
    for &row in members {
        let h = &h[row as usize * width..][..width];
        out.iter_mut().zip(h).for_each(|(out, h)| *out += h);
    }
    if pooling == Pooling::Mean {
        let share = 1.0 / members.len() as f32;
        out.iter_mut().for_each(|out| *out *= share);
    }
}

/// Maximum of `L` columns and where it stands. In arrays of constant length both stay in registers: with slices in memory
/// the compiler made no vector code, and a maximum took six times as long as a sum.
#[inline(always)]
fn max_columns<const L: usize>(
    h: &[f32],
    width: usize,
    (members, start): (&[u32], usize),
    out: &mut [f32; L],
    argmax: &mut [u32; L],
) {
    let columns = |row: u32| h[row as usize * width..].first_chunk::<L>().expect("columns of the row");
    let (mut largest, mut at) = (*columns(members[0]), [start as u32; L]);
    for (index, &row) in members.iter().enumerate().skip(1) {
        let h = columns(row);
        for l in 0..L {
            let larger = h[l] > largest[l];
            largest[l] = if larger { h[l] } else { largest[l] };
            at[l] = if larger { (start + index) as u32 } else { at[l] };
        }
    }
    (*out, *argmax) = (largest, at);
}

/// Adds to `d_h [K, n, W]` what `d_out [K, S, W]` gives back.
pub(super) fn pull_back(
    d_out: &[f32],
    width: usize,
    (bags, transposed): (&Bags, &Transposed),
    (pooling, argmax): (Pooling, &[u32]),
    d_h: &mut [f32],
) {
    let (s, n) = (bags.len(), bags.rows);
    let blocks = d_h.chunks_mut(BLOCK * width).enumerate().collect();
    share(blocks, |(block, d_h): (usize, &mut [f32])| {
        each(
            d_h.chunks_exact_mut(width).enumerate(),
            #[inline(always)]
            |(row, d_h)| {
                let (network, row) = ((block * BLOCK + row) / n, (block * BLOCK + row) % n);
                for &(bag, index) in &transposed.places[transposed.starts[row]..transposed.starts[row + 1]] {
                    let from = (network * s + bag as usize) * width;
                    let d_out = &d_out[from..from + width];
                    match pooling {
                        Pooling::Sum => d_h.iter_mut().zip(d_out).for_each(|(d_h, d)| *d_h += d),
                        Pooling::Mean => {
                            let share = 1.0 / bags.size(bag as usize) as f32;
                            d_h.iter_mut().zip(d_out).for_each(|(d_h, d)| *d_h += share * d);
                        }
                        Pooling::Max => {
                            let argmax = &argmax[from..from + width];
                            for ((d_h, d), &argmax) in d_h.iter_mut().zip(d_out).zip(argmax) {
                                *d_h += if argmax == index { *d } else { 0.0 };
                            }
                        }
                    }
                }
            },
        );
    });
}
