//! Newton's rough steps by conjugate gradients, with products in single precision.

use linalg::MatRef;
use linalg::vector::dot_here;
use pulp::{Simd, WithSimd};

/// Conjugate gradients on `B x = W½K step` (Hestenes & Stiefel 1952) `[N]`.
#[derive(Debug)]
pub(super) struct Conjugate {
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    scaled: Vec<f64>,   // W½ direction
    k_scaled: Vec<f64>, // K W½ direction
    single: Vec<f32>,
    product: Vec<f32>,
}

impl Conjugate {
    pub(super) fn with_size(n: usize) -> Self {
        let vector = || vec![0.0; n];
        Self {
            x: vector(),
            residual: vector(),
            direction: vector(),
            scaled: vector(),
            k_scaled: vector(),
            single: vec![0.0; n],
            product: vec![0.0; n],
        }
    }

    /// Two vectors, for a step by the inverse.
    pub(super) fn two(&mut self) -> [&mut Vec<f64>; 2] {
        [&mut self.x, &mut self.residual]
    }
}

/// `step ← (I + WK)⁻¹ step = step − W½x` to a relative precision, with products in single precision; false when that takes
/// as long as a factor.
pub(super) struct SolveIPlusWk<'a> {
    pub(super) k: MatRef<'a, f32>,
    pub(super) root_w: &'a [f64],
    pub(super) precision: f64,
    pub(super) step: &'a mut [f64],
    pub(super) space: &'a mut Conjugate,
}

impl WithSimd for SolveIPlusWk<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self { k, root_w, precision, step, space } = self;
        let n = root_w.len();
        let (x, residual, direction) =
            (&mut space.x[..n], &mut space.residual[..n], &mut space.direction[..n]);
        let (scaled, k_scaled) = (&mut space.scaled[..n], &mut space.k_scaled[..n]);
        let (single, product) = (&mut space.single[..n], &mut space.product[..n]);
        let step = &mut step[..n];
        let dot = |a: &[f64], b: &[f64]| dot_here(a, b);
        for i in 0..n {
            single[i] = step[i] as f32;
        }
        multiply_rough(simd, k, single, product);
        for i in 0..n {
            residual[i] = root_w[i] * f64::from(product[i]);
            direction[i] = residual[i];
            x[i] = 0.0;
        }
        let mut square = dot(residual, residual);
        for _ in 0..4 + n / 8 {
            // Of x, not of the right-hand side, which is larger by the condition of B.
            if square <= precision * precision * dot(x, x) {
                return true;
            }
            for i in 0..n {
                scaled[i] = root_w[i] * direction[i];
                single[i] = scaled[i] as f32;
            }
            multiply_rough(simd, k, single, product);
            for i in 0..n {
                k_scaled[i] = product[i].into();
            }
            let rate = square / (dot(direction, direction) + dot(scaled, k_scaled));
            if !rate.is_finite() {
                return square == 0.0;
            }
            for i in 0..n {
                x[i] += rate * direction[i];
                step[i] -= rate * scaled[i];
                residual[i] -= rate * (direction[i] + root_w[i] * k_scaled[i]);
            }
            let next = dot(residual, residual);
            let ratio = next / square;
            for i in 0..n {
                direction[i] = residual[i] + ratio * direction[i];
            }
            square = next;
        }
        false
    }
}

/// `out = K x` in single precision, for a K with both triangles.
#[inline(always)]
fn multiply_rough<S: Simd>(simd: S, k: MatRef<'_, f32>, x: &[f32], out: &mut [f32]) {
    const TOGETHER: usize = 8;
    let (vectors, rest) = S::as_mut_simd_f32s(out);
    let zero = simd.splat_f32s(0.0);
    let mut start = 0;
    for out in vectors.chunks_mut(TOGETHER) {
        let count = out.len();
        let mut sums = [zero; TOGETHER];
        if count == TOGETHER {
            for (j, &x) in x.iter().enumerate() {
                let column = &S::as_simd_f32s(k.col(j)).0[start..start + TOGETHER];
                let x = simd.splat_f32s(x);
                for i in 0..TOGETHER {
                    sums[i] = simd.mul_add_e_f32s(column[i], x, sums[i]);
                }
            }
        } else {
            for (j, &x) in x.iter().enumerate() {
                let column = &S::as_simd_f32s(k.col(j)).0[start..start + count];
                let x = simd.splat_f32s(x);
                for (sum, &k) in sums.iter_mut().zip(column) {
                    *sum = simd.mul_add_e_f32s(k, x, *sum);
                }
            }
        }
        out.copy_from_slice(&sums[..count]);
        start += count;
    }
    if !rest.is_empty() {
        let mut sum = zero;
        for (j, &x) in x.iter().enumerate() {
            let column = simd.partial_load_f32s(S::as_simd_f32s(k.col(j)).1);
            sum = simd.mul_add_e_f32s(column, simd.splat_f32s(x), sum);
        }
        simd.partial_store_f32s(rest, sum);
    }
}
