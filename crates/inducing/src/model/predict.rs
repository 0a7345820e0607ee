//! Predictions of data sets: what was named is read as the model's schema asks for it.

use super::input_check::unseen_notes;
use super::{Model, Predictions, RegressionBatch};
use crate::dataset::{Dataset, Images, Inputs, Loaded, Origin, Schema, conform_images};
use crate::error::Error;
use crate::explain::Observed;
use data::{ImageOptions, Notice, ReadOptions, TableSchema, TargetValues};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Inputs as a model reads them, with what is known of them.
#[derive(Debug)]
#[non_exhaustive]
pub struct EncodedData {
    /// The inputs.
    pub inputs: Inputs,
    /// What was observed, where it was asked for.
    pub observed: Option<Observed>,
    /// The data set as it was read, for people to look at.
    pub data: Dataset,
    /// Rows of the table that the inputs are made of; `None` for all.
    pub rows: Option<Vec<usize>>,
    /// For each column of categories, rows whose category never was in training.
    pub unseen: BTreeMap<String, usize>,
    /// What the user should know of rows.
    pub notes: Vec<String>,
    /// What the user should know of files.
    pub file_notes: Vec<String>,
}

/// Whether the targets must be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetUse {
    /// Rows without them are left out; an error where there are none.
    Needed,
    /// They are read where they are there, for people to look at.
    IfPresent,
    /// They are not read.
    Ignored,
}

impl Model {
    /// Predicts all rows of a data set, in memory. [`stream`](Self::stream) takes any number of rows.
    pub fn predict(&self, data: &Dataset) -> Result<Predictions, Error> {
        let encoded = self.encode_data(data, TargetUse::Ignored)?;
        let rows: Vec<usize> = (0..encoded.inputs.rows()).collect();
        self.predict_inputs(&encoded.inputs, &rows)
    }

    /// Predicts some rows of inputs that are encoded already.
    pub fn predict_inputs(&self, inputs: &Inputs, rows: &[usize]) -> Result<Predictions, Error> {
        Ok(match self.header().schema.classes() {
            Some(classes) => Predictions::classification(self.predict_classes(inputs, rows)?, classes),
            None => self.named(self.predict_numbers(inputs, rows)?),
        })
    }

    pub(crate) fn named(&self, batch: RegressionBatch) -> Predictions {
        Predictions::regression(batch, &self.header().schema.target_names())
    }

    /// Reads a data set as this model's schema asks for it.
    pub fn encode_data(&self, data: &Dataset, targets: TargetUse) -> Result<EncodedData, Error> {
        match &self.header().schema {
            Schema::Table(schema) => self.encode_table(data, schema, targets),
            Schema::Images(schema) => {
                let set = match (data.loaded(), data.origin()) {
                    (Some(Loaded::Images(set)), _) => Arc::clone(set),
                    (None, Origin::Images { source, options }) => {
                        let read = |need_labels: bool| {
                            let own = schema.options();
                            let options = ImageOptions {
                                size: options.size.or(own.size),
                                part: options.part,
                                skip_unreadable: options.skip_unreadable || own.skip_unreadable,
                                need_labels,
                                ..own
                            };
                            data::read_images(source, &options, None)
                        };
                        let (set, notices) = match targets {
                            TargetUse::Needed => read(true)?,
                            TargetUse::IfPresent => read(true).or_else(|_| read(false))?,
                            TargetUse::Ignored => read(false)?,
                        };
                        return self.encode_images(Arc::new(set), schema, targets, notices);
                    }
                    _ => return Err(wrong_kind("images", data)),
                };
                self.encode_images(set, schema, targets, Vec::new())
            }
            Schema::Graphs(schema) => {
                let (set, notices) = match (data.loaded(), data.origin()) {
                    (Some(Loaded::Graphs(set)), _) => (set.as_ref().clone(), Vec::new()),
                    (None, Origin::Graphs { source }) => match targets {
                        TargetUse::Needed => data::read_graphs(source, true)?,
                        TargetUse::IfPresent => {
                            data::read_graphs(source, true).or_else(|_| data::read_graphs(source, false))?
                        }
                        TargetUse::Ignored => data::read_graphs(source, false)?,
                    },
                    _ => return Err(wrong_kind("graphs", data)),
                };
                let set = if targets == TargetUse::Needed { set } else { set.unlabelled() };
                let set = schema.conform(set)?;
                let observed = set.labels.clone().filter(|_| targets == TargetUse::Needed);
                let data = Dataset::from_graphs(set.clone());
                Ok(EncodedData {
                    inputs: Inputs::graphs(set, schema)?,
                    observed: observed.map(Observed::Classes),
                    data,
                    rows: None,
                    unseen: BTreeMap::new(),
                    notes: Vec::new(),
                    file_notes: notices.iter().map(Notice::to_string).collect(),
                })
            }
            Schema::Custom(_) => match data.loaded() {
                Some(Loaded::Custom(custom)) => Ok(EncodedData {
                    inputs: custom.inputs.clone(),
                    observed: None,
                    data: data.clone(),
                    rows: None,
                    unseen: BTreeMap::new(),
                    notes: Vec::new(),
                    file_notes: Vec::new(),
                }),
                _ => Err(wrong_kind("inputs of its custom encoder", data)),
            },
        }
    }

