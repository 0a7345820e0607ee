//! One training run: progress, checkpoints, the model file, the report.

use super::run_args::RunArgs;
use super::world::{Processes, load_checkpoints, remove_checkpoints};
use crate::failure::Failure;
use crate::output_file::{check_writable, checkpoint_path, report_path};
use crate::report_page::write_training_report;
use crate::signals;
use crate::ui::baselines;
use crate::ui::output::{self, note, print, print_json};
use crate::ui::progress::Progress;
use crate::ui::text::count;
use crate::ui::times::Times;
use data::{Notice, Transform};
use inducing::dataset::{Prepared, Schema};
use inducing::train::{Event, Fit};
use inducing::{Config, Dataset, Model, Trainer};
use report::ROUGH_CALIBRATION;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// All that a training run needs.
pub(crate) struct TrainRun<'a> {
    pub(crate) data: &'a Dataset,
    pub(crate) prepared: Prepared,
    pub(crate) notices: Vec<Notice>,
    pub(crate) config: &'a Config,
    pub(crate) out: &'a Path,
    pub(crate) args: &'a RunArgs,
    /// Who trains.
    pub(crate) processes: &'a Processes,
    /// Scores of the cross-validation before it, to print with the result.
    pub(crate) cross_validation: Option<serde_json::Value>,
}

impl TrainRun<'_> {
    /// Trains, saves, prints the scores and writes the report. Returns the report's path, which is printed last.
    pub(crate) fn run(self) -> Result<Option<PathBuf>, Failure> {
        let Self { data, ref prepared, ref notices, config, out, args, processes, .. } = self;
        let page = (!args.no_report() && processes.is_first()).then(|| report_path(out));
        if let Some(page) = &page {
            check_writable(page)?;
        }
        let threads = args.threads();
        let started = Instant::now();
        let mut progress = args.progress();
        notices.iter().chain(&prepared.notices).for_each(|notice| progress.note(&notice.to_string()));
        describe(prepared, config, &progress);
        progress.in_units(unit(&prepared.schema));
        let checkpoint = processes.checkpoint_path(checkpoint_path(out));
        let fingerprint = prepared.fingerprint();
        let resume = if args.resume() {
            Some(load_checkpoints(&checkpoint_path(out), config, &fingerprint)?)
        } else {
            None
        };
        signals::watch("saving a checkpoint");
        let mut saved = Instant::now();
        let mut times = if args.resume() { Times::load(out) } else { Times::new() };
        let (together, several) = (processes.collective(), processes.are_several());
        let fit = prepared.fit_together(together, config, threads, resume, &mut |event| {
            progress.show(&event);
            times.on_event(&event);
            // Where there are several processes, one that dies later must not cost the others their work.
            let (state, due) = match event {
                Event::Checkpoint(state) => (Some(state), saved.elapsed() >= args.checkpoint_every()),
                Event::Trained(state) => (Some(state), several),
                _ => (None, false),
            };
            // Whoever only shares a network leaves its state to the first that does.
            if let Some(state) = state.filter(|state| due && state.networks.iter().any(Option::is_some)) {
                saved = Instant::now();
                // Training needs no disk until its end, and by then there may be room again.
                if let Err(error) = state.save(&checkpoint, config, &fingerprint) {
                    progress.warn(&format!("checkpoint not saved, training continues: {error}"));
                }
            }
            !signals::stop_requested()
        })?;
        progress.finish();
        processes.tell_exchange(started.elapsed());
        let Some(fit) = fit else { return self.help_refit() };
        let model = match fit {
            Fit::Finished(model) => model,
            Fit::Interrupted(state) => {
                if state.networks.iter().any(Option::is_some) || processes.is_first() {
                    state.save(&checkpoint, config, &fingerprint)?;
                }
                if !processes.is_first() {
                    return Err(Failure::Interrupted);
                }
                times.save(out)?;
                let checkpoint = checkpoint.display();
                eprintln!("stopped; continue with the same command and `--resume` (checkpoint {checkpoint})");
                return Err(Failure::Interrupted);
            }
        };
        let refit = prepared.refit_config(config);
        model.save(out)?;
        remove_checkpoints(&checkpoint_path(out));
        times.save(out)?;
        if let Some(page) = &page {
            write_training_report(&model, prepared, data, out, &times, page)?;
        }
        self.print_result(&model, page.as_deref(), started.elapsed())?;
        if config.train.refit_on_all && refit.is_none() {
            note(
                "nothing was held out as a test part, so the model has learned from all rows already: `--refit` does nothing",
            );
        }
        if let Some(config) = refit
            && let Some(mut again) = train_on_all(data, config, out, (args, processes))?
        {
            again.keep_test_scores(&model);
            again.save(out)?;
            if args.for_people() {
                print(&format!("{} written again, trained on all rows", out.display()))?;
            }
        }
        Ok(page)
    }

    /// What is left to do for a process that is not the first: to take part where all rows are trained on.
    fn help_refit(&self) -> Result<Option<PathBuf>, Failure> {
        if let Some(config) = self.prepared.refit_config(self.config) {
            train_on_all(self.data, config, self.out, (self.args, self.processes))?;
        }
        Ok(None)
    }

    fn print_result(self, model: &Model, page: Option<&Path>, elapsed: Duration) -> Result<(), Failure> {
        let (metrics, out) = (&model.header().metrics, self.out);
        if self.args.json() {
            let parts: serde_json::Map<_, _> =
                metrics.iter().map(|(part, scores)| (part.clone(), output::scores_json(scores))).collect();
            let mut json =
                serde_json::json!({ "model": out, "seconds": elapsed.as_secs_f64(), "metrics": parts });
            json["report"] = serde_json::json!(page);
            json["baselines"] = serde_json::json!(model.header().baselines);
            if let Some(scores) = self.cross_validation {
                json["cross_validation"] = scores;
            }
            return print_json(&json);
        }
        if self.args.quiet() {
            return Ok(());
        }
        // Rows that chose epochs and calibrated are not the result where there are others.
        let shown = metrics.iter().filter(|(part, _)| *part == "test" || !metrics.contains_key("test"));
        for (part, scores) in shown {
            let empty = BTreeMap::new();
            let baselines =
                baselines::lines(part, scores, model.header().baselines.get(part).unwrap_or(&empty));
            print(&format!("{}\n{}{baselines}", output::part(part), output::scores(scores)))?;
        }
        print(&format!("{} written in {:.0} s", out.display(), elapsed.as_secs_f64()))
    }
}

