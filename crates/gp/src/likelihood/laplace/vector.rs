//! Products with one vector in double precision, of matrices of either.

use linalg::simd::vectorised;
use linalg::{MatRef, Real};

/// Columns that are read together: each vector register of the other operand then serves that many.
const WIDTH: usize = 4;

/// `C` columns from `j` on.
#[inline(always)]
fn columns<T: Real, const C: usize>(matrix: MatRef<'_, T>, j: usize) -> [&[T]; C] {
    std::array::from_fn(|c| matrix.col(j + c))
}

/// `out += Σ_c factors_c · columns_c`.
#[inline(always)]
fn add_columns<T: Real, const C: usize>(out: &mut [f64], columns: [&[T]; C], factors: [f64; C]) {
    let n = out.len();
    let columns = columns.map(|column| &column[..n]);
    for i in 0..n {
        for c in 0..C {
            out[i] = columns[c][i].to_f64().times_plus(factors[c], out[i]);
        }
    }
}

/// `out = K x` in double precision.
pub(super) fn multiply<T: Real>(k: MatRef<'_, T>, x: &[f64], out: &mut [f64]) {
    let whole = x.len() / WIDTH * WIDTH;
    vectorised(
        #[inline(always)]
        || {
            out.fill(0.0);
            for j in (0..whole).step_by(WIDTH) {
                add_columns::<T, WIDTH>(out, columns(k, j), std::array::from_fn(|c| x[j + c]));
            }
            for (j, &x) in x.iter().enumerate().skip(whole) {
                add_columns::<T, 1>(out, columns(k, j), [x]);
            }
        },
    )
}
