//! `ign tune`: a search for settings within a time. The best model so far is always on disk.

use super::train;
use crate::failure::Failure;
use crate::output_file::{check_not_input, check_writable, default_model_path};
use crate::signals;
use crate::training::trials::{TrialFiles, board};
use crate::training::world::Processes;
use crate::ui::baselines;
use crate::ui::output::{self, note, number, print, print_json, scores_json};
use ::reproduce::{duration, parse_duration};
use inducing::tune::{End, Scoring, Trial, TuneEvent, Tuned, Tuner};
use inducing::{Error, Trainer};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Ten years: nobody waits longer.
const LONGEST: f64 = 10.0 * 365.0 * 86_400.0;

#[derive(clap::Args)]
#[command(
    mut_arg("folds", |arg| arg.hide(true)),
    mut_arg("repeats", |arg| arg.hide(true)),
    mut_arg("dashboard", |arg| arg.hide(true)),
    mut_arg("checkpoint_every", |arg| arg.hide(true)),
    mut_arg("resume", |arg| arg.help("Continue after the trials of an earlier run of the same command; a larger budget adds to them")),
    mut_arg("no_report", |arg| arg.help("Do not write the page of trials (MODEL.trials.html)")),
    mut_arg("overrides", |arg| arg.help("Set one key, which is then not searched, for example train.epochs=50 (repeatable)")),
    mut_arg("config", |arg| arg.help("A TOML file with the settings that the search starts from"))
)]
pub(crate) struct Args {
    /// Search for this long, for example 90s, 20m or 2h; a trial that would, judged by earlier ones, end later is not begun
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_duration)]
    budget: f64,
    /// Trials at most, the first of which is the settings given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,
    /// The score that chooses, by rows that a model has not seen: out of fold, or the validation part
    #[arg(long, default_value = "nll", value_parser = ["nll", "crps", "accuracy", "rmse"])]
    score: String,
    #[command(flatten)]
    train: train::Args,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (train, flags) = (&args.train, &args.train.run);
    if train.folds.is_some() || flags.dashboard() {
        return Err(Failure::Usage(
            "`ign tune` has neither `--folds` nor `--dashboard`\nhint: its trials are judged out of fold; `ign train` has both".into(),
        ));
    }
    let out = train.out.clone().unwrap_or_else(|| default_model_path(&train.input));
    let files = TrialFiles::beside(&out);
    for written in files.all() {
        check_not_input(written, &[Path::new(&train.input)])?;
    }
    let threads = flags.threads();
    let settings = flags.settings(&train.assignments())?;
    let data = train.dataset(&settings, &out, &Processes::alone())?;
    files.all().into_iter().try_for_each(check_writable)?;
    let trainer = Trainer::new(&data).settings(settings.clone());
    let notices = trainer.notices()?;
    let (prepared, config) = trainer.prepare()?;
    let scoring =
        Scoring::ALL.iter().find(|(name, _)| *name == args.score).map_or_else(Scoring::default, |s| s.1);
    let (plan, earlier) = files.begin(&prepared, &config, scoring, flags.resume())?;
    if !flags.quiet() {
        notices.iter().chain(&prepared.notices).for_each(|notice| note(&notice.to_string()));
        let [rows, validation, test] = prepared.rows();
        note(&format!(
            "{rows} training, {validation} validation and {test} test rows; the test rows choose nothing"
        ));
        if !earlier.is_empty() {
            note(&format!("going on after {} trials", earlier.len()));
        }
    }
    drop(prepared);
    let model = if earlier.is_empty() { None } else { inducing::Model::load(&out).ok() };
    let mut tuner = Tuner::new(&data)
        .settings(settings.clone())
        .scoring(scoring)
        .budget(Duration::from_secs_f64(args.budget.min(LONGEST)))
        .threads(threads)
        .resume(earlier.clone(), model);
    if let Some(trials) = args.trials {
        tuner = tuner.trials(trials as usize);
    }
    signals::watch("finished trials and the best model are kept");
    let mut records = plan;
    records.trials = earlier;
    let (mut failed, mut board) = (None, board::TrialBoard::new(flags.quiet(), scoring, args.budget));
    let tuned = tuner.run(&mut |event| {
        board.show(&event);
        if let TuneEvent::Finished { trial, best } = event {
            let with = |all: inducing::Settings, (key, value): (&String, &serde_json::Value)| {
                all.set(format!("{key}={value}"))
            };
            let settings = trial.settings.iter().fold(settings.clone(), with);
            if let Err(failure) = files.keep(&mut records, trial, best, &settings) {
                failed = Some(failure);
                return false;
            }
        }
        !signals::stop_requested()
    });
    board.finish();
    if let Some(failure) = failed {
        return Err(failure);
    }
    let tuned = match tuned {
        Err(Error::Stopped { .. }) => {
            eprintln!("stopped before the first trial was done: there is no model yet");
            return Err(Failure::Interrupted);
        }
        tuned => tuned?,
    };
    if !flags.no_report() {
        files.write_page(&records, &tuned, train.input.as_str())?;
    }
    print_result(args, &files, &tuned, scoring)?;
    if tuned.end == End::Stopped {
        eprintln!(
            "stopped after {} trials; {} is the best of them; continue with the same command and `--resume`",
            tuned.trials.len(),
            out.display()
        );
        return Err(Failure::Interrupted);
    }
    Ok(())
}

