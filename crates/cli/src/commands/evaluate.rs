//! `ign evaluate`: predictions against the truth.

use super::given::GivenArgs;
use super::judged::{Asked, Judged, Truth};
use super::{Failure, Reading, Threads};
use crate::output::{self, print};
use data::NamedSet;
use ign::class_metrics::OodMetrics;
use ign::{Inputs, Model, Observed};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Table with inputs and targets, pictures or graphs with classes (the test part where there is one)
    input: String,
    /// The targets of a table without them, as a .npy file
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Strangers (their test part, where there is one): rows or pictures unlike those that were learned from; says how
    /// well the uncertainty tells them
    #[arg(long, value_name = "INPUT")]
    ood: Option<String>,
    /// Which part of a named set or of pictures [default: test]
    #[arg(long, value_parser = ["train", "test", "all"])]
    part: Option<String>,
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
    let judged = read(args, &model, &args.input, Truth::Needed)?;
    if matches!(judged.inputs, Inputs::Graphs(_)) && NamedSet::from_name(&args.input).is_some() && !args.json
    {
        eprintln!("note: {} has no test part: graphs that were learned from are scored too", args.input);
    }
    let inputs = &judged.inputs;
    let scores = match judged.observed.as_ref().expect("the truth was needed") {
        Observed::Numbers(y) => model.score(&model.predict(inputs), y),
        Observed::Classes(y) => model.score_classes(inputs, &(0..inputs.rows()).collect::<Vec<_>>(), y),
    };
    let strangers = match &args.ood {
        // Strangers need no truth.
        Some(input) => strangers(&model, inputs, &read(args, &model, input, Truth::Ignored)?.inputs)?,
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
    let mut text = output::scores(&scores);
    judged.notes.iter().for_each(|note| text += &format!("  {note}\n"));
    if let Some(input) = &args.ood {
        text += &format!("\n  strangers from {input}\n{}", output::strangers(&strangers));
    }
    print(text.trim_end())
}

fn read(args: &Args, model: &Model, input: &str, truth: Truth) -> Result<Judged, Failure> {
    let target = args.target.as_deref().filter(|_| truth == Truth::Needed);
    // Of strangers always the test part: those of the training part need not be there.
    let asked_for = args.part.as_deref().filter(|_| truth == Truth::Needed);
    let (file, part) = (&args.model, args.given.part(asked_for, input)?);
    let asked = Asked { model, file, input, part, target, truth, given: &args.given, reading: &args.reading };
    let judged = asked.read()?;
    if !args.json {
        judged.notices.iter().for_each(|notice| eprintln!("note: {notice}"));
    }
    Ok(judged)
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
