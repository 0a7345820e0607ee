//! Periodic embedding of one column of one member, with its `pull_back` beneath it.
//!
//! ```text
//! w = [ sin 2πfx | cos 2πfx ]     e = relu(w A + a)     [N, 2F] → [N, E]
//! ```

use linalg::gemm::thin::{Left, Start, View, product, transposed};
use linalg::simd::{add_rows, map, turn};
use pulp::{Arch, Simd, WithSimd};
use std::f32::consts::TAU;

/// Its parameters, or their gradients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waves<T> {
    pub(super) frequency: T, // [F]
    pub(super) map: T,       // [2F, E]
    pub(super) offset: T,    // [E]
}

/// A column inside of row-major numbers: what is in it begins at `start` of each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) stride: usize,
}

impl Place {
    /// The matrix that begins here.
    fn view<'a>(&self, numbers: &'a [f32]) -> View<'a> {
        View::new(&numbers[self.start..], self.stride)
    }
}

impl Waves<&[f32]> {
    /// From x to w, and to `w A + a`, before the ReLU.
    pub(super) fn forward(
        &self,
        (x, at): (&[f32], Place),
        (waves, waves_at): (&mut [f32], Place),
        (out, out_at): (&mut [f32], Place),
    ) {
        Arch::new().dispatch(Turn { frequency: self.frequency, x, at, waves, waves_at });
        let sizes = [x.len() / at.stride, 2 * self.frequency.len(), self.offset.len()];
        let (left, map) = (Left::Plain(waves_at.view(waves)), View::new(self.map, self.offset.len()));
        let out = (&mut out[out_at.start..], out_at.stride);
        product(out, sizes, Start::Bias(self.offset), left, map);
    }

    /// Sets the parameters' gradients from `d`, that of `w A + a`.
    pub(super) fn pull_back(
        &self,
        (x, at): (&[f32], Place),
        (waves, waves_at): (&[f32], Place),
        (d, d_at): (&[f32], Place),
        gradient: Waves<&mut [f32]>,
    ) {
        let (n, f, e) = (x.len() / at.stride, self.frequency.len(), self.offset.len());
        gradient.offset.fill(0.0);
        add_rows(&d[d_at.start..], d_at.stride, gradient.offset);
        let left = Left::Transposed(waves_at.view(waves));
        product((gradient.map, e), [2 * f, n, e], Start::Zero, left, d_at.view(d));
        gradient.frequency.fill(0.0);
        let d_waves = self.d_waves(n, d, d_at);
        let slope = gradient.frequency;
        Arch::new().dispatch(Slope { x, at, waves, waves_at, d_waves: &d_waves, slope });
    }

    /// Adds to the gradient of x.
    pub(super) fn pull_back_to_x(
        &self,
        (waves, waves_at): (&[f32], Place),
        (d, d_at): (&[f32], Place),
        (d_x, at): (&mut [f32], Place),
    ) {
        let f = self.frequency.len();
        let d_waves = self.d_waves(d_x.len() / at.stride, d, d_at);
        let rows = waves.chunks_exact(waves_at.stride).zip(d_waves.chunks_exact(2 * f));
        for (d_x, (waves, d_waves)) in d_x.chunks_exact_mut(at.stride).zip(rows) {
            let (sine, cosine) = waves[waves_at.start..][..2 * f].split_at(f);
            let (d_sine, d_cosine) = d_waves.split_at(f);
            let slope = |i: usize| self.frequency[i] * (cosine[i] * d_sine[i] - sine[i] * d_cosine[i]);
            d_x[at.start] += TAU * (0..f).map(slope).sum::<f32>();
        }
    }

    /// `d Aᵀ`, `[N, 2F]`
    fn d_waves(&self, n: usize, d: &[f32], at: Place) -> Vec<f32> {
        let (inner, e) = (2 * self.frequency.len(), self.offset.len());
        let mut d_waves = vec![0.0; n * inner];
        let map = transposed(self.map, e);
        let sizes = [n, e, inner];
        product((&mut d_waves, inner), sizes, Start::Zero, Left::Plain(at.view(d)), View::new(&map, inner));
        d_waves
    }
}

/// Sines and cosines.
struct Turn<'a> {
    frequency: &'a [f32],
    x: &'a [f32],
    at: Place,
    waves: &'a mut [f32],
    waves_at: Place,
}

impl WithSimd for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { frequency, x, at, waves, waves_at } = self;
        let f = frequency.len();
        for (x, waves) in x.chunks_exact(at.stride).zip(waves.chunks_exact_mut(waves_at.stride)) {
            let x = simd.splat_f32s(x[at.start]);
            let (sine, cosine) = waves[waves_at.start..][..2 * f].split_at_mut(f);
            map(
                simd,
                sine,
                [frequency],
                #[inline(always)]
                |_, [frequency]| turn(simd, simd.mul_f32s(x, frequency))[0],
            );
            map(
                simd,
                cosine,
                [frequency],
                #[inline(always)]
                |_, [frequency]| turn(simd, simd.mul_f32s(x, frequency))[1],
            );
        }
    }
}

/// `Σ 2πx (cos ∂sin − sin ∂cos)` over the rows.
struct Slope<'a> {
    x: &'a [f32],
    at: Place,
    waves: &'a [f32],
    waves_at: Place,
    d_waves: &'a [f32],
    slope: &'a mut [f32],
}

impl WithSimd for Slope<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { x, at, waves, waves_at, d_waves, slope } = self;
        let f = slope.len();
        let rows = waves.chunks_exact(waves_at.stride).zip(d_waves.chunks_exact(2 * f));
        for (x, (waves, d_waves)) in x.chunks_exact(at.stride).zip(rows) {
            let x = simd.splat_f32s(TAU * x[at.start]);
            let (sine, cosine) = waves[waves_at.start..][..2 * f].split_at(f);
            let (d_sine, d_cosine) = d_waves.split_at(f);
            map(
                simd,
                slope,
                [sine, cosine, d_sine, d_cosine],
                #[inline(always)]
                |sum, [sine, cosine, d_sine, d_cosine]| {
                    let turned = simd.sub_f32s(simd.mul_f32s(cosine, d_sine), simd.mul_f32s(sine, d_cosine));
                    simd.mul_add_e_f32s(x, turned, sum)
                },
            );
        }
    }
}
