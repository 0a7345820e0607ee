//! A paragraph for every row where we are worse than the paper, with the reason as far as it is known.

use crate::experiment::Preset;
use crate::notes::Notes;
use crate::page::Page;
use crate::summary::Summary;
use crate::tables::{NOT_FINITE, Table, tables, title};

/// All paragraphs.
pub(crate) fn paragraphs(page: &Page, notes: &Notes) -> String {
    let mut text = String::from("## Where we are worse\n\n");
    let before = text.len();
    for table in tables() {
        for (experiment, noise) in table.experiments(page) {
            let name = title((experiment, noise));
            let summaries = Preset::ALL.map(|preset| page.summary(experiment, preset, noise));
            for (preset, summary) in Preset::ALL.iter().zip(&summaries) {
                let printed = experiment.paper.filter(|_| noise.is_none());
                let score = summary.as_ref().and_then(|summary| table.score(summary));
                if summary.is_some() && score.is_none() {
                    text +=
                        &format!("**{name}, preset `{}`**: the error is {NOT_FINITE}.\n\n", preset.name());
                }
                if let (Some(paper), Some(ours)) = (printed, score)
                    && let Some(how) = shortfall(&table, ours.mean, paper)
                {
                    let reason = notes.of(experiment.name, preset.name()).unwrap_or("Not explained yet.");
                    text += &format!("**{name}, preset `{}`**: {how} {reason}\n\n", preset.name());
                }
            }
            if let [Some(paper), Some(default)] = &summaries
                && let Some(how) = behind(&table, paper, default)
            {
                let row = format!("{}-presets", experiment.name);
                let reason = notes.of(&row, "").unwrap_or("Not explained yet.");
                text += &format!("**{name}, `default` against `paper`**: {how} {reason}\n\n");
            }
        }
    }
    if text.len() == before {
        text += "Nowhere among the rows that were run.\n";
    }
    text
}

/// What is missing to the paper's figure, compared as the paper prints it.
fn shortfall(table: &Table, ours: f64, (paper, std): (f64, f64)) -> Option<String> {
    let (scale, what, unit, digits) =
        if table.classes { (100.0, "accuracy", " %", 2) } else { (1000.0, "RMSE", "", 3) };
    let printed = (ours * scale).round() / scale;
    let gap = if table.classes { paper - printed } else { printed - paper };
    // Half of the last printed digit: what is equal in print is not worse.
    if gap < 0.5 / scale {
        return None;
    }
    let within = if gap <= 2.0 * std { "within" } else { "beyond" };
    Some(format!(
        "{what} {printed:.digits$}{unit} against {paper:.digits$}{unit}, {within} two of the paper's standard deviations \
         ({std:.digits$})."
    ))
}

/// Where preset `default` is behind preset `paper`.
fn behind(table: &Table, paper: &Summary, default: &Summary) -> Option<String> {
    let (ours, theirs) = (table.score(default)?.mean, table.score(paper)?.mean);
    let mut faults = Vec::new();
    if if table.classes { ours < theirs } else { ours > theirs } {
        faults.push(match table.classes {
            true => format!("accuracy {ours:.2} % against {theirs:.2} %"),
            false => format!("RMSE {ours:.4} against {theirs:.4}"),
        });
    }
    let nll = |summary: &Summary| summary.scores.get("nll").map(|figure| figure.mean);
    if let (Some(ours), Some(theirs)) = (nll(default), nll(paper))
        && ours >= theirs
    {
        faults.push(format!("NLL {ours:.4} against {theirs:.4}"));
    }
    if default.steps >= paper.steps {
        faults.push(format!("{:.0} steps against {:.0}", default.steps, paper.steps));
    }
    (!faults.is_empty()).then(|| format!("{}.", faults.join(", ")))
}
