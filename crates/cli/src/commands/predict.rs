//! `ign predict`: rows in, rows with uncertainty out, in blocks of constant size.

use super::given::{Given, GivenArgs};
use super::train::check_not_input;
use super::{Failure, Reading, Threads};
use crate::progress::{interrupted, watch_for_interrupts};
use arrow::array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema};
use data::{
    Block, Blocks, Format, GraphSchema, ImageOptions, ImageSchema, Part, RecordBatch, RowWriter, Sink,
    TableSchema, Tokenizer, read_blocks,
};
use ign::{ClassPrediction, Images, Inputs, Model, Schema};
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
    /// What to predict: a table or graphs (`-` reads standard input), or pictures: files, folders or a named set
    #[arg(required = true)]
    inputs: Vec<String>,
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
    given: GivenArgs,
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
        let inputs = args.inputs.iter().map(Path::new);
        check_not_input(path, &inputs.chain([args.model.as_path()]).collect::<Vec<_>>())?;
    }
    if model.header().schema.classes().is_some() && !(args.interval.is_empty() && args.quantiles.is_empty()) {
        return Err(Failure::Usage(
            "classes have no intervals or quantiles\nhint: leave `--interval` and `--quantiles` out; every class has a probability".into(),
        ));
    }
    let rows = match &model.header().schema {
        Schema::Table(schema) => predict_table(args, &model, schema)?,
        Schema::Images(schema) => predict_pictures(args, &model, schema)?,
        Schema::Graphs(schema) => predict_graphs(args, &model, schema)?,
        Schema::Own(_) => unreachable!("loading refuses an encoder from outside"),
    };
    if !args.quiet && args.out != "-" {
        eprintln!("{rows} rows predicted into {}", args.out);
    }
    Ok(())
}

/// The one input that the model can take.
fn only<'a>(args: &'a Args, what: &str) -> Result<&'a str, Failure> {
    match &args.inputs[..] {
        [input] => Ok(input),
        several => Err(Failure::Usage(format!(
            "{} predicts {what}, and {} were named\nhint: name one",
            args.model.display(),
            several.len()
        ))),
    }
}

fn predict_table(args: &Args, model: &Model, schema: &TableSchema) -> Result<usize, Failure> {
    let input = only(args, "rows of one table")?;
    let source = args.given.tables(input, Part::Test)?.remove(0);
    let options = args.reading.options(&model.header().config);
    let keep = distinct(&args.keep);
    let blocks = read_blocks(&source, &options, &schema.columns(), &keep, BLOCK_ROWS)?;
    let columns = Columns::new(model, args);
    let kept = blocks.kept_schema().fields().to_vec();
    let (mut writer, output) = columns.writer(kept, args)?;
    let (mut rows, mut unseen, mut wordless) =
        (0, BTreeMap::<String, usize>::new(), BTreeMap::<String, usize>::new());
    watch_for_interrupts("nothing is written");
    for block in read_ahead(blocks) {
        let Block { table, kept, .. } = block?;
        let mut encoded = schema.encode(&table, None)?;
        for (column, count) in std::mem::take(&mut encoded.unseen) {
            *unseen.entry(column).or_default() += count;
        }
        for ((name, _), texts) in schema.text_columns().zip(&encoded.texts) {
            let unknown = |row: &usize| texts.row(*row).iter().all(|&word| word == Tokenizer::UNKNOWN);
            *wordless.entry(name.to_owned()).or_default() += (0..texts.len()).filter(unknown).count();
        }
        let values = columns.values(model, &encoded.into());
        let arrays: Vec<ArrayRef> = kept.columns().iter().cloned().chain(values).collect();
        writer.write(&batch(&output, arrays))?;
        rows += table.rows();
    }
    writer.finish()?;
    if !args.quiet {
        for (column, count) in wordless.into_iter().filter(|(_, count)| *count > 0) {
            eprintln!("note: column `{column}`: {count} rows hold no word that the model knows");
        }
        for (column, count) in unseen {
            eprintln!(
                "note: column `{column}`: {count} rows hold a category that was never seen in training"
            );
        }
    }
    Ok(rows)
}

fn predict_pictures(args: &Args, model: &Model, schema: &ImageSchema) -> Result<usize, Failure> {
    let Given::Images(source) = args.given.recognise(&args.inputs)? else {
        return Err(Failure::Usage(format!(
            "{} predicts pictures, and {} is none\nhint: name picture files, a folder of them, or a named set",
            args.model.display(),
            args.inputs.join(", ")
        )));
    };
    if !args.keep.is_empty() {
        return Err(Failure::Usage(
            "pictures have no columns to keep\nhint: leave `--keep` out; the file's name is always there"
                .into(),
        ));
    }
    let (set, notices) = args.given.images(&source, ImageOptions { part: Part::Test, ..schema.options() })?;
    if !args.quiet {
        notices.iter().for_each(|notice| eprintln!("note: {notice}"));
    }
    let set = schema.conform(set.unlabelled())?;
    let names = (0..set.len()).map(|i| set.names.get(i).cloned().unwrap_or_else(|| i.to_string()));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    let rows = set.len();
    let columns = Columns::new(model, args);
    let (mut writer, output) =
        columns.writer(vec![Arc::new(Field::new("file", DataType::Utf8, false))], args)?;
    let values = columns.values(model, &Inputs::Images(Images::new(set, schema, false)));
    writer.write(&batch(&output, std::iter::once(names).chain(values).collect()))?;
    writer.finish()?;
    Ok(rows)
}

