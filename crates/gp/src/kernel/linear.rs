//! `s·aᵀb + c`: the one kernel that is not stationary, so that its diagonal depends on the point.

use linalg::vector::{add_multiple, dot, squared_norms};
use linalg::{MatMut, MatRef, Real};

/// Turns a column of inner products into kernel values.
#[inline(always)]
pub(super) fn column<T: Real>(k: &mut [T], scale: T, offset: T) {
    k.iter_mut().for_each(|k| *k = scale * *k + offset);
}

/// `k(x, x) = s‖x‖² + c` for each column of `x [D, N]`.
pub(super) fn diagonal<T: Real>(x: MatRef<'_, T>, scale: f64, offset: f64) -> Vec<T> {
    squared_norms(x).into_iter().map(|n| T::from_f64(scale) * n + T::from_f64(offset)).collect()
}

/// Adds `2s·dᵢ·xᵢ` to `d_x`; returns the gradient by `[log s, log c]`.
pub(super) fn pull_back_diagonal<T: Real>(
    x: MatRef<'_, T>,
    d: impl Fn(usize) -> T,
    mut d_x: MatMut<'_, T>,
    scale: f64,
    offset: f64,
) -> [f64; 2] {
    let (mut squares, mut total) = (0.0, 0.0);
    for i in 0..x.ncols() {
        let (x, d) = (x.col(i), d(i));
        total += d.to_f64();
        squares += d.to_f64() * dot(x, x).to_f64();
        add_multiple(d_x.as_mut().col_mut(i), T::from_f64(2.0 * scale) * d, x);
    }
    [scale * squares, offset * total]
}
