//! The runs of a plan: several at a time with a thread each, as many as memory allows, then those that want all threads.

use super::board::Board;
use super::machine::{duration, free_memory};
use super::plan::{LeftOut, Planned};
use super::records::Record;
use super::run::{Bench, Word};
use crate::commands::Failure;
use crate::progress::interrupted;
use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// How the runs ended.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) finished: Vec<Record>,
    /// Names and reasons.
    pub(crate) failed: Vec<(String, Failure)>,
    /// Runs that were not begun because the time was up.
    pub(crate) out_of_time: Vec<LeftOut>,
}

/// Runs that wait, and the memory of those that do not.
struct Queue {
    waiting: Vec<Planned>,
    in_use: u64,
}

/// Runs everything; after Ctrl-C, what was finished by then.
pub(crate) fn work(
    bench: &Bench,
    runs: Vec<Planned>,
    jobs: usize,
    budget: Option<f64>,
    board: &Board,
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
            while let Some(planned) = next(&queue, &changed, memory) {
                let need = planned.request.experiment.memory;
                if budget.is_some_and(|budget| started.elapsed().as_secs_f64() > budget) {
                    let late = LeftOut::new(&planned.request, "the time was up".into());
                    outcome.lock().expect("no worker panicked").out_of_time.push(late);
                } else {
                    one(bench, &planned, threads, board, &outcome);
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
fn next(queue: &Mutex<Queue>, changed: &Condvar, memory: u64) -> Option<Planned> {
    let mut queue = queue.lock().expect("no worker panicked");
    loop {
        if queue.waiting.is_empty() || interrupted() {
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

fn one(bench: &Bench, planned: &Planned, threads: usize, board: &Board, outcome: &Mutex<Outcome>) {
    let name = planned.request.name();
    board.begin(planned);
    let result = bench.run(&planned.request, threads, &|word| match word {
        Word::Done(share) => board.advance(&name, share),
        Word::Note(text) => board.note(&text),
    });
    match result {
        Ok(Some(record)) => {
            board.end(&name, Some(&record));
            outcome.lock().expect("no worker panicked").finished.push(record);
        }
        Ok(None) => board.end(&name, None),
        Err(failure) => {
            board.end(&name, None);
            board.note(&format!("{}: failed: {failure}", planned.request.title()));
            outcome.lock().expect("no worker panicked").failed.push((name, failure));
        }
    }
}

/// `RMSE 0.0931, NLL −0.96` or `accuracy 98.01 %, NLL 0.06`, and the time.
pub(crate) fn summary(record: &Record) -> String {
    let score = |name: &str| record.scores.get(name).copied();
    let nll = score("nll").map_or(String::new(), |nll| format!(", NLL {nll:.3}"));
    let what = match (score("accuracy"), score("rmse")) {
        (Some(share), _) => format!("accuracy {:.2} %", 100.0 * share),
        (None, Some(rmse)) => format!("RMSE {rmse:.4}"),
        (None, None) => "no score".into(),
    };
    format!("{what}{nll}, {} steps in {}", record.steps, duration(record.seconds))
}
