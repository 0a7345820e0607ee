//! Adam with decoupled weight decay over one flat vector (Kingma & Ba 2015; Loshchilov & Hutter 2019).
//!
//! By hand because one fused pass over a flat vector is all there is to it, and because its whole state is
//! then two slices and a counter, which a checkpoint can hold to the last bit.

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
        let (beta_1, beta_2) = (BETA_1 as f32, BETA_2 as f32);
        let correction = (1.0 - BETA_2.powi(t)).sqrt() / (1.0 - BETA_1.powi(t));
        let bias = (1.0 - BETA_2.powi(t)).sqrt() as f32;
        let mut start = 0;
        for segment in segments {
            let range = start..start + segment.len;
            start += segment.len;
            if segment.rate == 0.0 {
                continue;
            }
            let step = (rate * segment.rate * correction) as f32;
            let keep = (1.0 - rate * segment.rate * segment.decay) as f32;
            let moments = self.first[range.clone()].iter_mut().zip(&mut self.second[range.clone()]);
            for ((x, &g), (m, v)) in theta[range.clone()].iter_mut().zip(&gradient[range]).zip(moments) {
                let g = g * shrink;
                *m = beta_1 * *m + (1.0 - beta_1) * g;
                *v = beta_2 * *v + (1.0 - beta_2) * g * g;
                *x = *x * keep - step * *m / (v.sqrt() + EPSILON * bias);
            }
        }
    }
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
    fn it_finds_the_minimum_of_a_parabola() {
        let (mut theta, mut adam) = ([5.0_f32], Adam::new(1));
        for _ in 0..2000 {
            let gradient = [2.0 * (theta[0] - 3.0)];
            adam.step(&mut theta, &gradient, &[Segment { len: 1, rate: 1.0, decay: 0.0 }], 0.05, 1.0);
        }
        assert!((theta[0] - 3.0).abs() < 1e-3);
    }
}
