//! From a model and inputs whose truth is known to all that a page shows of them.

use crate::number::{count, number};
use crate::pick::{histogram, pick, risk_curve};
use crate::record::*;
use ign::calibration::Calibration;
use ign::encoder::Mode;
use ign::{
    ClassPrediction, Features, Inputs, Latent, Model, Observed, Prediction, Projection, PseudoLabel,
    RefineOptions, RefinedInputs, Score,
};
use std::collections::{BTreeMap, BTreeSet};

/// Inputs that can be shown.
pub trait Show {
    /// One of them as a person can look at it.
    fn example(&self, row: usize) -> Example;
    /// What is known of it, in words.
    fn truth(&self, row: usize) -> String;
    /// One of them after it was moved: the bytes of a picture, or the numbers of a row as the network sees them.
    fn moved(&self, row: usize, to: Moved<'_>) -> Example;
}

/// Where an input was moved to.
pub enum Moved<'a> {
    /// `[H, W, C]`
    Picture(&'a [u8]),
    /// `[width]`, before and after.
    Row {
        /// Before.
        from: &'a [f32],
        /// After.
        to: &'a [f32],
    },
}

/// Inputs, some of which are meant.
pub struct Side<'a> {
    /// All of them.
    pub inputs: &'a Inputs,
    /// Those that are meant.
    pub rows: &'a [usize],
    /// How they look; asked by rows of `inputs`.
    pub show: &'a dyn Show,
    /// Where they come from, in words.
    pub words: String,
}

/// Inducing points and what they are shown with.
pub struct Around<'a> {
    /// Inputs that lean on the points: what the model is judged on.
    pub judged: Side<'a>,
    /// Where the nearest examples are looked for.
    pub known: Side<'a>,
    /// Nearest examples of each point, at least one.
    pub nearest: usize,
    /// Points that are shown with examples: those that most inputs lean on.
    pub shown: usize,
    /// How examples are moved towards the points, if they are.
    pub refine: Option<RefineOptions>,
}

/// What is asked of a page.
pub struct Request<'a> {
    /// The model's name.
    pub name: String,
    /// What it is judged on, and where examples come from.
    pub around: Around<'a>,
    /// What was observed, of `around.judged.rows`, at least one.
    pub observed: &'a Observed,
    /// Seconds of each epoch, by network, where they are known.
    pub seconds: Vec<Vec<Option<f64>>>,
    /// Part of the page that this model may fill, in (0, 1].
    pub share: f64,
}

/// Inducing points that a page shows with their examples; the others only count.
pub const SHOWN: usize = 64;
/// Nearest examples of each that a page shows.
pub const NEAREST: usize = 5;
/// Levels of the intervals whose coverage is measured.
const LEVELS: [f64; 13] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99];

/// The pool of examples of one model, each row of each side once.
struct Pool<'a> {
    examples: Vec<Example>,
    places: BTreeMap<(bool, usize), usize>,
    around: &'a Around<'a>,
}

impl<'a> Pool<'a> {
    fn new(around: &'a Around<'a>) -> Self {
        Self { examples: Vec::new(), places: BTreeMap::new(), around }
    }

    fn judged(&mut self, row: usize) -> usize {
        let show = self.around.judged.show;
        self.place((false, row), || show.example(row))
    }

    fn known(&mut self, row: usize) -> usize {
        let show = self.around.known.show;
        self.place((true, row), || show.example(row))
    }

    fn place(&mut self, key: (bool, usize), make: impl FnOnce() -> Example) -> usize {
        let (places, examples) = (&mut self.places, &mut self.examples);
        *places.entry(key).or_insert_with(|| {
            examples.push(make());
            examples.len() - 1
        })
    }
}

/// All that a page shows of one model.
pub fn gather(model: &Model, request: &Request<'_>) -> ModelRecord {
    let judged = &request.around.judged;
    let features = model.encode(judged.inputs, judged.rows);
    let latent = model.latent(&features);
    let mut pool = Pool::new(&request.around);
    let first = judged.show.example(judged.rows[0]);
    let most = ((crate::drawn(&first.body) as f64 * request.share) as usize).max(50);
    let (targets, drawn) = match request.observed {
        Observed::Numbers(y) => numbers(model, &latent, y, most, &mut pool),
        Observed::Classes(y) => classes(model, &latent, y, most, &mut pool),
    };
    let networks = networks(model, &features, &request.seconds, &mut pool);
    let feature_space = feature_space(model, &features, &drawn);
    ModelRecord {
        name: request.name.clone(),
        facts: facts(model),
        columns: columns(model),
        examples: pool.examples,
        targets,
        features: feature_space,
        networks,
        importance: importance(model, request),
        neighbours_from: (request.around.known.words.clone(), request.around.known.rows.len()),
        leaning_from: (judged.words.clone(), judged.rows.len()),
    }
}

