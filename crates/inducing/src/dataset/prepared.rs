//! From a table, images, graphs or custom inputs to numbers: rows assigned to parts, schema fitted on the
//! training part alone, and the network that suits them.

mod check;
mod parts;
mod roles;
mod shape;
mod start;
mod target_scale;

use super::custom::{CustomSchema, CustomShape, EncoderFactory, Labels};
use super::inputs::{Images, Inputs, conform_images};
use super::schema::Schema;
use super::source::{Custom, Dataset, Loaded};
use super::stream::{RowStream, Streamed};
use super::suspicion::{rare_classes, repeated_rows, suspicions};
use crate::config::{ClassWeights, Config, Multiclass, Share};
use crate::error::Error;
use crate::explain::Observed;
use crate::train::Targets;
use check::refusal;
use data::{
    EncodeOptions, GraphSchema, GraphSet, ImageSchema, ImageSet, Notice, Related, Table, TableSchema, Target,
    TargetValues, Task,
};
use parts::parts;
use roles::{left_out, related, row_weights};
use std::sync::Arc;

/// Data made ready.
#[derive(Debug)]
pub struct Prepared {
    /// How an input becomes numbers.
    pub schema: Schema,
    /// What the user should know.
    pub notices: Vec<Notice>,
    pub(crate) inputs: Inputs,
    pub(crate) values: Values,
    pub(crate) train: Vec<usize>,
    pub(crate) validation: Vec<usize>,
    pub(crate) test: Vec<usize>,
    /// What relates rows of a table.
    pub(crate) related: Related,
    /// Weight of each row, one on average over the training rows; empty where all are one.
    pub(crate) row_weights: Vec<f64>,
    class_weights: Vec<f64>,
    custom_shape: Option<CustomShape>,
    pub(crate) factory: Option<EncoderFactory>,
    /// Training rows that are not in memory.
    pub(crate) stream: Option<Arc<RowStream>>,
}

/// What is learned about each row.
#[derive(Debug)]
pub(crate) enum Values {
    /// Standardised, row-major `[N, C]`.
    Numbers(Vec<f32>),
    /// Class of each row; of rows without one, any.
    Classes(Vec<u32>),
}

impl Values {
    /// Those of some rows, of `c` numbers each.
    pub(crate) fn select(&self, rows: &[usize], c: usize) -> Self {
        match self {
            Self::Numbers(y) => {
                Self::Numbers(rows.iter().flat_map(|&row| &y[row * c..][..c]).copied().collect())
            }
            Self::Classes(labels) => Self::Classes(rows.iter().map(|&row| labels[row]).collect()),
        }
    }
}

/// A standardised target ends here, so that one wild cell stays finite in 32 bits and in squares of it.
pub(crate) const WILDEST: f64 = 1e6;

impl Prepared {
    /// Splits and encodes what there is to learn from.
    pub(crate) fn new(data: &Dataset, config: &Config) -> Result<Self, Error> {
        config.validate()?;
        let prepared = match data.load()? {
            Loaded::Table(table) => {
                let mut prepared = Self::table(table, config)?;
                if let Some(streamed) = data.streamed() {
                    prepared.stream = Some(Arc::new(prepared.rest(streamed.clone(), table, config)?));
                }
                prepared
            }
            Loaded::Images(set) => Self::images(set, config)?,
            Loaded::Graphs(set) => Self::graphs(set, config)?,
            Loaded::Custom(custom) => Self::custom(custom, data.targets(), config)?,
        };
        prepared.check(config)?;
        Ok(prepared)
    }

