//! Members of an ensemble joined with the nearest kept rows: one target (docs/model-file.md, section 7, "Ensembles").

use crate::error::ExportError;
use crate::graph::{Graph, Value};
use crate::kept::{Kept, Pool};
use crate::local::{Local, Rows};
use crate::mixture::Density;
use crate::nearest::Points;
use crate::network::Members;
use inducing::model::{Distances, Stack};

/// What is said of one standardised target, `[n, 1]` each.
pub(crate) struct Stacked<'a> {
    pub(crate) mean: Value,
    pub(crate) var_latent: Value,
    pub(crate) density: Density<'a>,
    pub(crate) familiarity: Value,
}

/// One target's stack with what it is asked of.
pub(crate) struct Stacker<'a> {
    stack: &'a Stack,
    points: Points,
    rows: Rows,
    labels: Value, // [N]
    errors: Value, // [N]
    pools: Vec<Pool>,
    output: usize,
}

impl<'a> Stacker<'a> {
    /// The stack of one output.
    pub(crate) fn new(
        graph: &mut Graph,
        kept: &Kept<'_>,
        stack: &'a Stack,
        output: usize,
    ) -> Result<Self, ExportError> {
        let x = kept.rows();
        let points = Points::new(graph, x, kept.x.values, &stack.process.inverse_lengths());
        let (labels, errors) = (kept.y.column(output), kept.errors()?.column(output));
        let (slopes, intercept) = stack.linear.split_at(kept.width());
        let left = |(x, y): (&[f32], &f32)| {
            let linear: f64 =
                slopes.iter().zip(x).map(|(b, x)| b * f64::from(*x)).sum::<f64>() + intercept[0];
            f64::from(y - linear as f32)
        };
        let residuals: Vec<f64> = kept.x.values.chunks_exact(kept.width()).zip(&labels).map(left).collect();
        let pools = kept.pools(graph, stack, output)?;
        let n = labels.len();
        let labels = graph.f32s(&[n], &labels);
        let errors = graph.f32s(&[n], &errors);
        let residuals = graph.f64s(&[n, 1], &residuals);
        let (labels, errors) = graph.outside(|graph| (graph.wide(labels), graph.wide(errors)));
        let rows = Rows { coordinates: x, labels: Some(residuals) };
        Ok(Self { stack, points, rows, labels, errors, pools, output })
    }

