//! `ign report`: one page about what models learned and how far to trust them.

use super::given::GivenArgs;
use super::judged::{Asked, Judged, Truth};
use super::learn::ROUGH_CALIBRATION;
use super::show::Shown;
use super::train::{check_not_input, check_writable};
use super::{Failure, Reading, Threads};
use crate::output::print;
use crate::times::Times;
use data::{Part, write_atomically};
use ign::{Model, NetworkShape, Observed, RefineOptions, Schema};
use report::{Around, ModelRecord, NEAREST, Report, Request, SHOWN, Side, gather};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model files; several are shown side by side
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Table, pictures or graphs whose targets are known: what the models are judged on
    #[arg(long, value_name = "INPUT")]
    test: String,
    /// Where the nearest examples of the inducing points are looked for, best what was learned from [default: the test's]
    #[arg(long, value_name = "INPUT")]
    data: Option<String>,
    /// Where to write the page; `-` is standard output [default: the first model's name with .report.html]
    #[arg(short, long)]
    out: Option<PathBuf>,
    /// Write each figure into this folder too, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// The targets of a table without them, as a .npy file
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Which part of a named set or of pictures is judged [default: test]
    #[arg(long, value_parser = ["train", "test", "all"])]
    part: Option<String>,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    threads: Threads,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let out = args.out.clone().unwrap_or_else(|| page_path(&args.models[0]));
    let others = [Some(&args.test), args.data.as_ref(), args.target.as_ref()].into_iter().flatten();
    let inputs: Vec<&Path> = args.models.iter().map(PathBuf::as_path).chain(others.map(Path::new)).collect();
    read_once(&[&args.test], args.models.len())?;
    read_once(&[Some(&args.test), args.data.as_ref()].into_iter().flatten().collect::<Vec<_>>(), 1)?;
    let to_stdout = out == Path::new("-");
    if !to_stdout {
        check_not_input(&out, &inputs)?;
        check_writable(&out)?;
    }
    let threads = args.threads.start();
    let models: Result<Vec<Model>, _> = args.models.iter().map(|path| Model::load(path, threads)).collect();
    let models = models?;
    check_alike(&args.models, &models)?;
    let mut notes = Vec::new();
    let share = 1.0 / models.len() as f64;
    let records: Result<Vec<ModelRecord>, Failure> = args
        .models
        .iter()
        .zip(names(&args.models))
        .zip(&models)
        .map(|((path, name), model)| record(args, path, name, model, share, &mut notes))
        .collect();
    let page = Report {
        title: title(&args.models, &models[0]),
        judged_on: args.test.clone(),
        made_by: made_by(),
        models: records?,
        notes,
    };
    if let Some(folder) = &args.figures {
        write_figures(&page, folder)?;
    }
    let html = report::render(&page);
    if to_stdout {
        return print(&html);
    }
    write_atomically(&out, |file| file.write_all(html.as_bytes()))?;
    print(&out.display().to_string())
}

/// All that the page shows of one model; what is to be noted and was not noted before joins `notes`.
fn record(
    args: &Args,
    path: &Path,
    name: String,
    model: &Model,
    share: f64,
    notes: &mut Vec<String>,
) -> Result<ModelRecord, Failure> {
    let part = args.given.part(args.part.as_deref(), &args.test)?;
    let judged = read(args, path, model, &args.test, part, Truth::Needed)?;
    let rows = judged.all();
    if rows.is_empty() {
        return Err(Failure::Usage(format!(
            "{} holds nothing whose target is known\nhint: name inputs with targets by `--test`",
            args.test
        )));
    }
    let found = judged.notes.iter().cloned().chain(judged.notices.iter().map(ToString::to_string));
    for note in found {
        if !notes.contains(&note) {
            eprintln!("note: {note}");
            notes.push(note);
        }
    }
    for note in cautions(model, rows.len()) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let observed = judged.observed.as_ref().expect("the truth was needed");
    let seconds = Times::load(path).of(model.header());
    let shown = judged.show(model);
    let side = || judged.side(&rows, &shown, &args.test);
    let of = |known: Side<'_>| {
        gather(model, &Request { name, around: around(model, side(), known), observed, seconds, share })
    };
    let Some(input) = &args.data else { return Ok(of(side())) };
    let known = read(args, path, model, input, Part::Train, Truth::IfThere)?;
    let (known_rows, known_shown) = (known.all(), known.show(model));
    if known_rows.is_empty() {
        return Err(Failure::Usage(format!("{input} is empty\nhint: leave `--data` out")));
    }
    Ok(of(known.side(&known_rows, &known_shown, input)))
}

/// Fewer rows than this and shares of them are rough.
const FEW_ROWS: usize = 30;

/// What a reader of figures should know of the rows behind them.
fn cautions(model: &Model, judged: usize) -> Vec<String> {
    let header = model.header();
    let mut notes = Vec::new();
    if header.config.train.recalibrate && header.rows[1] < ROUGH_CALIBRATION {
        notes.push(format!(
            "{}: uncertainties are rough guesses",
            counted(header.rows[1], "to calibrate with")
        ));
    }
    if judged < FEW_ROWS {
        notes.push(format!("{}: scores and shares are rough", counted(judged, "to judge by")));
    }
    notes
}

fn counted(rows: usize, what: &str) -> String {
    format!("only {rows} row{} {what}", if rows == 1 { "" } else { "s" })
}

