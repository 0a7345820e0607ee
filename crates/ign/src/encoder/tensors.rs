//! Numbers in and out of burn's tensors, for operations that are written by hand.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Flex, ops::FloatTensorOps};
use burn::tensor::TensorData;

/// All numbers, row-major.
pub(super) fn to_vec(tensor: FloatTensor<Flex>) -> Vec<f32> {
    tensor.to_contiguous().into_data().try_into_vec().expect("the encoder computes in f32")
}

/// A tensor of any shape.
pub(super) fn from_shape<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FloatTensor<Flex> {
    Flex::float_from_data(TensorData::new(values, shape), &Default::default())
}

/// A matrix of so many columns.
pub(super) fn from_vec(values: Vec<f32>, width: usize) -> FloatTensor<Flex> {
    let rows = values.len() / width;
    from_shape(values, [rows, width])
}
