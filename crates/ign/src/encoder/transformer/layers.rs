//! Norm, dense layer and pooling of the tokens of a few texts, each with its `pull_back` beneath it.
//!
//! Tokens lie one after another, `[T, W]` row-major, whatever text they belong to.

use super::product::{Left, Start, View, product};

/// Runs `work` compiled for the best instruction set found at run time: plain loops over slices.
#[inline(always)]
fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

const LANES: usize = 16;
const EPSILON: f32 = 1e-5;

/// `Σ xᵢ yᵢ` in sixteen interleaved sums.
#[inline(always)]
fn dot(x: &[f32], y: &[f32]) -> f32 {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    folded(sums) + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f32>()
}

/// `Σ xᵢ` in sixteen interleaved sums.
#[inline(always)]
fn sum(x: &[f32]) -> f32 {
    let (vectors, rest) = x.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for vector in vectors {
        for lane in 0..LANES {
            sums[lane] += vector[lane];
        }
    }
    folded(sums) + rest.iter().sum::<f32>()
}

#[inline(always)]
fn folded(mut sums: [f32; LANES]) -> f32 {
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
    }
    sums[0]
}

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
        let (mut u, mut inverse) = (vec![0.0; h.len()], vec![0.0; h.len() / w]);
        vectorised(
            #[inline(always)]
            || {
                for ((h, u), inverse) in h.chunks_exact(w).zip(u.chunks_exact_mut(w)).zip(&mut inverse) {
                    let mean = sum(h) / w as f32;
                    u.iter_mut().zip(h).for_each(|(u, h)| *u = h - mean);
                    *inverse = 1.0 / (dot(u, u) / w as f32 + EPSILON).sqrt();
                    u.iter_mut().for_each(|u| *u *= *inverse);
                }
            },
        );
        let normed = Normed { u, inverse };
        self.restore(&normed, out);
        normed
    }

    /// `norm(h)` again.
    pub(super) fn restore(&self, normed: &Normed, out: &mut [f32]) {
        let w = self.gain.len();
        vectorised(
            #[inline(always)]
            || {
                for (u, out) in normed.u.chunks_exact(w).zip(out.chunks_exact_mut(w)) {
                    for ((out, u), (gain, shift)) in
                        out.iter_mut().zip(u).zip(self.gain.iter().zip(self.shift))
                    {
                        *out = gain * u + shift;
                    }
                }
            },
        );
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
        let w = self.gain.len();
        vectorised(
            #[inline(always)]
            || {
                let tokens = normed.u.chunks_exact(w).zip(&normed.inverse);
                let slopes = d.chunks_exact_mut(w).zip(d_h.chunks_exact_mut(w));
                for ((u, &inverse), (d, d_h)) in tokens.zip(slopes) {
                    let (u, d, d_h, gain) = (&u[..w], &mut d[..w], &mut d_h[..w], &self.gain[..w]);
                    let (d_gain, d_shift) = (&mut d_gain[..w], &mut d_shift[..w]);
                    for c in 0..w {
                        d_gain[c] += d[c] * u[c];
                        d_shift[c] += d[c];
                        d[c] *= gain[c];
                    }
                    let (mean, mean_u) = (sum(d) / w as f32, dot(d, u) / w as f32);
                    for c in 0..w {
                        d_h[c] += inverse * (d[c] - mean - u[c] * mean_u);
                    }
                }
            },
        );
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
        vectorised(
            #[inline(always)]
            || {
                for row in d_y.chunks_exact(outputs) {
                    d_bias.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
            },
        );
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

/// `h += y ∘ mask`
pub(super) fn add(h: &mut [f32], y: &[f32], mask: Option<&[f32]>) {
    vectorised(
        #[inline(always)]
        || match mask {
            Some(mask) => {
                h.iter_mut().zip(y.iter().zip(mask)).for_each(|(h, (y, mask))| *h += y * mask);
            }
            None => h.iter_mut().zip(y).for_each(|(h, y)| *h += y),
        },
    );
}

/// `relu` in place.
pub(super) fn relu(x: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || x.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { 0.0 }),
    );
}

/// Zeroes `d` where the ReLU did.
pub(super) fn relu_pull_back(x: &[f32], d: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || d.iter_mut().zip(x).for_each(|(d, &x)| *d *= f32::from(u8::from(x > 0.0))),
    );
}

/// Mean and maximum `[W]` over the tokens of one text; `places` says where each maximum stands.
pub(super) fn pool(x: &[f32], mean: &mut [f32], max: &mut [f32], places: &mut [u32]) {
    let (w, tokens) = (mean.len().max(max.len()), x.len() / mean.len().max(max.len()));
    vectorised(
        #[inline(always)]
        || {
            max.fill(f32::NEG_INFINITY);
            for (t, x) in x.chunks_exact(w).enumerate() {
                mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += x / tokens as f32);
                for ((max, place), &x) in max.iter_mut().zip(places.iter_mut()).zip(x) {
                    let larger = x > *max;
                    *max = if larger { x } else { *max };
                    *place = if larger { t as u32 } else { *place };
                }
            }
        },
    );
}

/// ∂x of one text.
pub(super) fn pool_pull_back(d_mean: &[f32], d_max: &[f32], places: &[u32], d_x: &mut [f32]) {
    let (w, tokens) = (d_mean.len().max(d_max.len()), d_x.len() / d_mean.len().max(d_max.len()));
    d_x.fill(0.0);
    for d_x in d_x.chunks_exact_mut(w) {
        d_x.iter_mut().zip(d_mean).for_each(|(d_x, d)| *d_x = d / tokens as f32);
    }
    for (c, (d, &place)) in d_max.iter().zip(places).enumerate() {
        d_x[place as usize * w + c] += d;
    }
}
