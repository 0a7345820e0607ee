//! Adam with decoupled weight decay over one flat vector (Kingma & Ba 2015; Loshchilov & Hutter 2019).
//!
//! By hand because one fused pass over a flat vector is all there is to it, and because its whole state is
//! then two slices and a counter, which a checkpoint can hold to the last bit.

use pulp::{Arch, Simd, WithSimd};

/// A stretch of the vector with its own step size and decay.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Segment {
    pub(crate) len: usize,
    /// Multiple of the learning rate; 0 freezes the stretch.
    pub(crate) rate: f64,
    pub(crate) decay: f64,
}

/// Moments and step counter.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Adam {
    pub(crate) first: Vec<f32>,
    pub(crate) second: Vec<f32>,
    pub(crate) steps: u64,
}

const BETA_1: f64 = 0.9;
const BETA_2: f64 = 0.999;
const EPSILON: f32 = 1e-8;

impl Adam {
    pub(crate) fn new(len: usize) -> Self {
        Self { first: vec![0.0; len], second: vec![0.0; len], steps: 0 }
    }

    /// One step of size `rate` against `gradient`, which is first scaled by `shrink` (clipping).
    pub(crate) fn step(
        &mut self,
        theta: &mut [f32],
        gradient: &[f32],
        segments: &[Segment],
        rate: f64,
        shrink: f32,
    ) {
        self.steps += 1;
        let t = self.steps as i32;
        let correction = (1.0 - BETA_2.powi(t)).sqrt() / (1.0 - BETA_1.powi(t));
        let bias = (1.0 - BETA_2.powi(t)).sqrt() as f32;
        let mut start = 0;
        for segment in segments {
            let range = start..start + segment.len;
            start += segment.len;
            if segment.rate == 0.0 {
                continue;
            }
            Arch::new().dispatch(Update {
                theta: &mut theta[range.clone()],
                gradient: &gradient[range.clone()],
                first: &mut self.first[range.clone()],
                second: &mut self.second[range],
                shrink,
                step: (rate * segment.rate * correction) as f32,
                keep: (1.0 - rate * segment.rate * segment.decay) as f32,
                epsilon: EPSILON * bias,
            });
        }
    }
}

/// One stretch's step, compiled for the widest vectors: an embedding table has more parameters than all else.
struct Update<'a> {
    theta: &'a mut [f32],
    gradient: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    shrink: f32,
    step: f32,
    keep: f32,
    epsilon: f32,
}

impl WithSimd for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { shrink, step, keep, epsilon, .. } = self;
        let (beta_1, beta_2) = (BETA_1 as f32, BETA_2 as f32);
        let moments = self.first.iter_mut().zip(self.second);
        for ((x, &g), (m, v)) in self.theta.iter_mut().zip(self.gradient).zip(moments) {
            let g = g * shrink;
            *m = flushed(beta_1 * *m + (1.0 - beta_1) * g);
            *v = flushed(beta_2 * *v + (1.0 - beta_2) * g * g);
            *x = *x * keep - step * *m / (v.sqrt() + epsilon);
        }
    }
}

/// Zero where nobody sees the difference: beside ε = 1e-8 a root of 1e-16 is nothing. The moments of a word that has not
/// been met for 800 steps would be denormal numbers from then on, and slow each step a hundredfold.
#[inline(always)]
fn flushed(moment: f32) -> f32 {
    if moment.abs() < 1e-32 { 0.0 } else { moment }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_learning_rate_s_size_whatever_the_gradient_s() {
        let mut theta = [1.0_f32, 1.0, 1.0];
        let segments = [Segment { len: 2, rate: 1.0, decay: 0.0 }, Segment { len: 1, rate: 0.0, decay: 0.0 }];
        Adam::new(3).step(&mut theta, &[1e-3, -1e3, 5.0], &segments, 0.01, 1.0);
        assert!((theta[0] - 0.99).abs() < 1e-6 && (theta[1] - 1.01).abs() < 1e-6);
        assert_eq!(theta[2], 1.0, "a frozen stretch does not move");
    }

    #[test]
    fn moments_without_gradients_end_as_zeros() {
        let (mut theta, mut adam) = ([1.0_f32], Adam::new(1));
        let segments = [Segment { len: 1, rate: 1.0, decay: 0.0 }];
        adam.step(&mut theta, &[1e-3], &segments, 1e-3, 1.0);
        for _ in 0..1000 {
            adam.step(&mut theta, &[0.0], &segments, 1e-3, 1.0);
        }
        assert_eq!(adam.first, [0.0]);
    }

    #[test]
    fn it_finds_the_minimum_of_a_parabola() {
        let (mut theta, mut adam) = ([5.0_f32], Adam::new(1));
        for _ in 0..2000 {
            let gradient = [2.0 * (theta[0] - 3.0)];
            adam.step(&mut theta, &gradient, &[Segment { len: 1, rate: 1.0, decay: 0.0 }], 0.05, 1.0);
        }
        assert!((theta[0] - 3.0).abs() < 1e-3);
    }
}
