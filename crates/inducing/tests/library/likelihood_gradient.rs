//! The gradient of the likelihood by the parameters of every encoder, through the head, against differences of the
//! likelihood itself.

use crate::fixture::{noise, stripes};
use data::{ImageSchema, Texts};
use gp::{Coupling, InducingPoints, Kernel, Likelihood, Objective, Process};
use inducing::dataset::{Images, Inputs, Matrix};
use inducing::nn::cnn::{Cnn, CnnShape};
use inducing::nn::graph::{GraphEncoder, GraphKind, GraphShape, Graphs, Pooling};
use inducing::nn::mlp::{Mlp, MlpShape, PeriodicShape};
use inducing::nn::text::{self, TextEncoder, TextShape, TowerShape};
use inducing::nn::{Encoder, Mode};
use std::sync::Arc;

const ROWS: usize = 6;
const FEATURES: usize = 4;
const INDUCING: usize = 5;

/// Loss of the batch at these features, and its gradient by them.
fn head(phi: &[f32], classes: bool) -> (f64, Vec<f32>) {
    let draw = |count: usize, from: u64| -> Vec<f64> {
        (0..count as u64).map(|i| 2.0 * noise(from + i) - 1.0).collect()
    };
    let inducing = InducingPoints::new(&draw(INDUCING * FEATURES, 100), &draw(FEATURES, 200), &draw(1, 300));
    let kernel = Kernel::Rbf { scale: 1.2, gamma: 0.4 };
    let y: Vec<f64> = draw(ROWS, 400).iter().map(|y| if classes { y.signum() } else { *y }).collect();
    let phi: Vec<f64> = phi.iter().map(|&x| f64::from(x)).collect();
    let mut objective = Objective::new(ROWS, &kernel, &inducing, 1);
    let likelihood = if classes {
        Likelihood::Probit { weights: &[] }
    } else {
        Likelihood::Gaussian { log_sigma: &[-1.0], weights: &[] }
    };
    let (jitter, coupling) = (1e-6, Coupling::Batch);
    let process = Process { kernel: &kernel, inducing: &inducing, likelihood, jitter, coupling };
    let loss = objective.evaluate_batch(&process, &phi, &y).expect("well-posed").loss;
    (loss, objective.gradient().phi.iter().map(|&g| g as f32).collect())
}

fn features(encoder: &dyn Encoder, theta: &[f32], inputs: &Inputs) -> Vec<f32> {
    let rows: Vec<usize> = (0..ROWS).collect();
    encoder.features(theta, inputs, &rows).expect("inputs of this encoder")
}

/// Along directions that move all parameters at once: features in f32 carry 1e-7, which divided by 2h is 1e-4 of a slope
/// of about one. A kink of a ReLU inside of ±h shows as a disagreement of two step sizes, and another direction is taken.
fn check(name: &str, encoder: &dyn Encoder, inputs: &Inputs) {
    const H: f32 = 2e-3;
    let theta = encoder.initialise(3);
    let theta: Vec<f32> = theta.iter().enumerate().map(|(i, x)| x + 0.05 * (i as f32 * 2.3).sin()).collect();
    let rows: Vec<usize> = (0..ROWS).collect();
    for classes in [false, true] {
        let forward = encoder.forward(&theta, inputs, &rows, Mode::Predict);
        let (phi, backward) = forward.expect("inputs of this encoder");
        let (_, d_phi) = head(&phi, classes);
        let mut slopes = vec![f32::NAN; theta.len()];
        backward.pull_back(&d_phi, &mut slopes, None);
        let mut compared = 0;
        for direction in 0..12_u64 {
            let v: Vec<f32> =
                (0..theta.len() as u64).map(|i| 2.0 * noise(977 * direction + i) as f32 - 1.0).collect();
            let length = v.iter().map(|v| v * v).sum::<f32>().sqrt();
            let difference = |h: f32| {
                let at = |h: f32| {
                    let moved: Vec<f32> = theta.iter().zip(&v).map(|(x, v)| x + h * v / length).collect();
                    head(&features(encoder, &moved, inputs), classes).0
                };
                (at(h) - at(-h)) / (2.0 * f64::from(h))
            };
            let slope: f64 = slopes.iter().zip(&v).map(|(g, v)| f64::from(g * v / length)).sum();
            let steepest = slopes.iter().map(|g| f64::from(g * g)).sum::<f64>().sqrt();
            let limit = 5e-3 * steepest;
            let (wide, narrow) = (difference(2.0 * H), difference(H));
            if (wide - narrow).abs() < limit {
                assert!((slope - narrow).abs() < limit, "{name}, classes {classes}: {slope} {narrow}");
                compared += 1;
            }
        }
        assert!(compared >= 6, "{name}: {compared} directions without a kink");
    }
}

