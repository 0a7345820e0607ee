//! `ign evaluate`: predictions against observed targets.

use crate::failure::Failure;
use crate::input::eval_data::{EvalRequest, all_rows};
use crate::input::flags::{InputFlags, TableFlags, ThreadFlags, probability, set_threshold};
use crate::ui::output::{self, note, print, print_json};
use data::NamedSet;
use inducing::Model;
use inducing::dataset::Inputs;
use inducing::explain::Observed;
use inducing::metrics::OodMetrics;
use inducing::model::{EncodedData, InputCheck, Predictions, TargetUse};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Table with inputs and targets, or images or graphs with classes (their test part, if there is one)
    input: String,
    /// The targets as a .npy file, for a table without them
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Out-of-distribution inputs (their test part, if there is one): rows or images unlike the training data; says how
    /// well the uncertainty detects them
    #[arg(long, value_name = "INPUT")]
    ood: Option<String>,
    /// Which part of a named set or of images [default: test]
    #[arg(long, value_parser = ["train", "test", "all"])]
    part: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Of two classes, from which probability on the second is predicted [default: what the model was trained with]
    #[arg(long, value_name = "P", value_parser = probability)]
    threshold: Option<f64>,
    #[command(flatten)]
    input_flags: InputFlags,
    #[command(flatten)]
    table_flags: TableFlags,
    #[command(flatten)]
    threads: ThreadFlags,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.threads.start();
    let mut model = Model::load(&args.model)?;
    set_threshold(&mut model, args.threshold)?;
    let data = read(args, &model, &args.input, TargetUse::Needed)?;
    if matches!(data.inputs, Inputs::Graphs(_)) && NamedSet::from_name(&args.input).is_some() && !args.json {
        note(&format!("{} has no test part: training graphs are scored too", args.input));
    }
    let (inputs, rows) = (&data.inputs, all_rows(&data));
    let predictions = model.predict_inputs(inputs, &rows)?;
    let scores = match (data.observed.as_ref().expect("targets were required"), predictions.as_regression()) {
        (Observed::Numbers(y), Some(batch)) => model.score(batch, y)?,
        (Observed::Classes(y), _) => model.score_classes(inputs, &rows, y)?,
        (Observed::Numbers(_), None) => unreachable!("numbers are predicted where they were observed"),
    };
    if let (Some(weight), false) = (&model.header().config.data.weight, args.json) {
        note(&format!(
            "all rows count the same: weights, such as those of `{weight}` in training, are not read here"
        ));
    }
    let mut check = InputCheck::new(&model);
    check.add(inputs, &data.unseen, &predictions);
    let ood = match &args.ood {
        Some(input) => detect_ood(&model, inputs, &read(args, &model, input, TargetUse::Ignored)?.inputs)?,
        None => Vec::new(),
    };
    if args.json {
        let mut json = output::scores_json(&scores);
        if let (Some(object), false) = (json.as_object_mut(), ood.is_empty()) {
            let by = ood.iter().map(|(name, m)| ((*name).to_owned(), serde_json::json!(m)));
            object.insert("ood".into(), by.collect::<serde_json::Map<_, _>>().into());
        }
        return print_json(&json);
    }
    let mut text = output::scores(&scores);
    let seen = model.count_seen(inputs, &rows);
    if 2 * seen > rows.len() {
        text += &format!(
            "  {seen} of these rows are among those that the model keeps: it has seen them, and scores flatter it\n"
        );
    }
    let checked = check.notes().into_iter().map(|note| note.to_string());
    data.notes.iter().cloned().chain(checked).for_each(|note| text += &format!("  note: {note}\n"));
    if let Some(input) = &args.ood {
        text += &format!("\n  out-of-distribution inputs: {input}\n{}", output::ood(&ood));
    }
    print(text.trim_end())
}

fn read(args: &Args, model: &Model, input: &str, targets: TargetUse) -> Result<EncodedData, Failure> {
    let target = args.target.as_deref().filter(|_| targets == TargetUse::Needed);
    // Out-of-distribution inputs are always a test part: their training part need not be there.
    let part = args.part.as_deref().filter(|_| targets == TargetUse::Needed);
    let request = EvalRequest {
        model,
        file: &args.model,
        input,
        part: args.input_flags.part(part, input)?,
        target,
        targets,
        input_flags: &args.input_flags,
        table_flags: &args.table_flags,
    };
    let data = request.read()?;
    if !args.json {
        data.file_notes.iter().for_each(|text| note(text));
    }
    Ok(data)
}

/// How well what a model says of its uncertainty tells `outside` from `inside` the training distribution.
fn detect_ood(
    model: &Model,
    inside: &Inputs,
    outside: &Inputs,
) -> Result<Vec<(&'static str, OodMetrics)>, Failure> {
    let signs = |inputs: &Inputs| -> Result<_, Failure> {
        Ok(signs(&model.predict_inputs(inputs, &(0..inputs.rows()).collect::<Vec<_>>())?))
    };
    let pairs = signs(inside)?.into_iter().zip(signs(outside)?);
    let found: Vec<_> = pairs
        .filter_map(|((name, inside), (_, outside))| Some((name, OodMetrics::new(&inside, &outside)?)))
        .collect();
    if found.is_empty() {
        return Err(Failure::Usage(
            "there are no out-of-distribution inputs\nhint: name some with `--ood`".into(),
        ));
    }
    Ok(found)
}

/// What may tell that a row is out of distribution, higher where it is; a row of several numbers is as unsure as they are on average.
fn signs(predictions: &Predictions) -> Vec<(&'static str, Vec<f64>)> {
    let unfamiliar = |p: &[f64]| p.iter().map(|p| 1.0 - p).collect::<Vec<f64>>();
    let (mut signs, familiarity) = match (predictions.as_regression(), predictions.as_classification()) {
        (Some(batch), _) => {
            let c = batch.mean.len() / predictions.len().max(1);
            let mean = |values: &[f64]| -> Vec<f64> {
                values.chunks(c.max(1)).map(|row| row.iter().sum::<f64>() / row.len() as f64).collect()
            };
            (
                vec![("std", mean(&batch.std)), ("std_latent", mean(&batch.std_latent))],
                mean(&batch.familiarity),
            )
        }
        (None, Some(batch)) => (
            vec![("entropy", batch.entropy()), ("latent_std", batch.latent_spread())],
            batch.familiarity.clone(),
        ),
        (None, None) => unreachable!("predictions are numbers or classes"),
    };
    if !familiarity.is_empty() {
        signs.push(("familiarity", unfamiliar(&familiarity)));
    }
    signs
}
