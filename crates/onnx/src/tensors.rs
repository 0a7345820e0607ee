//! The model's tensors by name.

use crate::error::ExportError;
use inducing::Model;
use std::collections::HashMap;

/// Tensors of a model, or of one of its networks.
pub(crate) struct Tensors<'a> {
    by_name: HashMap<String, (Vec<usize>, &'a [f32])>,
}

/// A tensor: shape and values.
#[derive(Clone, Copy)]
pub(crate) struct Tensor<'a> {
    pub(crate) shape: &'a [usize],
    pub(crate) values: &'a [f32],
}

impl<'a> Tensors<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        let tensors = model.tensors().into_iter();
        Self { by_name: tensors.map(|tensor| (tensor.name, (tensor.shape, tensor.values))).collect() }
    }

    pub(crate) fn get(&self, name: &str) -> Result<Tensor<'_>, ExportError> {
        let missing = || ExportError::Incomplete(format!("the tensor `{name}`"));
        self.by_name.get(name).map(|(shape, values)| Tensor { shape, values }).ok_or_else(missing)
    }

    /// A tensor of network k.
    pub(crate) fn of_network(&self, k: usize, name: &str) -> Result<Tensor<'_>, ExportError> {
        if k == 0 { self.get(name) } else { self.get(&format!("{k}.{name}")) }
    }
}

impl<'a> Tensor<'a> {
    /// Part `index` along the first axis, with its shape.
    pub(crate) fn part(&self, index: usize) -> Tensor<'a> {
        let shape = &self.shape[1..];
        let each: usize = shape.iter().product();
        Tensor { shape, values: &self.values[index * each..][..each] }
    }

    /// Column `index` of a matrix.
    pub(crate) fn column(&self, index: usize) -> Vec<f32> {
        self.values.iter().skip(index).step_by(self.shape[1]).copied().collect()
    }
}

/// In 64 bits.
pub(crate) fn widen(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}
