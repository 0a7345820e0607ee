//! `ign train --folds K --repeats R`: cross-validation, then a model trained on all rows.
//!
//! Every fold is one line of `MODEL.folds.jsonl`, so that an interrupted run resumes with the next fold. A held-out part
//! decides nothing: each fold takes its validation rows from the rest.

use super::run_args::RunArgs;
use super::train_run::{TrainRun, print_report_path};
use super::world::Processes;
use crate::failure::Failure;
use crate::output_file::{beside, check_writable};
use crate::signals;
use crate::ui::output::{note, number, print, scores_json};
use data::Notice;
use inducing::dataset::Prepared;
use inducing::train::Fit;
use inducing::{Config, Dataset, Trainer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What is reported, if the task has it.
const SCORES: [&str; 12] = [
    "accuracy",
    "auroc",
    "brier",
    "ece",
    "rmse",
    "mae",
    "r2",
    "crps",
    "coverage_50",
    "coverage_90",
    "coverage_95",
    "nll",
];

/// The first line of the records.
#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Plan {
    folds: u64,
    repeats: u64,
    data: String,
    config: Config,
}

/// Every other line.
#[derive(Serialize, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Record {
    repeat: u64,
    fold: u64,
    seconds: f64,
    scores: Value,
}

/// Mean of all folds, deviation between folds, and between the repeats' means.
struct Summary {
    name: String,
    mean: f64,
    folds: f64,
    repeats: Option<f64>,
    count: usize,
}

pub(crate) fn run(
    data: &Dataset,
    whole: Prepared,
    notices: Vec<Notice>,
    config: &Config,
    [folds, repeats]: [u64; 2],
    out: &Path,
    args: &RunArgs,
) -> Result<(), Failure> {
    let threads = args.threads();
    let path = beside(out, ".folds.jsonl");
    check_writable(&path)?;
    let rows = whole.rows().iter().sum::<usize>() as u64;
    if folds > rows {
        return Err(Failure::Usage(format!(
            "{rows} rows cannot be split into {folds} folds\nhint: lower `--folds`"
        )));
    }
    if config.data.group.is_some() || config.data.time_column.is_some() {
        // Whole groups may not fill all folds; the last ones are empty first.
        Trainer::new(data).config(of_fold(config, [folds, 0, folds - 1])).prepare()?;
    }
    let plan = Plan { folds, repeats, data: whole.fingerprint(), config: config.clone() };
    let mut records = if args.resume() && path.exists() { read(&path, &plan)? } else { Vec::new() };
    let mut lines = vec![serde_json::to_string(&plan).expect("a plan is plain data")];
    lines.extend(records.iter().map(|record| serde_json::to_string(record).expect("a record is plain data")));
    data::write_atomically(&path, |file| writeln!(file, "{}", lines.join("\n")))?;
    let jobs: Vec<(u64, u64)> = (0..repeats)
        .flat_map(|repeat| (0..folds).map(move |fold| (repeat, fold)))
        .filter(|&(repeat, fold)| !records.iter().any(|r| (r.repeat, r.fold) == (repeat, fold)))
        .collect();
    if args.dashboard() {
        note("folds print one line each; the dashboard is for the model of all rows, which comes last");
    }
    signals::watch("finished folds are kept");
    records.extend(train_folds(data, config, &jobs, [folds, repeats], &path, threads, args)?);
    if signals::stop_requested() {
        eprintln!("stopped; continue with the same command and `--resume` (records {})", path.display());
        return Err(Failure::Interrupted);
    }
    records.sort_by_key(|record| (record.repeat, record.fold));
    let scores = summarise(&records, [folds, repeats], args)?;
    let args = &args.resuming_from(out);
    let (processes, cross_validation) = (&Processes::alone(), Some(scores));
    let run = TrainRun { data, prepared: whole, notices, config, out, args, processes, cross_validation };
    print_report_path(run.run()?.as_deref(), args)
}