/// Records of all numbers, and the positions among the judged rows that are drawn.
fn numbers(
    model: &Model,
    latent: &Latent,
    y: &[f64],
    most: usize,
    pool: &mut Pool<'_>,
) -> (Vec<TargetRecord>, Vec<usize>) {
    let c = model.outputs();
    let (prediction, before) = (model.numbers(latent), model.uncalibrated_numbers(latent));
    let targets = model.header().schema.numbers();
    let mean_over_targets = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let row = |i: usize| (0..c).map(|k| of(i * c + k) / targets[k].std).sum();
        (0..y.len() / c).map(row).collect()
    };
    let uncertain = mean_over_targets(&|at| prediction.std[at]);
    let wrong = mean_over_targets(&|at| (y[at] - prediction.mean[at]).abs());
    let drawn = pick(&uncertain, &wrong, most);
    let rows = pool.around.judged.rows;
    let places: Vec<usize> = drawn.iter().map(|&i| pool.judged(rows[i])).collect();
    let mut scores = model.score(&prediction, y);
    let record = |k: usize| {
        let name = targets[k].name.clone();
        let Some(Score::Number(metrics)) = scores.remove(&name) else {
            unreachable!("numbers have scores of numbers")
        };
        let of = |values: &[f64]| -> Vec<f64> { values.iter().skip(k).step_by(c).copied().collect() };
        let column = |p: &Prediction| [of(&p.mean), of(&p.std)];
        let (y, [mean, std], [_, std_before]) = (of(y), column(&prediction), column(&before));
        let point = |(&i, &example): (&usize, &usize)| NumberPoint {
            example,
            truth: y[i],
            mean: mean[i],
            std: std[i],
            std_latent: prediction.std_latent[i * c + k],
        };
        let within = |calibration: &Calibration, std: &[f64], level: f64| {
            let (low, high) = calibration.interval(level);
            let inside = |i: &usize| (mean[*i] + low * std[*i]..=mean[*i] + high * std[*i]).contains(&y[*i]);
            (0..y.len()).filter(inside).count() as f64 / y.len() as f64
        };
        let coverage = |level: f64| Coverage {
            level,
            after: within(&model.header().calibration[k], &std, level),
            before: within(&Calibration::none(), &std_before, level),
        };
        let squares: Vec<f64> = y.iter().zip(&mean).map(|(y, mean)| (y - mean).powi(2)).collect();
        TargetRecord::Number(NumberRecord {
            name,
            metrics,
            points: drawn.iter().zip(&places).map(point).collect(),
            coverage: LEVELS.map(coverage).to_vec(),
            risk: risk_curve(&std, &squares).into_iter().map(|[share, mse]| [share, mse.sqrt()]).collect(),
            spread: histogram(&std),
        })
    };
    ((0..c).map(record).collect(), drawn)
}

/// The record of the classes, and the positions among the judged rows that are drawn.
fn classes(
    model: &Model,
    latent: &Latent,
    y: &[u32],
    most: usize,
    pool: &mut Pool<'_>,
) -> (Vec<TargetRecord>, Vec<usize>) {
    let prediction = model.classes(latent);
    let metrics = model.class_metrics(latent, y);
    let k = prediction.classes;
    let (labels, entropy): (Vec<usize>, _) = (prediction.labels().collect(), prediction.entropy());
    let p = |i: usize, class: usize| prediction.p[i * k + class];
    let unsure: Vec<f64> = (0..y.len()).map(|i| 1.0 - p(i, labels[i])).collect();
    let wrong: Vec<f64> = (0..y.len()).map(|i| 1.0 - p(i, y[i] as usize)).collect();
    let mistakes: Vec<f64> = (0..y.len()).map(|i| f64::from(u8::from(labels[i] != y[i] as usize))).collect();
    let drawn = pick(&entropy, &wrong, most);
    let has_variance = model.heads().next().is_some();
    let rows = pool.around.judged.rows;
    let point = |&i: &usize| {
        let latent = i * k + if k == 2 { 1 } else { labels[i] };
        let ClassPrediction { latent_mean, latent_std, .. } = &prediction;
        ClassPoint {
            example: pool.judged(rows[i]),
            truth: y[i] as usize,
            predicted: labels[i],
            p: p(i, labels[i]),
            p_truth: p(i, y[i] as usize),
            entropy: entropy[i],
            latent_mean: latent_mean[latent],
            latent_std: latent_std[latent],
        }
    };
    let record = ClassRecord {
        name: model.header().schema.target_names().remove(0),
        classes: model.header().schema.classes().unwrap_or_default().to_vec(),
        metrics,
        points: drawn.iter().map(point).collect(),
        risk: risk_curve(&unsure, &mistakes),
        spread: histogram(&entropy),
        has_variance,
    };
    (vec![TargetRecord::Classes(record)], drawn)
}

