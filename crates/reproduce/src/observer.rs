//! What a caller learns about the runs while they are going on. This crate never prints.

use crate::plan::Planned;
use crate::records::Record;

/// Receives progress. Runs report from several threads at once.
pub trait Observer: Sync {
    /// A run starts.
    fn started(&self, _run: &Planned) {}

    /// This share of a run's steps is done.
    fn progressed(&self, _name: &str, _share: f64) {}

    /// A run ended; without a record it failed or was stopped.
    fn ended(&self, _name: &str, _record: Option<&Record>) {}

    /// Something the user should know.
    fn note(&self, _text: &str) {}

    /// Whether to stop: runs save a checkpoint and end, and no other run starts.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Hears everything and says nothing.
#[cfg(test)]
pub(crate) struct Silent;

#[cfg(test)]
impl Observer for Silent {}
