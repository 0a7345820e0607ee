//! Dropout of what a block adds to its tokens.

use linalg::simd::{PIECE, each};

/// Which numbers dropout keeps: those whose draw reaches the threshold, made larger in return. A draw is a hash of seed
/// and place, so that there is nothing to store and loops need no order.
#[derive(Debug)]
pub(super) struct Mask {
    seed: [u32; 2],
    threshold: u32,
    keep: f32,
}

impl Mask {
    pub(super) fn new(share: f64, seed: u64) -> Self {
        let threshold = (share * 4_294_967_296.0) as u32;
        Self { seed: [seed as u32, (seed >> 32) as u32], threshold, keep: (1.0 / (1.0 - share)) as f32 }
    }

    /// The factor of one number.
    #[inline(always)]
    pub(super) fn factor(&self, index: u32) -> f32 {
        let draw = scrambled(scrambled(index ^ self.seed[0]) ^ self.seed[1]);
        if draw < self.threshold { 0.0 } else { self.keep }
    }

    /// `out = x ∘ mask`
    pub(super) fn apply(&self, x: &[f32], out: &mut [f32]) {
        each(
            out.chunks_mut(PIECE).zip(x.chunks(PIECE)).zip(0..),
            #[inline(always)]
            |((out, x), piece): (_, u32)| {
                for ((out, x), index) in out.iter_mut().zip(x).zip(piece * PIECE as u32..) {
                    *out = x * self.factor(index);
                }
            },
        );
    }
}

/// A bijection of which each bit depends on all (Wellons 2018, "lowbias32").
#[inline(always)]
fn scrambled(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}
