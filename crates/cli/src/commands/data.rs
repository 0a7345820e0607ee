//! `ign data`: simulated sets from the Virtual Library of Simulation Experiments, and public sets by name.

use super::{Failure, fetch};
use crate::output::print;
use data::{Format, RowWriter, Simulated, Sink};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// What can be generated, and which public sets are there
    List {
        /// Where named sets are [default: the environment variable IGN_DATA]
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Download public sets, check them, and put them where `ign train NAME` looks for them
    Fetch(fetch::Args),
    /// Write rows of a simulated set
    Generate {
        /// One of the simulated sets of `ign data list`
        name: String,
        /// How many rows
        #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
        rows: u64,
        /// Decides every number
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Standard deviation of Gaussian noise on the target
        #[arg(long, default_value_t = 0.0)]
        noise: f64,
        /// Where to write: .csv, .parquet or .jsonl; `-` is CSV to standard output
        #[arg(short, long, default_value = "-")]
        out: String,
        /// Format of the output [default: by the file's name]
        #[arg(long, value_parser = super::format)]
        output_format: Option<Format>,
    },
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List { data_dir, json } => {
            for set in Simulated::ALL {
                let (name, inputs, description) = (set.name(), set.input_names(), set.description());
                if *json {
                    let line = serde_json::json!({
                        "name": name, "kind": "simulated", "inputs": inputs, "description": description,
                    });
                    print(&line.to_string())?;
                } else {
                    print(&format!("{name:<16} {:>2} inputs  {description}", inputs.len()))?;
                }
            }
            fetch::print_sets(data::data_dir(data_dir.as_deref()).as_deref(), *json)?;
        }
        Command::Fetch(args) => fetch::run(args)?,
        Command::Generate { name, rows, seed, noise, out, output_format } => {
            let set = Simulated::from_name(name).ok_or_else(|| {
                let names: Vec<&str> = Simulated::ALL.iter().map(|set| set.name()).collect();
                Failure::Usage(format!(
                    "there is no simulated set `{name}`\nhint: the sets are {}",
                    names.join(", ")
                ))
            })?;
            if !(noise.is_finite() && *noise >= 0.0) {
                return Err(Failure::Usage(format!(
                    "--noise {noise}: a standard deviation is at least zero"
                )));
            }
            let batch = set.sample(*rows as usize, *seed, *noise).to_batch()?;
            let mut writer = RowWriter::create(&Sink::new(out), *output_format, batch.schema())?;
            writer.write(&batch)?;
            writer.finish()?;
        }
    }
    Ok(())
}
