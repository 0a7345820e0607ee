//! What is searched: levels of existing keys around the settings that the search starts from.
//!
//! A dimension is one key, or several that change together, with its levels in order. A random trial moves a third of the
//! dimensions anywhere; a refinement moves one to three by one level from the best trial.

use super::Assignments;
use crate::config::{Config, EncoderKind, HeadKind, ProblemKind};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Share of the dimensions that a random trial moves.
const MOVED: f64 = 1.0 / 3.0;
/// Dimensions that a refinement moves at most.
const MOST_STEPS: usize = 3;

/// Keys with their values at each level.
#[derive(Debug, Clone)]
struct Dimension {
    keys: Vec<(&'static str, Vec<Value>)>,
    /// The level of the start.
    start: usize,
    /// Whether neighbouring levels are similar.
    ordered: bool,
}

/// All that is searched.
#[derive(Debug, Clone)]
pub(super) struct Space {
    dimensions: Vec<Dimension>,
}

/// A level of each dimension.
pub(super) type Point = Vec<usize>;

impl Space {
    /// The dimensions that matter for a kind of problem, around a configuration; keys that are `fixed` stay as they are.
    pub(super) fn new(kind: ProblemKind, config: &Config, fixed: impl Fn(&str) -> bool) -> Self {
        let tree = serde_json::to_value(config).expect("a configuration is plain data");
        let mut space = Builder { tree, fixed, dimensions: Vec::new() };
        let table = matches!(kind, ProblemKind::Regression | ProblemKind::Classification);
        let custom = matches!(kind, ProblemKind::CustomRegression | ProblemKind::CustomClassification);
        let (has_process, has_network) =
            (config.head == HeadKind::Gp, config.encoder.kind != EncoderKind::Identity);
        if table && has_network {
            let hidden = [json!([128]), json!([128, 64]), json!([256, 128]), json!([512, 256])];
            space.levels("encoder.hidden", &hidden, true);
            space.levels("encoder.frequencies", &[json!(0), json!(8), json!(16), json!(32)], true);
            space.multiples(&[("encoder.frequency_scale", &[0.3, 1.0, 3.0])]);
        }
        if has_network && !custom {
            space.multiples(&[("encoder.features", &[0.5, 1.0, 2.0, 4.0])]);
            space.levels("encoder.dropout", &[0.0, 0.05, 0.1, 0.2].map(|x| json!(x)), true);
        }
        if has_network {
            let length: &[f64] = &[0.5, 1.0, 2.0, 3.0];
            let all = ["train.pretrain_epochs", "train.pretrain_min_steps", "train.pretrain_max_steps"];
            space.multiples(&all.map(|key| (key, length)));
            space.multiples(&[("train.pretrain_learning_rate", &[0.25, 0.5, 1.0, 2.0])]);
            let decay = [0.0, 0.03, 0.1, 0.3, 1.0].map(|x| json!(x));
            space.levels("train.weight_decay", &decay, true);
        }
        if has_process {
            space.multiples(&[("train.epochs", &[0.5, 1.0, 2.0, 4.0])]);
            space.multiples(&[("train.learning_rate", &[0.3, 1.0, 3.0])]);
            if has_network {
                space.levels("train.encoder_rate", &[0.0, 0.1, 0.3, 1.0].map(|x| json!(x)), true);
            }
            space.multiples(&[("gp.inducing", &[0.5, 1.0, 2.0])]);
            space.levels("gp.kernel", &["rbf", "matern52", "matern32"].map(|x| json!(x)), true);
        }
        if config.neighbours.count > 0 {
            space.multiples(&[("neighbours.count", &[0.5, 1.0, 2.0])]);
        }
        if table {
            space.levels("data.scaling", &[json!("standard"), json!("quantile")], false);
        }
        if kind == ProblemKind::Regression {
            let transforms = ["auto", "none", "asinh"].map(|x| json!(x));
            space.levels("data.target_transform", &transforms, false);
        }
        if config.train.crossfit_folds > 0 {
            space.levels("train.crossfit_folds", &[json!(3), json!(4), json!(6), json!(8)], true);
            space.levels("train.crossfit_repeats", &[json!(1), json!(2), json!(3)], true);
        }
        Self { dimensions: space.dimensions }
    }

