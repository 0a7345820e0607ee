//! Convolutions with group norm and pooling.

use crate::theta::Theta;
use crate::{assert_agrees, random};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::{conv2d, max_pool2d};
use burn::tensor::ops::{ConvOptions, MaxPoolOptions};
use inducing::dataset::{Inputs, Matrix};
use inducing::nn::cnn::{Cnn, CnnShape};

/// ```text
/// h ← relu(norm(pool(conv(h))))     Φ = flatten(h) W + b     pool: the first of each block alone
/// ```
fn reference(theta: &Theta, shape: &CnnShape, x: Tensor<2>) -> Tensor<2> {
    let n = x.dims()[0];
    // Ours are [N, H, W, C], burn's [N, C, H, W].
    let mut h = x.reshape([n, shape.height, shape.width, shape.channels]).permute([0, 3, 1, 2]);
    let stem = (shape.stem > 0).then_some((shape.stem, false));
    let blocks = shape.blocks.iter().flat_map(|&c| (0..shape.convolutions).map(move |place| (c, place == 0)));
    for (index, (outputs, pool)) in stem.into_iter().chain(blocks).enumerate() {
        let name = |part: &str| format!("convolutions.{index}.{part}");
        let weight =
            theta.matrix(&name("weight")).reshape([3, 3, h.dims()[1], outputs]).permute([3, 2, 0, 1]);
        h = conv2d(h, weight, None, ConvOptions::new([1, 1], [1, 1], [1, 1], 1));
        if pool {
            h = max_pool2d(h, MaxPoolOptions::new([2, 2]));
        }
        let [_, c, height, width] = h.dims();
        let groups = h.reshape([n, c / shape.group, shape.group * height * width]);
        let centred = groups.clone() - groups.mean_dim(2);
        let variance = (centred.clone() * centred.clone()).mean_dim(2);
        let normed = (centred / (variance + 1e-5).sqrt()).reshape([n, c, height, width]);
        let [gain, shift] = ["gain", "shift"].map(|part| theta.matrix(&name(part)).reshape([1, c, 1, 1]));
        h = relu(normed * gain + shift);
    }
    let [_, c, height, width] = h.dims();
    let flat = h.permute([0, 2, 3, 1]).reshape([n, height * width * c]);
    flat.matmul(theta.matrix("weight")) + theta.matrix("bias")
}

fn check(shape: &CnnShape) {
    // More than one block of four images, the last one not full.
    let width = shape.height * shape.width * shape.channels;
    let x = random(6 * width, 5);
    let inputs = Inputs::Table(Matrix { x: x.clone(), width, ..Matrix::default() });
    let cnn = Cnn::new(shape.clone()).expect("a sound shape");
    assert_agrees(&cnn, &inputs, Some((&x, width)), &|theta, x| reference(theta, shape, x.expect("given")));
}

fn small() -> CnnShape {
    CnnShape {
        height: 8,
        width: 8,
        channels: 1,
        stem: 0,
        blocks: vec![4],
        convolutions: 1,
        group: 2,
        features: 5,
    }
}

#[test]
fn one_convolution_agrees() {
    check(&small());
}

#[test]
fn stem_and_deep_blocks_agree() {
    check(&CnnShape { channels: 3, stem: 4, blocks: vec![8, 12], convolutions: 2, group: 4, ..small() });
}

#[test]
fn odd_sizes_and_a_group_of_all_channels_agree() {
    check(&CnnShape {
        height: 7,
        width: 11,
        channels: 2,
        blocks: vec![6, 6],
        convolutions: 2,
        group: 6,
        ..small()
    });
}