    /// What is said at `x [n, d]`, where the members are known.
    pub(crate) fn predict(&self, graph: &mut Graph, x: Value, members: &Members) -> Stacked<'a> {
        let stack = self.stack;
        let [mean, var] = members.joined(graph, self.output);
        let wide = graph.wide(x);
        let (slopes, intercept) = stack.linear.split_at(stack.linear.len() - 1);
        let slopes = graph.f64s(&[slopes.len(), 1], slopes);
        let linear = graph.matmul(wide, slopes);
        let linear = graph.plus(linear, intercept[0]);
        let found = self.points.nearest(graph, x, None, stack.count);
        let Local { mean: add, var: v_g, r } = graph.condition(&stack.process, self.rows, found, x);
        let g = graph.add(linear, add);
        let noise = self.noise(graph, r, found.rows);
        let distance = graph.distance(r);
        let far = graph.far(&stack.distances, distance, stack.process.family);
        let features = self.by_features(graph, x, members);
        let [w, parts, caution] = [&stack.weights[..], &stack.parts[..], &[stack.caution]];
        let mut mu = graph.times(mean, w[0]);
        let (h, v_h) = match features {
            Some([h, v_h]) => (h, Some(v_h)),
            None => (mean, None),
        };
        for (value, weight) in [(g, w[1]), (h, w[2])] {
            let part = graph.times(value, weight);
            mu = graph.add(mu, part);
        }
        let mu = graph.towards(mu, linear, far);
        let apart = graph.sub(mean, g);
        let apart = graph.square(apart);
        let mut var_latent = graph.times(var, parts[0]);
        let excess = |graph: &mut Graph, value: Value, usual: f64| {
            let more = graph.plus(value, -usual);
            graph.at_least(more, 0.0)
        };
        let unusual = excess(graph, v_g, stack.usual_variance);
        let in_gap = excess(graph, v_g, stack.gap_thresholds[0]);
        let apart_in_gap = excess(graph, apart, stack.gap_thresholds[1]);
        let [b_v, b_d] = stack.gap_weights;
        let of_v_h = v_h.map(|v_h| (v_h, parts[3]));
        let all =
            [(v_g, parts[1]), (apart, parts[2]), (unusual, caution[0]), (in_gap, b_v), (apart_in_gap, b_d)];
        for (value, weight) in all.into_iter().chain(of_v_h).filter(|(_, weight)| *weight != 0.0) {
            let part = graph.times(value, weight);
            var_latent = graph.add(var_latent, part);
        }
        let var_latent = graph.max(var_latent, far);
        let of_noise = graph.times(noise, parts[4]);
        let var = graph.add(var_latent, of_noise);
        let var = graph.plus(var, stack.noise);
        let std = graph.sqrt(var);
        let density = self.density(graph, mu, std, r, found.rows);
        let familiarity = graph.familiarity(&stack.distances, distance);
        Stacked { mean: mu, var_latent, density, familiarity }
    }

    /// n: squared errors of the nearest rows when they were held out.
    fn noise(&self, graph: &mut Graph, r: Value, found: Value) -> Value {
        let near = graph.negative(r);
        let kappa = graph.exp(near);
        let errors = graph.gather(self.errors, found, 0);
        let weighted = graph.mul(kappa, errors);
        let [errors, weights] = [(weighted, self.stack.usual_error), (kappa, 1.0)].map(|(values, own)| {
            let sum = graph.reduce("ReduceSum", values, &[1], true);
            graph.plus(sum, own)
        });
        graph.div(errors, weights)
    }

    /// h and v_h: each member with the nearest of the rows that it left out, on average.
    fn by_features(&self, graph: &mut Graph, x: Value, members: &Members) -> Option<[Value; 2]> {
        let process = self.stack.feature_process.as_ref()?;
        let weights: Vec<f32> = self.stack.process.inverse_lengths().iter().map(|&w| w as f32).collect();
        let weights = graph.f32s(&[weights.len()], &weights);
        let weighted = graph.mul(x, weights);
        let mut sums: Option<[Value; 2]> = None;
        for (pool, member) in self.pools.iter().zip(&members.networks) {
            let mean = graph.one(member.mean, 1, self.output as i64);
            let narrow = graph.cast(mean, member.phi.ty);
            let asked = graph.concat(&[weighted, member.phi, narrow], 1); // [n, d + D + 1]
            let (add, var) = match &pool.rows {
                Some((points, rows)) if self.stack.feature_count > 0 => {
                    let found = points.nearest(graph, asked, None, self.stack.feature_count);
                    let local = graph.condition(process, *rows, found, asked);
                    (local.mean, local.var)
                }
                _ => (graph.f64s(&[1, 1], &[0.0]), graph.f64s(&[1, 1], &[process.log_scale.exp()])),
            };
            let h = graph.add(mean, add);
            sums = Some(match sums {
                None => [h, var],
                Some([sum, vars]) => [graph.add(sum, h), graph.add(vars, var)],
            });
        }
        let count = members.networks.len() as f64;
        sums.map(|sums| sums.map(|sum| graph.over(sum, count)))
    }

    /// A shape scaled by mean and deviation, and the neighbours' labels by their distances.
    fn density(&self, graph: &mut Graph, mu: Value, std: Value, r: Value, found: Value) -> Density<'a> {
        let stack = self.stack;
        let column = |index: usize| stack.shape.iter().map(|part| part[index]).collect::<Vec<f64>>();
        let [share, shift, width] =
            [0, 1, 2].map(|index| graph.f64s(&[1, stack.shape.len()], &column(index)));
        let offsets = graph.mul(std, shift);
        let (mut means, mut stds) = (graph.add(mu, offsets), graph.mul(std, width));
        let nothing = graph.times(offsets, 0.0);
        let mut weights = graph.add(nothing, share); // [n, K]
        if let Some(prior) = stack.prior {
            weights = graph.times(weights, prior);
            let near = graph.over(r, -stack.reach);
            let kappa = graph.exp(near);
            let counts = graph.is_number("Greater", kappa, 1e-6 * prior);
            let zero = graph.number(kappa, 0.0);
            let kappa = graph.choose(counts, kappa, zero);
            let labels = graph.gather(self.labels, found, 0);
            let nothing = graph.times(labels, 0.0);
            let widths = graph.plus(nothing, stack.bandwidth);
            weights = graph.concat(&[weights, kappa], 1);
            means = graph.concat(&[means, labels], 1);
            stds = graph.concat(&[stds, widths], 1);
        }
        Density::mixture(graph, weights, means, stds)
    }
}

/// The neighbour whose distance says how far a row is, and how many times the usual distance is far from all.
const RANK: i64 = 8;
const FAR: f64 = 2.0;

impl Graph {
    /// `(1 − t)·a + t·b`
    pub(crate) fn towards(&mut self, a: Value, b: Value, t: Value) -> Value {
        let rest = self.from(1.0, t);
        let (a, b) = (self.mul(a, rest), self.mul(b, t));
        self.add(a, b)
    }

    /// ϱ `[n, 1]` by distances of the nearest rows `[n, k]`.
    pub(crate) fn distance(&mut self, r: Value) -> Value {
        let first = self.slice(r, 1, 0, RANK);
        self.reduce("ReduceMax", first, &[1], true)
    }

    /// b(z): from 0, where a value is usual, to 1, where it is twice the largest of the usual ones.
    pub(crate) fn beyond(&mut self, usual: &Distances, value: Value) -> Value {
        let Some(largest) = usual.quantiles().last() else { return self.times(value, 0.0) };
        let times = self.over(value, largest.max(1e-9));
        let more = self.plus(times, -1.0);
        let share = self.over(more, FAR - 1.0);
        self.clip(share, 0.0, 1.0)
    }

    /// t: from 0 where training rows are to 1 where none is.
    pub(crate) fn far(&mut self, usual: &Distances, distance: Value, family: gp::Matern) -> Value {
        let beyond = self.beyond(usual, distance);
        let correlation = self.correlation(family, distance);
        let unknown = self.from(1.0, correlation);
        let unknown = self.clip(unknown, 0.0, 1.0);
        self.mul(beyond, unknown)
    }

    /// Share of the usual values that are at least as large.
    pub(crate) fn familiarity(&mut self, usual: &Distances, value: Value) -> Value {
        let list = usual.quantiles();
        let smaller = self.count_below(value, list, "Less");
        let smaller = self.wide(smaller);
        let others = self.from(list.len() as f64, smaller);
        self.over(others, list.len().max(1) as f64)
    }
}
