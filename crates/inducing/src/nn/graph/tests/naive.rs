//! The oracle: the module's equations for one graph and member, node by node, in f64.

use super::*;
use crate::nn::init::dropout_mask;

type Rows = Vec<Vec<f64>>;

/// Where a graph stands in its batch, which decides what is dropped.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) rows: &'a [usize],
    pub(super) row: usize,
    pub(super) mode: Mode,
}

/// Φ_k of one graph, `[D / K]`.
pub(super) fn naive(
    encoder: &GraphEncoder,
    theta: &[f64],
    graphs: &Graphs,
    place: Place<'_>,
    member: usize,
) -> Vec<f64> {
    let shape = &encoder.shape;
    let of = |name: &str| -> &[f64] {
        let mut start = 0;
        for slot in encoder.layout.slots() {
            let len: usize = slot.shape.iter().product();
            if slot.name == name {
                let each = len / shape.members;
                return &theta[start + member * each..][..each];
            }
            start += len;
        }
        panic!("no parameter {name}");
    };
    let dense = |name: &str, rows: &Rows, positive: bool| -> Rows {
        let (weight, bias) = (of(&format!("{name}.weight")), of(&format!("{name}.bias")));
        let unit = |row: &Vec<f64>, o: usize| {
            let sum = row.iter().enumerate().map(|(i, x)| x * weight[i * bias.len() + o]).sum::<f64>();
            if positive { (sum + bias[o]).max(0.0) } else { sum + bias[o] }
        };
        rows.iter().map(|row| (0..bias.len()).map(|o| unit(row, o)).collect()).collect()
    };
    let graph = place.rows[place.row];
    let nodes = graphs.nodes[graph]..graphs.nodes[graph + 1];
    let messages = |rows: &Rows, width: usize| -> Rows {
        let list = |node: usize| &graphs.edges[graphs.neighbours[node]..graphs.neighbours[node + 1]];
        let bag = |node: usize| list(node).iter().map(|&to| &rows[to as usize]).collect();
        nodes.clone().map(|node| pooled(bag(node), width, shape.node_pooling)).collect()
    };
    let readout = |rows: &Rows, width| pooled(rows.iter().collect(), width, shape.graph_pooling);
    let (inputs, width) = (shape.inputs, shape.width);
    let numbers = |node: usize| graphs.x[node * inputs..][..inputs].iter().map(|&x| f64::from(x)).collect();
    let x: Rows = nodes.clone().map(numbers).collect();
    let mut h = x.clone();
    let mut g = if shape.kind == GraphKind::Gin { readout(&h, inputs) } else { Vec::new() };
    for round in 0..shape.rounds {
        let name = format!("rounds.{round}");
        if shape.kind == GraphKind::Bag {
            let c = messages(&dense(&format!("{name}.first"), &h, true), width);
            h = c.iter().zip(&x).map(|(c, x)| [&c[..], x].concat()).collect();
            continue;
        }
        let epsilon = of(&format!("{name}.epsilon"))[0];
        let sum =
            |h: &Vec<f64>, m: &Vec<f64>| h.iter().zip(m).map(|(h, m)| (1.0 + epsilon) * h + m).collect();
        let m = messages(&h, if round == 0 { inputs } else { width });
        let s = h.iter().zip(&m).map(|(h, m)| sum(h, m)).collect();
        h = dense(&format!("{name}.second"), &dense(&format!("{name}.first"), &s, true), true);
        g.extend(readout(&h, width));
    }
    if shape.kind == GraphKind::Bag {
        g = readout(&dense("last", &h, true), width);
    }
    let mut u = vec![g];
    for layer in 0..=shape.hidden.len() {
        drop_some(&mut u[0], shape, place, member, layer as u64);
        u = dense(&format!("layers.{layer}"), &u, layer < shape.hidden.len());
    }
    u.remove(0)
}

fn pooled(bag: Vec<&Vec<f64>>, width: usize, pooling: Pooling) -> Vec<f64> {
    let column = |w: usize| bag.iter().map(move |row| row[w]);
    (0..width)
        .map(|w| match pooling {
            _ if bag.is_empty() => 0.0,
            Pooling::Max => column(w).fold(f64::NEG_INFINITY, f64::max),
            Pooling::Mean => column(w).sum::<f64>() / bag.len() as f64,
            Pooling::Sum => column(w).sum(),
        })
        .collect()
}

/// Multiplies by this graph's part of the mask `[K, N, ·]`.
fn drop_some(u: &mut [f64], shape: &GraphShape, place: Place<'_>, member: usize, layer: u64) {
    if let Mode::Train { seed } = place.mode {
        let (n, width) = (place.rows.len(), u.len());
        let mask = dropout_mask(shape.members * n * width, shape.dropout, seed.wrapping_add(layer));
        let own = &mask[(member * n + place.row) * width..][..width];
        u.iter_mut().zip(own).for_each(|(u, &mask)| *u *= f64::from(mask));
    }
}
