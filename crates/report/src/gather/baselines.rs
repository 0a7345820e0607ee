//! The scores of simple models that a model file holds.

use crate::number_format::counted;
use crate::record::{Baseline, BaselineComparison};
use inducing::metrics::{ClassMetrics, Metrics};
use inducing::model::{Model, Score};

/// Parts of the training data, the most telling first.
const PARTS: [&str; 3] = ["test", "out_of_fold", "validation"];

/// Of a number. `part` is the part of the training data that the page is about, if it is one.
pub(super) fn of_number(
    model: &Model,
    target: &str,
    part: Option<&str>,
) -> Option<BaselineComparison<Metrics>> {
    let metrics = |score: &Score| match score {
        Score::Number(metrics) => Some(*metrics),
        Score::Classes(_) => None,
    };
    comparison(model, target, part, &metrics, &|metrics| metrics.n)
}

/// Of classes.
pub(super) fn of_classes(
    model: &Model,
    target: &str,
    part: Option<&str>,
) -> Option<BaselineComparison<ClassMetrics>> {
    let metrics = |score: &Score| match score {
        Score::Classes(metrics) => Some(metrics.clone()),
        Score::Number(_) => None,
    };
    comparison(model, target, part, &metrics, &|metrics| metrics.n)
}

fn comparison<M>(
    model: &Model,
    target: &str,
    part: Option<&str>,
    metrics: &dyn Fn(&Score) -> Option<M>,
    rows: &dyn Fn(&M) -> usize,
) -> Option<BaselineComparison<M>> {
    let header = model.header();
    let known = |part: &&str| header.baselines.contains_key(*part) && header.metrics.contains_key(*part);
    let from = part.filter(known).or_else(|| PARTS.into_iter().find(|part| known(part)))?;
    let of = |scores: &inducing::model::Scores| metrics(scores.get(target)?);
    let own = of(header.metrics.get(from)?)?;
    let baselines: Vec<(Baseline, M)> = Baseline::ALL
        .into_iter()
        .filter_map(|baseline| Some((baseline, of(header.baselines[from].get(baseline.key())?)?)))
        .collect();
    let n = rows(&own);
    let other_rows = (part != Some(from)).then(|| match from {
        "test" => format!("the {} held out during training", counted(n, "test row", "test rows")),
        "validation" => {
            format!("the {} of the training run", counted(n, "validation row", "validation rows"))
        }
        _ => format!("the {}, each predicted out of fold", counted(n, "training row", "training rows")),
    });
    (!baselines.is_empty()).then_some(BaselineComparison { other_rows, model: own, baselines })
}
