//! The search for settings within a time: random trials around the default, then refinements of the best.
//!
//! ```text
//! trial 0                  the settings given: the result is never worse than they are, by the score it is chosen by
//! trials 1 … 5             random: a third of the keys anywhere in their levels
//! trials 6, 8, …           random
//! trials 7, 9, …           one to three keys of the best trial, by one level
//! ```
//! A trial's settings follow from the seed, its number and the trials before it. Random search: Bergstra & Bengio 2012.
//!
//! ```no_run
//! use inducing::tune::{Scoring, Tuner};
//! use inducing::Dataset;
//! use std::time::Duration;
//!
//! let data = Dataset::read("houses.csv")?.target("price")?;
//! let tuned = Tuner::new(&data).budget(Duration::from_secs(1200)).scoring(Scoring::Crps).run(&mut |_| true)?;
//! println!("{:?} by {:?}", tuned.best().score, tuned.best().settings);
//! tuned.model.save("price.ign")?;
//! # Ok::<(), inducing::Error>(())
//! ```

mod cost;
mod scoring;
mod space;
mod tuner;

pub use scoring::Scoring;
pub use tuner::Tuner;

use crate::config::Settings;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Keys and their values.
pub type Assignments = BTreeMap<String, serde_json::Value>;

/// One run of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// From 0, the settings that the search starts from.
    pub number: usize,
    /// What it changes of them.
    pub settings: Assignments,
    /// By rows that it predicted without having seen them; `None` if it failed.
    pub score: Option<f64>,
    /// How long it took.
    pub seconds: f64,
    /// Why it has no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What a search leaves.
#[derive(Debug)]
pub struct Tuned {
    /// All trials, by number.
    pub trials: Vec<Trial>,
    /// The model of the best.
    pub model: Model,
    /// The settings of the best, with those that the search started from.
    pub settings: Settings,
    /// Why it ended.
    pub end: End,
    best: usize,
}

impl Tuned {
    /// The trial with the best score.
    pub fn best(&self) -> &Trial {
        &self.trials[self.best]
    }
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// There is no time for another trial.
    Budget,
    /// There are as many trials as were asked for.
    Trials,
    /// Everything was tried.
    Exhausted,
    /// The listener asked for a stop.
    Stopped,
}

/// What a search says on its way.
#[derive(Debug)]
#[non_exhaustive]
pub enum TuneEvent<'a> {
    /// A trial begins.
    Started {
        /// Its number.
        number: usize,
        /// What it changes.
        settings: &'a Assignments,
        /// How long it will take, judged by earlier ones.
        expected: Option<Duration>,
    },
    /// What its training says.
    Training(crate::train::Event<'a>),
    /// A trial is done.
    Finished {
        /// It.
        trial: &'a Trial,
        /// Its model, if no trial before it was better.
        best: Option<&'a Model>,
    },
}

/// Hears of every step; false asks for a stop.
pub type TuneListener<'a> = &'a mut (dyn FnMut(TuneEvent<'_>) -> bool + Send);

/// A search that cannot begin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TuneError {
    /// The score says nothing of the task.
    #[error("`{given}` is no score of {task}\nhint: choose by {instead}")]
    Scoring {
        /// What was asked for.
        given: &'static str,
        /// What is predicted.
        task: &'static str,
        /// What there is.
        instead: &'static str,
    },
    /// No rows can judge a trial.
    #[error(
        "there are no rows to choose by: with these settings every row is trained on\nhint: set `train.crossfit_folds`, or `train.validation_share`"
    )]
    NothingHeldOut,
    /// The first trial has no score.
    #[error(
        "the model with the settings given has no {score} by rows that it has not seen\nhint: `--preset single` keeps validation rows"
    )]
    NoScore {
        /// Which one.
        score: &'static str,
    },
}
