mod naive;

use super::pool::{Bags, forward, pull_back};
use super::*;
use crate::encoder::parameters;
use naive::naive;
use proptest::prelude::*;
use rand::RngExt;
use rand::seq::SliceRandom;

const POOLINGS: [Pooling; 3] = [Pooling::Max, Pooling::Mean, Pooling::Sum];

fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Every kind and pooling, 0 to 2 rounds.
fn shapes() -> impl Iterator<Item = GraphShape> {
    (0..54).map(|choice| GraphShape {
        kind: if choice % 2 == 0 { GraphKind::Bag } else { GraphKind::Gin },
        inputs: 3,
        width: 4,
        rounds: choice / 2 % 3,
        node_pooling: POOLINGS[choice / 6 % 3],
        graph_pooling: POOLINGS[choice / 18],
        hidden: if choice / 2 % 3 == 1 { vec![5] } else { vec![] },
        features: 4,
        members: 2,
        dropout: 0.3,
    })
}

/// Graphs from lists of undirected edges and numbers of nodes.
fn graphs(parts: &[(usize, Vec<[u32; 2]>)], seed: u64) -> Graphs {
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
    Graphs { x: numbers(n * 3, seed), width: 3, nodes, neighbours, edges }
}

/// A triangle with a tail, one node alone, three nodes without an edge, two parts, a star.
fn examples() -> Graphs {
    let list = [
        (4, vec![[0, 1], [1, 2], [0, 2], [2, 3]]),
        (1, vec![]),
        (3, vec![]),
        (5, vec![[0, 1], [2, 3], [3, 4]]),
        (6, vec![[2, 0], [2, 1], [2, 3], [2, 4], [2, 5]]),
    ];
    graphs(&list, 3)
}

/// A network whose biases and ε are not zero.
fn network(shape: GraphShape, device: &Device) -> GraphNetwork {
    let network = GraphNetwork::new(shape, 5, device);
    let (_, values) = parameters::read(&network);
    let moved: Vec<f32> = values.iter().zip(numbers(values.len(), 8)).map(|(v, x)| v + 0.2 * x).collect();
    parameters::write(network, &moved, device)
}

fn features(network: &GraphNetwork, graphs: &Graphs, rows: &[usize]) -> Vec<f32> {
    network.features_of(graphs, rows, Mode::Predict).into_data().try_into_vec().expect("f32")
}

/// Rounding of f32 sums of some dozen terms of size one to ten.
fn assert_close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-4 * (1.0 + b.abs()), "{a} and {b}");
    }
}

#[test]
fn features_are_those_of_a_double_loop() {
    let (graphs, device) = (examples(), &Device::default());
    assert_eq!(graphs.fault(), None);
    for shape in shapes() {
        let network = network(shape, device);
        let got = features(&network, &graphs, &[0, 1, 2, 3, 4]);
        for (graph, got) in got.chunks_exact(4).enumerate() {
            let members = [0, 1].map(|member| naive(&network, &graphs, graph, member));
            let expected: Vec<f32> = members.concat().iter().map(|&x| x as f32).collect();
            assert_close(got, &expected);
        }
    }
}