    /// The point that changes nothing.
    pub(super) fn start(&self) -> Point {
        self.dimensions.iter().map(|dimension| dimension.start).collect()
    }

    /// What a point changes.
    pub(super) fn assignments(&self, point: &[usize]) -> Assignments {
        let moved = self.dimensions.iter().zip(point).filter(|(d, level)| d.start != **level);
        moved
            .flat_map(|(d, &level)| {
                d.keys.iter().map(move |(key, levels)| ((*key).into(), levels[level].clone()))
            })
            .collect()
    }

    /// The point that changes this; keys that are not searched do not count.
    pub(super) fn point(&self, assignments: &Assignments) -> Point {
        let level = |dimension: &Dimension| {
            let found = dimension.keys.iter().find_map(|(key, levels)| {
                let value = assignments.get(*key)?;
                levels.iter().position(|level| level == value)
            });
            found.unwrap_or(dimension.start)
        };
        self.dimensions.iter().map(level).collect()
    }

    /// A point anywhere, near the start in most dimensions.
    pub(super) fn random(&self, rng: &mut ChaCha8Rng) -> Point {
        let mut point = self.start();
        for (level, dimension) in point.iter_mut().zip(&self.dimensions) {
            if rng.random_bool(MOVED) {
                *level = rng.random_range(0..dimension.levels());
            }
        }
        point
    }

