//! A fitted model: prediction, explanation, files, pages.

use crate::dataset::PyDataset;
use crate::errors::to_py;
use crate::predict::{self, Asked};
use crate::run::run;
use crate::stream::PyPredictionStream;
use inducing::dataset::{Prepared, Schema};
use inducing::explain::Observed;
use inducing::model::{Decision, TargetUse};
use inducing::{Dataset, Error, Goal, Model, SuggestOptions};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use onnx::{ExportOptions, InputForm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use report::{
    EvaluatedRows, ExampleRenderer, InducingRequest, InputSet, JudgedModel, RunRecord, TrainedModel,
};
use std::sync::{Arc, Mutex, PoisonError};

/// What a model learned from.
#[derive(Debug)]
struct Learned {
    prepared: Prepared,
    data: Dataset,
}

/// A fitted model.
#[pyclass(name = "Model", module = "inducing._core", frozen)]
pub(crate) struct PyModel {
    model: Arc<Model>,
    /// What training said, and of that what may be wrong with the data.
    notices: [Vec<String>; 2],
    learned: Mutex<Option<Arc<Learned>>>,
}

impl PyModel {
    pub(crate) fn trained(
        model: Model,
        prepared: Prepared,
        data: Dataset,
        notices: [Vec<String>; 2],
    ) -> Self {
        let learned = Mutex::new(Some(Arc::new(Learned { prepared, data })));
        Self { model: Arc::new(model), notices, learned }
    }

    fn of(model: Model) -> Self {
        Self { model: Arc::new(model), notices: Default::default(), learned: Mutex::default() }
    }

    fn learned(&self) -> Option<Arc<Learned>> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What it learned from, for a question that otherwise needs data.
    fn learned_or_refuse(&self, what: &str) -> PyResult<Arc<Learned>> {
        self.learned().ok_or_else(|| {
            PyValueError::new_err(format!(
                "a model from a file does not hold the data that it learned from\nhint: give {what} some data"
            ))
        })
    }

    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        threads: usize,
        work: impl FnOnce(&Model) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let model = Arc::clone(&self.model);
        run(py, threads, move |_| work(&model), |_| Ok(()))
    }
}

#[pymethods]
impl PyModel {
    #[staticmethod]
    fn load(py: Python<'_>, path: String) -> PyResult<Self> {
        py.detach(|| Model::load(path)).map(Self::of).map_err(to_py)
    }

    #[staticmethod]
    fn from_bytes(data: &Bound<'_, PyBytes>) -> PyResult<Self> {
        Model::from_bytes(data.as_bytes()).map(Self::of).map_err(to_py)
    }

