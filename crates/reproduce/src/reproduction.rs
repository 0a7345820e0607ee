//! From what was asked for to a plan, runs and the page.

use crate::Error;
use crate::datasets::Datasets;
use crate::experiment::{Experiment, Preset};
use crate::machine::{Machine, Program};
use crate::notes::Notes;
use crate::observer::Observer;
use crate::plan::Plan;
use crate::records::Records;
use crate::request;
use crate::run::{CHECKPOINT_EVERY, Context};
use crate::scheduler::{Outcome, schedule};
use std::path::PathBuf;

/// What to reproduce, with what, and where to.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names of experiments or of groups of them.
    pub experiments: Vec<String>,
    /// Runs of each experiment, each with another seed.
    pub repeats: u64,
    /// The first repeat's seed; the others follow.
    pub seed: u64,
    /// Presets to run; if `None`, each experiment's usual ones.
    pub presets: Option<Vec<Preset>>,
    /// Seconds that the plan may take.
    pub budget: Option<f64>,
    /// Runs at a time, each on one thread; all cores if `None`.
    pub jobs: Option<usize>,
    /// Noise on simulated targets, in standard deviations of the targets.
    pub noise: Option<f64>,
    /// Where named sets are.
    pub data_dir: Option<PathBuf>,
    /// The folder of records.
    pub records: PathBuf,
    /// The page of results.
    pub page: PathBuf,
    /// Overrides of every configuration, `key=value`.
    pub overrides: Vec<String>,
    /// What the records name as their maker.
    pub program: Program,
}

/// Experiments that were asked for and checked.
pub struct Reproduction {
    options: Options,
    experiments: Vec<&'static Experiment>,
    ablation: bool,
    notes: Notes,
    context: Context,
}

/// The page that was written.
#[derive(Debug)]
pub struct WrittenPage {
    /// How many records it shows.
    pub records: usize,
    /// Files among the records that are none, and why.
    pub faults: Vec<String>,
}

impl Reproduction {
    /// Checks what can be checked before anything runs: names, the noise, the notes beside the page.
    ///
    /// # Errors
    /// If an experiment does not exist, `noise` does not apply, or the notes cannot be read.
    pub fn new(options: Options) -> Result<Self, Error> {
        if let Some(noise) = options.noise
            && !(noise.is_finite() && noise > 0.0)
        {
            return Err(Error::Usage(format!("--noise={noise}: expected a standard deviation above zero")));
        }
        let (experiments, ablation) = request::select(&options.experiments)?;
        if options.noise.is_some() && experiments.iter().all(|experiment| !experiment.is_simulated()) {
            return Err(Error::Usage(
                "`--noise` is for simulated sets, and none was named\nhint: leave it out".into(),
            ));
        }
        let notes = Notes::beside(&options.page)?;
        let context = Context {
            datasets: Datasets::new(options.data_dir.clone()),
            records: Records::new(&options.records),
            machine: Machine::here(),
            program: options.program.clone(),
            checkpoint_every: CHECKPOINT_EVERY,
        };
        Ok(Self { options, experiments, ablation, notes, context })
    }

    /// Runs at a time.
    pub fn jobs(&self) -> usize {
        self.options.jobs.unwrap_or(self.context.machine.cores)
    }

    /// What is left to run. Creates the folder of records.
    ///
    /// # Errors
    /// If nothing was named, a configuration is wrong, no data are there, or the folder cannot be made.
    pub fn plan(&self) -> Result<Plan, Error> {
        let options = &self.options;
        if options.experiments.is_empty() {
            let hint =
                "name experiments, for example `ign reproduce table1`; `ign reproduce --list` has them all";
            return Err(Error::Usage(format!("there is nothing to run\nhint: {hint}")));
        }
        let seeds = options.seed..options.seed + options.repeats;
        let selected = (&self.experiments[..], self.ablation);
        let requests =
            request::requests(selected, options.presets.as_deref(), seeds, options.noise, &options.overrides);
        let plan = Plan::new(requests, &self.context, self.jobs(), options.budget)?;
        if let Some(first) = plan.without_data() {
            let hint = "name the folder of the sets with `--data-dir`, or fetch them with `ign data fetch`";
            return Err(Error::Usage(format!("nothing can be run: {}\nhint: {hint}", first.reason)));
        }
        self.context.records.create()?;
        Ok(plan)
    }

    /// Runs a plan. A run that fails does not end the others.
    pub fn run(&self, plan: &Plan, observer: &dyn Observer) -> Outcome {
        schedule(&self.context, plan.runs.clone(), self.jobs(), self.options.budget, observer)
    }

    /// Writes the page, and the figures of the ablation and of the wave beside it, from all records in the folder.
    ///
    /// # Errors
    /// If there is no folder of records, or the page cannot be written.
    pub fn write_page(&self) -> Result<WrittenPage, Error> {
        if !self.context.records.exist() {
            let hint = "name the folder of records with `--records`";
            let folder = self.options.records.display();
            return Err(Error::Usage(format!("{folder}: no such folder\nhint: {hint}")));
        }
        let (records, faults) = self.context.records.all();
        crate::page::write(&self.options.page, &records, &self.options.overrides, &self.notes)?;
        Ok(WrittenPage { records: records.len(), faults })
    }
}
