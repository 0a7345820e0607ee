//! Predictions as columns of a file: tables as a stream in constant memory, images and graphs at once.

use crate::failure::Failure;
use crate::input::eval_data::kind;
use crate::input::flags::{InputFlags, TableFlags};
use crate::input::input_spec::InputKind;
use crate::signals;
use data::arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use data::arrow_schema::{DataType, Field, Schema as ArrowSchema};
use data::{DatasetPart, Format, RecordBatch, RowWriter, Sink};
use inducing::dataset::Inputs;
use inducing::model::{ClassificationBatch, Predictions, RegressionBatch, TargetUse};
use inducing::{Dataset, Model};
use std::path::Path;
use std::sync::Arc;

/// What to predict with which model, and where to write it.
pub(crate) struct PredictRequest<'a> {
    pub(crate) model: &'a Model,
    /// The model's file.
    pub(crate) file: &'a Path,
    pub(crate) inputs: &'a [String],
    /// A path, or `-`.
    pub(crate) out: &'a str,
    pub(crate) output_format: Option<Format>,
    /// Columns of the input to copy.
    pub(crate) keep: &'a [String],
    pub(crate) columns: Columns,
    pub(crate) input_flags: &'a InputFlags,
    pub(crate) table_flags: &'a TableFlags,
}

/// What was predicted.
pub(crate) struct Predicted {
    pub(crate) rows: usize,
    /// What the user should know about the inputs.
    pub(crate) notes: Vec<String>,
}

impl PredictRequest<'_> {
    /// Reads, predicts and writes.
    pub(crate) fn run(&self) -> Result<Predicted, Failure> {
        let kind = kind(self.model);
        let what = match kind {
            InputKind::Images => "images",
            InputKind::Graphs => "one set of graphs",
            _ => "rows of one table",
        };
        if kind == InputKind::Images && self.input_flags.recognise(self.inputs)? != InputKind::Images {
            return Err(Failure::Usage(format!(
                "{} predicts images, and {} has none\nhint: name image files, a folder of them, or a named set",
                self.file.display(),
                self.inputs.join(", ")
            )));
        }
        if kind != InputKind::Images && self.inputs.len() > 1 {
            return Err(Failure::Usage(format!(
                "{} predicts {what}, and {} were named\nhint: name one",
                self.file.display(),
                self.inputs.len()
            )));
        }
        match kind {
            InputKind::Images => self.refuse_keep("images", "the file's name")?,
            InputKind::Graphs => self.refuse_keep("graphs", "the graph's number")?,
            _ => {}
        }
        let data = self.input_flags.for_model(self.inputs, kind, self.table_flags, DatasetPart::Test)?;
        match kind {
            InputKind::Images | InputKind::Graphs => self.at_once(&data),
            _ => self.stream(&data),
        }
    }

    fn stream(&self, data: &Dataset) -> Result<Predicted, Failure> {
        let mut stream = self.model.stream(data, &distinct(self.keep))?.stop_when(signals::stop_requested);
        let (mut writer, output) = self.writer(stream.passthrough_schema().fields().to_vec())?;
        let mut rows = 0;
        signals::watch("nothing is written");
        for block in stream.by_ref() {
            let block = block?;
            let values = self.columns.values(self.model, &block.predictions);
            let arrays: Vec<ArrayRef> = block.passthrough.columns().iter().cloned().chain(values).collect();
            writer.write(&batch(&output, arrays))?;
            rows += block.predictions.len();
        }
        writer.finish()?;
        Ok(Predicted { rows, notes: stream.notes() })
    }

    /// Inputs that are in memory as a whole, each named by a first column.
    fn at_once(&self, data: &Dataset) -> Result<Predicted, Failure> {
        let encoded = self.model.encode_data(data, TargetUse::Ignored)?;
        let rows = encoded.inputs.rows();
        let (first, names): (Field, ArrayRef) = match &encoded.inputs {
            Inputs::Images(images) => {
                let name = |i: usize| images.set().names.get(i).cloned().unwrap_or_else(|| i.to_string());
                let names = StringArray::from_iter_values((0..rows).map(name));
                (Field::new("file", DataType::Utf8, false), Arc::new(names))
            }
            _ => {
                let numbers = UInt64Array::from_iter_values(1..=rows as u64);
                (Field::new("graph", DataType::UInt64, false), Arc::new(numbers))
            }
        };
        let (mut writer, output) = self.writer(vec![Arc::new(first)])?;
        let predictions = self.model.predict_inputs(&encoded.inputs, &(0..rows).collect::<Vec<_>>())?;
        let values = self.columns.values(self.model, &predictions);
        writer.write(&batch(&output, std::iter::once(names).chain(values).collect()))?;
        writer.finish()?;
        Ok(Predicted { rows, notes: encoded.file_notes })
    }

    fn refuse_keep(&self, what: &str, instead: &str) -> Result<(), Failure> {
        if self.keep.is_empty() {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "{what} have no columns to keep\nhint: leave `--keep` out; {instead} is always there"
        )))
    }

    /// A writer of the predicted columns after others.
    fn writer(&self, others: Vec<Arc<Field>>) -> Result<(RowWriter, Arc<ArrowSchema>), Failure> {
        let fields: Vec<Arc<Field>> = others.into_iter().chain(self.columns.fields.iter().cloned()).collect();
        let output = Arc::new(ArrowSchema::new(fields));
        let writer = RowWriter::create(&Sink::new(self.out), self.output_format, Arc::clone(&output))?;
        Ok((writer, output))
    }
}

