//! The state of a run, built from its events.

use super::curve::Curve;
use super::speed::Speed;
use inducing::train::Event;
use inducing::train::{EpochRecord, Phase};
use std::time::Duration;

/// More than a screen shows.
const MOST_NOTICES: usize = 50;

/// Curves of one network's validation figures.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures {
    pub(super) nll: Curve,
    pub(super) rmse: Curve,
    pub(super) accuracy: Curve,
    pub(super) noise: Curve,
}

/// A run so far. Times are since its start.
#[derive(Debug, Clone, Default)]
pub(super) struct View {
    /// Which part of the run; `None` before its first step.
    pub(super) phase: Option<Phase>,
    /// The last epoch that was recorded in this phase, and of which network.
    pub(super) epoch: Option<(usize, usize)>,
    pub(super) done: usize,
    pub(super) planned: usize,
    /// Batch losses of each phase, which are not comparable.
    pub(super) pretraining_loss: Curve,
    pub(super) loss: Curve,
    /// One for each network.
    pub(super) networks: Vec<Figures>,
    pub(super) notices: Vec<String>,
    pub(super) speed: Speed,
    pub(super) elapsed: Duration,
    /// Whether the user asked for a stop.
    pub(super) stopping: bool,
}

impl View {
    /// Updates the state by an event at this time.
    pub(super) fn on_event(&mut self, event: &Event<'_>, now: Duration) {
        match event {
            Event::Checkpoint(standing) => self.expect(standing.networks.len()),
            Event::Step { done, planned, phase, loss } => {
                self.enter(*phase);
                (self.done, self.planned) = (*done, *planned);
                self.speed.mark(now, *done);
                let curve = match phase {
                    Phase::Pretraining => &mut self.pretraining_loss,
                    Phase::Likelihood => &mut self.loss,
                };
                curve.push(*done, *loss);
            }
            Event::Record { network: (k, networks), record } => {
                self.expect(*networks);
                self.record(*k, record);
            }
            Event::Notice(text) => self.note(text),
            _ => {}
        }
    }

    /// Adds a notice.
    pub(super) fn note(&mut self, text: &str) {
        self.notices.push(text.to_owned());
        if self.notices.len() > MOST_NOTICES {
            self.notices.remove(0);
        }
    }

    fn expect(&mut self, networks: usize) {
        if self.networks.len() < networks {
            self.networks.resize_with(networks, Figures::default);
        }
    }

    fn enter(&mut self, phase: Phase) {
        let before = self.phase.replace(phase);
        // Several networks can be in both phases at the same time.
        if before != Some(phase) && self.networks.len() < 2 {
            self.speed.forget(); // steps of the other phase take another time
            self.epoch = None;
        }
    }

    fn record(&mut self, k: usize, record: &EpochRecord) {
        self.enter(record.phase);
        self.epoch = Some((record.epoch, k));
        let Some(figures) = self.networks.get_mut(k) else { return };
        for (curve, value) in [
            (&mut figures.nll, record.nll),
            (&mut figures.rmse, record.rmse),
            (&mut figures.accuracy, record.accuracy),
            (&mut figures.noise, record.noise),
        ] {
            if let Some(value) = value {
                curve.push(self.done, value);
            }
        }
    }
}
