//! The oracle of the forward pass.

use super::*;

/// The module's equations for one graph and member, node by node, in f64.
pub(super) fn naive(network: &GraphNetwork, graphs: &Graphs, graph: usize, member: usize) -> Vec<f64> {
    type Rows = Vec<Vec<f64>>;
    let shape = &network.shape;
    let (slots, values) = parameters::read(network);
    let of = |path: &str| -> Vec<f64> {
        let index = slots.iter().position(|slot| slot.path == path).expect("a parameter of this path");
        let start: usize = slots[..index].iter().map(parameters::Slot::len).sum();
        let each = slots[index].len() / shape.members;
        values[start + member * each..][..each].iter().map(|&x| f64::from(x)).collect()
    };
    let dense = |path: &str, rows: &Rows, positive: bool| -> Rows {
        let (weight, bias) = (of(&format!("{path}.weight")), of(&format!("{path}.bias")));
        let unit = |row: &Vec<f64>, o: usize| {
            let sum = row.iter().enumerate().map(|(i, x)| x * weight[i * bias.len() + o]).sum::<f64>();
            if positive { (sum + bias[o]).max(0.0) } else { sum + bias[o] }
        };
        rows.iter().map(|row| (0..bias.len()).map(|o| unit(row, o)).collect()).collect()
    };
    let pooled = |bag: Vec<&Vec<f64>>, width: usize, pooling: Pooling| -> Vec<f64> {
        let column = |w: usize| bag.iter().map(move |row| row[w]);
        (0..width)
            .map(|w| match pooling {
                _ if bag.is_empty() => 0.0,
                Pooling::Max => column(w).fold(f64::NEG_INFINITY, f64::max),
                Pooling::Mean => column(w).sum::<f64>() / bag.len() as f64,
                Pooling::Sum => column(w).sum(),
            })
            .collect()
    };
    let nodes = graphs.nodes[graph]..graphs.nodes[graph + 1];
    let hear = |rows: &Rows| -> Rows {
        let list = |node: usize| &graphs.edges[graphs.neighbours[node]..graphs.neighbours[node + 1]];
        let bag = |node: usize| list(node).iter().map(|&to| &rows[to as usize]).collect::<Vec<_>>();
        nodes.clone().map(|node| pooled(bag(node), rows[0].len(), shape.node_pooling)).collect()
    };
    let read_out = |rows: &Rows| pooled(rows.iter().collect(), rows[0].len(), shape.graph_pooling);
    let numbers = |node: usize| graphs.x[node * 3..][..3].iter().map(|&x| f64::from(x)).collect();
    let x: Rows = nodes.clone().map(numbers).collect();
    let mut h = x.clone();
    let mut g = if shape.kind == GraphKind::Gin { read_out(&h) } else { Vec::new() };
    for round in 0..shape.rounds {
        let path = format!("rounds.{round}");
        if shape.kind == GraphKind::Bag {
            let heard = hear(&dense(&format!("{path}.first"), &h, true));
            h = heard.iter().zip(&x).map(|(c, x)| [&c[..], x].concat()).collect();
            continue;
        }
        let epsilon = of(&format!("{path}.epsilon"))[0];
        let sum =
            |h: &Vec<f64>, m: &Vec<f64>| h.iter().zip(m).map(|(h, m)| (1.0 + epsilon) * h + m).collect();
        let sums = h.iter().zip(&hear(&h)).map(|(h, m)| sum(h, m)).collect();
        h = dense(&format!("{path}.second"), &dense(&format!("{path}.first"), &sums, true), true);
        g.extend(read_out(&h));
    }
    if shape.kind == GraphKind::Bag {
        g = read_out(&dense("last", &h, true));
    }
    let mut u = vec![g];
    for layer in 0..=shape.hidden.len() {
        u = dense(&format!("layers.{layer}"), &u, layer < shape.hidden.len());
    }
    u.remove(0)
}
