//! Eigenvalues and eigenvectors of a symmetric matrix.
//!
//! ```text
//! A V = V Λ      VᵀV = I      λ₀ ≤ λ₁ ≤ …
//! ```
//! Householder's reflections make the matrix tridiagonal, the QL method with implicit shifts makes it diagonal
//! (Golub & Van Loan 2013, algorithms 8.3.1 and 8.3.3): O(n³), for up to some 1000 rows.
//!
//! ```
//! use inducing_linalg::{Mat, eigen};
//! let a = Mat::from_fn(2, 2, |i, j| if i == j { 2.0 } else { 1.0 });
//! let eigen = eigen::symmetric(a.as_ref())?;
//! assert!((eigen.values[0] - 1.0).abs() < 1e-14 && (eigen.values[1] - 3.0).abs() < 1e-14);
//! assert!((eigen.vectors[(0, 1)] - eigen.vectors[(1, 1)]).abs() < 1e-14);
//! # Ok::<(), inducing_linalg::Error>(())
//! ```

use crate::gemm::{Triangle, copy_lower, mirror};
use crate::simd::vectorised;
use crate::vector::{add_multiple, dot};
use crate::{Error, Mat, MatRef};

/// Steps of QL for one eigenvalue; two or three are usual.
const MAX_STEPS: usize = 60;

/// See [`symmetric`].
#[derive(Debug, Clone)]
pub struct Eigen {
    /// Eigenvalues, ascending `[n]`.
    pub values: Vec<f64>,
    /// Their eigenvectors, in columns `[n, n]`: orthonormal, of either sign.
    pub vectors: Mat<f64>,
}

/// Decomposes `a`, of which the lower triangle is read, with contiguous columns.
///
/// # Panics
/// When `a` is not square.
pub fn symmetric(a: MatRef<'_, f64>) -> Result<Eigen, Error> {
    let n = a.nrows();
    assert_eq!(n, a.ncols(), "a square matrix");
    let mut reduced = Mat::zeros(n, n);
    copy_lower(a, reduced.as_mut());
    mirror(reduced.as_mut(), Triangle::Lower);
    let largest = reduced
        .as_ref()
        .col_iter()
        .flatten()
        .fold(0.0_f64, |largest, x| if x.is_finite() { largest.max(x.abs()) } else { f64::INFINITY });
    if !largest.is_finite() {
        return Err(Error::NotFinite);
    }
    // Numbers around 1, whose squares neither overflow nor vanish.
    let scale = if largest > 0.0 { largest } else { 1.0 };
    reduced.as_mut().col_iter_mut().flatten().for_each(|x| *x /= scale);

    let (mut diagonal, mut beside, mut vectors) = tridiagonalise(reduced);
    diagonalise(&mut diagonal, &mut beside, &mut vectors)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| diagonal[i].total_cmp(&diagonal[j]));
    let values = order.iter().map(|&i| scale * diagonal[i]).collect();
    Ok(Eigen { values, vectors: Mat::from_fn(n, n, |i, j| vectors[(i, order[j])]) })
}

/// `A = Q T Qᵀ`: T's diagonal `[n]`, what is beside it `[n]` (the last one is 0), and Q `[n, n]`.
fn tridiagonalise(mut a: Mat<f64>) -> (Vec<f64>, Vec<f64>, Mat<f64>) {
    let n = a.nrows();
    let (mut beside, mut betas, mut p) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for k in 0..n.saturating_sub(1) {
        let (left, mut rest) = a.as_mut().split_at_col_mut(k + 1);
        let v = &mut left.col_mut(k)[k + 1..]; // becomes v of H = I − βvvᵀ
        let square = dot(&v[1..], &v[1..]);
        if square == 0.0 {
            beside[k] = v[0];
            continue;
        }
        beside[k] = -(v[0] * v[0] + square).sqrt().copysign(v[0]);
        v[0] -= beside[k];
        let beta = 2.0 / (v[0] * v[0] + square);
        betas[k] = beta;
        // H A H = A − v wᵀ − w vᵀ      w = p − ½β(pᵀv)v      p = βAv
        let p = &mut p[..n - k - 1];
        p.fill(0.0);
        for (j, &v) in v.iter().enumerate() {
            add_multiple(p, beta * v, &rest.as_ref().col(j)[k + 1..]);
        }
        let along = -0.5 * beta * dot(p, v);
        add_multiple(p, along, v);
        for j in 0..v.len() {
            let (by_v, by_p, column) = (v[j], p[j], &mut rest.as_mut().col_mut(j)[k + 1..]);
            vectorised(
                #[inline(always)]
                || column.iter_mut().zip(&*v).zip(&*p).for_each(|((a, v), p)| *a -= v * by_p + p * by_v),
            );
        }
    }
    let diagonal = (0..n).map(|i| a[(i, i)]).collect();
    let mut q = Mat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
    for k in (0..n.saturating_sub(1)).rev().filter(|&k| betas[k] != 0.0) {
        let v = &a.col(k)[k + 1..];
        for j in k + 1..n {
            let column = &mut q.col_mut(j)[k + 1..];
            let along = -betas[k] * dot(v, column);
            add_multiple(column, along, v);
        }
    }
    (diagonal, beside, q)
}

