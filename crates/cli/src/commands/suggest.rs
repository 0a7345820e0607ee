//! `ign suggest`: which rows of a pool to label next, or to try next for the largest or smallest value.

use crate::failure::Failure;
use crate::input::eval_data::kind;
use crate::input::flags::{InputFlags, TableFlags, ThreadFlags, parse_format};
use crate::input::input_spec::InputKind;
use crate::output_file::{check_table_output, check_writable};
use crate::predictions::batch;
use crate::ui::output::note;
use crate::ui::text::count;
use data::arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use data::arrow_schema::{DataType, Field, Schema as ArrowSchema};
use data::{DatasetPart, Format, RecordBatch, RowWriter, Sink, take_rows};
use inducing::dataset::Inputs;
use inducing::model::{ColumnRequest, PredictionColumns};
use inducing::suggest::Pool;
use inducing::{Dataset, Goal, Model, SuggestOptions, Suggestion};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// What to choose from: a table or graphs (`-` reads standard input), or images: files, folders or a named set
    #[arg(required = true)]
    pool: Vec<String>,
    /// How many rows to suggest
    #[arg(short = 'n', long, value_name = "ROWS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Look for the largest value, by expected improvement [default: rows whose labels would teach most]
    #[arg(long, conflicts_with = "minimise")]
    maximise: bool,
    /// Look for the smallest value
    #[arg(long)]
    minimise: bool,
    /// The best value known, to improve on [default: the best label of the rows that the model keeps]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    best: Option<f64>,
    /// The number that counts, for a model that predicts several [default: all of them]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Where to write: .csv, .parquet or .jsonl, also .gz; `-` is CSV to standard output
    #[arg(short, long, visible_alias = "output", default_value = "-")]
    out: String,
    /// Columns of the pool to copy to the output
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

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.threads.start();
    let goal = goal(args)?;
    let model = Model::load(&args.model)?;
    check_table_output(&args.out, args.output_format, &args.pool, &args.model)?;
    if args.out != "-" {
        check_writable(Path::new(&args.out))?;
    }
    let options = SuggestOptions { count: args.count as usize, goal, target: args.target.clone() };
    model.check_suggestion(&options)?;
    let pool = model.read_pool(&dataset(args, &model)?, &args.keep)?;
    let suggestions = model.suggest_inputs(&pool.inputs, &options)?;
    write(args, &model, &pool, &suggestions)?;
    if !args.quiet {
        pool.notes.iter().for_each(|text| note(text));
        if suggestions.len() < options.count {
            note(&format!("the pool has {}: all are suggested, best first", count(suggestions.len(), "row")));
        }
        if args.out != "-" {
            eprintln!(
                "{} of {} suggested in {}",
                suggestions.len(),
                count(pool.inputs.rows(), "row"),
                args.out
            );
        }
    }
    Ok(())
}

fn goal(args: &Args) -> Result<Goal, Failure> {
    match (args.maximise, args.minimise, args.best) {
        (true, _, best) => Ok(Goal::Maximise { best }),
        (_, true, best) => Ok(Goal::Minimise { best }),
        (_, _, None) => Ok(Goal::Learn),
        (_, _, Some(_)) => Err(Failure::Usage(
            "`--best` is what `--maximise` and `--minimise` improve on\nhint: add one of them, or leave it out".into(),
        )),
    }
}

/// The pool as the user names it, refused where the model reads another kind.
fn dataset(args: &Args, model: &Model) -> Result<Dataset, Failure> {
    let kind = kind(model);
    let (what, instead) = match kind {
        InputKind::Images => ("images", "the file's name"),
        InputKind::Graphs => ("graphs", "the graph's number"),
        InputKind::Table | InputKind::NamedTable => ("rows", ""),
    };
    if kind == InputKind::Images && args.input_flags.recognise(&args.pool)? != InputKind::Images {
        return Err(Failure::Usage(format!(
            "{} reads images, and {} has none\nhint: name image files, a folder of them, or a named set",
            args.model.display(),
            args.pool.join(", ")
        )));
    }
    if !instead.is_empty() && !args.keep.is_empty() {
        return Err(Failure::Usage(format!(
            "{what} have no columns to keep\nhint: leave `--keep` out; {instead} is always there"
        )));
    }
    args.input_flags.for_model(&args.pool, kind, &args.table_flags, DatasetPart::Test)
}

/// Row and score, what is predicted, then what is copied.
fn write(args: &Args, model: &Model, pool: &Pool, suggestions: &[Suggestion]) -> Result<(), Failure> {
    let rows: Vec<usize> = suggestions.iter().map(|suggestion| suggestion.row).collect();
    let copied = copied(pool, &rows)?;
    let names: Vec<String> = copied.schema().fields().iter().map(|field| field.name().clone()).collect();
    let request = ColumnRequest { columns: &["all".into()], keep: &names, ..ColumnRequest::default() };
    let columns = PredictionColumns::new(model, &request)?;
    let own = |name: &str, kind: DataType| {
        // A copied column keeps its name; ours is renamed.
        let name =
            if names.iter().any(|other| other == name) { format!("{name}_suggested") } else { name.into() };
        Arc::new(Field::new(name, kind, false))
    };
    let mut fields = vec![own("row", DataType::UInt64), own("score", DataType::Float64)];
    fields.extend(columns.fields().iter().cloned());
    fields.extend(copied.schema().fields().iter().cloned());
    let mut arrays: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|&row| row as u64 + 1))),
        Arc::new(Float64Array::from_iter_values(suggestions.iter().map(|suggestion| suggestion.score))),
    ];
    arrays.extend(columns.values(model, &pool.inputs, &model.predict_inputs(&pool.inputs, &rows)?, 0)?);
    arrays.extend(copied.columns().iter().cloned());
    let schema = Arc::new(ArrowSchema::new(fields));
    let mut writer = RowWriter::create(&Sink::new(&args.out), args.output_format, Arc::clone(&schema))?;
    writer.write(&batch(&schema, arrays))?;
    Ok(writer.finish()?)
}

/// Columns of the chosen rows that are carried along; of images their files.
fn copied(pool: &Pool, rows: &[usize]) -> Result<RecordBatch, Failure> {
    let Inputs::Images(images) = &pool.inputs else { return Ok(take_rows(&pool.passthrough, rows)?) };
    let names = &images.set().names;
    let name = |&row: &usize| names.get(row).cloned().unwrap_or_else(|| row.to_string());
    let files: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(name)));
    let schema = Arc::new(ArrowSchema::new(vec![Field::new("file", DataType::Utf8, false)]));
    Ok(batch(&schema, vec![files]))
}
