//! What the page's script knows: examples, predictions, and which mark stands for which.

use crate::pool::{self, Pool};
use crate::sections::{Block, Section, class_name, unit};
use crate::{ModelRecord, Report, TargetRecord, escape};
use serde_json::{Map, Value, json};

/// All of it.
pub(crate) fn json(report: &Report, pool: &Pool<'_>, sections: &[Section]) -> Value {
    let mut plots = Map::new();
    for block in sections.iter().flat_map(|section| &section.blocks) {
        let Block::Figures(figures) = block else { continue };
        for drawn in figures {
            if let Some(marks) = &drawn.marks {
                plots.insert(
                    drawn.figure.name.clone(),
                    json!({ "model": marks.model, "target": marks.target, "order": marks.order }),
                );
            }
        }
    }
    let models: Vec<Value> =
        report.models.iter().enumerate().map(|(m, model)| model_json(m, model, pool)).collect();
    json!({ "pool": pool.json(), "models": models, "plots": plots })
}

fn model_json(m: usize, model: &ModelRecord, pool: &Pool<'_>) -> Value {
    let place = |example: usize| pool.place(m, example).map_or(-1, |place| place as i64);
    let points = model.targets.first().map_or_else(Vec::new, pool::examples_of);
    let points: Vec<i64> = points.into_iter().map(place).collect();
    let inducing = model.networks.first().map_or(&[][..], |network| &network.inducing[..]);
    let inducing: Vec<Value> = inducing
        .iter()
        .map(|point| {
            let nearest = point.nearest.first();
            json!([
                plain(&point.label),
                point.leaning,
                nearest.map_or(-1, |n| place(n.example)),
                nearest.map(|n| plain(&n.truth)),
                nearest.map(|n| short(n.distance)),
            ])
        })
        .collect();
    let targets: Vec<Value> = model.targets.iter().map(target_json).collect();
    json!({ "points": points, "inducing": inducing, "targets": targets })
}

fn target_json(target: &TargetRecord) -> Value {
    match target {
        TargetRecord::Number(record) => {
            let all = |value: &dyn Fn(&crate::NumberPoint) -> f64| {
                record.points.iter().map(|p| short(value(p))).collect::<Vec<_>>()
            };
            json!({
                "name": plain(&unit(&record.name)),
                "truth": all(&|p| p.truth),
                "mean": all(&|p| p.mean),
                "std": all(&|p| p.std),
                "latent": all(&|p| p.std_latent),
            })
        }
        TargetRecord::Classes(record) => {
            let all = |value: &dyn Fn(&crate::ClassPoint) -> f64| {
                record.points.iter().map(|p| short(value(p))).collect::<Vec<_>>()
            };
            let names: Vec<String> =
                (0..record.classes.len()).map(|c| plain(class_name(record, c))).collect();
            let mut value = json!({
                "name": plain(&unit(&record.name)),
                "classes": names,
                "truth": record.points.iter().map(|p| p.truth).collect::<Vec<_>>(),
                "predicted": record.points.iter().map(|p| p.predicted).collect::<Vec<_>>(),
                "p": all(&|p| p.p),
                "pTruth": all(&|p| p.p_truth),
                "entropy": all(&|p| p.entropy),
            });
            if record.has_variance {
                value["mean"] = json!(all(&|p| p.latent_mean));
                value["std"] = json!(all(&|p| p.latent_std));
            }
            value
        }
    }
}

fn plain(raw: &str) -> String {
    escape::plain(&escape::cut(raw, 80))
}

/// Five significant digits; what is not finite becomes null.
fn short(x: f64) -> Value {
    let rounded: f64 = format!("{x:.4e}").parse().unwrap_or(f64::NAN);
    if rounded == rounded.trunc() && rounded.abs() < 1e9 { json!(rounded as i64) } else { json!(rounded) }
}
