//! `ign reproduce`: the experiments of the paper under its protocol, and a page of what came out.
//!
//! ```text
//! names → requests → plan (records, data, time) → runs, each one record → page and figure
//! ```
//! Protocol: 60/40 random splits by the seed, normalisation by the training part, preset `paper` and beside it preset
//! `default` on the same split; pictures and texts by their own parts, graphs in ten folds.

mod ablation;
mod board;
mod catalogue;
mod experiments;
mod figure;
mod list;
mod machine;
mod notes;
mod page;
mod plan;
mod records;
mod request;
mod run;
mod score;
mod source;
mod summary;
mod tables;
mod work;
mod worse;

use super::{Failure, MOST_THREADS};
use crate::output::print;
use crate::progress::{interrupted, watch_for_interrupts};
use board::Board;
use experiments::Preset;
use machine::{Machine, duration};
use notes::Notes;
use plan::{LeftOut, Plan};
use records::Records;
use run::Bench;
use serde_json::json;
use source::Sets;
use std::path::PathBuf;
use work::Outcome;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to run: rows of the paper's tables (levy, protein, mnist, …), table1, table2, toy-mnist, imdb-text,
    /// imdb-graph, ablation, or all; `--list` names them
    experiments: Vec<String>,
    /// List the experiments, the data that they need, and whether these are there
    #[arg(long)]
    list: bool,
    /// Repeats of every run, each with another split
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    repeats: u64,
    /// The first repeat's seed; the others follow
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=u64::from(u32::MAX)))]
    seed: u64,
    /// Presets to run
    #[arg(long, value_delimiter = ',', default_value = "paper,default", value_parser = ["paper", "default"])]
    presets: Vec<String>,
    /// Plan within this time, for example 90s, 30m or 2h, and say what is left out
    #[arg(long, value_name = "TIME", value_parser = machine::parse_duration)]
    budget: Option<f64>,
    /// Runs at a time, each on one thread [default: all cores]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    jobs: Option<u16>,
    /// Noise on simulated targets, in their deviations: the comparators' figures for Borehole have it
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "0.17", require_equals = true)]
    noise: Option<f64>,
    /// Where named sets are [default: the environment variable IGN_DATA]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The folder of records; a run that has one is not run again
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    records: PathBuf,
    /// The page to write [default: results.md among the records]
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Write the page from the records, and run nothing
    #[arg(long)]
    page_only: bool,
    /// Override one key of every configuration, for example train.epochs=50 (repeatable); such records are kept apart
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    fn presets(&self) -> Vec<Preset> {
        self.presets.iter().filter_map(|name| Preset::from_name(name)).collect()
    }

    fn page(&self) -> PathBuf {
        match &self.page {
            Some(page) => page.clone(),
            None => self.records.join("results.md"),
        }
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let sets = Sets::new(data::data_dir(args.data_dir.as_deref()));
    if args.list {
        return list::list(&sets, args.json);
    }
    if let Some(noise) = args.noise
        && !(noise.is_finite() && noise > 0.0)
    {
        return Err(Failure::Usage(format!("--noise={noise}: expected a deviation above zero")));
    }
    let (chosen, ablation) = request::asked_for(&args.experiments)?;
    if args.noise.is_some() && chosen.iter().all(|experiment| !experiment.is_simulated()) {
        return Err(Failure::Usage(
            "`--noise` is for simulated sets, and none was named\nhint: leave it out".into(),
        ));
    }
    // Notes that cannot be read are told of before the runs.
    let notes = Notes::beside(&args.page())?;
    let records = Records::new(&args.records);
    if args.page_only {
        if !records.there() {
            let hint = "name the folder of records by `--records`";
            return Err(Failure::Usage(format!("{}: no such folder\nhint: {hint}", args.records.display())));
        }
        return write_page(args, &notes, &records, &Plan::default(), &Outcome::default());
    }
    if args.experiments.is_empty() {
        let hint =
            "name experiments, for example `ign reproduce table1`; `ign reproduce --list` has them all";
        return Err(Failure::Usage(format!("there is nothing to run\nhint: {hint}")));
    }
    let machine = Machine::here();
    let jobs = args.jobs.map_or(machine.cores, usize::from);
    let seeds = args.seed..args.seed + args.repeats;
    let requests =
        request::requests((&chosen, ablation), &args.presets(), seeds, args.noise, &args.overrides);
    let bench = Bench { sets, records, machine };
    let plan = Plan::new(requests, &bench, jobs, args.budget)?;
    if let Some(first) = plan.without_data() {
        let hint = "name the folder of the sets by `--data-dir`, or fetch them by `ign data fetch`";
        return Err(Failure::Usage(format!("nothing can be run: {}\nhint: {hint}", first.reason)));
    }
    bench.records.create()?;
    announce(args, &plan, jobs);
    watch_for_interrupts("finished runs are kept, the others leave checkpoints");
    let board = Board::new(&plan.runs, jobs, args.quiet);
    let outcome = work::work(&bench, plan.runs.clone(), jobs, args.budget, &board);
    board.finish();
    write_page(args, &notes, &bench.records, &plan, &outcome)?;
    if interrupted() {
        eprintln!("stopped; the same command goes on (records in {})", args.records.display());
        return Err(Failure::Interrupted);
    }
    match outcome.failed.into_iter().next() {
        Some((_, failure)) => Err(failure),
        None => Ok(()),
    }
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
    tell_left_out(args, &plan.left_out);
}

/// What is left out and why, a line for each group of runs.
fn tell_left_out(args: &Args, left_out: &[LeftOut]) {
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
        let runs = if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
        args.say(&format!("left out: {group}, {runs} ({reason})"));
    }
}

fn write_page(
    args: &Args,
    notes: &Notes,
    records: &Records,
    plan: &Plan,
    outcome: &Outcome,
) -> Result<(), Failure> {
    tell_left_out(args, &outcome.out_of_time);
    let (all, faults) = records.all();
    faults.iter().for_each(|fault| args.say(&format!("note: not a record: {fault}")));
    let page = args.page();
    page::write(&page, &all, &args.overrides, notes)?;
    if args.json {
        let left_out = plan.left_out.iter().chain(&outcome.out_of_time);
        let left_out: Vec<_> =
            left_out.map(|late| json!({ "run": late.run, "reason": late.reason })).collect();
        let failed: Vec<_> = outcome
            .failed
            .iter()
            .map(|(name, why)| json!({ "run": name, "reason": why.to_string() }))
            .collect();
        let result = json!({
            "finished": outcome.finished, "done_before": plan.done, "left_out": left_out, "failed": failed,
            "records": args.records, "page": page,
        });
        return print(&result.to_string());
    }
    if !args.quiet {
        let records = if all.len() == 1 { "1 record".to_owned() } else { format!("{} records", all.len()) };
        print(&format!("{} written from {records}", page.display()))?;
    }
    Ok(())
}
