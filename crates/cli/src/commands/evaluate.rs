//! `ign evaluate`: predictions against the truth.

use super::given::{Given, GivenArgs, is_npy, part};
use super::{Failure, Reading, Threads};
use crate::output::{self, print};
use data::{GraphSchema, ImageOptions, ImageSchema, Table, TableSchema, TargetValues, read_columns};
use ign::class_metrics::OodMetrics;
use ign::{Images, Inputs, Model, Schema, Scores};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Table with inputs and targets, pictures or graphs with classes (the test part where there is one)
    input: String,
    /// The targets of a table without them, as a .npy file
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Strangers: rows or pictures unlike those that were learned from; says how well the uncertainty tells them
    #[arg(long, value_name = "INPUT")]
    ood: Option<String>,
    /// Which part of a named set or of pictures
    #[arg(long, value_parser = ["train", "test", "all"], default_value = "test")]
    part: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    threads: Threads,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model, args.threads.start())?;
    if args.ood.is_some() && model.header().schema.classes().is_none() {
        return Err(Failure::Usage(
            "`--ood` is for classes, and this model predicts a number\nhint: leave it out".into(),
        ));
    }
    let (inputs, scores, notes) = match &model.header().schema {
        Schema::Table(schema) => evaluate_table(args, &model, schema)?,
        Schema::Images(schema) => evaluate_pictures(args, &model, schema)?,
        Schema::Graphs(schema) => evaluate_graphs(args, &model, schema)?,
        Schema::Own(_) => unreachable!("loading refuses an encoder from outside"),
    };
    let strangers = match &args.ood {
        Some(input) => strangers(&model, &inputs, &other_inputs(args, &model, input)?)?,
        None => Vec::new(),
    };
    if args.json {
        let mut json = output::scores_json(&scores);
        if let (Some(object), false) = (json.as_object_mut(), strangers.is_empty()) {
            let by = strangers.iter().map(|(name, m)| ((*name).to_owned(), serde_json::json!(m)));
            object.insert("ood".into(), by.collect::<serde_json::Map<_, _>>().into());
        }
        return print(&json.to_string());
    }
    let mut text = output::scores(&scores) + &notes;
    if let Some(input) = &args.ood {
        text += &format!("\n  strangers from {input}\n{}", output::strangers(&strangers));
    }
    print(text.trim_end())
}

fn evaluate_table(
    args: &Args,
    model: &Model,
    schema: &TableSchema,
) -> Result<(Inputs, Scores, String), Failure> {
    let table = table(args, model, schema)?;
    let (rows, dropped) = data::rows_with_targets(&table, &schema.targets.names())?;
    let mut encoded = schema.encode(&table, Some(&rows))?;
    let mut notes = String::new();
    if dropped > 0 {
        notes += &format!("  {dropped} rows without a target were left out\n");
    }
    for (column, count) in std::mem::take(&mut encoded.unseen) {
        notes +=
            &format!("  column `{column}`: {count} rows hold a category that was never seen in training\n");
    }
    let inputs = Inputs::from(encoded);
    let scores = match schema.targets(&table, Some(&rows))? {
        TargetValues::Numbers(y) => {
            let targets = schema.targets.numbers();
            let y: Vec<f64> =
                y.iter().enumerate().map(|(i, &y)| targets[i % targets.len()].restore(y)).collect();
            model.score(&model.predict(&inputs), &y)
        }
        TargetValues::Classes(labels) => {
            let y: Vec<u32> = labels.into_iter().flatten().collect();
            model.score_classes(&inputs, &all(&inputs), &y)
        }
    };
    Ok((inputs, scores, notes))
}

/// Inputs and targets of a table's rows.
fn table(args: &Args, model: &Model, schema: &TableSchema) -> Result<Table, Failure> {
    let options = args.reading.options(&model.header().config);
    let targets = schema.targets.columns();
    let sources = args.given.tables(&args.input, part(&args.part))?;
    let [source] = &sources[..] else {
        return Err(Failure::Usage(format!(
            "{} has two parts\nhint: say `--part train` or `--part test`",
            args.input
        )));
    };
    let (Some(file), [(name, _)]) = (&args.target, &targets[..]) else {
        return Ok(read_columns(source, &options, &[schema.columns(), targets].concat())?);
    };
    if !is_npy(file) {
        return Err(Failure::Usage(format!(
            "`--target {file}` is no .npy file\nhint: the targets of {} are the columns that it was trained for",
            args.model.display()
        )));
    }
    let (_, column) = data::read_npy_column(Path::new(file))?;
    Ok(read_columns(source, &options, &schema.columns())?.with_column(name, column)?)
}

