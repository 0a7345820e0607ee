//! Metrics, facts about the model, and notes.

use super::{Block, Section, compare, target_name};
use crate::{ModelRecord, RunRecord, TargetRecord, escape, number_format};
use std::fmt::Write;

/// One metric of one target.
#[derive(Debug, Clone)]
pub(super) struct MetricValue {
    pub(super) name: &'static str,
    pub(super) value: f64,
    /// The value as it is shown.
    pub(super) text: String,
    /// What it means, in a few words.
    pub(super) help: &'static str,
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

pub(super) fn section(run: &RunRecord) -> Section {
    let mut blocks = Vec::new();
    let mut html = String::new();
    if run.models.len() > 1 {
        html.push_str(&compare::tables(run));
    } else if let Some(model) = run.models.first() {
        match model.targets.as_slice() {
            [target] => html.push_str(&tiles(target)),
            targets => html.push_str(&table(targets)),
        }
        html.push_str(&facts(model));
    }
    if !run.notes.is_empty() {
        html.push_str("<aside class=\"notes\"><h3>Notes</h3><ul>");
        for note in &run.notes {
            let _ = write!(html, "<li>{}", escape::text(note));
        }
        html.push_str("</ul></aside>");
    }
    blocks.push(Block::Html(html));
    if run.models.len() > 1 {
        blocks.push(Block::Figures(compare::figures(run)));
    }
    let intro = match run.models.len() {
        0 | 1 => {
            "Metrics on the evaluation data. A good model has small errors and states an uncertainty that matches them."
        }
        _ => "All models are evaluated on the same data; the best value of each metric is bold.",
    };
    Section { id: "summary".into(), level: 2, heading: "Summary".into(), intro: intro.into(), blocks }
}

/// Facts about a model as a list.
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
            escape::text(&escape::truncate(value, 400))
        );
    }
    out + "</dl>"
}

fn tiles(target: &TargetRecord) -> String {
    let mut out = String::from("<div class=\"tiles\">");
    for metric in metric_values(target) {
        let long = if metric.text.chars().count() > 8 { " class=\"long\"" } else { "" };
        let _ = write!(
            out,
            "<div class=\"tile\"><span class=\"name\">{}</span><strong{long}>{}</strong><span class=\"how\">{}</span></div>",
            metric.name, metric.text, metric.help
        );
    }
    out + "</div>"
}

/// One line for each target.
fn table(targets: &[TargetRecord]) -> String {
    let Some(first) = targets.first() else { return String::new() };
    let mut out =
        String::from("<div class=\"scroll\"><table class=\"metrics\"><thead><tr><th scope=col>Target");
    for metric in metric_values(first) {
        let _ = write!(out, "<th scope=col>{}", metric.name);
    }
    out.push_str("<tbody>");
    for target in targets {
        let _ = write!(
            out,
            "<tr><th scope=row>{}",
            escape::text(&escape::truncate(&escape::or_placeholder(target_name(target)), 60))
        );
        for metric in metric_values(target) {
            let _ = write!(out, "<td>{}", metric.text);
        }
    }
    out + "</table></div>"
}

/// Metrics of a target, in the order in which they are shown.
pub(super) fn metric_values(target: &TargetRecord) -> Vec<MetricValue> {
    use Better::{Higher, Lower, Near, Neither};
    let metric = |name, value, help, better| {
        let text = number_format::format_number(value);
        MetricValue { name, value, text, help, better }
    };
    let share = |name, value, help, better| {
        let text = number_format::percent(value);
        MetricValue { name, value, text, help, better }
    };
    match target {
        TargetRecord::Regression(record) => {
            let m = &record.metrics;
            let r2 = m.r2.unwrap_or(f64::NAN);
            vec![
                metric("RMSE", m.rmse, "root mean squared error; large errors weigh more", Lower),
                metric("MAE", m.mae, "mean absolute error", Lower),
                metric("R²", r2, "explained share of the variance; 1 is perfect", Higher),
                metric("NLL (nats)", m.nll, "negative log-likelihood; lower is better", Lower),
                metric("CRPS", m.crps, "error of the whole predictive distribution; lower is better", Lower),
                share("50 % coverage", m.coverage_50, "rows inside their 50 % interval", Near(0.5)),
                share("90 % coverage", m.coverage_90, "rows inside their 90 % interval", Near(0.9)),
                share("95 % coverage", m.coverage_95, "rows inside their 95 % interval", Near(0.95)),
                metric("Mean std", m.sharpness, "mean predicted standard deviation (sharpness)", Neither),
            ]
        }
        TargetRecord::Classification(record) => {
            let m = &record.metrics;
            let auroc = m.auroc.unwrap_or(f64::NAN);
            vec![
                share("Accuracy", m.accuracy, "share of correct predictions", Higher),
                metric("NLL (nats)", m.nll, "negative log-likelihood (log loss); lower is better", Lower),
                share(
                    "ECE",
                    m.ece,
                    "expected calibration error: gap between confidence and accuracy; lower is better",
                    Lower,
                ),
                metric("Brier score", m.brier, "squared error of the probabilities, from 0 to 2", Lower),
                metric("AUROC", auroc, "how well classes are separated; 1 is perfect, 0.5 is chance", Higher),
            ]
        }
    }
}
