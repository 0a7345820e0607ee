//! Local inducing points: a process conditioned on the observed rows nearest to a point.
//!
//! ```text
//! g(x) = k_xNᵀ (K_NN + τI)⁻¹ y_N        v(x) = s − k_xNᵀ (K_NN + τI)⁻¹ k_Nx
//! k(a, b) = s·ρ(r)        r² = Σ_j (a_j − b_j)²/ℓ²_group(j)        ρ = exp(−r),  (1 + u)·exp(−u), u = √3r,  or  (1 + u + u²/3)·exp(−u), u = √5r
//! ```
//! The rows `N` join the inducing points of a network with their own, noisy labels; by the paper's Proposition 2 they can only
//! lower a variance. Coordinates that share a group share a length scale. Points are taken as differences from x: rows that
//! lie close together keep all their digits.

mod gradient;

pub use gradient::LocalGradient;

use linalg::{Cholesky, MatMut, MatRef};
use serde::{Deserialize, Serialize};

/// Family of the kernel of a [`LocalProcess`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matern {
    /// ν = 1/2: `exp(−r)`.
    Half,
    /// ν = 3/2: `(1 + √3r)·exp(−√3r)`.
    ThreeHalves,
    /// ν = 5/2: `(1 + √5r + 5r²/3)·exp(−√5r)`.
    FiveHalves,
}

impl Matern {
    /// ρ(r)
    pub fn correlation(self, r: f64) -> f64 {
        match self {
            Self::Half => (-r).exp(),
            Self::ThreeHalves => {
                let u = 3f64.sqrt() * r;
                (1.0 + u) * (-u).exp()
            }
            Self::FiveHalves => {
                let u = 5f64.sqrt() * r;
                (1.0 + u + u * u / 3.0) * (-u).exp()
            }
        }
    }

    /// `−ρ'(r)/r`, finite at zero but for ν = 1/2, where a point on another has no slope.
    fn decline(self, r: f64) -> f64 {
        match self {
            Self::Half if r > 0.0 => (-r).exp() / r,
            Self::Half => 0.0,
            Self::ThreeHalves => 3.0 * (-(3f64.sqrt()) * r).exp(),
            Self::FiveHalves => {
                let u = 5f64.sqrt() * r;
                5.0 / 3.0 * (1.0 + u) * (-u).exp()
            }
        }
    }
}

/// Hyper-parameters of a process on observed rows.
///
/// ```
/// use inducing_gp::{LocalProcess, LocalSpace, Matern};
/// let process = LocalProcess { family: Matern::Half, groups: vec![0], log_lengths: vec![0.0], log_scale: 0.0, log_noise: -9.0 };
/// // One row at a distance of 0.1 with label 2, one far away.
/// let mut space = LocalSpace::default();
/// let (mean, var) = process.condition(&[0.1, 50.0], &[2.0, -3.0], &mut space).expect("finite");
/// assert!((mean - 2.0 * (-0.1_f64).exp()).abs() < 1e-3 && var < 0.2);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalProcess {
    /// Family of the kernel.
    pub family: Matern,
    /// The group of each coordinate.
    pub groups: Vec<usize>,
    /// log ℓ of each group.
    pub log_lengths: Vec<f64>,
    /// log s
    pub log_scale: f64,
    /// log τ, the variance of a label's noise.
    pub log_noise: f64,
}

/// Work space of a [`LocalProcess`], to be used again and again.
#[derive(Debug, Default)]
pub struct LocalSpace {
    scaled: Vec<f64>,       // [d, k]  coordinates over their lengths, from x
    pub(super) r: Vec<f64>, // [k, k]  distances of neighbours
    to_x: Vec<f64>,         // [k]     distances from x
    covariance: Vec<f64>,   // [k, k]
    cross: Vec<f64>,        // [k]     k_Nx
    solved: Vec<f64>,       // [k, 2]  (K + τI)⁻¹ [y | k_Nx], column-major
    factor: Option<(usize, Cholesky<f64>)>,
}

impl LocalProcess {
    /// `1/ℓ` of each coordinate.
    pub fn inverse_lengths(&self) -> Vec<f64> {
        self.groups.iter().map(|&group| (-self.log_lengths[group]).exp()).collect()
    }

