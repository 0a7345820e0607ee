//! `ign evaluate`: predictions against the truth.

use super::train::Pictures;
use super::{Failure, Reading, Threads};
use crate::output::{self, print};
use data::{ImageOptions, ImageSchema, Part, Source, TableSchema, TargetValues, read_columns, read_images};
use ign::class_metrics::OodMetrics;
use ign::{Images, Inputs, Model, Schema, Scores};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Table with inputs and targets, or pictures with classes (the test part where there is one)
    input: String,
    /// Strangers: rows or pictures unlike those that were learned from; says how well the uncertainty tells them
    #[arg(long, value_name = "INPUT")]
    ood: Option<String>,
    /// Which part of a set of pictures
    #[arg(long, value_parser = ["train", "test", "all"], default_value = "test")]
    part: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pictures: Pictures,
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
    let columns = [schema.columns(), schema.targets.columns()].concat();
    let options = args.reading.options(&model.header().config);
    let table = read_columns(&Source::new(&args.input), &options, &columns)?;
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
    let Some(source) = args.pictures.source(&[input.to_owned()])? else {
        return Err(Failure::Usage(format!(
            "{} reads pictures, and {input} is none\nhint: name a folder of pictures or a named set",
            args.model.display()
        )));
    };
    let part = match args.part.as_str() {
        "train" => Part::Train,
        "all" => Part::All,
        _ => Part::Test,
    };
    let base = ImageOptions { part, need_labels: labelled, ..schema.options() };
    let (set, notices) = read_images(&source, &args.pictures.options(base), None)?;
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
        Schema::Own(_) => unreachable!("loading refuses an encoder from outside"),
        Schema::Table(schema) => {
            let options = args.reading.options(&model.header().config);
            let table = read_columns(&Source::new(input), &options, &schema.columns())?;
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