    fn save(&self, py: Python<'_>, path: String) -> PyResult<()> {
        py.detach(|| self.model.save(path)).map_err(to_py)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.model.to_bytes()).map_err(to_py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn header(&self) -> PyResult<String> {
        json(self.model.header())
    }

    #[getter]
    fn kind(&self) -> &'static str {
        match &self.model.header().schema {
            Schema::Table(_) => "table",
            Schema::Images(_) => "images",
            Schema::Graphs(_) => "graphs",
            Schema::Custom(_) => "custom",
        }
    }

    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        self.model.header().schema.classes().map(<[String]>::to_vec)
    }

    #[getter]
    fn targets(&self) -> Vec<String> {
        self.model.header().schema.target_names()
    }

    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let columns = self.model.header().schema.table().map(data::TableSchema::columns).unwrap_or_default();
        columns.into_iter().map(|(name, kind)| (name, kind.to_string())).collect()
    }

    #[getter]
    fn keeps_rows(&self) -> bool {
        self.model.keeps_rows()
    }

    #[getter]
    fn notices(&self) -> Vec<String> {
        self.notices[0].clone()
    }

    #[getter]
    fn cautions(&self) -> Vec<String> {
        self.notices[1].clone()
    }

    #[getter]
    fn is_fresh(&self) -> bool {
        self.learned().is_some()
    }

    fn forget(&self) {
        *self.learned.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The same model with another threshold.
    fn with_threshold(&self, threshold: f64) -> PyResult<Self> {
        let bytes = self.model.to_bytes().map_err(to_py)?;
        let mut model = Model::from_bytes(&bytes).map_err(to_py)?;
        match self.model.header().schema.classes().map(<[String]>::len) {
            Some(2) => model.set_decision(Some(Decision::Threshold(threshold))).map_err(to_py)?,
            _ => return Err(PyValueError::new_err("a threshold is for two classes\nhint: leave it out")),
        }
        Ok(Self::of(model))
    }

    #[pyo3(signature = (data, *, quantiles = Vec::new(), grid = None, samples = 0, seed = 0, threads = 1))]
    #[allow(clippy::too_many_arguments)] // Python's keywords
    fn predict<'py>(
        &self,
        py: Python<'py>,
        data: &PyDataset,
        quantiles: Vec<f64>,
        grid: Option<PyReadonlyArray1<'_, f64>>,
        samples: usize,
        seed: u64,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let grid = grid.map_or_else(Vec::new, |grid| grid.as_array().to_vec());
        let (model, data) = (Arc::clone(&self.model), data.data.clone());
        let asked = Asked { quantiles, grid, samples, seed };
        let (model_of_work, of_work) = (Arc::clone(&model), asked.clone());
        let said = run(
            py,
            threads,
            move |stop| predict::predict(&model_of_work, &data, &of_work, stop),
            |_| Ok(()),
        )?;
        said.into_dict(py, &model, &asked)
    }

    #[pyo3(signature = (
        data, *, columns = Vec::new(), intervals = Vec::new(), quantiles = Vec::new(), keep = Vec::new(), explain = false, threads = 1
    ))]
    #[allow(clippy::too_many_arguments)] // Python's keywords
    fn predict_stream(
        &self,
        py: Python<'_>,
        data: &PyDataset,
        columns: Vec<String>,
        intervals: Vec<f64>,
        quantiles: Vec<f64>,
        keep: Vec<String>,
        explain: bool,
        threads: usize,
    ) -> PyResult<PyPredictionStream> {
        let wanted = crate::stream::Wanted { columns, intervals, quantiles, keep, explain };
        PyPredictionStream::begin(py, Arc::clone(&self.model), data.data.clone(), wanted, threads)
    }

    #[pyo3(signature = (data, *, threads = 1))]
    fn effects<'py>(
        &self,
        py: Python<'py>,
        data: &PyDataset,
        threads: usize,
    ) -> PyResult<(Vec<String>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let data = data.data.clone();
        let (rows, effects) = self.run(py, threads, move |model| {
            let encoded = model.encode_data(&data, TargetUse::Ignored)?;
            let rows: Vec<usize> = (0..encoded.inputs.rows()).collect();
            Ok((rows.len(), model.effects(&encoded.inputs, &rows)?))
        })?;
        let shape = [rows, effects.outputs, effects.columns.len()];
        let array = |values: Vec<f64>| -> PyResult<Bound<'py, PyAny>> {
            Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any())
        };
        Ok((effects.columns, array(effects.prediction)?, array(effects.spread)?))
    }

    #[pyo3(signature = (data, *, threads = 1))]
    fn evaluate(&self, py: Python<'_>, data: &PyDataset, threads: usize) -> PyResult<String> {
        let data = data.data.clone();
        let scores = self.run(py, threads, move |model| {
            let data = model.encode_data(&data, TargetUse::Needed)?;
            let rows: Vec<usize> = (0..data.inputs.rows()).collect();
            match &data.observed {
                Some(Observed::Numbers(y)) => {
                    match model.predict_inputs(&data.inputs, &rows)?.as_regression() {
                        Some(batch) => model.score(batch, y),
                        None => Err(Error::inputs("numbers to score", "classes")),
                    }
                }
                Some(Observed::Classes(y)) => model.score_classes(&data.inputs, &rows, y),
                None => Err(Error::inputs("rows with targets", "rows without")),
            }
        })?;
        json(&scores)
    }

    #[pyo3(signature = (data = None, *, nearest = 1, threads = 1))]
    fn inspect(
        &self,
        py: Python<'_>,
        data: Option<&PyDataset>,
        nearest: usize,
        threads: usize,
    ) -> PyResult<Vec<String>> {
        if !(1..=1000).contains(&nearest) {
            return Err(PyValueError::new_err(format!("nearest is {nearest}\nhint: it is from 1 to 1000")));
        }
        if self.model.heads().next().is_none() {
            return Err(PyValueError::new_err(
                "the model has a softmax layer and no inducing points\nhint: train without `head = \"softmax\"`",
            ));
        }
        match data.map(|data| data.data.clone()) {
            Some(data) => self.run(py, threads, move |model| {
                let data = model.encode_data(&data, TargetUse::IfPresent)?;
                let rows: Vec<usize> = (0..data.inputs.rows()).collect();
                let examples = ExampleRenderer::of_encoded(&data, &model.header().schema);
                let set = InputSet {
                    inputs: &data.inputs,
                    rows: &rows,
                    examples: &examples,
                    description: String::new(),
                };
                points(model, set, nearest)
            }),
            None => {
                let learned = self.learned_or_refuse("`inspect`")?;
                self.run(py, threads, move |model| {
                    let Learned { prepared, data } = &*learned;
                    let examples =
                        ExampleRenderer::new(prepared.inputs(), data, &model.header().schema, None);
                    let (inputs, rows) = (prepared.inputs(), prepared.parts()[0]);
                    points(
                        model,
                        InputSet { inputs, rows, examples: &examples, description: String::new() },
                        nearest,
                    )
                })
            }
        }
    }

    #[pyo3(signature = (data = None, *, name = "model", threads = 1))]
    fn report(
        &self,
        py: Python<'_>,
        data: Option<&PyDataset>,
        name: &str,
        threads: usize,
    ) -> PyResult<String> {
        let (name, generator) = (name.to_owned(), format!("inducing {}", env!("CARGO_PKG_VERSION")));
        match data.map(|data| data.data.clone()) {
            Some(data) => self.run(py, threads, move |model| {
                let encoded = model.encode_data(&data, TargetUse::Needed)?;
                let rows = encoded.inputs.rows();
                if rows == 0 {
                    return Err(Error::inputs("rows with known targets", "none"));
                }
                let mut notes = encoded.notes.clone();
                notes.extend(report::cautions(model, rows));
                let words = data.name();
                let record = JudgedModel {
                    model,
                    name: name.clone(),
                    evaluated: (&encoded, words),
                    reference: None,
                    seconds: Vec::new(),
                    page_share: 1.0,
                };
                let page = RunRecord {
                    title: report::title(&[name], model),
                    evaluated_on: words.into(),
                    rows: EvaluatedRows::Given,
                    generator,
                    notes,
                    models: vec![record.record()?],
                };
                Ok(report::render(&page))
            }),
            None => {
                let learned = self.learned_or_refuse("`report`")?;
                self.run(py, threads, move |model| {
                    let Learned { prepared, data } = &*learned;
                    let seconds = Vec::new();
                    let page = TrainedModel { model, prepared, data, name, seconds, generator }.page()?;
                    Ok(report::render(&page))
                })
            }
        }
    }

    #[pyo3(signature = (data, *, count, goal = "learn", threads = 1))]
    fn suggest(
        &self,
        py: Python<'_>,
        data: &PyDataset,
        count: usize,
        goal: &str,
        threads: usize,
    ) -> PyResult<String> {
        let goal = match goal {
            "learn" => Goal::Learn,
            "maximise" | "maximize" => Goal::Maximise { best: None },
            "minimise" | "minimize" => Goal::Minimise { best: None },
            other => {
                return Err(PyValueError::new_err(format!(
                    "there is no goal {other:?}\nhint: it is learn, maximise or minimise"
                )));
            }
        };
        let data = data.data.clone();
        let chosen = self.run(py, threads, move |model| {
            let options = SuggestOptions { count, goal, target: None };
            model.check_suggestion(&options)?;
            let pool = model.read_pool(&data, &[])?;
            let chosen = model.suggest_inputs(&pool.inputs, &options)?;
            Ok(chosen.into_iter().map(|one| (one.row, one.score)).collect::<Vec<_>>())
        })?;
        json(
            &chosen
                .iter()
                .map(|(row, score)| serde_json::json!({ "row": row, "score": score }))
                .collect::<Vec<_>>(),
        )
    }

    #[pyo3(signature = (*, features = false, quantiles = None))]
    fn export_onnx<'py>(
        &self,
        py: Python<'py>,
        features: bool,
        quantiles: Option<Vec<f64>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let usual =
            if self.model.header().schema.classes().is_some() { Vec::new() } else { vec![0.05, 0.5, 0.95] };
        let inputs = if features { InputForm::Features } else { InputForm::Columns };
        let options = ExportOptions { quantiles: quantiles.unwrap_or(usual), inputs };
        let bytes = py.detach(|| onnx::export(&self.model, &options));
        Ok(PyBytes::new(py, &bytes.map_err(|error| PyValueError::new_err(error.to_string()))?))
    }

    #[pyo3(signature = (data, *, threads = 1))]
    fn update(&self, py: Python<'_>, data: &PyDataset, threads: usize) -> PyResult<(Self, String)> {
        let data = data.data.clone();
        let (model, done) = self.run(py, threads, move |model| {
            // The old model stays as it is.
            let mut model = Model::from_bytes(&model.to_bytes()?)?;
            let done = model.update(&data)?;
            let done = serde_json::json!({
                "added": done.added, "kept": done.kept, "before": done.before, "after": done.after, "notes": done.notes,
            });
            Ok((model, done.to_string()))
        })?;
        Ok((Self::of(model), done))
    }
}

/// The inducing points of a model and what of a set is nearest to them.
fn points(model: &Model, set: InputSet<'_>, nearest: usize) -> Result<Vec<String>, Error> {
    let InputSet { inputs, rows, examples, .. } = set;
    let again = InputSet { inputs, rows, examples, description: String::new() };
    let request =
        InducingRequest { evaluated: set, reference: again, nearest, max_shown: usize::MAX, refine: None };
    let (networks, examples) = report::gather_inducing_points(model, &request)?;
    Ok(report::inducing_lines(model, &networks, &examples))
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
