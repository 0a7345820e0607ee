//! What a person sees while a run goes on, and what Ctrl-C does to it.

use ign::FitEvent;
use ign::train::{EpochRecord, Phase};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicUsize, Ordering};

static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

/// The first Ctrl-C asks for a stop; the second ends the program at once.
pub(crate) fn watch_for_interrupts(meanwhile: &'static str) {
    // A handler that is there already counts just as well.
    let _ = ctrlc::set_handler(move || {
        if INTERRUPTS.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(i32::from(crate::INTERRUPTED));
        }
        eprintln!("\nstopping; {meanwhile} (Ctrl-C again to give up at once)");
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTS.load(Ordering::SeqCst) > 0
}

/// A progress bar on a terminal, a line an epoch elsewhere, nothing when quiet.
pub(crate) struct Progress {
    bar: ProgressBar,
    quiet: bool,
    last: String,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = "{bar:24} {percent:>3}%  {msg}  {elapsed} / ETA {eta}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
        Self { bar, quiet, last: String::new() }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &FitEvent<'_>) {
        match event {
            FitEvent::Standing(_) => {}
            FitEvent::Step { done, planned, phase, loss } => {
                self.bar.set_length(*planned as u64);
                self.bar.set_position(*done as u64);
                if done.is_multiple_of(8) {
                    self.bar.set_message(format!("{} loss {loss:.3} {}", name(*phase), self.last));
                }
            }
            FitEvent::Record { network: (k, networks), record } => {
                self.last = validation(record);
                // A small table's warm start has hundreds of epochs.
                let worth_a_line = record.phase == Phase::Likelihood
                    || record.epoch <= 10
                    || record.epoch.is_multiple_of(10);
                if !self.quiet && self.bar.is_hidden() && worth_a_line {
                    let loss = record.loss.map_or(String::new(), |loss| format!("loss {loss:.4}  "));
                    let used = record.utilisation.map_or(String::new(), |u| format!("  utilisation {u:.3}"));
                    let which = if *networks > 1 { format!("network {} ", k + 1) } else { String::new() };
                    let phase = name(record.phase);
                    eprintln!("{which}{phase} epoch {}: {loss}{}{used}", record.epoch, self.last);
                }
            }
            FitEvent::Notice(text) => self.note(text),
        }
    }

    /// Prints a line without disturbing the bar.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            if self.bar.is_hidden() {
                eprintln!("note: {text}");
            } else {
                self.bar.println(format!("note: {text}"));
            }
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn name(phase: Phase) -> &'static str {
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
