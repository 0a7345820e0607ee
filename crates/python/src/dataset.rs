//! What is learned from and predicted.

use crate::arrow;
use crate::errors::to_py;
use arrow_array::{Array, RecordBatchReader};
use data::{Batches, ColumnType, ImageSet, ReadOptions};
use inducing::{Dataset, DatasetReader};
use numpy::{PyReadonlyArray1, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Rows to learn from or to predict.
#[pyclass(name = "Dataset", module = "inducing._core", frozen)]
pub(crate) struct PyDataset {
    pub(crate) data: Dataset,
    /// Of tables from Arrow or columns.
    batches: Option<Batches>,
}

#[pymethods]
impl PyDataset {
    #[staticmethod]
    #[pyo3(signature = (stream, *, name = "table", column_types = None, in_memory = true))]
    fn from_arrow(
        py: Python<'_>,
        stream: &Bound<'_, PyAny>,
        name: &str,
        column_types: Option<BTreeMap<String, String>>,
        in_memory: bool,
    ) -> PyResult<Self> {
        let options = options(column_types)?;
        let stream = arrow::import(stream)?;
        let batches = match in_memory {
            true => {
                let schema = stream.schema();
                // The stream may be Python's own.
                let batches: Result<Vec<_>, _> = py.detach(|| stream.collect());
                let batches = batches.map_err(|error| {
                    PyValueError::new_err(format!("{name}: not a readable arrow stream: {error}"))
                })?;
                Batches::new(name, schema, batches)
            }
            false => Batches::stream(name, stream),
        };
        Ok(Self::of(batches, options))
    }

    #[staticmethod]
    #[pyo3(signature = (columns, *, name = "table", column_types = None))]
    fn from_columns(
        columns: Vec<(String, Bound<'_, PyAny>)>,
        name: &str,
        column_types: Option<BTreeMap<String, String>>,
    ) -> PyResult<Self> {
        let batch = arrow::batch(columns)?;
        Ok(Self::of(Batches::new(name, batch.schema(), vec![batch]), options(column_types)?))
    }

    #[staticmethod]
    #[pyo3(signature = (pixels, labels = None, classes = Vec::new(), *, name = "images"))]
    fn from_images(
        pixels: PyReadonlyArrayDyn<'_, u8>,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        classes: Vec<String>,
        name: &str,
    ) -> PyResult<Self> {
        let (count, height, width, channels) = match *pixels.shape() {
            [n, h, w] => (n, h, w, 1),
            [n, h, w, c] if c == 1 || c == 3 => (n, h, w, c),
            ref other => {
                return Err(PyValueError::new_err(format!(
                    "images have the shape {other:?}\nhint: give [N, H, W], or [N, H, W, C] with 1 or 3 colours"
                )));
            }
        };
        if count * height * width == 0 {
            return Err(PyValueError::new_err(format!(
                "{name}: there are no images, or they have no pixels"
            )));
        }
        let labels = labels.map(|labels| labels.as_array().to_vec());
        if let Some(labels) = &labels {
            if labels.len() != count {
                return Err(PyValueError::new_err(format!("{count} images, but {} labels", labels.len())));
            }
            if let Some(label) = labels.iter().find(|label| **label as usize >= classes.len()) {
                return Err(PyValueError::new_err(format!("label {label}, but {} classes", classes.len())));
            }
        }
        let pixels = pixels.as_array().iter().copied().collect();
        let (names, origin) = (Vec::new(), name.to_owned());
        let classes = if labels.is_some() { classes } else { Vec::new() };
        let set = ImageSet { pixels, height, width, channels, labels, classes, names, origin };
        Ok(Self { data: Dataset::from_images(set), batches: None })
    }

    #[staticmethod]
    #[pyo3(signature = (path, *, data_dir = None))]
    fn read(path: &str, data_dir: Option<String>) -> PyResult<Self> {
        let reader = DatasetReader { data_dir: data_dir.map(Into::into), ..DatasetReader::default() };
        Ok(Self { data: reader.read(path).map_err(to_py)?, batches: None })
    }

    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let Some(batches) = &self.batches else { return Vec::new() };
        let schema = batches.schema();
        schema.fields().iter().map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    }

    #[getter]
    fn rows(&self) -> Option<usize> {
        let batches = self.batches.as_ref()?.in_memory()?;
        Some(batches.iter().map(arrow_array::RecordBatch::num_rows).sum())
    }

    fn buffer_addresses(&self) -> Vec<usize> {
        let batches = self.batches.as_ref().and_then(Batches::in_memory).unwrap_or_default();
        let columns = batches.iter().flat_map(arrow_array::RecordBatch::columns);
        let last = columns
            .filter_map(|column| column.to_data().buffers().last().map(|values| values.as_ptr() as usize));
        last.collect()
    }
}

impl PyDataset {
    fn of(batches: Batches, options: ReadOptions) -> Self {
        Self { data: Dataset::from_batches(batches.clone(), options), batches: Some(batches) }
    }
}

fn options(column_types: Option<BTreeMap<String, String>>) -> PyResult<ReadOptions> {
    let kind = |(name, kind): (String, String)| -> PyResult<(String, ColumnType)> {
        match serde_json::from_value(serde_json::Value::String(kind.clone())) {
            Ok(kind) => Ok((name, kind)),
            Err(_) => Err(PyValueError::new_err(format!(
                "column `{name}`: there is no type {kind:?}\nhint: it is one of number, boolean, category, text, date_time, ignore"
            ))),
        }
    };
    let column_types = column_types.unwrap_or_default().into_iter().map(kind).collect::<PyResult<_>>()?;
    Ok(ReadOptions { column_types, ..ReadOptions::default() })
}
