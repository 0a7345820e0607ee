//! `ign train`: a table, pictures or graphs in, a model file out.

use super::given::{Given, GivenArgs, Known, read_table};
use super::report::page_path;
use super::{Failure, Reading, Threads, folds};
use crate::output::{self, print};
use crate::progress::{Progress, interrupted, watch_for_interrupts};
use crate::times::Times;
use data::{Column, ImageOptions, Notice, Source, Task};
use ign::artifact::{load_checkpoint, save_checkpoint};
use ign::{Config, Fit, FitEvent, Kind, Model, Prepared, Schema};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Fewer validation rows than this and the user is told so.
const ROUGH_CALIBRATION: usize = 50;
/// A checkpoint is written at the first epoch after so long.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(120);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to learn from: a table (CSV, Parquet or JSON lines, also .gz and .xz, or .npy; `-` reads standard input),
    /// a folder of pictures (a sub-folder for each class, idx or CIFAR-10 files), graphs (a zip archive or folder of
    /// the TU Dortmund collection, or JSON lines with nodes and edges), or a named set (mnist, toy-mnist, cifar10,
    /// fashion-mnist, imdb-text, imdb-graph)
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
    /// `default`, or `paper` for the paper's setting to the letter
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
    fn progress(&self) -> Progress {
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
    check_not_input(&out, &[Path::new(&args.input)])?;
    let (known, notices, config) = match args.given.recognise(std::slice::from_ref(&args.input))? {
        Given::Images(source) => {
            let config = args.run.config(Kind::Images, &settings)?;
            refuse_target(&config, &args.input, "pictures")?;
            check_writable(&out)?;
            let (set, notices) = args.given.images(&source, ImageOptions::default())?;
            (Known::Images(set), notices, config)
        }
        Given::Graphs(source) => {
            let config = args.run.config(Kind::Graphs, &settings)?;
            refuse_target(&config, &args.input, "graphs")?;
            check_writable(&out)?;
            let (set, notices) = data::read_graphs(&source, true)?;
            (Known::Graphs(set), notices, config)
        }
        Given::Table(named) => {
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

/// All that a training run needs.
pub(crate) struct Job<'a> {
    pub(crate) known: &'a Known,
    pub(crate) prepared: Prepared,
    pub(crate) notices: Vec<Notice>,
    pub(crate) config: &'a Config,
    pub(crate) out: &'a Path,
    pub(crate) args: &'a RunArgs,
    /// Scores of a cross-validation, which then are part of what is printed.
    pub(crate) folds: Option<serde_json::Value>,
}

/// Trains, saves, prints the scores and writes the page, whose path it returns: it is to be told last.
pub(crate) fn learn(job: Job<'_>) -> Result<Option<PathBuf>, Failure> {
    let Job { known, prepared, notices, config, out, args, folds } = job;
    let page = (!args.no_report).then(|| page_path(out));
    if let Some(page) = &page {
        check_writable(page)?;
    }
    let threads = args.threads.start();
    let started = Instant::now();
    let mut progress = args.progress();
    notices.iter().chain(&prepared.notices).for_each(|notice| progress.note(&notice.to_string()));
    let [train, validation, test] = prepared.rows();
    let schema = &prepared.schema;
    let inputs = match schema {
        Schema::Table(table) => match table.text_columns().count() {
            0 => format!("{} inputs as {} numbers", table.inputs.len(), schema.width()),
            texts => {
                let others = table.inputs.len() - texts;
                let words: Vec<String> = table
                    .text_columns()
                    .map(|(name, t)| format!("`{name}` knows {} words", t.vocabulary()))
                    .collect();
                format!("{texts} texts ({}), {others} other inputs", words.join(", "))
            }
        },
        Schema::Graphs(_) => format!("graphs whose nodes have {} numbers", schema.width()),
        Schema::Images(_) | Schema::Own(_) => format!("pictures of {} numbers", schema.width()),
    };
    progress.note(&format!(
        "{train} rows to train on, {validation} for validation, {test} for the test; {inputs}"
    ));
    if let Some(classes) = schema.classes() {
        progress.note(&priors(classes, schema.class_counts()));
    }
    if config.train.recalibrate && validation < ROUGH_CALIBRATION {
        progress.note(&format!("only {validation} rows to calibrate with: uncertainties are rough guesses"));
    }
    let checkpoint = checkpoint_path(out);
    let fingerprint = prepared.fingerprint();
    let resume = if args.resume { Some(load_checkpoint(&checkpoint, config, &fingerprint)?) } else { None };
    watch_for_interrupts("what has been learned is being saved");
    let mut saved = Instant::now();
    let mut failed = None;
    let mut times = if args.resume { Times::load(out) } else { Times::new() };
    let fit = prepared.fit(config, threads, resume, &mut |event| {
        progress.show(&event);
        times.hear(&event);
        if let FitEvent::Standing(standing) = event
            && saved.elapsed() > CHECKPOINT_EVERY
        {
            saved = Instant::now();
            if let Err(error) = save_checkpoint(&checkpoint, config, &fingerprint, standing) {
                failed = Some(error);
                return false;
            }
        }
        !interrupted()
    })?;
    progress.finish();
    if let Some(error) = failed {
        return Err(error.into());
    }
    match fit {
        Fit::Interrupted(standing) => {
            save_checkpoint(&checkpoint, config, &fingerprint, &standing)?;
            times.save(out)?;
            eprintln!(
                "stopped; go on with the same command and `--resume` (checkpoint {})",
                checkpoint.display()
            );
            Err(Failure::Interrupted)
        }
        Fit::Finished(model) => {
            model.save(out)?;
            // What it was for is done; a leftover would only mislead.
            let _ = std::fs::remove_file(&checkpoint);
            times.save(out)?;
            if let Some(page) = &page {
                super::report::of_training(&model, &prepared, known, out, &times, page)?;
            }
            report(&model, out, page.as_deref(), args, started.elapsed(), folds)?;
            Ok(page)
        }
    }
}

fn report(
    model: &Model,
    out: &Path,
    page: Option<&Path>,
    args: &RunArgs,
    elapsed: Duration,
    folds: Option<serde_json::Value>,
) -> Result<(), Failure> {
    let metrics = &model.header().metrics;
    if args.json {
        let parts: serde_json::Map<_, _> =
            metrics.iter().map(|(part, scores)| (part.clone(), output::scores_json(scores))).collect();
        let mut json =
            serde_json::json!({ "model": out, "seconds": elapsed.as_secs_f64(), "metrics": parts });
        json["report"] = serde_json::json!(page);
        if let Some(folds) = folds {
            json["cross_validation"] = folds;
        }
        return print(&json.to_string());
    }
    if args.quiet {
        return Ok(());
    }
    for (part, scores) in metrics {
        print(&format!("{}\n{}", output::part(part), output::scores(scores)))?;
    }
    print(&format!("{} written in {:.0} s", out.display(), elapsed.as_secs_f64()))
}

/// The last line: where the page is.
pub(crate) fn tell_page(page: Option<&Path>, args: &RunArgs) -> Result<(), Failure> {
    match page {
        Some(page) if !args.json && !args.quiet => print(&page.display().to_string()),
        _ => Ok(()),
    }
}

/// How frequent the classes are.
fn priors(classes: &[String], counts: &[usize]) -> String {
    const SHOWN: usize = 12;
    let total = counts.iter().sum::<usize>().max(1) as f64;
    let share = |(class, &count): (&String, &usize)| format!("{class} {:.1} %", 100.0 * count as f64 / total);
    let shares: Vec<String> = classes.iter().zip(counts).take(SHOWN).map(share).collect();
    let more = if classes.len() > SHOWN { ", …" } else { "" };
    format!("{} classes: {}{more}", classes.len(), shares.join(", "))
}

/// `prices.csv.gz` → `prices.ign`, in the current folder.
fn default_path(table: &str) -> PathBuf {
    let name = Path::new(table).file_name().and_then(|n| n.to_str()).unwrap_or("model");
    let stem = name.split('.').find(|part| !part.is_empty() && *part != "-").unwrap_or("model");
    PathBuf::from(format!("{stem}.ign"))
}

/// `price.ign` → `price.ign.checkpoint`.
fn checkpoint_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".checkpoint");
    PathBuf::from(name)
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
