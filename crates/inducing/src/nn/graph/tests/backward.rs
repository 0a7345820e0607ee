//! Gradients, and that threads change nothing.

use super::naive::{Place, naive};
use super::pool::{Bags, forward, pull_back};
use super::*;

/// `⟨Φ, c⟩` by the oracle, of the given members.
struct Loss<'a> {
    encoder: &'a GraphEncoder,
    graphs: &'a Graphs,
    rows: &'a [usize],
    mode: Mode,
    c: &'a [f32],
}

impl Loss<'_> {
    fn at(&self, theta: &[f64], members: std::ops::Range<usize>) -> f64 {
        let each = self.encoder.dim() / self.encoder.members();
        let mut sum = 0.0;
        for row in 0..self.rows.len() {
            for member in members.clone() {
                let place = Place { rows: self.rows, row, mode: self.mode };
                let phi = naive(self.encoder, theta, self.graphs, place, member);
                let c = &self.c[row * self.encoder.dim() + member * each..];
                sum += phi.iter().zip(c).map(|(phi, &c)| phi * f64::from(c)).sum::<f64>();
            }
        }
        sum
    }
}

/// Every parameter's gradient against central differences of the oracle. In f64 a step of 1e-6 gives eight digits, and
/// no parameter happens to be so close to a kink; the tolerance is that of the f32 pass.
fn assert_gradients(kind: GraphKind, mode: Mode) {
    let (graphs, rows) = (examples(), [5, 0, 1, 2, 3, 4]);
    let (inputs, c, h) = (Inputs::Graphs(graphs.clone()), numbers(24, 6), 1e-6);
    for shape in shapes(kind) {
        let both = encoder(shape);
        let (_, d_theta) = both_ways(&both, &inputs, &rows, mode, &c);
        assert!(d_theta.iter().any(|&d| d != 0.0));
        let loss = Loss { encoder: &both.0, graphs: &graphs, rows: &rows, mode, c: &c };
        let mut theta: Vec<f64> = both.1.iter().map(|&x| f64::from(x)).collect();
        let (mut expected, mut start) = (Vec::new(), 0);
        for slot in both.0.layout.slots() {
            let each = slot.param.len() / both.0.members();
            for index in start..start + slot.param.len() {
                let (member, here) = ((index - start) / each, theta[index]);
                let mut moved = |to: f64| {
                    theta[index] = to;
                    loss.at(&theta, member..member + 1)
                };
                let (up, down) = (moved(here + h), moved(here - h));
                theta[index] = here;
                expected.push(((up - down) / (2.0 * h)) as f32);
            }
            start += slot.param.len();
        }
        assert_close(&d_theta, &expected, both.0.shape());
    }
}

#[test]
fn gradients_of_bags_equal_central_differences() {
    assert_gradients(GraphKind::Bag, Mode::Train { seed: 4 });
}

#[test]
fn gradients_of_gin_equal_central_differences() {
    assert_gradients(GraphKind::Gin, Mode::Train { seed: 4 });
}

#[test]
fn gradients_without_dropout_equal_central_differences() {
    KINDS.into_iter().for_each(|kind| assert_gradients(kind, Mode::Predict));
}

/// Along one direction through all parameters. 1e-4: f32 sums over 600 nodes.
#[test]
fn wide_layers_and_many_nodes_have_the_slope_of_the_oracle() {
    let (graphs, rows) = (many_graphs(37), (0..40).collect::<Vec<_>>());
    let (inputs, c, h) = (Inputs::Graphs(graphs.clone()), numbers(40 * 42, 6), 1e-7);
    for kind in KINDS {
        let both = encoder(wide(kind));
        let mode = Mode::Train { seed: 9 };
        let (_, d_theta) = both_ways(&both, &inputs, &rows, mode, &c);
        // Mostly uphill, so that the terms of the slope do not cancel.
        let largest = d_theta.iter().fold(0.0_f32, |largest, d| largest.max(d.abs()));
        let noise = numbers(d_theta.len(), 3);
        let direction: Vec<f64> =
            d_theta.iter().zip(&noise).map(|(d, x)| f64::from(d / largest + 0.1 * x)).collect();
        let slope: f64 = d_theta.iter().zip(&direction).map(|(&d, v)| f64::from(d) * v).sum();
        let loss = Loss { encoder: &both.0, graphs: &graphs, rows: &rows, mode, c: &c };
        let at = |step: f64| {
            let theta: Vec<f64> =
                both.1.iter().zip(&direction).map(|(&theta, v)| f64::from(theta) + step * v).collect();
            loss.at(&theta, 0..2)
        };
        let expected = (at(h) - at(-h)) / (2.0 * h);
        assert!((slope - expected).abs() < 1e-4 * expected.abs(), "{kind:?}: {slope} and {expected}");
    }
}

#[test]
fn a_batch_without_nodes_or_graphs_sets_every_gradient() {
    let inputs = Inputs::Graphs(graphs(&[(0, vec![]), (0, vec![])], 3, 1));
    for shape in KINDS.into_iter().flat_map(shapes) {
        let both = encoder(shape);
        let (_, d_theta) = both_ways(&both, &inputs, &[0, 1], Mode::Predict, &[1.0; 8]);
        assert!(d_theta.iter().all(|d| d.is_finite()) && d_theta.iter().any(|&d| d != 0.0));
        let (_, d_theta) = both_ways(&both, &inputs, &[], Mode::Train { seed: 1 }, &[]);
        assert!(d_theta.iter().all(|&d| d == 0.0));
    }
}

#[test]
fn of_equal_rows_the_first_gets_the_gradient_of_their_maximum() {
    let bags = Bags::new(vec![0, 3, 3, 5], vec![2, 0, 2, 1, 0], 3);
    let h = [1.0, 5.0, 0.0, 7.0, 1.0, 7.0]; // [1, 3, 2]
    let (out, argmax) = forward(&h, [1, 2], &bags, Pooling::Max);
    assert_eq!(out, [1.0, 7.0, 0.0, 0.0, 1.0, 7.0]);
    // Row 2 stands twice in the first bag, ahead of its equal, row 0; the empty bag gives nothing back.
    let mut d_h = [0.0; 6];
    let d_out = [1.0, 2.0, 9.0, 9.0, 3.0, 4.0];
    pull_back(&d_out, 2, (&bags, &bags.transpose()), (Pooling::Max, &argmax), &mut d_h);
    assert_eq!(d_h, [3.0, 0.0, 0.0, 4.0, 1.0, 2.0]);
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let (inputs, rows) = (Inputs::Graphs(many_graphs(37)), (0..40).collect::<Vec<_>>());
    let c = numbers(40 * 42, 6);
    for (kind, pooling) in KINDS.into_iter().flat_map(|kind| POOLINGS.map(|pooling| (kind, pooling))) {
        let shape = GraphShape { node_pooling: pooling, graph_pooling: pooling, ..wide(kind) };
        let both = encoder(shape);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| both_ways(&both, &inputs, &rows, Mode::Train { seed: 2 }, &c))
        };
        let (one, two) = (run(1), run(2));
        assert!(one == two && one == run(3), "{kind:?} {pooling:?}");
    }
}
