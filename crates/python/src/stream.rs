//! Predictions as a stream of Arrow batches, computed while they are asked for.

use crate::arrow;
use crate::errors::to_py;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use inducing::model::{ColumnRequest, PredictionColumns};
use inducing::{Dataset, Error, Model};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Which columns a stream has.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) columns: Vec<String>,
    pub(crate) intervals: Vec<f64>,
    pub(crate) quantiles: Vec<f64>,
    pub(crate) keep: Vec<String>,
    pub(crate) explain: bool,
}

/// Predictions on their way.
#[pyclass(name = "PredictionStream", module = "inducing._core", frozen)]
pub(crate) struct PyPredictionStream {
    reader: Mutex<Option<Reader>>,
    notes: Arc<Mutex<Vec<String>>>,
}

/// What the predicting thread sends.
struct Reader {
    schema: SchemaRef,
    batches: Receiver<Result<RecordBatch, Error>>,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        // A consumer may hold the interpreter while it reads, and the predicting thread may need it for what Python owns.
        let batches = &mut self.batches;
        let batch = match Python::try_attach(|py| py.detach(move || batches.recv())) {
            Some(batch) => batch.ok()?,
            None => self.batches.recv().ok()?, // the interpreter is gone
        };
        Some(batch.map_err(|error| ArrowError::ExternalError(error.to_string().into())))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl PyPredictionStream {
    /// Starts to predict; two blocks are made ahead of who reads them.
    pub(crate) fn begin(
        py: Python<'_>,
        model: Arc<Model>,
        data: Dataset,
        wanted: Wanted,
        threads: usize,
    ) -> PyResult<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(crate::run::sensible(threads)).build();
        let pool = pool.map_err(|error| PyRuntimeError::new_err(format!("no threads: {error}")))?;
        let notes = Arc::new(Mutex::new(Vec::new()));
        let (of_thread, (say_schema, schema), (sender, batches)) =
            (Arc::clone(&notes), sync_channel(1), sync_channel(2));
        std::thread::spawn(move || {
            let request = ColumnRequest {
                columns: &wanted.columns,
                intervals: &wanted.intervals,
                quantiles: &wanted.quantiles,
                density: 0,
                keep: &wanted.keep,
                explain: wanted.explain,
            };
            let begun = PredictionColumns::new(&model, &request)
                .and_then(|columns| Ok((columns.with_digits(None), model.stream(&data, &wanted.keep)?)));
            let (columns, mut stream) = match begun {
                Ok(begun) => begun,
                Err(error) => return drop(say_schema.send(Err(error))),
            };
            let fields: Vec<_> =
                stream.passthrough_schema().fields().iter().chain(columns.fields()).cloned().collect();
            let schema = Arc::new(Schema::new(fields));
            if say_schema.send(Ok(Arc::clone(&schema))).is_err() {
                return;
            }
            while let Some(block) = pool.install(|| stream.next()) {
                let batch = block.and_then(|block| {
                    let values = pool.install(|| {
                        columns.values(&model, &block.inputs, &block.predictions, block.first_row)
                    })?;
                    let arrays: Vec<ArrayRef> =
                        block.passthrough.columns().iter().cloned().chain(values).collect();
                    Ok(RecordBatch::try_new(Arc::clone(&schema), arrays)
                        .expect("the columns were made for this schema"))
                });
                *of_thread.lock().unwrap_or_else(PoisonError::into_inner) = stream.notes();
                let failed = batch.is_err();
                // The reader is gone when nobody wants more.
                if sender.send(batch).is_err() || failed {
                    return;
                }
            }
        });
        let schema = py.detach(move || schema.recv());
        let schema =
            schema.map_err(|_| PyRuntimeError::new_err("the core failed unexpectedly"))?.map_err(to_py)?;
        Ok(Self { reader: Mutex::new(Some(Reader { schema, batches })), notes })
    }
}

#[pymethods]
impl PyPredictionStream {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Consumers must cope with another schema than they ask for.
        let _ = requested_schema;
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader.ok_or_else(|| {
            PyValueError::new_err(
                "the stream was read already\nhint: predict again, or collect it into a table first",
            )
        })?;
        arrow::export(py, Box::new(reader))
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
