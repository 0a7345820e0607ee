//! `ign export`: a model as an ONNX graph, for programs that predict without this one.

use crate::failure::Failure;
use crate::input::flags::probability;
use crate::output_file::{check_not_input, check_writable};
use crate::ui::output::note;
use data::write_atomically;
use inducing::Model;
use onnx::{ExportOptions, InputForm, export};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Where to write the ONNX file
    #[arg(long, value_name = "FILE")]
    onnx: PathBuf,
    /// Quantiles of numbers that the graph computes; none with `--quantiles ''` [default: 0.05,0.5,0.95]
    #[arg(long, value_delimiter = ',', value_parser = quantile)]
    quantiles: Option<Vec<Option<f64>>>,
    /// One input `array` with a column for each of the table, which has numbers alone
    #[arg(long, conflicts_with = "features")]
    array: bool,
    /// One input `features` of encoded numbers, as docs/model-file.md says, section 5
    #[arg(long)]
    features: bool,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

/// A probability, or nothing.
fn quantile(text: &str) -> Result<Option<f64>, String> {
    if text.trim().is_empty() { Ok(None) } else { probability(text).map(Some) }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    check_not_input(&args.onnx, &[&args.model])?;
    check_writable(&args.onnx)?;
    let of_classes = model.header().schema.classes().is_some();
    if of_classes && args.quantiles.is_some() {
        return Err(Failure::Usage(
            "classes have no quantiles\nhint: leave `--quantiles` out; every class has a probability".into(),
        ));
    }
    let mut options = ExportOptions::default();
    if let Some(quantiles) = &args.quantiles {
        options.quantiles = quantiles.iter().copied().flatten().collect();
    }
    options.inputs = match (args.array, args.features) {
        (true, _) => InputForm::Array,
        (_, true) => InputForm::Features,
        _ => InputForm::Columns,
    };
    let bytes = export(&model, &options).map_err(|error| Failure::Usage(error.to_string()))?;
    write_atomically(&args.onnx, |file| file.write_all(&bytes))?;
    if !args.quiet {
        if model.keeps_rows() {
            note("training rows are in the file, as they are in the model");
        }
        eprintln!("{}: {:.1} MB", args.onnx.display(), bytes.len() as f64 / 1e6);
    }
    Ok(())
}
