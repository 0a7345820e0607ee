//! What is believed of a number: a mixture of Gaussians, or one Gaussian whose quantiles follow a table (docs/model-file.md, section 7).

use crate::graph::{Graph, Type, Value};
use inducing::metrics::normal_quantile;
use inducing::model::Calibration;

/// Halvings of a quantile's bracket: 10⁻¹⁵ of its width are left.
const HALVINGS: i64 = 50;

/// A density at n rows, 64 bits.
#[derive(Clone, Copy)]
pub(crate) enum Density<'a> {
    /// K Gaussians for each row, `[n, K]` each; shares sum to one, and may be 0.
    Mixture { share: Value, mean: Value, std: Value },
    /// A Gaussian, `[n, 1]` each.
    Scaled { mean: Value, std: Value, calibration: &'a Calibration },
}

impl<'a> Density<'a> {
    /// A mixture; weights `[n, K]` are divided by their sum.
    pub(crate) fn mixture(graph: &mut Graph, weights: Value, mean: Value, std: Value) -> Self {
        let sum = graph.reduce("ReduceSum", weights, &[1], true);
        Self::Mixture { share: graph.div(weights, sum), mean, std }
    }

    /// The density of `shift + factor·y`.
    pub(crate) fn restored(self, graph: &mut Graph, shift: f64, factor: f64) -> Self {
        let mut moved = |value: Value| {
            let value = graph.times(value, factor);
            graph.plus(value, shift)
        };
        match self {
            Self::Mixture { share, mean, std } => {
                Self::Mixture { share, mean: moved(mean), std: graph.times(std, factor) }
            }
            Self::Scaled { mean, std, calibration } => {
                Self::Scaled { mean: moved(mean), std: graph.times(std, factor), calibration }
            }
        }
    }

    /// The mean, `[n, 1]`.
    pub(crate) fn mean(self, graph: &mut Graph) -> Value {
        match self {
            Self::Scaled { mean, .. } => mean,
            Self::Mixture { share, mean, .. } => {
                let parts = graph.mul(share, mean);
                graph.reduce("ReduceSum", parts, &[1], true)
            }
        }
    }

    /// Root of the mean squared distance from a point of each row, `[n, 1]`.
    pub(crate) fn deviation_about(self, graph: &mut Graph, point: Value) -> Value {
        let (mean, std) = match self {
            Self::Mixture { mean, std, .. } | Self::Scaled { mean, std, .. } => (mean, std),
        };
        let apart = graph.sub(mean, point);
        let (apart, own) = (graph.square(apart), graph.square(std));
        let square = graph.add(apart, own);
        let square = match self {
            Self::Scaled { .. } => square,
            Self::Mixture { share, .. } => {
                let parts = graph.mul(share, square);
                graph.reduce("ReduceSum", parts, &[1], true)
            }
        };
        graph.sqrt(square)
    }

    /// The probability of at most y, `[n, Q]` both.
    pub(crate) fn cdf(self, graph: &mut Graph, y: Value) -> Value {
        match self {
            Self::Mixture { share, mean, std } => {
                let y = graph.unsqueeze(y, 2); // [n, Q, 1]
                let [share, mean, std] = [share, mean, std].map(|value| graph.unsqueeze(value, 1)); // [n, 1, K]
                let apart = graph.sub(y, mean);
                let z = graph.div(apart, std);
                let p = graph.normal_cdf(z);
                let parts = graph.mul(p, share);
                let sum = graph.sum_last(parts);
                graph.at_most(sum, 1.0)
            }
            Self::Scaled { mean, std, calibration } => {
                let apart = graph.sub(y, mean);
                let z = graph.div(apart, std);
                residual_cdf(graph, z, calibration)
            }
        }
    }

