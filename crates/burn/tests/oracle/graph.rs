//! Graphs: bags of bags and graph isomorphism networks, with dense matrices for sums and means, and row by row for maxima.

use crate::theta::{Theta, device, matrix};
use crate::{assert_agrees, random};
use burn::tensor::{Int, Tensor, TensorData, activation::relu};
use inducing::dataset::Inputs;
use inducing::nn::graph::{GraphEncoder, GraphKind, GraphShape, Graphs, Pooling};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Each bag's rows of `h [n, W]`, pooled: `[bags, W]`.
fn pool(h: &Tensor<2>, bags: &[Vec<usize>], pooling: Pooling) -> Tensor<2> {
    let [n, width] = h.dims();
    if pooling == Pooling::Max {
        let largest = |bag: &Vec<usize>| {
            if bag.is_empty() {
                return Tensor::zeros([1, width], &device());
            }
            let rows: Vec<i64> = bag.iter().map(|&row| row as i64).collect();
            let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [bag.len()]), &device());
            h.clone().select(0, rows).max_dim(0)
        };
        return Tensor::cat(bags.iter().map(largest).collect(), 0);
    }
    let mut membership = vec![0.0; bags.len() * n];
    for (bag, membership) in bags.iter().zip(membership.chunks_exact_mut(n)) {
        let weight = if pooling == Pooling::Mean { 1.0 / bag.len() as f32 } else { 1.0 };
        bag.iter().for_each(|&row| membership[row] += weight);
    }
    matrix(&membership, n).matmul(h.clone())
}

/// The nodes of each graph, and the neighbours of each node among all nodes.
fn bags(graphs: &Graphs) -> [Vec<Vec<usize>>; 2] {
    let nodes: Vec<Vec<usize>> = graphs.nodes.windows(2).map(|w| (w[0]..w[1]).collect()).collect();
    let neighbours = nodes.iter().flatten().map(|&node| {
        let first = *graphs.nodes.iter().rfind(|&&first| first <= node).expect("the first begins at 0");
        let edges = &graphs.edges[graphs.neighbours[node]..graphs.neighbours[node + 1]];
        edges.iter().map(|&to| first + to as usize).collect()
    });
    let neighbours = neighbours.collect();
    [nodes, neighbours]
}

/// The module's equations, word by word.
fn reference(theta: &Theta, shape: &GraphShape, graphs: &Graphs) -> Tensor<2> {
    let ([nodes, neighbours], x) = (bags(graphs), matrix(&graphs.x, graphs.width));
    let member = |k: usize| {
        let g = match shape.kind {
            GraphKind::Bag => {
                let mut c = x.clone();
                for t in 0..shape.rounds {
                    let m = relu(theta.dense(&format!("rounds.{t}.first"), k, c));
                    c = Tensor::cat(vec![pool(&m, &neighbours, shape.node_pooling), x.clone()], 1);
                }
                pool(&relu(theta.dense("last", k, c)), &nodes, shape.graph_pooling)
            }
            GraphKind::Gin => {
                let mut h = x.clone();
                let mut g = vec![pool(&h, &nodes, shape.graph_pooling)];
                for t in 0..shape.rounds {
                    let epsilon = theta.part(&format!("rounds.{t}.epsilon"), k); // [1, 1]
                    let s = h.clone() * (epsilon + 1.0) + pool(&h, &neighbours, shape.node_pooling);
                    let a = relu(theta.dense(&format!("rounds.{t}.first"), k, s));
                    h = relu(theta.dense(&format!("rounds.{t}.second"), k, a));
                    g.push(pool(&h, &nodes, shape.graph_pooling));
                }
                Tensor::cat(g, 1)
            }
        };
        let depth = shape.hidden.len();
        (0..=depth).fold(g, |u, layer| {
            let u = theta.dense(&format!("layers.{layer}"), k, u);
            if layer < depth { relu(u) } else { u }
        })
    };
    Tensor::cat((0..shape.members).map(member).collect(), 1)
}

/// Twelve graphs of up to nine nodes; one without edges, one without nodes.
fn graphs(width: usize) -> Graphs {
    let mut rng = StdRng::seed_from_u64(11);
    let (mut nodes, mut neighbours, mut edges) = (vec![0], vec![0], Vec::new());
    for graph in 0..12 {
        let n: u32 = if graph == 4 { 0 } else { rng.random_range(1..10) };
        let linked: Vec<[u32; 2]> = (0..n * u32::from(graph != 7))
            .map(|_| [rng.random_range(0..n), rng.random_range(0..n)])
            .filter(|[a, b]| a != b)
            .collect();
        for node in 0..n {
            edges.extend(linked.iter().filter(|e| e[0] == node).map(|e| e[1]));
            edges.extend(linked.iter().filter(|e| e[1] == node).map(|e| e[0]));
            neighbours.push(edges.len());
        }
        nodes.push(neighbours.len() - 1);
    }
    let x = random((neighbours.len() - 1) * width, 12);
    Graphs { x, width, nodes, neighbours, edges }
}

fn check(kind: GraphKind) {
    let poolings = [Pooling::Max, Pooling::Mean, Pooling::Sum];
    for (node_pooling, graph_pooling) in poolings.iter().flat_map(|&a| poolings.map(|b| (a, b))) {
        for (rounds, members, hidden) in [(0, 1, vec![]), (1, 1, vec![5]), (2, 2, vec![6])] {
            let (inputs, width, features, dropout) = (3, 8, 6, 0.0);
            let shape = GraphShape {
                kind,
                inputs,
                width,
                rounds,
                node_pooling,
                graph_pooling,
                hidden,
                features,
                members,
                dropout,
            };
            let (graphs, encoder) = (graphs(3), GraphEncoder::new(shape.clone()).expect("a sound shape"));
            let read = Inputs::Graphs(graphs.clone());
            assert_agrees(&encoder, &read, None, &|theta, _| reference(theta, &shape, &graphs));
        }
    }
}

#[test]
fn bags_of_bags_agree_for_all_poolings() {
    check(GraphKind::Bag);
}

#[test]
fn graph_isomorphism_networks_agree_for_all_poolings() {
    check(GraphKind::Gin);
}