    fn table(table: &Table, config: &Config) -> Result<Self, Error> {
        let targets = &config.data.target;
        let (rows, dropped) = data::rows_with_targets(table, targets)?;
        let task = match config.data.task {
            Some(task) => task,
            None => data::recognise_task(table, targets)?.0,
        };
        let classes = match (task, &targets[..]) {
            (Task::Classification, [target]) => {
                Some(data::class_codes(table, target)?.into_iter().map(|class| class.unwrap_or(0)).collect())
            }
            _ => None,
        };
        let related = related(table, &rows, &config.data)?;
        let parts = parts(&rows, classes, &related, config);
        let earlier_rows = left_out(&related, &rows, &parts, &config.data)?;
        let [mut train, mut validation, test] = parts;
        if config.data.folds > 0 && test.is_empty() {
            let (fold, folds) = (config.data.fold + 1, config.data.folds);
            return Err(refusal(&format!(
                "fold {fold} of {folds} has no rows: there are fewer groups or times than folds\nhint: lower `--folds`"
            )));
        }
        let row_weights = row_weights(table, &train, &config.data)?;
        // A row of no weight is as if it were not there.
        for part in [&mut train, &mut validation] {
            part.retain(|&row| row_weights.get(row).is_none_or(|weight| *weight > 0.0));
        }
        let mut suspicions = suspicions(table, &train, &config.data);
        suspicions.exclude.extend(config.data.excluded());
        let options = EncodeOptions {
            scaling: config.data.scaling,
            discrete_levels: config.data.discrete_levels,
            max_categories: config.data.max_categories,
            missing_indicator: true,
            text: config.data.text.clone(),
            exclude: suspicions.exclude,
        };
        let (mut schema, mut notices) = TableSchema::fit(table, targets, Some(task), &train, &options)?;
        notices.extend(earlier_rows);
        notices.extend(suspicions.notices);
        if dropped > 0 {
            notices.insert(0, Notice::RowsWithoutTargetDropped { count: dropped });
        }
        if let Some(classes) = schema.targets.classes() {
            notices.extend(rare_classes(&classes.levels, &classes.counts));
        }
        let encoded = schema.encode(table, None)?;
        if let Target::Numbers(columns) = &mut schema.targets {
            for column in columns {
                let matrix = target_scale::Encoded { x: &encoded.x, width: encoded.width };
                let (scaled, more) = target_scale::scaled(column, table, &train, matrix, &config.data)?;
                *column = scaled;
                notices.extend(more);
            }
        }
        let targets = targets_of(&schema, table, &row_weights)?;
        notices.extend(repeated_rows(&encoded.x, &targets, [&train, &test]));
        let values = match targets {
            TargetValues::Numbers(y) => {
                Values::Numbers(y.into_iter().map(|y| y.clamp(-WILDEST, WILDEST) as f32).collect())
            }
            TargetValues::Classes(labels) => {
                Values::Classes(labels.into_iter().map(|label| label.unwrap_or(0)).collect())
            }
        };
        let inputs = encoded.into();
        let parts = [train, validation, test];
        let mut prepared = Self::unchecked(Schema::Table(schema), notices, inputs, values, parts, config);
        (prepared.related, prepared.row_weights) = (related, row_weights);
        Ok(prepared)
    }

    /// The training rows beside the sample.
    fn rest(&self, streamed: Streamed, sample: &Table, config: &Config) -> Result<RowStream, Error> {
        let Some(schema) = self.schema.table() else { unreachable!("only tables are streamed") };
        let related = config.data.time_column.as_ref().or(config.data.group.as_ref());
        if let Some(column) = related {
            return Err(refusal(&format!(
                "parts by `{column}` need the whole table in memory\nhint: raise `--memory`, or leave times and groups out"
            )));
        }
        if config.data.folds > 0
            || (config.gp.multiclass == Multiclass::Independent && self.schema.class_counts().len() > 2)
        {
            return Err(refusal(
                "cross-validation and one network for each class need the whole table in memory\nhint: raise `--memory`",
            ));
        }
        let mut weight = None;
        if let Some(name) = &config.data.weight
            && let data::Column::Number(weights) = sample.column(name)?
            && let Some(&row) = self.train.first()
        {
            weight = Some((name.clone(), weights[row] / self.row_weights[row]));
        }
        let networks = self.members(config).len().max(1);
        let lanes = streamed.lanes(config.train.accumulate_batches);
        Ok(RowStream::new(streamed, sample.rows(), schema.clone(), weight, (networks, lanes)))
    }

