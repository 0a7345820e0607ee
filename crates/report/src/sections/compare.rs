//! Several models side by side.

use super::curves::{self, CLASS_RISK, Named, RiskLine};
use super::summary::{Better, Merit, merits};
use super::target_name;
use crate::figure::Drawn;
use crate::figure::curve::Line;
use crate::palette::{DASHES, series};
use crate::{Report, TargetRecord, escape};
use std::fmt::Write;

/// One table for each target, one column for each model.
pub(super) fn tables(report: &Report) -> String {
    let mut out = String::new();
    for (t, record) in targets(report) {
        let all: Vec<Option<Vec<Merit>>> = report
            .models
            .iter()
            .map(|model| model.targets.get(t).filter(|o| same_kind(o, record)).map(merits))
            .collect();
        if report.models[0].targets.len() > 1 {
            let _ = write!(out, "<h3>{}</h3>", escape::text(&escape::shown(target_name(record))));
        }
        out.push_str("<div class=\"scroll\"><table class=\"merits\"><thead><tr><td>");
        for model in &report.models {
            let _ =
                write!(out, "<th scope=col>{}", escape::text(&escape::cut(&escape::shown(&model.name), 60)));
        }
        out.push_str("<tbody>");
        for (line, merit) in merits(record).iter().enumerate() {
            let _ = write!(out, "<tr><th scope=row title=\"{}\">{}", merit.how, merit.name);
            let values: Vec<Option<&Merit>> =
                all.iter().map(|merits| Some(&merits.as_ref()?[line])).collect();
            let best = best(merit.better, &values);
            for (value, best) in values.iter().zip(best) {
                let says = value.map_or("–", |merit| merit.says.as_str());
                let _ = if best { write!(out, "<td><b>{says}</b>") } else { write!(out, "<td>{says}") };
            }
        }
        out.push_str("</table></div>");
    }
    out
}

/// Which of the values are the best; none where they are all the same.
fn best(better: Better, values: &[Option<&Merit>]) -> Vec<bool> {
    let cost = |value: f64| match better {
        Better::Lower => value,
        Better::Higher => -value,
        Better::Near(level) => (value - level).abs(),
        Better::Neither => f64::NAN,
    };
    let costs: Vec<f64> =
        values.iter().map(|merit| merit.map_or(f64::NAN, |merit| cost(merit.value))).collect();
    let finite = || costs.iter().copied().filter(|c| c.is_finite());
    let least = finite().fold(f64::INFINITY, f64::min);
    let differ = finite().any(|c| c > least);
    costs.iter().map(|&c| differ && c == least).collect()
}

/// Curves of all models in one figure each.
pub(super) fn figures(report: &Report) -> Vec<Drawn> {
    let mut figures = Vec::new();
    for (t, record) in targets(report) {
        let several = if report.models[0].targets.len() > 1 { format!("-{}", t + 1) } else { String::new() };
        let id = |name: &str| format!("compare-{name}{several}");
        let mut held: Vec<Named> = Vec::new();
        let mut risks: Vec<RiskLine<'_>> = Vec::new();
        for (m, model) in report.models.iter().enumerate() {
            let (paint, dash) = (series(m), DASHES[m % DASHES.len()]);
            match model.targets.get(t).filter(|other| same_kind(other, record)) {
                Some(TargetRecord::Number(number)) => {
                    let at = number.coverage.iter().map(|c| [100.0 * c.level, 100.0 * c.after]).collect();
                    held.push((Line::new(paint, dash, at), model.name.clone()));
                    risks.push((paint, dash, &number.risk, model.name.clone()));
                }
                Some(TargetRecord::Classes(classes)) => {
                    let (at, dots) = curves::reliability_line(&classes.metrics.reliability);
                    held.push((Line { paint, dash, at, dots }, model.name.clone()));
                    risks.push((paint, dash, &classes.risk, model.name.clone()));
                }
                None => {}
            }
        }
        match record {
            TargetRecord::Number(number) => {
                figures.push(curves::coverage(&id("coverage"), &held));
                figures.push(curves::risk(&id("risk"), &curves::number_risk(number), &risks));
            }
            TargetRecord::Classes(_) => {
                figures.push(curves::reliability(&id("reliability"), &held));
                figures.push(curves::risk(&id("risk"), CLASS_RISK, &risks));
            }
        }
    }
    figures
}

fn targets(report: &Report) -> impl Iterator<Item = (usize, &TargetRecord)> {
    report.models.first().into_iter().flat_map(|model| model.targets.iter().enumerate())
}

fn same_kind(a: &TargetRecord, b: &TargetRecord) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}
