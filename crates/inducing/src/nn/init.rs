//! Initial parameters and dropout masks, every number from a seed.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Uniform with variance `2 / (inputs + outputs)` (Glorot & Bengio 2010).
pub(super) fn glorot(out: &mut [f32], [inputs, outputs]: [usize; 2], rng: &mut ChaCha8Rng) {
    let bound = (6.0 / (inputs + outputs) as f32).sqrt();
    out.iter_mut().for_each(|x| *x = rng.random_range(-bound..bound));
}

/// Normal with the given deviation (Box–Muller).
pub(super) fn normal(out: &mut [f32], deviation: f64, rng: &mut ChaCha8Rng) {
    for x in out {
        let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
        *x = (deviation * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32;
    }
}

/// Zeros with probability `share`, else `1/(1−share)`.
pub(super) fn dropout_mask(len: usize, share: f64, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let keep = (1.0 / (1.0 - share)) as f32;
    let threshold = (share * 65536.0) as u32;
    let mut mask = Vec::with_capacity(len + 1);
    while mask.len() < len {
        let bits = rng.next_u32();
        mask.push(if bits & 0xffff < threshold { 0.0 } else { keep });
        mask.push(if bits >> 16 < threshold { 0.0 } else { keep });
    }
    mask.truncate(len);
    mask
}
