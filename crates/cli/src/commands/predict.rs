//! `ign predict`: rows in, rows with uncertainty out, in constant memory.

use crate::failure::Failure;
use crate::input::flags::{
    InputFlags, TableFlags, ThreadFlags, interval_level, parse_format, probability, set_threshold,
};
use crate::output_file::check_table_output;
use crate::predictions::PredictRequest;
use crate::shards::{self, ShardPart};
use crate::ui::output::note;
use crate::ui::text::count;
use data::Format;
use inducing::Model;
use inducing::model::{ColumnRequest, PredictionColumns};
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
    /// Write one output for each file of the input into this folder, under the same names; those that are there already stay, so that
    /// the same command goes on where it was stopped
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    out_dir: Option<PathBuf>,
    /// Of the files, only every N-th from the I-th on, such as 1/8: each task of a job array takes its own
    #[arg(long, value_name = "I/N", value_parser = ShardPart::parse)]
    shard: Option<ShardPart>,
    /// Which columns to write, separated by commas: row, mean, std, std_latent, familiarity; of classes row, label, p, latent_mean,
    /// latent_std, familiarity; `all` is all of them but the row [default: mean, 90 % interval, std, familiarity; label, p, familiarity]
    #[arg(long, value_delimiter = ',', default_value = "default", hide_default_value = true)]
    columns: Vec<String>,
    /// Significant digits in text formats [default: 6, and all of them with `--columns all`]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=17))]
    digits: Option<u8>,
    /// Say for each row which columns move the prediction up and down, and which make it unsure
    #[arg(long)]
    explain: bool,
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
    /// Of two classes, from which probability on the second is predicted [default: what the model was trained with]
    #[arg(long, value_name = "P", value_parser = probability)]
    threshold: Option<f64>,
    #[command(flatten)]
    input_flags: InputFlags,
    #[command(flatten)]
    table_flags: TableFlags,
    #[command(flatten)]
    threads: ThreadFlags,
}

impl Args {
    /// Whether several processes can share the work.
    pub(crate) fn is_parted(&self) -> bool {
        self.out_dir.is_some()
    }
}

/// Whether numbers are written as text, where digits cost room.
fn is_text(out: &str, format: Option<Format>) -> bool {
    format.unwrap_or_else(|| Format::from_path(std::path::Path::new(out)).unwrap_or(Format::Csv))
        != Format::Parquet
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let shard = match (args.shard, &args.out_dir) {
        (Some(_), None) => {
            return Err(Failure::Usage(
                "`--shard` is a part of the files of `--out-dir`\nhint: say `--out-dir DIR` in place of `--out`".into(),
            ));
        }
        // Processes of an `mpirun` part the files among them.
        (None, Some(_)) => ShardPart::of_world(),
        (shard, _) => shard,
    };
    args.threads.start();
    let mut model = Model::load(&args.model)?;
    set_threshold(&mut model, args.threshold)?;
    check_table_output(&args.out, args.output_format, &args.inputs, &args.model)?;
    let of_numbers = !(args.interval.is_empty() && args.quantiles.is_empty() && args.density.is_none());
    if model.header().schema.classes().is_some() && of_numbers {
        return Err(Failure::Usage(
            "classes have no intervals, quantiles or densities\nhint: leave `--interval`, `--quantiles` and `--density` out; every class has a probability".into(),
        ));
    }
    if args.explain && model.header().schema.table().is_none() {
        return Err(Failure::Usage(
            "only rows of tables are explained by their columns\nhint: leave `--explain` out; `ign inspect` shows the training examples nearest to each inducing point".into(),
        ));
    }
    let columns = PredictionColumns::new(
        &model,
        &ColumnRequest {
            columns: &args.columns,
            intervals: &args.interval,
            quantiles: &args.quantiles,
            density: args.density.map_or(0, usize::from),
            keep: &args.keep,
            explain: args.explain,
        },
    )?;
    // Of a folder, formats are those of the files.
    let text = match (&args.out_dir, args.output_format) {
        (Some(_), None) => !shards::are_parquet(&args.inputs)?,
        _ => is_text(&args.out, args.output_format),
    };
    let columns = match (args.digits, text) {
        (Some(digits), _) => columns.with_digits(Some(usize::from(digits))),
        (None, true) => columns,
        (None, false) => columns.with_digits(None),
    };
    let request = PredictRequest {
        model: &model,
        file: &args.model,
        inputs: &args.inputs,
        out: &args.out,
        output_format: args.output_format,
        keep: &args.keep,
        columns: &columns,
        input_flags: &args.input_flags,
        table_flags: &args.table_flags,
    };
    let (predicted, into) = match &args.out_dir {
        Some(folder) => (shards::run(&request, folder, shard)?, folder.display().to_string()),
        None => (request.run()?, args.out.clone()),
    };
    if !args.quiet {
        predicted.notes.iter().for_each(|text| note(text));
        if into != "-" {
            eprintln!("{} predicted into {into}", count(predicted.rows, "row"));
        }
    }
    Ok(())
}
