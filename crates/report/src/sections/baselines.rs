//! The model beside simple ones, as a table.

use super::target_name;
use crate::number_format::{format_number, percent};
use crate::{Baseline, BaselineComparison, ModelRecord, TargetRecord, escape};
use inducing::metrics::{ClassMetrics, Metrics};

const NUMBER_COLUMNS: [&str; 7] = ["", "RMSE", "MAE", "R²", "NLL (nats)", "CRPS", "95\u{a0}% coverage"];
const CLASS_COLUMNS: [&str; 6] = ["", "Accuracy", "NLL (nats)", "Brier score", "ECE", "AUROC"];

/// Tables of all targets for which simple models are known.
pub(super) fn tables(model: &ModelRecord) -> String {
    let known: Vec<String> = model.targets.iter().filter_map(|target| table(model, target)).collect();
    if known.is_empty() {
        return String::new();
    }
    let heading = "<h3>Beside simple models</h3><p class=\"intro\">Linear: a linear or logistic regression of the same inputs. \
                   Nearest neighbours: the mean of the ten nearest training rows. Constant: the same prediction for every \
                   row. A model that is not better than these has found nothing that they would not find.</p>";
    format!("{heading}{}", known.concat())
}

fn table(model: &ModelRecord, target: &TargetRecord) -> Option<String> {
    let (columns, lines, rows) = match target {
        TargetRecord::Regression(record) => {
            let comparison = record.baselines.as_ref()?;
            (&NUMBER_COLUMNS[..], lines(comparison, &of_number), &comparison.other_rows)
        }
        TargetRecord::Classification(record) => {
            let comparison = record.baselines.as_ref()?;
            (&CLASS_COLUMNS[..], lines(comparison, &of_classes), &comparison.other_rows)
        }
    };
    let mut about = Vec::new();
    if model.targets.len() > 1 {
        about.push(escape::text(&escape::truncate(&escape::or_placeholder(target_name(target)), 60)));
    }
    about.extend(rows.as_ref().map(|rows| format!("measured on {}", escape::text(rows))));
    let name = format!("baselines {}", escape::slug(target_name(target)));
    Some(super::table::html(&name, columns, &about.join(", "), lines.into_iter()))
}

/// The model, then simple ones from the best to the worst that there is in theory.
fn lines<M>(
    comparison: &BaselineComparison<M>,
    cells: &dyn Fn(&M) -> Vec<String>,
) -> Vec<(String, Vec<String>)> {
    let name = |baseline: &Baseline| match baseline {
        Baseline::Linear => "Linear",
        Baseline::Neighbours => "Nearest neighbours",
        Baseline::Constant => "Constant",
    };
    let own = ("<b>This model</b>".to_owned(), cells(&comparison.model));
    let others =
        comparison.baselines.iter().map(|(baseline, metrics)| (name(baseline).into(), cells(metrics)));
    std::iter::once(own).chain(others).collect()
}

fn of_number(metrics: &Metrics) -> Vec<String> {
    let numbers = [metrics.rmse, metrics.mae, metrics.r2.unwrap_or(f64::NAN), metrics.nll, metrics.crps];
    numbers.into_iter().map(format_number).chain([percent(metrics.coverage_95)]).collect()
}

fn of_classes(metrics: &ClassMetrics) -> Vec<String> {
    vec![
        percent(metrics.accuracy),
        format_number(metrics.nll),
        format_number(metrics.brier),
        percent(metrics.ece),
        format_number(metrics.auroc.unwrap_or(f64::NAN)),
    ]
}
