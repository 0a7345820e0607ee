//! Words for people: tables of scores.

use crate::commands::Failure;
use ign::class_metrics::{Bin, ClassMetrics, OodMetrics};
use ign::metrics::Metrics;
use ign::{Score, Scores};
use std::io::Write;

/// Prints a line to standard output; unlike `println!` it fails as an error does.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Failure::Output)
}

/// What a part of the rows is worth as a judge.
pub(crate) fn part(name: &str) -> String {
    match name {
        "validation" => "validation (these rows also chose the epoch and calibrated the uncertainty)".into(),
        "test" => "test (rows that nothing was learned from)".into(),
        other => other.into(),
    }
}

/// Scores of each target as a table.
pub(crate) fn scores(scores: &Scores) -> String {
    let of_target = |(target, score): (&String, &Score)| match score {
        Score::Number(metrics) => number_scores(target, metrics),
        Score::Classes(metrics) => class_scores(target, metrics),
    };
    scores.iter().map(of_target).collect()
}

fn number_scores(target: &str, m: &Metrics) -> String {
    let r2 = m.r2.map_or("–".to_owned(), |r2| format!("{r2:.4}"));
    format!(
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
    )
}

/// More classes than this have no confusion matrix on the screen.
const WIDEST_MATRIX: usize = 12;

fn class_scores(target: &str, m: &ClassMetrics) -> String {
    let auroc = m.auroc.map_or("–".to_owned(), |area| format!("{area:.4}"));
    let mut text = format!(
        "  {target}  ({} rows)\n    decisions     accuracy {:.2} %   AUROC {auroc}\n    probabilities NLL {:.4}   Brier {:.4}   ECE {:.4}\n",
        m.n,
        100.0 * m.accuracy,
        m.nll,
        m.brier,
        m.ece,
    );
    if let Some(before) = &m.uncalibrated {
        text += &format!("    before recalibration NLL {:.4}   ECE {:.4}\n", before.nll, before.ece);
    }
    let width = m.classes.iter().map(|class| class.label.chars().count()).max().unwrap_or(0).clamp(5, 24);
    text += &format!("\n    {:width$}  precision  recall     f1    rows\n", "class");
    for class in &m.classes {
        let label: String = class.label.chars().take(width).collect();
        text += &format!(
            "    {label:width$}  {:9.3}  {:6.3} {:6.3} {:7}\n",
            class.precision, class.recall, class.f1, class.support
        );
    }
    if m.classes.len() <= WIDEST_MATRIX {
        text += "\n    rows of a class (down) by predicted class (across)\n";
        for (class, row) in m.classes.iter().zip(&m.confusion) {
            let label: String = class.label.chars().take(width).collect();
            let cells: String = row.iter().map(|count| format!("{count:7}")).collect();
            text += &format!("    {label:width$}{cells}\n");
        }
    }
    text + "\n" + &reliability(m)
}

/// Rows by confidence, before and after recalibration.
fn reliability(m: &ClassMetrics) -> String {
    let share = |x: Option<f64>| x.map_or("     –".to_owned(), |x| format!("{:6.1}", 100.0 * x));
    let cells = |bin: &Bin| format!("{:8} {} {}", bin.count, share(bin.confidence), share(bin.accuracy));
    let before = m.uncalibrated.as_ref().map(|before| &before.reliability);
    let mut text = format!("    {:12}    rows  sure %  right %", "confidence");
    text += if before.is_some() { "   before: rows  sure %  right %\n" } else { "\n" };
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

/// How well uncertainty tells strangers.
pub(crate) fn strangers(by: &[(&str, OodMetrics)]) -> String {
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

/// Four significant digits.
pub(crate) fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let digits = (3 - x.abs().log10().floor() as i32).max(0) as usize;
    if digits > 8 || x.abs() >= 1e12 { format!("{x:.3e}") } else { format!("{x:.digits$}") }
}

/// `2026-11-16` (Hinnant's civil_from_days: years begin in March, so that a leap day ends one).
pub(crate) fn date(seconds: u64) -> String {
    let days = (seconds / 86_400) as i64 + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar_are_met() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(951_868_799 + 1), "2000-03-01");
        assert_eq!(date(1_798_761_599), "2026-12-31");
    }
}
