//! What a person sees while a run goes on, and what Ctrl-C does to it.

use crate::dashboard::{Dashboard, screen};
use ign::FitEvent;
use ign::train::{EpochRecord, Phase};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicUsize, Ordering};

static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

/// The first Ctrl-C asks for a stop; the second ends the program at once.
pub(crate) fn watch_for_interrupts(meanwhile: &'static str) {
    // A handler that is there already counts just as well.
    let _ = ctrlc::set_handler(move || interrupt(meanwhile));
}

/// What Ctrl-C does, as a signal or as a key.
pub(crate) fn interrupt(meanwhile: &str) {
    if INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0 {
        screen::leave();
        std::process::exit(i32::from(crate::INTERRUPTED));
    }
    // The dashboard says so itself.
    if !screen::is_up() {
        eprintln!("\nstopping; {meanwhile} (Ctrl-C again to give up at once)");
    }
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTS.load(Ordering::SeqCst) > 0
}

/// How a run shows itself.
pub(crate) struct Progress {
    face: Face,
    last: String,
}

enum Face {
    Quiet,
    /// A line an epoch, where there is no terminal.
    Lines,
    Bar(ProgressBar),
    Dashboard(Dashboard),
}

impl Face {
    /// The usual one: a bar on a terminal, lines elsewhere.
    fn usual() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if bar.is_hidden() {
            return Self::Lines;
        }
        let style = "{bar:24} {percent:>3}%  {msg}  {elapsed} / ETA {eta}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
        Self::Bar(bar)
    }
}

impl Progress {
    /// Says nothing when quiet; otherwise shows the dashboard if it is wanted and there is a terminal for it.
    pub(crate) fn new(quiet: bool, dashboard: bool) -> Self {
        let last = String::new();
        if quiet {
            return Self { face: Face::Quiet, last };
        }
        let view = if dashboard { Dashboard::new() } else { None };
        let missing = dashboard && view.is_none();
        let progress = Self { face: view.map_or_else(Face::usual, Face::Dashboard), last };
        if missing {
            progress.note("no dashboard: it needs a terminal on standard error");
        }
        progress
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &FitEvent<'_>) {
        if let Face::Dashboard(dashboard) = &mut self.face {
            let Err(problem) = dashboard.show(event) else { return };
            self.face = Face::usual();
            self.note(&format!("no dashboard: the terminal cannot be taken ({problem})"));
        }
        match event {
            FitEvent::Standing(_) => {}
            FitEvent::Step { done, planned, phase, loss } => {
                if let Face::Bar(bar) = &self.face {
                    bar.set_length(*planned as u64);
                    bar.set_position(*done as u64);
                    if done.is_multiple_of(8) {
                        bar.set_message(format!("{} loss {loss:.3} {}", phase_name(*phase), self.last));
                    }
                }
            }
            FitEvent::Record { network: (k, networks), record } => {
                self.last = validation(record);
                // A small table's warm start has hundreds of epochs.
                let worth_a_line = record.phase == Phase::Likelihood
                    || record.epoch <= 10
                    || record.epoch.is_multiple_of(10);
                if matches!(self.face, Face::Lines) && worth_a_line {
                    let loss = record.loss.map_or(String::new(), |loss| format!("loss {loss:.4}  "));
                    let used = record.utilisation.map_or(String::new(), |u| format!("  utilisation {u:.3}"));
                    let which = if *networks > 1 { format!("network {} ", k + 1) } else { String::new() };
                    let phase = phase_name(record.phase);
                    eprintln!("{which}{phase} epoch {}: {loss}{}{used}", record.epoch, self.last);
                }
            }
            FitEvent::Notice(text) => self.note(text),
        }
    }

    /// Prints a line without disturbing the bar or the dashboard.
    pub(crate) fn note(&self, text: &str) {
        match &self.face {
            Face::Quiet => {}
            Face::Lines => eprintln!("note: {text}"),
            Face::Bar(bar) => bar.println(format!("note: {text}")),
            Face::Dashboard(dashboard) => dashboard.note(text),
        }
    }

    /// Takes the bar or the dashboard away.
    pub(crate) fn finish(&self) {
        match &self.face {
            Face::Quiet | Face::Lines => {}
            Face::Bar(bar) => bar.finish_and_clear(),
            Face::Dashboard(dashboard) => dashboard.close(),
        }
    }
}

/// What people call a phase.
pub(crate) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::WarmStart => "warm start",
        Phase::Likelihood => "likelihood",
    }
}

/// Validation figures of an epoch, of standardised targets.
fn validation(record: &EpochRecord) -> String {
    let show = |label: &str, x: Option<f64>| x.map(|x| format!("{label} {x:.4}"));
    let accuracy = record.accuracy.map(|share| format!("accuracy {:.2} %", 100.0 * share));
    let figures = [accuracy, show("RMSE", record.rmse), show("NLL", record.nll), show("CRPS", record.crps)];
    let parts: Vec<String> = figures.into_iter().flatten().collect();
    if parts.is_empty() {
        String::new()
    } else if record.accuracy.is_some() {
        format!("validation {}", parts.join(" "))
    } else {
        format!("validation (in deviations of the target) {}", parts.join(" "))
    }
}