/// The inducing points of each network, and the examples that their neighbours are.
pub fn inducing(model: &Model, around: &Around<'_>) -> (Vec<NetworkRecord>, Vec<Example>) {
    let mut pool = Pool::new(around);
    let judged = model.encode(around.judged.inputs, around.judged.rows);
    let networks = networks(model, &judged, &[], &mut pool);
    (networks, pool.examples)
}

fn networks(
    model: &Model,
    judged: &Features,
    seconds: &[Vec<Option<f64>>],
    pool: &mut Pool<'_>,
) -> Vec<NetworkRecord> {
    let around = pool.around;
    let header = model.header();
    let labels = model.pseudo_labels();
    let (near, leaning) = if labels.is_empty() {
        (Vec::new(), Vec::new())
    } else {
        let (a, b) = (&around.known, &around.judged);
        let known = if std::ptr::eq(a.inputs, b.inputs) && a.rows == b.rows {
            judged
        } else {
            &model.encode(a.inputs, a.rows)
        };
        (model.neighbourhoods(known, around.nearest), model.neighbourhoods(judged, 0))
    };
    let first = (&header.history, header.best_epoch);
    let others = header.others.iter().map(|other| (&other.history, other.best_epoch));
    let of_network = |(k, (history, best_epoch)): (usize, (&Vec<_>, usize))| {
        let name = match (header.others.is_empty(), header.schema.classes()) {
            (false, Some(classes)) => format!("{} against the rest", classes[k]),
            _ => String::new(),
        };
        let seconds = seconds.get(k).cloned().unwrap_or_default();
        let mut record = NetworkRecord {
            name,
            inducing: Vec::new(),
            distinct: 0,
            history: history.clone(),
            seconds,
            best_epoch,
        };
        let (Some(labels), Some(near), Some(leaning)) = (labels.get(k), near.get(k), leaning.get(k)) else {
            return record;
        };
        let nearest: Vec<usize> = near.nearest.iter().map(|list| around.known.rows[list[0].row]).collect();
        record.distinct = nearest.iter().collect::<BTreeSet<_>>().len();
        let mut by_leaning: Vec<usize> = (0..labels.len()).collect();
        by_leaning.sort_by_key(|&i| std::cmp::Reverse(leaning.leaning[i]));
        let shown: BTreeSet<usize> = by_leaning.into_iter().take(around.shown).collect();
        let starts: Vec<(usize, usize)> = shown.iter().map(|&i| (i, nearest[i])).collect();
        let mut refined = match around.refine {
            Some(options) => refine(model, &around.known, k, &starts, options),
            None => BTreeMap::new(),
        };
        for (i, label) in labels.iter().enumerate() {
            let (label, class) = words(model, k, label);
            let neighbour = |near: &ign::Neighbour| {
                let row = around.known.rows[near.row];
                Neighbour {
                    example: pool.known(row),
                    similarity: near.similarity,
                    distance: near.distance,
                    truth: around.known.show.truth(row),
                }
            };
            let nearest = match shown.contains(&i) {
                true => near.nearest[i].iter().map(neighbour).collect(),
                false => Vec::new(),
            };
            let refined = refined.remove(&i).map(|(example, [before, after])| {
                pool.examples.push(example);
                Refined { example: pool.examples.len() - 1, before, after }
            });
            record.inducing.push(InducingRecord {
                label,
                class,
                nearest,
                leaning: leaning.leaning[i],
                refined,
            });
        }
        record
    };
    std::iter::once(first).chain(others).enumerate().map(of_network).collect()
}

