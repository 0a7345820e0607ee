//! From a table to a model: rows, split, schema, encoder, training, recalibration, scores.

use crate::calibration::{Calibration, HeldOut};
use crate::config::{Config, Share};
use crate::encoder::mlp::{Matrix, Mlp, MlpShape, PeriodicShape, TableShape};
use crate::error::Error;
use crate::model::{Model, ModelHeader};
use crate::train::{Event, Fitted, Outcome, ReadoutStart, State, Trainer, TrainingData};
use burn::tensor::Device;
use data::{EncodeOptions, Notice, Table, TableSchema};
use std::collections::BTreeMap;

/// How a fit ended.
#[derive(Debug)]
pub enum Fit {
    /// The model, and what the user should know about the data.
    Finished(Box<Model>),
    /// The listener asked for a stop; go on from here.
    Interrupted(Box<State>),
}

/// A table made ready: rows assigned to parts, schema fitted on the training part, matrices encoded.
#[derive(Debug)]
pub struct Prepared {
    /// How a row becomes numbers.
    pub schema: TableSchema,
    /// What the user should know.
    pub notices: Vec<Notice>,
    x: Matrix,
    y: Vec<f32>, // [N, C], standardised
    train: Vec<usize>,
    validation: Vec<usize>,
    test: Vec<usize>,
}

/// Shares of what stays and of what is held out.
fn held_out(share: Share) -> [f64; 2] {
    [1.0 - share.get(), share.get()]
}

/// A standardised target ends here, so that one wild cell stays finite in 32 bits and in squares of it.
const WILDEST: f64 = 1e6;

/// More numeric columns than this go into the network as they are: embeddings of all of them would be its bulk.
const MOST_EMBEDDED: usize = 256;

/// A small table still needs so many held-out rows, but never more than a third of it.
const FEWEST_HELD_OUT: usize = 20;

/// Too few rows for a validation part of its own below this.
const FEWEST_VALIDATION_ROWS: usize = 1;

impl Prepared {
    /// Splits and encodes a table.
    pub fn new(table: &Table, config: &Config) -> Result<Self, Error> {
        let targets = &config.data.target;
        let (rows, dropped) = data::rows_with_targets(table, targets)?;
        let parts = data::split(&rows, &held_out(config.data.test_share), config.seed);
        let (rest, test) = (&parts[0], parts[1].clone());
        // Another stream of the same seed: the validation part must not follow from the test part.
        let wanted = config.train.validation_share.get();
        let least = FEWEST_HELD_OUT.min(rest.len() / 3) as f64 / rest.len().max(1) as f64;
        let share = if wanted > 0.0 { wanted.max(least) } else { 0.0 };
        let parts = data::split(rest, &[1.0 - share, share], config.seed ^ 0x5eed);
        let (train, validation) = (parts[0].clone(), parts[1].clone());
        let options = EncodeOptions {
            scaling: config.data.scaling,
            discrete_levels: config.data.discrete_levels,
            max_categories: config.data.max_categories,
            missing_indicator: true,
        };
        let (schema, mut notices) = TableSchema::fit(table, targets, &train, &options)?;
        if dropped > 0 {
            notices.insert(0, Notice::RowsWithoutTargetDropped { count: dropped });
        }
        let encoded = schema.encode(table, None)?;
        let y = schema.targets(table, None)?.into_iter().map(|y| y.clamp(-WILDEST, WILDEST) as f32).collect();
        let x = Matrix { x: encoded.x, width: encoded.width };
        Ok(Self { schema, notices, x, y, train, validation, test })
    }

    /// Rows that are trained on, held for validation, held for the test.
    pub fn rows(&self) -> [usize; 3] {
        [self.train.len(), self.validation.len(), self.test.len()]
    }

    /// Names what is trained on, for a checkpoint to be matched with: sizes, and a checksum of every number.
    pub fn fingerprint(&self) -> String {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(bytemuck::cast_slice(&self.x.x));
        hasher.update(bytemuck::cast_slice(&self.y));
        format!("{} rows, {} columns, checksum {:08x}", self.x.rows(), self.x.width, hasher.finalize())
    }

