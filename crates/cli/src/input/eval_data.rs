//! Inputs encoded for a model, with their observed targets: what `evaluate`, `report` and `inspect` work on.

use super::flags::{InputFlags, TableFlags};
use super::input_spec::{InputKind, is_npy};
use crate::failure::Failure;
use data::DatasetPart;
use inducing::Model;
use inducing::dataset::Schema;
use inducing::model::{EncodedData, TargetUse};
use report::{ExampleRenderer, InputSet};
use std::path::Path;

/// Which inputs to read, for which model.
pub(crate) struct EvalRequest<'a> {
    pub(crate) model: &'a Model,
    /// The model's file.
    pub(crate) file: &'a Path,
    /// A path or name.
    pub(crate) input: &'a str,
    /// Which part of a named set or of images.
    pub(crate) part: DatasetPart,
    /// A `.npy` file of targets.
    pub(crate) target: Option<&'a str>,
    pub(crate) targets: TargetUse,
    pub(crate) input_flags: &'a InputFlags,
    pub(crate) table_flags: &'a TableFlags,
}

/// All rows of some inputs.
pub(crate) fn all_rows(data: &EncodedData) -> Vec<usize> {
    (0..data.inputs.rows()).collect()
}

/// Renders single inputs.
pub(crate) fn renderer<'a>(data: &'a EncodedData, model: &'a Model) -> ExampleRenderer<'a> {
    ExampleRenderer::of_encoded(data, &model.header().schema)
}

/// Inputs for a report.
pub(crate) fn input_set<'a>(
    data: &'a EncodedData,
    rows: &'a [usize],
    examples: &'a ExampleRenderer<'a>,
    description: &str,
) -> InputSet<'a> {
    InputSet { inputs: &data.inputs, rows, examples, description: description.into() }
}

/// The kind of input that a model reads.
pub(crate) fn kind(model: &Model) -> InputKind {
    match &model.header().schema {
        Schema::Images(_) => InputKind::Images,
        Schema::Graphs(_) => InputKind::Graphs,
        Schema::Table(_) | Schema::Custom(_) => InputKind::Table,
    }
}

impl EvalRequest<'_> {
    /// Reads and encodes.
    pub(crate) fn read(&self) -> Result<EncodedData, Failure> {
        let (inputs, expected) = ([self.input.to_owned()], kind(self.model));
        if expected == InputKind::Images && self.input_flags.recognise(&inputs)? != InputKind::Images {
            return Err(Failure::Usage(format!(
                "{} reads images, and {} has none\nhint: name a folder of images or a named set",
                self.file.display(),
                self.input
            )));
        }
        let mut data = self.input_flags.for_model(&inputs, expected, self.table_flags, self.part)?;
        if let (Some(file), InputKind::Table) = (self.target, expected) {
            if !Path::new(file).exists() {
                return Err(Failure::Usage(format!(
                    "there is no file {file}\nhint: `--target` names a .npy file of the targets"
                )));
            }
            if !is_npy(file) {
                return Err(Failure::Usage(format!(
                    "`--target {file}` is not a .npy file\nhint: {} was trained on target columns; without `--target` these are read from the input",
                    self.file.display()
                )));
            }
            let (name, column) = data::read_npy_column(Path::new(file))?;
            data = data.with_target_column(&name, column);
        }
        Ok(self.model.encode_data(&data, self.targets)?)
    }
}
