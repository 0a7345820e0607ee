//! `ign predict`: rows in, rows with uncertainty out, in constant memory.

use crate::failure::Failure;
use crate::input::flags::{InputFlags, TableFlags, ThreadFlags, interval_level, parse_format};
use crate::output_file::check_table_output;
use crate::predictions::{Columns, PredictRequest};
use crate::ui::output::note;
use data::Format;
use inducing::Model;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// What to predict: a table or graphs (`-` reads standard input), or images: files, folders or a named set
    #[arg(required = true)]
    inputs: Vec<String>,
    /// Where to write: .csv, .parquet or .jsonl, also .gz; `-` is CSV to standard output
    #[arg(short, long, visible_alias = "output", default_value = "-")]
    out: String,
    /// Central interval of this probability, for example 0.9, or 90 for 90 % (repeatable)
    #[arg(long, value_delimiter = ',', value_parser = interval_level)]
    interval: Vec<f64>,
    /// Quantiles, for example 0.05,0.5,0.95
    #[arg(long, value_delimiter = ',', value_parser = probability)]
    quantiles: Vec<f64>,
    /// The predictive density at this many equally spaced values of the target
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u16).range(2..=4096))]
    density: Option<u16>,
    /// Columns of the input to copy to the output
    #[arg(long, value_delimiter = ',')]
    keep: Vec<String>,
    /// Format of the output [default: by the file's name]
    #[arg(long, value_parser = parse_format)]
    output_format: Option<Format>,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    input_flags: InputFlags,
    #[command(flatten)]
    table_flags: TableFlags,
    #[command(flatten)]
    threads: ThreadFlags,
}

fn probability(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(p) if p > 0.0 && p < 1.0 => Ok(p),
        _ => Err(format!("`{text}` is not a probability between 0 and 1")),
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.threads.start();
    let model = Model::load(&args.model)?;
    check_table_output(&args.out, args.output_format, &args.inputs, &args.model)?;
    let of_numbers = !(args.interval.is_empty() && args.quantiles.is_empty() && args.density.is_none());
    if model.header().schema.classes().is_some() && of_numbers {
        return Err(Failure::Usage(
            "classes have no intervals, quantiles or densities\nhint: leave `--interval`, `--quantiles` and `--density` out; every class has a probability".into(),
        ));
    }
    let request = PredictRequest {
        model: &model,
        file: &args.model,
        inputs: &args.inputs,
        out: &args.out,
        output_format: args.output_format,
        keep: &args.keep,
        columns: Columns::new(
            &model,
            &args.interval,
            &args.quantiles,
            args.density.map_or(0, usize::from),
            &args.keep,
        ),
        input_flags: &args.input_flags,
        table_flags: &args.table_flags,
    };
    let predicted = request.run()?;
    if !args.quiet {
        predicted.notes.iter().for_each(|text| note(text));
        if args.out != "-" {
            eprintln!("{} rows predicted into {}", predicted.rows, args.out);
        }
    }
    Ok(())
}
