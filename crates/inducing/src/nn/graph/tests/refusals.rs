//! Shapes and inputs that are refused, with a reason and without a panic.

use super::*;
use crate::dataset::Matrix;

#[test]
fn an_impossible_shape_is_refused() {
    let sound = shape(GraphKind::Gin);
    let faults = [
        GraphShape { inputs: 0, ..sound.clone() },
        GraphShape { width: 0, ..sound.clone() },
        GraphShape { hidden: vec![3, 0], ..sound.clone() },
        GraphShape { features: 0, ..sound.clone() },
        GraphShape { members: 0, ..sound.clone() },
        GraphShape { members: 3, ..sound.clone() },
        GraphShape { dropout: 1.0, ..sound.clone() },
        GraphShape { dropout: -0.1, ..sound.clone() },
        GraphShape { dropout: f64::NAN, ..sound },
    ];
    for shape in faults {
        assert_eq!(GraphEncoder::new(shape.clone()).err(), shape.fault());
        assert!(shape.fault().is_some(), "{shape:?}");
    }
}

#[test]
fn a_hostile_shape_is_refused_or_has_an_absurd_length_and_allocates_nothing() {
    let large = 1_000_000_000_000;
    for sound in KINDS.map(shape) {
        for count in [1025, large, usize::MAX] {
            assert!(GraphEncoder::new(GraphShape { rounds: count, ..sound.clone() }).is_err());
            let members = GraphShape { members: count, features: count, ..sound.clone() };
            assert!(GraphEncoder::new(members).is_err());
        }
        assert!(GraphEncoder::new(GraphShape { hidden: vec![1; 1025], ..sound.clone() }).is_err());
        for size in [large, usize::MAX] {
            let wide =
                GraphShape { rounds: 1024, width: size, inputs: size, hidden: vec![size], ..sound.clone() };
            let encoder = GraphEncoder::new(wide).expect("no fault of its own");
            assert_eq!(encoder.layout().len(), usize::MAX);
        }
    }
}

/// Graphs with one fault each, where all rows or the first show it.
fn faulty() -> Vec<Graphs> {
    let sound = examples();
    let last = sound.neighbours.len() - 1;
    let mut falling = sound.neighbours.clone();
    falling.swap(1, 2);
    vec![
        Graphs { edges: sound.edges.iter().map(|to| to + 1).collect(), ..sound.clone() },
        Graphs { edges: sound.edges[1..].to_vec(), ..sound.clone() },
        Graphs { x: sound.x[1..].to_vec(), ..sound.clone() },
        Graphs { nodes: vec![], ..sound.clone() },
        Graphs { neighbours: vec![], ..sound.clone() },
        Graphs { neighbours: falling, ..sound.clone() },
        Graphs { nodes: vec![0, 4], ..sound.clone() },
        Graphs { nodes: vec![1, 4, last], ..sound.clone() },
        Graphs { nodes: vec![0, usize::MAX, last], ..sound },
    ]
}

#[test]
fn graphs_that_lead_outside_have_a_fault_and_are_refused() {
    for kind in KINDS {
        let (encoder, theta) = encoder(shape(kind));
        for graphs in faulty() {
            assert!(graphs.fault().is_some(), "{graphs:?}");
            let inputs = Inputs::Graphs(graphs);
            assert!(encoder.features(&theta, &inputs, &[0]).is_err());
            assert!(encoder.forward(&theta, &inputs, &[0], Mode::Train { seed: 1 }).is_err());
        }
    }
}

#[test]
fn starts_that_fall_are_a_fault_of_the_graph_where_they_do() {
    for nodes in [vec![0, 5, 4, 19], vec![0, 4, 2, 19], vec![0, 19, 0, 19]] {
        let graphs = Graphs { nodes, ..examples() };
        assert!(graphs.fault().is_some(), "{graphs:?}");
        let (encoder, theta) = encoder(shape(GraphKind::Bag));
        assert!(encoder.features(&theta, &Inputs::Graphs(graphs), &[1]).is_err());
    }
}

#[test]
fn inputs_that_the_encoder_cannot_read_are_an_error_that_says_so() {
    let (encoder, theta) = encoder(shape(GraphKind::Gin));
    let message = |inputs: Inputs, row: usize| {
        let error = encoder.features(&theta, &inputs, &[0, row]).expect_err("nothing to read");
        error.to_string()
    };
    let table = message(Inputs::Table(Matrix::default()), 0);
    assert!(table.contains("graphs with 3 numbers at a node") && table.contains("another kind"), "{table}");
    let width = message(Inputs::Graphs(graphs(&[(1, vec![])], 2, 1)), 0);
    assert!(width.contains("graphs with 2"), "{width}");
    let row = message(Inputs::Graphs(examples()), 6);
    assert!(row.contains("graph 6 of 6"), "{row}");
}