    fn images(set: &Arc<ImageSet>, config: &Config) -> Result<Self, Error> {
        let rows: Vec<usize> = (0..set.len()).collect();
        let parts = parts(&rows, set.labels.clone(), &Related::Nothing, config);
        let (schema, notices) = ImageSchema::fit(set, &parts[0])?;
        let set = conform_images(&schema, set)?;
        let values = Values::Classes(set.labels.clone().unwrap_or_default());
        let inputs = Inputs::Images(Images::new(set, &schema, config.encoder.augment));
        Ok(Self::unchecked(Schema::Images(schema), notices, inputs, values, parts, config))
    }

    fn graphs(set: &Arc<GraphSet>, config: &Config) -> Result<Self, Error> {
        let rows: Vec<usize> = (0..set.len()).collect();
        let parts = parts(&rows, set.labels.clone(), &Related::Nothing, config);
        let (schema, notices) = GraphSchema::fit(set, &parts[0], &config.data.graph)?;
        let set = schema.conform(set.as_ref().clone())?;
        let values = Values::Classes(set.labels.clone().unwrap_or_default());
        let inputs = Inputs::graphs(set, &schema)?;
        Ok(Self::unchecked(Schema::Graphs(schema), notices, inputs, values, parts, config))
    }

    fn custom(custom: &Custom, targets: &[String], config: &Config) -> Result<Self, Error> {
        let (Some(labels), Some(shape), [name]) = (&custom.labels, &custom.shape, targets) else {
            return Err(Error::inputs("inputs with labels", "inputs without"));
        };
        let rows: Vec<usize> = (0..labels.rows()).collect();
        let classes = match labels {
            Labels::Numbers(_) => None,
            Labels::Classes { labels, .. } => Some(labels.clone()),
        };
        let parts = parts(&rows, classes, &Related::Nothing, config);
        if let Some(fault) = labels.fault(&parts[0]) {
            return Err(refusal(&fault));
        }
        let targets = labels.target(name, &parts[0]);
        let values = match labels {
            Labels::Numbers(y) => {
                let column = &targets.numbers()[0];
                Values::Numbers(y.iter().map(|y| ((y - column.mean) / column.std) as f32).collect())
            }
            Labels::Classes { labels, .. } => Values::Classes(labels.clone()),
        };
        let schema = Schema::Custom(CustomSchema { encoder: shape.encoder.clone(), targets });
        let inputs = custom.inputs.clone();
        let mut prepared = Self::unchecked(schema, Vec::new(), inputs, values, parts, config);
        (prepared.custom_shape, prepared.factory) = (Some(shape.clone()), custom.factory.clone());
        Ok(prepared)
    }

    fn unchecked(
        schema: Schema,
        notices: Vec<Notice>,
        inputs: Inputs,
        values: Values,
        [train, validation, test]: [Vec<usize>; 3],
        config: &Config,
    ) -> Self {
        let class_weights = weights(schema.class_counts(), config);
        let (custom_shape, factory) = (None, None);
        Self {
            schema,
            notices,
            inputs,
            values,
            train,
            validation,
            test,
            related: Related::Nothing,
            row_weights: Vec::new(),
            class_weights,
            custom_shape,
            factory,
            stream: None,
        }
    }

    /// Rows that are trained on, held for validation, held for the test.
    pub fn rows(&self) -> [usize; 3] {
        let streamed = self.stream.as_ref().map_or(0, |stream| stream.rows);
        [self.train.len() + streamed, self.validation.len(), self.test.len()]
    }

    /// The same rows, by their numbers among [`Prepared::inputs`].
    pub fn parts(&self) -> [&[usize]; 3] {
        [&self.train, &self.validation, &self.test]
    }

    /// Weights of some rows; empty where all count the same.
    pub(crate) fn weights_of(&self, rows: &[usize]) -> Vec<f64> {
        if self.row_weights.is_empty() {
            Vec::new()
        } else {
            rows.iter().map(|&row| self.row_weights[row]).collect()
        }
    }

    /// All inputs, of all parts.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// What was observed of some rows.
    pub fn observed(&self, rows: &[usize]) -> Observed {
        match &self.values {
            Values::Classes(labels) => Observed::Classes(rows.iter().map(|&row| labels[row]).collect()),
            Values::Numbers(y) => {
                let targets = self.schema.numbers();
                let c = targets.len();
                let of_row = |&row: &usize| {
                    targets
                        .iter()
                        .enumerate()
                        .map(move |(k, target)| target.restore(f64::from(y[row * c + k])))
                };
                Observed::Numbers(rows.iter().flat_map(of_row).collect())
            }
        }
    }

