//! Convolution, pooling and group norm of a few images at a time, each with its `pull_back` beneath it.
//!
//! Activations lie channels-last on a [`Grid`]. On a *padded* grid one zero pixel follows each row and one zero row
//! each image, and serves the next as well. A 3×3 convolution of such a grid is then three matrix products whose left
//! factor is the memory itself: the three neighbours of a pixel in one row are contiguous, hence consecutive rows of
//! the factor overlap and nothing is copied ("im2col" without the columns). The products also compute the padding
//! pixels, 6 % too many at 32², 27 % at 8², whose values nobody reads.

use linalg::gemm::{Plus, product};
use linalg::{MatMut, MatRef};
use std::ops::Range;

/// Where the pixels of a few images lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    height: usize,
    width: usize,
    channels: usize,
    /// Pixels from one row to the next.
    pitch: usize,
    /// Pixels from one image to the next.
    image: usize,
    /// Pixels before the first and after the last image.
    margin: usize,
}

impl Grid {
    /// With the zero pixels that a convolution needs.
    pub(super) fn padded(height: usize, width: usize, channels: usize) -> Self {
        Self {
            height,
            width,
            channels,
            pitch: width + 1,
            image: (height + 1) * (width + 1),
            margin: width + 2,
        }
    }

    /// Without.
    pub(super) fn compact(height: usize, width: usize, channels: usize) -> Self {
        Self { height, width, channels, pitch: width, image: height * width, margin: 0 }
    }

    pub(super) fn zeros(&self, images: usize) -> Vec<f32> {
        vec![0.0; (images * self.image + 2 * self.margin) * self.channels]
    }

    /// The pixels of one row of one image.
    #[inline(always)]
    pub(super) fn row(&self, image: usize, row: usize) -> Range<usize> {
        let start = (self.margin + image * self.image + row * self.pitch) * self.channels;
        start..start + self.width * self.channels
    }

    /// From the first pixel of the first image to the last of the last.
    fn span(&self, images: usize) -> Range<usize> {
        let pixels = images * self.image - self.pitch - 1;
        self.margin * self.channels..(self.margin + pixels) * self.channels
    }

    /// Left factor of one kernel row: row `p` holds the pixels left of, at and right of `p`, `kernel_row − 1` rows
    /// below. `[pixels, 3·channels]`
    fn neighbours<'a>(&self, x: &'a [f32], images: usize, kernel_row: usize) -> MatRef<'a, f32> {
        let pixels = self.span(images).len() / self.channels;
        let start = (self.margin + kernel_row * self.pitch - self.pitch - 1) * self.channels;
        MatRef::from_row_major_slice_with_stride(&x[start..], pixels, 3 * self.channels, self.channels)
    }
}

/// Runs `work` compiled for the best instruction set found at run time: plain loops over slices.
#[inline(always)]
fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// `out = plus + a b` into row-major memory, on one thread; threads share images, not products.
pub(super) fn multiply(out: &mut [f32], plus: Plus<'_, f32>, a: MatRef<'_, f32>, b: MatRef<'_, f32>) {
    product(MatMut::from_row_major_slice_mut(out, a.nrows(), b.ncols()), plus, a, b, 1.0);
}

/// `y[p] = Σ_t x[p + t] W_t` over the nine taps; leaves numbers in the padding of `y`.
pub(super) fn convolve(x: &[f32], grid: Grid, images: usize, weight: &[f32], y: &mut [f32]) {
    let (rows, outputs) = (3 * grid.channels, weight.len() / (9 * grid.channels));
    let out = Grid { channels: outputs, ..grid };
    for (kernel_row, weight) in weight.chunks_exact(rows * outputs).enumerate() {
        let plus = if kernel_row == 0 { Plus::Nothing } else { Plus::Out };
        let weight = MatRef::from_row_major_slice(weight, rows, outputs);
        multiply(&mut y[out.span(images)], plus, grid.neighbours(x, images, kernel_row), weight);
    }
}

/// Adds to `d_weight`; the padding of `d_y` must be zero. The gradient of `x` is `convolve(d_y, …, flipped(W))`.
pub(super) fn convolve_pull_back(x: &[f32], grid: Grid, images: usize, d_y: &[f32], d_weight: &mut [f32]) {
    let (rows, outputs) = (3 * grid.channels, d_weight.len() / (9 * grid.channels));
    let out = Grid { channels: outputs, ..grid };
    let d_y = &d_y[out.span(images)];
    let d_y = MatRef::from_row_major_slice(d_y, d_y.len() / outputs, outputs);
    for (kernel_row, d_weight) in d_weight.chunks_exact_mut(rows * outputs).enumerate() {
        multiply(d_weight, Plus::Out, grid.neighbours(x, images, kernel_row).transpose(), d_y);
    }
}

