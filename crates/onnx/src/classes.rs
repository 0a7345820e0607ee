//! Predicted classes (docs/model-file.md, section 7, "Classification").

use crate::error::ExportError;
use crate::feature_stack::FeatureStacker;
use crate::graph::{Graph, Type, Value};
use crate::kept::Kept;
use crate::nearest::{Found, Points};
use crate::network::Members;
use crate::tensors::Tensors;
use gp::Link;
use inducing::config::HeadKind;
use inducing::model::{ClassCalibration, ClassStack, Decision, LinearClasses, ModelHeader};

/// What is said of the classes of n rows.
pub(crate) struct Said {
    /// `[n, K]`
    pub(crate) p: Value,
    /// `[n, 1]`
    pub(crate) familiarity: Option<Value>,
}

/// A model of classes.
pub(crate) struct Classes<'a> {
    header: &'a ModelHeader,
    tensors: &'a Tensors<'a>,
    /// Kept inputs of an ensemble.
    neighbours: Option<(&'a ClassStack, Points, Value)>,
    /// Kept features of one network.
    features: Option<FeatureStacker<'a>>,
}

/// Classes of kept rows, `[N]`.
pub(crate) fn classes_of(graph: &mut Graph, kept: &Kept<'_>) -> Value {
    let classes: Vec<i64> = kept.y.values.iter().map(|&y| y as i64).collect();
    graph.list(&classes)
}

impl<'a> Classes<'a> {
    pub(crate) fn new(
        graph: &mut Graph,
        header: &'a ModelHeader,
        tensors: &'a Tensors<'a>,
        kept: Option<&Kept<'a>>,
    ) -> Result<Self, ExportError> {
        let (mut neighbours, mut features) = (None, None);
        let stack = header.ensemble.as_ref().and_then(|ensemble| ensemble.class_stack.as_ref());
        if let (Some(kept), Some(stack)) = (kept, stack) {
            let points = Points::new(graph, kept.rows(), kept.x.values, &stack.process.inverse_lengths());
            neighbours = Some((stack, points, classes_of(graph, kept)));
        }
        if let (Some(kept), Some(stack)) = (kept, &header.feature_stack) {
            features = Some(FeatureStacker::new(graph, kept, stack, tensors)?);
        }
        Ok(Self { header, tensors, neighbours, features })
    }

    /// K
    pub(crate) fn count(&self) -> usize {
        self.header.schema.classes().map_or(0, <[String]>::len)
    }

    /// Whether there is a familiarity.
    pub(crate) fn is_familiar(&self) -> bool {
        self.neighbours.is_some() || self.features.is_some()
    }

    /// Probabilities at `x [n, width]`, as if no cell were absent.
    pub(crate) fn say(&self, graph: &mut Graph, x: Value) -> Result<Said, ExportError> {
        let outputs = self.header.schema.outputs();
        let members = Members::new(graph, self.header, self.tensors, x)?;
        let [mean, mut var] = members.latent(graph, outputs);
        let position = self.features.as_ref().map(|features| features.locate(graph, x, &members, outputs));
        if let Some(position) = &position {
            var = graph.add(var, position.var);
        }
        let mut p = self.of_latent(graph, mean, var);
        let linear = self.header.ensemble.as_ref().and_then(|ensemble| ensemble.linear_classes.as_ref());
        if let Some(linear) = linear {
            p = mix(graph, linear, x, p);
        }
        if let Some((stack, points, classes)) = &self.neighbours {
            let found = points.nearest(graph, x, None, stack.count);
            let distance = graph.distance(found.distances);
            let far = graph.far(&stack.distances, distance, stack.process.family);
            let p = join(graph, stack, *classes, p, found, far);
            return Ok(Said { p, familiarity: Some(graph.familiarity(&stack.distances, distance)) });
        }
        if let (Some(position), Some(features)) = (position, &self.features) {
            let p = join(graph, features.stack, features.classes, p, position.found, position.far);
            return Ok(Said { p, familiarity: Some(position.familiarity) });
        }
        Ok(Said { p, familiarity: None })
    }

