//! `ign predict`: rows in, rows with uncertainty out, in blocks of constant size.

use super::train::check_not_input;
use super::{Failure, Reading, Threads};
use crate::progress::{interrupted, watch_for_interrupts};
use arrow::array::{ArrayRef, Float64Array};
use arrow::datatypes::{DataType, Field, Schema};
use data::{Block, Blocks, Format, RecordBatch, RowWriter, Sink, Source, read_blocks};
use ign::{Matrix, Model};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Rows that are in memory at a time.
const BLOCK_ROWS: usize = 8192;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Table to predict; `-` reads standard input
    table: String,
    /// Where to write: .csv, .parquet or .jsonl, also .gz; `-` is CSV to standard output
    #[arg(short, long, default_value = "-")]
    out: String,
    /// Central interval of this probability, for example 0.9 (repeatable)
    #[arg(long, value_delimiter = ',', value_parser = probability)]
    interval: Vec<f64>,
    /// Quantiles, for example 0.05,0.5,0.95
    #[arg(long, value_delimiter = ',', value_parser = probability)]
    quantiles: Vec<f64>,
    /// Columns of the input to carry along
    #[arg(long, value_delimiter = ',')]
    keep: Vec<String>,
    /// Format of the output [default: by the file's name]
    #[arg(long, value_parser = super::format)]
    output_format: Option<Format>,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    threads: Threads,
}

fn probability(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(p) if p > 0.0 && p < 1.0 => Ok(p),
        _ => Err(format!("`{text}` is not a probability between 0 and 1")),
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let threads = args.threads.start();
    let model = Model::load(&args.model, threads)?;
    if args.out != "-" {
        let path = Path::new(&args.out);
        if args.output_format.is_none() && path.extension().is_some() && Format::from_path(path).is_none() {
            return Err(Failure::Usage(format!(
                "what format is {} to have?\nhint: end it with .csv, .parquet or .jsonl (also .csv.gz), or say `--output-format csv`",
                args.out
            )));
        }
        check_not_input(path, &[&args.model, Path::new(&args.table)])?;
    }
    let schema = &model.header().schema;
    let options = args.reading.options(&model.header().config);
    let blocks = read_blocks(
        &Source::new(&args.table),
        &options,
        &schema.columns(),
        &distinct(&args.keep),
        BLOCK_ROWS,
    )?;
    let columns = Columns::new(&model, args);
    let fields: Vec<Arc<Field>> = blocks
        .kept_schema()
        .fields()
        .iter()
        .cloned()
        .chain(columns.names.iter().map(|name| Arc::new(Field::new(name, DataType::Float64, false))))
        .collect();
    let output = Arc::new(Schema::new(fields));
    let mut writer = RowWriter::create(&Sink::new(&args.out), args.output_format, Arc::clone(&output))?;
    let (mut rows, mut unseen) = (0, BTreeMap::<String, usize>::new());
    watch_for_interrupts("nothing is written");
    for block in read_ahead(blocks) {
        let Block { table, kept, .. } = block?;
        let encoded = schema.encode(&table, None)?;
        for (column, count) in encoded.unseen {
            *unseen.entry(column).or_default() += count;
        }
        let values = columns.values(&model, &Matrix { x: encoded.x, width: encoded.width }, table.rows());
        let arrays: Vec<ArrayRef> = kept.columns().iter().cloned().chain(values).collect();
        let batch =
            RecordBatch::try_new(Arc::clone(&output), arrays).expect("the columns were made for this schema");
        writer.write(&batch)?;
        rows += table.rows();
    }
    writer.finish()?;
    if !args.quiet {
        for (column, count) in unseen {
            eprintln!(
                "note: column `{column}`: {count} rows hold a category that was never seen in training"
            );
        }
        if args.out != "-" {
            eprintln!("{rows} rows predicted into {}", args.out);
        }
    }
    Ok(())
}

/// Reads on a thread of its own, so that reading and computing overlap and Ctrl-C is heard while a pipe is silent.
fn read_ahead(blocks: Blocks) -> impl Iterator<Item = Result<Block, Failure>> {
    let (sender, receiver) = sync_channel(2);
    std::thread::spawn(move || {
        // The receiver is gone when the command has ended: so has the need for more.
        blocks.into_iter().all(|block| sender.send(block).is_ok())
    });
    std::iter::from_fn(move || {
        loop {
            if interrupted() {
                return Some(Err(Failure::Interrupted));
            }
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok(block) => return Some(block.map_err(Failure::from)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    })
}

/// Each value once, in the order of its first appearance.
fn distinct<T: PartialEq + Clone>(values: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for value in values {
        if !kept.contains(value) {
            kept.push(value.clone());
        }
    }
    kept
}

/// The columns that a prediction adds, with names that stay distinct for several targets.
struct Columns {
    names: Vec<String>,
    intervals: Vec<f64>,
    quantiles: Vec<f64>,
}

impl Columns {
    fn new(model: &Model, args: &Args) -> Self {
        let targets = &model.header().schema.targets;
        let (intervals, quantiles) = (distinct(&args.interval), distinct(&args.quantiles));
        let mut names = Vec::new();
        for target in targets {
            let prefix = if targets.len() == 1 { String::new() } else { format!("{}_", target.name) };
            let mut own: Vec<String> = ["mean", "std", "std_latent"].map(str::to_owned).to_vec();
            for &level in &intervals {
                own.extend([format!("lower_{}", percent(level)), format!("upper_{}", percent(level))]);
            }
            own.extend(quantiles.iter().map(|&p| format!("q{}", percent(p))));
            // A carried column of the same name keeps it; ours gets a tail.
            names.extend(own.into_iter().map(|name| {
                let name = format!("{prefix}{name}");
                if args.keep.contains(&name) { format!("{name}_predicted") } else { name }
            }));
        }
        Self { names, intervals, quantiles }
    }

    fn values(&self, model: &Model, x: &Matrix, rows: usize) -> Vec<ArrayRef> {
        let rows: Vec<usize> = (0..rows).collect();
        let prediction = model.predict_rows(x, &rows);
        let c = model.outputs();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (output, calibration) in model.header().calibration.iter().enumerate() {
            let column = |values: &[f64]| values.iter().skip(output).step_by(c).copied().collect::<Vec<_>>();
            let (mean, std) = (column(&prediction.mean), column(&prediction.std));
            let shifted = |q: f64| mean.iter().zip(&std).map(|(m, s)| m + q * s).collect::<Vec<_>>();
            let mut push = |values: Vec<f64>| arrays.push(Arc::new(Float64Array::from(values)) as ArrayRef);
            push(mean.clone());
            push(std.clone());
            push(column(&prediction.std_latent));
            for &level in &self.intervals {
                let (low, high) = calibration.interval(level);
                push(shifted(low));
                push(shifted(high));
            }
            for &p in &self.quantiles {
                push(shifted(calibration.quantile(p)));
            }
        }
        arrays
    }
}

/// 0.95 → `95`, 0.025 → `2.5`.
fn percent(p: f64) -> String {
    let text = format!("{:.12}", 100.0 * p);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