/// 2e-3: rounding of f32 divided by it is 1e-4; second differences find the kinks of ReLU and maximum, where there is no
/// derivative to compare with.
#[test]
fn gradients_equal_central_differences() {
    let (graphs, rows) = (examples(), [4, 0, 1, 2, 3]);
    let (plain, tracked) = (Device::default(), Device::default().autodiff());
    let c = numbers(20, 6);
    for (shape, mode) in shapes().flat_map(|s| [(s.clone(), Mode::Predict), (s, Mode::Train { seed: 4 })]) {
        let network = network(shape.clone(), &tracked);
        let (_, theta) = parameters::read(&network);
        let weights = Tensor::<2>::from_data(TensorData::new(c.clone(), [5, 4]), &tracked);
        let mut gradients = (network.features_of(&graphs, &rows, mode) * weights).sum().backward();
        let mut slopes = vec![0.0; theta.len()];
        parameters::take_gradients(&network, &mut gradients, &mut slopes);
        assert!(slopes.iter().any(|&s| s != 0.0));
        let still = parameters::write(network, &theta, &plain);
        let loss = |index: usize, step: f32| {
            let mut theta = theta.clone();
            theta[index] += step;
            let moved = parameters::write(still.clone(), &theta, &plain);
            let phi = moved.features_of(&graphs, &rows, mode).into_data().try_into_vec::<f32>().expect("f32");
            phi.iter().zip(&c).map(|(&phi, &c)| f64::from(phi) * f64::from(c)).sum::<f64>()
        };
        let largest = slopes.iter().fold(0.0_f64, |largest, &s| largest.max(f64::from(s).abs()));
        let (h, here, mut kinks) = (2e-3, loss(0, 0.0), 0);
        for (index, &slope) in slopes.iter().enumerate() {
            let (up, down) = (loss(index, h) - here, here - loss(index, -h));
            let (up, down, slope) = (up / f64::from(h), down / f64::from(h), f64::from(slope));
            let limit = 1e-2 * (slope.abs() + 0.1 * largest);
            if (up - down).abs() > 2.0 * limit {
                kinks += 1;
                continue;
            }
            assert!((0.5 * (up + down) - slope).abs() < limit, "{shape:?} {index}: {up} {down} {slope}");
        }
        assert!(kinks * 5 < theta.len(), "{shape:?}: {kinks} of {} parameters at a kink", theta.len());
    }
}

#[test]
fn of_equal_rows_the_first_gets_the_gradient_of_their_maximum() {
    let bags = Bags::new(vec![0, 3, 3, 5], vec![2, 0, 2, 1, 0], 3);
    let h = [1.0, 5.0, 0.0, 7.0, 1.0, 7.0]; // [1, 3, 2]
    let (out, choice) = forward(&h, [1, 2], &bags, Pooling::Max);
    assert_eq!(out, [1.0, 7.0, 0.0, 0.0, 1.0, 7.0]);
    // Row 2 stands twice in the first bag, ahead of its equal, row 0; the empty bag gives nothing back.
    let d_h = pull_back(&[1.0, 2.0, 9.0, 9.0, 3.0, 4.0], [1, 2], &bags, Pooling::Max, &choice);
    assert_eq!(d_h, [3.0, 0.0, 0.0, 4.0, 1.0, 2.0]);
}

#[test]
fn a_graph_without_nodes_has_features_of_its_own() {
    let empty = graphs(&[(0, vec![]), (2, vec![[0, 1]]), (0, vec![])], 1);
    assert_eq!(empty.fault(), None);
    for shape in shapes() {
        let network = network(shape, &Device::default());
        let together = features(&network, &empty, &[0, 1, 2]);
        assert!(together.iter().all(|x| x.is_finite()));
        assert_eq!(together[..4], together[8..]);
        assert_close(&features(&network, &empty, &[0]), &together[..4]);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (n, s, w, k) = (500, 300, 5, 3);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut starts: Vec<usize> = (1..s).map(|_| rng.random_range(0..4000)).chain([0, 4000]).collect();
    starts.sort_unstable();
    let bags = Bags::new(starts, (0..4000).map(|_| rng.random_range(0..n as u32)).collect(), n);
    let (h, d_out) = (numbers(k * n * w, 2), numbers(k * s * w, 3));
    for pooling in POOLINGS {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let (out, choice) = forward(&h, [k, w], &bags, pooling);
                (out, pull_back(&d_out, [k, w], &bags, pooling, &choice))
            })
        };
        assert_eq!(run(1), run(3));
    }
}

#[test]
fn the_count_of_parameters_is_that_of_the_module() {
    for shape in shapes() {
        let count = GraphNetwork::new(shape.clone(), 1, &Device::default()).num_params();
        assert_eq!(shape.parameters(), count as u128, "{shape:?}");
        let hostile = GraphShape { rounds: usize::MAX, width: usize::MAX, members: usize::MAX, ..shape };
        assert_eq!(hostile.parameters(), u128::MAX);
    }
}

