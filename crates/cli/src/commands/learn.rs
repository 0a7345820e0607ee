//! One training run: progress, checkpoints, the model file, the page; what `train`, `demo` and a cross-validation share.

use super::Failure;
use super::given::Known;
use super::report::page_path;
use super::train::{RunArgs, check_writable};
use crate::output::{self, print};
use crate::progress::{interrupted, watch_for_interrupts};
use crate::times::Times;
use data::Notice;
use ign::artifact::{load_checkpoint, save_checkpoint};
use ign::{Config, Fit, FitEvent, Model, Prepared, Schema};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Fewer validation rows than this and the user is told so.
pub(crate) const ROUGH_CALIBRATION: usize = 50;
/// A checkpoint is written at the first epoch after so long.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(120);

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
    let page = (!args.no_report()).then(|| page_path(out));
    if let Some(page) = &page {
        check_writable(page)?;
    }
    let threads = args.threads();
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
    let resume = if args.resume() { Some(load_checkpoint(&checkpoint, config, &fingerprint)?) } else { None };
    watch_for_interrupts("what has been learned is being saved");
    let mut saved = Instant::now();
    let mut failed = None;
    let mut times = if args.resume() { Times::load(out) } else { Times::new() };
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
    if args.json() {
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
    if args.quiet() {
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
        Some(page) if !args.json() && !args.quiet() => print(&page.display().to_string()),
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

/// `price.ign` → `price.ign.checkpoint`.
pub(crate) fn checkpoint_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".checkpoint");
    PathBuf::from(name)
}
