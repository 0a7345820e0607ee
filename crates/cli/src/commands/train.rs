//! `ign train`: a table, images or graphs in, a model file out.

use crate::failure::Failure;
use crate::input::flags::{InputFlags, TableFlags};
use crate::input::input_spec::{InputKind, is_npy};
use crate::output_file::{check_not_input, check_writable, default_model_path, report_path};
use crate::training::cross_validation;
use crate::training::run_args::{Assignments, RunArgs};
use crate::training::train_run::{TrainRun, print_report_path};
use crate::training::world::Processes;
use data::{DatasetPart, Format, Task};
use inducing::config::{Bounds, Threshold};
use inducing::{Dataset, Settings, Trainer};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to learn from: a table (CSV, Parquet or JSON lines, also .gz and .xz, or .npy; `-` reads standard input),
    /// a folder of images (a sub-folder for each class, idx or CIFAR-10 files), graphs (a zip archive or folder of
    /// the TU Dortmund collection, or JSON lines with nodes and edges), or a named set (mnist, toy-mnist, cifar10,
    /// fashion-mnist, imdb-text, imdb-graph; protein, pm25, energy, bike-hour, …: `ign reproduce --list`)
    pub(super) input: String,
    /// Column to predict, or a .npy file with it; several separated by commas
    #[arg(long, value_delimiter = ',')]
    target: Vec<String>,
    /// Where to write the model [default: the input's name with .ign]
    #[arg(short, long, visible_alias = "output")]
    pub(super) out: Option<PathBuf>,
    /// The task [default: recognised from the target]
    #[arg(long, value_parser = ["regression", "classification"])]
    task: Option<String>,
    /// The head on top of the features: the Gaussian process, or a plain softmax layer to compare with
    #[arg(long, value_parser = ["gp", "softmax"])]
    head: Option<String>,
    /// The encoder: dense layers (mlp), convolutions for images (cnn), bags or messages for graphs (bag, gin), or none
    /// if the inputs are features already (identity) [default: what suits the input]
    #[arg(long, value_parser = ["mlp", "cnn", "bag", "gin", "identity"])]
    encoder: Option<String>,
    /// For more than two classes: one network for all, or one per class
    #[arg(long, value_parser = ["shared", "independent"])]
    multiclass: Option<String>,
    /// Keep no training rows in the model: a smaller file that gives no row away, less accurate and less sure of what it does
    /// not know
    #[arg(long)]
    without_neighbours: bool,
    /// Text columns, besides those recognised by their many words; several separated by commas
    #[arg(long, value_delimiter = ',')]
    text: Vec<String>,
    /// Columns to leave out; several separated by commas
    #[arg(long, value_delimiter = ',', visible_alias = "exclude", value_name = "COLUMNS")]
    ignore: Vec<String>,
    /// Column whose order the parts follow, a date or a number: the latest rows are the test part
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// Column whose equal values stay in one part, such as a household or a patient; it is no input
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    /// Memory that the table may take, such as 2GiB: networks learn from a larger one in the files, and keep a sample of it [default:
    /// half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,
    /// Column with the weight of each row in losses, calibration and scores; it is no input
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Range that predictions and intervals of a number stay in: `0,`, `,100` or `0,100`; `,` for none [default: what the target's
    /// values suggest]
    #[arg(long, value_name = "LOWER,UPPER", allow_hyphen_values = true, value_parser = bounds)]
    bounds: Option<String>,
    /// For classes: all rows count the same (equal), or all classes do (balanced)
    #[arg(long, value_parser = ["equal", "balanced"])]
    class_weights: Option<String>,
    /// Of two classes, from which probability on the second is predicted, or what held-out rows choose it by: 0.3, f1,
    /// balanced_accuracy, precision=0.9, recall=0.9 [default: the more probable class]
    #[arg(long, value_name = "THRESHOLD", value_parser = threshold, conflicts_with = "costs")]
    threshold: Option<String>,
    /// What each decision costs, a row for each true class and in it a cost for each decision, in the order of the classes:
    /// `0,1;5,0` [default: the most probable class]
    #[arg(long, value_name = "COSTS", value_parser = costs)]
    costs: Option<toml::Value>,
    /// After the test part was judged, train again on all rows and keep the scores
    #[arg(long)]
    refit: bool,
    /// Run K-fold cross-validation first
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(2..))]
    pub(super) folds: Option<u64>,
    /// Repeat the cross-validation with other folds
    #[arg(long, value_name = "R", default_value_t = 1, requires = "folds", value_parser = clap::value_parser!(u64).range(1..))]
    repeats: u64,
    #[command(flatten)]
    input_flags: InputFlags,
    #[command(flatten)]
    pub(super) run: RunArgs,
    #[command(flatten)]
    table_flags: TableFlags,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let processes = Processes::join()?;
    let result = train(args, &processes);
    processes.leave(&result);
    result
}

