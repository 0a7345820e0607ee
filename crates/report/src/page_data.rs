//! Data for the page's script: examples, predictions, and what each mark stands for.

use crate::example_pool::{self, ExamplePool};
use crate::sections::{Block, Section, class_name, thresholds, unit};
use crate::{ModelRecord, RunRecord, TargetRecord, escape};
use serde_json::{Map, Value, json};

pub(crate) fn json(run: &RunRecord, pool: &ExamplePool<'_>, sections: &[Section]) -> Value {
    let mut plots = Map::new();
    for block in sections.iter().flat_map(|section| &section.blocks) {
        let Block::Figures(figures) = block else { continue };
        for shown in figures {
            if let Some(marks) = &shown.marks {
                plots.insert(
                    shown.figure.name.clone(),
                    json!({ "model": marks.model, "target": marks.target, "order": marks.order }),
                );
            }
        }
    }
    let models: Vec<Value> =
        run.models.iter().enumerate().map(|(m, model)| model_json(m, model, pool)).collect();
    json!({ "pool": pool.json(), "models": models, "plots": plots })
}

fn model_json(m: usize, model: &ModelRecord, pool: &ExamplePool<'_>) -> Value {
    let index = |example: usize| pool.index(m, example).map_or(-1, |index| index as i64);
    let points = model.targets.first().map_or_else(Vec::new, example_pool::examples_of);
    let points: Vec<i64> = points.into_iter().map(index).collect();
    let inducing = model.networks.first().map_or(&[][..], |network| &network.inducing[..]);
    let inducing: Vec<Value> = inducing
        .iter()
        .map(|point| {
            let nearest = point.nearest.first();
            json!([
                plain(&point.pseudo_label),
                point.assigned,
                nearest.map_or(-1, |n| index(n.example)),
                nearest.map(|n| plain(&n.truth)),
                nearest.map(|n| rounded(n.distance)),
            ])
        })
        .collect();
    let targets: Vec<Value> = model.targets.iter().map(target_json).collect();
    json!({ "points": points, "inducing": inducing, "targets": targets })
}

fn target_json(target: &TargetRecord) -> Value {
    match target {
        TargetRecord::Regression(record) => {
            let all = |value: &dyn Fn(&crate::RegressionPoint) -> f64| {
                record.points.iter().map(|p| rounded(value(p))).collect::<Vec<_>>()
            };
            json!({
                "name": plain(&unit(&record.name)),
                "truth": all(&|p| p.truth),
                "mean": all(&|p| p.mean),
                "std": all(&|p| p.std),
                "latent": all(&|p| p.std_latent),
            })
        }
        TargetRecord::Classification(record) => {
            let all = |value: &dyn Fn(&crate::ClassificationPoint) -> f64| {
                record.points.iter().map(|p| rounded(value(p))).collect::<Vec<_>>()
            };
            let names: Vec<String> =
                (0..record.classes.len()).map(|c| plain(&class_name(record, c))).collect();
            let mut value = json!({
                "name": plain(&unit(&record.name)),
                "classes": names,
                "truth": record.points.iter().map(|p| p.truth).collect::<Vec<_>>(),
                "predicted": record.points.iter().map(|p| p.predicted).collect::<Vec<_>>(),
                "p": all(&|p| p.p),
                "pTruth": all(&|p| p.p_truth),
                "entropy": all(&|p| p.entropy),
                "thresholds": thresholds::data(record),
            });
            if record.has_latent_variance {
                value["mean"] = json!(all(&|p| p.latent_mean));
                value["std"] = json!(all(&|p| p.latent_std));
            }
            value
        }
    }
}

fn plain(raw: &str) -> String {
    escape::plain(&escape::truncate(raw, 80))
}

/// Five significant digits; what is not finite becomes null.
pub(crate) fn rounded(x: f64) -> Value {
    let short: f64 = format!("{x:.4e}").parse().unwrap_or(f64::NAN);
    if short == short.trunc() && short.abs() < 1e9 { json!(short as i64) } else { json!(short) }
}
