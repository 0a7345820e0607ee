//! Softmax attention of one text, head by head, with its `pull_back` beneath it.
//!
//! ```text
//! S = s Q Kᵀ    P = softmax(S)  by rows    O = P V          s = 1/√d;   Q, K, V, O  [L, d] of one head
//! D = Σ_c dO ∘ O  [L]    dV = Pᵀ dO    dS = s P ∘ (dO Vᵀ − D)    dQ = dS K    dK = dSᵀ Q
//! ```
//! A strip of queries at a time: its scores stay in the first cache and `[L, L]` never exists. The backward pass makes
//! them anew from the maxima and sums of the forward pass (Dao et al. 2022, algorithm 4).
//! Keys lie transposed, padded to whole vectors; a padded score is −∞ and its probability an exact zero.

use super::product::{Left, Start, View, product};
use gp::Real;

/// Queries that pass together.
const STRIP: usize = 16;
/// Floats to which keys are padded: the widest vector.
const LANES: usize = 16;

/// Largest score of a query and 1 / Σ exp of its scores.
pub(super) type Softmax = [f32; 2];

/// Sizes of one text's attention.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    /// W, a multiple of `heads`.
    pub(super) width: usize,
    /// H
    pub(super) heads: usize,
}

/// Buffers that all texts of a block share.
#[derive(Debug, Default)]
pub(super) struct Space {
    keys: Vec<f32>,   // [d, padded]
    values: Vec<f32>, // [d, padded]
    d_keys: Vec<f32>,
    d_values: Vec<f32>,
    scores: Vec<f32>,   // [STRIP, padded]
    d_scores: Vec<f32>, // [STRIP, padded]
}

impl Heads {
    fn dim(&self) -> usize {
        self.width / self.heads
    }

    fn scale(&self) -> f32 {
        1.0 / (self.dim() as f32).sqrt()
    }

    /// `out [L, W]` and the softmaxes `[H, L]` of `qkv [L, 3W]`: queries, keys and values, in each head after head.
    pub(super) fn forward(&self, qkv: &[f32], out: &mut [f32], softmax: &mut [Softmax], space: &mut Space) {
        let (w, d) = (self.width, self.dim());
        let length = out.len() / w;
        let padded = length.next_multiple_of(LANES);
        space.scores.resize(STRIP * padded, 0.0);
        for (head, softmax) in softmax.chunks_exact_mut(length).enumerate() {
            let [q, k, v] = [0, 1, 2].map(|part| part * w + head * d);
            transpose(&qkv[k..], 3 * w, [length, d], padded, &mut space.keys);
            for (strip, softmax) in softmax.chunks_mut(STRIP).enumerate() {
                let (first, rows) = (strip * STRIP, softmax.len());
                let queries = Left::Plain(View::new(&qkv[first * 3 * w + q..], 3 * w));
                let scores = &mut space.scores[..rows * padded];
                let keys = View::new(&space.keys, padded);
                product((scores, padded), [rows, d, padded], Start::Zero, queries, keys);
                exponentials(scores, padded, length, self.scale(), softmax);
                let out = &mut out[first * w + head * d..];
                let probabilities = Left::Plain(View::new(scores, padded));
                product((out, w), [rows, length, d], Start::Zero, probabilities, View::new(&qkv[v..], 3 * w));
                for (row, &[_, inverse]) in out.chunks_mut(w).zip(softmax.iter()) {
                    row[..d].iter_mut().for_each(|x| *x *= inverse);
                }
            }
        }
    }

