//! Halves of symmetric matrices.

use super::transpose::SIDE;
use crate::simd::vectorised;
use crate::{MatMut, MatRef, Real};

/// A half of a symmetric matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// What is below the diagonal.
    Lower,
    /// What is above it.
    Upper,
}

/// Copies a triangle to the other one.
///
/// ```
/// use inducing_linalg::gemm::{Triangle, mirror};
/// let mut a = inducing_linalg::Mat::from_fn(2, 2, |i, j| (10 * i + j) as f64);
/// mirror(a.as_mut(), Triangle::Lower);
/// assert_eq!(a[(0, 1)], 10.0);
/// ```
pub fn mirror<T: Real>(mut matrix: MatMut<'_, T>, from: Triangle) {
    let n = matrix.nrows();
    for start in (0..n).step_by(SIDE) {
        let end = n.min(start + SIDE);
        for j in start..end {
            for i in j + 1..end {
                match from {
                    Triangle::Lower => matrix[(j, i)] = matrix[(i, j)],
                    Triangle::Upper => matrix[(i, j)] = matrix[(j, i)],
                }
            }
        }
        let (left, right) = matrix.as_mut().split_at_col_mut(end);
        let (below, beside) =
            (left.submatrix_mut(end, start, n - end, end - start), right.subrows_mut(start, end - start));
        match from {
            Triangle::Lower => transpose(below.as_ref(), beside),
            Triangle::Upper => transpose(beside.as_ref(), below),
        }
    }
}

/// `to = fromᵀ`, in squares.
fn transpose<T: Real>(from: MatRef<'_, T>, mut to: MatMut<'_, T>) {
    let (rows, columns) = (from.nrows(), from.ncols());
    let mut square = [T::default(); SIDE * SIDE];
    for j in (0..columns).step_by(SIDE) {
        for i in (0..rows).step_by(SIDE) {
            if i + SIDE > rows || j + SIDE > columns {
                for (i, j) in
                    (i..rows.min(i + SIDE)).flat_map(|i| (j..columns.min(j + SIDE)).map(move |j| (i, j)))
                {
                    to[(j, i)] = from[(i, j)];
                }
                continue;
            }
            let squares: [&[T; SIDE]; SIDE] =
                std::array::from_fn(|q| from.col(j + q)[i..].first_chunk().expect("a whole square"));
            vectorised(
                #[inline(always)]
                || T::transpose(squares, &mut square, SIDE),
            );
            for (q, column) in square.as_chunks::<SIDE>().0.iter().enumerate() {
                to.as_mut().col_mut(i + q)[j..j + SIDE].copy_from_slice(column);
            }
        }
    }
}

/// Copies the lower triangle with the diagonal; what is above it is left as it was.
pub fn copy_lower<T: Real>(from: MatRef<'_, T>, mut to: MatMut<'_, T>) {
    for j in 0..from.ncols() {
        to.as_mut().col_mut(j)[j..].copy_from_slice(&from.col(j)[j..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mat;

    #[test]
    fn a_mirrored_triangle_is_symmetric_whatever_its_size() {
        for n in [1, 7, 8, 9, 30, 64, 67] {
            let full = Mat::from_fn(n, n, |i, j| (i.min(j) * 100 + i.max(j)) as f64);
            for from in [Triangle::Lower, Triangle::Upper] {
                let kept = |i: usize, j: usize| if from == Triangle::Lower { i >= j } else { i <= j };
                let mut found = Mat::from_fn(n, n, |i, j| if kept(i, j) { full[(i, j)] } else { f64::NAN });
                mirror(found.as_mut(), from);
                assert_eq!(found, full, "{n}, {from:?}");
            }
        }
    }
}
