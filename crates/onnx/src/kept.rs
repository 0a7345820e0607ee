//! Training rows that the model keeps, as constants of the graph.

use crate::error::ExportError;
use crate::graph::{Graph, Value};
use crate::local::Rows;
use crate::nearest::Points;
use crate::tensors::{Tensor, Tensors};
use inducing::Model;
use inducing::dataset::{Inputs, Matrix};
use inducing::model::Stack;

/// In `folds`: a row that no member has seen.
const EVERYBODY: f32 = -2.0;

/// The kept rows.
pub(crate) struct Kept<'a> {
    model: &'a Model,
    pub(crate) x: Tensor<'a>,
    pub(crate) y: Tensor<'a>,
    errors: Option<Tensor<'a>>,
    folds: Option<Tensor<'a>>,
    values: Value,
}

/// Rows that a member left out, none where there are none.
pub(crate) struct Pool {
    pub(crate) rows: Option<(Points, Rows)>,
}

impl<'a> Kept<'a> {
    /// Those of a model; none where it keeps none.
    pub(crate) fn new(graph: &mut Graph, model: &'a Model, tensors: &'a Tensors<'_>) -> Option<Self> {
        let (x, y) = (tensors.get("neighbours.x").ok()?, tensors.get("neighbours.y").ok()?);
        let (errors, folds) = (tensors.get("neighbours.errors").ok(), tensors.get("neighbours.folds").ok());
        let values = graph.f32s(x.shape, x.values);
        Some(Self { model, x, y, errors, folds, values })
    }

    /// d
    pub(crate) fn width(&self) -> usize {
        self.x.shape[1]
    }

    /// Their coordinates in the graph, `[N, d]`.
    pub(crate) fn rows(&self) -> Value {
        self.values
    }

    pub(crate) fn errors(&self) -> Result<Tensor<'a>, ExportError> {
        self.errors.ok_or_else(|| ExportError::Incomplete("the tensor `neighbours.errors`".into()))
    }

    /// Of each member the rows that it left out, in the coordinates `[x/ℓ | φ | f]` of one output; empty without a `feature_process`.
    pub(crate) fn pools(
        &self,
        graph: &mut Graph,
        stack: &Stack,
        output: usize,
    ) -> Result<Vec<Pool>, ExportError> {
        let (Some(process), Some(folds)) = (&stack.feature_process, self.folds) else {
            return Ok(Vec::new());
        };
        let (n, d) = (self.x.shape[0], self.width());
        let rows: Vec<usize> = (0..n).collect();
        let inputs = Inputs::Table(Matrix { x: self.x.values.to_vec(), width: d, ..Matrix::default() });
        let features = self.model.encode(&inputs, &rows)?;
        let latent = self.model.latent(&features);
        let c = self.y.shape[1];
        let weights: Vec<f32> = stack.process.inverse_lengths().iter().map(|&w| w as f32).collect();
        let all = self.rows();
        let mut pools = Vec::new();
        for (member, (phi, mean)) in features.networks.iter().zip(latent.members()).enumerate() {
            let left_out = |&row: &usize| {
                let slots = &folds.values[row * folds.shape[1]..][..folds.shape[1]];
                slots.first() == Some(&EVERYBODY) || slots.contains(&(member as f32))
            };
            let left_out: Vec<usize> = rows.iter().copied().filter(left_out).collect();
            if left_out.is_empty() {
                pools.push(Pool { rows: None });
                continue;
            }
            let width = phi.len() / n;
            let (mut coordinates, mut own, mut labels) = (Vec::new(), Vec::new(), Vec::new());
            for &row in &left_out {
                let f = mean[row * c + output] as f32;
                coordinates.extend(self.x.values[row * d..][..d].iter().zip(&weights).map(|(x, w)| x * w));
                own.extend_from_slice(&phi[row * width..][..width]);
                own.push(f);
                coordinates.extend_from_slice(&own[own.len() - width - 1..]);
                labels.push(f64::from(self.y.values[row * c + output] - f));
            }
            let at: Vec<i64> = left_out.iter().map(|&row| row as i64).collect();
            let (at, own) = (graph.list(&at), graph.f32s(&[left_out.len(), width + 1], &own));
            let weights = graph.f32s(&[d], &weights);
            let values = graph.outside(|graph| {
                let x = graph.gather(all, at, 0);
                let weighted = graph.mul(x, weights);
                graph.concat(&[weighted, own], 1)
            });
            let points = Points::new(graph, values, &coordinates, &process.inverse_lengths());
            let labels = graph.f64s(&[labels.len(), 1], &labels);
            pools.push(Pool { rows: Some((points, Rows { coordinates: values, labels: Some(labels) })) });
        }
        Ok(pools)
    }
}