    /// `d_qkv [L, 3W]` from `d_out [L, W]`.
    pub(super) fn pull_back(
        &self,
        (qkv, out, softmax): (&[f32], &[f32], &[Softmax]),
        d_out: &[f32],
        d_qkv: &mut [f32],
        space: &mut Space,
    ) {
        let (w, d) = (self.width, self.dim());
        let length = out.len() / w;
        let padded = length.next_multiple_of(LANES);
        space.scores.resize(STRIP * padded, 0.0);
        space.d_scores.resize(STRIP * padded, 0.0);
        for (head, softmax) in softmax.chunks_exact(length).enumerate() {
            let [q, k, v] = [0, 1, 2].map(|part| part * w + head * d);
            transpose(&qkv[k..], 3 * w, [length, d], padded, &mut space.keys);
            transpose(&qkv[v..], 3 * w, [length, d], padded, &mut space.values);
            for sums in [&mut space.d_keys, &mut space.d_values] {
                sums.clear();
                sums.resize(d * padded, 0.0);
            }
            for (strip, softmax) in softmax.chunks(STRIP).enumerate() {
                let (first, rows) = (strip * STRIP, softmax.len());
                let queries = View::new(&qkv[first * 3 * w + q..], 3 * w);
                let (out, d_out) = (&out[first * w + head * d..], &d_out[first * w + head * d..]);
                let scores = &mut space.scores[..rows * padded];
                let d_scores = &mut space.d_scores[..rows * padded];
                let (keys, values) = (View::new(&space.keys, padded), View::new(&space.values, padded));
                let d_rows = View::new(d_out, w);
                product((scores, padded), [rows, d, padded], Start::Zero, Left::Plain(queries), keys);
                product((d_scores, padded), [rows, d, padded], Start::Zero, Left::Plain(d_rows), values);
                let delta = |row: usize| {
                    let [out, d_out] = [out, d_out].map(|x| &x[row * w..][..d]);
                    out.iter().zip(d_out).map(|(o, d)| o * d).sum::<f32>()
                };
                let deltas: [f32; STRIP] =
                    std::array::from_fn(|row| if row < rows { delta(row) } else { 0.0 });
                slopes((scores, d_scores), padded, length, self.scale(), softmax, &deltas);
                let (scores, d_scores) = (View::new(scores, padded), View::new(d_scores, padded));
                let d_queries = &mut d_qkv[first * 3 * w + q..];
                let keys = View::new(&qkv[k..], 3 * w);
                product((d_queries, 3 * w), [rows, length, d], Start::Zero, Left::Plain(d_scores), keys);
                let sizes = [d, rows, padded];
                let (queries, d_rows) = (Left::Transposed(queries), Left::Transposed(d_rows));
                product((&mut space.d_keys, padded), sizes, Start::Output, queries, d_scores);
                product((&mut space.d_values, padded), sizes, Start::Output, d_rows, scores);
            }
            for (row, d_row) in d_qkv.chunks_exact_mut(3 * w).enumerate() {
                for c in 0..d {
                    d_row[k + c] = space.d_keys[c * padded + row];
                    d_row[v + c] = space.d_values[c * padded + row];
                }
            }
        }
    }
}

/// `[L, d]`, rows `stride` apart, as `[d, padded]` with zeros behind.
fn transpose(x: &[f32], stride: usize, [length, d]: [usize; 2], padded: usize, out: &mut Vec<f32>) {
    out.clear();
    out.resize(d * padded, 0.0);
    for (row, x) in x.chunks(stride).take(length).enumerate() {
        for (c, &x) in x[..d].iter().enumerate() {
            out[c * padded + row] = x;
        }
    }
}

/// Replaces scores by `exp(s (score − max))` and notes the maximum and 1 / the sum of each row.
fn exponentials(scores: &mut [f32], padded: usize, length: usize, scale: f32, softmax: &mut [Softmax]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (row, softmax) in scores.chunks_exact_mut(padded).zip(softmax) {
                row[length..].fill(f32::NEG_INFINITY);
                let (vectors, _) = row.as_chunks_mut::<LANES>();
                let mut largest = [f32::NEG_INFINITY; LANES];
                for vector in vectors.iter() {
                    for lane in 0..LANES {
                        largest[lane] =
                            if vector[lane] > largest[lane] { vector[lane] } else { largest[lane] };
                    }
                }
                let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
                let mut sums = [0.0; LANES];
                for vector in vectors {
                    for lane in 0..LANES {
                        vector[lane] = f32::exp_of_negative(scale * (vector[lane] - largest));
                        sums[lane] += vector[lane];
                    }
                }
                *softmax = [largest, 1.0 / sums.iter().sum::<f32>()];
            }
        },
    );
}

/// Replaces scores by probabilities and `d_scores` (∂P) by `s P ∘ (∂P − D)`.
fn slopes(
    (scores, d_scores): (&mut [f32], &mut [f32]),
    padded: usize,
    length: usize,
    scale: f32,
    softmax: &[Softmax],
    deltas: &[f32; STRIP],
) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let rows = scores.chunks_exact_mut(padded).zip(d_scores.chunks_exact_mut(padded));
            for ((row, d_row), (&[largest, inverse], &delta)) in rows.zip(softmax.iter().zip(deltas)) {
                row[length..].fill(f32::NEG_INFINITY);
                let (vectors, d_vectors) = (row.as_chunks_mut::<LANES>().0, d_row.as_chunks_mut::<LANES>().0);
                for (p, d) in vectors.iter_mut().zip(d_vectors) {
                    for lane in 0..LANES {
                        p[lane] = inverse * f32::exp_of_negative(scale * (p[lane] - largest));
                        d[lane] = scale * p[lane] * (d[lane] - delta);
                    }
                }
            }
        },
    );
}
