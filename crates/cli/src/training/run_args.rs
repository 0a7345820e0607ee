//! Flags that `train` and `demo` share.

use crate::failure::Failure;
use crate::input::flags::ThreadFlags;
use crate::input::read_text;
use crate::output_file::checkpoint_path;
use crate::training::world::Processes;
use crate::ui::output::note;
use crate::ui::progress::Progress;
use inducing::Settings;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Keys of the configuration and their values.
pub(crate) type Assignments = Vec<(String, toml::Value)>;

#[derive(clap::Args, Clone)]
pub(crate) struct RunArgs {
    /// A TOML file that configures the run
    #[arg(long)]
    config: Option<PathBuf>,
    /// Override one key, for example train.epochs=50 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// `default`; `single` for one network on a table, without cross-fitted members and neighbours; or `paper` for the paper's
    /// setting as far as the paper states it
    #[arg(long)]
    preset: Option<String>,
    /// Hold out this share of the rows and report scores on it
    #[arg(long)]
    test_share: Option<f64>,
    /// Seed of all random numbers
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Continue from the checkpoint that an interrupted run left beside the model
    #[arg(long)]
    resume: bool,
    /// Save a checkpoint this often
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    checkpoint_every: u32,
    /// Do not write the report (MODEL.report.html)
    #[arg(long)]
    no_report: bool,
    /// Watch the training on the whole screen: curves, speed and notices; q stops and saves a checkpoint. Without a
    /// terminal the usual lines are printed
    #[arg(long, conflicts_with = "quiet")]
    dashboard: bool,
    /// Print only errors and warnings
    #[arg(short, long)]
    quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadFlags,
}

impl RunArgs {
    /// Refuses flags that this build does not support.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.dashboard && !cfg!(feature = "dashboard") {
            return Err(Failure::Usage(
                "this build has no dashboard\nhint: leave `--dashboard` out, or build with the feature `dashboard`".into(),
            ));
        }
        Ok(())
    }

    /// What the flags say of the run; `more` goes last and wins.
    pub(crate) fn settings(&self, more: &[(String, toml::Value)]) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        if let Some(preset) = &self.preset {
            settings = settings.preset(preset);
        }
        if let Some(path) = &self.config {
            let hint = "name a TOML file; `ign info MODEL --config` prints one";
            settings = settings.toml(path.display().to_string(), read_text(path, hint)?);
        }
        let flags = [
            self.seed.map(|seed| format!("seed={seed}")),
            self.test_share.map(|share| format!("data.test_share={share:?}")),
        ];
        let overrides = self.overrides.iter().cloned().chain(flags.into_iter().flatten());
        let more = more.iter().map(|(key, value)| format!("{key}={value}"));
        let settings = overrides.chain(more).fold(settings, Settings::set);
        for (old, new) in settings.renamed_keys().into_iter().filter(|_| !self.quiet) {
            note(&format!("`{old}` is now called `{new}`"));
        }
        Ok(settings)
    }

    pub(crate) fn resume(&self) -> bool {
        self.resume
    }

    /// The same, but resuming only where there is something to resume.
    pub(crate) fn resuming_from(&self, out: &Path) -> Self {
        Self { resume: self.resume && checkpoint_path(out).exists(), ..self.clone() }
    }

    pub(crate) fn checkpoint_every(&self) -> Duration {
        Duration::from_secs(u64::from(self.checkpoint_every))
    }

    /// The number of threads, after starting them.
    pub(crate) fn threads(&self) -> usize {
        self.threads.start()
    }

    /// As one of several processes: all but the first are silent, and those of a machine share its cores.
    pub(crate) fn of_processes(&self, processes: &Processes) -> Self {
        let own = Self { threads: self.threads.shared_by(processes), ..self.clone() };
        if processes.is_first() { own } else { Self { quiet: true, json: false, dashboard: false, ..own } }
    }

    pub(crate) fn no_report(&self) -> bool {
        self.no_report
    }

    pub(crate) fn json(&self) -> bool {
        self.json
    }

    pub(crate) fn quiet(&self) -> bool {
        self.quiet
    }

    /// Whether the result is printed for people.
    pub(crate) fn for_people(&self) -> bool {
        !self.quiet && !self.json
    }

    pub(crate) fn dashboard(&self) -> bool {
        self.dashboard
    }

    /// How the run shows its progress.
    pub(crate) fn progress(&self) -> Progress {
        let progress = Progress::new(self.quiet, self.dashboard && !self.json);
        if self.dashboard && self.json {
            progress.note("no dashboard: `--json` is for programs");
        }
        progress
    }

    pub(crate) fn default_test_share(&mut self, share: f64) {
        self.test_share.get_or_insert(share);
    }
}