    /// What trains again on all rows, the test part too, once that has judged; `None` where nobody asks for it, or nothing was held
    /// out. [`Model::keep_test_scores`](crate::Model::keep_test_scores) then takes the scores over.
    pub fn refit_config(&self, config: &Config) -> Option<Config> {
        let asked = config.train.refit_on_all && !self.test.is_empty();
        asked.then(|| {
            let mut config = config.clone();
            config.data.test_share = Some(Share::default());
            config
        })
    }

    /// Batches of a step.
    pub(crate) fn lanes(&self, config: &Config) -> usize {
        let asked = config.train.accumulate_batches;
        self.stream.as_ref().map_or(asked.max(1), |stream| stream.lanes)
    }

    /// Names what is trained on, for a checkpoint to be matched with: sizes, and a checksum of every number.
    pub fn fingerprint(&self) -> String {
        let mut hasher = crc32fast::Hasher::new();
        self.inputs.checksum(&mut hasher);
        hasher.update(match &self.values {
            Values::Numbers(y) => bytemuck::cast_slice(y),
            Values::Classes(labels) => bytemuck::cast_slice(labels),
        });
        let (rows, width) = (self.inputs.rows(), self.inputs.width());
        let streamed =
            self.stream.as_ref().map_or(String::new(), |stream| format!(", beside {}", stream.fingerprint()));
        format!("{rows} rows, {width} columns, checksum {:08x}{streamed}", hasher.finalize())
    }

    /// Weights of all other classes and of one, where each class has its own network.
    pub(crate) fn weights_against_the_rest(&self, config: &Config, class: usize) -> Vec<f64> {
        let counts = self.schema.class_counts();
        let total: usize = counts.iter().sum();
        weights(&[total - counts[class], counts[class]], config)
    }

    /// What the latent functions learn.
    pub(crate) fn targets(&self) -> Targets<'_> {
        match &self.values {
            Values::Numbers(y) => {
                Targets::Numbers { y, outputs: self.schema.outputs(), row_weights: &self.row_weights }
            }
            Values::Classes(labels) => Targets::Classes {
                labels,
                classes: self.schema.class_counts().len(),
                weights: &self.class_weights,
                row_weights: &self.row_weights,
            },
        }
    }
}

/// What was observed of all rows; of a row of no weight anything, as its class may be none that is learned.
fn targets_of(schema: &TableSchema, table: &Table, weights: &[f64]) -> Result<TargetValues, Error> {
    let counts = |row: &usize| weights.get(*row).is_none_or(|weight| *weight > 0.0);
    let rows: Vec<usize> = (0..table.rows()).filter(counts).collect();
    if rows.len() == table.rows() {
        return Ok(schema.targets(table, None)?);
    }
    Ok(match schema.targets(table, Some(&rows))? {
        TargetValues::Numbers(values) => {
            let c = values.len() / rows.len().max(1);
            let mut y = vec![0.0; table.rows() * c];
            for (row, own) in rows.iter().zip(values.chunks_exact(c.max(1))) {
                y[row * c..(row + 1) * c].copy_from_slice(own);
            }
            TargetValues::Numbers(y)
        }
        TargetValues::Classes(values) => {
            let mut labels = vec![None; table.rows()];
            rows.iter().zip(values).for_each(|(row, label)| labels[*row] = label);
            TargetValues::Classes(labels)
        }
    })
}

/// Weights of classes by their numbers of training rows, one on average over the rows; empty where all are one.
fn weights(counts: &[usize], config: &Config) -> Vec<f64> {
    match config.train.class_weights {
        ClassWeights::Equal => Vec::new(),
        ClassWeights::Balanced => {
            let total: usize = counts.iter().sum();
            counts.iter().map(|&n| total as f64 / (counts.len() * n.max(1)) as f64).collect()
        }
    }
}
