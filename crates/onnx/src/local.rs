//! A process on the nearest rows (docs/model-file.md, section 7, "Nearest rows").
//!
//! ```text
//! | K+τI  y  k |
//! | kᵀ    0  0 |   eliminated by its first k columns leaves   −kᵀ(K+τI)⁻¹y   −kᵀ(K+τI)⁻¹k
//! ```
//! ONNX has no Cholesky factors. K + τI is positive definite, so elimination needs no pivots; all rows of a block are eliminated at once,
//! one column a step, and each step leaves a smaller matrix.

use crate::graph::{Graph, Value};
use crate::nearest::Found;
use gp::{LocalProcess, Matern};

/// More neighbours than this are eliminated in a loop: a node each would make a large graph.
const UNROLLED: usize = 96;
/// Squared distances below this part of those from x are those of copies: their digits are lost in the product.
const COPY: f64 = 1e-14;

/// Rows that a process is conditioned on.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// Coordinates `[N, d]`, 32 bits.
    pub(crate) coordinates: Value,
    /// Labels `[N, 1]`, 64 bits; none for a variance, which needs none.
    pub(crate) labels: Option<Value>,
}

/// What a process says, 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Local {
    /// `[n, 1]`, without labels 0
    pub(crate) mean: Value,
    /// `[n, 1]`
    pub(crate) var: Value,
    /// Distances in length scales `[n, k]`.
    pub(crate) r: Value,
}

impl Graph {
    /// ρ(r)
    pub(crate) fn correlation(&mut self, family: Matern, r: Value) -> Value {
        match family {
            Matern::Half => {
                let r = self.negative(r);
                self.exp(r)
            }
            Matern::ThreeHalves => {
                let u = self.times(r, 3f64.sqrt());
                self.matern_32(u)
            }
            Matern::FiveHalves => {
                let u = self.times(r, 5f64.sqrt());
                self.matern_52(u)
            }
        }
    }

    /// Mean and variance at queries `[n, d]`, given the rows that were found near each.
    pub(crate) fn condition(
        &mut self,
        process: &LocalProcess,
        rows: Rows,
        found: Found,
        queries: Value,
    ) -> Local {
        let (scale, noise, k) = (process.log_scale.exp(), process.log_noise.exp(), found.count);
        let near = self.gather(rows.coordinates, found.rows, 0); // [n, k, d]
        let (near, own) = (self.wide(near), self.wide(queries));
        let own = self.unsqueeze(own, 1);
        let differences = self.sub(near, own);
        let inverse = process.inverse_lengths();
        // Not a list: a single factor would be rounded to 32 bits (see `process`).
        let inverse = self.f64s(&[1, 1, inverse.len()], &inverse);
        let scaled = self.mul(differences, inverse); // [n, k, d]
        let squares = self.square(scaled);
        let squared = self.sum_last(squares); // [n, k]
        let r = self.sqrt(squared);
        let cross = self.correlation(process.family, r);
        let cross = self.times(cross, scale); // [n, k]
        let pairs = self.pairs(scaled, squared);
        let covariance = self.correlation(process.family, pairs);
        let covariance = self.times(covariance, scale);
        let mut diagonal = vec![0.0; k * k];
        diagonal.iter_mut().step_by(k + 1).for_each(|x| *x = noise);
        let diagonal = self.f64s(&[k, k], &diagonal);
        let covariance = self.add(covariance, diagonal); // [n, k, k]
        let column = self.unsqueeze(cross, 2); // [n, k, 1]
        let row = self.unsqueeze(cross, 1); // [n, 1, k]
        let nothing = self.times(cross, 0.0);
        let zero = self.reduce("ReduceSum", nothing, &[1], true);
        let zero = self.unsqueeze(zero, 2); // [n, 1, 1]
        let (mut right, mut corner) = (vec![covariance], vec![row]);
        if let Some(labels) = rows.labels {
            let labels = self.gather(labels, found.rows, 0); // [n, k, 1]
            right.push(labels);
            corner.push(zero);
        }
        right.push(column);
        corner.push(zero);
        let (above, below) = (self.concat(&right, 2), self.concat(&corner, 2));
        let whole = self.concat(&[above, below], 1); // [n, k+1, k+2]
        let left = self.eliminate(whole, k, corner.len() - 1);
        let of = |graph: &mut Self, at: i64| {
            let value = graph.one(left, 1, at);
            graph.negative(value)
        };
        let explained = of(self, corner.len() as i64 - 2);
        let rest = self.from(scale, explained);
        let var = self.clip(rest, 0.0, scale);
        let mean = if rows.labels.is_some() { of(self, 0) } else { zero };
        Local { mean: self.reshape(mean, &[-1, 1]), var, r }
    }

    /// Distances of all pairs `[n, k, k]` of points `[n, k, d]`, whose squared norms are `[n, k]`.
    fn pairs(&mut self, points: Value, norms: Value) -> Value {
        let transposed = self.transpose(points, &[0, 2, 1]);
        let dots = self.matmul(points, transposed);
        let (down, across) = (self.unsqueeze(norms, 2), self.unsqueeze(norms, 1));
        let both = self.add(down, across);
        let twice = self.times(dots, -2.0);
        let squared = self.add(both, twice);
        let least = self.times(both, COPY);
        let is_apart = self.is("Greater", squared, least);
        let zero = self.number(squared, 0.0);
        let squared = self.choose(is_apart, squared, zero);
        self.sqrt(squared)
    }

    /// What is left of the last row `[n, columns]` when the first k columns of `[n, k+1, k+columns]` are eliminated.
    fn eliminate(&mut self, whole: Value, k: usize, columns: usize) -> Value {
        let mut a = whole;
        if k > UNROLLED {
            let trips = self.i64s(&[], &[k as i64]);
            let [last] = self.repeat(trips, [a], |graph, i, [a]| {
                // Rows and columns that are done are zero, and stay so.
                let i = graph.reshape(i, &[1]);
                let (row, column) = (graph.gather(a, i, 1), graph.gather(a, i, 2));
                let pivot = graph.gather(row, i, 2);
                let row = graph.div(row, pivot);
                let product = graph.mul(column, row);
                [graph.sub(a, product)]
            });
            let row = self.one(last, 1, k as i64);
            let rest = self.slice(row, 2, k as i64, (k + columns) as i64);
            return self.reshape(rest, &[-1, columns as i64]);
        }
        let (one, two, end, both) =
            (self.list(&[1]), self.list(&[1, 1]), self.list(&[i64::MAX; 2]), self.list(&[1, 2]));
        for _ in 0..k {
            let first = self.one(a, 1, 0); // [n, 1, m]
            let pivot = self.one(first, 2, 0); // [n, 1, 1]
            let row = self.slice(first, 2, 1, i64::MAX);
            let row = self.div(row, pivot);
            let column = self.one(a, 2, 0);
            let column = {
                let end = self.list(&[i64::MAX]);
                self.node("Slice", &[column, one, end, one], Vec::new(), column.ty)
            };
            let rest = self.node("Slice", &[a, two, end, both], Vec::new(), a.ty);
            let product = self.mul(column, row);
            a = self.sub(rest, product);
        }
        self.reshape(a, &[-1, columns as i64])
    }
}