/// The standard deviation of the target, where there is one that is modelled as it is.
fn unit(schema: &Schema) -> Option<f64> {
    match schema.numbers() {
        [target] if target.scale.transform == Transform::Identity => Some(target.std),
        _ => None,
    }
}

/// Trains again, on the test part too; the first process gets the model.
fn train_on_all(
    data: &Dataset,
    config: Config,
    out: &Path,
    (args, processes): (&RunArgs, &Processes),
) -> Result<Option<Box<Model>>, Failure> {
    let (prepared, config) = Trainer::new(data).config(config).prepare()?;
    let mut progress = args.progress();
    progress.note("training again, on all rows");
    progress.in_units(unit(&prepared.schema));
    let fit = prepared.fit_together(processes.collective(), &config, args.threads(), None, &mut |event| {
        progress.show(&event);
        !signals::stop_requested()
    })?;
    progress.finish();
    match fit {
        None => Ok(None),
        Some(Fit::Finished(model)) => Ok(Some(model)),
        Some(Fit::Interrupted(_)) => {
            eprintln!(
                "stopped while training on all rows; {} is the model that the scores are of",
                out.display()
            );
            Err(Failure::Interrupted)
        }
    }
}

/// Says what will be trained on.
fn describe(prepared: &Prepared, config: &Config, progress: &Progress) {
    let [train, validation, test] = prepared.rows();
    let schema = &prepared.schema;
    let inputs = match schema {
        Schema::Table(table) => match table.text_columns().count() {
            0 => {
                let (inputs, numbers) = (count(table.inputs.len(), "input"), count(schema.width(), "number"));
                format!("{inputs} encoded as {numbers}")
            }
            texts => {
                let others = table.inputs.len() - texts;
                let vocabularies: Vec<String> = table
                    .text_columns()
                    .map(|(name, t)| format!("`{name}`: {} words", t.vocabulary()))
                    .collect();
                let (texts, others) = (count(texts, "text column"), count(others, "other input"));
                format!("{texts} ({}), {others}", vocabularies.join(", "))
            }
        },
        Schema::Graphs(_) => format!("graphs with {} features per node", schema.width()),
        Schema::Images(_) | Schema::Custom(_) => format!("images of {} values", schema.width()),
    };
    progress.note(&format!("{train} training, {validation} validation and {test} test rows; {inputs}"));
    if let Some(classes) = schema.classes() {
        progress.note(&priors(classes, schema.class_counts()));
    }
    // Members of an ensemble leave all rows out in turns.
    let calibrated = if config.train.crossfit_folds > 0 && validation == 0 { train } else { validation };
    if config.train.recalibrate && calibrated < ROUGH_CALIBRATION {
        progress.note(&format!("only {} to calibrate on: uncertainties are rough", count(calibrated, "row")));
    }
}

/// The last line: where the report is.
pub(crate) fn print_report_path(page: Option<&Path>, args: &RunArgs) -> Result<(), Failure> {
    match page {
        Some(page) if args.for_people() => print(&page.display().to_string()),
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
