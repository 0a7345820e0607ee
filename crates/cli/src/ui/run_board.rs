//! Progress of `ign reproduce`: how many runs are done, what is running, and when all will be done.

use super::bar::Bar;
use super::text::terminal_safe;
use crate::signals::stop_requested;
use reproduce::{Observer, Planned, Record, duration, now};
use std::sync::Mutex;

/// A bar on a terminal, lines elsewhere, nothing when quiet.
pub(crate) struct RunBoard {
    bar: Bar,
    quiet: bool,
    jobs: usize,
    state: Mutex<State>,
}

struct State {
    /// Name, title, expected seconds and share done of what is running.
    running: Vec<(String, String, f64, f64)>,
    /// Runs that ended, and all.
    ended: usize,
    total: usize,
    /// Expected seconds of what has not started.
    waiting: f64,
    /// Expected and real seconds of what ended.
    expected: f64,
    real: f64,
}

impl RunBoard {
    pub(crate) fn new(runs: &[Planned], jobs: usize, quiet: bool) -> Self {
        let bar = if quiet { Bar::hidden() } else { Bar::new() };
        let waiting = runs.iter().map(|run| run.seconds).sum();
        let state =
            State { running: Vec::new(), ended: 0, total: runs.len(), waiting, expected: 0.0, real: 0.0 };
        Self { bar, quiet, jobs, state: Mutex::new(state) }
    }

    /// `about 1 h 20 min left, until 14:32 UTC`.
    fn left(&self, state: &State) -> String {
        let running: f64 = state.running.iter().map(|(.., seconds, share)| seconds * (1.0 - share)).sum();
        // Estimates are scaled by how far off they were so far.
        let worth = if state.expected > 0.0 { (state.real / state.expected).clamp(0.02, 50.0) } else { 1.0 };
        let seconds = worth * (running + state.waiting) / self.jobs as f64;
        let end = now() + seconds as u64;
        let (hour, minute) = (end / 3600 % 24, end / 60 % 60);
        format!("about {} left, until {hour:02}:{minute:02} UTC", duration(seconds))
    }

    fn draw(&self, state: &State) {
        if self.bar.is_hidden() {
            return;
        }
        let share: f64 = state.running.iter().map(|(.., share)| share).sum::<f64>() + state.ended as f64;
        let running: Vec<String> =
            state.running.iter().map(|(name, .., share)| format!("{name} {:.0} %", 100.0 * share)).collect();
        let (ended, total) = (state.ended, state.total);
        let text = format!("{ended} of {total}; {}; {}", running.join(", "), self.left(state));
        self.bar.draw(share / state.total.max(1) as f64, &text);
    }

    fn print(&self, text: &str) {
        let text = &*terminal_safe(text);
        if self.quiet {
        } else if self.bar.is_hidden() {
            eprintln!("{text}");
        } else {
            self.bar.println(text);
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.clear();
    }
}

impl Observer for RunBoard {
    fn started(&self, run: &Planned) {
        let mut state = self.state.lock().expect("nobody panicked");
        state.waiting -= run.seconds;
        state.running.push((run.name(), run.title(), run.seconds, 0.0));
        self.draw(&state);
    }

    fn progressed(&self, name: &str, share: f64) {
        let mut state = self.state.lock().expect("nobody panicked");
        if let Some(run) = state.running.iter_mut().find(|(other, ..)| other == name) {
            run.3 = share;
        }
        self.draw(&state);
    }

    fn ended(&self, name: &str, record: Option<&Record>) {
        let mut state = self.state.lock().expect("nobody panicked");
        let Some(at) = state.running.iter().position(|(other, ..)| other == name) else { return };
        let (_, title, expected, _) = state.running.remove(at);
        state.ended += 1;
        if let Some(record) = record {
            state.expected += expected;
            state.real += record.seconds;
            let place = format!("{} of {}", state.ended, state.total);
            let left = match state.total - state.ended {
                0 => String::new(),
                _ => format!("; {}", self.left(&state)),
            };
            self.print(&format!("{title}: {} ({place}{left})", summary(record)));
        }
        self.draw(&state);
    }

    fn note(&self, text: &str) {
        self.print(&format!("note: {text}"));
    }

    fn should_stop(&self) -> bool {
        stop_requested()
    }
}

/// `RMSE 0.0931, NLL −0.96` or `accuracy 98.01 %, NLL 0.06`, and the time.
fn summary(record: &Record) -> String {
    let score = |name: &str| record.scores.get(name).copied();
    let nll = score("nll").map_or(String::new(), |nll| format!(", NLL {nll:.3}"));
    let what = match (score("accuracy"), score("rmse")) {
        (Some(share), _) => format!("accuracy {:.2} %", 100.0 * share),
        (None, Some(rmse)) => format!("RMSE {rmse:.4}"),
        (None, None) => "no score".into(),
    };
    format!("{what}{nll}, {} steps in {}", record.steps, duration(record.seconds))
}
