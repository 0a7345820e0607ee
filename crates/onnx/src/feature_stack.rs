//! One network joined with the features of training rows that it keeps (docs/model-file.md, section 7, "Kept features").

use crate::classes::classes_of;
use crate::error::ExportError;
use crate::graph::{Graph, Type, Value};
use crate::kept::Kept;
use crate::local::Rows;
use crate::nearest::{Found, Points};
use crate::network::Members;
use crate::tensors::{Tensors, widen};
use inducing::model::{ClassStack, Distances};

/// The kept features with what joins them.
pub(crate) struct FeatureStacker<'a> {
    pub(crate) stack: &'a ClassStack,
    pub(crate) classes: Value,
    points: Points,
    rows: Rows,
    reconstruction: Option<Reconstruction<'a>>,
}

/// Principal components of training images.
struct Reconstruction<'a> {
    usual: &'a Distances,
    mean: Value,       // [1, d]
    components: Value, // [d, p]
}

/// Where n rows are among the kept features, `[n, 1]` each.
pub(crate) struct Position {
    pub(crate) var: Value,
    pub(crate) found: Found,
    pub(crate) far: Value,
    pub(crate) familiarity: Value,
}

impl<'a> FeatureStacker<'a> {
    pub(crate) fn new(
        graph: &mut Graph,
        kept: &Kept<'_>,
        stack: &'a ClassStack,
        tensors: &Tensors<'_>,
    ) -> Result<Self, ExportError> {
        let points = Points::new(graph, kept.rows(), kept.x.values, &stack.process.inverse_lengths());
        let rows = Rows { coordinates: kept.rows(), labels: None };
        let reconstruction = match &stack.reconstruction {
            None => None,
            Some(usual) => {
                let (mean, components) =
                    (tensors.get("reconstruction.mean")?, tensors.get("reconstruction.components")?);
                let [p, d] = [components.shape[0], components.shape[1]];
                let mean = graph.f64s(&[1, d], &widen(mean.values));
                let components = graph.f32s(&[p, d], components.values);
                let components = graph.outside(|graph| {
                    let wide = graph.wide(components);
                    graph.transpose(wide, &[1, 0])
                });
                Some(Reconstruction { usual, mean, components })
            }
        };
        Ok(Self { stack, classes: classes_of(graph, kept), points, rows, reconstruction })
    }

    /// Where `x [n, width]` is, whose network is known.
    pub(crate) fn locate(&self, graph: &mut Graph, x: Value, members: &Members, outputs: usize) -> Position {
        let stack = self.stack;
        let [mean, _] = members.latent(graph, outputs);
        let means = if stack.frequencies.is_empty() {
            mean
        } else {
            let quarter = graph.over(mean, 4.0);
            graph.map("Tanh", quarter)
        };
        let means = graph.cast(means, Type::F32);
        let asked = graph.concat(&[members.networks[0].phi, means], 1);
        let found = self.points.nearest(graph, asked, None, stack.count);
        let var = graph.condition(&stack.process, self.rows, found, asked).var;
        let distance = graph.distance(found.distances);
        let far = graph.far(&stack.distances, distance, stack.process.family);
        let familiarity = graph.familiarity(&stack.distances, distance);
        let Some(Reconstruction { usual, mean, components }) = &self.reconstruction else {
            return Position { var, found, far, familiarity };
        };
        let wide = graph.wide(x);
        let rest = graph.sub(wide, *mean);
        let scores = graph.matmul(rest, *components);
        let [all, drawn] = [rest, scores].map(|values| {
            let squares = graph.square(values);
            graph.reduce("ReduceSum", squares, &[1], true)
        });
        let error = graph.sub(all, drawn);
        let error = graph.at_least(error, 0.0);
        let beyond = graph.beyond(usual, error);
        let far = graph.max(far, beyond);
        let of_error = graph.familiarity(usual, error);
        let least = graph.min(familiarity, of_error);
        let rest = graph.from(1.0, least);
        let rest = graph.square(rest);
        Position { var, found, far, familiarity: graph.from(1.0, rest) }
    }
}
