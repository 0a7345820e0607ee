//! The loop over trials.

use super::cost::{Size, predicted_seconds, relative_cost};
use super::space::{Point, Space, generator};
use super::{Assignments, End, Scoring, Trial, TuneError, TuneEvent, TuneListener, Tuned};
use crate::config::{Config, Settings};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::model::Model;
use crate::train::{Fit, TrainError, Trainer};
use std::time::{Duration, Instant};

/// Random trials before the best is refined.
const RANDOM_FIRST: usize = 6;
/// Points that are drawn before the search gives up: all are known, or none would end in time.
const ATTEMPTS: u64 = 64;

/// Searches settings within a time.
#[derive(Debug)]
pub struct Tuner<'a> {
    data: &'a Dataset,
    settings: Settings,
    scoring: Scoring,
    budget: Option<Duration>,
    most_trials: usize,
    earlier: Vec<Trial>,
    model: Option<Model>,
    threads: usize,
}

impl<'a> Tuner<'a> {
    /// Learns from `data`. Without a budget and a number of trials it goes on until everything was tried.
    pub fn new(data: &'a Dataset) -> Self {
        Self {
            data,
            settings: Settings::default(),
            scoring: Scoring::default(),
            budget: None,
            most_trials: usize::MAX,
            earlier: Vec::new(),
            model: None,
            threads: rayon::current_num_threads(),
        }
    }

    /// Starts from these settings; keys that [`Settings::set`] names stay as they are.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Chooses by this score.
    #[must_use]
    pub fn scoring(mut self, scoring: Scoring) -> Self {
        self.scoring = scoring;
        self
    }

    /// Starts no trial that would, judged by earlier ones, end later. Trials of an earlier run count.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Ends after so many trials, those of an earlier run among them, and never before the first.
    #[must_use]
    pub fn trials(mut self, trials: usize) -> Self {
        self.most_trials = trials.max(1);
        self
    }

    /// Trains on so many threads.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Goes on after the trials of an earlier run with the same data, settings and score. `model` is that of the best of them;
    /// without it, or where it has other settings, that trial is run again.
    #[must_use]
    pub fn resume(mut self, trials: Vec<Trial>, model: Option<Model>) -> Self {
        (self.earlier, self.model) = (trials, model);
        self
    }

    /// Searches. Fails if the first trial does; a later one that fails has no score.
    pub fn run(mut self, listen: TuneListener<'_>) -> Result<Tuned, Error> {
        let loaded = self.data.load()?;
        let (kind, _) = loaded.problem(self.data.targets(), self.settings.data()?.task)?;
        let (prepared, config) = self.trainer(&Assignments::new()).prepare()?;
        self.scoring.check(&config, prepared.schema.classes().is_some())?;
        let size = Size { rows: prepared.rows()[0], width: prepared.schema.width() };
        drop(prepared);
        let space = Space::new(kind, &config, |key| self.settings.sets(key));
        let mut trials = std::mem::take(&mut self.earlier);
        trials.sort_by_key(|trial| trial.number);
        let mut model = self.model.take();
        let mut again = None;
        if let Some(at) = self.scoring.best(&trials) {
            let at = trials.iter().position(|trial| trial.number == at.number).expect("it is one of them");
            let config = self.trainer(&trials[at].settings).resolve()?;
            model = model.filter(|model| model.header().config == config);
            again = model.is_none().then(|| trials.remove(at));
        }
        let search = Search { tuner: &self, space, size, seed: config.seed };
        let end = loop {
            let (number, settings, expected) = match again.take() {
                Some(trial) => (trial.number, trial.settings, None),
                None => match search.next(&trials) {
                    Ok(next) => next,
                    Err(end) => break end,
                },
            };
            if !listen(TuneEvent::Started { number, settings: &settings, expected }) {
                break End::Stopped;
            }
            let started = Instant::now();
            let trained = self.train(&settings, listen);
            let seconds = started.elapsed().as_secs_f64();
            let mut trial = Trial { number, settings, score: None, seconds, failure: None };
            let fitted = match trained {
                Ok(Fit::Finished(fitted)) => Some(fitted),
                Ok(Fit::Interrupted(checkpoint)) if model.is_none() => {
                    return Err(Error::Stopped { checkpoint: Box::new(checkpoint) });
                }
                Ok(Fit::Interrupted(_)) => break End::Stopped,
                Err(error) if number > 0 && is_of_the_settings(&error) => {
                    trial.failure = Some(error.to_string());
                    None
                }
                Err(error) => return Err(error),
            };
            trial.score = fitted.as_ref().and_then(|fitted| self.scoring.of(fitted));
            if trial.score.is_none() {
                if number == 0 {
                    return Err(TuneError::NoScore { score: self.scoring.name() }.into());
                }
                trial.failure.get_or_insert_with(|| format!("no {}", self.scoring.name()));
            }
            let best = self.scoring.best(&trials).and_then(|best| best.score);
            let is_best =
                trial.score.is_some_and(|own| best.is_none_or(|best| self.scoring.is_better(own, best)));
            if let Some(fitted) = fitted.filter(|_| is_best) {
                model = Some(*fitted);
            }
            let goes_on =
                listen(TuneEvent::Finished { trial: &trial, best: model.as_ref().filter(|_| is_best) });
            trials.push(trial);
            trials.sort_by_key(|trial| trial.number);
            if !goes_on {
                break End::Stopped;
            }
        };
        let (Some(model), Some(best)) = (model, self.scoring.best(&trials).map(|best| best.number)) else {
            return Err(Error::Stopped { checkpoint: Box::default() });
        };
        let best = trials.iter().position(|trial| trial.number == best).expect("it is one of them");
        let settings = self.with(&trials[best].settings);
        Ok(Tuned { trials, model, settings, end, best })
    }

