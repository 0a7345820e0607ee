//! Products and solves of one vector in double precision, with matrices of either.

use crate::Real;
use crate::matrix::{column, vectorised};
use faer::MatRef;

/// Columns that are read together: each vector register of the other operand then serves that many.
const WIDTH: usize = 4;

/// `C` columns from `j` on, below row `top`.
#[inline(always)]
fn columns<T: Real, const C: usize>(matrix: MatRef<'_, T>, j: usize, top: usize) -> [&[T]; C] {
    std::array::from_fn(|c| &column(matrix, j + c)[top..])
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

/// `xᵀ columns_c` for each.
#[inline(always)]
fn dots<T: Real, const C: usize>(x: &[f64], columns: [&[T]; C]) -> [f64; C] {
    const LANES: usize = 8;
    let n = x.len();
    let columns = columns.map(|column| &column[..n]);
    let mut lanes = [[0.0; LANES]; C];
    let whole = n / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for c in 0..C {
            for (lane, sum) in lanes[c].iter_mut().enumerate() {
                let i = start + lane;
                *sum = columns[c][i].to_f64().times_plus(x[i], *sum);
            }
        }
    }
    let mut sums = lanes.map(|lanes| lanes.iter().sum::<f64>());
    for i in whole..n {
        for c in 0..C {
            sums[c] = columns[c][i].to_f64().times_plus(x[i], sums[c]);
        }
    }
    sums
}

/// `out = K x` in double precision.
pub(super) fn multiply<T: Real>(k: MatRef<'_, T>, x: &[f64], out: &mut [f64]) {
    let whole = x.len() / WIDTH * WIDTH;
    vectorised(
        #[inline(always)]
        || {
            out.fill(0.0);
            for j in (0..whole).step_by(WIDTH) {
                add_columns::<T, WIDTH>(out, columns(k, j, 0), std::array::from_fn(|c| x[j + c]));
            }
            for (j, &x) in x.iter().enumerate().skip(whole) {
                add_columns::<T, 1>(out, columns(k, j, 0), [x]);
            }
        },
    )
}

/// `x ← L⁻¹x` in double precision.
pub(super) fn solve_lower<T: Real>(l: MatRef<'_, T>, x: &mut [f64]) {
    #[inline(always)]
    fn block<T: Real, const C: usize>(l: MatRef<'_, T>, j: usize, x: &mut [f64]) {
        let (head, rest) = x[j..].split_at_mut(C);
        for (c, column) in columns::<T, C>(l, j, j).into_iter().enumerate() {
            head[c] /= column[c].to_f64();
            for row in c + 1..C {
                head[row] -= column[row].to_f64() * head[c];
            }
        }
        add_columns::<T, C>(rest, columns(l, j, j + C), std::array::from_fn(|c| -head[c]));
    }
    let (n, whole) = (x.len(), x.len() / WIDTH * WIDTH);
    vectorised(
        #[inline(always)]
        || {
            // Not `for_each`: a closure handed to an iterator is not compiled for the vector unit.
            for j in (0..whole).step_by(WIDTH) {
                block::<T, WIDTH>(l, j, x);
            }
            for j in whole..n {
                block::<T, 1>(l, j, x);
            }
        },
    )
}

/// `x ← L⁻ᵀx` in double precision.
pub(super) fn solve_upper<T: Real>(l: MatRef<'_, T>, x: &mut [f64]) {
    #[inline(always)]
    fn block<T: Real, const C: usize>(l: MatRef<'_, T>, j: usize, x: &mut [f64]) {
        let (head, rest) = x[j..].split_at_mut(C);
        let below = dots::<T, C>(rest, columns(l, j, j + C));
        for (c, column) in columns::<T, C>(l, j, j).into_iter().enumerate().rev() {
            head[c] -= below[c];
            for row in c + 1..C {
                head[c] -= column[row].to_f64() * head[row];
            }
            head[c] /= column[c].to_f64();
        }
    }
    let (n, whole) = (x.len(), x.len() / WIDTH * WIDTH);
    vectorised(
        #[inline(always)]
        || {
            for j in (whole..n).rev() {
                block::<T, 1>(l, j, x);
            }
            for j in (0..whole).step_by(WIDTH).rev() {
                block::<T, WIDTH>(l, j, x);
            }
        },
    )
}
