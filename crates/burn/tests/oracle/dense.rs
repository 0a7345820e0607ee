//! Dense layers with members, skip path, periodic and lookup embeddings.

use crate::theta::{Theta, matrix};
use crate::{assert_agrees, random};
use burn::tensor::{Tensor, activation::relu};
use inducing::dataset::{Inputs, Matrix};
use inducing::nn::mlp::{LookupShape, Mlp, MlpShape, PeriodicShape};
use std::f32::consts::TAU;

/// ```text
/// u = [ relu([sin 2πfx | cos 2πfx] A + a) | x | Σ_j relu(1 − |p − j|) T_j ]     p: x in units of the knots' distance
/// Φ_k = relu(… relu(u W₀ + b₀) …) W_L + b_L + x W_skip
/// ```
pub(crate) fn reference(theta: &Theta, shape: &MlpShape, x: Tensor<2>) -> Tensor<2> {
    let depth = shape.hidden.len();
    let member = |k: usize| {
        let mut u = Vec::new();
        if shape.periodic.is_some() {
            for column in 0..shape.numeric {
                let place = k * shape.numeric + column;
                let angle =
                    x.clone().narrow(1, column, 1).matmul(theta.part("periodic.frequency", place)) * TAU;
                let waves = Tensor::cat(vec![angle.clone().sin(), angle.cos()], 1);
                let map = theta.part("periodic.map", place);
                u.push(relu(waves.matmul(map) + theta.part("periodic.offset", place)));
            }
        }
        u.push(x.clone());
        let mut first = 0;
        for table in &shape.tables {
            let position = (x.clone().narrow(1, table.column, 1) - table.low) / (table.high - table.low);
            let position = position.clamp(0.0, 1.0) * (table.knots - 1) as f32; // [N, 1]
            let knots = matrix(&(0..table.knots).map(|j| j as f32).collect::<Vec<_>>(), table.knots);
            let hats = relu((position - knots).abs().neg() + 1.0); // [N, knots]
            let rows = theta.matrix("tables").narrow(0, first, table.knots);
            u.push(hats.matmul(rows.narrow(1, k * shape.table_width, shape.table_width)));
            first += table.knots;
        }
        let mut h = Tensor::cat(u, 1);
        for layer in 0..=depth {
            h = theta.dense(&format!("layers.{layer}"), k, h);
            h = if layer < depth { relu(h) } else { h };
        }
        if shape.skip { h + x.clone().matmul(theta.part("skip", k)) } else { h }
    };
    Tensor::cat((0..shape.members).map(member).collect(), 1)
}

fn plain() -> MlpShape {
    MlpShape {
        numeric: 3,
        width: 5,
        hidden: vec![17, 9],
        features: 12,
        members: 1,
        periodic: None,
        skip: false,
        tables: Vec::new(),
        table_width: 0,
        dropout: 0.0,
    }
}

fn check(shape: &MlpShape) {
    // More than one block of 64 rows, the last one not full.
    let x: Vec<f32> = random(70 * shape.width, 5).iter().map(|x| 2.0 * x).collect();
    let inputs = Inputs::Table(Matrix { x: x.clone(), width: shape.width, ..Matrix::default() });
    let mlp = Mlp::new(shape.clone()).expect("a sound shape");
    assert_agrees(&mlp, &inputs, Some((&x, shape.width)), &|theta, x| {
        reference(theta, shape, x.expect("given"))
    });
}

#[test]
fn a_plain_network_agrees() {
    check(&plain());
    check(&MlpShape { hidden: vec![], ..plain() });
}

#[test]
fn members_with_a_skip_path_agree() {
    check(&MlpShape { members: 3, skip: true, ..plain() });
}

#[test]
fn periodic_embeddings_agree() {
    let periodic = Some(PeriodicShape { frequencies: 7, width: 5, scale: 0.5 });
    check(&MlpShape { periodic, members: 2, skip: true, ..plain() });
}

#[test]
fn lookup_embeddings_agree_within_their_range_and_beyond() {
    let table = |column, knots| LookupShape { column, low: -1.5, high: 1.7, knots };
    let tables = vec![table(0, 2), table(0, 11), table(2, 6)];
    check(&MlpShape { tables, table_width: 3, members: 2, ..plain() });
}
