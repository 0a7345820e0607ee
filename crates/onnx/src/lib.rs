//! Models as ONNX: graphs of standard operators that compute the predictions of `ign predict` without this program.
//!
//! [`export`] is the only way in. A graph reads raw cells of a table, bytes of images or encoded numbers, and has everything in it that a
//! prediction needs: the networks, the processes on inducing points, the kept training rows with the search for the nearest of them, the
//! mixture and its quantiles. docs/onnx.md has the names of inputs and outputs; docs/model-file.md the formulas, which the files here cite.
//!
//! ```no_run
//! use onnx_export::{ExportOptions, export};
//! let model = inducing::Model::load("price.ign")?;
//! std::fs::write("price.onnx", export(&model, &ExportOptions::default())?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod absent;
mod classes;
mod cnn;
mod dates;
mod error;
mod feature_stack;
mod graph;
mod head;
mod inputs;
mod interpolation;
mod kept;
mod local;
mod mixture;
mod mlp;
mod nearest;
mod network;
mod normal;
mod numbers;
mod ops;
mod process;
mod protobuf;
mod scale;
mod stack;
mod table;
mod tensors;

pub use error::ExportError;
pub use inputs::InputForm;

use absent::process_of_inputs;
use classes::Classes;
use graph::{Graph, Value};
use head::Head;
use inducing::Model;
use kept::Kept;
use numbers::Numbers;
use tensors::Tensors;

/// Rows that pass together where kept rows are searched: their distances from all of them take memory.
const BLOCK: i64 = 128;
/// Where a file of protobuf ends.
const LARGEST: usize = i32::MAX as usize;

/// What to export.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportOptions {
    /// Probabilities of the quantiles that are computed of numbers; none for classes.
    pub quantiles: Vec<f64>,
    /// What the graph reads.
    pub inputs: InputForm,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { quantiles: vec![0.05, 0.5, 0.95], inputs: InputForm::Columns }
    }
}

/// The bytes of an ONNX file that predicts what the model predicts.
///
/// Everything is computed in the precision in which the program computes it. An error where inputs are texts, graphs or those of a custom
/// encoder, which ONNX's standard operators cannot read.
pub fn export(model: &Model, options: &ExportOptions) -> Result<Vec<u8>, ExportError> {
    let header = model.header();
    if let Some(p) = options.quantiles.iter().find(|p| !(**p > 0.0 && **p < 1.0)) {
        return Err(ExportError::Option {
            problem: format!("quantiles lie between 0 and 1, and {p} does not"),
            hint: "choose others, for example 0.05,0.5,0.95".into(),
        });
    }
    let names = inputs::names(&header.schema, &header.encoder, options.inputs)?;
    let (mut graph, tensors) = (Graph::new(&names), Tensors::new(model));
    let graph = &mut graph;
    let read = inputs::read(graph, header, options.inputs)?;
    let kept = Kept::new(graph, model, &tensors);
    let head = if header.schema.classes().is_some() {
        Head::Classes(Classes::new(graph, header, &tensors, kept.as_ref())?)
    } else {
        Head::Numbers(Numbers::new(graph, header, &tensors, kept.as_ref(), &options.quantiles)?)
    };
    let donors = process_of_inputs(header).zip(kept.as_ref());
    let shares = match (&read.absent, donors) {
        (Some(absent), None) => Some(absent.shares(graph)),
        _ => None,
    };
    let mut said = match &kept {
        None => {
            let x = read.numbers(graph, read.rows);
            head.say(graph, header, x, shares)?
        }
        Some(_) => in_blocks(graph, read.rows, shares, head.width(), |graph, rows, shares| {
            let x = read.numbers(graph, rows);
            head.say(graph, header, x, shares)
        })?,
    };
    if let (Some(absent), Some((process, kept))) = (&read.absent, donors) {
        said = absent.complete(graph, &head, process, kept, read.rows, said)?;
    }
    head.outputs(graph, header, said);
    if !options.quantiles.is_empty() && header.schema.classes().is_none() {
        let list: Vec<String> = options.quantiles.iter().map(f64::to_string).collect();
        graph.property("quantiles", list.join(","));
    }
    let bytes = std::mem::replace(graph, Graph::new(&[])).finish(&header.ign_version);
    if bytes.len() > LARGEST { Err(ExportError::TooLarge(bytes.len())) } else { Ok(bytes) }
}

/// What `say` says `[N, W]` of all rows, a block of them at a time.
fn in_blocks(
    graph: &mut Graph,
    rows: Value,
    shares: Option<Value>,
    width: usize,
    say: impl FnOnce(&mut Graph, Value, Option<Value>) -> Result<Value, ExportError>,
) -> Result<Value, ExportError> {
    let count = graph.size(rows, 0);
    let count = graph.reshape(count, &[]);
    let more = graph.plus(count, (BLOCK - 1) as f64);
    let trips = graph.over(more, BLOCK as f64);
    let none = graph.f64s(&[0, width], &[]);
    let mut failure = None;
    let [said] = graph.repeat(trips, [none], |graph, i, [done]| {
        let i = graph.reshape(i, &[1]);
        let start = graph.times(i, BLOCK as f64);
        let end = graph.plus(start, BLOCK as f64);
        let axis = graph.list(&[0]);
        let mut block = |all: Value| graph.node("Slice", &[all, start, end, axis], Vec::new(), all.ty);
        let (rows, shares) = (block(rows), shares.map(&mut block));
        match say(graph, rows, shares) {
            Ok(said) => [graph.concat(&[done, said], 0)],
            Err(error) => {
                failure = Some(error);
                [done]
            }
        }
    });
    failure.map_or(Ok(said), Err)
}
