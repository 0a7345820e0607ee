//! How threads share work whose size is fixed: no result depends on how many there are.

use rayon::prelude::*;

/// Rows that a thread takes at a time.
pub(super) const BLOCK: usize = 64;

/// Does all of them on the threads of the current pool. One thread, or one item, does not ask the pool: the caller would
/// wait there for others, and might be given work that has nothing to do with this.
pub(super) fn share<T: Send>(items: Vec<T>, work: impl Fn(T) + Send + Sync) {
    if items.len() < 2 || rayon::current_num_threads() < 2 {
        items.into_iter().for_each(work);
    } else {
        items.into_par_iter().for_each(work);
    }
}
