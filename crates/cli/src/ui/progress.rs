//! What people see during a training run.

use super::bar::Bar;
use super::dashboard::Dashboard;
use super::output::number;
use super::text::terminal_safe;
use inducing::train::Event;
use inducing::train::{EpochRecord, Phase};

/// Shows the progress of a run.
pub(crate) struct Progress {
    display: Display,
    last: String,
    /// Standard deviation of the target, where figures are shown in its units.
    unit: Option<f64>,
    noted: Vec<String>,
}

enum Display {
    Quiet,
    /// A line an epoch, where there is no terminal.
    Lines,
    Bar(Bar),
    Dashboard(Dashboard),
}

impl Display {
    /// A bar on a terminal, lines elsewhere.
    fn usual() -> Self {
        let bar = Bar::new();
        if bar.is_hidden() { Self::Lines } else { Self::Bar(bar) }
    }
}

impl Progress {
    /// The dashboard, if it is wanted and there is a terminal for it; otherwise a bar or lines. Quiet is silent.
    pub(crate) fn new(quiet: bool, dashboard: bool) -> Self {
        let (last, unit) = (String::new(), None);
        if quiet {
            return Self { display: Display::Quiet, last, unit, noted: Vec::new() };
        }
        let view = if dashboard { Dashboard::new() } else { None };
        let missing = dashboard && view.is_none();
        let progress = Self {
            display: view.map_or_else(Display::usual, Display::Dashboard),
            last,
            unit,
            noted: Vec::new(),
        };
        if missing {
            progress.note("no dashboard: it needs a terminal on standard error");
        }
        progress
    }

    /// Shows figures in the units of a target with this standard deviation.
    pub(crate) fn in_units(&mut self, unit: Option<f64>) {
        self.unit = unit;
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &Event<'_>) {
        if let Display::Dashboard(dashboard) = &mut self.display {
            let Err(problem) = dashboard.show(event) else { return };
            self.display = Display::usual();
            self.note(&format!("no dashboard: the terminal cannot be used ({problem})"));
        }
        match event {
            Event::Step { done, planned, phase, loss } => {
                if let Display::Bar(bar) = &self.display {
                    let share = *done as f64 / (*planned).max(1) as f64;
                    let (percent, phase) = (100.0 * share, phase_name(*phase));
                    bar.draw(
                        share,
                        &format!(
                            "{percent:>3.0} %  {phase} loss {loss:.3} {}  {}",
                            self.last,
                            bar.times(share)
                        ),
                    );
                }
            }
            Event::Record { network: (k, networks), record } => {
                self.last = validation(record, self.unit);
                // Pretraining on a small table takes hundreds of epochs; of many networks a line each is enough.
                let worth_a_line = match (networks, record.phase) {
                    (2.., Phase::Likelihood) => record.epoch == 0,
                    (2.., Phase::Pretraining) => record.epoch.is_multiple_of(100),
                    (_, Phase::Likelihood) => true,
                    (_, Phase::Pretraining) => record.epoch <= 10 || record.epoch.is_multiple_of(10),
                };
                if matches!(self.display, Display::Lines) && worth_a_line {
                    let loss = record.loss.map_or(String::new(), |loss| format!("loss {loss:.4}  "));
                    let used = record.utilisation.map_or(String::new(), |u| format!("  utilisation {u:.3}"));
                    let which = if *networks > 1 {
                        format!("network {} of {networks}, ", k + 1)
                    } else {
                        String::new()
                    };
                    let phase = phase_name(record.phase);
                    eprintln!("{which}{phase} epoch {}: {loss}{}{used}", record.epoch, self.last);
                }
            }
            // Members of an ensemble may all have the same to say.
            Event::Notice(text) if !self.noted.contains(text) => {
                self.note(text);
                self.noted.push(text.clone());
            }
            _ => {}
        }
    }

    /// Prints a line without disturbing the bar or the dashboard.
    pub(crate) fn note(&self, text: &str) {
        match &self.display {
            Display::Quiet => {}
            Display::Lines => eprintln!("note: {}", terminal_safe(text)),
            Display::Bar(bar) => bar.println(&format!("note: {}", terminal_safe(text))),
            Display::Dashboard(dashboard) => dashboard.note(text),
        }
    }

    /// Prints a line even when quiet: something went wrong, but the run goes on.
    pub(crate) fn warn(&self, text: &str) {
        match &self.display {
            Display::Quiet => eprintln!("warning: {}", terminal_safe(text)),
            _ => self.note(text),
        }
    }

    /// Removes the bar or the dashboard.
    pub(crate) fn finish(&self) {
        match &self.display {
            Display::Quiet | Display::Lines => {}
            Display::Bar(bar) => bar.clear(),
            Display::Dashboard(dashboard) => dashboard.close(),
        }
    }
}

/// What a phase is called.
pub(crate) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Pretraining => "pretraining",
        Phase::Likelihood => "likelihood",
    }
}

/// Validation figures of an epoch, in the target's units if its standard deviation is given, else of standardised targets.
fn validation(record: &EpochRecord, unit: Option<f64>) -> String {
    let show = |label: &str, x: Option<f64>| x.map(|x| format!("{label} {}", number(x)));
    let accuracy = record.accuracy.map(|share| format!("accuracy {:.2} %", 100.0 * share));
    let (by, shift) = unit.map_or((1.0, 0.0), |unit| (unit, unit.ln()));
    let times = |x: Option<f64>| x.map(|x| by * x);
    let nll = record.nll.map(|nll| nll + if record.accuracy.is_none() { shift } else { 0.0 });
    let figures =
        [accuracy, show("RMSE", times(record.rmse)), show("NLL", nll), show("CRPS", times(record.crps))];
    let parts: Vec<String> = figures.into_iter().flatten().collect();
    if parts.is_empty() {
        String::new()
    } else if record.accuracy.is_some() || unit.is_some() {
        format!("validation {}", parts.join(" "))
    } else {
        format!("validation (standardised targets) {}", parts.join(" "))
    }
}
