//! Predictions as NumPy arrays.

use crate::run::Stop;
use inducing::dataset::Schema;
use inducing::model::{Density, Predictions, TargetUse};
use inducing::{Dataset, Error, Model};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Rows that are predicted between two looks at signals.
const BLOCK: usize = 2048;

/// What is asked besides the usual.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) quantiles: Vec<f64>,
    /// Values at which densities are given.
    pub(crate) grid: Vec<f64>,
    /// Draws of each row.
    pub(crate) samples: usize,
    pub(crate) seed: u64,
}

/// What a model says of all rows, row-major.
#[derive(Debug, Default)]
pub(crate) struct Said {
    rows: usize,
    mean: Vec<f64>,
    std: Vec<f64>,
    std_latent: Vec<f64>,
    quantiles: Vec<f64>,
    density: Vec<f64>,
    samples: Vec<f64>,
    probabilities: Vec<f64>,
    label: Vec<i64>,
    latent_mean: Vec<f64>,
    latent_std: Vec<f64>,
    familiarity: Vec<f64>,
    notes: Vec<String>,
}

/// Predicts a data set, tables as a stream.
pub(crate) fn predict(model: &Model, data: &Dataset, asked: &Asked, stop: &Stop) -> Result<Said, Error> {
    let mut said = Said::default();
    let mut rng = ChaCha8Rng::seed_from_u64(asked.seed);
    if let Schema::Table(_) = &model.header().schema {
        let mut stream = model.stream(data, &[])?.stop_when(|| stop.is_asked_for());
        for block in stream.by_ref() {
            said.add(&block?.predictions, asked, &mut rng)?;
        }
        said.notes = stream.notes();
        return Ok(said);
    }
    let encoded = model.encode_data(data, TargetUse::Ignored)?;
    let rows: Vec<usize> = (0..encoded.inputs.rows()).collect();
    for rows in rows.chunks(BLOCK) {
        if stop.is_asked_for() {
            return Err(Error::Interrupted);
        }
        said.add(&model.predict_inputs(&encoded.inputs, rows)?, asked, &mut rng)?;
    }
    said.notes = encoded.notes.into_iter().chain(encoded.file_notes).collect();
    Ok(said)
}

impl Said {
    fn add(&mut self, predictions: &Predictions, asked: &Asked, rng: &mut ChaCha8Rng) -> Result<(), Error> {
        self.rows += predictions.len();
        if let Some(batch) = predictions.as_regression() {
            let [quantiles, density, samples] = [asked.quantiles.len(), asked.grid.len(), asked.samples]
                .map(|each| each.saturating_mul(batch.density.len()));
            let reserved =
                self.quantiles.try_reserve(quantiles).and_then(|()| self.density.try_reserve(density));
            if reserved.and_then(|()| self.samples.try_reserve(samples)).is_err() {
                return Err(Error::Request(
                    "not enough memory for so many numbers\nhint: ask for fewer rows, samples or points at a time".into(),
                ));
            }
            self.mean.extend(&batch.mean);
            self.std.extend(&batch.std);
            self.std_latent.extend(&batch.std_latent);
            for density in &batch.density {
                self.quantiles.extend(asked.quantiles.iter().map(|&p| density.quantile(p)));
                self.density.extend(asked.grid.iter().map(|&y| density.pdf(y)));
                self.samples.extend((0..asked.samples).map(|_| Density::sample(density, rng)));
            }
        }
        if let Some(batch) = predictions.as_classification() {
            self.probabilities.extend(&batch.p);
            self.label.extend(batch.labels().map(|class| class as i64));
            self.latent_mean.extend(&batch.latent_mean);
            self.latent_std.extend(&batch.latent_std);
        }
        self.familiarity.extend(predictions.familiarity());
        Ok(())
    }

    /// The arrays by their names, in the shapes of `_core.pyi`.
    pub(crate) fn into_dict<'py>(
        self,
        py: Python<'py>,
        model: &Model,
        asked: &Asked,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (n, c, dict) = (self.rows, model.outputs(), PyDict::new(py));
        let put = |name: &str, values: Vec<f64>, shape: &[usize]| -> PyResult<()> {
            let array = PyArray1::from_vec(py, values);
            match *shape {
                [rows, columns] => dict.set_item(name, array.reshape([rows, columns])?),
                [rows, columns, depth] => dict.set_item(name, array.reshape([rows, columns, depth])?),
                _ => dict.set_item(name, array),
            }
        };
        if let Some(classes) = model.header().schema.classes() {
            let k = classes.len();
            put("probabilities", self.probabilities, &[n, k])?;
            put("latent_mean", self.latent_mean, &[n, k])?;
            put("latent_std", self.latent_std, &[n, k])?;
            dict.set_item("label", PyArray1::from_vec(py, self.label))?;
        } else {
            put("mean", self.mean, &[n, c])?;
            put("std", self.std, &[n, c])?;
            put("std_latent", self.std_latent, &[n, c])?;
            put("quantiles", self.quantiles, &[n, c, asked.quantiles.len()])?;
            put("density", self.density, &[n, c, asked.grid.len()])?;
            put("samples", self.samples, &[n, c, asked.samples])?;
        }
        if model.keeps_rows() {
            put("familiarity", self.familiarity, &[n])?;
        }
        dict.set_item("notes", self.notes)?;
        Ok(dict)
    }
}
