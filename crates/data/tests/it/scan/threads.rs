//! Processes as threads.

use std::sync::{Barrier, Mutex};

use inducing_data::{DataError, Together};

/// One of several threads that read a table as processes do.
pub(super) struct OneOf<'a> {
    rank: usize,
    size: usize,
    given: &'a Mutex<Vec<Vec<u8>>>,
    barrier: &'a Barrier,
}

impl Together for OneOf<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, DataError> {
        self.given.lock().expect("no thread panics here")[self.rank] = bytes.to_vec();
        self.barrier.wait();
        let all = self.given.lock().expect("no thread panics here").clone();
        self.barrier.wait();
        Ok(all)
    }
}

/// What each of so many processes makes of `work`.
pub(super) fn together<T: Send>(size: usize, work: impl Fn(&OneOf<'_>) -> T + Sync) -> Vec<T> {
    let (given, barrier) = (Mutex::new(vec![Vec::new(); size]), Barrier::new(size));
    let (given, barrier, work) = (&given, &barrier, &work);
    std::thread::scope(|scope| {
        let start = |rank| scope.spawn(move || work(&OneOf { rank, size, given, barrier }));
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}
