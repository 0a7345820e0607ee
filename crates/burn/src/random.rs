//! burn's backends have one generator of random numbers for the whole process: who seeds it and draws, does so alone.

use burn::tensor::Device;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::resume_unwind;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;

static GENERATOR: Mutex<()> = Mutex::new(());

/// Threads of their own for who draws. A thread of the common pool that waits for its part of a product may be given
/// another network's step meanwhile, which would seed the generator in between, or wait for a lock that is its own.
static POOL: LazyLock<ThreadPool> =
    LazyLock::new(|| ThreadPoolBuilder::new().build().expect("the system starts threads"));

/// Calls `draw` while the generator of `device` counts from `seed`, and no other call of this function is under way.
pub(crate) fn with_seed<R: Send>(device: &Device, seed: u64, draw: impl FnOnce() -> R + Send) -> R {
    let _alone = GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let seeded = || {
        device.seed(seed);
        draw()
    };
    // From a thread outside of all pools, which rests until `POOL` is done; one of a pool would look for other work.
    let result = thread::scope(|scope| scope.spawn(|| POOL.install(seeded)).join());
    result.unwrap_or_else(|panic| resume_unwind(panic))
}