fn train(args: &Args, processes: &Processes) -> Result<(), Failure> {
    let run = args.run.of_processes(processes);
    run.check()?;
    let out = args.out.clone().unwrap_or_else(|| default_model_path(&args.input));
    for written in [out.clone(), report_path(&out)] {
        check_not_input(&written, &[Path::new(&args.input)])?;
    }
    run.threads();
    let settings = run.settings(&args.assignments())?;
    let data = args.dataset(&settings, &out, processes)?;
    let trainer = Trainer::new(&data).settings(settings);
    let notices = trainer.notices()?;
    let (prepared, config) = trainer.prepare()?;
    if let Some(folds) = args.folds {
        if processes.are_several() {
            return Err(Failure::Usage(
                "folds are not parted among the processes of `mpirun`\nhint: leave `--folds` out, or start one process".into(),
            ));
        }
        let folds = [folds, args.repeats];
        return cross_validation::run(&data, prepared, notices, &config, folds, &out, &run);
    }
    let whole = TrainRun {
        data: &data,
        prepared,
        notices,
        config: &config,
        out: &out,
        args: &run,
        processes,
        cross_validation: None,
    };
    print_report_path(whole.run()?.as_deref(), &run)
}

impl Args {
    /// What the flags say, as assignments to keys.
    pub(super) fn assignments(&self) -> Assignments {
        let mut assignments = Assignments::new();
        if !self.target.is_empty() {
            assignments.push(("data.target".into(), self.target.clone().into()));
        }
        if !self.ignore.is_empty() {
            assignments.push(("data.ignore".into(), self.ignore.clone().into()));
        }
        assignments.extend(self.text.iter().map(|name| (column_key(name), "text".into())));
        let flags = [
            ("data.task", &self.task),
            ("head", &self.head),
            ("encoder.kind", &self.encoder),
            ("gp.multiclass", &self.multiclass),
            ("data.time_column", &self.time_column),
            ("data.group", &self.group),
            ("data.weight", &self.weight),
            ("train.class_weights", &self.class_weights),
            ("data.bounds", &self.bounds),
            ("train.threshold", &self.threshold),
        ];
        let given = flags.into_iter().filter_map(|(key, flag)| Some((key.into(), flag.clone()?.into())));
        assignments.extend(given);
        assignments.extend(self.costs.clone().map(|costs| ("train.costs".into(), costs)));
        assignments.extend(self.refit.then(|| ("train.refit_on_all".into(), true.into())));
        assignments.extend(self.without_neighbours.then(|| ("neighbours.count".into(), 0.into())));
        assignments
    }

