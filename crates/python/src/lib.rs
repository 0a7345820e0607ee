//! `inducing._core`: what the Python package needs of the library. Conversion, errors and signals; no mathematics.
//!
//! `python/inducing/_core.pyi` says what each function takes and returns; the package around it is pure Python.

mod arrow;
mod dataset;
mod errors;
mod fit;
mod head;
mod model;
mod predict;
mod run;
mod stream;

use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<dataset::PyDataset>()?;
    module.add_class::<model::PyModel>()?;
    module.add_class::<stream::PyPredictionStream>()?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    head::register(module)
}
