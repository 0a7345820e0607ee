//! The figures of merit, what the model is, and what the reader should know.

use super::{Block, Section, compare, target_name};
use crate::{ModelRecord, Report, TargetRecord, escape, number};
use std::fmt::Write;

/// A figure of merit.
#[derive(Debug, Clone)]
pub(super) struct Merit {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) says: String,
    /// What it means, in a few words.
    pub(super) how: &'static str,
    pub(super) better: Better,
}

/// Which value is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Better {
    Lower,
    Higher,
    Near(f64),
    Neither,
}

pub(super) fn section(report: &Report) -> Section {
    let mut blocks = Vec::new();
    let mut html = String::new();
    if report.models.len() > 1 {
        html.push_str(&compare::tables(report));
    } else if let Some(model) = report.models.first() {
        match model.targets.as_slice() {
            [target] => html.push_str(&tiles(target)),
            targets => html.push_str(&table(targets)),
        }
        html.push_str(&facts(model));
    }
    if !report.notes.is_empty() {
        html.push_str("<aside class=\"notes\"><h3>Good to know</h3><ul>");
        for note in &report.notes {
            let _ = write!(html, "<li>{}", escape::text(note));
        }
        html.push_str("</ul></aside>");
    }
    blocks.push(Block::Html(html));
    if report.models.len() > 1 {
        blocks.push(Block::Figures(compare::figures(report)));
    }
    let intro = if report.models.len() > 1 {
        "The same rows, judged for each model; the best value of each line is bold. Good predictions are close to the \
         truth and say rightly how close."
    } else {
        "How good the predictions are, and how well the model knows it. Good predictions are close to the truth and say \
         rightly how close."
    };
    Section { id: "summary".into(), level: 2, heading: "Summary".into(), intro: intro.into(), blocks }
}

/// What a model is.
pub(super) fn facts(model: &ModelRecord) -> String {
    if model.facts.is_empty() {
        return String::new();
    }
    let mut out = String::from("<dl class=\"facts\">");
    for (name, value) in &model.facts {
        let _ = write!(
            out,
            "<div><dt>{}<dd>{}</div>",
            escape::text(name),
            escape::text(&escape::cut(value, 400))
        );
    }
    out + "</dl>"
}

fn tiles(target: &TargetRecord) -> String {
    let mut out = String::from("<div class=\"tiles\">");
    for merit in merits(target) {
        let long = if merit.says.chars().count() > 8 { " class=\"long\"" } else { "" };
        let _ = write!(
            out,
            "<div class=\"tile\"><span class=\"name\">{}</span><strong{long}>{}</strong><span class=\"how\">{}</span></div>",
            merit.name, merit.says, merit.how
        );
    }
    out + "</div>"
}

/// One line for each target; targets of the same kind share their columns.
fn table(targets: &[TargetRecord]) -> String {
    let Some(first) = targets.first() else { return String::new() };
    let mut out =
        String::from("<div class=\"scroll\"><table class=\"merits\"><thead><tr><th scope=col>Target");
    for merit in merits(first) {
        let _ = write!(out, "<th scope=col>{}", merit.name);
    }
    out.push_str("<tbody>");
    for target in targets {
        let _ = write!(
            out,
            "<tr><th scope=row>{}",
            escape::text(&escape::cut(&escape::shown(target_name(target)), 60))
        );
        for merit in merits(target) {
            let _ = write!(out, "<td>{}", merit.says);
        }
    }
    out + "</table></div>"
}

/// Of a target, in the order in which they are shown.
pub(super) fn merits(target: &TargetRecord) -> Vec<Merit> {
    use Better::{Higher, Lower, Near, Neither};
    let merit = |name, value, how, better| Merit { name, value, says: number::number(value), how, better };
    let share = |name, value, how, better| Merit { name, value, says: number::percent(value), how, better };
    match target {
        TargetRecord::Number(record) => {
            let m = &record.metrics;
            vec![
                merit("RMSE", m.rmse, "typical size of an error; large ones count more", Lower),
                merit("MAE", m.mae, "average size of an error", Lower),
                merit(
                    "R²",
                    m.r2.unwrap_or(f64::NAN),
                    "share of the variation that is explained; 1 is all",
                    Higher,
                ),
                merit("NLL (nats)", m.nll, "how badly the stated distributions fit; lower is better", Lower),
                merit("CRPS", m.crps, "error of the whole stated distribution", Lower),
                share("In 50 % interval", m.coverage_50, "rows inside; should be 50 %", Near(0.5)),
                share("In 90 % interval", m.coverage_90, "rows inside; should be 90 %", Near(0.9)),
                share("In 95 % interval", m.coverage_95, "rows inside; should be 95 %", Near(0.95)),
                merit("Mean deviation", m.sharpness, "average stated uncertainty", Neither),
            ]
        }
        TargetRecord::Classes(record) => {
            let m = &record.metrics;
            let auroc = m.auroc.unwrap_or(f64::NAN);
            vec![
                share("Accuracy", m.accuracy, "predictions that are right", Higher),
                merit("NLL (nats)", m.nll, "how little probability the truth got; lower is better", Lower),
                share(
                    "ECE",
                    m.ece,
                    "average gap between stated and true probability; lower is better",
                    Lower,
                ),
                merit("Brier score", m.brier, "squared error of the probabilities, from 0 to 2", Lower),
                merit("AUROC", auroc, "how well classes are told apart; 1 is perfect, 0.5 is chance", Higher),
            ]
        }
    }
}