    fn encode_images(
        &self,
        set: Arc<data::ImageSet>,
        schema: &data::ImageSchema,
        targets: TargetUse,
        notices: Vec<Notice>,
    ) -> Result<EncodedData, Error> {
        let set = match targets {
            TargetUse::Needed => set,
            _ if set.labels.is_none() => set,
            _ => Arc::new(Arc::unwrap_or_clone(set).unlabelled()),
        };
        let set = conform_images(schema, &set)?;
        let observed = match targets {
            TargetUse::Needed => Some(Observed::Classes(set.labels.clone().unwrap_or_default())),
            _ => None,
        };
        Ok(EncodedData {
            inputs: Inputs::Images(Images::new(Arc::clone(&set), schema, false)),
            observed,
            data: Dataset::from_shared_images(set),
            rows: None,
            unseen: BTreeMap::new(),
            notes: Vec::new(),
            file_notes: notices.iter().map(Notice::to_string).collect(),
        })
    }

    fn encode_table(
        &self,
        data: &Dataset,
        schema: &TableSchema,
        targets: TargetUse,
    ) -> Result<EncodedData, Error> {
        let read = |with_targets: bool| match (data.loaded(), data.origin()) {
            (Some(Loaded::Table(table)), _) => Ok(Arc::clone(table)),
            (None, Origin::Table { source, options }) => {
                let (mut columns, targets) = (schema.columns(), schema.targets.columns());
                let options = self.read_options(options);
                if let (Some(column), [(name, _)]) = (data.target_column(), &targets[..]) {
                    let table = data::read_columns(source, &options, &columns)?;
                    return Ok(Arc::new(table.with_column(name, column.clone())?));
                }
                if with_targets {
                    columns.extend(targets);
                }
                Ok(Arc::new(data::read_columns(source, &options, &columns)?))
            }
            _ => Err(wrong_kind("rows of a table", data)),
        };
        let once = matches!(data.origin(), Origin::Table { source, .. } if source.is_read_once());
        let table = match targets {
            TargetUse::Needed => read(true)?,
            TargetUse::Ignored => read(false)?,
            TargetUse::IfPresent => match read(true) {
                Err(_) if !once => read(false)?,
                table => table?,
            },
        };
        let mut notes = Vec::new();
        let rows = if targets == TargetUse::Needed {
            let (rows, dropped) = data::rows_with_targets(&table, &schema.targets.names())?;
            if dropped > 0 {
                let rows = if dropped == 1 { "1 row".to_owned() } else { format!("{dropped} rows") };
                notes.push(format!("skipped {rows} without a target"));
            }
            Some(rows)
        } else {
            None
        };
        let mut encoded = schema.encode(&table, rows.as_deref())?;
        let unseen = std::mem::take(&mut encoded.unseen);
        notes.extend(unseen_notes(&unseen));
        let observed = match targets {
            TargetUse::Needed => Some(match schema.targets(&table, rows.as_deref())? {
                TargetValues::Numbers(y) => {
                    let numbers = schema.targets.numbers();
                    let restored = y.iter().enumerate().map(|(i, &y)| numbers[i % numbers.len()].restore(y));
                    Observed::Numbers(restored.collect())
                }
                TargetValues::Classes(labels) => Observed::Classes(labels.into_iter().flatten().collect()),
            }),
            _ => None,
        };
        Ok(EncodedData {
            inputs: encoded.into(),
            observed,
            data: Dataset::from_shared_table(table),
            rows,
            unseen,
            notes,
            file_notes: Vec::new(),
        })
    }

    /// Reading options with what the model's configuration says of cells and columns, and its schema of dates.
    pub(crate) fn read_options(&self, given: &ReadOptions) -> ReadOptions {
        let options = self.header().config.data.read_options(given);
        match &self.header().schema {
            Schema::Table(schema) => schema.read_options(options),
            _ => options,
        }
    }
}

fn wrong_kind(expected: &str, data: &Dataset) -> Error {
    Error::inputs(format!("{expected} in {}", data.name()), data.describe())
}
