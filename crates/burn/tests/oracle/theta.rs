//! θ of one of the library's encoders as tensors of burn, by the names of its layout.

use burn::tensor::{Device, Gradients, Tensor, TensorData};
use inducing::nn::Layout;
use std::collections::HashMap;

/// The parameters by name, each a leaf of the graph.
pub(crate) struct Theta(HashMap<String, (Tensor<1>, Vec<usize>)>);

impl Theta {
    pub(crate) fn new(layout: &Layout, theta: &[f32]) -> Self {
        let leaf = |values: &[f32]| {
            let data = TensorData::new(values.to_vec(), [values.len()]);
            Tensor::from_data(data, &device()).require_grad()
        };
        let slots = layout.slots().iter();
        Self(slots.map(|s| (s.name.clone(), (leaf(s.param.of(theta)), s.shape.clone()))).collect())
    }

    /// The parameters whose names begin with a prefix and a dot, by the rest of their names.
    pub(crate) fn below(&self, prefix: &str) -> Self {
        let start = format!("{prefix}.");
        let own = |(name, leaf): (&String, &(Tensor<1>, Vec<usize>))| {
            Some((name.strip_prefix(&start)?.to_owned(), leaf.clone()))
        };
        Self(self.0.iter().filter_map(own).collect())
    }

    fn get(&self, name: &str) -> (Tensor<1>, &[usize]) {
        let (tensor, shape) = self.0.get(name).unwrap_or_else(|| panic!("no parameter `{name}`"));
        (tensor.clone(), shape)
    }

    /// A matrix, or a vector as one row.
    pub(crate) fn matrix(&self, name: &str) -> Tensor<2> {
        match self.get(name) {
            (tensor, &[columns]) => tensor.reshape([1, columns]),
            (tensor, &[rows, columns]) => tensor.reshape([rows, columns]),
            (_, shape) => panic!("`{name}` has shape {shape:?}"),
        }
    }

    /// One of several matrices.
    pub(crate) fn part(&self, name: &str, index: usize) -> Tensor<2> {
        match self.get(name) {
            (tensor, &[count, rows, columns]) => {
                tensor.reshape([count, rows * columns]).narrow(0, index, 1).reshape([rows, columns])
            }
            (_, shape) => panic!("`{name}` has shape {shape:?}"),
        }
    }

    /// `h W + b` of one member.
    pub(crate) fn dense(&self, name: &str, member: usize, h: Tensor<2>) -> Tensor<2> {
        h.matmul(self.part(&format!("{name}.weight"), member)) + self.part(&format!("{name}.bias"), member)
    }

    /// The gradient of a parameter; zeros where nothing depends on it.
    pub(crate) fn gradient(&self, name: &str, gradients: &mut Gradients) -> Vec<f32> {
        let (tensor, _) = self.get(name);
        let len = tensor.dims()[0];
        tensor.grad_remove(gradients).map_or_else(|| vec![0.0; len], to_vec)
    }
}

/// burn's default, with autodiff.
pub(crate) fn device() -> Device {
    Device::default().autodiff()
}

/// Row-major numbers as a matrix.
pub(crate) fn matrix(values: &[f32], columns: usize) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values.to_vec(), [values.len() / columns, columns]), &device())
}

/// All numbers of a tensor.
pub(crate) fn to_vec<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec_as().expect("f32")
}
