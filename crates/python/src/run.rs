//! Long work on another thread, while this one looks at signals: Ctrl-C raises within some 20 ms, whatever Rust is doing.

use crate::errors::to_py;
use inducing::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often signals are looked at.
const PATIENCE: Duration = Duration::from_millis(20);

/// Tells the work that nobody waits for it any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_asked_for(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Threads that are worth having: more than there are cores only cost.
pub(crate) fn sensible(threads: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    threads.clamp(1, cores.max(2))
}

/// Runs `work` in a pool of `threads` threads of its own, without the interpreter, and calls `meanwhile` with it now and then. A
/// signal or an error of `meanwhile` ends the wait at once; the work then ends by itself when it next looks at its [`Stop`].
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&Stop) -> Result<T, Error> + Send + 'static,
    mut meanwhile: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let stop = Stop::default();
    let (sender, mut receiver) = channel();
    let of_work = stop.clone();
    // A pool of its own: that of the process would not survive a fork, which multiprocessing does.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(sensible(threads)).build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(format!("no threads: {error}")))?;
    std::thread::spawn(move || sender.send(pool.install(|| work(&of_work))));
    let outcome = loop {
        let waiting = &mut receiver; // a receiver can be sent to the detached closure, not shared with it
        match py.detach(move || waiting.recv_timeout(PATIENCE)) {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| meanwhile(py)) {
                    stop.ask();
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "the core failed unexpectedly; its message is above\nhint: please report it, with the data if you can",
                ));
            }
        }
    };
    meanwhile(py)?;
    outcome.map_err(to_py)
}
