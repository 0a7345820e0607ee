//! The leave-one-out density of a row given its neighbours, and its gradient by the hyper-parameters.

use super::{LocalProcess, LocalSpace};

/// `log N(y | g, v + τ)` of some rows, summed, and its gradient.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LocalGradient {
    /// The sum of log densities.
    pub value: f64,
    /// By each log ℓ.
    pub log_lengths: Vec<f64>,
    /// By log s.
    pub log_scale: f64,
    /// By log τ.
    pub log_noise: f64,
}

impl LocalProcess {
    /// Adds the log density of the label `y` of a row given its neighbours; `None` where something is not finite.
    ///
    /// With `α = (K+τI)⁻¹y`, `β = (K+τI)⁻¹k`, `a = (y−g)/var` and `c = ½((y−g)²/var² − 1/var)`, a change of `k` counts
    /// `aα − 2cβ` and a change of `K` counts `−aβαᵀ + cββᵀ`.
    pub fn add_log_density(
        &self,
        differences: &[f64],
        labels: &[f64],
        y: f64,
        space: &mut LocalSpace,
        to: &mut LocalGradient,
    ) -> Option<()> {
        let (k, d) = (labels.len(), self.groups.len());
        let (scale, noise) = (self.log_scale.exp(), self.log_noise.exp());
        let (mean, v) = self.condition(differences, labels, space)?;
        let (error, var) = (y - mean, v + noise);
        let (a, c) = (error / var, 0.5 * (error * error / (var * var) - 1.0 / var));
        to.value -= 0.5 * (error * error / var + var.ln() + std::f64::consts::TAU.ln());
        to.log_lengths.resize(self.log_lengths.len(), 0.0);
        // v = s − …, var = v + τ: what does not go through k and K.
        to.log_scale += c * scale;
        to.log_noise += c * noise;
        if k == 0 {
            return Some(());
        }
        let (alpha, beta) = space.solved.split_at(k);
        // Weight of −d(r²)/2 of every pair: d(sρ) = −sρ'/r · d(r²)/2.
        let mut pairs = vec![0.0; k * k];
        for p in 0..k {
            let by_k = a * alpha[p] - 2.0 * c * beta[p];
            to.log_scale += by_k * space.cross[p];
            for q in 0..=p {
                let both = if p == q { 0.5 } else { 1.0 };
                let by_pair =
                    both * (2.0 * c * beta[p] * beta[q] - a * (beta[p] * alpha[q] + beta[q] * alpha[p]));
                to.log_scale += by_pair * space.covariance[p * k + q];
                pairs[p * k + q] = by_pair * scale * self.family.decline(space.r[p * k + q]);
            }
            to.log_noise += noise * (c * beta[p] * beta[p] - a * beta[p] * alpha[p]);
        }
        for j in 0..d {
            let column = &space.scaled[j * k..][..k];
            let mut sum = 0.0;
            for p in 0..k {
                let by_k = (a * alpha[p] - 2.0 * c * beta[p]) * scale * self.family.decline(space.to_x[p]);
                let mut lanes = [0.0; 4];
                for (q, (weight, x)) in pairs[p * k..][..p].iter().zip(column).enumerate() {
                    lanes[q % 4] += weight * (x - column[p]) * (x - column[p]);
                }
                sum += by_k * column[p] * column[p] + lanes.iter().sum::<f64>();
            }
            // r² falls by 2 r_j² for each unit of log ℓ.
            to.log_lengths[self.groups[j]] += sum;
        }
        Some(())
    }
}
