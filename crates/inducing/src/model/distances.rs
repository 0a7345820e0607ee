//! How far held-out rows were from their neighbours: what is usual, what is far.

use gp::Matern;
use serde::{Deserialize, Serialize};

/// Quantiles that are stored at most.
const QUANTILES: usize = 200;
/// Neighbour whose distance says how far a row is.
const RANK: usize = 8;
/// Beyond how many times the largest usual distance a row is far from all.
const FAR: f64 = 2.0;

/// Quantiles of distances, not decreasing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Distances(Vec<f64>);

impl Distances {
    /// Of held-out rows.
    pub(crate) fn new(mut distances: Vec<f64>) -> Self {
        distances.retain(|d| d.is_finite());
        distances.sort_by(f64::total_cmp);
        let (n, count) = (distances.len(), QUANTILES.min(distances.len()));
        Self((0..count).map(|i| distances[((i + 1) * n / count).saturating_sub(1)]).collect())
    }

    /// The quantiles, not decreasing.
    pub fn quantiles(&self) -> &[f64] {
        &self.0
    }

    /// How far a row is whose neighbours are so far, nearest first.
    pub(crate) fn of_row(r: &[f64]) -> f64 {
        // What is not a number is as far as can be; so is a row without neighbours.
        let farther = |a: f64, &b: &f64| if b.is_nan() { f64::INFINITY } else { a.max(b) };
        if r.is_empty() { f64::INFINITY } else { r.iter().take(RANK).fold(0.0, farther) }
    }

    /// From 0 where training rows are to 1 where none is, and none says anything of a point at that distance, in length scales.
    pub(crate) fn far(&self, distance: f64, family: Matern) -> f64 {
        let unknown = 1.0 - family.correlation(distance);
        if distance.is_finite() { self.beyond(distance) * unknown.clamp(0.0, 1.0) } else { 1.0 }
    }

    /// From 0 to 1, by how much more than usual it is.
    pub(crate) fn beyond(&self, distance: f64) -> f64 {
        let Some(&usual) = self.0.last() else { return 0.0 };
        let times = distance / usual.max(1e-9);
        if times.is_nan() { 1.0 } else { ((times - 1.0) / (FAR - 1.0)).clamp(0.0, 1.0) }
    }

    /// Share of held-out rows that were at least as far: a p-value.
    pub(crate) fn familiarity(&self, distance: f64) -> f64 {
        let nearer = self.0.partition_point(|&other| other < distance);
        (self.0.len() - nearer) as f64 / self.0.len().max(1) as f64
    }

    /// Whether these are numbers that a fit can give.
    pub(crate) fn is_sound(&self) -> bool {
        self.0.iter().all(|d| d.is_finite() && *d >= 0.0) && self.0.windows(2).all(|pair| pair[0] <= pair[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn familiarity_falls_and_distance_rises_to_its_end() {
        let usual = Distances::new((0..1000).map(|i| f64::from(i) / 1000.0).collect());
        assert_eq!(usual.0.len(), QUANTILES);
        let far = |distance| usual.far(distance, Matern::Half);
        assert_eq!((usual.familiarity(0.0), far(0.9)), (1.0, 0.0));
        assert!((usual.familiarity(0.5) - 0.5).abs() < 0.01);
        assert_eq!((usual.familiarity(1.5), far(50.0), usual.beyond(f64::NAN)), (0.0, 1.0, 1.0));
        assert!(far(f64::INFINITY) == 1.0 && far(1.5) < far(2.5));
        assert_eq!(usual.familiarity(f64::INFINITY), 0.0);
        assert!(usual.is_sound() && Distances::default().is_sound());
    }
}
