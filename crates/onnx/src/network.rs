//! The networks of a model at a block of rows: features and latent functions of each, and joined.

use crate::cnn;
use crate::error::ExportError;
use crate::graph::{Graph, Value};
use crate::mlp;
use crate::process;
use crate::tensors::{Tensors, widen};
use inducing::config::HeadKind;
use inducing::model::{FeatureScale, Kernel, ModelHeader};
use inducing::nn::EncoderShape;

/// What one network says of n rows.
pub(crate) struct Member {
    /// Φ `[n, D]`, 32 bits.
    pub(crate) phi: Value,
    /// `[n, c]`, 64 bits.
    pub(crate) mean: Value,
    /// `[n, 1]`, 64 bits.
    pub(crate) var: Value,
}

/// What all networks say.
pub(crate) struct Members {
    pub(crate) networks: Vec<Member>,
    /// Whether they are members of an ensemble, rather than one of all outputs or one for each.
    ensemble: bool,
}

impl Members {
    /// All networks at `x [n, width]`.
    pub(crate) fn new(
        graph: &mut Graph,
        header: &ModelHeader,
        tensors: &Tensors<'_>,
        x: Value,
    ) -> Result<Self, ExportError> {
        let first = std::iter::once((&header.feature_scale, &header.kernel));
        let others = header.others.iter().map(|other| (&other.feature_scale, &other.kernel));
        let networks = first.chain(others).enumerate();
        let networks =
            networks.map(|(k, (scale, kernel))| member(graph, header, tensors, k, scale, kernel, x));
        Ok(Self { networks: networks.collect::<Result<_, _>>()?, ensemble: header.ensemble.is_some() })
    }

    /// Latent mean and variance of one function, `[n, 1]` both.
    pub(crate) fn joined(&self, graph: &mut Graph, output: usize) -> [Value; 2] {
        let own = |graph: &mut Graph, member: &Member, at: usize| graph.one(member.mean, 1, at as i64);
        if !self.ensemble {
            let outputs_of_each = self.networks.len() == 1;
            let (network, at) = if outputs_of_each { (0, output) } else { (output, 0) };
            let member = &self.networks[network];
            return [own(graph, member, at), member.var];
        }
        let count = self.networks.len() as f64;
        let means: Vec<Value> = self.networks.iter().map(|member| own(graph, member, output)).collect();
        let vars: Vec<Value> = self.networks.iter().map(|member| member.var).collect();
        let (means, vars) = (graph.concat(&means, 1), graph.concat(&vars, 1)); // [n, E]
        let [mean, var] = [means, vars].map(|all| graph.reduce("ReduceMean", all, &[1], true));
        let apart = graph.sub(means, mean);
        let squares = graph.square(apart);
        let between = graph.reduce("ReduceSum", squares, &[1], true);
        let between = graph.over(between, (count - 1.0).max(1.0));
        [mean, graph.add(var, between)]
    }

    /// The same of all C functions, `[n, C]` both.
    pub(crate) fn latent(&self, graph: &mut Graph, outputs: usize) -> [Value; 2] {
        let all: Vec<[Value; 2]> = (0..outputs).map(|output| self.joined(graph, output)).collect();
        [0, 1].map(|part| graph.concat(&all.iter().map(|both| both[part]).collect::<Vec<_>>(), 1))
    }
}

#[allow(clippy::too_many_arguments)]
fn member(
    graph: &mut Graph,
    header: &ModelHeader,
    tensors: &Tensors<'_>,
    k: usize,
    scale: &FeatureScale,
    kernel: &Kernel,
    x: Value,
) -> Result<Member, ExportError> {
    let g = match &header.encoder {
        EncoderShape::Mlp(shape) => mlp::features(graph, tensors, k, shape, x)?,
        EncoderShape::Cnn(shape) => cnn::features(graph, tensors, k, shape, x)?,
        EncoderShape::Identity(_) => x,
        EncoderShape::Text(_) => return Err(ExportError::Inputs("a model of texts".into())),
        EncoderShape::Graph(_) => return Err(ExportError::Inputs("a model of graphs".into())),
        EncoderShape::Custom(_) => return Err(ExportError::Inputs("a model of a custom encoder".into())),
    };
    let shift = graph.f32s(&[1, scale.shift.len()], &scale.shift);
    let moved = graph.sub(g, shift);
    let phi = graph.times(moved, f64::from(scale.scale));
    if header.config.head == HeadKind::Softmax {
        let (w, b) = (tensors.of_network(k, "softmax.w")?, tensors.of_network(k, "softmax.b")?);
        let (w, b) =
            (graph.f64s(w.shape, &widen(w.values)), graph.f64s(&[1, b.values.len()], &widen(b.values)));
        let wide = graph.wide(phi);
        let product = graph.matmul(wide, w);
        let mean = graph.add(product, b);
        let first = graph.one(mean, 1, 0);
        return Ok(Member { phi, mean, var: graph.times(first, 0.0) });
    }
    let jitter = header.config.gp.jitter.get();
    let [mean, var] = process::latent(graph, tensors, k, kernel, jitter, phi)?;
    Ok(Member { phi, mean, var })
}
