//! Features in two dimensions: the two directions along which they vary most (principal components).

use linalg::Mat;
use linalg::eigen;
use linalg::gemm::{Plus, product};

/// A map from features to the plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// `[D]`
    mean: Vec<f64>,
    /// Two unit vectors `[D]`; the largest entry of each is positive.
    axes: [Vec<f64>; 2],
    /// Share of the variance along each.
    pub explained: [f64; 2],
}

impl Projection {
    /// Of features, row-major `[N, D]`.
    ///
    /// # Panics
    /// When there are none.
    pub fn fit(phi: &[f32], d: usize) -> Self {
        let n = phi.len() / d;
        let mut mean = vec![0.0; d];
        for row in phi.chunks_exact(d) {
            mean.iter_mut().zip(row).for_each(|(mean, &x)| *mean += f64::from(x) / n as f64);
        }
        let centred = Mat::from_fn(n, d, |i, j| f64::from(phi[i * d + j]) - mean[j]);
        let mut cov = Mat::zeros(d, d);
        product(cov.as_mut(), Plus::Nothing, centred.transpose(), centred.as_ref(), 1.0 / n as f64);
        let total: f64 = (0..d).map(|i| cov[(i, i)]).sum();
        // Values come in ascending order. Features that are no numbers have no directions.
        let eigen = eigen::symmetric(cov.as_ref()).ok();
        let axis = |k: usize| match &eigen {
            Some(eigen) if k < d && total > 0.0 => {
                let vector: Vec<f64> = eigen.vectors.col(d - 1 - k).to_vec();
                let largest = vector.iter().fold(0.0, |a: f64, &x| if x.abs() > a.abs() { x } else { a });
                let share = (eigen.values[d - 1 - k] / total).clamp(0.0, 1.0);
                (vector.iter().map(|x| x * largest.signum()).collect(), share)
            }
            _ => (vec![0.0; d], 0.0),
        };
        let ((first, a), (second, b)) = (axis(0), axis(1));
        Self { mean, axes: [first, second], explained: [a, b] }
    }

    /// Features, row-major `[N, D]`, in the plane.
    pub fn apply(&self, phi: &[f32]) -> Vec<[f64; 2]> {
        let along = |row: &[f32], axis: &[f64]| {
            let term = |((&x, mean), axis): ((&f32, &f64), &f64)| (f64::from(x) - mean) * axis;
            row.iter().zip(&self.mean).zip(axis).map(term).sum()
        };
        phi.chunks_exact(self.mean.len())
            .map(|row| [along(row, &self.axes[0]), along(row, &self.axes[1])])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on an ellipse in a tilted plane of three dimensions: half axes 3 and 1.
    fn ellipse() -> Vec<f32> {
        let (a, b) = ([0.6, 0.8, 0.0], [0.0, 0.0, 1.0]);
        let point = |i: usize| {
            let angle = std::f64::consts::TAU * i as f64 / 40.0;
            (0..3).map(move |j| (5.0 + 3.0 * angle.cos() * a[j] + angle.sin() * b[j]) as f32)
        };
        (0..40).flat_map(point).collect()
    }

    #[test]
    fn the_axes_of_an_ellipse_are_found_with_their_shares() {
        let projection = Projection::fit(&ellipse(), 3);
        assert!((projection.explained[0] - 0.9).abs() < 1e-6, "{:?}", projection.explained);
        assert!((projection.explained[1] - 0.1).abs() < 1e-6);
        let plane = projection.apply(&ellipse());
        for (i, [x, y]) in plane.iter().enumerate() {
            let angle = std::f64::consts::TAU * i as f64 / 40.0;
            assert!((x - 3.0 * angle.cos()).abs() < 1e-5 && (y.abs() - angle.sin().abs()).abs() < 1e-5);
        }
    }

    #[test]
    fn one_feature_and_equal_features_have_a_place_too() {
        let line = Projection::fit(&[1.0, 2.0, 4.0], 1);
        assert_eq!(line.explained, [1.0, 0.0]);
        assert!(line.apply(&[1.0]).iter().all(|[_, y]| *y == 0.0));
        let point = Projection::fit(&[1.0, 2.0, 1.0, 2.0], 2);
        assert_eq!((point.explained, point.apply(&[7.0, 8.0])), ([0.0, 0.0], vec![[0.0, 0.0]]));
    }
}