fn mlp_shape(features: usize) -> MlpShape {
    MlpShape {
        numeric: 2,
        width: 2,
        hidden: vec![6],
        features,
        members: 1,
        periodic: Some(PeriodicShape { frequencies: 2, width: 3, scale: 0.3 }),
        skip: true,
        tables: Vec::new(),
        table_width: 2,
        dropout: 0.0,
    }
}

fn matrix() -> Matrix {
    let texts = |row: usize| (0..2 + row).map(move |t| 1 + ((t * t + 5 * row) % 7) as u32);
    let tokens = (0..ROWS).flat_map(texts).collect();
    let mut offsets = vec![0];
    (0..ROWS).for_each(|row| offsets.push(offsets[row] + 2 + row));
    let x = (0..2 * ROWS).map(|i| (i as f32 * 1.7).sin()).collect();
    Matrix { x, width: 2, texts: vec![Texts { tokens, offsets }], ..Matrix::default() }
}

#[test]
fn of_dense_layers() {
    let inputs = Inputs::Table(Matrix { texts: Vec::new(), ..matrix() });
    check("mlp", &Mlp::new(mlp_shape(FEATURES)).expect("a sound shape"), &inputs);
}

#[test]
fn of_convolutions() {
    let set = stripes(ROWS, 3, 0);
    let rows: Vec<usize> = (0..ROWS).collect();
    let (schema, _) = ImageSchema::fit(&set, &rows).expect("images");
    let [height, width, channels] = [set.height, set.width, set.channels];
    let shape = CnnShape {
        height,
        width,
        channels,
        stem: 8,
        blocks: vec![8],
        convolutions: 1,
        group: 4,
        features: FEATURES,
    };
    let inputs = Inputs::Images(Images::new(Arc::new(set), &schema, false));
    check("cnn", &Cnn::new(shape).expect("a sound shape"), &inputs);
}

#[test]
fn of_texts_with_columns_beside_them() {
    let tower = TowerShape {
        vocabulary: 8,
        length: 8,
        width: 4,
        heads: 2,
        feed_forward: 6,
        blocks: 1,
        pooling: text::Pooling::MeanMax,
    };
    let (towers, beside) = (vec![tower], Some(mlp_shape(3)));
    let shape = TextShape { towers, beside, features: FEATURES, members: 1, dropout: 0.0, word_dropout: 0.0 };
    check("text", &TextEncoder::new(shape).expect("a sound shape"), &Inputs::Table(matrix()));
}

#[test]
fn of_graphs() {
    // Stars and chains of 3 to 8 nodes.
    let (mut nodes, mut neighbours, mut edges) = (vec![0], vec![0], Vec::new());
    for graph in 0..ROWS {
        let n = 3 + graph;
        for node in 0..n {
            let own = (0..n).filter(|&other| match graph % 2 {
                0 => (node == 0) != (other == 0),
                _ => node.abs_diff(other) == 1,
            });
            edges.extend(own.map(|other| other as u32));
            neighbours.push(edges.len());
        }
        nodes.push(neighbours.len() - 1);
    }
    let x = (0..2 * (neighbours.len() - 1)).map(|i| (i as f32 * 0.7).sin()).collect();
    let inputs = Inputs::Graphs(Graphs { x, width: 2, nodes, neighbours, edges });
    for (kind, pooling) in
        [(GraphKind::Bag, Pooling::Max), (GraphKind::Bag, Pooling::Mean), (GraphKind::Gin, Pooling::Sum)]
    {
        let shape = GraphShape {
            kind,
            inputs: 2,
            width: 5,
            rounds: 2,
            node_pooling: pooling,
            graph_pooling: Pooling::Mean,
            hidden: vec![6],
            features: FEATURES,
            members: 1,
            dropout: 0.0,
        };
        check("graph", &GraphEncoder::new(shape).expect("a sound shape"), &inputs);
    }
}