    /// Quantiles at some probabilities, `[n, Q]`.
    pub(crate) fn quantiles(self, graph: &mut Graph, probabilities: &[f64]) -> Value {
        let q = probabilities.len();
        let (share, mean, std) = match self {
            Self::Mixture { share, mean, std } => (share, mean, std),
            Self::Scaled { mean, std, calibration } => {
                let residuals: Vec<f64> = probabilities.iter().map(|&p| calibration.quantile(p)).collect();
                let residuals = graph.f64s(&[1, q], &residuals);
                let offsets = graph.mul(std, residuals);
                return graph.add(mean, offsets);
            }
        };
        // Every component's own quantile: the mixture's lies between the outermost two.
        let normal: Vec<f64> = probabilities.iter().map(|&p| normal_quantile(p)).collect();
        let normal = graph.f64s(&[1, q, 1], &normal);
        let [share, mean, std] = [share, mean, std].map(|value| graph.unsqueeze(value, 1)); // [n, 1, K]
        let offsets = graph.mul(std, normal);
        let ends = graph.add(mean, offsets); // [n, Q, K]
        let has_share = graph.is_number("Greater", share, 0.0);
        let [low, high] =
            [("ReduceMin", f64::INFINITY), ("ReduceMax", f64::NEG_INFINITY)].map(|(op, none)| {
                let none = graph.f64s(&[], &[none]);
                let ends = graph.choose(has_share, ends, none);
                graph.reduce(op, ends, &[2], false) // [n, Q]
            });
        let p = graph.f64s(&[1, q], probabilities);
        let trips = graph.i64s(&[], &[HALVINGS]);
        let [low, high] = graph.repeat(trips, [low, high], |graph, _, [low, high]| {
            let sum = graph.add(low, high);
            let middle = graph.times(sum, 0.5);
            let at = self.cdf(graph, middle);
            let is_below = graph.is("Less", at, p);
            [graph.choose(is_below, middle, low), graph.choose(is_below, high, middle)]
        });
        let sum = graph.add(low, high);
        graph.times(sum, 0.5)
    }

    /// The same around another mean, with a deviation of at least `least`, `[n, 1]` both.
    pub(crate) fn widened(self, graph: &mut Graph, to: Value, least: Value) -> Self {
        match self {
            Self::Scaled { std, calibration, .. } => {
                Self::Scaled { mean: to, std: graph.max(std, least), calibration }
            }
            Self::Mixture { share, mean, std } => {
                let own = self.mean(graph);
                let deviation = self.deviation_about(graph, own);
                let factor = graph.div(least, deviation);
                let factor = graph.at_least(factor, 1.0);
                let apart = graph.sub(mean, own);
                let apart = graph.mul(apart, factor);
                Self::Mixture { share, mean: graph.add(to, apart), std: graph.mul(std, factor) }
            }
        }
    }
}

/// Distribution function of standardised residuals: what `Calibration::quantile` inverts.
fn residual_cdf(graph: &mut Graph, z: Value, calibration: &Calibration) -> Value {
    let table = &calibration.quantiles;
    let (Some(first), Some(last)) = (table.first(), table.last()) else { return graph.normal_cdf(z) };
    let n = table.len() as f64;
    let edge = normal_quantile(0.5 / n);
    let tail = |graph: &mut Graph, by: f64| {
        let moved = graph.plus(z, by);
        graph.normal_cdf(moved)
    };
    let (below, above) = (tail(graph, edge - first), tail(graph, -edge - last));
    let count = graph.count_below(z, table, "Less"); // how many are smaller
    let upper = graph.clip(count, 1.0, (table.len() - 1).max(1) as f64);
    let lower = graph.plus(upper, -1.0);
    let values = graph.f64s(&[table.len()], table);
    let last_place = graph.at_most(upper, n - 1.0);
    let [low, high] = [lower, last_place].map(|at| graph.gather(values, at, 0));
    let [rise, run] = [graph.sub(z, low), graph.sub(high, low)];
    let run = graph.at_least(run, f64::MIN_POSITIVE);
    let share = graph.div(rise, run);
    let share = graph.clip(share, 0.0, 1.0);
    let lower = graph.cast(lower, Type::F64);
    let place = graph.add(lower, share);
    let place = graph.plus(place, 0.5);
    let inside = graph.over(place, n);
    let is_below = graph.is_number("Less", z, *first);
    let is_above = graph.is_number("Greater", z, *last);
    let rest = graph.choose(is_above, above, inside);
    graph.choose(is_below, below, rest)
}
