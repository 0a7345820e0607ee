//! Inducing points and their pseudo-labels `r(z) = wᵀz + b`.

use linalg::{MatRef, Real};

/// Inducing points with one column of pseudo-label weights an output.
///
/// ```
/// use inducing_gp::InducingPoints;
/// let points = InducingPoints::new(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[0.5, 0.5], &[1.0]);
/// assert_eq!((points.len(), points.dim(), points.outputs()), (3, 2, 1));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct InducingPoints<T: Real> {
    /// Z, row-major `[M, D]`.
    pub z: Vec<T>,
    /// w, row-major `[D, C]`.
    pub w: Vec<T>,
    /// b `[C]`.
    pub b: Vec<T>,
}

impl<T: Real> InducingPoints<T> {
    /// Copies the three parts; `M`, `D` and `C` follow from their lengths.
    ///
    /// # Panics
    /// When the lengths are not multiples of each other.
    pub fn new(z: &[T], w: &[T], b: &[T]) -> Self {
        assert!(
            !b.is_empty() && !w.is_empty() && w.len().is_multiple_of(b.len()),
            "w is [D, C] and b is [C]"
        );
        let points = Self { z: z.to_vec(), w: w.to_vec(), b: b.to_vec() };
        assert!(!z.is_empty() && z.len().is_multiple_of(points.dim()), "z is [M, D] and w is [D, C]");
        points
    }

    /// M
    pub fn len(&self) -> usize {
        self.z.len() / self.dim()
    }

    /// Whether there is no inducing point; never true for points made by [`InducingPoints::new`].
    pub fn is_empty(&self) -> bool {
        self.z.is_empty()
    }

    /// D
    pub fn dim(&self) -> usize {
        self.w.len() / self.b.len()
    }

    /// C
    pub fn outputs(&self) -> usize {
        self.b.len()
    }

    /// Z with the points as columns `[D, M]`.
    pub(crate) fn columns(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.z, self.dim(), self.len())
    }

    /// w as a matrix `[D, C]`.
    pub(crate) fn weights(&self) -> MatRef<'_, T> {
        MatRef::from_row_major_slice(&self.w, self.dim(), self.outputs())
    }
}
