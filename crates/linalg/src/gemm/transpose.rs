//! Transposes squares of numbers in registers. Number by number this takes up to twice as long, and the compiler does not
//! find the vectors by itself.
//!
//! ```text
//! to[q·step + i] = from[i][q]      i, q < SIDE
//! ```

/// Side of a square.
pub(crate) const SIDE: usize = 8;

/// Number by number, on any processor.
pub(crate) fn transpose_plainly<T: Copy>(from: [&[T; SIDE]; SIDE], to: &mut [T], step: usize) {
    for q in 0..SIDE {
        to[q * step..q * step + SIDE].copy_from_slice(&from.map(|from| from[q]));
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use {transpose_plainly as transpose_f32, transpose_plainly as transpose_f64};

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{transpose_f32, transpose_f64};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{SIDE, transpose_plainly};
    use pulp::bytemuck::cast;
    use pulp::x86::V3;
    use std::arch::x86_64::{__m256, __m256d};

    // Loops in place of `map`: what is inside of a closure is not compiled for these vectors.
    #[inline(always)]
    pub(crate) fn transpose_f64(from: [&[f64; SIDE]; SIDE], to: &mut [f64], step: usize) {
        let Some(V3 { avx, .. }) = V3::try_new() else { return transpose_plainly(from, to, step) };
        for i in [0, 4] {
            for q in [0, 4] {
                let (a, b) = (four(from[i], q), four(from[i + 1], q));
                let (c, d) = (four(from[i + 2], q), four(from[i + 3], q));
                let (ab, ab_odd) = (avx._mm256_unpacklo_pd(a, b), avx._mm256_unpackhi_pd(a, b)); // a₀b₀a₂b₂, a₁b₁a₃b₃
                let (cd, cd_odd) = (avx._mm256_unpacklo_pd(c, d), avx._mm256_unpackhi_pd(c, d));
                let columns = [
                    avx._mm256_permute2f128_pd::<0x20>(ab, cd),
                    avx._mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd),
                    avx._mm256_permute2f128_pd::<0x31>(ab, cd),
                    avx._mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
                ];
                for (column, q) in columns.into_iter().zip(q..) {
                    let at = q * step + i;
                    to[at..at + 4].copy_from_slice(&cast::<_, [f64; 4]>(column));
                }
            }
        }
    }

    #[inline(always)]
    fn four(from: &[f64; SIDE], start: usize) -> __m256d {
        cast(*from[start..].first_chunk::<4>().expect("half of 8"))
    }

    #[inline(always)]
    pub(crate) fn transpose_f32(from: [&[f32; SIDE]; SIDE], to: &mut [f32], step: usize) {
        let Some(V3 { avx, .. }) = V3::try_new() else { return transpose_plainly(from, to, step) };
        // Of four rows: columns q and q + 4 in the halves of a vector.
        let mut fours: [[__m256; 4]; 2] = [[cast([0.0_f32; SIDE]); 4]; 2];
        for (fours, i) in fours.iter_mut().zip([0, 4]) {
            let (a, b): (__m256, __m256) = (cast(*from[i]), cast(*from[i + 1]));
            let (c, d): (__m256, __m256) = (cast(*from[i + 2]), cast(*from[i + 3]));
            let (ab, ab_late) = (avx._mm256_unpacklo_ps(a, b), avx._mm256_unpackhi_ps(a, b)); // a₀b₀a₁b₁…, a₂b₂a₃b₃…
            let (cd, cd_late) = (avx._mm256_unpacklo_ps(c, d), avx._mm256_unpackhi_ps(c, d));
            fours[0] = avx._mm256_shuffle_ps::<0b01_00_01_00>(ab, cd);
            fours[1] = avx._mm256_shuffle_ps::<0b11_10_11_10>(ab, cd);
            fours[2] = avx._mm256_shuffle_ps::<0b01_00_01_00>(ab_late, cd_late);
            fours[3] = avx._mm256_shuffle_ps::<0b11_10_11_10>(ab_late, cd_late);
        }
        for q in 0..4 {
            let (upper, lower) = (fours[0][q], fours[1][q]);
            let first = avx._mm256_permute2f128_ps::<0x20>(upper, lower);
            let second = avx._mm256_permute2f128_ps::<0x31>(upper, lower);
            to[q * step..q * step + SIDE].copy_from_slice(&cast::<_, [f32; SIDE]>(first));
            to[(q + 4) * step..(q + 4) * step + SIDE].copy_from_slice(&cast::<_, [f32; SIDE]>(second));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Copy + PartialEq + std::fmt::Debug>(
        transpose: fn([&[T; SIDE]; SIDE], &mut [T], usize),
        of: impl Fn(usize) -> T,
    ) {
        let square: [[T; SIDE]; SIDE] = std::array::from_fn(|i| std::array::from_fn(|q| of(SIDE * i + q)));
        let step = 11;
        let mut to = vec![of(99); SIDE * step];
        transpose(square.each_ref(), &mut to, step);
        for q in 0..SIDE {
            for i in 0..step {
                let expected = if i < SIDE { square[i][q] } else { of(99) };
                assert_eq!(to[q * step + i], expected, "row {i}, column {q}");
            }
        }
    }

    #[test]
    fn rows_become_columns_and_nothing_else_is_written() {
        check(transpose_f64, |x| x as f64);
        check(transpose_f32, |x| x as f32);
        check(transpose_plainly, |x| x);
    }
}