/// Examples moved towards inducing points, with the distances before and after; `starts` are points and rows.
fn refine(
    model: &Model,
    known: &Side<'_>,
    network: usize,
    starts: &[(usize, usize)],
    options: RefineOptions,
) -> BTreeMap<usize, (Example, [f64; 2])> {
    let refined = model.refine(network, known.inputs, starts, options, &mut |_, _| true);
    let Some(refined) = refined else { return BTreeMap::new() };
    let rows: Vec<usize> = starts.iter().map(|(_, row)| *row).collect();
    let before = known.inputs.gather(&rows, Mode::Predict);
    let example = |(i, &(point, row)): (usize, &(usize, usize))| {
        let to = match &refined.inputs {
            RefinedInputs::Images(bytes) => {
                let each = bytes.len() / starts.len();
                Moved::Picture(&bytes[i * each..(i + 1) * each])
            }
            RefinedInputs::Table(x) => {
                let width = x.len() / starts.len();
                let at = i * width..(i + 1) * width;
                Moved::Row { from: &before[at.clone()], to: &x[at] }
            }
        };
        (point, (known.show.moved(row, to), [refined.before[i], refined.after[i]]))
    };
    starts.iter().enumerate().map(example).collect()
}

/// A pseudo-label in words, and its class.
pub(crate) fn words(model: &Model, network: usize, label: &PseudoLabel) -> (String, Option<usize>) {
    let schema = &model.header().schema;
    let classes = schema.classes().unwrap_or_default();
    let sure = |class: &str, p: f64| format!("{class} ({:.0} %)", 100.0 * p);
    match label {
        PseudoLabel::Numbers(values) => match (&values[..], schema.numbers()) {
            ([only], _) => (number(*only), None),
            (several, targets) => {
                let named = several.iter().zip(targets);
                let parts: Vec<String> =
                    named.map(|(value, target)| format!("{} {}", target.name, number(*value))).collect();
                (parts.join(", "), None)
            }
        },
        PseudoLabel::Classes(p) => {
            let class = ign::class_metrics::predicted(p);
            (sure(&classes[class], p[class]), Some(class))
        }
        PseudoLabel::OneAgainstTheRest(p) if *p >= 0.5 => (sure(&classes[network], *p), Some(network)),
        PseudoLabel::OneAgainstTheRest(p) => (sure("the rest", 1.0 - p), None),
    }
}

fn feature_space(model: &Model, features: &Features, drawn: &[usize]) -> Option<FeatureSpace> {
    let head = model.heads().next()?;
    let (phi, d) = (&features.networks[0], head.w.len() / head.b.len());
    let projection = Projection::fit(phi, d);
    let of_drawn: Vec<f32> = drawn.iter().flat_map(|&i| &phi[i * d..(i + 1) * d]).copied().collect();
    Some(FeatureSpace {
        dim: d,
        points: projection.apply(&of_drawn),
        inducing: projection.apply(&head.z),
        explained: projection.explained,
    })
}

fn importance(model: &Model, request: &Request<'_>) -> Option<Importance> {
    let judged = &request.around.judged;
    let (rows, mut columns) =
        model.importance(judged.inputs, judged.rows, request.observed, model.header().config.seed)?;
    columns.sort_by(|a, b| b.error.total_cmp(&a.error));
    let measure = match model.header().schema.numbers() {
        [] => "NLL (nats)".to_owned(),
        [only] => format!("RMSE of {}", only.name),
        _ => "RMSE in deviations of the targets".to_owned(),
    };
    let column = |c: ign::ColumnImportance| ColumnImportance {
        name: c.name,
        error: c.error,
        spread: c.spread.exp_m1(),
    };
    Some(Importance { rows, measure, columns: columns.into_iter().map(column).collect() })
}

/// Names of a row's cells.
fn columns(model: &Model) -> Vec<String> {
    let table = model.header().schema.table();
    table.map_or(Vec::new(), |table| table.inputs.iter().map(|input| input.name.clone()).collect())
}

fn facts(model: &Model) -> Vec<(String, String)> {
    let header = model.header();
    let config = &header.config;
    let [train, validation, test] = header.rows.map(count);
    let mut facts = vec![
        ("predicts", header.schema.target_names().join(", ")),
        ("network", header.encoder.describe()),
        ("parameters", count(model.parameters())),
    ];
    if let Some(classes) = header.schema.classes() {
        facts.insert(1, ("classes", count(classes.len())));
    }
    if let Some(head) = model.heads().next() {
        let m = head.z.len() / (head.w.len() / head.b.len());
        let each = if header.others.is_empty() { "" } else { " for each class" };
        facts.push(("inducing points", format!("{m}{each}")));
    } else {
        facts.push(("head", "a softmax layer, without inducing points".into()));
    }
    facts.push(("rows", format!("{train} to train on, {validation} for validation, {test} for the test")));
    facts.push(("kept epoch", header.best_epoch.to_string()));
    facts.push(("seed", config.seed.to_string()));
    facts.push(("trained by", format!("ign {}", header.ign_version)));
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}