    /// The settings given, and what a trial changes.
    fn with(&self, settings: &Assignments) -> Settings {
        settings.iter().fold(self.settings.clone(), |all, (key, value)| all.set(format!("{key}={value}")))
    }

    fn trainer(&self, settings: &Assignments) -> Trainer<'a> {
        Trainer::new(self.data).settings(self.with(settings))
    }

    fn train(&self, settings: &Assignments, listen: TuneListener<'_>) -> Result<Fit, Error> {
        let (prepared, config) = self.trainer(settings).prepare()?;
        prepared.fit(&config, self.threads, None, &mut |event| listen(TuneEvent::Training(event)))
    }
}

/// Whether other settings may do better.
fn is_of_the_settings(error: &Error) -> bool {
    matches!(error, Error::Config(_) | Error::Gp(_) | Error::Inputs { .. })
        || matches!(error, Error::Train(TrainError::Diverged { .. }))
}

/// What is known of all trials.
struct Search<'s, 'a> {
    tuner: &'s Tuner<'a>,
    space: Space,
    size: Size,
    seed: u64,
}

impl Search<'_, '_> {
    /// The trial after these, or why there is none.
    fn next(&self, trials: &[Trial]) -> Result<(usize, Assignments, Option<Duration>), End> {
        let number = trials.iter().map(|trial| trial.number + 1).max().unwrap_or(0);
        if number == 0 {
            return Ok((0, Assignments::new(), None));
        }
        if trials.len() >= self.tuner.most_trials {
            return Err(End::Trials);
        }
        let known: Vec<Point> = trials.iter().map(|trial| self.space.point(&trial.settings)).collect();
        let costs = trials.iter().filter(|trial| trial.failure.is_none());
        let costs: Vec<(f64, f64)> =
            costs.filter_map(|trial| Some((self.cost(&trial.settings)?, trial.seconds))).collect();
        let spent: f64 = trials.iter().map(|trial| trial.seconds).sum();
        let left = self.tuner.budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64() - spent);
        let best = self.tuner.scoring.best(trials).map(|best| self.space.point(&best.settings));
        let mut end = End::Exhausted;
        for attempt in 0..ATTEMPTS {
            let mut rng = generator(self.seed, number, attempt);
            let point = match &best {
                Some(best) if number > RANDOM_FIRST && number % 2 == 1 => self.space.near(best, &mut rng),
                _ => self.space.random(&mut rng),
            };
            if known.contains(&point) {
                continue;
            }
            let settings = self.space.assignments(&point);
            let Some(cost) = self.cost(&settings) else { continue };
            let expected = predicted_seconds(cost, &costs);
            if expected.is_some_and(|seconds| seconds > left) || left <= 0.0 {
                end = End::Budget;
                continue;
            }
            let expected = expected.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            return Ok((number, settings, expected));
        }
        Err(end)
    }

    /// `None` if the configuration cannot be.
    fn cost(&self, settings: &Assignments) -> Option<f64> {
        let config: Config = self.tuner.trainer(settings).resolve().ok()?;
        Some(relative_cost(&config, self.size))
    }
}