/// Weight of the transposed convolution: taps in reverse order, `[in, out]` of each transposed.
pub(super) fn flipped(weight: &[f32], inputs: usize) -> Vec<f32> {
    let outputs = weight.len() / (9 * inputs);
    let mut result = Vec::with_capacity(weight.len());
    for tap in weight.chunks_exact(inputs * outputs).rev() {
        for output in 0..outputs {
            result.extend((0..inputs).map(|input| tap[input * outputs + output]));
        }
    }
    result
}

/// Maximum of each 2×2 pixels; `choice` says which of the four. An odd last row or column is left out.
pub(super) fn pool(y: &[f32], from: Grid, images: usize, pooled: &mut [f32], choice: &mut [u8], to: Grid) {
    let c = from.channels;
    vectorised(|| {
        for (image, row) in (0..images).flat_map(|image| (0..to.height).map(move |row| (image, row))) {
            let (top, bottom) = (&y[from.row(image, 2 * row)], &y[from.row(image, 2 * row + 1)]);
            let targets = pooled[to.row(image, row)]
                .chunks_exact_mut(c)
                .zip(choice[to.row(image, row)].chunks_exact_mut(c));
            let sources = top.chunks_exact(2 * c).zip(bottom.chunks_exact(2 * c));
            for ((pooled, choice), (top, bottom)) in targets.zip(sources) {
                let (a0, a1) = top.split_at(c);
                let (a2, a3) = bottom.split_at(c);
                for k in 0..c {
                    let (mut largest, mut place) = (a0[k], 0);
                    for (candidate, value) in [(1, a1[k]), (2, a2[k]), (3, a3[k])] {
                        // What is no number is never passed over.
                        if value > largest || value.is_nan() {
                            (largest, place) = (value, candidate);
                        }
                    }
                    (pooled[k], choice[k]) = (largest, place);
                }
            }
        }
    });
}

/// Sends each gradient to the pixel that was chosen.
pub(super) fn pool_pull_back(d: &[f32], choice: &[u8], to: Grid, images: usize, d_y: &mut [f32], from: Grid) {
    let c = from.channels;
    vectorised(|| {
        for (image, row) in (0..images).flat_map(|image| (0..to.height).map(move |row| (image, row))) {
            for half in 0..2 {
                let sources =
                    d[to.row(image, row)].chunks_exact(c).zip(choice[to.row(image, row)].chunks_exact(c));
                let targets = d_y[from.row(image, 2 * row + half as usize)].chunks_exact_mut(2 * c);
                for (d_y, (d, choice)) in targets.zip(sources) {
                    let (left, right) = d_y.split_at_mut(c);
                    spread(d, choice, 2 * half, left);
                    spread(d, choice, 2 * half + 1, right);
                }
            }
        }
    });
}

/// The gradient where `choice` is `place`, else zero.
#[inline(always)]
fn spread(d: &[f32], choice: &[u8], place: u8, out: &mut [f32]) {
    for ((out, d), choice) in out.iter_mut().zip(d).zip(choice) {
        *out = *d * f32::from(u8::from(*choice == place)); // as in `gate`
    }
}

/// Mean and 1/√(var + ε) of one group of one image.
pub(super) type Moments = [f32; 2];

const EPSILON: f32 = 1e-5;

/// Gains, shifts and channels of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norm<'a> {
    pub(super) gain: &'a [f32],
    pub(super) shift: &'a [f32],
    pub(super) group: usize,
}

