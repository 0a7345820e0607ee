//! Standard output: text for people, JSON for programs, tables of scores.

use super::text::{count, json_safe, one_line, terminal_safe};
use crate::failure::Failure;
use inducing::metrics::{Bin, ClassMetrics, Metrics, OodMetrics};
use inducing::model::{Score, Scores};
pub(crate) use report::plain_number as number;
use std::io::Write;

/// Prints text for people. A failed write is an error; `println!` would panic.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_raw(&terminal_safe(text))
}

/// Prints a note to standard error.
pub(crate) fn note(text: &str) {
    eprintln!("note: {}", terminal_safe(text));
}

/// Prints one JSON value on a line.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).expect("what is printed is plain data");
    print_raw(&json_safe(&text))
}

/// Prints a document as it is.
pub(crate) fn print_raw(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Failure::Output)
}

/// How far to trust scores on a part of the rows.
pub(crate) fn part(name: &str) -> String {
    match name {
        "validation" => {
            "validation (these rows also chose the epoch and calibrated the uncertainties)".into()
        }
        "out_of_fold" => "out of fold (training rows, each predicted by members that never learned from it; the rows also chose epochs and weights, which flatters where there are few)".into(),
        "test" => "test (rows not used for training)".into(),
        other => one_line(other).into_owned(),
    }
}

/// Scores of each target as a table.
pub(crate) fn scores(scores: &Scores) -> String {
    let of_target = |(target, score): (&String, &Score)| match score {
        Score::Number(metrics) => number_scores(&one_line(target), metrics),
        Score::Classes(metrics) => class_scores(&one_line(target), metrics),
    };
    scores.iter().map(of_target).collect()
}

fn number_scores(target: &str, m: &Metrics) -> String {
    let r2 = m.r2.map_or("–".to_owned(), |r2| format!("{r2:.4}"));
    format!(
        "  {target}  ({})\n    error        RMSE {}   MAE {}   R² {r2}\n    distribution NLL {:.4}   CRPS {}   mean std {}\n    coverage     50 % → {:.1} %   90 % → {:.1} %   95 % → {:.1} %\n",
        count(m.n, "row"),
        number(m.rmse),
        number(m.mae),
        m.nll,
        number(m.crps),
        number(m.sharpness),
        100.0 * m.coverage_50,
        100.0 * m.coverage_90,
        100.0 * m.coverage_95,
    )
}

/// Most classes of a confusion matrix on the screen.
const MAX_MATRIX_CLASSES: usize = 12;

fn class_scores(target: &str, m: &ClassMetrics) -> String {
    let auroc = m.auroc.map_or("–".to_owned(), |area| format!("{area:.4}"));
    let mut text = format!(
        "  {target}  ({})\n    decisions     accuracy {:.2} %   AUROC {auroc}\n    probabilities NLL {:.4}   Brier {:.4} (summed over classes)   ECE {:.4}\n",
        count(m.n, "row"),
        100.0 * m.accuracy,
        m.nll,
        m.brier,
        m.ece,
    );
    if let Some(before) = &m.uncalibrated {
        text += &format!("    before recalibration NLL {:.4}   ECE {:.4}\n", before.nll, before.ece);
    }
    let labels: Vec<_> = m.classes.iter().map(|class| one_line(&class.label)).collect();
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).clamp(5, 24);
    let cut = |label: &str| label.chars().take(width).collect::<String>();
    text += &format!("\n    {:width$}  precision  recall     f1    rows\n", "class");
    for (class, label) in m.classes.iter().zip(&labels) {
        let label = cut(label);
        text += &format!(
            "    {label:width$}  {:9.3}  {:6.3} {:6.3} {:7}\n",
            class.precision, class.recall, class.f1, class.support
        );
    }
    if m.classes.len() <= MAX_MATRIX_CLASSES {
        text += "\n    confusion matrix: true class (rows) by predicted class (columns)\n";
        let heads: String = labels.iter().map(|label| format!(" {:>6}", short_head(label))).collect();
        text += &format!("    {:width$}{heads}\n", "");
        for (label, row) in labels.iter().zip(&m.confusion) {
            let label = cut(label);
            let cells: String = row.iter().map(|count| format!("{count:7}")).collect();
            text += &format!("    {label:width$}{cells}\n");
        }
    }
    text + "\n" + &reliability(m)
}

/// A class's name over a column of seven characters.
fn short_head(label: &str) -> String {
    match label.chars().count() {
        0..=6 => label.to_owned(),
        _ => label.chars().take(5).chain(['…']).collect(),
    }
}

/// Rows by confidence, before and after recalibration.
fn reliability(m: &ClassMetrics) -> String {
    let share = |x: Option<f64>| x.map_or("     –".to_owned(), |x| format!("{:6.1}", 100.0 * x));
    let cells = |bin: &Bin| format!("{:8} {} {}", bin.count, share(bin.confidence), share(bin.accuracy));
    let before = m.uncalibrated.as_ref().map(|before| &before.reliability);
    let mut text = format!("    {:12}    rows  conf %   acc %", "confidence");
    text += if before.is_some() { "   before: rows  conf %   acc %\n" } else { "\n" };
    let width = 100.0 / m.reliability.len() as f64;
    for (k, bin) in m.reliability.iter().enumerate() {
        let earlier = before.map(|before| &before[k]);
        if bin.count + earlier.map_or(0, |bin| bin.count) == 0 {
            continue;
        }
        let name = format!("{:.0}–{:.0} %", width * k as f64, width * (k + 1) as f64);
        let earlier = earlier.map_or(String::new(), |bin| format!("        {}", cells(bin)));
        text += &format!("    {name:12}{}{earlier}\n", cells(bin));
    }
    text
}

/// How well uncertainty detects out-of-distribution inputs.
pub(crate) fn ood(by: &[(&str, OodMetrics)]) -> String {
    let mut text = format!("    {:14}   AUROC    AUPR  FPR at 95 % TPR\n", "by");
    for (name, m) in by {
        text += &format!("    {name:14}  {:6.4}  {:6.4}  {:6.4}\n", m.auroc, m.aupr, m.fpr95);
    }
    text
}

/// One target: the scores themselves; several: an object of them by name.
pub(crate) fn scores_json(scores: &Scores) -> serde_json::Value {
    match scores.values().next() {
        Some(only) if scores.len() == 1 => serde_json::json!(only),
        _ => serde_json::json!(scores),
    }
}
