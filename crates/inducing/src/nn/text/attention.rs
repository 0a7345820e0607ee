//! Softmax attention of one text, head by head, with its `pull_back` beneath it.
//!
//! ```text
//! S = s Q Kᵀ    P = softmax(S)  by rows    O = P V          s = 1/√d;   Q, K, V, O  [L, d] of one head
//! D = Σ_c dO ∘ O  [L]    dV = Pᵀ dO    dS = s P ∘ (dO Vᵀ − D)    dQ = dS K    dK = dSᵀ Q
//! ```
//! A strip of queries at a time, each query in a lane of its own: the scores of a strip stay in the first cache, `[L, L]`
//! never exists, and maxima and sums need no look across a vector. The backward pass makes the scores anew from the
//! maxima and sums of the forward pass (Dao et al. 2022, algorithm 4).

use linalg::gemm::thin::{Left, Start, View, product};
use linalg::simd::{dot, exp_of_negative};
use pulp::{Arch, Simd, WithSimd};

/// Queries that pass together.
const STRIP: usize = 32;
/// Queries are padded to whole vectors, of the widest kind; what is computed for the padding goes nowhere.
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
    queries: Vec<f32>,  // [d, columns]  Qᵀ of a strip
    out: Vec<f32>,      // [d, columns]  Oᵀ, or ∂Oᵀ
    scores: Vec<f32>,   // [L, columns]  Sᵀ, then Pᵀ
    d_scores: Vec<f32>, // [L, columns]
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
        let scale = self.scale();
        for (head, softmax) in softmax.chunks_exact_mut(length).enumerate() {
            let [q, k, v] = [0, 1, 2].map(|part| part * w + head * d);
            for (strip, softmax) in softmax.chunks_mut(STRIP).enumerate() {
                let (first, rows) = (strip * STRIP, softmax.len());
                let columns = rows.next_multiple_of(LANES);
                let queries = &qkv[first * 3 * w + q..];
                transpose(queries, 3 * w, [rows, d], columns, &mut space.queries);
                space.scores.resize(length * columns, 0.0);
                space.out.resize(d * columns, 0.0);
                let scores = &mut space.scores[..length * columns];
                let (keys, values) = (View::new(&qkv[k..], 3 * w), View::new(&qkv[v..], 3 * w));
                let queries = View::new(&space.queries, columns);
                product((scores, columns), [length, d, columns], Start::Zero, Left::Plain(keys), queries);
                Arch::new().dispatch(Exponentials { scores, columns, scale, softmax });
                let probabilities = View::new(scores, columns);
                let values = Left::Transposed(values);
                let sizes = [d, length, columns];
                product((&mut space.out, columns), sizes, Start::Zero, values, probabilities);
                let out = &mut out[first * w + head * d..];
                for (row, (out, &[_, inverse])) in out.chunks_mut(w).zip(softmax.iter()).enumerate() {
                    for (c, out) in out[..d].iter_mut().enumerate() {
                        *out = inverse * space.out[c * columns + row];
                    }
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
        let (w, d, scale) = (self.width, self.dim(), self.scale());
        let length = out.len() / w;
        for (head, softmax) in softmax.chunks_exact(length).enumerate() {
            let [q, k, v] = [0, 1, 2].map(|part| part * w + head * d);
            let (keys, values) = (View::new(&qkv[k..], 3 * w), View::new(&qkv[v..], 3 * w));
            for (strip, softmax) in softmax.chunks(STRIP).enumerate() {
                let (first, rows) = (strip * STRIP, softmax.len());
                let columns = rows.next_multiple_of(LANES);
                let queries = &qkv[first * 3 * w + q..];
                let [out, d_out] = [out, d_out].map(|x| &x[first * w + head * d..]);
                transpose(queries, 3 * w, [rows, d], columns, &mut space.queries);
                transpose(d_out, w, [rows, d], columns, &mut space.out);
                let lanes = Lanes::new(softmax, Deltas { out, d_out, w, d });
                for scores in [&mut space.scores, &mut space.d_scores] {
                    scores.resize(length * columns, 0.0);
                }
                let (scores, d_scores) = (&mut space.scores[..], &mut space.d_scores[..]);
                for (scores, left, right) in
                    [(&mut *scores, keys, &space.queries), (&mut *d_scores, values, &space.out)]
                {
                    let (left, right) = (Left::Plain(left), View::new(right, columns));
                    product((scores, columns), [length, d, columns], Start::Zero, left, right);
                }
                Arch::new().dispatch(ScoreGradients { scores, d_scores, columns, scale, lanes: &lanes });
                let (scores, d_scores) = (View::new(scores, columns), View::new(d_scores, columns));
                let d_queries = &mut space.queries;
                let sizes = [d, length, columns];
                product((d_queries, columns), sizes, Start::Zero, Left::Transposed(keys), d_scores);
                for (row, d_row) in d_qkv[first * 3 * w..].chunks_exact_mut(3 * w).take(rows).enumerate() {
                    for (c, d_query) in d_row[q..q + d].iter_mut().enumerate() {
                        *d_query = d_queries[c * columns + row];
                    }
                }
                let start = if strip == 0 { Start::Zero } else { Start::Output };
                let (sizes, stride) = ([length, rows, d], 3 * w);
                let (queries, d_out) = (View::new(queries, 3 * w), View::new(d_out, w));
                product((&mut d_qkv[k..], stride), sizes, start, Left::Plain(d_scores), queries);
                product((&mut d_qkv[v..], stride), sizes, start, Left::Plain(scores), d_out);
            }
        }
    }
}

/// `[L, d]`, rows `stride` apart, as `[d, padded]` with zeros behind.
fn transpose(x: &[f32], stride: usize, [length, d]: [usize; 2], padded: usize, out: &mut Vec<f32>) {
    out.resize(d * padded, 0.0);
    for (c, out) in out.chunks_exact_mut(padded).enumerate() {
        let (out, rest) = out.split_at_mut(length);
        out.iter_mut().zip(x[c..].iter().step_by(stride)).for_each(|(out, x)| *out = *x);
        rest.fill(0.0);
    }
}

/// Replaces scores by `exp(s (score − max))` and notes the maximum and 1 / the sum of each column.
struct Exponentials<'a> {
    scores: &'a mut [f32], // [L, columns]
    columns: usize,
    scale: f32,
    softmax: &'a mut [Softmax], // at most as many as columns
}

