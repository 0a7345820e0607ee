//! Arrow's C stream interface, both ways, and NumPy's columns as Arrow arrays: buffers are shared, not copied.

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchReader, StringArray,
    TimestampMicrosecondArray, types,
};
use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use arrow_schema::{Field, Schema};
use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::CStr;
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

const STREAM: &CStr = c"arrow_array_stream";

/// The stream behind an object that has `__arrow_c_stream__`.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    let method = object.getattr("__arrow_c_stream__").map_err(|_| {
        let kind = object.get_type();
        PyTypeError::new_err(format!(
            "expected a table with `__arrow_c_stream__`, got {kind}\nhint: pass a pandas, polars or pyarrow table, or a numpy array"
        ))
    })?;
    let capsule = method.call0()?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a valid stream (Arrow's PyCapsule interface). `from_raw` moves it out and leaves
    // an empty one that is marked as released, so that the capsule's destructor does nothing.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let reader = RecordBatchStreamReader::try_new(stream);
    Ok(Box::new(
        reader.map_err(|error| PyValueError::new_err(format!("not a readable arrow stream: {error}")))?,
    ))
}

/// A stream as a capsule, which releases it if nobody takes it.
pub(crate) fn export(
    py: Python<'_>,
    stream: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(stream), STREAM)
}

/// Columns as one batch: arrays of one dimension, or lists of texts.
pub(crate) fn batch(columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::<ArrayRef>::new());
    for (name, values) in columns {
        let array = array(&values).map_err(|error| {
            PyValueError::new_err(format!("column `{name}`: {}", error.value(values.py())))
        })?;
        if let Some(first) = arrays.first().filter(|first| first.len() != array.len()) {
            return Err(PyValueError::new_err(format!(
                "column `{name}`: expected {} rows, got {}\nhint: all columns have the same length",
                first.len(),
                array.len()
            )));
        }
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// One column.
fn array(values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    macro_rules! shared {
        ($($native:ty => $arrow:ty),+ $(,)?) => {
            $(if let Ok(array) = values.cast::<PyArray1<$native>>() {
                return Ok(Arc::new(PrimitiveArray::<$arrow>::new(share(array), None)));
            })+
        };
    }
    shared!(
        f64 => types::Float64Type, f32 => types::Float32Type, i64 => types::Int64Type, i32 => types::Int32Type,
        i16 => types::Int16Type, i8 => types::Int8Type, u64 => types::UInt64Type, u32 => types::UInt32Type,
        u16 => types::UInt16Type, u8 => types::UInt8Type,
    );
    if let Ok(array) = values.cast::<PyArray1<bool>>() {
        return Ok(Arc::new(BooleanArray::from(array.to_vec()?)));
    }
    if let Ok(array) =
        values.cast::<PyArray1<numpy::datetime::Datetime<numpy::datetime::units::Microseconds>>>()
    {
        let micros = array.to_vec()?.into_iter().map(i64::from);
        // NumPy's NaT.
        let values = micros.map(|micros| (micros != i64::MIN).then_some(micros));
        return Ok(Arc::new(values.collect::<TimestampMicrosecondArray>()));
    }
    match values.extract::<Vec<Option<String>>>() {
        Ok(texts) => Ok(Arc::new(StringArray::from(texts))),
        Err(_) => Err(PyTypeError::new_err(
            "expected numbers, booleans, dates in microseconds or a list of texts\nhint: convert the column",
        )),
    }
}

/// Keeps a NumPy array alive for as long as Arrow reads it.
struct Owner {
    // Nothing looks into it: it is dropped, no more.
    _array: AssertUnwindSafe<Py<PyAny>>,
}

/// The values of an array: its own memory where they lie one after another, else a copy.
fn share<T: Element + ArrowNativeType>(array: &Bound<'_, PyArray1<T>>) -> ScalarBuffer<T> {
    let (length, bytes) = (array.len(), array.len() * size_of::<T>());
    match NonNull::new(array.data().cast::<u8>()) {
        Some(start) if array.is_contiguous() && length > 0 && start.cast::<T>().is_aligned() => {
            let owner = Arc::new(Owner { _array: AssertUnwindSafe(array.clone().into_any().unbind()) });
            // SAFETY: `length` values of `T` begin at `start`, aligned and one after another, and the owner keeps them there. Every
            // bit pattern is a value of these types, so a program that writes into the array meanwhile changes numbers, no more.
            let buffer = unsafe { Buffer::from_custom_allocation(start, bytes, owner) };
            ScalarBuffer::new(buffer, 0, length)
        }
        _ => array.readonly().as_array().iter().copied().collect::<Vec<T>>().into(),
    }
}
