//! Products on the threads given, and loops compiled for the widest vector unit.
//!
//! Work is shared by halving matrices and `rayon::join`: faer's own parallel products wait in spinning barriers, which
//! costs more than it brings at these sizes and collapses on a busy machine. Halving never changes the order in which
//! an entry is summed.

use crate::Real;
use crate::square::SIDE;
use crate::tile::{Part, SMALLEST, multiply as multiply_tiles};
use faer::{Accum, Mat, MatMut, MatRef};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a thread that has nothing to do stays awake. A step has gaps of some 100 µs; a sleeper begins 24 µs late and
/// makes the other wait as long for the end: two halves of 50 µs took 95, and 51 with a thread that was awake.
const AWAKE: Duration = Duration::from_millis(2);
/// How many stay awake at most: a step has work for few.
const MOST_AWAKE: usize = 4;

/// Runs `work` where its `rayon::join`s are cheap: inside the pool, entered once instead of at every join, and with other
/// threads that stay awake between them.
pub(crate) fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if threads < 2 {
        return work();
    }
    let done = AtomicBool::new(false);
    rayon::scope(|scope| {
        let home = rayon::current_thread_index();
        for _ in 1..threads.min(MOST_AWAKE) {
            let done = &done;
            scope.spawn(move |_| {
                if rayon::current_thread_index() != home {
                    stay_awake(done);
                }
            });
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// Takes work from the others until all is done, or none has come for a while: somebody else may wait for this thread.
fn stay_awake(done: &AtomicBool) {
    let mut idle = Instant::now();
    while !done.load(Ordering::Relaxed) && idle.elapsed() < AWAKE {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => idle = Instant::now(),
            _ => std::thread::yield_now(),
        }
    }
}

/// Both, at the same time where there are two threads.
pub(crate) fn both<A: Send, B: Send>(
    threads: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads < 2 { (a(), b()) } else { rayon::join(a, b) }
}

/// Columns in one strip.
pub(crate) const STRIP: usize = 64;

/// Calls `work(start, strip)` for strips of columns, on the threads given; the results in order.
pub(crate) fn strips<T: Real, R: Send>(
    matrix: MatMut<'_, T>,
    threads: usize,
    work: &(impl Fn(usize, MatMut<'_, T>) -> R + Sync),
) -> Vec<R> {
    strips_of([Some(matrix)], threads, &|start, [strip]| work(start, strip.expect("it is given")))
}

/// The same for several matrices of equal size, of which some may be missing.
pub(crate) fn strips_of<T: Real, R: Send, const N: usize>(
    mut matrices: [Option<MatMut<'_, T>>; N],
    threads: usize,
    work: &(impl Fn(usize, [Option<MatMut<'_, T>>; N]) -> R + Sync),
) -> Vec<R> {
    let columns = matrices.iter().flatten().map(|matrix| matrix.ncols()).next().unwrap_or(0);
    let mut parts = Vec::new();
    for start in (0..columns).step_by(STRIP) {
        let width = STRIP.min(columns - start);
        let strips = matrices.each_mut().map(|matrix| {
            let (strip, rest) = matrix.take()?.split_at_col_mut(width);
            *matrix = Some(rest);
            Some(strip)
        });
        parts.push((start, strips));
    }
    if threads < 2 {
        return parts.into_iter().map(|(start, strips)| work(start, strips)).collect();
    }
    parts.into_par_iter().with_max_len(1).map(|(start, strips)| work(start, strips)).collect()
}

/// Below so many multiplications a second thread costs more than it brings.
const WORTH_SHARING: usize = 1 << 21;

/// `out = alpha · a b`.
pub(crate) fn product<T: Real>(
    out: MatMut<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: f64,
    threads: usize,
) {
    shared_product(out, Accum::Replace, a, b, T::of(alpha), threads);
}

/// `out += alpha · a b`.
pub(crate) fn add_product<T: Real>(
    out: MatMut<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: f64,
    threads: usize,
) {
    shared_product(out, Accum::Add, a, b, T::of(alpha), threads);
}

fn shared_product<T: Real>(
    out: MatMut<'_, T>,
    accumulate: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: T,
    threads: usize,
) {
    let (rows, columns) = (out.nrows(), out.ncols());
    if threads < 2 || rows * columns * a.ncols() < WORTH_SHARING || rows.max(columns) < 4 * SMALLEST {
        return multiply_tiles(out, Part::All, accumulate, a, b, alpha);
    }
    let (left, right) = (threads / 2, threads - threads / 2);
    if columns >= rows {
        let middle = cut(columns, left, threads);
        let (out_left, out_right) = out.split_at_col_mut(middle);
        let (b_left, b_right) = b.split_at_col(middle);
        rayon::join(
            || shared_product(out_left, accumulate, a, b_left, alpha, left),
            || shared_product(out_right, accumulate, a, b_right, alpha, right),
        );
    } else {
        let middle = cut(rows, left, threads);
        let (out_left, out_right) = out.split_at_row_mut(middle);
        let (a_left, a_right) = a.split_at_row(middle);
        rayon::join(
            || shared_product(out_left, accumulate, a_left, b, alpha, left),
            || shared_product(out_right, accumulate, a_right, b, alpha, right),
        );
    }
}

/// A share of `n`, on a boundary that suits the product's tiles where both sides are large enough for them: what is smaller
/// would be summed in another order.
fn cut(n: usize, part: usize, of: usize) -> usize {
    let (exact, even) = (n * part / of, (n * part / of).next_multiple_of(32));
    if n >= 64 && even + SMALLEST <= n { even } else { exact }
}

/// Where to cut a triangle so that the square beside its upper part is as large as its two triangles together.
pub(crate) fn middle_of_triangle(n: usize) -> usize {
    (n / 2).next_multiple_of(64).min(n)
}

/// Upper triangle of `alpha · a b`, replaced or added to.
pub(crate) fn upper_product<T: Real>(
    out: MatMut<'_, T>,
    accumulate: Accum,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    alpha: f64,
    threads: usize,
) {
    let n = out.nrows();
    if threads < 2 || n < 192 || n * n * a.ncols() < WORTH_SHARING {
        return multiply_tiles(out, Part::Upper { from: 0 }, accumulate, a, b, T::of(alpha));
    }
    let (left, right) = (threads / 2, threads - threads / 2);
    let middle = middle_of_triangle(n);
    let (out_left, out_right) = out.split_at_col_mut(middle);
    let (beside, lower) = out_right.split_at_row_mut(middle);
    let upper = out_left.subrows_mut(0, middle);
    let (a_top, a_bottom) = a.split_at_row(middle);
    let (b_left, b_right) = b.split_at_col(middle);
    rayon::join(
        || shared_product(beside, accumulate, a_top, b_right, T::of(alpha), left),
        || {
            upper_product(upper, accumulate, a_top, b_left, alpha, right);
            upper_product(lower, accumulate, a_bottom, b_right, alpha, right);
        },
    );
}

/// A half of a symmetric matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Triangle {
    Lower,
    Upper,
}

/// Copies a triangle to the other one.
pub(crate) fn mirror<T: Real>(mut matrix: MatMut<'_, T>, from: Triangle) {
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
                std::array::from_fn(|q| column(from, j + q)[i..].first_chunk().expect("a whole square"));
            vectorised(
                #[inline(always)]
                || T::turn(squares, &mut square, SIDE),
            );
            for (q, column) in square.as_chunks::<SIDE>().0.iter().enumerate() {
                column_mut(to.as_mut(), i + q)[j..j + SIDE].copy_from_slice(column);
            }
        }
    }
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
        move || dot_here(a, b),
    )
}

/// The same inside of [`vectorised`] or a `WithSimd`.
#[inline(always)]
pub(crate) fn dot_here<T: Real>(a: &[T], b: &[T]) -> T {
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

/// `out = x · factor`.
pub(crate) fn multiply<T: Real>(out: &mut [T], x: &[T], factor: T) {
    vectorised(
        #[inline(always)]
        move || out.iter_mut().zip(x).for_each(|(o, &x)| *o = x * factor),
    );
}

/// `out += factor · x`.
pub(crate) fn multiply_add<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    vectorised(
        #[inline(always)]
        move || out.iter_mut().zip(x).for_each(|(o, &x)| *o += factor * x),
    );
}

/// `outⱼ −= ‖aⱼ‖²` for all columns: one dispatch for many short ones.
pub(crate) fn subtract_squares<T: Real>(a: MatRef<'_, T>, out: &mut [T]) {
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
            let a = column(self.a, j);
            *out -= dot_here(a, a);
        }
    }
}

/// Zeros `[rows, columns]`. Long columns begin an odd number of cache lines apart: at a distance of a power of two, the lines
/// of a row would fall into few sets of the cache, and the head took 3 % longer (f64, 512 inducing points).
pub(crate) fn zeros<T: Real>(rows: usize, columns: usize) -> Mat<T> {
    let line = 64 / size_of::<T>();
    let lines = rows.div_ceil(line);
    let mut matrix = Mat::with_capacity(if rows > 64 { (lines | 1) * line } else { rows }, columns);
    matrix.resize_with(rows, columns, |_, _| T::default());
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_shared_product_is_too_small_for_tiles() {
        for n in 4 * SMALLEST..300 {
            for threads in 2..9 {
                let middle = cut(n, threads / 2, threads);
                assert!(middle >= SMALLEST && n - middle >= SMALLEST, "{n} among {threads}: {middle}");
            }
        }
    }

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
