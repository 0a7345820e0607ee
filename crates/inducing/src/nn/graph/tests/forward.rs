//! Features: what they are, and what they do not depend on.

use super::naive::{Place, naive};
use super::*;
use proptest::prelude::*;
use rand::seq::SliceRandom;

/// Against the oracle, for all graphs in the given order.
fn assert_naive(shape: GraphShape, graphs: &Graphs, rows: &[usize], mode: Mode) {
    let (encoder, theta) = encoder(shape);
    let inputs = Inputs::Graphs(graphs.clone());
    let (phi, _) = encoder.forward(&theta, &inputs, rows, mode).expect("sound graphs");
    let theta: Vec<f64> = theta.iter().map(|&x| f64::from(x)).collect();
    let mut expected = Vec::new();
    for row in 0..rows.len() {
        let place = Place { rows, row, mode };
        for member in 0..encoder.members() {
            expected.extend(naive(&encoder, &theta, graphs, place, member).iter().map(|&x| x as f32));
        }
    }
    assert_close(&phi, &expected, encoder.shape());
}

#[test]
fn features_are_those_of_a_double_loop() {
    let graphs = examples();
    assert_eq!(graphs.fault(), None);
    for shape in KINDS.into_iter().flat_map(shapes) {
        assert_naive(shape.clone(), &graphs, &[5, 0, 1, 2, 3, 4, 0], Mode::Predict);
        assert_naive(shape, &graphs, &[5, 0, 1, 2, 3, 4, 0], Mode::Train { seed: u64::MAX });
    }
}

#[test]
fn wide_layers_and_many_nodes_change_nothing() {
    let (graphs, rows) = (many_graphs(37), (0..40).collect::<Vec<_>>());
    for (kind, pooling) in KINDS.into_iter().flat_map(|kind| POOLINGS.map(|pooling| (kind, pooling))) {
        let shape = GraphShape { node_pooling: pooling, graph_pooling: Pooling::Mean, ..wide(kind) };
        assert_naive(shape, &graphs, &rows, Mode::Predict);
    }
}

#[test]
fn features_alone_are_those_of_the_forward_pass_to_the_last_bit() {
    let inputs = Inputs::Graphs(examples());
    for shape in KINDS.into_iter().flat_map(shapes) {
        let (encoder, theta) = encoder(shape);
        let (phi, _) = encoder.forward(&theta, &inputs, &[4, 2, 0], Mode::Predict).expect("sound graphs");
        assert_eq!(encoder.features(&theta, &inputs, &[4, 2, 0]).expect("sound graphs"), phi);
    }
}

#[test]
fn a_graph_alone_has_the_features_that_it_has_among_others() {
    let (graphs, rows) = (many_graphs(37), (0..40).rev().collect::<Vec<_>>());
    for kind in KINDS {
        let together = features(wide(kind), &graphs, &rows);
        for (&row, together) in rows.iter().zip(together.chunks_exact(42)) {
            assert_eq!(features(wide(kind), &graphs, &[row]), together);
        }
    }
}

#[test]
fn empty_graphs_have_finite_features_all_the_same() {
    let graphs = graphs(&[(0, vec![]), (2, vec![[0, 1]]), (0, vec![])], 3, 1);
    for shape in KINDS.into_iter().flat_map(shapes) {
        let together = features(shape.clone(), &graphs, &[0, 1, 2]);
        assert!(together.iter().all(|x| x.is_finite()));
        assert_eq!(together[..4], together[8..]);
        assert_eq!(features(shape.clone(), &graphs, &[0]), together[..4]);
        assert!(features(shape, &graphs, &[]).is_empty());
    }
}

#[test]
fn dropout_follows_from_its_seed_and_is_for_training_alone() {
    let inputs = Inputs::Graphs(examples());
    for kind in KINDS {
        let (encoder, theta) = encoder(shape(kind));
        let at = |mode| encoder.forward(&theta, &inputs, &[0, 1, 3], mode).expect("sound graphs").0;
        let train = |seed| at(Mode::Train { seed });
        assert!(train(1) == train(1) && train(1) != train(2) && train(1) != at(Mode::Predict));
    }
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
        (graphs(&parts, 3, seed), seed)
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

/// One of the shapes.
fn some_shape() -> impl Strategy<Value = GraphShape> {
    prop::sample::select(KINDS.into_iter().flat_map(shapes).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_nodes_does_not_change_features((graphs, seed) in some_graphs(), shape in some_shape()) {
        let rows: Vec<usize> = (0..graphs.len()).collect();
        let other = shuffled(&graphs, seed);
        prop_assert_eq!(other.fault(), None);
        let [one, other] = [&graphs, &other].map(|graphs| features(shape.clone(), graphs, &rows));
        assert_close(&one, &other, &shape);
    }

    #[test]
    fn graphs_do_not_see_one_another((graphs, _) in some_graphs(), shape in some_shape()) {
        let rows: Vec<usize> = (0..graphs.len()).rev().collect();
        let together = features(shape.clone(), &graphs, &rows);
        for (&row, together) in rows.iter().zip(together.chunks_exact(4)) {
            prop_assert_eq!(&features(shape.clone(), &graphs, &[row])[..], together);
        }
    }
}