fn predict_graphs(args: &Args, model: &Model, schema: &GraphSchema) -> Result<usize, Failure> {
    if !args.keep.is_empty() {
        return Err(Failure::Usage(
            "graphs have no columns to keep\nhint: leave `--keep` out; the graph's number is always there"
                .into(),
        ));
    }
    let (set, notices) = args.given.graphs(only(args, "one set of graphs")?, false)?;
    if !args.quiet {
        notices.iter().for_each(|notice| eprintln!("note: {notice}"));
    }
    let rows = set.len();
    let inputs = Inputs::graphs(schema.conform(set.unlabelled())?, schema)?;
    let numbers: ArrayRef = Arc::new(UInt64Array::from_iter_values(1..=rows as u64));
    let columns = Columns::new(model, args);
    let (mut writer, output) =
        columns.writer(vec![Arc::new(Field::new("graph", DataType::UInt64, false))], args)?;
    let values = columns.values(model, &inputs);
    writer.write(&batch(&output, std::iter::once(numbers).chain(values).collect()))?;
    writer.finish()?;
    Ok(rows)
}

fn batch(schema: &Arc<ArrowSchema>, arrays: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(Arc::clone(schema), arrays).expect("the columns were made for this schema")
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
    fields: Vec<Arc<Field>>,
    intervals: Vec<f64>,
    quantiles: Vec<f64>,
}

impl Columns {
    fn new(model: &Model, args: &Args) -> Self {
        let schema = &model.header().schema;
        let (intervals, quantiles) = (distinct(&args.interval), distinct(&args.quantiles));
        let mut names = Vec::new();
        if let Some(classes) = schema.classes() {
            names.push("label".to_owned());
            for prefix in ["p", "latent_mean", "latent_std"] {
                names.extend(classes.iter().map(|class| format!("{prefix}_{class}")));
            }
        }
        for target in schema.numbers() {
            let prefix = if schema.outputs() == 1 { String::new() } else { format!("{}_", target.name) };
            let mut own: Vec<String> = ["mean", "std", "std_latent"].map(str::to_owned).to_vec();
            for &level in &intervals {
                own.extend([format!("lower_{}", percent(level)), format!("upper_{}", percent(level))]);
            }
            own.extend(quantiles.iter().map(|&p| format!("q{}", percent(p))));
            names.extend(own.into_iter().map(|name| format!("{prefix}{name}")));
        }
        let field = |(k, name): (usize, String)| {
            let text = k == 0 && schema.classes().is_some();
            // A carried column of the same name keeps it; ours gets a tail.
            let name = if args.keep.contains(&name) { format!("{name}_predicted") } else { name };
            Arc::new(Field::new(name, if text { DataType::Utf8 } else { DataType::Float64 }, false))
        };
        Self { fields: names.into_iter().enumerate().map(field).collect(), intervals, quantiles }
    }

    /// A writer of these columns after others.
    fn writer(&self, others: Vec<Arc<Field>>, args: &Args) -> Result<(RowWriter, Arc<ArrowSchema>), Failure> {
        let fields: Vec<Arc<Field>> = others.into_iter().chain(self.fields.iter().cloned()).collect();
        let output = Arc::new(ArrowSchema::new(fields));
        let writer = RowWriter::create(&Sink::new(&args.out), args.output_format, Arc::clone(&output))?;
        Ok((writer, output))
    }

    fn values(&self, model: &Model, inputs: &Inputs) -> Vec<ArrayRef> {
        match model.header().schema.classes() {
            Some(classes) => class_values(&model.predict_classes(inputs), classes),
            None => self.number_values(model, inputs),
        }
    }

    fn number_values(&self, model: &Model, inputs: &Inputs) -> Vec<ArrayRef> {
        let prediction = model.predict(inputs);
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

fn class_values(prediction: &ClassPrediction, classes: &[String]) -> Vec<ArrayRef> {
    let k = classes.len();
    let labels = StringArray::from_iter_values(prediction.labels().map(|class| &classes[class]));
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(labels)];
    for values in [&prediction.p, &prediction.latent_mean, &prediction.latent_std] {
        for class in 0..k {
            let column = values.iter().skip(class).step_by(k).copied();
            arrays.push(Arc::new(Float64Array::from_iter_values(column)));
        }
    }
    arrays
}

/// 0.95 → `95`, 0.025 → `2.5`.
fn percent(p: f64) -> String {
    let text = format!("{:.12}", 100.0 * p);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
