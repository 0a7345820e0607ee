//! The warm start's head: every member of the encoder learns the targets with a linear readout of its own.
//!
//! ```text
//! ŷ_k = Φ_k w_k + b_k  [N, C]        loss = Σ_k ‖ŷ_k − y‖² / (2NK)
//! ```
//! Afterwards the mean of the readouts, `w = [w₁ | … | w_K]/K`, `b = mean b_k`, is an inducing network's
//! pseudo-label function `r(z) = wᵀz + b`.

/// Sizes of the readouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Readout {
    pub(crate) features: usize,
    pub(crate) members: usize,
    pub(crate) outputs: usize,
}

impl Readout {
    /// Length of the flat parameters: `w [D, C]`, then `b [K, C]`.
    pub(crate) fn len(&self) -> usize {
        (self.features + self.members) * self.outputs
    }

    /// Loss, with its gradients by `phi [N, D]` and by the parameters written to `d_phi` and `d_theta`.
    pub(crate) fn evaluate(
        &self,
        theta: &[f32],
        phi: &[f32],
        y: &[f32],
        d_phi: &mut Vec<f32>,
        d_theta: &mut [f32],
    ) -> f64 {
        let (d, c, each) = (self.features, self.outputs, self.features / self.members);
        let n = y.len() / c;
        let (w, b) = theta.split_at(d * c);
        let (d_w, d_b) = d_theta.split_at_mut(d * c);
        d_phi.clear();
        d_phi.resize(n * d, 0.0);
        d_w.fill(0.0);
        d_b.fill(0.0);
        let scale = 1.0 / (n * self.members) as f32;
        let mut loss = 0.0;
        for i in 0..n {
            for member in 0..self.members {
                let columns = member * each..(member + 1) * each;
                let row = &phi[i * d..][columns.clone()];
                for output in 0..c {
                    let weights = |j: usize| w[(columns.start + j) * c + output];
                    let mut e = b[member * c + output] - y[i * c + output];
                    e += row.iter().enumerate().map(|(j, x)| x * weights(j)).sum::<f32>();
                    loss += 0.5 * f64::from(e) * f64::from(e);
                    let slope = e * scale;
                    d_b[member * c + output] += slope;
                    for (j, x) in row.iter().enumerate() {
                        d_w[(columns.start + j) * c + output] += slope * x;
                        d_phi[i * d + columns.start + j] += slope * weights(j);
                    }
                }
            }
        }
        loss / (n * self.members) as f64
    }

    /// The mean readout as `w [D, C]`, `b [C]`.
    pub(crate) fn mean(&self, theta: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (w, b) = theta.split_at(self.features * self.outputs);
        let share = 1.0 / self.members as f32;
        let bias = |output: usize| b.iter().skip(output).step_by(self.outputs).sum::<f32>() * share;
        (w.iter().map(|w| w * share).collect(), (0..self.outputs).map(bias).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_equal_central_differences() {
        let readout = Readout { features: 4, members: 2, outputs: 2 };
        let wave = |n: usize, k: f32| (0..n).map(|i| (i as f32 * k).sin()).collect::<Vec<_>>();
        let (theta, phi, y) = (wave(readout.len(), 1.3), wave(12, 0.7), wave(6, 2.1));
        let (mut d_phi, mut d_theta) = (Vec::new(), vec![0.0; readout.len()]);
        readout.evaluate(&theta, &phi, &y, &mut d_phi, &mut d_theta);
        let loss = |theta: &[f32], phi: &[f32]| {
            readout.evaluate(theta, phi, &y, &mut Vec::new(), &mut vec![0.0; readout.len()])
        };
        let h = 1e-2; // the loss is quadratic in each entry: only rounding of f32 (1e-7/h) is left
        for i in 0..theta.len() {
            let moved = |h: f32| {
                let mut t = theta.clone();
                t[i] += h;
                loss(&t, &phi)
            };
            let numeric = (moved(h) - moved(-h)) / (2.0 * f64::from(h));
            assert!((numeric - f64::from(d_theta[i])).abs() < 1e-4, "theta[{i}]");
        }
        for i in 0..phi.len() {
            let moved = |h: f32| {
                let mut p = phi.clone();
                p[i] += h;
                loss(&theta, &p)
            };
            let numeric = (moved(h) - moved(-h)) / (2.0 * f64::from(h));
            assert!((numeric - f64::from(d_phi[i])).abs() < 1e-4, "phi[{i}]");
        }
    }

    #[test]
    fn the_mean_readout_predicts_the_mean_of_the_members() {
        let readout = Readout { features: 2, members: 2, outputs: 1 };
        let (w, b) = readout.mean(&[2.0, 4.0, 1.0, 3.0]);
        assert_eq!((w, b), (vec![1.0, 2.0], vec![2.0]));
    }
}
