//! `ign train`: a table, pictures or graphs in, a model file out.

use super::given::{Given, GivenArgs, Known, read_table};
use super::learn::{Job, checkpoint_path, learn, tell_page};
use super::report::page_path;
use super::{Failure, Reading, Threads, folds};
use crate::progress::Progress;
use data::{Column, ImageOptions, Source, Task};
use ign::{Config, Kind};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to learn from: a table (CSV, Parquet or JSON lines, also .gz and .xz, or .npy; `-` reads standard input),
    /// a folder of pictures (a sub-folder for each class, idx or CIFAR-10 files), graphs (a zip archive or folder of
    /// the TU Dortmund collection, or JSON lines with nodes and edges), or a named set (mnist, toy-mnist, cifar10,
    /// fashion-mnist, imdb-text, imdb-graph; protein, pm25, energy, bike-hour, …: `ign reproduce --list`)
    input: String,
    /// Column to predict, or a .npy file of them; several with commas
    #[arg(long, value_delimiter = ',')]
    target: Vec<String>,
    /// Where to write the model [default: the input's name with .ign]
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// What is learned [default: what the target looks like]
    #[arg(long, value_parser = ["regression", "classification"])]
    task: Option<String>,
    /// What stands on the features: the Gaussian process, or a plain softmax layer to compare with
    #[arg(long, value_parser = ["gp", "softmax"])]
    head: Option<String>,
    /// The network: dense layers (mlp), convolutions for pictures (cnn), bags or messages for graphs (bag, gin), or
    /// none where the inputs are features that were computed elsewhere (identity) [default: what suits the input]
    #[arg(long, value_parser = ["mlp", "cnn", "bag", "gin", "identity"])]
    encoder: Option<String>,
    /// More than two classes: one network for all, or one for each class
    #[arg(long, value_parser = ["shared", "independent"])]
    multiclass: Option<String>,
    /// Columns that hold text besides those with many words, which are recognised; several with commas
    #[arg(long, value_delimiter = ',')]
    text: Vec<String>,
    /// Cross-validate first: so many parts, each of them held out once
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(2..))]
    folds: Option<u64>,
    /// Repeat the cross-validation with other parts
    #[arg(long, value_name = "R", default_value_t = 1, requires = "folds", value_parser = clap::value_parser!(u64).range(1..))]
    repeats: u64,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    reading: Reading,
}

/// Keys of the configuration and their values.
type Settings = Vec<(String, toml::Value)>;

/// The key of a column's type.
fn column_key(column: &str) -> String {
    format!("data.columns.{}", toml::Value::from(column))
}

/// What `train` and `demo` share.
#[derive(clap::Args, Clone)]
pub(crate) struct RunArgs {
    /// A TOML file that holds a whole run
    #[arg(long)]
    config: Option<PathBuf>,
    /// Override one key, for example train.epochs=50 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// `default`, or `paper` for the paper's setting, as far as it says
    #[arg(long)]
    preset: Option<String>,
    /// Hold out this share of the rows and report on it at the end
    #[arg(long)]
    test_share: Option<f64>,
    /// Decides every random number
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Go on from the checkpoint that an interrupted run left beside the model
    #[arg(long)]
    resume: bool,
    /// Do not write the page about the model (MODEL.report.html)
    #[arg(long)]
    no_report: bool,
    /// Watch the training on the whole screen: its curves, speed and notices; q stops it and saves a checkpoint.
    /// Without a terminal there are lines as usual
    #[arg(long, conflicts_with = "quiet")]
    dashboard: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: Threads,
}

impl RunArgs {
    /// The resolved configuration.
    pub(crate) fn config(&self, kind: Kind, settings: &[(String, toml::Value)]) -> Result<Config, Failure> {
        let text = match &self.config {
            Some(path) => {
                let source = std::fs::read_to_string(path);
                let hint = "name a TOML file; `ign info MODEL --config` prints one that works";
                let io = |source| ign::Error::Io { action: "read", path: path.clone(), source, hint };
                Some((path.display().to_string(), source.map_err(io)?))
            }
            None => None,
        };
        let mut overrides = self.overrides.clone();
        overrides.extend(self.seed.map(|seed| format!("seed={seed}")));
        overrides.extend(self.test_share.map(|share| format!("data.test_share={share:?}")));
        overrides.extend(settings.iter().map(|(key, value)| format!("{key}={value}")));
        let file = text.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        Ok(Config::resolve(kind, self.preset.as_deref(), file, &overrides)?)
    }

    pub(crate) fn resume(&self) -> bool {
        self.resume
    }