    /// Whether these are numbers that a fit can give, for points of some width.
    pub fn is_sound(&self, width: usize) -> bool {
        let small = |x: &f64| x.abs() <= 50.0;
        width > 0
            && self.groups.len() == width
            && self.groups.iter().all(|&group| group < self.log_lengths.len())
            && self.log_lengths.iter().chain([&self.log_scale, &self.log_noise]).all(small)
    }

    /// g and v at a point, from the differences of its neighbours' coordinates from its own, row-major `[k, d]`, and their labels
    /// `[k]`. `None` where something is not finite.
    pub fn condition(
        &self,
        differences: &[f64],
        labels: &[f64],
        space: &mut LocalSpace,
    ) -> Option<(f64, f64)> {
        let k = labels.len();
        if k == 0 {
            space.to_x.clear();
            return Some((0.0, self.log_scale.exp()));
        }
        self.solve(differences, labels, space)?;
        let (alpha, beta) = space.solved.split_at(k);
        let mean: f64 = space.cross.iter().zip(alpha).map(|(k, a)| k * a).sum();
        let explained: f64 = space.cross.iter().zip(beta).map(|(k, b)| k * b).sum();
        let scale = self.log_scale.exp();
        (mean.is_finite() && explained.is_finite()).then(|| (mean, (scale - explained).clamp(0.0, scale)))
    }

    /// Distances of the neighbours of the last point from it, in length scales.
    pub fn distances<'a>(&self, space: &'a LocalSpace) -> &'a [f64] {
        &space.to_x
    }

    /// Fills `space` up to `(K + τI)⁻¹ [y | k_Nx]`.
    fn solve(&self, differences: &[f64], labels: &[f64], space: &mut LocalSpace) -> Option<()> {
        let (k, d) = (labels.len(), self.groups.len());
        debug_assert_eq!(differences.len(), k * d, "one difference for each neighbour and coordinate");
        let (scale, noise) = (self.log_scale.exp(), self.log_noise.exp());
        let LocalSpace { scaled, r, to_x, covariance, cross, solved, factor } = space;
        scaled.clear();
        scaled.resize(d * k, 0.0);
        for (j, inverse) in self.inverse_lengths().into_iter().enumerate() {
            for (p, to) in scaled[j * k..][..k].iter_mut().enumerate() {
                *to = differences[p * d + j] * inverse;
            }
        }
        to_x.clear();
        to_x.resize(k, 0.0);
        r.clear();
        r.resize(k * k, 0.0);
        for column in scaled.chunks_exact(k) {
            for (sum, x) in to_x.iter_mut().zip(column) {
                *sum += x * x;
            }
            for (p, row) in r.chunks_exact_mut(k).enumerate() {
                let own = column[p];
                for (sum, x) in row[..=p].iter_mut().zip(column) {
                    *sum += (x - own) * (x - own);
                }
            }
        }
        to_x.iter_mut().for_each(|r| *r = r.sqrt());
        if !to_x.iter().all(|r| r.is_finite()) {
            return None;
        }
        cross.clear();
        cross.extend(to_x.iter().map(|&r| scale * self.family.correlation(r)));
        covariance.clear();
        covariance.resize(k * k, 0.0);
        for p in 0..k {
            for q in 0..=p {
                let distance = r[p * k + q].sqrt();
                let value = scale * self.family.correlation(distance);
                (r[p * k + q], r[q * k + p]) = (distance, distance);
                (covariance[p * k + q], covariance[q * k + p]) = (value, value);
            }
        }
        if factor.as_ref().is_none_or(|(size, _)| *size != k) {
            *factor = Some((k, Cholesky::with_size(k)));
        }
        let (_, factor) = factor.as_mut().expect("just filled");
        factor.factor(MatRef::from_column_major_slice(covariance, k, k), noise).ok()?;
        solved.clear();
        solved.extend_from_slice(labels);
        solved.extend_from_slice(cross);
        factor.solve(MatMut::from_column_major_slice_mut(solved, k, 2));
        Some(())
    }
}

#[cfg(test)]
mod tests;
