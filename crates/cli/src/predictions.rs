//! Predictions as columns of a file: tables as a stream in constant memory, images and graphs at once.

use crate::failure::Failure;
use crate::input::eval_data::kind;
use crate::input::flags::{InputFlags, TableFlags};
use crate::input::input_spec::InputKind;
use crate::signals;
use data::arrow_array::{ArrayRef, StringArray, UInt64Array};
use data::arrow_schema::{DataType, Field, Schema as ArrowSchema};
use data::{DatasetPart, Format, RecordBatch, RowWriter, Sink};
use inducing::dataset::Inputs;
use inducing::model::{InputCheck, PredictionColumns, TargetUse};
use inducing::{Dataset, Model};
use std::path::Path;
use std::sync::Arc;

/// What to predict with which model, and where to write it.
#[derive(Clone, Copy)]
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
    pub(crate) columns: &'a PredictionColumns,
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
        let mut stream = self.model.stream(data, self.keep)?.stop_when(signals::stop_requested);
        let (mut writer, output) = self.writer(stream.passthrough_schema().fields().to_vec())?;
        let mut rows = 0;
        signals::watch("nothing is written");
        for block in stream.by_ref() {
            let block = block?;
            let values =
                self.columns.values(self.model, &block.inputs, &block.predictions, block.first_row)?;
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
        let values = self.columns.values(self.model, &encoded.inputs, &predictions, 0)?;
        writer.write(&batch(&output, std::iter::once(names).chain(values).collect()))?;
        writer.finish()?;
        let mut check = InputCheck::new(self.model);
        check.add(&encoded.inputs, &encoded.unseen, &predictions);
        let checked = check.notes().into_iter().map(|note| note.to_string());
        Ok(Predicted { rows, notes: encoded.file_notes.into_iter().chain(checked).collect() })
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
        let fields: Vec<Arc<Field>> =
            others.into_iter().chain(self.columns.fields().iter().cloned()).collect();
        let output = Arc::new(ArrowSchema::new(fields));
        let writer = RowWriter::create(&Sink::new(self.out), self.output_format, Arc::clone(&output))?;
        Ok((writer, output))
    }
}

pub(crate) fn batch(schema: &Arc<ArrowSchema>, arrays: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(Arc::clone(schema), arrays).expect("the columns were made for this schema")
}
