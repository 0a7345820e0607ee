//! `ign update`: new labelled rows for a model, without retraining.

use crate::failure::Failure;
use crate::input::eval_data::EvalRequest;
use crate::input::flags::{InputFlags, TableFlags, ThreadFlags};
use crate::output_file::check_not_input;
use crate::ui::output::{self, note, print, print_json};
use crate::ui::text::count;
use inducing::Model;
use inducing::model::TargetUse;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// New rows with inputs and targets, or images or graphs with classes
    input: String,
    /// Where to write the model [default: the model file itself]
    #[arg(short, long, visible_alias = "output", value_name = "FILE")]
    out: Option<PathBuf>,
    /// The targets as a .npy file, for a table without them
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Which part of a named set or of images [default: test]
    #[arg(long, value_parser = ["train", "test", "all"])]
    part: Option<String>,
    /// Say what the rows are worth and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
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
    if !model.keeps_rows() {
        return Err(Failure::Usage(format!(
            "{} keeps no training rows, so new ones cannot join them\nhint: train it without `--without-neighbours` and with the preset `default`",
            args.model.display()
        )));
    }
    let out = args.out.as_ref().unwrap_or(&args.model);
    check_not_input(out, &[Path::new(&args.input)])?;
    let request = EvalRequest {
        model: &model,
        file: &args.model,
        input: &args.input,
        part: args.input_flags.part(args.part.as_deref(), &args.input)?,
        target: args.target.as_deref(),
        targets: TargetUse::Needed,
        input_flags: &args.input_flags,
        table_flags: &args.table_flags,
    };
    let data = request.read()?;
    if data.inputs.rows() == 0 {
        return Err(Failure::Usage(format!(
            "{} has no rows with a target\nhint: name rows whose targets are known",
            args.input
        )));
    }
    let update = model.update_encoded(data)?;
    if !args.dry_run && update.added > 0 {
        model.save(out)?;
    }
    if args.json {
        return print_json(&json!({
            "added": update.added,
            "kept": update.kept,
            "before": output::scores_json(&update.before),
            "after": update.after.as_ref().map(output::scores_json),
            "model": (!args.dry_run).then_some(out),
        }));
    }
    update.notes.iter().for_each(|text| note(text));
    if update.added == 0 {
        return print("all of these rows are in the model already; nothing was written");
    }
    let mut text = format!("the new rows by the model as it was:\n{}", output::scores(&update.before));
    if let Some(after) = &update.after {
        text += &format!("the same rows, each after most others were added:\n{}", output::scores(after));
    }
    text += &match args.dry_run {
        true => format!("{} would be added; nothing was written", count(update.added, "row")),
        false => format!("{} added, {} kept: {}", count(update.added, "row"), update.kept, out.display()),
    };
    print(text.trim_end())
}
