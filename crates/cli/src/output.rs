//! Words for people: tables of scores.

use crate::commands::Failure;
use ign::metrics::Metrics;
use std::collections::BTreeMap;
use std::io::Write;

/// Prints a line to standard output; unlike `println!` it fails as an error does.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Failure::Output)
}

/// What a part of the rows is worth as a judge.
pub(crate) fn part(name: &str) -> String {
    match name {
        "validation" => "validation (these rows also chose the epoch and calibrated the intervals)".into(),
        "test" => "test (rows that nothing was learned from)".into(),
        other => other.into(),
    }
}

/// Scores of each target as a table, or as one JSON object.
pub(crate) fn scores(scores: &BTreeMap<String, Metrics>) -> String {
    let mut text = String::new();
    for (target, m) in scores {
        let r2 = m.r2.map_or("–".to_owned(), |r2| format!("{r2:.4}"));
        text += &format!(
            "  {target}  ({} rows)\n    error        RMSE {}   MAE {}   R² {r2}\n    distribution NLL {:.4}   CRPS {}   mean std {}\n    coverage     50 % → {:.1} %   90 % → {:.1} %   95 % → {:.1} %\n",
            m.n,
            number(m.rmse),
            number(m.mae),
            m.nll,
            number(m.crps),
            number(m.sharpness),
            100.0 * m.coverage_50,
            100.0 * m.coverage_90,
            100.0 * m.coverage_95,
        );
    }
    text
}

/// One target: the scores themselves; several: an object of them by name.
pub(crate) fn scores_json(scores: &BTreeMap<String, Metrics>) -> serde_json::Value {
    match scores.values().next() {
        Some(only) if scores.len() == 1 => serde_json::json!(only),
        _ => serde_json::json!(scores),
    }
}

/// Four significant digits.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let digits = (3 - x.abs().log10().floor() as i32).max(0) as usize;
    if digits > 8 { format!("{x:.3e}") } else { format!("{x:.digits$}") }
}