/// Names of files; their paths where names alone would not tell them apart.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| file_name(path)).collect();
    let unique = names.iter().collect::<std::collections::BTreeSet<_>>().len() == names.len();
    if unique { names } else { paths.iter().map(|path| path.display().to_string()).collect() }
}

/// Refuses to read standard input more than once.
pub(crate) fn read_once(inputs: &[&String], times: usize) -> Result<(), Failure> {
    if inputs.iter().filter(|input| **input == "-").count() * times > 1 {
        return Err(Failure::Usage(
            "standard input can be read only once\nhint: write it to a file and name that".into(),
        ));
    }
    Ok(())
}

/// Steps towards inducing points of a convolutional network, which are slow; `ign inspect` takes more.
const CONVOLUTIONAL_STEPS: usize = 50;

/// As a page wants them.
fn around<'a>(model: &Model, judged: Side<'a>, known: Side<'a>) -> Around<'a> {
    let mut options = RefineOptions::default();
    if matches!(model.header().encoder, NetworkShape::Cnn(_)) {
        options.steps = CONVOLUTIONAL_STEPS;
    }
    Around { judged, known, nearest: NEAREST, shown: SHOWN, refine: Some(options) }
}

/// Writes each figure into a folder.
fn write_figures(page: &Report, folder: &Path) -> Result<(), Failure> {
    make_folder(folder)?;
    for figure in report::figures(page) {
        let place = |ending: &str| folder.join(format!("{}.{ending}", figure.name));
        write_atomically(&place("svg"), |file| file.write_all(figure.svg.as_bytes()))?;
        let png = figure.png(2.0).map_err(|e| Failure::Usage(e.to_string()))?;
        write_atomically(&place("png"), |file| file.write_all(&png))?;
    }
    Ok(())
}

fn made_by() -> String {
    format!("ign {}", env!("CARGO_PKG_VERSION"))
}

/// What heads the page.
fn title(paths: &[PathBuf], model: &Model) -> String {
    format!("{}: {}", names(paths).join(", "), model.header().schema.target_names().join(", "))
}

/// `models/price.ign` → `price.ign`
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// `price.ign` → `price.report.html`, `price-1.2` → `price-1.2.report.html`, in the same folder.
pub(crate) fn page_path(model: &Path) -> PathBuf {
    let mut name = match model.extension() {
        Some(ending) if ending == "ign" => model.with_extension(""),
        _ => model.to_owned(),
    }
    .into_os_string();
    name.push(".report.html");
    PathBuf::from(name)
}

/// Makes a folder for pictures.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Usage(format!(
            "cannot make the folder {}: {error}\nhint: choose another place",
            folder.display()
        ))
    })
}

fn read(
    args: &Args,
    file: &Path,
    model: &Model,
    input: &str,
    part: Part,
    truth: Truth,
) -> Result<Judged, Failure> {
    let target = args.target.as_deref().filter(|_| truth == Truth::Needed);
    let (given, reading) = (&args.given, &args.reading);
    Asked { model, file, input, part, target, truth, given, reading }.read()
}

/// Side by side are models that predict the same.
fn check_alike(paths: &[PathBuf], models: &[Model]) -> Result<(), Failure> {
    let what = |model: &Model| {
        let schema = &model.header().schema;
        let kind = match schema {
            Schema::Table(_) => "rows",
            Schema::Images(_) => "pictures",
            Schema::Graphs(_) => "graphs",
            Schema::Own(_) => "inputs of its own",
        };
        let classes =
            schema.classes().map_or(String::new(), |classes| format!(" ({} classes)", classes.len()));
        format!("{}{classes} of {kind}", schema.target_names().join(", "))
    };
    let first = what(&models[0]);
    match models.iter().position(|model| what(model) != first) {
        None => Ok(()),
        Some(k) => Err(Failure::Usage(format!(
            "{} predicts {first}, {} predicts {}\nhint: compare models that predict the same",
            paths[0].display(),
            paths[k].display(),
            what(&models[k])
        ))),
    }
}

/// The page that training itself writes: judged on the test part, else on the validation part, else on what was
/// learned from.
pub(crate) fn of_training(
    model: &Model,
    prepared: &ign::Prepared,
    known: &super::given::Known,
    out: &Path,
    times: &Times,
    place: &Path,
) -> Result<(), Failure> {
    let [train, validation, test] = prepared.parts();
    let (rows, words) = match (test, validation) {
        ([], []) => (train, "the rows that were learned from: no judge of new ones"),
        ([], validation) => (
            validation,
            "the validation part (these rows also chose the epoch and calibrated the uncertainty)",
        ),
        (test, _) => (test, "the test part, from which nothing was learned"),
    };
    let shown = Shown::new(prepared.inputs(), Some(known), &model.header().schema, None);
    let side =
        |rows, words: &str| Side { inputs: prepared.inputs(), rows, show: &shown, words: words.into() };
    let observed: Observed = prepared.observed(rows);
    let paths = [out.to_owned()];
    let record = gather(
        model,
        &Request {
            name: file_name(out),
            around: around(model, side(rows, words), side(train, "the training part")),
            observed: &observed,
            seconds: times.of(model.header()),
            share: 1.0,
        },
    );
    let page = Report {
        title: title(&paths, model),
        judged_on: words.into(),
        made_by: made_by(),
        notes: prepared.notices.iter().map(ToString::to_string).chain(cautions(model, rows.len())).collect(),
        models: vec![record],
    };
    let html = report::render(&page);
    Ok(write_atomically(place, |file| file.write_all(html.as_bytes()))?)
}
