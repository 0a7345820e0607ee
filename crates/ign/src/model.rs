//! A fitted model of a table: immutable, ready to predict.

use crate::calibration::Calibration;
use crate::config::Config;
use crate::encoder::mlp::{Matrix, Mlp, MlpShape};
use crate::encoder::{Encoder, Mode, parameters};
use crate::error::Error;
use crate::metrics::{LEVELS, Metrics};
use crate::train::{AnyPosterior, EpochRecord, FeatureScale, HeadParameters};
use burn::tensor::Device;
use data::TableSchema;
use gp::Kernel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything about a model that is not a tensor; stored as JSON in the model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelHeader {
    /// Version of the file's layout.
    pub format_version: u32,
    /// Version of the program that wrote it.
    pub ign_version: String,
    /// The resolved configuration.
    pub config: Config,
    /// How a row becomes numbers.
    pub schema: TableSchema,
    /// Shape of the encoder.
    pub encoder: MlpShape,
    /// The fixed map from the encoder's output to features.
    pub feature_scale: FeatureScale,
    /// The learned kernel.
    pub kernel: Kernel,
    /// One for each target.
    pub calibration: Vec<Calibration>,
    /// Rows that were trained on, held for validation, held for the test.
    pub rows: [usize; 3],
    /// Epoch of the likelihood whose parameters these are.
    pub best_epoch: usize,
    /// All epochs.
    pub history: Vec<EpochRecord>,
    /// Scores of held-out rows: part (`validation`, `test`) → target → scores.
    pub metrics: BTreeMap<String, BTreeMap<String, Metrics>>,
}

/// A fitted model.
#[derive(Debug)]
pub struct Model {
    header: ModelHeader,
    encoder: Mlp,
    head: HeadParameters,
    posterior: AnyPosterior,
}

/// Predictions of some rows, in the target's own units, row-major `[N, C]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Expected value of y.
    pub mean: Vec<f64>,
    /// Standard deviation of y.
    pub std: Vec<f64>,
    /// Standard deviation of the latent function, without noise.
    pub std_latent: Vec<f64>,
}

/// Rows that go through the encoder at a time.
const BLOCK: usize = 2048;

impl Model {
    /// Puts the parts together and factors `K_zz`.
    pub fn new(
        header: ModelHeader,
        encoder_values: &[f32],
        head: HeadParameters,
        threads: usize,
    ) -> Result<Self, Error> {
        let device = Device::default();
        let encoder = Mlp::new(header.encoder.clone(), 0, &device);
        let encoder = parameters::write(encoder, encoder_values, &device);
        let gp = &header.config.gp;
        let posterior = AnyPosterior::new(&head, &header.kernel, gp.jitter.get(), gp.precision, threads)?;
        Ok(Self { header, encoder, head, posterior })
    }

    /// What is known besides the tensors.
    pub fn header(&self) -> &ModelHeader {
        &self.header
    }

    /// The inducing points and what belongs to them.
    pub fn head(&self) -> &HeadParameters {
        &self.head
    }

    pub(crate) fn encoder(&self) -> &Mlp {
        &self.encoder
    }

    pub(crate) fn header_mut(&mut self) -> &mut ModelHeader {
        &mut self.header
    }

    /// C
    pub fn outputs(&self) -> usize {
        self.header.schema.targets.len()
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        let (slots, _) = parameters::read(&self.encoder);
        slots.iter().map(|slot| slot.len()).sum::<usize>() + self.head.flat().len()
    }

    /// Features of some rows, row-major `[N, D]`.
    pub fn features(&self, x: &Matrix, rows: &[usize]) -> Vec<f32> {
        let mut phi = Vec::with_capacity(rows.len() * self.encoder.dim());
        for block in rows.chunks(BLOCK) {
            let features = self.encoder.features(x, block, Mode::Predict).into_data();
            phi.extend_from_slice(features.as_slice::<f32>().expect("features are f32"));
        }
        self.header.feature_scale.apply(&mut phi);
        phi
    }

    /// Latent mean `[N, C]` and variance `[N]` of standardised targets.
    pub(crate) fn latent(&self, x: &Matrix, rows: &[usize]) -> (Vec<f64>, Vec<f64>) {
        self.posterior.predict(&self.features(x, rows), rows.len())
    }

    /// σ of standardised targets.
    pub(crate) fn sigma(&self, output: usize) -> f64 {
        f64::from(self.head.log_sigma[output]).exp()
    }

    /// Predicts all rows of a matrix.
    pub fn predict(&self, x: &Matrix) -> Prediction {
        let rows: Vec<usize> = (0..x.rows()).collect();
        self.predict_rows(x, &rows)
    }

    /// Predicts some rows of a matrix.
    pub fn predict_rows(&self, x: &Matrix, rows: &[usize]) -> Prediction {
        let c = self.outputs();
        let (latent, var) = self.latent(x, rows);
        let mut prediction = Prediction {
            mean: Vec::with_capacity(latent.len()),
            std: Vec::with_capacity(latent.len()),
            std_latent: Vec::with_capacity(latent.len()),
        };
        for (i, mean) in latent.iter().enumerate() {
            let (row, output) = (i / c, i % c);
            let target = &self.header.schema.targets[output];
            let calibration = &self.header.calibration[output];
            prediction.mean.push(target.restore(*mean));
            prediction.std.push(target.std * calibration.std(*mean, var[row], self.sigma(output)));
            prediction.std_latent.push(target.std * (calibration.latent * var[row]).sqrt());
        }
        prediction
    }

    /// Scores predictions against `y [N, C]` in the target's own units; intervals are the calibrated ones.
    pub fn score(&self, prediction: &Prediction, y: &[f64]) -> BTreeMap<String, Metrics> {
        let c = self.outputs();
        let column = |values: &[f64], output: usize| {
            values.iter().skip(output).step_by(c).copied().collect::<Vec<_>>()
        };
        (0..c)
            .map(|output| {
                let (y, mean, std) =
                    (column(y, output), column(&prediction.mean, output), column(&prediction.std, output));
                let intervals = LEVELS.map(|level| self.header.calibration[output].interval(level));
                let metrics = Metrics::new(&y, &mean, &std, |i, level| {
                    let k = LEVELS.iter().position(|&l| l == level).expect("one of the three levels");
                    let (low, high) = intervals[k];
                    (mean[i] + low * std[i]..=mean[i] + high * std[i]).contains(&y[i])
                });
                (self.header.schema.targets[output].name.clone(), metrics)
            })
            .collect()
    }
}