    fn encoder_shape(&self, config: &Config) -> MlpShape {
        let encoder = &config.encoder;
        let tables = if encoder.tables { self.serial_columns() } else { Vec::new() };
        MlpShape {
            numeric: self.schema.numeric_width(),
            width: self.x.width,
            hidden: encoder.hidden.iter().map(|units| units.get()).collect(),
            features: encoder.features.get(),
            members: encoder.members.get(),
            periodic: (encoder.frequencies > 0 && (1..=MOST_EMBEDDED).contains(&self.schema.numeric_width()))
                .then(|| PeriodicShape {
                    frequencies: encoder.frequencies,
                    width: encoder.embedding_width.get(),
                    scale: encoder.frequency_scale.get(),
                }),
            skip: encoder.skip,
            tables,
            table_width: 8,
            dropout: encoder.dropout.get(),
        }
    }

    /// A new encoder; with a skip path it begins as the ridge regression of the targets on the inputs.
    fn encoder(&self, shape: &MlpShape, seed: u64) -> (Mlp, ReadoutStart) {
        const WIDEST: usize = 512; // beyond it the normal equations cost more than they give
        const RIDGE: f64 = 1e-3;
        let (width, c) = (shape.width, self.schema.targets.len());
        let encoder = Mlp::new(shape.clone(), seed, &Device::default());
        if !shape.skip || width > WIDEST || c > shape.features / shape.members {
            return (encoder, ReadoutStart::Random);
        }
        let n = width + 1; // the last input is the constant
        let (mut gram, mut moments) = (vec![0.0; n * n], vec![0.0; n * c]);
        let share = 1.0 / self.train.len() as f64;
        for &row in &self.train {
            let x = self.x.x[row * width..][..width].iter().chain([&1.0]).map(|&x| f64::from(x));
            let x: Vec<f64> = x.collect();
            for (i, x_i) in x.iter().enumerate() {
                for (to, x_j) in gram[i * n..][..n].iter_mut().zip(&x) {
                    *to += share * x_i * x_j;
                }
                for output in 0..c {
                    moments[i * c + output] += share * x_i * f64::from(self.y[row * c + output]);
                }
            }
        }
        let beta: Vec<f32> = match gp::solve_ridge(&gram, &moments, RIDGE) {
            Ok(beta) => beta.into_iter().map(|b| b as f32).collect(),
            // Inputs of wildly different sizes; the network can do without this help.
            Err(_) => return (encoder, ReadoutStart::Random),
        };
        let (beta, intercept) = beta.split_at(width * c);
        (encoder.with_linear_start(beta, intercept), ReadoutStart::FirstFeatures)
    }

    /// Tables for columns that count something off in equal steps (a row number, a clock) and whose neighbours have
    /// similar targets: von Neumann's ratio `Σ(yᵢ₊₁−yᵢ)² / 2Σ(yᵢ−ȳ)²` in the column's order, 1 for unrelated ones.
    fn serial_columns(&self) -> Vec<TableShape> {
        const RATIO: f32 = 0.5;
        const ROWS_A_KNOT: [usize; 3] = [48, 12, 3];
        let (n, c) = (self.train.len(), self.schema.targets.len());
        let mut tables = Vec::new();
        for column in 0..self.schema.numeric_width() {
            let mut rows = self.train.clone();
            let value = |row: usize| self.x.x[row * self.x.width + column];
            rows.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
            let mut distinct: Vec<f32> = rows.iter().map(|&row| value(row)).collect();
            distinct.dedup();
            if distinct.len() < 32 || distinct.len() <= n / 2 {
                continue;
            }
            let (low, high) = (distinct[0], distinct[distinct.len() - 1]);
            let smallest = distinct.windows(2).map(|pair| pair[1] - pair[0]).fold(f32::INFINITY, f32::min);
            let equal_steps = smallest * (distinct.len() - 1) as f32 > 0.2 * (high - low);
            let ratio = |output: usize| {
                let y = |row: usize| self.y[row * c + output];
                let steps = rows.windows(2).map(|pair| (y(pair[1]) - y(pair[0])).powi(2)).sum::<f32>();
                steps / (2.0 * rows.iter().map(|&row| y(row).powi(2)).sum::<f32>())
            };
            if equal_steps && (0..c).map(ratio).fold(f32::INFINITY, f32::min) < RATIO {
                tables.extend(ROWS_A_KNOT.map(|rows| {
                    let knots = (distinct.len() / rows).max(4);
                    TableShape { column, low, high, knots }
                }));
            }
        }
        tables
    }

