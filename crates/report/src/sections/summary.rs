//! The verdict, metrics, the model beside simple ones, and notes; facts about the model for experts.

use super::{Block, Context, Section, baselines, compare, table, target_name, verdict};
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
        html += &verdict::verdict(run, model);
        match model.targets.as_slice() {
            [target] => html.push_str(&tiles(target)),
            targets => html.push_str(&target_table(targets)),
        }
        html += &baselines::tables(model);
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
        0 | 1 => "",
        _ => "All models are evaluated on the same data; the best value of each metric is bold.",
    };
    let (id, heading) = ("summary".into(), "Summary".into());
    Section { id, level: 2, heading, expert: false, intro: intro.into(), blocks }
}

/// What the model is made of.
pub(super) fn configuration(context: Context<'_>) -> Option<Section> {
    let blocks = vec![Block::Html(facts(context.model))];
    (!context.model.facts.is_empty())
        .then(|| context.section("configuration", "Configuration", String::new(), blocks))
}

/// Facts about a model as a list.
fn facts(model: &ModelRecord) -> String {
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
fn target_table(targets: &[TargetRecord]) -> String {
    let Some(first) = targets.first() else { return String::new() };
    let metrics = metric_values(first);
    let columns: Vec<&str> =
        std::iter::once("Target").chain(metrics.iter().map(|metric| metric.name)).collect();
    let line = |target: &TargetRecord| {
        let name = escape::text(&escape::truncate(&escape::or_placeholder(target_name(target)), 60));
        (name, metric_values(target).into_iter().map(|metric| metric.text).collect())
    };
    table::html("targets", &columns, "", targets.iter().map(line))
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
                metric(
                    "Brier score",
                    m.brier,
                    "squared error of the probabilities, summed over the classes: 0 to 2, for two classes twice that of one",
                    Lower,
                ),
                metric("AUROC", auroc, "how well classes are separated; 1 is perfect, 0.5 is chance", Higher),
            ]
        }
    }
}
