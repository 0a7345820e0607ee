//! The kept rows nearest to a row, chosen as the program chooses them (docs/model-file.md, section 7, "Nearest rows").
//!
//! ```text
//! u = fl32(fl32(a·w) − o)      r₃₂² = Σ_j fl32(u_j − u'_j)²      squares and sum in 64 bits, from the first coordinate on
//! ```
//! Scores `‖u'‖² − 2uᵀu'` find `count` + 8 candidates in one product; their r₃₂² decide, of equal ones the first row.

use crate::graph::{Attribute, Graph, Type, Value};

/// Candidates beyond those asked for: scores are rounded, distances are not.
const SPARE: usize = 8;

/// Rows to choose from.
#[derive(Clone, Copy)]
pub(crate) struct Points {
    points: Value,     // [N, d] 32 bits, weighted and from the centre
    transposed: Value, // [d, N] the same in 64 bits
    weights: Value,    // [d]
    centre: Value,     // [d]
    count: usize,
}

/// What was found.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// Rows, nearest first, `[n, k]`.
    pub(crate) rows: Value,
    /// r₃₂, `[n, k]`
    pub(crate) distances: Value,
    /// k
    pub(crate) count: usize,
}

impl Points {
    /// Rows of `coordinates [N, d]`, which stand in the graph as `values`.
    pub(crate) fn new(
        graph: &mut Graph,
        values: Value,
        coordinates: &[f32],
        inverse_lengths: &[f64],
    ) -> Self {
        let weights: Vec<f32> = inverse_lengths.iter().map(|&w| w as f32).collect();
        let d = weights.len();
        let count = coordinates.len() / d;
        let mut centre = vec![0.0_f64; d];
        for row in coordinates.chunks_exact(d) {
            let weighted = row.iter().zip(&weights).map(|(x, w)| f64::from(x * w) / count as f64);
            centre.iter_mut().zip(weighted).for_each(|(sum, x)| *sum += x);
        }
        let centre: Vec<f32> = centre.into_iter().map(|x| x as f32).collect();
        graph.outside(|graph| {
            let (weights, centre) = (graph.f32s(&[d], &weights), graph.f32s(&[d], &centre));
            let weighted = graph.mul(values, weights);
            let points = graph.sub(weighted, centre);
            let wide = graph.wide(points);
            let transposed = graph.transpose(wide, &[1, 0]);
            Self { points, transposed, weights, centre, count }
        })
    }

    /// The nearest to each query `[n, d]`; with a mask `[1, d]` of ones and zeros by the coordinates that it names alone.
    pub(crate) fn nearest(
        &self,
        graph: &mut Graph,
        queries: Value,
        mask: Option<Value>,
        count: usize,
    ) -> Found {
        let (k, candidates) = (count.min(self.count), (count + SPARE).min(self.count));
        let weighted = graph.mul(queries, self.weights);
        let mut own = graph.sub(weighted, self.centre); // [n, d]
        let squares = graph.square(self.transposed); // [d, N]
        let norms = match mask {
            Some(mask) => {
                own = graph.mul(own, mask);
                let mask = graph.wide(mask);
                graph.matmul(mask, squares) // [1, N]
            }
            None => graph.outside(|graph| {
                let squares = graph.square(self.transposed);
                graph.reduce("ReduceSum", squares, &[0], true)
            }),
        };
        let wide = graph.wide(own);
        let dots = graph.matmul(wide, self.transposed); // [n, N]
        let twice = graph.times(dots, 2.0);
        let scores = graph.sub(norms, twice);
        let [_, found] = graph.smallest(scores, candidates);
        let [by_row, _] = graph.smallest(found, candidates); // of equally near ones the first row
        let points = graph.gather(self.points, by_row, 0); // [n, candidates, d]
        let from = graph.unsqueeze(own, 1);
        let mut differences = graph.sub(points, from);
        if let Some(mask) = mask {
            differences = graph.mul(differences, mask);
        }
        let wide = graph.wide(differences);
        let squares = graph.square(wide);
        // A running sum adds in the program's order, to the last bit.
        let axis = graph.i64s(&[], &[2]);
        let sums = graph.node("CumSum", &[squares, axis], Vec::new(), Type::F64);
        let last = graph.list(&[-1]);
        let squared = graph.gather(sums, last, 2);
        let squared = graph.reshape(squared, &[-1, candidates as i64]);
        let [squared, places] = graph.smallest(squared, k);
        let rows =
            graph.node("GatherElements", &[by_row, places], vec![Attribute::Int("axis", 1)], Type::I64);
        Found { rows, distances: graph.sqrt(squared), count: k }
    }
}