/// Turns `diagonal` into eigenvalues and the columns of `vectors` with it, by rotations.
fn diagonalise(diagonal: &mut [f64], beside: &mut [f64], vectors: &mut Mat<f64>) -> Result<(), Error> {
    let (d, e, n) = (diagonal, beside, vectors.ncols());
    for l in 0..n {
        for step in 0.. {
            let small = |m: &usize| e[*m].abs() <= f64::EPSILON * (d[*m].abs() + d[*m + 1].abs());
            let m = (l..n - 1).find(small).unwrap_or(n - 1);
            if m == l {
                break;
            }
            if step == MAX_STEPS {
                return Err(Error::NotConverged { size: n });
            }
            // Wilkinson's shift.
            let ratio = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let mut g = d[m] - d[l] + e[l] / (ratio + ratio.hypot(1.0).copysign(ratio));
            let (mut sine, mut cosine, mut shift) = (1.0, 1.0, 0.0);
            let mut vanished = false;
            for i in (l..m).rev() {
                let (f, b) = (sine * e[i], cosine * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    // The matrix falls apart here.
                    d[i + 1] -= shift;
                    e[m] = 0.0;
                    vanished = true;
                    break;
                }
                (sine, cosine) = (f / r, g / r);
                g = d[i + 1] - shift;
                let r = (d[i] - g) * sine + 2.0 * cosine * b;
                shift = sine * r;
                d[i + 1] = g + shift;
                g = cosine * r - b;
                rotate(vectors, i, sine, cosine);
            }
            if !vanished {
                d[l] -= shift;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    Ok(())
}

/// Turns columns `i` and `i + 1` in their plane.
fn rotate(vectors: &mut Mat<f64>, i: usize, sine: f64, cosine: f64) {
    let (left, right) = vectors.as_mut().split_at_col_mut(i + 1);
    let (x, y) = (left.col_mut(i), right.col_mut(0));
    vectorised(
        #[inline(always)]
        || {
            for (x, y) in x.iter_mut().zip(y) {
                (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::{Plus, product};
    use faer::Side;
    use proptest::prelude::*;

    /// Largest entry of `A V − V Λ` and of `VᵀV − I`.
    fn errors(a: &Mat<f64>, eigen: &Eigen) -> [f64; 2] {
        let n = a.nrows();
        let v = eigen.vectors.as_ref();
        let (mut a_v, mut v_v) = (Mat::zeros(n, n), Mat::zeros(n, n));
        product(a_v.as_mut(), Plus::Nothing, a.as_ref(), v, 1.0);
        product(v_v.as_mut(), Plus::Nothing, v.transpose(), v, 1.0);
        let mut errors = [0.0_f64; 2];
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            errors[0] = errors[0].max((a_v[(i, j)] - v[(i, j)] * eigen.values[j]).abs());
            errors[1] = errors[1].max((v_v[(i, j)] - f64::from(u8::from(i == j))).abs());
        }
        errors
    }

    /// Identities, order, and faer's eigenvalues; errors are multiples of the precision, of the largest eigenvalue.
    #[track_caller]
    fn check(a: &Mat<f64>) {
        let n = a.nrows();
        // Above the diagonal stands what must never be read.
        let lower = Mat::from_fn(n, n, |i, j| if i >= j { a[(i, j)] } else { f64::NAN });
        let eigen = symmetric(lower.as_ref()).expect("finite");
        let size = eigen.values.iter().fold(f64::MIN_POSITIVE, |size, value| size.max(value.abs()));
        let tolerance = 2e-15 * (4.0 + n as f64);
        let [values, vectors] = errors(a, &eigen);
        assert!(values <= tolerance * size && vectors <= tolerance, "{n}: {values:e} {vectors:e}");
        assert!(eigen.values.is_sorted());
        let theirs = faer::Mat::from_fn(n, n, |i, j| a[(i, j)]).self_adjoint_eigenvalues(Side::Lower);
        for (ours, theirs) in eigen.values.iter().zip(theirs.expect("converges")) {
            assert!((ours - theirs).abs() <= tolerance * size, "{n}: {ours} {theirs}");
        }
    }

    #[test]
    fn identities_hold_for_matrices_of_every_kind() {
        for n in [1, 2, 3, 4, 7, 30, 64, 101, 200] {
            check(&Mat::zeros(n, n));
            check(&Mat::from_fn(n, n, |i, j| if i == j { i as f64 - 3.0 } else { 0.0 })); // already diagonal
            check(&Mat::from_fn(n, n, |_, _| 1e150)); // of rank 1, huge
            check(&Mat::from_fn(n, n, |i, j| 1e-160 / (1 + i + j) as f64)); // Hilbert's: ill-conditioned, tiny
            check(&Mat::from_fn(n, n, |i, j| if i.abs_diff(j) == 1 { 1.0 } else { 0.0 })); // pairs ±λ
            check(&Mat::from_fn(n, n, |i, j| 1.0 / (1.0 + (i as f64 - j as f64).powi(2))));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn identities_hold_for_random_matrices(n in 1..40usize, entries in proptest::collection::vec(-1.0..1.0, 1600)) {
            check(&Mat::from_fn(n, n, |i, j| entries[i.min(j) * 40 + i.max(j)]));
        }
    }

    #[test]
    fn what_is_not_finite_is_refused_and_nothing_has_no_eigenvalues() {
        for wrong in [f64::NAN, f64::INFINITY] {
            let a = Mat::from_fn(5, 5, |i, j| if i == 3 && j == 2 { wrong } else { 1.0 });
            assert_eq!(symmetric(a.as_ref()).err(), Some(Error::NotFinite));
        }
        assert!(symmetric(Mat::zeros(0, 0).as_ref()).expect("nothing to do").values.is_empty());
    }
}