pub(crate) fn batch(schema: &Arc<ArrowSchema>, arrays: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(Arc::clone(schema), arrays).expect("the columns were made for this schema")
}

/// Each value once, in the order of its first appearance.
pub(crate) fn distinct<T: PartialEq + Clone>(values: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for value in values {
        if !kept.contains(value) {
            kept.push(value.clone());
        }
    }
    kept
}

/// The columns that a prediction adds, with names that stay distinct for several targets.
pub(crate) struct Columns {
    pub(crate) fields: Vec<Arc<Field>>,
    intervals: Vec<f64>,
    quantiles: Vec<f64>,
    /// Values of each target at which its density is given.
    grids: Vec<Vec<f64>>,
}

impl Columns {
    pub(crate) fn new(
        model: &Model,
        intervals: &[f64],
        quantiles: &[f64],
        density: usize,
        keep: &[String],
    ) -> Self {
        let schema = &model.header().schema;
        let (intervals, quantiles) = (distinct(intervals), distinct(quantiles));
        let mut names = Vec::new();
        if let Some(classes) = schema.classes() {
            names.push("label".to_owned());
            for prefix in ["p", "latent_mean", "latent_std"] {
                names.extend(classes.iter().map(|class| format!("{prefix}_{class}")));
            }
        }
        if schema.classes().is_some() && model.keeps_rows() {
            names.push("familiarity".into());
        }
        let mut grids = Vec::new();
        for (k, target) in schema.numbers().iter().enumerate() {
            let grid = model.target_grid(k, density);
            let prefix = if schema.outputs() == 1 { String::new() } else { format!("{}_", target.name) };
            let mut own: Vec<String> = ["mean", "std", "std_latent"].map(str::to_owned).to_vec();
            own.extend(model.keeps_rows().then(|| "familiarity".to_owned()));
            for &level in &intervals {
                own.extend([format!("lower_{}", percent(level)), format!("upper_{}", percent(level))]);
            }
            own.extend(quantiles.iter().map(|&p| format!("q{}", percent(p))));
            own.extend(grid.iter().map(|y| format!("density_{y}")));
            grids.push(grid);
            names.extend(own.into_iter().map(|name| format!("{prefix}{name}")));
        }
        let field = |(k, name): (usize, String)| {
            let text = k == 0 && schema.classes().is_some();
            // A copied column keeps its name; ours is renamed.
            let name = if keep.contains(&name) { format!("{name}_predicted") } else { name };
            Arc::new(Field::new(name, if text { DataType::Utf8 } else { DataType::Float64 }, false))
        };
        Self { fields: names.into_iter().enumerate().map(field).collect(), intervals, quantiles, grids }
    }

    pub(crate) fn values(&self, model: &Model, predictions: &Predictions) -> Vec<ArrayRef> {
        let classes = model.header().schema.classes().unwrap_or_default();
        let classified = predictions.as_classification().map(|batch| class_values(batch, classes));
        let numbers = || predictions.as_regression().map(|batch| self.number_values(model, batch));
        classified.or_else(numbers).unwrap_or_default()
    }

    fn number_values(&self, model: &Model, prediction: &RegressionBatch) -> Vec<ArrayRef> {
        let c = model.outputs();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for output in 0..c {
            let column = |values: &[f64]| values.iter().skip(output).step_by(c).copied().collect::<Vec<_>>();
            let densities = || prediction.density.iter().skip(output).step_by(c);
            let quantiles = |p: f64| densities().map(|density| density.quantile(p)).collect::<Vec<_>>();
            let mut push = |values: Vec<f64>| arrays.push(Arc::new(Float64Array::from(values)) as ArrayRef);
            push(column(&prediction.mean));
            push(column(&prediction.std));
            push(column(&prediction.std_latent));
            if !prediction.familiarity.is_empty() {
                push(column(&prediction.familiarity));
            }
            for &level in &self.intervals {
                push(quantiles(0.5 - level / 2.0));
                push(quantiles(0.5 + level / 2.0));
            }
            for &p in &self.quantiles {
                push(quantiles(p));
            }
            for &y in &self.grids[output] {
                push(densities().map(|density| density.pdf(y)).collect());
            }
        }
        arrays
    }
}

fn class_values(prediction: &ClassificationBatch, classes: &[String]) -> Vec<ArrayRef> {
    let k = classes.len();
    let labels = StringArray::from_iter_values(prediction.labels().map(|class| &classes[class]));
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(labels)];
    for values in [&prediction.p, &prediction.latent_mean, &prediction.latent_std] {
        for class in 0..k {
            let column = values.iter().skip(class).step_by(k).copied();
            arrays.push(Arc::new(Float64Array::from_iter_values(column)));
        }
    }
    if !prediction.familiarity.is_empty() {
        arrays.push(Arc::new(Float64Array::from(prediction.familiarity.clone())));
    }
    arrays
}

/// 0.95 → `95`, 0.025 → `2.5`.
fn percent(p: f64) -> String {
    let text = format!("{:.12}", 100.0 * p);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