    /// Targets of some rows in their own units, row-major `[N, C]`.
    fn targets(&self, rows: &[usize]) -> Vec<f64> {
        let targets = &self.schema.targets;
        rows.iter()
            .flat_map(|&row| {
                targets
                    .iter()
                    .enumerate()
                    .map(move |(k, target)| target.restore(f64::from(self.y[row * targets.len() + k])))
            })
            .collect()
    }

    /// Trains on `threads` threads; `listen` hears of every step and can stop the run.
    pub fn fit(
        &self,
        config: &Config,
        threads: usize,
        resume: Option<State>,
        listen: &mut dyn FnMut(Event<'_>) -> bool,
    ) -> Result<Fit, Error> {
        let shape = self.encoder_shape(config);
        let (encoder, readout_start) = self.encoder(&shape, config.seed);
        let training = TrainingData {
            inputs: &self.x,
            y: &self.y,
            outputs: self.schema.targets.len(),
            train: &self.train,
            validation: &self.validation,
        };
        match Trainer::new(config, encoder, readout_start, training, threads).run(resume, listen)? {
            Outcome::Interrupted(state) => Ok(Fit::Interrupted(state)),
            Outcome::Finished(fitted) => {
                Ok(Fit::Finished(Box::new(self.finish(config, shape, *fitted, threads)?)))
            }
        }
    }

    /// Recalibrates on the validation part and scores what was held out.
    fn finish(
        &self,
        config: &Config,
        encoder: MlpShape,
        fitted: Fitted,
        threads: usize,
    ) -> Result<Model, Error> {
        let c = self.schema.targets.len();
        let header = ModelHeader {
            format_version: crate::artifact::FORMAT_VERSION,
            ign_version: env!("CARGO_PKG_VERSION").into(),
            config: config.clone(),
            schema: self.schema.clone(),
            encoder,
            feature_scale: fitted.scale,
            kernel: fitted.head.kernel(&config.kernel()),
            calibration: vec![Calibration::none(); c],
            rows: self.rows(),
            best_epoch: fitted.best_epoch,
            history: fitted.history,
            metrics: BTreeMap::new(),
        };
        let mut model = Model::new(header, &fitted.encoder, fitted.head, threads)?;
        if config.train.recalibrate && self.validation.len() >= FEWEST_VALIDATION_ROWS {
            let (mean, var) = model.latent(&self.x, &self.validation);
            for output in 0..c {
                let held_out = |(i, &row): (usize, &usize)| {
                    let mean = mean[i * c + output];
                    HeldOut { residual: f64::from(self.y[row * c + output]) - mean, mean, var: var[i] }
                };
                let held_out: Vec<HeldOut> = self.validation.iter().enumerate().map(held_out).collect();
                model.header_mut().calibration[output] = Calibration::fit(&held_out, model.sigma(output));
            }
        }
        for (part, rows) in [("validation", &self.validation), ("test", &self.test)] {
            if !rows.is_empty() {
                let scores = model.score(&model.predict_rows(&self.x, rows), &self.targets(rows));
                model.header_mut().metrics.insert(part.into(), scores);
            }
        }
        Ok(model)
    }
}