    /// What to learn from.
    pub(super) fn dataset(
        &self,
        settings: &Settings,
        out: &Path,
        processes: &Processes,
    ) -> Result<Dataset, Failure> {
        let inputs = std::slice::from_ref(&self.input);
        let kind = self.input_flags.recognise(inputs)?;
        let config = settings.data()?;
        let mut reader = self.input_flags.reader(&self.table_flags, DatasetPart::Train);
        let what = match kind {
            InputKind::Images => "images",
            InputKind::Graphs => "graphs",
            InputKind::Table | InputKind::NamedTable => {
                self.input_flags.refuse_image_flags(&self.input)?;
                if let Some(both) = self.text.iter().find(|name| config.target.contains(name)) {
                    return Err(Failure::Usage(format!(
                        "`{both}` cannot be both the target and a text input\nhint: leave it out of `--text`"
                    )));
                }
                reader.table = config.read_options(&reader.table);
                let mut data = reader.read_all(inputs)?.shared_by(processes.readers());
                if let Some(bytes) = self.memory.or_else(|| processes.free_memory()) {
                    data = data.within_memory(bytes);
                }
                let target = if config.target.is_empty() { data.targets().to_vec() } else { config.target };
                if target.is_empty() {
                    return Err(Failure::Usage(format!(
                        "which column of {} should be predicted?\nhint: name it with `--target NAME`, or `data.target` in the configuration",
                        self.input
                    )));
                }
                check_writable(out)?;
                return match &target[..] {
                    [file] if is_npy(file) => {
                        let (name, column) = data::read_npy_column(Path::new(file))?;
                        Ok(data.with_target_column(&name, column))
                    }
                    _ => Ok(data.with_targets(&target)?),
                };
            }
        };
        if kind == InputKind::Graphs {
            self.input_flags.refuse_image_flags(&self.input)?;
        }
        if !config.target.is_empty() || config.task == Some(Task::Regression) {
            let input = &self.input;
            return Err(Failure::Usage(match kind == InputKind::Images && holds_tables(Path::new(input)) {
                true => format!(
                    "{input} holds tables and other things\nhint: name the tables by a pattern: '{0}/*.csv', or '{0}/**/*.csv' with those in folders",
                    input.trim_end_matches('/')
                ),
                false => format!(
                    "{input} holds {what}, whose classes are learned: there is no target column and no regression\nhint: leave `--target` and `--task` out"
                ),
            }));
        }
        check_writable(out)?;
        Ok(reader.read_all(inputs)?)
    }
}

/// Whether tables lie in a folder, among other things; a text may be about the images beside it.
fn holds_tables(folder: &Path) -> bool {
    let is_table = |path: &Path| {
        Format::from_path(path).is_some_and(|format| format != Format::Npy)
            && path.extension().is_some_and(|ending| ending != "txt")
    };
    let mut files = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    files.any(|path| path.is_file() && is_table(&path))
}

/// `2GiB`, `500MB` or a number of bytes.
fn memory(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: f64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" | "k" => 1024.0,
        "mib" | "m" => 1_048_576.0,
        "gib" | "g" => 1_073_741_824.0,
        "tib" | "t" => 1_099_511_627_776.0,
        _ => 0.0,
    };
    match digits.trim().parse::<f64>() {
        Ok(count) if count * unit >= 1.0 && count.is_finite() => Ok((count * unit) as u64),
        _ => Err(format!("`{text}` is no size: write 2GiB, 500MB or a number of bytes")),
    }
}

fn bounds(text: &str) -> Result<String, String> {
    text.parse::<Bounds>().map(|bounds| bounds.to_string())
}

fn threshold(text: &str) -> Result<String, String> {
    text.parse::<Threshold>().map(|threshold| threshold.to_string())
}

/// `0,1;5,0` as rows of numbers.
fn costs(text: &str) -> Result<toml::Value, String> {
    let cost = |cell: &str| cell.trim().parse::<f64>().map(toml::Value::from);
    let row = |row: &str| row.split(',').map(cost).collect::<Result<Vec<_>, _>>().map(toml::Value::from);
    let rows: Result<Vec<_>, _> = text.split(';').map(row).collect();
    rows.map(toml::Value::from)
        .map_err(|_| format!("`{text}` are no costs: write numbers, rows apart by `;`, such as `0,1;5,0`"))
}

/// The key of a column's type.
fn column_key(column: &str) -> String {
    format!("data.columns.{}", toml::Value::from(column))
}