impl Norm<'_> {
    /// `norm(y) = scale · y + offset`, channel by channel.
    #[inline(always)]
    fn line(&self, moments: &[Moments], scale: &mut [f32], offset: &mut [f32]) {
        for k in 0..self.gain.len() {
            let [mean, inverse] = moments[k / self.group];
            scale[k] = self.gain[k] * inverse;
            offset[k] = self.shift[k] - mean * scale[k];
        }
    }

    /// `z = relu(norm(y))` and the moments, group by group of image by image.
    pub(super) fn forward(
        &self,
        y: &[f32],
        from: Grid,
        images: usize,
        z: &mut [f32],
        to: Grid,
    ) -> Vec<Moments> {
        let c = from.channels;
        let count = (from.height * from.width * self.group) as f32;
        let mut moments = Vec::with_capacity(images * c / self.group);
        let (mut s, mut t) = (vec![0.0f32; c], vec![0.0f32; c]);
        vectorised(|| {
            for image in 0..images {
                // Two passes: Σy² − (Σy)²/n in f32 loses all digits where the mean is far from zero.
                s.fill(0.0);
                t.fill(0.0);
                for row in 0..from.height {
                    for y in y[from.row(image, row)].chunks_exact(c) {
                        let s = &mut s[..c];
                        for k in 0..c {
                            s[k] += y[k];
                        }
                    }
                }
                for sums in s.chunks_exact_mut(self.group) {
                    let mean = sums.iter().sum::<f32>() / count;
                    sums.fill(mean);
                }
                for row in 0..from.height {
                    for y in y[from.row(image, row)].chunks_exact(c) {
                        let (s, t) = (&s[..c], &mut t[..c]);
                        for k in 0..c {
                            t[k] += (y[k] - s[k]) * (y[k] - s[k]);
                        }
                    }
                }
                for (mean, squares) in s.chunks_exact(self.group).zip(t.chunks_exact(self.group)) {
                    let variance = squares.iter().sum::<f32>() / count;
                    // A variance that overflows is no reason to call an image average.
                    let root = if variance.is_finite() { (variance + EPSILON).sqrt() } else { f32::NAN };
                    moments.push([mean[0], 1.0 / root]);
                }
                self.line(&moments[image * c / self.group..], &mut s, &mut t);
                for row in 0..from.height {
                    let pixels = y[from.row(image, row)].chunks_exact(c);
                    for (y, z) in pixels.zip(z[to.row(image, row)].chunks_exact_mut(c)) {
                        let (s, t) = (&s[..c], &t[..c]);
                        for k in 0..c {
                            let norm = s[k] * y[k] + t[k];
                            z[k] = if norm < 0.0 { 0.0 } else { norm };
                        }
                    }
                }
            }
        });
        moments
    }

    /// Adds to `d_gain` and `d_shift`, and turns `d_z` into `d_y` on the grid of `y`.
    ///
    /// ```text
    /// u = (y − mean) / σ     g = γ d_norm     d_y = (g − mean(g) − u mean(g u)) / σ
    /// ```
    #[allow(clippy::too_many_arguments)]
    pub(super) fn pull_back(
        &self,
        (y, from): (&[f32], Grid),
        images: usize,
        moments: &[Moments],
        (d_z, to): (&mut [f32], Grid),
        d_y: &mut [f32],
        d_gain: &mut [f32],
        d_shift: &mut [f32],
    ) {
        let c = from.channels;
        let count = (from.height * from.width * self.group) as f32;
        let [mut scale, mut offset, mut s, mut t] = [(); 4].map(|()| vec![0.0f32; c]);
        vectorised(|| {
            for (image, moments) in moments.chunks_exact(c / self.group).enumerate().take(images) {
                self.line(moments, &mut scale, &mut offset);
                s.fill(0.0);
                t.fill(0.0);
                for row in 0..from.height {
                    let (y, d) = (&y[from.row(image, row)], &mut d_z[to.row(image, row)]);
                    gate(y, d, &scale, &offset, &mut s, &mut t);
                }
                for (group, &[mean, inverse]) in moments.iter().enumerate() {
                    let channels = group * self.group..(group + 1) * self.group;
                    let (mut g, mut g_u) = (0.0, 0.0);
                    for k in channels.clone() {
                        let d_u = inverse * (t[k] - mean * s[k]); // Σ d u over the pixels
                        d_shift[k] += s[k];
                        d_gain[k] += d_u;
                        g += self.gain[k] * s[k] / count;
                        g_u += self.gain[k] * d_u / count;
                    }
                    s[channels.clone()].fill(-inverse * inverse * g_u);
                    t[channels].fill(inverse * (inverse * mean * g_u - g));
                }
                for row in 0..from.height {
                    let (y, d) = (&y[from.row(image, row)], &d_z[to.row(image, row)]);
                    combine(y, d, &scale, &s, &t, &mut d_y[from.row(image, row)]);
                }
            }
        });
    }
}

/// Zeroes `d` where the ReLU did, and adds Σ d and Σ d y over a row's pixels to `s` and `t`.
#[inline(always)]
fn gate(y: &[f32], d: &mut [f32], scale: &[f32], offset: &[f32], s: &mut [f32], t: &mut [f32]) {
    let c = scale.len();
    let (offset, s, t) = (&offset[..c], &mut s[..c], &mut t[..c]);
    for (y, d) in y.chunks_exact(c).zip(d.chunks_exact_mut(c)) {
        for k in 0..c {
            // A product, not a branch: the compiler makes a branch a jump, ten times slower on real data.
            let gated = d[k] * f32::from(u8::from(scale[k] * y[k] + offset[k] > 0.0));
            d[k] = gated;
            s[k] += gated;
            t[k] += gated * y[k];
        }
    }
}

/// `out = scale · d + s · y + t`
#[inline(always)]
fn combine(y: &[f32], d: &[f32], scale: &[f32], s: &[f32], t: &[f32], out: &mut [f32]) {
    let c = scale.len();
    let (s, t) = (&s[..c], &t[..c]);
    for ((y, d), out) in y.chunks_exact(c).zip(d.chunks_exact(c)).zip(out.chunks_exact_mut(c)) {
        for k in 0..c {
            out[k] = scale[k] * d[k] + s[k] * y[k] + t[k];
        }
    }
}
