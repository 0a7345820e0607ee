//! `ign evaluate`: predictions against the truth.

use super::{Failure, Reading, Threads};
use crate::output::{self, print};
use data::{ColumnType, Source, read_columns, rows_with_targets};
use ign::{Matrix, Model};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Table with inputs and targets
    table: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    threads: Threads,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model, args.threads.start())?;
    let schema = &model.header().schema;
    let targets: Vec<String> = schema.targets.iter().map(|target| target.name.clone()).collect();
    let columns: Vec<(String, ColumnType)> = schema
        .columns()
        .into_iter()
        .chain(targets.iter().map(|name| (name.clone(), ColumnType::Number)))
        .collect();
    let options = args.reading.options(&model.header().config);
    let table = read_columns(&Source::new(&args.table), &options, &columns)?;
    let (rows, dropped) = rows_with_targets(&table, &targets)?;
    let encoded = schema.encode(&table, Some(&rows))?;
    let standardised = schema.targets(&table, Some(&rows))?;
    let y: Vec<f64> =
        standardised.iter().enumerate().map(|(i, &y)| schema.targets[i % targets.len()].restore(y)).collect();
    let prediction = model.predict(&Matrix { x: encoded.x, width: encoded.width });
    let scores = model.score(&prediction, &y);
    if args.json {
        return print(&output::scores_json(&scores).to_string());
    }
    let mut text = output::scores(&scores);
    if dropped > 0 {
        text += &format!("  {dropped} rows without a target were left out\n");
    }
    for (column, count) in encoded.unseen {
        text +=
            &format!("  column `{column}`: {count} rows hold a category that was never seen in training\n");
    }
    print(text.trim_end())
}
