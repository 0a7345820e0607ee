//! The library's errors as Python's, with the same words and hints.

use data::Problem;
use inducing::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyValueError};
use std::io::ErrorKind;

/// Files that are not there are `FileNotFoundError`, what the disk refuses `OSError`, all else is `ValueError`.
pub(crate) fn to_py(error: Error) -> PyErr {
    let text = error.to_string();
    match &error {
        Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(text)
        }
        Error::Io { .. } => PyOSError::new_err(text),
        Error::Data(data) => match *data.problem {
            Problem::NoSuchFile => PyFileNotFoundError::new_err(text),
            Problem::Io { .. } | Problem::NoSpace { .. } => PyOSError::new_err(text),
            _ => PyValueError::new_err(text),
        },
        Error::Stopped { .. } | Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