    /// The same, but resuming only where there is something to resume.
    pub(crate) fn resuming_from(&self, out: &Path) -> Self {
        Self { resume: self.resume && checkpoint_path(out).exists(), ..self.clone() }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads.start()
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

    pub(crate) fn dashboard(&self) -> bool {
        self.dashboard
    }

    /// How the run shows itself.
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

impl Args {
    /// What the flags say, as settings.
    fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        if !self.target.is_empty() {
            settings.push(("data.target".into(), self.target.clone().into()));
        }
        settings.extend(self.text.iter().map(|name| (column_key(name), "text".into())));
        let flags = [
            ("data.task", &self.task),
            ("head", &self.head),
            ("encoder.kind", &self.encoder),
            ("gp.multiclass", &self.multiclass),
        ];
        settings.extend(flags.into_iter().filter_map(|(key, flag)| Some((key.into(), flag.clone()?.into()))));
        settings
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let out = args.out.clone().unwrap_or_else(|| default_path(&args.input));
    let mut settings = args.settings();
    for made in [out.clone(), page_path(&out)] {
        check_not_input(&made, &[Path::new(&args.input)])?;
    }
    let (known, notices, config) = match args.given.recognise(std::slice::from_ref(&args.input))? {
        Given::Images(source) => {
            let config = args.run.config(Kind::Images, &settings)?;
            refuse_target(&config, &args.input, "pictures")?;
            check_writable(&out)?;
            let (set, notices) = args.given.images(&source, ImageOptions::default())?;
            (Known::Images(set), notices, config)
        }
        Given::Graphs(source) => {
            args.given.without_pictures(&args.input)?;
            let config = args.run.config(Kind::Graphs, &settings)?;
            refuse_target(&config, &args.input, "graphs")?;
            check_writable(&out)?;
            let (set, notices) = data::read_graphs(&source, true)?;
            (Known::Graphs(set), notices, config)
        }
        Given::Table(named) => {
            args.given.without_pictures(&args.input)?;
            let mut source = Source::new(&args.input);
            if let Some(named) = &named {
                let known = named.column_types().into_iter();
                let mut first: Settings =
                    known.map(|(name, kind)| (column_key(&name), kind.to_string().into())).collect();
                first.push(("data.target".into(), vec![named.target().to_owned()].into()));
                first.append(&mut settings); // what the user says goes last, and rules
                settings = first;
                source = named.sources(data::Part::Train)?.remove(0);
            }
            let mut config = args.run.config(Kind::Numbers, &settings)?;
            if config.data.target.is_empty() {
                return Err(Failure::Usage(format!(
                    "which column of {} is to be predicted?\nhint: name it with `--target NAME`, or `data.target` in the configuration",
                    args.input
                )));
            }
            if let Some(both) = args.text.iter().find(|name| config.data.target.contains(name)) {
                return Err(Failure::Usage(format!(
                    "`{both}` cannot be both the target and a text to learn from\nhint: leave it out of `--text`"
                )));
            }
            check_writable(&out)?;
            let table = read_table(&source, &args.reading, &mut config)?;
            let target = config.data.target;
            let (task, notice) = match config.data.task {
                Some(task) => (task, None),
                None => data::recognise_task(&table, &target)?,
            };
            let has_text = |(name, column): (&String, &Column)| {
                matches!(column, Column::Text(_)) && !target.contains(name)
            };
            let texts = table.names().iter().zip(table.columns()).any(has_text);
            let kind = match (task, texts) {
                (Task::Regression, false) => Kind::Numbers,
                (Task::Classification, false) => Kind::Classes,
                (Task::Regression, true) => Kind::TextNumbers,
                (Task::Classification, true) => Kind::TextClasses,
            };
            let mut config = args.run.config(kind, &settings)?;
            config.data.target = target;
            (Known::Table(table), notice.into_iter().collect(), config)
        }
    };
    if let Some(folds) = args.folds {
        return folds::run(&known, notices, &config, [folds, args.repeats], &out, &args.run);
    }
    let prepared = known.prepare(&config)?;
    let page = learn(Job {
        known: &known,
        prepared,
        notices,
        config: &config,
        out: &out,
        args: &args.run,
        folds: None,
    })?;
    tell_page(page.as_deref(), &args.run)
}

fn refuse_target(config: &Config, input: &str, what: &str) -> Result<(), Failure> {
    if config.data.target.is_empty() && config.data.task != Some(Task::Regression) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{input} holds {what}: their classes are learned, there is no target column and no regression\nhint: leave `--target` and `--task` out"
    )))
}

/// `prices.csv.gz` → `prices.ign`, in the current folder.
fn default_path(table: &str) -> PathBuf {
    let name = Path::new(table).file_name().and_then(|n| n.to_str()).unwrap_or("model");
    let stem = name.split('.').find(|part| !part.is_empty() && *part != "-").unwrap_or("model");
    PathBuf::from(format!("{stem}.ign"))
}

/// Refuses an output that is also an input.
pub(crate) fn check_not_input(out: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let same =
        |input: &&&Path| matches!((input.canonicalize(), out.canonicalize()), (Ok(a), Ok(b)) if a == b);
    match inputs.iter().find(same) {
        None => Ok(()),
        Some(input) => Err(cannot_write(out, &format!("it would overwrite the input {}", input.display()))),
    }
}

/// Fails before training, not after it.
pub(crate) fn check_writable(out: &Path) -> Result<(), Failure> {
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let problem = if out.is_dir() {
        Some("it is a folder".to_owned())
    } else if !folder.is_dir() {
        Some(format!("there is no folder {}", folder.display()))
    } else {
        // The only sure way to know is to try.
        tempfile_in(folder).err().map(|e| e.to_string())
    };
    problem.map_or(Ok(()), |problem| Err(cannot_write(out, &problem)))
}

fn cannot_write(out: &Path, problem: &str) -> Failure {
    Failure::Usage(format!(
        "cannot write {}: {problem}\nhint: choose another place with `--out`",
        out.display()
    ))
}

fn tempfile_in(folder: &Path) -> std::io::Result<()> {
    let probe = folder.join(format!(".ign-{}", std::process::id()));
    std::fs::File::create_new(&probe)?;
    std::fs::remove_file(&probe)
}
