//! From a data set to a model, in one call.

use super::Checkpoint;
use super::fit::{Event, Fit};
use crate::config::{Config, Settings};
use crate::dataset::{Dataset, Prepared};
use crate::error::Error;
use crate::model::Model;
use data::Notice;

/// Hears of every step; false asks for a stop.
type OnEvent<'a> = Box<dyn FnMut(Event<'_>) -> bool + Send + 'a>;

/// Trains a model.
///
/// ```
/// use inducing::{Dataset, Prediction, Trainer};
/// # let path = std::env::temp_dir().join("inducing-doc-trainer.csv");
/// # let rows: Vec<String> = (0..60).map(|i| format!("{},{}", i, 2 * i + i % 3)).collect();
/// # std::fs::write(&path, format!("size,price\n{}\n", rows.join("\n"))).unwrap();
/// let data = Dataset::read(&path)?.target("price")?;
/// let model = Trainer::new(&data).set("train.epochs=1").set("train.pretrain_epochs=2").set("train.pretrain_min_steps=0").fit()?;
/// for row in model.predict(&Dataset::read(&path)?)? {
///     let Prediction::Regression(price) = row else { unreachable!("prices are numbers") };
///     assert!(price.mean().is_finite() && price.std() > 0.0);
/// }
/// # Ok::<(), inducing::Error>(())
/// ```
pub struct Trainer<'a> {
    data: &'a Dataset,
    settings: Settings,
    config: Option<Config>,
    resume: Option<Checkpoint>,
    on_event: Option<OnEvent<'a>>,
}

impl<'a> Trainer<'a> {
    /// Learns from `data`, with the settings that suit it best.
    pub fn new(data: &'a Dataset) -> Self {
        Self { data, settings: Settings::default(), config: None, resume: None, on_event: None }
    }

    /// Uses these settings, a preset, a TOML file and single keys, in place of what was set before.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets one key, as `key=value`.
    #[must_use]
    pub fn set(mut self, assignment: impl Into<String>) -> Self {
        self.settings = self.settings.set(assignment);
        self
    }

    /// Decides every random number.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.set(format!("seed={seed}"))
    }

    /// Uses this configuration, but for a target that the data set names; settings then do not count.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Calls `listener` at every step; when it returns false, training stops with [`Error::Stopped`].
    #[must_use]
    pub fn on_event(mut self, listener: impl FnMut(Event<'_>) -> bool + Send + 'a) -> Self {
        self.on_event = Some(Box::new(listener));
        self
    }

    /// Goes on from where an earlier run stopped; data and configuration must be the same.
    #[must_use]
    pub fn resume(mut self, checkpoint: Checkpoint) -> Self {
        self.resume = Some(checkpoint);
        self
    }

    /// The configuration that the run has.
    pub fn resolve(&self) -> Result<Config, Error> {
        if let Some(mut config) = self.config.clone() {
            if !self.data.targets().is_empty() {
                config.data.target = self.data.targets().to_vec();
            }
            return Ok(config);
        }
        let (kind, _) = self.data.load()?.problem(self.data.targets(), self.settings.data()?.task)?;
        let mut config = self.settings.resolve(kind)?;
        config.data.target = self.data.targets().to_vec();
        Ok(config)
    }

    /// What the user should know of how the task was recognised.
    pub fn notices(&self) -> Result<Vec<Notice>, Error> {
        let (_, notice) = self.data.load()?.problem(self.data.targets(), self.settings.data()?.task)?;
        Ok(self.data.notices().iter().cloned().chain(notice).collect())
    }

    /// Splits and encodes the data.
    pub fn prepare(&self) -> Result<(Prepared, Config), Error> {
        let config = self.resolve()?;
        Ok((Prepared::new(self.data, &config)?, config))
    }

    /// Trains.
    pub fn fit(mut self) -> Result<Model, Error> {
        let (prepared, config) = self.prepare()?;
        let mut ignore = |_: Event<'_>| true;
        let listener: super::Listener<'_> = match &mut self.on_event {
            Some(listener) => listener,
            None => &mut ignore,
        };
        match prepared.fit(&config, rayon::current_num_threads(), self.resume, listener)? {
            Fit::Finished(model) => Ok(*model),
            Fit::Interrupted(checkpoint) => Err(Error::Stopped { checkpoint: Box::new(checkpoint) }),
        }
    }
}