fn print_result(args: &Args, files: &TrialFiles, tuned: &Tuned, scoring: Scoring) -> Result<(), Failure> {
    let (flags, header, best) = (&args.train.run, tuned.model.header(), tuned.best());
    let seconds: f64 = tuned.trials.iter().map(|trial| trial.seconds).sum();
    let page = (!flags.no_report()).then_some(&files.page);
    if flags.json() {
        let parts = header.metrics.iter().map(|(part, scores)| (part.clone(), scores_json(scores)));
        let parts: serde_json::Map<_, _> = parts.collect();
        return print_json(&json!({
            "model": files.model, "seconds": seconds, "score": scoring, "best": best.number, "trials": tuned.trials,
            "settings": files.settings, "metrics": parts, "baselines": header.baselines, "page": page,
            "records": files.records, "end": tuned.end,
        }));
    }
    if flags.quiet() {
        return Ok(());
    }
    print(&table(&tuned.trials, best, scoring))?;
    let why = match tuned.end {
        End::Budget => "no time for another",
        End::Trials => "as many as were asked for",
        End::Exhausted => "everything was tried",
        End::Stopped => "stopped",
    };
    print(&format!(
        "{} trials in {} ({why}); the best is trial {}\n",
        tuned.trials.len(),
        duration(seconds),
        best.number
    ))?;
    // Out-of-fold rows chose the trial: the test part, where there is one, is the result.
    let shown =
        header.metrics.iter().filter(|(part, _)| *part == "test" || !header.metrics.contains_key("test"));
    for (part, scores) in shown {
        let empty = Default::default();
        let baselines = baselines::lines(part, scores, header.baselines.get(part).unwrap_or(&empty));
        print(&format!("{}\n{}{baselines}", output::part(part), output::scores(scores)))?;
    }
    let settings = tuned.settings.to_toml()?;
    print(&format!("settings of the best, in {} for `--config`\n\n{settings}", files.settings.display()))?;
    print(&format!("{} written; trials in {}", files.model.display(), files.records.display()))?;
    page.map_or(Ok(()), |page| print(&page.display().to_string()))
}

/// Trials on the screen, best first.
fn table(trials: &[Trial], best: &Trial, scoring: Scoring) -> String {
    const SHOWN: usize = 30;
    let mut ranked: Vec<&Trial> = trials.iter().collect();
    let cost = |trial: &Trial| match trial.score {
        Some(score) if scoring.is_larger_better() => -score,
        score => score.unwrap_or(f64::INFINITY),
    };
    ranked.sort_by(|a, b| cost(a).total_cmp(&cost(b)).then(a.number.cmp(&b.number)));
    let mut text = format!("  trial  {:>10}  seconds  changes\n", board::name(scoring));
    for trial in ranked.iter().take(SHOWN) {
        let score = trial.score.map_or_else(|| "failed".into(), number);
        let changes = match (&trial.failure, trial.number) {
            (Some(failure), _) => failure.lines().next().unwrap_or_default().to_owned(),
            (None, 0) => "none: the settings given".to_owned(),
            (None, _) => board::changes(trial),
        };
        let mark = if trial.number == best.number { '*' } else { ' ' };
        text += &format!("{mark} {:5}  {score:>10}  {:7.1}  {changes}\n", trial.number, trial.seconds);
    }
    if ranked.len() > SHOWN {
        text += &format!("  … and {} more\n", ranked.len() - SHOWN);
    }
    text
}
