//! Norm, dense layer and pooling of the tokens of a few texts, each with its `pull_back` beneath it.
//!
//! Tokens lie one after another, `[T, W]` row-major, whatever text they belong to.

use super::product::{Left, Start, View, product};
use super::vectors::{dot, map, sum};
use pulp::{Arch, Simd, WithSimd};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Calls `work` for each item, compiled for the best instruction set found at run time: plain loops over slices.
///
/// `work` must be `#[inline(always)]`. Not one closure around the loop: pulp calls that by `FnOnce`, through a shim that
/// the compiler need not inline, and then a fused multiplication is a call.
#[inline(always)]
pub(super) fn each<I: Iterator>(items: I, work: impl FnMut(I::Item)) {
    Arch::new().dispatch(Each(items, work));
}

struct Each<I, W>(I, W);

impl<I: Iterator, W: FnMut(I::Item)> WithSimd for Each<I, W> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(items, mut work) = self;
        for item in items {
            work(item);
        }
    }
}

const EPSILON: f32 = 1e-5;

/// Norm over the channels of a token: `norm(h) = γ u + β`, `u = (h − mean) / √(var + ε)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norm<'a> {
    pub(super) gain: &'a [f32],
    pub(super) shift: &'a [f32],
}

/// What a norm keeps: `u [T, W]` and `1/√(var + ε) [T]`.
#[derive(Debug, Default)]
pub(super) struct Normed {
    u: Vec<f32>,
    inverse: Vec<f32>,
}

impl Norm<'_> {
    /// `norm(h)` into `out`.
    pub(super) fn forward(&self, h: &[f32], out: &mut [f32]) -> Normed {
        let w = self.gain.len();
        let mut normed = Normed { u: vec![0.0; h.len()], inverse: vec![0.0; h.len() / w] };
        Arch::new().dispatch(NormForward { h, normed: &mut normed, w });
        self.restore(&normed, out);
        normed
    }

    /// `norm(h)` again.
    pub(super) fn restore(&self, normed: &Normed, out: &mut [f32]) {
        Arch::new().dispatch(NormRestore { norm: *self, normed, out });
    }

    /// Adds to `d_h`, `d_gain` and `d_shift`; `d` is ∂norm(h) and is used up.
    ///
    /// ```text
    /// g = γ d     d_h += (g − mean(g) − u mean(g u)) / σ
    /// ```
    pub(super) fn pull_back(
        &self,
        normed: &Normed,
        d: &mut [f32],
        d_h: &mut [f32],
        d_gain: &mut [f32],
        d_shift: &mut [f32],
    ) {
        Arch::new().dispatch(NormPullBack { gain: self.gain, normed, d, d_h, d_gain, d_shift });
    }
}

struct NormForward<'a> {
    h: &'a [f32],
    normed: &'a mut Normed,
    w: usize,
}

impl WithSimd for NormForward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.h.chunks_exact(self.w).zip(self.normed.u.chunks_exact_mut(self.w));
        for ((h, u), inverse) in rows.zip(&mut self.normed.inverse) {
            let mean = simd.splat_f32s(sum(simd, h) / self.w as f32);
            map(simd, u, [h, h, h], |_, h, _, _| simd.sub_f32s(h, mean));
            *inverse = 1.0 / (dot(simd, u, u) / self.w as f32 + EPSILON).sqrt();
            let factor = simd.splat_f32s(*inverse);
            map(simd, u, [h, h, h], |u, _, _, _| simd.mul_f32s(u, factor));
        }
    }
}

struct NormRestore<'a> {
    norm: Norm<'a>,
    normed: &'a Normed,
    out: &'a mut [f32],
}

impl WithSimd for NormRestore<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Norm { gain, shift } = self.norm;
        for (u, out) in self.normed.u.chunks_exact(gain.len()).zip(self.out.chunks_exact_mut(gain.len())) {
            map(simd, out, [u, gain, shift], |_, u, gain, shift| simd.mul_add_e_f32s(u, gain, shift));
        }
    }
}

struct NormPullBack<'a> {
    gain: &'a [f32],
    normed: &'a Normed,
    d: &'a mut [f32],
    d_h: &'a mut [f32],
    d_gain: &'a mut [f32],
    d_shift: &'a mut [f32],
}

impl WithSimd for NormPullBack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { gain, normed, d, d_h, d_gain, d_shift } = self;
        let w = gain.len();
        let tokens = normed.u.chunks_exact(w).zip(&normed.inverse);
        let slopes = d.chunks_exact_mut(w).zip(d_h.chunks_exact_mut(w));
        for ((u, &inverse), (d, d_h)) in tokens.zip(slopes) {
            map(simd, d_gain, [d, u, u], |sum, d, u, _| simd.mul_add_e_f32s(d, u, sum));
            map(simd, d_shift, [d, d, d], |sum, d, _, _| simd.add_f32s(sum, d));
            map(simd, d, [gain, gain, gain], |d, gain, _, _| simd.mul_f32s(d, gain));
            let [mean, mean_u] = [sum(simd, d), dot(simd, d, u)].map(|x| simd.splat_f32s(x / w as f32));
            let inverse = simd.splat_f32s(inverse);
            map(simd, d_h, [d, u, u], |d_h, d, u, _| {
                let centred = simd.sub_f32s(simd.sub_f32s(d, mean), simd.mul_f32s(u, mean_u));
                simd.mul_add_e_f32s(inverse, centred, d_h)
            });
        }
    }
}

/// Adds the rows of a matrix to one row.
struct ColumnSums<'a> {
    rows: &'a [f32],
    sums: &'a mut [f32],
}