    /// Probabilities `[n, K]` that follow from latent functions `[n, C]`.
    fn of_latent(&self, graph: &mut Graph, mean: Value, var: Value) -> Value {
        let calibration = self.header.class_calibration.unwrap_or(ClassCalibration::none());
        let config = &self.header.config;
        let link = if config.head == HeadKind::Softmax { Link::Logit } else { config.gp.link };
        let widening = if link == Link::Logit { std::f64::consts::PI / 8.0 } else { 1.0 };
        let spread = graph.times(var, calibration.latent * widening);
        let spread = graph.plus(spread, 1.0);
        let spread = graph.sqrt(spread);
        let sure = graph.times(mean, calibration.slope);
        let mut s = graph.div(sure, spread);
        if self.header.schema.outputs() == 1 {
            let other = if link == Link::Logit { graph.times(s, 0.0) } else { graph.negative(s) };
            s = graph.concat(&[other, s], 1);
        }
        let log_p = if link == Link::Logit { s } else { graph.normal_log_cdf(s) };
        graph.softmax(log_p)
    }

    /// The class of each row of probabilities, `[n]`.
    pub(crate) fn decide(&self, graph: &mut Graph, p: Value) -> Value {
        let first = |graph: &mut Graph, op: &str, p: Value| {
            use crate::graph::Attribute::Int;
            graph.node(op, &[p], vec![Int("axis", 1), Int("keepdims", 0)], Type::I64)
        };
        match &self.header.decision {
            None => first(graph, "ArgMax", p),
            Some(Decision::Threshold(least)) => {
                let second = graph.one(p, 1, 1);
                let second = graph.reshape(second, &[-1]);
                let is_second = graph.is_number("GreaterOrEqual", second, *least);
                graph.cast(is_second, Type::I64)
            }
            Some(Decision::Costs(costs)) => {
                let all: Vec<f64> = costs.concat();
                let costs = graph.f64s(&[costs.len(), costs.len()], &all);
                let expected = graph.matmul(p, costs);
                first(graph, "ArgMin", expected)
            }
        }
    }
}

/// A logistic regression mixed into probabilities, which then are made surer.
fn mix(graph: &mut Graph, linear: &LinearClasses, x: Value, p: Value) -> Value {
    let classes = linear.classes;
    let (w, b) = linear.theta.split_at(linear.theta.len().saturating_sub(classes));
    let (w, b) = (graph.f64s(&[w.len() / classes, classes], w), graph.f64s(&[1, classes], b));
    let wide = graph.wide(x);
    let product = graph.matmul(wide, w);
    let logits = graph.add(product, b);
    let own = graph.softmax(logits);
    let (p, own) = (graph.times(p, 1.0 - linear.share), graph.times(own, linear.share));
    let mixed = graph.add(p, own);
    let largest = graph.reduce("ReduceMax", mixed, &[1], true);
    let largest = graph.at_least(largest, f64::MIN_POSITIVE);
    let relative = graph.div(mixed, largest);
    let exponent = graph.number(relative, linear.sharpness);
    let sharp = graph.node("Pow", &[relative, exponent], Vec::new(), Type::F64);
    let sum = graph.reduce("ReduceSum", sharp, &[1], true);
    graph.div(sharp, sum)
}

/// Probabilities joined with the classes of the nearest rows, and far from all of them with the frequencies.
fn join(graph: &mut Graph, stack: &ClassStack, classes: Value, p: Value, found: Found, far: Value) -> Value {
    let k = stack.frequencies.len();
    let mut p = p;
    if let Some(prior) = stack.prior {
        let near = graph.over(found.distances, -stack.reach);
        let kappa = graph.exp(near); // [n, k]
        let labels = graph.gather(classes, found.rows, 0);
        let labels = graph.unsqueeze(labels, 2);
        let all: Vec<i64> = (0..k as i64).collect();
        let all = graph.list(&all);
        let is_of = graph.is("Equal", labels, all); // [n, k, K]
        let is_of = graph.cast(is_of, Type::F64);
        let weights = graph.unsqueeze(kappa, 2);
        let votes = graph.mul(is_of, weights);
        let votes = graph.reduce("ReduceSum", votes, &[1], false); // [n, K]
        let own = graph.times(p, prior);
        let sum = graph.add(own, votes);
        let total = graph.reduce("ReduceSum", kappa, &[1], true);
        let total = graph.plus(total, prior);
        p = graph.div(sum, total);
    }
    let frequencies = graph.f64s(&[1, k], &stack.frequencies);
    graph.towards(p, frequencies, far)
}
