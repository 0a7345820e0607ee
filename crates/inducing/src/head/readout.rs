//! The head of pretraining, and the whole of a plain network: every member of the encoder learns the targets with its own
//! linear readout.
//!
//! ```text
//! f_k = Φ_k w_k + b_k  [N, C]        loss = Σ_k Σ_i ℓ(f_ki, y_i) / NK
//! numbers   ℓ = ½‖f − y‖²     classes   ℓ = −log p_y(f), p as the process has it without variance
//! ```
//! Afterwards the mean of the readouts, `w = [w₁ | … | w_K]/K`, `b = mean b_k`, is an inducing network's
//! pseudo-label function `r(z) = wᵀz + b`.

/// What a readout is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    Squares,
    Classes(gp::Link),
}

/// Sizes of the readouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Readout {
    pub(crate) features: usize,
    pub(crate) members: usize,
    pub(crate) outputs: usize,
    pub(crate) loss: Loss,
}

/// A batch as readouts see it.
#[derive(Clone, Copy)]
pub(crate) struct ReadoutBatch<'a> {
    pub(crate) phi: &'a [f32],     // [N, D]
    pub(crate) y: &'a [f32],       // [N, C], ±1 for classes
    pub(crate) weights: &'a [f64], // [N] or empty
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
        batch: ReadoutBatch<'_>,
        d_phi: &mut Vec<f32>,
        d_theta: &mut [f32],
    ) -> f64 {
        let (d, c, each) = (self.features, self.outputs, self.features / self.members);
        let ReadoutBatch { phi, y, weights } = batch;
        let n = y.len() / c;
        let (w, b) = theta.split_at(d * c);
        let (d_w, d_b) = d_theta.split_at_mut(d * c);
        d_phi.clear();
        d_phi.resize(n * d, 0.0);
        d_w.fill(0.0);
        d_b.fill(0.0);
        let (mut f, mut slope) = (vec![0.0_f32; c], vec![0.0_f32; c]);
        let mut loss = 0.0;
        for i in 0..n {
            let y = &y[i * c..(i + 1) * c];
            let weight = weights.get(i).copied().unwrap_or(1.0) / (n * self.members) as f64;
            for member in 0..self.members {
                let columns = member * each..(member + 1) * each;
                let w = &w[columns.start * c..columns.end * c];
                let row = &phi[i * d..][columns.clone()];
                f.copy_from_slice(&b[member * c..(member + 1) * c]);
                for (x, w) in row.iter().zip(w.chunks_exact(c)) {
                    f.iter_mut().zip(w).for_each(|(f, w)| *f += x * w);
                }
                loss += weight * self.row_loss(&f, y, &mut slope);
                slope.iter_mut().for_each(|s| *s *= weight as f32);
                d_b[member * c..(member + 1) * c].iter_mut().zip(&slope).for_each(|(d, s)| *d += s);
                let d_w = &mut d_w[columns.start * c..columns.end * c];
                for (x, d_w) in row.iter().zip(d_w.chunks_exact_mut(c)) {
                    d_w.iter_mut().zip(&slope).for_each(|(d, s)| *d += s * x);
                }
                let d_row = &mut d_phi[i * d..][columns];
                for (d, w) in d_row.iter_mut().zip(w.chunks_exact(c)) {
                    *d = w.iter().zip(&slope).map(|(w, s)| w * s).sum();
                }
            }
        }
        loss
    }

    /// ℓ of one row, and its slope by `f`.
    fn row_loss(&self, f: &[f32], y: &[f32], slope: &mut [f32]) -> f64 {
        let Loss::Classes(link) = self.loss else {
            let mut loss = 0.0;
            for ((f, y), slope) in f.iter().zip(y).zip(slope) {
                *slope = f - y;
                loss += 0.5 * f64::from(*slope).powi(2);
            }
            return loss;
        };
        let label = label_of(y);
        let f: Vec<f64> = f.iter().map(|&f| f64::from(f)).collect();
        let mut d_f = vec![0.0; f.len()];
        let loss = gp::class_loss(link, &f, 0.0, label, &mut d_f).0;
        slope.iter_mut().zip(d_f).for_each(|(slope, d)| *slope = d as f32);
        loss
    }

    /// The mean readout as `w [D, C]`, `b [C]`.
    pub(crate) fn mean(&self, theta: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (w, b) = theta.split_at(self.features * self.outputs);
        let share = 1.0 / self.members as f32;
        let bias = |output: usize| b.iter().skip(output).step_by(self.outputs).sum::<f32>() * share;
        (w.iter().map(|w| w * share).collect(), (0..self.outputs).map(bias).collect())
    }
}