/// Trains the folds that have no record yet, each on one thread.
fn train_folds(
    data: &Dataset,
    config: &Config,
    jobs: &[(u64, u64)],
    [folds, repeats]: [u64; 2],
    path: &Path,
    threads: usize,
    args: &RunArgs,
) -> Result<Vec<Record>, Failure> {
    let (next, started) = (AtomicUsize::new(0), Instant::now());
    let done = Mutex::new(Vec::<Record>::new());
    let worker = || -> Result<(), Failure> {
        while let Some(&(repeat, fold)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(record) = train_fold(data, config, folds, repeat, fold)? else { return Ok(()) };
            let line = serde_json::to_string(&record).expect("a record is plain data");
            let mut done = done.lock().expect("no worker panicked");
            let file = std::fs::OpenOptions::new().append(true).open(path);
            file.and_then(|mut file| writeln!(file, "{line}")).map_err(|source| inducing::Error::Io {
                action: "write",
                path: path.to_owned(),
                source,
                hint: "is the disk full?",
            })?;
            done.push(record);
            if !args.quiet() {
                let left =
                    started.elapsed().as_secs_f64() / done.len() as f64 * (jobs.len() - done.len()) as f64;
                let all: Vec<String> =
                    summaries(&done, 1).iter().map(|s| format!("{} {:.4}", s.name, s.mean)).collect();
                eprintln!(
                    "repeat {} of {repeats}, fold {} of {folds}: {} so far; about {left:.0} s left",
                    repeat + 1,
                    fold + 1,
                    all.first().zip(all.last()).map_or(String::new(), |(a, b)| format!("{a}, {b}")),
                );
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(jobs.len().max(1))).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    Ok(done.into_inner().expect("no worker panicked"))
}

/// One fold; `None` if it was interrupted.
fn train_fold(
    data: &Dataset,
    config: &Config,
    folds: u64,
    repeat: u64,
    fold: u64,
) -> Result<Option<Record>, Failure> {
    let started = Instant::now();
    let (prepared, config) = Trainer::new(data).config(of_fold(config, [folds, repeat, fold])).prepare()?;
    match prepared.fit(&config, 1, None, &mut |_| !signals::stop_requested())? {
        Fit::Interrupted(_) => Ok(None),
        Fit::Finished(model) => {
            let scores = model.header().metrics.get("test").map_or(Value::Null, scores_json);
            Ok(Some(Record { repeat, fold, seconds: started.elapsed().as_secs_f64(), scores }))
        }
    }
}

/// The configuration of one fold.
fn of_fold(config: &Config, [folds, repeat, fold]: [u64; 3]) -> Config {
    let mut config = config.clone();
    (config.data.folds, config.data.fold) = (folds as usize, fold as usize);
    config.data.test_share = None;
    config.seed += repeat;
    config
}

/// Prints the scores for people; programs get them with the result of the training.
fn summarise(records: &[Record], [folds, repeats]: [u64; 2], args: &RunArgs) -> Result<Value, Failure> {
    let all = summaries(records, repeats);
    let seconds = records.iter().map(|record| record.seconds).sum::<f64>();
    let of = |s: &Summary| {
        let stds = serde_json::json!({ "mean": s.mean, "std_of_folds": s.folds, "std_of_repeats": s.repeats, "folds": s.count });
        (s.name.clone(), stds)
    };
    let scores: serde_json::Map<_, _> = all.iter().map(of).collect();
    if args.for_people() {
        let mut text = format!("{repeats} × {folds}-fold cross-validation, {seconds:.0} s of one thread\n");
        text += "                     mean   between folds   between repeats\n";
        for s in all {
            let (mean, between) = (number(s.mean), format!("± {}", number(s.folds)));
            let repeats = s.repeats.map_or("–".into(), |r| format!("± {}", number(r)));
            let part = match s.count {
                count if count < records.len() => format!("   of {count} folds"),
                _ => String::new(),
            };
            text += &format!("  {:14} {mean:>8}   {between:>13}   {repeats:>15}{part}\n", s.name);
        }
        print(text.trim_end())?;
    }
    Ok(serde_json::json!({ "folds": folds, "repeats": repeats, "seconds": seconds, "scores": scores }))
}

/// Statistics of every score, over the folds that have it.
fn summaries(records: &[Record], repeats: u64) -> Vec<Summary> {
    let mut names: Vec<String> = SCORES.iter().map(|&name| name.to_owned()).collect();
    if let Some(Value::Object(targets)) = records.first().map(|record| &record.scores) {
        // Scores of a single target have their count at the top, those of several do not.
        let several = targets.iter().filter(|_| !targets.contains_key("n"));
        names.extend(several.flat_map(|(target, _)| SCORES.map(|name| format!("{target}/{name}"))));
    }
    let value =
        |record: &Record, name: &str| record.scores.pointer(&format!("/{name}")).and_then(Value::as_f64);
    let summary = |name: String| {
        let of = |repeat: Option<u64>| -> Vec<f64> {
            let own = records.iter().filter(|record| repeat.is_none_or(|repeat| record.repeat == repeat));
            own.filter_map(|record| value(record, &name)).collect()
        };
        let values = of(None);
        if values.is_empty() {
            return None;
        }
        let (mean, folds) = mean_and_deviation(&values);
        let means = (0..repeats).map(|repeat| of(Some(repeat))).filter(|values| !values.is_empty());
        let means: Vec<f64> = means.map(|values| mean_and_deviation(&values).0).collect();
        let between = (means.len() > 1).then(|| mean_and_deviation(&means).1);
        Some(Summary { name, mean, folds, repeats: between, count: values.len() })
    };
    names.into_iter().filter_map(summary).collect()
}

/// Mean, and deviation of a sample.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

/// The records of an earlier run of the same plan; a last line that was cut off does not count.
fn read(path: &Path, plan: &Plan) -> Result<Vec<Record>, Failure> {
    let hint = "start over without `--resume`";
    let text = std::fs::read_to_string(path).map_err(|source| inducing::Error::Io {
        action: "read",
        path: path.to_owned(),
        source,
        hint,
    })?;
    let mut lines = text.lines();
    let same =
        lines.next().and_then(|line| serde_json::from_str::<Plan>(line).ok()).is_some_and(|p| p == *plan);
    if !same {
        return Err(Failure::Usage(format!(
            "{} is from other data, folds or settings\nhint: resume with the same command, or start over without `--resume`",
            path.display()
        )));
    }
    Ok(lines.map_while(|line| serde_json::from_str(line).ok()).collect())
}
