//! The Gaussian process head for networks that live elsewhere: loss and gradients of a batch of features.

use pyo3::prelude::*;

pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