/// `Φ w + b` of row-major `phi [N, D]`, `w [D, C]`: row-major `[N, C]`.
pub(crate) fn read_out(phi: &[f32], w: &[f32], b: &[f32]) -> Vec<f64> {
    let (c, d) = (b.len(), w.len() / b.len());
    let mut out = Vec::with_capacity(phi.len() / d * c);
    for row in phi.chunks_exact(d) {
        let mut f = b.to_vec();
        for (x, w) in row.iter().zip(w.chunks_exact(c)) {
            f.iter_mut().zip(w).for_each(|(f, w)| *f += x * w);
        }
        out.extend(f.iter().map(|&f| f64::from(f)));
    }
    out
}

/// The class of a row of ±1.
fn label_of(y: &[f32]) -> usize {
    match y {
        [only] => usize::from(*only > 0.0),
        _ => y.iter().position(|&y| y > 0.0).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(n: usize, k: f32) -> Vec<f32> {
        (0..n).map(|i| (i as f32 * k).sin()).collect()
    }

    fn assert_gradients(readout: Readout, y: &[f32], weights: &[f64]) {
        let n = y.len() / readout.outputs;
        let (theta, phi) = (wave(readout.len(), 1.3), wave(n * readout.features, 0.7));
        let (mut d_phi, mut d_theta) = (Vec::new(), vec![0.0; readout.len()]);
        readout.evaluate(&theta, ReadoutBatch { phi: &phi, y, weights }, &mut d_phi, &mut d_theta);
        let loss = |theta: &[f32], phi: &[f32]| {
            let batch = ReadoutBatch { phi, y, weights };
            readout.evaluate(theta, batch, &mut Vec::new(), &mut vec![0.0; readout.len()])
        };
        let h = 1e-2; // rounding of f32 (1e-7/h) and curvature (h²) are both small here
        let numeric = |moved: &dyn Fn(f32) -> f64| (moved(h) - moved(-h)) / (2.0 * f64::from(h));
        for i in 0..theta.len() {
            let moved = |h: f32| {
                let mut t = theta.clone();
                t[i] += h;
                loss(&t, &phi)
            };
            assert!((numeric(&moved) - f64::from(d_theta[i])).abs() < 1e-4, "{:?} theta[{i}]", readout.loss);
        }
        for i in 0..phi.len() {
            let moved = |h: f32| {
                let mut p = phi.clone();
                p[i] += h;
                loss(&theta, &p)
            };
            assert!((numeric(&moved) - f64::from(d_phi[i])).abs() < 1e-4, "{:?} phi[{i}]", readout.loss);
        }
    }

    #[test]
    fn gradients_equal_central_differences() {
        let readout = Readout { features: 4, members: 2, outputs: 2, loss: Loss::Squares };
        assert_gradients(readout, &wave(6, 2.1), &[]);
        for loss in [gp::Link::Probit, gp::Link::Logit].map(Loss::Classes) {
            let three = Readout { outputs: 3, loss, ..readout };
            assert_gradients(three, &[-1.0, 1.0, -1.0, 1.0, -1.0, -1.0], &[0.5, 2.0]);
            let two = Readout { outputs: 1, loss, ..readout };
            assert_gradients(two, &[1.0, -1.0, 1.0], &[]);
        }
    }

    #[test]
    fn the_mean_readout_predicts_the_mean_of_the_members() {
        let readout = Readout { features: 2, members: 2, outputs: 1, loss: Loss::Squares };
        let (w, b) = readout.mean(&[2.0, 4.0, 1.0, 3.0]);
        assert_eq!((w, b), (vec![1.0, 2.0], vec![2.0]));
    }
}
