//! A convolutional network (docs/model-file.md, section 6).

use crate::error::ExportError;
use crate::graph::{Attribute, Graph, Value};
use crate::tensors::Tensors;
use inducing::nn::cnn::CnnShape;

/// g `[n, D]` of network k at standardised images `x [n, H·W·C]`.
pub(crate) fn features(
    graph: &mut Graph,
    tensors: &Tensors<'_>,
    k: usize,
    shape: &CnnShape,
    x: Value,
) -> Result<Value, ExportError> {
    let tensor = |name: &str| tensors.of_network(k, &format!("encoder.{name}"));
    let images = graph.reshape(x, &[-1, shape.height as i64, shape.width as i64, shape.channels as i64]);
    let mut h = graph.transpose(images, &[0, 3, 1, 2]);
    let (mut height, mut width, mut inputs) = (shape.height, shape.width, shape.channels);
    let stem = (shape.stem > 0).then_some((shape.stem, false));
    let blocks =
        shape.blocks.iter().flat_map(|&channels| (0..shape.convolutions).map(move |i| (channels, i == 0)));
    for (i, (outputs, pools)) in stem.into_iter().chain(blocks).enumerate() {
        // Rows by kernel row, kernel column, input channel.
        let weight = tensor(&format!("convolutions.{i}.weight"))?;
        let at = |o: usize, c: usize, place: usize| weight.values[(place * inputs + c) * outputs + o];
        let turned: Vec<f32> = (0..outputs)
            .flat_map(|o| (0..inputs).flat_map(move |c| (0..9).map(move |place| (o, c, place))))
            .map(|(o, c, place)| at(o, c, place))
            .collect();
        let weight = graph.f32s(&[outputs, inputs, 3, 3], &turned);
        let padded = vec![Attribute::Ints("pads", vec![1; 4]), Attribute::Ints("kernel_shape", vec![3, 3])];
        h = graph.node("Conv", &[h, weight], padded, h.ty);
        if pools {
            let halves =
                vec![Attribute::Ints("kernel_shape", vec![2, 2]), Attribute::Ints("strides", vec![2, 2])];
            h = graph.node("MaxPool", &[h], halves, h.ty);
            (height, width) = (height / 2, width / 2);
        }
        let (gain, shift) =
            (tensor(&format!("convolutions.{i}.gain"))?, tensor(&format!("convolutions.{i}.shift"))?);
        let groups =
            graph.reshape(h, &[-1, (outputs / shape.group) as i64, (shape.group * height * width) as i64]);
        let mean = graph.reduce("ReduceMean", groups, &[2], true);
        let centred = graph.sub(groups, mean);
        let squares = graph.square(centred);
        let variance = graph.reduce("ReduceMean", squares, &[2], true);
        let variance = graph.plus(variance, 1e-5);
        let deviation = graph.sqrt(variance);
        let normal = graph.div(centred, deviation);
        let normal = graph.reshape(normal, &[-1, outputs as i64, height as i64, width as i64]);
        let [gain, shift] = [gain, shift].map(|tensor| graph.f32s(&[outputs, 1, 1], tensor.values));
        let scaled = graph.mul(normal, gain);
        let moved = graph.add(scaled, shift);
        h = graph.map("Relu", moved);
        inputs = outputs;
    }
    let by_place = graph.transpose(h, &[0, 2, 3, 1]);
    let flat = graph.reshape(by_place, &[-1, (height * width * inputs) as i64]);
    let (weight, bias) = (tensor("weight")?, tensor("bias")?);
    let (weight, bias) = (graph.f32s(weight.shape, weight.values), graph.f32s(bias.shape, bias.values));
    let product = graph.matmul(flat, weight);
    Ok(graph.add(product, bias))
}
