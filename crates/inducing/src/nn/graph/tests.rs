//! What the tests share: shapes, graphs, parameters, comparison.

mod backward;
mod forward;
mod layout;
mod naive;
mod refusals;

use super::*;
use rand::RngExt;

const POOLINGS: [Pooling; 3] = [Pooling::Max, Pooling::Mean, Pooling::Sum];
const KINDS: [GraphKind; 2] = [GraphKind::Bag, GraphKind::Gin];

fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn shape(kind: GraphKind) -> GraphShape {
    GraphShape {
        kind,
        inputs: 3,
        width: 4,
        rounds: 2,
        node_pooling: Pooling::Mean,
        graph_pooling: Pooling::Sum,
        hidden: vec![5],
        features: 4,
        members: 2,
        dropout: 0.3,
    }
}

/// All poolings, 0 to 2 rounds, one member and two, without and with a dense layer.
fn shapes(kind: GraphKind) -> Vec<GraphShape> {
    let mut shapes = Vec::new();
    for choice in 0..108 {
        let (rounds, node_pooling) = (choice % 3, POOLINGS[choice / 3 % 3]);
        if rounds == 0 && node_pooling != Pooling::Max {
            continue; // nobody looks at neighbours
        }
        shapes.push(GraphShape {
            rounds,
            node_pooling,
            graph_pooling: POOLINGS[choice / 9 % 3],
            members: 1 + choice / 27 % 2,
            hidden: if choice < 54 { vec![] } else { vec![5] },
            ..shape(kind)
        });
    }
    shapes
}

/// Graphs from numbers of nodes and lists of undirected edges.
fn graphs(parts: &[(usize, Vec<[u32; 2]>)], width: usize, seed: u64) -> Graphs {
    let (mut nodes, mut neighbours, mut edges) = (vec![0], vec![0], Vec::new());
    for (n, list) in parts {
        for node in 0..*n as u32 {
            edges.extend(list.iter().filter(|e| e[0] == node).map(|e| e[1]));
            edges.extend(list.iter().filter(|e| e[1] == node).map(|e| e[0]));
            neighbours.push(edges.len());
        }
        nodes.push(neighbours.len() - 1);
    }
    let n = neighbours.len() - 1;
    Graphs { x: numbers(n * width, seed), width, nodes, neighbours, edges }
}

/// A triangle with a tail, one node alone, none, three nodes without an edge, two parts, a star.
fn examples() -> Graphs {
    let parts = [
        (4, vec![[0, 1], [1, 2], [0, 2], [2, 3]]),
        (1, vec![]),
        (0, vec![]),
        (3, vec![]),
        (5, vec![[0, 1], [2, 3], [3, 4]]),
        (6, vec![[2, 0], [2, 1], [2, 3], [2, 4], [2, 5]]),
    ];
    graphs(&parts, 3, 3)
}

/// Forty graphs of up to 30 nodes: more than one block of rows, more than one piece of every sum.
fn many_graphs(width: usize) -> Graphs {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut part = || {
        let n: u32 = rng.random_range(1..30);
        let edges = (0..2 * n).map(|_| [rng.random_range(0..n), rng.random_range(0..n)]);
        (n as usize, edges.filter(|[a, b]| a != b).collect())
    };
    let parts: Vec<_> = (0..40).map(|_| part()).collect();
    graphs(&parts, width, 2)
}

/// A shape whose products have more than one tile in every direction.
fn wide(kind: GraphKind) -> GraphShape {
    GraphShape { inputs: 37, width: 35, hidden: vec![18], features: 42, ..shape(kind) }
}

/// An encoder, and parameters whose biases and ε are not zero.
fn encoder(shape: GraphShape) -> (GraphEncoder, Vec<f32>) {
    let encoder = GraphEncoder::new(shape).expect("a sound shape");
    let mut theta = encoder.initialise(5);
    let moves = numbers(theta.len(), 8);
    theta.iter_mut().zip(moves).for_each(|(theta, x)| *theta += 0.2 * x);
    (encoder, theta)
}

fn features(shape: GraphShape, graphs: &Graphs, rows: &[usize]) -> Vec<f32> {
    let (encoder, theta) = encoder(shape);
    encoder.features(&theta, &Inputs::Graphs(graphs.clone()), rows).expect("sound graphs")
}

/// Φ and ∂θ for some ∂Φ; ∂θ is full of NaN before.
fn both_ways(
    (encoder, theta): &(GraphEncoder, Vec<f32>),
    inputs: &Inputs,
    rows: &[usize],
    mode: Mode,
    d_phi: &[f32],
) -> (Vec<f32>, Vec<f32>) {
    let (phi, backward) = encoder.forward(theta, inputs, rows, mode).expect("sound graphs");
    let mut d_theta = vec![f32::NAN; theta.len()];
    backward.pull_back(d_phi, &mut d_theta, None);
    (phi, d_theta)
}

/// 1e-4: rounding of f32 sums of some dozen terms of size one to ten.
fn assert_close(a: &[f32], b: &[f32], what: &dyn std::fmt::Debug) {
    assert_eq!(a.len(), b.len());
    for (index, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= 1e-4 * (1.0 + b.abs()), "{what:?} {index}: {a} and {b}");
    }
}