    /// A point next to another.
    pub(super) fn near(&self, point: &[usize], rng: &mut ChaCha8Rng) -> Point {
        let mut near = point.to_vec();
        let mut order: Vec<usize> = (0..near.len()).collect();
        order.shuffle(rng);
        let steps = rng.random_range(1..=MOST_STEPS);
        for at in order.into_iter().take(steps) {
            let (dimension, level) = (&self.dimensions[at], near[at]);
            let last = dimension.levels() - 1;
            near[at] = match (dimension.ordered, level) {
                (true, 0) => 1,
                (true, level) if level == last => last - 1,
                (true, level) => level + 2 * usize::from(rng.random_bool(0.5)) - 1,
                (false, level) => (level + rng.random_range(1..=last)) % (last + 1),
            };
        }
        near
    }
}

impl Dimension {
    fn levels(&self) -> usize {
        self.keys.first().map_or(0, |(_, levels)| levels.len())
    }
}

/// A generator for one attempt at one trial, whatever was drawn before it.
pub(super) fn generator(seed: u64, number: usize, attempt: u64) -> ChaCha8Rng {
    let stream =
        (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ attempt.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ChaCha8Rng::seed_from_u64(seed ^ 0x7475_6e65 ^ stream)
}

struct Builder<F> {
    tree: Value,
    fixed: F,
    dimensions: Vec<Dimension>,
}

impl<F: Fn(&str) -> bool> Builder<F> {
    fn value(&self, key: &str) -> Value {
        self.tree.pointer(&format!("/{}", key.replace('.', "/"))).cloned().unwrap_or(Value::Null)
    }

    /// A key with these levels, and the one that it has if it is another.
    fn levels(&mut self, key: &'static str, levels: &[Value], ordered: bool) {
        let (own, mut levels) = (self.value(key), levels.to_vec());
        if !levels.contains(&own) {
            let at = levels.iter().position(|level| size(level) > size(&own)).unwrap_or(levels.len());
            levels.insert(at, own.clone());
        }
        let start = levels.iter().position(|level| *level == own).expect("it is one of them");
        self.add(Dimension { keys: vec![(key, levels)], start, ordered });
    }

    /// Keys that are multiplied by the same factors. Of several that share no limit (0), or have a value of 1 that cannot be
    /// halved, fewer levels remain.
    fn multiples(&mut self, keys: &[(&'static str, &[f64])]) {
        let factors = keys.first().map_or(&[][..], |(_, factors)| factors);
        let mut levels: Vec<Vec<Value>> = Vec::new();
        let mut start = 0;
        for &factor in factors {
            let all: Vec<Value> = keys.iter().map(|(key, _)| multiplied(&self.value(key), factor)).collect();
            if factor == 1.0 {
                // What rounding made the same as the start is the start.
                levels.retain(|level| *level != all);
                start = levels.len();
            }
            if !levels.contains(&all) {
                levels.push(all);
            }
        }
        let of_key = |k: usize| levels.iter().map(|level| level[k].clone()).collect();
        let keys = keys.iter().enumerate().map(|(k, (key, _))| (*key, of_key(k))).collect();
        self.add(Dimension { keys, start, ordered: true });
    }

    fn add(&mut self, mut dimension: Dimension) {
        // One of several keys that the user has set stays, and the others go on.
        dimension.keys.retain(|(key, _)| !(self.fixed)(key));
        if dimension.levels() > 1 {
            self.dimensions.push(dimension);
        }
    }
}

/// Orders levels: numbers by themselves, layers by their units.
fn size(level: &Value) -> f64 {
    match level {
        Value::Array(units) => units.iter().map(size).sum(),
        other => other.as_f64().unwrap_or(f64::INFINITY),
    }
}

/// A number times a factor: whole ones stay whole and above zero, others keep three digits.
fn multiplied(value: &Value, factor: f64) -> Value {
    match (value.as_u64(), value.as_f64()) {
        (Some(0), _) => value.clone(),
        (Some(whole), _) => json!(((whole as f64 * factor).round() as u64).max(1)),
        (None, Some(x)) => json!(format!("{:.2e}", x * factor).parse::<f64>().unwrap_or(x)),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn space(kind: ProblemKind) -> Space {
        Space::new(kind, &Settings::default().resolve(kind).expect("valid"), |_| false)
    }

    #[test]
    fn most_points_of_every_kind_are_valid_configurations() {
        use ProblemKind::*;
        for kind in [Regression, Classification, Images, TextRegression, TextClassification, Graphs] {
            let space = space(kind);
            let valid = |number: usize| {
                let point = space.random(&mut generator(0, number, 0));
                let assignments = space.assignments(&point);
                assert_eq!(space.point(&assignments), point);
                let set = |all: Settings, (key, value): (&String, &Value)| all.set(format!("{key}={value}"));
                assignments.iter().fold(Settings::default(), set).resolve(kind).map(|_| ())
            };
            for number in 0..200 {
                valid(number).expect("a level is a value that its key can have");
            }
        }
    }

    #[test]
    fn the_start_changes_nothing() {
        let space = space(ProblemKind::Regression);
        assert!(space.assignments(&space.start()).is_empty());
        assert!(space.dimensions.len() > 10);
    }

    #[test]
    fn a_refinement_moves_one_to_three_dimensions_by_one_level() {
        let space = space(ProblemKind::Regression);
        for number in 0..300 {
            let point = space.random(&mut generator(1, number, 0));
            let near = space.near(&point, &mut generator(1, number, 1));
            let moved: Vec<usize> = (0..point.len()).filter(|&k| point[k] != near[k]).collect();
            assert!((1..=MOST_STEPS).contains(&moved.len()), "{moved:?}");
            for k in moved {
                assert!(near[k] < space.dimensions[k].levels());
                assert!(!space.dimensions[k].ordered || near[k].abs_diff(point[k]) == 1);
            }
        }
    }

    #[test]
    fn every_level_of_every_dimension_is_reached() {
        let space = space(ProblemKind::Classification);
        let mut seen: Vec<Vec<bool>> = space.dimensions.iter().map(|d| vec![false; d.levels()]).collect();
        for number in 0..500 {
            let point = space.random(&mut generator(2, number, 0));
            point.iter().enumerate().for_each(|(k, &level)| seen[k][level] = true);
        }
        assert!(seen.iter().flatten().all(|seen| *seen));
    }

    #[test]
    fn multiples_stay_whole_above_zero_and_three_digits_long() {
        assert_eq!(multiplied(&json!(30), 0.5), json!(15));
        assert_eq!(multiplied(&json!(1), 0.25), json!(1));
        assert_eq!(multiplied(&json!(0), 3.0), json!(0), "no limit stays none");
        assert_eq!(multiplied(&json!(0.002), 0.25), json!(0.0005));
    }
}