impl WithSimd for ColumnSums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for row in self.rows.chunks_exact(self.sums.len()) {
            map(simd, self.sums, [row, row, row], |sum, x, _, _| simd.add_f32s(sum, x));
        }
    }
}

/// `y = x W + b`, `W [in, out]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dense<'a> {
    pub(super) weight: &'a [f32],
    pub(super) bias: &'a [f32],
}

impl Dense<'_> {
    pub(super) fn forward(&self, x: &[f32], y: &mut [f32]) {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs;
        let (x, weight) = (Left::Plain(View::new(x, inputs)), View::new(self.weight, outputs));
        let sizes = [y.len() / outputs, inputs, outputs];
        product((y, outputs), sizes, Start::Bias(self.bias), x, weight);
    }

    /// `d_x = d_y Wᵀ`; adds to `d_weight` and `d_bias`. `transposed` is `Wᵀ`.
    pub(super) fn pull_back(
        transposed: &[f32],
        (x, d_y): (&[f32], &[f32]),
        d_x: &mut [f32],
        (d_weight, d_bias): (&mut [f32], &mut [f32]),
    ) {
        let outputs = d_bias.len();
        let (inputs, tokens) = (d_weight.len() / outputs, d_y.len() / outputs);
        Arch::new().dispatch(ColumnSums { rows: d_y, sums: d_bias });
        let rows = View::new(d_y, outputs);
        let sizes = [inputs, tokens, outputs];
        let x = Left::Transposed(View::new(x, inputs));
        product((d_weight, outputs), sizes, Start::Output, x, rows);
        let sizes = [tokens, outputs, inputs];
        product((d_x, inputs), sizes, Start::Zero, Left::Plain(rows), View::new(transposed, inputs));
    }
}

/// `Wᵀ [out, in]`
pub(super) fn transposed(weight: &[f32], outputs: usize) -> Vec<f32> {
    (0..outputs).flat_map(|output| weight.iter().skip(output).step_by(outputs).copied()).collect()
}

/// Numbers that an elementwise loop takes at once.
const PIECE: usize = 1024;

/// Which numbers dropout keeps: those whose draw reaches the threshold, made larger in return.
#[derive(Debug)]
pub(super) struct Mask {
    draws: Vec<u16>,
    threshold: u16,
    keep: f32,
}

impl Mask {
    pub(super) fn new(len: usize, share: f64, seed: u64) -> Self {
        let mut draws = vec![0; len];
        ChaCha8Rng::seed_from_u64(seed).fill_bytes(bytemuck::cast_slice_mut(&mut draws));
        Self { draws, threshold: (share * 65536.0) as u16, keep: (1.0 / (1.0 - share)) as f32 }
    }

    /// The factor of one number.
    #[cfg(test)]
    pub(super) fn factor(&self, index: usize) -> f64 {
        if self.draws[index] < self.threshold { 0.0 } else { f64::from(self.keep) }
    }

    /// `out = x ∘ mask`
    pub(super) fn apply(&self, x: &[f32], out: &mut [f32]) {
        let (threshold, keep) = (self.threshold, self.keep);
        each(
            out.chunks_mut(PIECE).zip(x.chunks(PIECE)).zip(self.draws.chunks(PIECE)),
            #[inline(always)]
            |((out, x), draws)| {
                for ((out, x), &draw) in out.iter_mut().zip(x).zip(draws) {
                    *out = x * if draw < threshold { 0.0 } else { keep };
                }
            },
        );
    }
}

/// `h += y`
pub(super) fn add(h: &mut [f32], y: &[f32]) {
    each(
        h.chunks_mut(PIECE).zip(y.chunks(PIECE)),
        #[inline(always)]
        |(h, y)| h.iter_mut().zip(y).for_each(|(h, y)| *h += y),
    );
}

/// `relu` in place.
pub(super) fn relu(x: &mut [f32]) {
    each(
        x.chunks_mut(PIECE),
        #[inline(always)]
        |x| x.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { 0.0 }),
    );
}

/// Zeroes `d` where the ReLU did.
pub(super) fn relu_pull_back(x: &[f32], d: &mut [f32]) {
    each(
        x.chunks(PIECE).zip(d.chunks_mut(PIECE)),
        #[inline(always)]
        |(x, d)| d.iter_mut().zip(x).for_each(|(d, &x)| *d *= f32::from(u8::from(x > 0.0))),
    );
}

/// Mean and maximum `[W]` over the tokens of one text, either of which may be empty; `places` says where each maximum
/// stands.
pub(super) fn pool(x: &[f32], mean: &mut [f32], max: &mut [f32], places: &mut [u32]) {
    let w = mean.len().max(max.len());
    let share = w as f32 / x.len() as f32;
    mean.fill(0.0);
    max.fill(f32::NEG_INFINITY);
    each(
        x.chunks_exact(w).zip(0..),
        #[inline(always)]
        |(x, t)| {
            mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += share * x);
            for ((max, place), &x) in max.iter_mut().zip(places.iter_mut()).zip(x) {
                *place = if x > *max { t } else { *place };
                *max = if x > *max { x } else { *max };
            }
        },
    );
}

/// ∂x of one text.
pub(super) fn pool_pull_back(d_mean: &[f32], d_max: &[f32], places: &[u32], d_x: &mut [f32]) {
    let w = d_mean.len().max(d_max.len());
    let share = w as f32 / d_x.len() as f32;
    d_x.fill(0.0);
    for d_x in d_x.chunks_exact_mut(w) {
        d_x.iter_mut().zip(d_mean).for_each(|(d_x, d)| *d_x = share * d);
    }
    for (c, (d, &place)) in d_max.iter().zip(places).enumerate() {
        d_x[place as usize * w + c] += d;
    }
}
