//! Work on two or more threads of a rayon pool.
//!
//! ```
//! use inducing_linalg::threads::{both, in_pool};
//! let (a, b) = in_pool(2, || both(2, || 1 + 1, || "at the same time"));
//! assert_eq!((a, b), (2, "at the same time"));
//! ```

use crate::{MatMut, MatRef, Real};
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
pub fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
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
pub fn both<A: Send, B: Send>(
    threads: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads < 2 { (a(), b()) } else { rayon::join(a, b) }
}

/// Columns in one strip.
pub const STRIP: usize = 64;

/// Calls `work(start, strip)` for strips of columns, on the threads given; the results in order.
pub fn strips<T: Real, R: Send>(
    matrix: MatMut<'_, T>,
    threads: usize,
    work: &(impl Fn(usize, MatMut<'_, T>) -> R + Sync),
) -> Vec<R> {
    strips_of([Some(matrix)], threads, &|start, [strip]| work(start, strip.expect("it is given")))
}

/// The same for several matrices of equal size, of which some may be missing.
pub fn strips_of<T: Real, R: Send, const N: usize>(
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

/// Applies `work` to parts of the columns, one part a thread.
pub fn share_columns<T: Real>(
    x: MatRef<'_, T>,
    out: MatMut<'_, T>,
    threads: usize,
    work: &(impl Fn(MatRef<'_, T>, MatMut<'_, T>) + Sync),
) {
    if threads < 2 || x.ncols() < 2 * threads {
        return work(x, out);
    }
    let left_threads = threads / 2;
    let middle = x.ncols() * left_threads / threads;
    let ((left, right), (out_left, out_right)) = (x.split_at_col(middle), out.split_at_col_mut(middle));
    rayon::join(
        || share_columns(left, out_left, left_threads, work),
        || share_columns(right, out_right, threads - left_threads, work),
    );
}
