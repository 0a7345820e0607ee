//! Targets on scales: from what is modelled to the target's own unit and range (docs/model-file.md, section 7, "Scales").

use crate::graph::{Graph, Value};
use crate::mixture::Density;
use data::{TargetScale, Transform};

/// Equal steps of the modelled scale on which moments are computed, and the probability that is left out on both sides.
const STEPS: usize = 256;
const TAIL: f64 = 1e-4;
/// Less beyond a bound is nothing.
const NOTHING: f64 = 1e-9;
/// Beyond it a number has no square.
const MOST: f64 = 340.0;

/// y of u, inside the target's range.
pub(crate) fn invert(graph: &mut Graph, scale: &TargetScale, u: Value) -> Value {
    let u = scale.reach.map_or(u, |[low, high]| graph.clip(u, low, high));
    let y = match scale.transform {
        Transform::Identity => u,
        Transform::Log { offset } => {
            let u = graph.at_most(u, MOST);
            let y = graph.exp(u);
            graph.plus(y, -offset)
        }
        Transform::Logit { lower, upper } => {
            let negative = graph.negative(u);
            let odds = graph.exp(negative);
            let whole = graph.plus(odds, 1.0);
            let span = graph.number(u, upper - lower);
            let part = graph.div(span, whole);
            graph.plus(part, lower)
        }
        Transform::Asinh { centre, width } => {
            // sinh u = (e^u − e^(−u))/2, without its cancellation near zero: 10⁻¹⁶ of the width is nothing there.
            let u = graph.clip(u, -MOST, MOST);
            let negative = graph.negative(u);
            let [up, down] = [u, negative].map(|u| graph.exp(u));
            let twice = graph.sub(up, down);
            let y = graph.times(twice, 0.5 * width);
            graph.plus(y, centre)
        }
    };
    let y = scale.lower.map_or(y, |lower| graph.at_least(y, lower));
    scale.upper.map_or(y, |upper| graph.at_most(y, upper))
}

/// u of a bound.
fn modelled(scale: &TargetScale, y: f64) -> f64 {
    scale.transform.apply(y)
}

/// Mean and deviation `[n, 1]` of y, whose u has this density.
pub(crate) fn moments(graph: &mut Graph, scale: &TargetScale, density: Density<'_>) -> [Value; 2] {
    let ends = density.quantiles(graph, &[TAIL, 1.0 - TAIL]); // [n, 2]
    let [low, high] = [0, 1].map(|at| graph.one(ends, 1, at));
    let width = graph.sub(high, low);
    let step = graph.over(width, STEPS as f64);
    let places: Vec<f64> = (0..=STEPS).map(|i| i as f64).collect();
    let places = graph.f64s(&[1, STEPS + 1], &places);
    let offsets = graph.mul(step, places);
    let u = graph.add(low, offsets); // [n, S + 1]
    let (y, p) = (invert(graph, scale, u), density.cdf(graph, u));
    let end = STEPS as i64;
    let (p_low, p_high) = (graph.slice(p, 1, 0, end), graph.slice(p, 1, 1, end + 1));
    let shares = graph.sub(p_high, p_low);
    let (first, last) = (graph.one(p, 1, 0), graph.one(p, 1, end));
    let total = graph.sub(last, first);
    let shares = graph.div(shares, total); // [n, S]
    let origin = graph.one(y, 1, end / 2);
    let from_origin = graph.sub(y, origin);
    let (a, b) = (graph.slice(from_origin, 1, 0, end), graph.slice(from_origin, 1, 1, end + 1));
    let sum = graph.add(a, b);
    let middle = graph.times(sum, 0.5);
    let mean = graph.mul(shares, middle);
    let mean = graph.reduce("ReduceSum", mean, &[1], true);
    let (aa, ab, bb) = (graph.square(a), graph.mul(a, b), graph.square(b));
    let squares = graph.add(aa, ab);
    let squares = graph.add(squares, bb);
    let squares = graph.over(squares, 3.0);
    let square = graph.mul(shares, squares);
    let square = graph.reduce("ReduceSum", square, &[1], true);
    let mean_squared = graph.square(mean);
    let var = graph.sub(square, mean_squared);
    let var = graph.at_least(var, 0.0);
    let std = graph.sqrt(var);
    let mean = graph.add(origin, mean);
    let size = graph.map("Abs", mean);
    let size = graph.at_least(size, 1e-12);
    let least = graph.times(size, 1e-12);
    let std = graph.max(std, least);
    if scale.transform != Transform::Identity {
        return [mean, std];
    }
    // Straight and nowhere cut off, it is what was modelled.
    let plain = density.mean(graph);
    let plain_std = density.deviation_about(graph, plain);
    let mut cut: Option<Value> = None;
    for (bound, is_upper) in [(scale.lower, false), (scale.upper, true)] {
        let Some(bound) = bound else { continue };
        let nothing = graph.times(plain, 0.0);
        let at = graph.plus(nothing, modelled(scale, bound));
        let below = density.cdf(graph, at);
        let beyond = if is_upper { graph.from(1.0, below) } else { below };
        let is_cut = graph.is_number("Greater", beyond, NOTHING);
        cut = Some(match cut {
            None => is_cut,
            Some(other) => graph.is("Or", other, is_cut),
        });
    }
    match cut {
        None => [plain, plain_std],
        Some(cut) => [graph.choose(cut, mean, plain), graph.choose(cut, std, plain_std)],
    }
}
