//! `ign data`: simulated sets from the Virtual Library of Simulation Experiments, and public sets by name.

use crate::failure::Failure;
use crate::fetch::origin::Origin;
use crate::fetch::table::SETS;
use crate::input::flags::parse_format;
use crate::ui::output::{print, print_json};
use data::{Format, NamedSet, RowWriter, Simulated, Sink};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the simulated sets, and the public sets with whether they are there
    List {
        /// Folder of the named sets [default: the environment variable IGN_DATA]
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Download public sets, check them, and put them where `ign train NAME` finds them
    Fetch(FetchArgs),
    /// Write rows of a simulated set
    Generate(GenerateArgs),
}

#[derive(clap::Args)]
#[cfg_attr(not(feature = "fetch"), allow(dead_code, reason = "the flags are the same in every build"))]
struct FetchArgs {
    /// Sets to fetch; without any, lists what can be fetched
    names: Vec<String>,
    /// Folder of the named sets [default: the environment variable IGN_DATA]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A server (http://… or https://…) or folder that has the files under their original names
    #[arg(long, value_name = "URL", value_parser = Origin::parse)]
    from: Option<Origin>,
    /// Fetch and replace what is already there
    #[arg(long)]
    force: bool,
    /// Give up on a server that is silent for this long
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

#[derive(clap::Args)]
struct GenerateArgs {
    /// One of the simulated sets of `ign data list`
    name: String,
    /// How many rows
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    rows: u64,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Standard deviation of Gaussian noise on the target
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    /// Where to write: .csv, .parquet or .jsonl; `-` is CSV to standard output
    #[arg(short, long, visible_alias = "output", default_value = "-")]
    out: String,
    /// Format of the output [default: by the file's name]
    #[arg(long, value_parser = parse_format)]
    output_format: Option<Format>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List { data_dir, json } => {
            list_simulated(*json)?;
            list_public(data::data_dir(data_dir.as_deref()).as_deref(), *json)
        }
        Command::Fetch(args) => fetch(args),
        Command::Generate(args) => generate(args),
    }
}

fn list_simulated(json: bool) -> Result<(), Failure> {
    for set in Simulated::ALL {
        let (name, inputs, description) = (set.name(), set.input_names(), set.description());
        if json {
            print_json(&serde_json::json!({
                "name": name, "kind": "simulated", "inputs": inputs, "description": description,
            }))?;
        } else {
            print(&format!("{name:<17} {:>2} inputs  {description}", inputs.len()))?;
        }
    }
    Ok(())
}

/// The public sets, where they come from, and whether they are there.
fn list_public(data_dir: Option<&Path>, json: bool) -> Result<(), Failure> {
    for (set, (name, about)) in SETS.iter().flat_map(|set| set.names().map(move |name| (set, name))) {
        let there = data_dir.zip(NamedSet::from_name(name)).map(|(data_dir, named)| named.is_in(data_dir));
        if json {
            print_json(&serde_json::json!({
                "name": name, "kind": "public", "there": there, "description": about, "sources": set.urls(),
            }))?;
        } else {
            let there = there.map_or("?", |there| if there { "there" } else { "missing" });
            print(&format!("{name:<17} {there:<9}  {about}"))?;
        }
    }
    Ok(())
}

#[cfg(not(feature = "fetch"))]
fn fetch(_: &FetchArgs) -> Result<(), Failure> {
    Err(Failure::Usage(
        "this build cannot fetch\nhint: build with the feature `fetch`, or download the files that `ign data list --json` names".into(),
    ))
}

#[cfg(feature = "fetch")]
fn fetch(args: &FetchArgs) -> Result<(), Failure> {
    use crate::fetch::{Fetching, Outcome, find};
    let data_dir = data::data_dir(args.data_dir.as_deref());
    if args.names.is_empty() {
        list_public(data_dir.as_deref(), false)?;
        let folder = data_dir.map_or("DIR".into(), |data_dir| data_dir.display().to_string());
        return print(&format!(
            "\n`ign data fetch NAME --data-dir {folder}` fetches a set to where `ign train NAME` finds it"
        ));
    }
    let sets = find(&args.names)?;
    let data_dir = data_dir.ok_or_else(|| {
        let hint = "pass a folder for the sets as `--data-dir`, or set IGN_DATA to it";
        Failure::Usage(format!("there is no data directory\nhint: {hint}"))
    })?;
    let patience = std::time::Duration::from_secs(args.timeout);
    let fetching = Fetching { data_dir, from: args.from.clone(), force: args.force, patience };
    crate::signals::watch("an unfinished set is not kept");
    for set in sets {
        let (outcome, notes) = fetching.fetch(set).map_err(|problem| fetching.failure(set, problem))?;
        let (word, paths) = match outcome {
            Outcome::There(paths) => ("already there", paths),
            Outcome::Written(paths) => ("fetched", paths),
        };
        let compared = match &notes[..] {
            [] => "sha256 matches".to_owned(),
            notes => format!("checked {}", notes.join("; ")),
        };
        print(&format!("{}: {word}, {compared}", set.name))?;
        paths.iter().try_for_each(|path| print(&format!("  {}", path.display())))?;
    }
    Ok(())
}

fn generate(args: &GenerateArgs) -> Result<(), Failure> {
    let GenerateArgs { name, rows, seed, noise, out, output_format } = args;
    let set = Simulated::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Simulated::ALL.iter().map(|set| set.name()).collect();
        Failure::Usage(format!("there is no simulated set `{name}`\nhint: the sets are {}", names.join(", ")))
    })?;
    if !(noise.is_finite() && *noise >= 0.0) {
        return Err(Failure::Usage(format!("--noise {noise}: a standard deviation is at least zero")));
    }
    let batch = set.sample(*rows as usize, *seed, *noise).to_batch()?;
    let mut writer = RowWriter::create(&Sink::new(out), *output_format, batch.schema())?;
    writer.write(&batch)?;
    Ok(writer.finish()?)
}