impl WithSimd for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let scale = simd.splat_f32s(self.scale);
        let (scores, _) = S::as_mut_simd_f32s(self.scores);
        let vectors = self.columns / S::F32_LANES;
        for (vector, softmax) in self.softmax.chunks_mut(S::F32_LANES).enumerate() {
            let mut tops = [simd.splat_f32s(f32::NEG_INFINITY); 4];
            for rows in scores.chunks(4 * vectors) {
                for (top, row) in tops.iter_mut().zip(rows.chunks_exact(vectors)) {
                    *top = simd.max_f32s(*top, row[vector]);
                }
            }
            let [a, b, c, d] = tops;
            let top = simd.max_f32s(simd.max_f32s(a, b), simd.max_f32s(c, d));
            let mut sum = simd.splat_f32s(0.0);
            for row in scores.chunks_exact_mut(vectors) {
                let power = exp_of_negative(simd, simd.mul_f32s(scale, simd.sub_f32s(row[vector], top)));
                row[vector] = power;
                sum = simd.add_f32s(sum, power);
            }
            let (tops, sums): (&[f32], &[f32]) = (
                bytemuck::cast_slice(std::slice::from_ref(&top)),
                bytemuck::cast_slice(std::slice::from_ref(&sum)),
            );
            for (softmax, (&top, &sum)) in softmax.iter_mut().zip(tops.iter().zip(sums)) {
                *softmax = [top, 1.0 / sum];
            }
        }
    }
}

/// What the backward pass knows of each query of a strip: maximum, 1 / sum and D; zeros for the padding.
struct Lanes {
    largest: [f32; STRIP],
    inverse: [f32; STRIP],
    delta: [f32; STRIP],
}

impl Lanes {
    fn new(softmax: &[Softmax], deltas: Deltas<'_>) -> Self {
        let delta = Arch::new().dispatch(deltas);
        let mut lanes = Self { largest: [0.0; STRIP], inverse: [0.0; STRIP], delta };
        for (row, &[largest, inverse]) in softmax.iter().enumerate() {
            (lanes.largest[row], lanes.inverse[row]) = (largest, inverse);
        }
        lanes
    }
}

/// `D = Σ_c dO ∘ O` of the queries of a strip, from its first number of one head on.
struct Deltas<'a> {
    out: &'a [f32],
    d_out: &'a [f32],
    w: usize,
    d: usize,
}

impl WithSimd for Deltas<'_> {
    type Output = [f32; STRIP];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f32; STRIP] {
        let mut deltas = [0.0; STRIP];
        let rows = self.out.chunks(self.w).zip(self.d_out.chunks(self.w));
        for (delta, (out, d_out)) in deltas.iter_mut().zip(rows) {
            *delta = dot(simd, &out[..self.d], &d_out[..self.d]);
        }
        deltas
    }
}

/// Replaces scores by probabilities and `d_scores` (∂P) by `s P ∘ (∂P − D)`.
struct ScoreGradients<'a> {
    scores: &'a mut [f32],   // [L, columns]
    d_scores: &'a mut [f32], // [L, columns]
    columns: usize,
    scale: f32,
    lanes: &'a Lanes,
}

impl WithSimd for ScoreGradients<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let scale = simd.splat_f32s(self.scale);
        let (scores, d_scores) = (S::as_mut_simd_f32s(self.scores).0, S::as_mut_simd_f32s(self.d_scores).0);
        let vectors = self.columns / S::F32_LANES;
        for vector in 0..vectors {
            let Lanes { largest, inverse, delta } = self.lanes;
            let largest = S::as_simd_f32s(largest).0[vector];
            let inverse = S::as_simd_f32s(inverse).0[vector];
            let delta = S::as_simd_f32s(delta).0[vector];
            for (row, d_row) in scores.chunks_exact_mut(vectors).zip(d_scores.chunks_exact_mut(vectors)) {
                let power = exp_of_negative(simd, simd.mul_f32s(scale, simd.sub_f32s(row[vector], largest)));
                let p = simd.mul_f32s(inverse, power);
                row[vector] = p;
                d_row[vector] = simd.mul_f32s(simd.mul_f32s(scale, p), simd.sub_f32s(d_row[vector], delta));
            }
        }
    }
}
