//! `inducing._core`: what the Python package needs of the library. Conversion, errors and signals; no mathematics.
//!
//! `python/inducing/_core.pyi` says what each function takes and returns; the package around it is pure Python.

mod head;

use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    head::register(module)
}
