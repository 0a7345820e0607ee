//! Several models side by side.

use super::curves::{self, ERROR_RATE, Named, RiskLine};
use super::summary::{Better, MetricValue, metric_values};
use super::{reliability, target_name};
use crate::figure::PageFigure;
use crate::figure::curve::Line;
use crate::palette::{DASHES, series};
use crate::{RunRecord, TargetRecord, escape};
use std::fmt::Write;

/// One table for each target, one column for each model.
pub(super) fn tables(run: &RunRecord) -> String {
    let mut out = String::new();
    for (t, record) in targets(run) {
        let all: Vec<Option<Vec<MetricValue>>> = run
            .models
            .iter()
            .map(|model| model.targets.get(t).filter(|o| same_kind(o, record)).map(metric_values))
            .collect();
        if run.models[0].targets.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", escape::text(&escape::or_placeholder(target_name(record))));
        }
        out.push_str("<div class=\"scroll\"><table class=\"metrics\" data-name=\"models\"><thead><tr><td>");
        for model in &run.models {
            let _ = write!(
                out,
                "<th scope=col>{}",
                escape::text(&escape::truncate(&escape::or_placeholder(&model.name), 60))
            );
        }
        out.push_str("<tbody>");
        for (line, metric) in metric_values(record).iter().enumerate() {
            let _ = write!(out, "<tr><th scope=row title=\"{}\">{}", metric.help, metric.name);
            let values: Vec<Option<&MetricValue>> =
                all.iter().map(|metric_values| Some(&metric_values.as_ref()?[line])).collect();
            let best = best(metric.better, &values);
            for (value, best) in values.iter().zip(best) {
                let text = value.map_or("–", |metric| metric.text.as_str());
                let _ = if best { write!(out, "<td><b>{text}</b>") } else { write!(out, "<td>{text}") };
            }
        }
        out.push_str("</table></div>");
    }
    out
}

/// Which values are the best; none where all are equal.
fn best(better: Better, values: &[Option<&MetricValue>]) -> Vec<bool> {
    let cost = |value: f64| match better {
        Better::Lower => value,
        Better::Higher => -value,
        Better::Near(level) => (value - level).abs(),
        Better::Neither => f64::NAN,
    };
    let costs: Vec<f64> =
        values.iter().map(|metric| metric.map_or(f64::NAN, |metric| cost(metric.value))).collect();
    let finite = || costs.iter().copied().filter(|c| c.is_finite());
    let least = finite().fold(f64::INFINITY, f64::min);
    let differ = finite().any(|c| c > least);
    costs.iter().map(|&c| differ && c == least).collect()
}

/// Calibration and risk–coverage curves of all models together.
pub(super) fn figures(run: &RunRecord) -> Vec<PageFigure> {
    let mut figures = Vec::new();
    for (t, record) in targets(run) {
        let several = if run.models[0].targets.len() > 1 { format!("-{}", t + 1) } else { String::new() };
        let id = |name: &str| format!("compare-{name}{several}");
        let mut calibration: Vec<Named> = Vec::new();
        let mut risks: Vec<RiskLine<'_>> = Vec::new();
        for (m, model) in run.models.iter().enumerate() {
            let (paint, dash) = (series(m), DASHES[m % DASHES.len()]);
            match model.targets.get(t).filter(|other| same_kind(other, record)) {
                Some(TargetRecord::Regression(number)) => {
                    let at =
                        number.coverage.iter().map(|c| [100.0 * c.level, 100.0 * c.calibrated]).collect();
                    calibration.push((Line::new(paint, dash, at), model.name.clone()));
                    risks.push((paint, dash, &number.risk_curve, model.name.clone()));
                }
                Some(TargetRecord::Classification(classes)) => {
                    let line = reliability::line(paint, dash, &classes.metrics.reliability, false);
                    calibration.push((line, model.name.clone()));
                    risks.push((paint, dash, &classes.risk_curve, model.name.clone()));
                }
                None => {}
            }
        }
        match record {
            TargetRecord::Regression(number) => {
                figures.push(curves::coverage(&id("coverage"), &calibration));
                figures.push(curves::risk(&id("risk"), &curves::rmse_of_kept(number), &risks));
            }
            TargetRecord::Classification(_) => {
                figures.push(reliability::figure(&id("reliability"), &calibration));
                figures.push(curves::risk(&id("risk"), ERROR_RATE, &risks));
            }
        }
    }
    figures
}

fn targets(run: &RunRecord) -> impl Iterator<Item = (usize, &TargetRecord)> {
    run.models.first().into_iter().flat_map(|model| model.targets.iter().enumerate())
}

fn same_kind(a: &TargetRecord, b: &TargetRecord) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}