#[test]
fn an_impossible_shape_has_a_fault() {
    let shape = shapes().next().expect("a shape");
    assert_eq!(shape.fault(), None);
    let faults = [
        GraphShape { inputs: 0, ..shape.clone() },
        GraphShape { width: 0, ..shape.clone() },
        GraphShape { hidden: vec![3, 0], ..shape.clone() },
        GraphShape { members: 0, ..shape.clone() },
        GraphShape { members: 3, ..shape.clone() },
        GraphShape { dropout: 1.0, ..shape.clone() },
        GraphShape { dropout: f64::NAN, ..shape },
    ];
    faults.iter().for_each(|shape| assert!(shape.fault().is_some(), "{shape:?}"));
}

#[test]
fn graphs_that_lead_outside_have_a_fault() {
    let sound = examples();
    let faults = [
        Graphs { edges: sound.edges.iter().map(|to| to + 1).collect(), ..sound.clone() },
        Graphs { width: 2, ..sound.clone() },
        Graphs { width: usize::MAX, ..sound.clone() },
        Graphs { nodes: vec![], ..sound.clone() },
        Graphs { neighbours: vec![], ..sound.clone() },
        Graphs { nodes: vec![0, 4, 2, 19], ..sound.clone() },
        Graphs { nodes: vec![0, 4], ..sound },
    ];
    faults.iter().for_each(|graphs| assert!(graphs.fault().is_some(), "{graphs:?}"));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_dropout_follows_from_its_own() {
    let (graphs, device) = (examples(), &Device::default());
    let shape = shapes().nth(4).expect("a shape with dropout");
    let bytes = |seed| parameters::read(&GraphNetwork::new(shape.clone(), seed, device)).1;
    assert!(bytes(7) == bytes(7) && bytes(7) != bytes(8));
    let network = network(shape.clone(), device);
    let at = |seed| network.features_of(&graphs, &[0, 1, 3], Mode::Train { seed }).into_data();
    assert!(at(1) == at(1) && at(1) != at(2));
}

prop_compose! {
    /// One to three graphs of one to eight nodes, any edges, and a seed.
    fn some_graphs()(
        parts in prop::collection::vec(
            (1usize..9).prop_flat_map(|n| {
                (Just(n), prop::collection::vec((0..n as u32, 0..n as u32), 0..20))
            }), 1..4),
        seed in 0u64..1000,
    ) -> (Graphs, u64) {
        let parts: Vec<_> = parts
            .into_iter()
            .map(|(n, edges)| (n, edges.into_iter().filter(|(a, b)| a != b).map(|(a, b)| [a, b]).collect()))
            .collect();
        (graphs(&parts, seed), seed)
    }
}

/// The same graphs, the nodes of each in another order.
fn shuffled(graphs: &Graphs, seed: u64) -> Graphs {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut other = Graphs { x: vec![], neighbours: vec![0], edges: vec![], ..graphs.clone() };
    for bounds in graphs.nodes.windows(2) {
        let mut order: Vec<usize> = (0..bounds[1] - bounds[0]).collect();
        order.shuffle(&mut rng);
        for old in &order {
            let node = bounds[0] + old;
            other.x.extend_from_slice(&graphs.x[node * 3..][..3]);
            let list = &graphs.edges[graphs.neighbours[node]..graphs.neighbours[node + 1]];
            let place =
                |&to: &u32| order.iter().position(|&o| o == to as usize).expect("a permutation") as u32;
            other.edges.extend(list.iter().map(place));
            other.neighbours.push(other.edges.len());
        }
    }
    other
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_nodes_does_not_change_features((graphs, seed) in some_graphs(), choice in 0usize..54) {
        let network = network(shapes().nth(choice).expect("one of 54"), &Device::default());
        let rows: Vec<usize> = (0..graphs.len()).collect();
        let other = shuffled(&graphs, seed);
        prop_assert_eq!(other.fault(), None);
        assert_close(&features(&network, &graphs, &rows), &features(&network, &other, &rows));
    }

    #[test]
    fn graphs_do_not_see_one_another((graphs, _) in some_graphs(), choice in 0usize..54) {
        let network = network(shapes().nth(choice).expect("one of 54"), &Device::default());
        let rows: Vec<usize> = (0..graphs.len()).rev().collect();
        let together = features(&network, &graphs, &rows);
        for (&row, together) in rows.iter().zip(together.chunks_exact(4)) {
            assert_close(&features(&network, &graphs, &[row]), together);
        }
    }
}
