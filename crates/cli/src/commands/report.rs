//! `ign report`: one page about models, their scores, calibration and inducing points.

use crate::failure::Failure;
use crate::input::check_stdin_once;
use crate::input::eval_data::{EvalRequest, all_rows};
use crate::input::flags::{InputFlags, TableFlags, ThreadFlags};
use crate::output_file::{check_not_input, check_writable, report_path};
use crate::report_page::{generator, names, write_figures};
use crate::ui::output::{note, print, print_raw};
use crate::ui::times::Times;
use data::{DatasetPart, write_atomically};
use inducing::Model;
use inducing::dataset::Schema;
use inducing::model::{EncodedData, InputCheck, TargetUse};
use report::{EvaluatedRows, JudgedModel, ModelRecord, RunRecord, cautions, title};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model files; several are shown side by side
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Table, images or graphs with known targets, to evaluate the models on
    #[arg(long, value_name = "INPUT")]
    test: String,
    /// Where to search for the examples nearest to the inducing points, best the training data [default: --test]
    #[arg(long, value_name = "INPUT")]
    data: Option<String>,
    /// Where to write the page; `-` is standard output [default: the first model's name with .report.html]
    #[arg(short, long, visible_alias = "output")]
    out: Option<PathBuf>,
    /// Also write each figure into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// The targets as a .npy file, for a table without them
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Which part of a named set or of images to evaluate on [default: test]
    #[arg(long, value_parser = ["train", "test", "all"])]
    part: Option<String>,
    #[command(flatten)]
    input_flags: InputFlags,
    #[command(flatten)]
    table_flags: TableFlags,
    #[command(flatten)]
    threads: ThreadFlags,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let out = args.out.clone().unwrap_or_else(|| report_path(&args.models[0]));
    let others = [Some(&args.test), args.data.as_ref(), args.target.as_ref()].into_iter().flatten();
    let inputs: Vec<&Path> = args.models.iter().map(PathBuf::as_path).chain(others.map(Path::new)).collect();
    check_stdin_once(&[&args.test], args.models.len())?;
    check_stdin_once(&[Some(&args.test), args.data.as_ref()].into_iter().flatten().collect::<Vec<_>>(), 1)?;
    let to_stdout = out == Path::new("-");
    if !to_stdout {
        check_not_input(&out, &inputs)?;
        check_writable(&out)?;
    }
    args.threads.start();
    let models: Result<Vec<Model>, _> = args.models.iter().map(Model::load).collect();
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
    let page = RunRecord {
        title: title(&names(&args.models), &models[0]),
        evaluated_on: args.test.clone(),
        rows: EvaluatedRows::Given,
        generator: generator(),
        models: records?,
        notes,
    };
    if let Some(folder) = &args.figures {
        write_figures(
            folder,
            report::figures(&page).into_iter().map(|figure| (figure.name.clone(), figure)),
        )?;
    }
    let html = report::render(&page);
    if to_stdout {
        return print_raw(&html);
    }
    write_atomically(&out, |file| file.write_all(html.as_bytes()))?;
    print(&out.display().to_string())
}

/// What the page shows of one model; notes that are new join `notes`.
fn record(
    args: &Args,
    path: &Path,
    name: String,
    model: &Model,
    share: f64,
    notes: &mut Vec<String>,
) -> Result<ModelRecord, Failure> {
    let part = args.input_flags.part(args.part.as_deref(), &args.test)?;
    let data = read(args, path, model, &args.test, part, TargetUse::Needed)?;
    let rows = all_rows(&data);
    if rows.is_empty() {
        return Err(Failure::Usage(format!(
            "{} has no row with a known target\nhint: `--test` needs inputs with their targets",
            args.test
        )));
    }
    let mut check = InputCheck::new(model);
    check.add(&data.inputs, &data.unseen, &model.predict_inputs(&data.inputs, &rows)?);
    let checked = check.notes().into_iter().map(|note| note.to_string());
    for text in data.notes.iter().chain(&data.file_notes).cloned().chain(checked) {
        if !notes.contains(&text) {
            note(&text);
            notes.push(text);
        }
    }
    for text in cautions(model, rows.len()) {
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
    let reference = match &args.data {
        Some(input) => {
            Some((read(args, path, model, input, DatasetPart::Train, TargetUse::IfPresent)?, input))
        }
        None => None,
    };
    if let Some((_, input)) = reference.as_ref().filter(|(data, _)| data.inputs.rows() == 0) {
        return Err(Failure::Usage(format!("{input} is empty\nhint: leave `--data` out")));
    }
    let judged = JudgedModel {
        model,
        name,
        evaluated: (&data, &args.test),
        reference: reference.as_ref().map(|(data, input)| (data, input.as_str())),
        seconds: Times::load(path).by_epoch(model.header()),
        page_share: share,
    };
    Ok(judged.record()?)
}

fn read(
    args: &Args,
    file: &Path,
    model: &Model,
    input: &str,
    part: DatasetPart,
    targets: TargetUse,
) -> Result<EncodedData, Failure> {
    let target = args.target.as_deref().filter(|_| targets == TargetUse::Needed);
    let (input_flags, table_flags) = (&args.input_flags, &args.table_flags);
    EvalRequest { model, file, input, part, target, targets, input_flags, table_flags }.read()
}

/// Refuses models that do not predict the same thing.
fn check_alike(paths: &[PathBuf], models: &[Model]) -> Result<(), Failure> {
    let what = |model: &Model| {
        let schema = &model.header().schema;
        let kind = match schema {
            Schema::Table(_) => "rows",
            Schema::Images(_) => "images",
            Schema::Graphs(_) => "graphs",
            Schema::Custom(_) => "custom inputs",
        };
        let classes =
            schema.classes().map_or(String::new(), |classes| format!(" ({} classes)", classes.len()));
        format!("{}{classes} of {kind}", schema.target_names().join(", "))
    };
    let first = what(&models[0]);
    match models.iter().position(|model| what(model) != first) {
        None => Ok(()),
        Some(k) => Err(Failure::Usage(format!(
            "{} predicts {first}, {} predicts {}\nhint: compare models that predict the same thing",
            paths[0].display(),
            paths[k].display(),
            what(&models[k])
        ))),
    }
}
