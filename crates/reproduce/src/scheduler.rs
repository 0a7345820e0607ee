//! The runs of a plan: several at a time with a thread each, as many as memory allows, then those that want all threads.

use crate::Error;
use crate::machine::free_memory;
use crate::observer::Observer;
use crate::plan::{LeftOut, Planned};
use crate::records::Record;
use crate::run::Context;
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// How the runs ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Runs that left a record.
    pub finished: Vec<Record>,
    /// Names of runs that failed, and why.
    pub failed: Vec<(String, Error)>,
    /// Runs that were not started because the time was up.
    pub out_of_time: Vec<LeftOut>,
}

/// Runs that wait, and the memory of those that do not.
struct Queue {
    waiting: Vec<Planned>,
    in_use: u64,
}

/// Runs everything, or as much as the observer lets it.
pub(crate) fn schedule(
    context: &Context,
    runs: Vec<Planned>,
    jobs: usize,
    budget: Option<f64>,
    observer: &dyn Observer,
) -> Outcome {
    let started = Instant::now();
    let outcome = Mutex::new(Outcome::default());
    let memory = free_memory().unwrap_or(u64::MAX);
    let (alone, shared): (Vec<Planned>, Vec<Planned>) = runs.into_iter().partition(|run| run.request.alone());
    let phase = |waiting: Vec<Planned>, workers: usize, threads: usize| {
        let workers = workers.min(waiting.len());
        let queue = Mutex::new(Queue { waiting, in_use: 0 });
        let changed = Condvar::new();
        let worker = || {
            while let Some(planned) = next(&queue, &changed, memory, observer) {
                let need = planned.request.experiment.memory;
                if budget.is_some_and(|budget| started.elapsed().as_secs_f64() > budget) {
                    let late = LeftOut::new(&planned.request, "the time was up".into());
                    outcome.lock().expect("no worker panicked").out_of_time.push(late);
                } else {
                    one(context, &planned, threads, observer, &outcome);
                }
                queue.lock().expect("no worker panicked").in_use -= need;
                changed.notify_all();
            }
        };
        // Whatever a library does in parallel by itself stays among a worker's threads.
        let pool =
            || rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be made");
        std::thread::scope(|scope| {
            (0..workers).for_each(|_| drop(scope.spawn(|| pool().install(worker))));
        });
    };
    phase(shared, jobs, 1);
    phase(alone, 1, jobs);
    outcome.into_inner().expect("no worker panicked")
}

/// The first run that memory has room for; waits where there is none, `None` at the end.
fn next(queue: &Mutex<Queue>, changed: &Condvar, memory: u64, observer: &dyn Observer) -> Option<Planned> {
    let mut queue = queue.lock().expect("no worker panicked");
    loop {
        if queue.waiting.is_empty() || observer.should_stop() {
            return None;
        }
        let (in_use, waiting) = (queue.in_use, &queue.waiting);
        let fits = |run: &Planned| in_use == 0 || in_use + run.request.experiment.memory <= memory;
        if let Some(at) = waiting.iter().position(fits) {
            let planned = queue.waiting.remove(at);
            queue.in_use += planned.request.experiment.memory;
            return Some(planned);
        }
        queue = changed.wait(queue).expect("no worker panicked");
    }
}

fn one(
    context: &Context,
    planned: &Planned,
    threads: usize,
    observer: &dyn Observer,
    outcome: &Mutex<Outcome>,
) {
    let name = planned.name();
    observer.started(planned);
    match context.run(&planned.request, threads, observer) {
        Ok(record) => {
            observer.ended(&name, record.as_ref());
            outcome.lock().expect("no worker panicked").finished.extend(record);
        }
        Err(error) => {
            observer.ended(&name, None);
            observer.note(&format!("{}: failed: {error}", planned.title()));
            outcome.lock().expect("no worker panicked").failed.push((name, error));
        }
    }
}
