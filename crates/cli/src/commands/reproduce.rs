//! `ign reproduce`: the paper's experiments under its protocol, evaluation away from the data, and a page of results.

use crate::failure::Failure;
use crate::input::flags::MAX_THREADS;
use crate::signals;
use crate::ui::output::{print, print_json};
use crate::ui::run_board::RunBoard;
use crate::ui::text;
use ::reproduce::{
    Error, LeftOut, Options, Outcome, Plan, Preset, Program, Reproduction, WrittenPage, duration,
    parse_duration,
};
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to run: rows of the paper's tables (levy, protein, mnist, …), table1, table2, toy-mnist, imdb-text,
    /// imdb-graph, ablation; beyond the paper gaps, gaps-large and wave; or all; `--list` shows them
    experiments: Vec<String>,
    /// List the experiments, the data they need, and whether these are there
    #[arg(long)]
    list: bool,
    /// Repeats of every run, each with another split
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    repeats: u64,
    /// Seed of the first repeat; the others count up from it
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
    seed: u64,
    /// Presets to run [default: paper,default; of gaps and wave, default]
    #[arg(long, value_delimiter = ',', value_parser = ["paper", "default"])]
    presets: Option<Vec<String>>,
    /// Run what fits in this time, for example 90s, 30m or 2h, and say what does not
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<f64>,
    /// Runs at a time, each on one thread [default: all cores]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    jobs: Option<u16>,
    /// Noise on simulated targets, in their standard deviations, as in the comparators' figures for Borehole
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "0.17", require_equals = true)]
    noise: Option<f64>,
    /// Folder of the named sets [default: the environment variable IGN_DATA]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Folder of records; a run that has one is not repeated
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    records: PathBuf,
    /// The page to write [default: results.md among the records]
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Write the page from the records without running anything
    #[arg(long)]
    page_only: bool,
    /// Override one key of every configuration, for example train.epochs=50 (repeatable); these records are kept apart
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Library(error) => Failure::Error(error),
        Error::Usage(message) => Failure::Usage(message),
    }
}

fn presets(names: &[String]) -> Vec<Preset> {
    names.iter().filter_map(|name| Preset::from_name(name)).collect()
}

impl Args {
    fn options(&self) -> Options {
        Options {
            experiments: self.experiments.clone(),
            repeats: self.repeats,
            seed: self.seed,
            presets: self.presets.as_deref().map(presets),
            budget: self.budget,
            jobs: self.jobs.map(usize::from),
            noise: self.noise,
            data_dir: data::data_dir(self.data_dir.as_deref()),
            records: self.records.clone(),
            page: self.page.clone().unwrap_or_else(|| self.records.join("results.md")),
            overrides: self.overrides.clone(),
            program: Program {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                commit: option_env!("IGN_COMMIT").map(str::to_owned),
            },
        }
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let options = args.options();
    if args.list {
        return list(options.data_dir, args.json);
    }
    let page = options.page.clone();
    let reproduction = Reproduction::new(options).map_err(failure)?;
    if args.page_only {
        let written = reproduction.write_page().map_err(failure)?;
        return print_result(args, &page, &written, &Plan::default(), &Outcome::default());
    }
    let (plan, jobs) = (reproduction.plan().map_err(failure)?, reproduction.jobs());
    announce(args, &plan, jobs);
    signals::watch("finished runs are kept, the others save checkpoints");
    let board = RunBoard::new(&plan.runs, jobs, args.quiet);
    let outcome = reproduction.run(&plan, &board);
    board.finish();
    say_left_out(args, &outcome.out_of_time);
    let written = reproduction.write_page().map_err(failure)?;
    print_result(args, &page, &written, &plan, &outcome)?;
    if signals::stop_requested() {
        eprintln!("stopped; continue with the same command (records in {})", args.records.display());
        return Err(Failure::Interrupted);
    }
    match outcome.failed.into_iter().next() {
        Some((_, error)) => Err(failure(error)),
        None => Ok(()),
    }
}

fn list(data_dir: Option<PathBuf>, as_json: bool) -> Result<(), Failure> {
    for listed in ::reproduce::list(data_dir) {
        if as_json {
            print_json(&listed)?;
            continue;
        }
        let there = listed.missing.unwrap_or_else(|| "there".into());
        let estimates: Vec<String> = listed
            .presets
            .iter()
            .zip(listed.seconds)
            .map(|(preset, seconds)| format!("{preset} about {}", duration(seconds)))
            .collect();
        print(&format!("{:22} {}: {there}; {}", listed.name, listed.data, estimates.join(", ")))?;
    }
    if !as_json {
        for (name, meaning) in ::reproduce::groups() {
            print(&format!("{name:22} {meaning}"))?;
        }
    }
    Ok(())
}

fn announce(args: &Args, plan: &Plan, jobs: usize) {
    plan.notes.iter().for_each(|note| args.say(&format!("note: {note}")));
    let done = match plan.done {
        0 => String::new(),
        1 => "1 run is done already; ".to_owned(),
        done => format!("{done} runs are done already; "),
    };
    let to_do = match plan.runs.len() {
        0 => "nothing to do".to_owned(),
        runs => format!("{runs} to do, {jobs} at a time, about {}", duration(plan.seconds(jobs))),
    };
    args.say(&format!("{done}{to_do}"));
    say_left_out(args, &plan.left_out);
}

/// What is left out and why, a line for each group of runs.
fn say_left_out(args: &Args, left_out: &[LeftOut]) {
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for LeftOut { group, reason, .. } in left_out {
        if !groups.contains(&(group, reason)) {
            groups.push((group, reason));
        }
    }
    for (group, reason) in groups {
        let count = left_out
            .iter()
            .filter(|run| (run.group.as_str(), run.reason.as_str()) == (group, reason))
            .count();
        let runs = text::count(count, "run");
        args.say(&format!("left out: {group}, {runs} ({reason})"));
    }
}

fn print_result(
    args: &Args,
    page: &std::path::Path,
    written: &WrittenPage,
    plan: &Plan,
    outcome: &Outcome,
) -> Result<(), Failure> {
    written.faults.iter().for_each(|fault| args.say(&format!("note: not a record: {fault}")));
    if args.json {
        let left_out = plan.left_out.iter().chain(&outcome.out_of_time);
        let left_out: Vec<_> = left_out.map(|run| json!({ "run": run.run, "reason": run.reason })).collect();
        let failed: Vec<_> = outcome
            .failed
            .iter()
            .map(|(name, why)| json!({ "run": name, "reason": why.to_string() }))
            .collect();
        return print_json(&json!({
            "finished": outcome.finished, "done_before": plan.done, "left_out": left_out, "failed": failed,
            "records": args.records, "page": page,
        }));
    }
    if args.quiet {
        return Ok(());
    }
    let records = text::count(written.records, "record");
    print(&format!("{} written from {records}", page.display()))
}
