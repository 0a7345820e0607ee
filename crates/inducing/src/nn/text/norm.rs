//! Norm over the channels of a token, with its `pull_back` beneath it.

use super::params::Pair;
use linalg::simd::{dot, map, sum};
use pulp::{Arch, Simd, WithSimd};

const EPSILON: f32 = 1e-5;

/// Norm over the channels of a token: `norm(h) = γ u + β`, `u = (h − mean) / √(var + ε)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norm<'a> {
    gain: &'a [f32],
    shift: &'a [f32],
}

/// What a norm keeps: `u [T, W]` and `1/√(var + ε) [T]`.
#[derive(Debug, Default)]
pub(super) struct Normed {
    u: Vec<f32>,
    inverse: Vec<f32>,
}

impl<'a> Norm<'a> {
    pub(super) fn new(params: Pair, theta: &'a [f32]) -> Self {
        let (gain, shift) = params.of(theta);
        Self { gain, shift }
    }

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
        (d_gain, d_shift): (&mut [f32], &mut [f32]),
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
            map(simd, u, [h], |_, [h]| simd.sub_f32s(h, mean));
            *inverse = 1.0 / (dot(simd, u, u) / self.w as f32 + EPSILON).sqrt();
            let factor = simd.splat_f32s(*inverse);
            map(simd, u, [], |u, []| simd.mul_f32s(u, factor));
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
            map(simd, out, [u, gain, shift], |_, [u, gain, shift]| simd.mul_add_e_f32s(u, gain, shift));
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
        let gradients = d.chunks_exact_mut(w).zip(d_h.chunks_exact_mut(w));
        for ((u, &inverse), (d, d_h)) in tokens.zip(gradients) {
            map(simd, d_gain, [d, u], |sum, [d, u]| simd.mul_add_e_f32s(d, u, sum));
            map(simd, d_shift, [d], |sum, [d]| simd.add_f32s(sum, d));
            map(simd, d, [gain], |d, [gain]| simd.mul_f32s(d, gain));
            let [mean, mean_u] = [sum(simd, d), dot(simd, d, u)].map(|x| simd.splat_f32s(x / w as f32));
            let inverse = simd.splat_f32s(inverse);
            map(simd, d_h, [d, u], |d_h, [d, u]| {
                let centred = simd.sub_f32s(simd.sub_f32s(d, mean), simd.mul_f32s(u, mean_u));
                simd.mul_add_e_f32s(inverse, centred, d_h)
            });
        }
    }
}
