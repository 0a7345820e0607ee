//! Thin words around faer: products on the threads given, and loops compiled for the widest vector unit.

use crate::Real;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// How many threads a call may use; 1 never touches the thread pool.
pub(crate) fn parallelism(threads: usize) -> Par {
    if threads > 1 { Par::rayon(threads) } else { Par::Seq }
}

/// `out = alpha · a b`.
pub(crate) fn product<T: Real>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>, alpha: f64, par: Par) {
    matmul(out, Accum::Replace, a, b, T::of(alpha), par);
}

/// `out += alpha · a b`.
pub(crate) fn add_product<T: Real>(
    out: MatMut<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: f64,
    par: Par,
) {
    matmul(out, Accum::Add, a, b, T::of(alpha), par);
}

/// Runs `work` compiled for the best instruction set found at run time (AVX-512, AVX2, …).
///
/// The closure must be `#[inline(always)]`-friendly: plain loops over slices, no calls into other crates.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// Contiguous column of a column-major matrix.
pub(crate) fn column<T: Real>(matrix: MatRef<'_, T>, j: usize) -> &[T] {
    matrix.col(j).try_as_col_major().expect("work space is column-major").as_slice()
}

/// Contiguous column of a column-major matrix, to be written.
pub(crate) fn column_mut<T: Real>(matrix: MatMut<'_, T>, j: usize) -> &mut [T] {
    matrix.col_mut(j).try_as_col_major_mut().expect("work space is column-major").as_slice_mut()
}

/// `Σ aᵢ bᵢ` in the order of one vector accumulator, so that the result does not depend on threads.
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    vectorised(
        #[inline(always)]
        || {
            let mut lanes = [T::default(); 16];
            let (a_blocks, b_blocks) = (a.chunks_exact(16), b.chunks_exact(16));
            let mut sum: T =
                a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(&x, &y)| x * y).sum();
            for (x, y) in a_blocks.zip(b_blocks) {
                for lane in 0..16 {
                    lanes[lane] += x[lane] * y[lane];
                }
            }
            for lane in lanes {
                sum += lane;
            }
            sum
        },
    )
}