fn evaluate_graphs(
    args: &Args,
    model: &Model,
    schema: &GraphSchema,
) -> Result<(Inputs, Scores, String), Failure> {
    let (inputs, y) = graphs(args, schema, &args.input, true)?;
    if data::NamedSet::from_name(&args.input).is_some() && !args.json {
        eprintln!("note: {} has no test part: graphs that were learned from are scored too", args.input);
    }
    let scores = model.score_classes(&inputs, &all(&inputs), &y);
    Ok((inputs, scores, String::new()))
}

/// Graphs and, where they are labelled, their classes.
fn graphs(
    args: &Args,
    schema: &GraphSchema,
    input: &str,
    labelled: bool,
) -> Result<(Inputs, Vec<u32>), Failure> {
    let (set, notices) = args.given.graphs(input, labelled)?;
    if !args.json {
        notices.iter().for_each(|notice| eprintln!("note: {notice}"));
    }
    let mut set = schema.conform(if labelled { set } else { set.unlabelled() })?;
    let y = set.labels.take().unwrap_or_default();
    Ok((Inputs::graphs(set, schema)?, y))
}

fn evaluate_pictures(
    args: &Args,
    model: &Model,
    schema: &ImageSchema,
) -> Result<(Inputs, Scores, String), Failure> {
    let inputs = pictures(args, schema, &args.input, true)?;
    let Inputs::Images(images) = &inputs else { unreachable!("pictures were asked for") };
    let y = images.set().labels.clone().unwrap_or_default();
    let scores = model.score_classes(&inputs, &all(&inputs), &y);
    Ok((inputs, scores, String::new()))
}

fn pictures(args: &Args, schema: &ImageSchema, input: &str, labelled: bool) -> Result<Inputs, Failure> {
    let Given::Images(source) = args.given.recognise(&[input.to_owned()])? else {
        return Err(Failure::Usage(format!(
            "{} reads pictures, and {input} is none\nhint: name a folder of pictures or a named set",
            args.model.display()
        )));
    };
    let base = ImageOptions { part: part(&args.part), need_labels: labelled, ..schema.options() };
    let (set, notices) = args.given.images(&source, base)?;
    if !args.json {
        notices.iter().for_each(|notice| eprintln!("note: {notice}"));
    }
    let set = schema.conform(if labelled { set } else { set.unlabelled() })?;
    Ok(Inputs::Images(Images::new(set, schema, false)))
}

/// Strangers need no truth.
fn other_inputs(args: &Args, model: &Model, input: &str) -> Result<Inputs, Failure> {
    match &model.header().schema {
        Schema::Images(schema) => pictures(args, schema, input, false),
        Schema::Graphs(schema) => Ok(graphs(args, schema, input, false)?.0),
        Schema::Own(_) => unreachable!("loading refuses an encoder from outside"),
        Schema::Table(schema) => {
            let source = args.given.tables(input, part(&args.part))?.remove(0);
            let table =
                read_columns(&source, &args.reading.options(&model.header().config), &schema.columns())?;
            Ok(schema.encode(&table, None)?.into())
        }
    }
}

fn strangers(
    model: &Model,
    known: &Inputs,
    strange: &Inputs,
) -> Result<Vec<(&'static str, OodMetrics)>, Failure> {
    let (known, strange) = (model.predict_classes(known), model.predict_classes(strange));
    let by_entropy = OodMetrics::new(&known.entropy(), &strange.entropy());
    let by_spread = OodMetrics::new(&known.latent_spread(), &strange.latent_spread());
    let both = [("entropy", by_entropy), ("latent_std", by_spread)];
    let found: Vec<_> = both.into_iter().filter_map(|(name, m)| Some((name, m?))).collect();
    if found.is_empty() {
        return Err(Failure::Usage("there are no strangers to tell\nhint: name inputs with `--ood`".into()));
    }
    Ok(found)
}

fn all(inputs: &Inputs) -> Vec<usize> {
    (0..inputs.rows()).collect()
}
