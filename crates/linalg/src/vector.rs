//! Sums and multiples of vectors, compiled for the widest vector unit.
//!
//! ```
//! use inducing_linalg::vector::{add_multiple, dot};
//! let mut y = [1.0, 1.0];
//! add_multiple(&mut y, 2.0, &[3.0, 4.0]);
//! assert_eq!((y, dot(&y, &[1.0, 1.0])), ([7.0, 9.0], 16.0));
//! ```

use crate::simd::vectorised;
use crate::{MatRef, Real};
use pulp::{Simd, WithSimd};

/// `Σ aᵢ bᵢ` in the order of one vector accumulator, so that the result does not depend on threads.
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    vectorised(
        #[inline(always)]
        move || dot_here(a, b),
    )
}

/// The same inside of [`vectorised`] or a `WithSimd`.
#[inline(always)]
pub fn dot_here<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::default(); 16];
    let (a_blocks, b_blocks) = (a.chunks_exact(16), b.chunks_exact(16));
    let mut sum: T = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(&x, &y)| x * y).sum();
    for (x, y) in a_blocks.zip(b_blocks) {
        for lane in 0..16 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    for lane in lanes {
        sum += lane;
    }
    sum
}

/// `out = factor · x`.
pub fn scale_into<T: Real>(out: &mut [T], x: &[T], factor: T) {
    vectorised(
        #[inline(always)]
        move || out.iter_mut().zip(x).for_each(|(o, &x)| *o = x * factor),
    );
}

/// `out += x`.
pub fn add<T: Real>(out: &mut [T], x: &[T]) {
    vectorised(
        #[inline(always)]
        move || out.iter_mut().zip(x).for_each(|(o, &x)| *o += x),
    );
}

/// `out += factor · x`.
pub fn add_multiple<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    vectorised(
        #[inline(always)]
        move || out.iter_mut().zip(x).for_each(|(o, &x)| *o += factor * x),
    );
}

/// `‖xⱼ‖²` for each column.
pub fn squared_norms<T: Real>(x: MatRef<'_, T>) -> Vec<T> {
    vectorised(
        #[inline(always)]
        || (0..x.ncols()).map(|j| dot_here(x.col(j), x.col(j))).collect(),
    )
}

/// `outⱼ −= ‖aⱼ‖²` for all columns: one dispatch for many short ones.
pub fn subtract_squared_norms<T: Real>(a: MatRef<'_, T>, out: &mut [T]) {
    pulp::Arch::new().dispatch(SubtractSquares { a, out });
}

struct SubtractSquares<'a, T: Real> {
    a: MatRef<'a, T>,
    out: &'a mut [T],
}

impl<T: Real> WithSimd for SubtractSquares<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (j, out) in self.out.iter_mut().enumerate() {
            let a = self.a.col(j);
            *out -= dot_here(a, a);
        }
    }
}
