//! What people see during a search: a bar for the trial that runs, a line for each that is done.

use super::plain;
use crate::ui::bar::Bar;
use crate::ui::output::{note, number};
use crate::ui::text::terminal_safe;
use inducing::train::Event;
use inducing::tune::{Scoring, Trial, TuneEvent};
use reproduce::duration;

/// Shows the trials.
pub(crate) struct TrialBoard {
    quiet: bool,
    scoring: Scoring,
    budget: f64,
    spent: f64,
    number: usize,
    best: Option<(usize, f64)>,
    bar: Bar,
}

impl TrialBoard {
    pub(crate) fn new(quiet: bool, scoring: Scoring, budget: f64) -> Self {
        Self { quiet, scoring, budget, spent: 0.0, number: 0, best: None, bar: Bar::hidden() }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &TuneEvent<'_>) {
        if self.quiet {
            return;
        }
        match event {
            TuneEvent::Started { number, .. } => {
                (self.number, self.bar) = (*number, Bar::new());
            }
            TuneEvent::Training(Event::Step { done, planned, .. }) => {
                let share = *done as f64 / (*planned).max(1) as f64;
                let best = self.best.map_or_else(String::new, |(trial, score)| {
                    format!("  best {} {} of trial {trial}", name(self.scoring), number(score))
                });
                self.bar.draw(
                    share,
                    &format!(
                        "trial {}  {:>3.0} %  {}{best}",
                        self.number,
                        100.0 * share,
                        self.bar.times(share)
                    ),
                );
            }
            // The others would say the same.
            TuneEvent::Training(Event::Notice(text)) if self.number == 0 => {
                self.bar.clear();
                note(text);
            }
            TuneEvent::Finished { trial, best } => {
                self.bar.clear();
                self.spent += trial.seconds;
                if best.is_some() {
                    self.best = trial.score.map(|score| (trial.number, score));
                }
                let score = match (trial.score, &trial.failure) {
                    (Some(score), _) => format!("{} {}", name(self.scoring), number(score)),
                    (None, failure) => format!(
                        "failed: {}",
                        failure.as_deref().unwrap_or_default().lines().next().unwrap_or_default()
                    ),
                };
                let changes = if trial.number == 0 { "the settings given".into() } else { changes(trial) };
                let mark = if best.is_some() { " (best so far)" } else { "" };
                let line = format!(
                    "trial {}: {score}{mark}, {} of {}; {changes}",
                    trial.number,
                    duration(self.spent),
                    duration(self.budget)
                );
                eprintln!("{}", terminal_safe(&line));
            }
            _ => {}
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.clear();
    }
}

/// `train.epochs=4, gp.kernel=matern52`
pub(crate) fn changes(trial: &Trial) -> String {
    let each: Vec<String> =
        trial.settings.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect();
    each.join(" ")
}

/// What a score is called.
pub(crate) fn name(scoring: Scoring) -> &'static str {
    match scoring {
        Scoring::Nll => "NLL",
        Scoring::Crps => "CRPS",
        Scoring::Accuracy => "accuracy",
        Scoring::Rmse => "RMSE",
    }
}
