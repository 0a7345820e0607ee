//! What the page says in one sentence: how large errors are, whether the uncertainty is right, whether a simpler model would do,
//! and whether the rows are like the training rows.

use super::{class_name, target_name, unit};
use crate::number_format::{count, counted, percent, significant};
use crate::record::conditional::{CHANCE, LEVEL, deviation};
use crate::{
    Baseline, BaselineComparison, ClassificationRecord, EvaluatedRows, ModelRecord, RegressionRecord,
    RunRecord, TargetRecord, escape,
};
use std::fmt::Write;

/// Familiarity below which a row is unlike the training rows; the same share of rows like these is below it.
const UNFAMILIAR: f64 = 0.01;
/// From this share on, rows come from elsewhere.
const MANY_UNFAMILIAR: f64 = 0.03;
/// Shares of the baseline's score below which a difference says nothing.
const ALIKE: f64 = 0.01;
/// Scores that are so many times another differ for a reason.
const FAR: f64 = 1.6;
/// Of fewer rows a score is luck.
const ENOUGH_ROWS: usize = 50;
/// Targets that have a sentence each.
const MAX_TARGETS: usize = 8;

/// The verdict on a model as HTML: a sentence for each target.
pub(super) fn verdict(run: &RunRecord, model: &ModelRecord) -> String {
    let sentences: Vec<String> = model
        .targets
        .iter()
        .take(MAX_TARGETS)
        .filter_map(|target| {
            let sentence = match target {
                TargetRecord::Regression(record) => of_number(run, record)?,
                TargetRecord::Classification(record) => of_classes(run, record)?,
            };
            Some(match model.targets.len() {
                1 => sentence,
                _ => format!("<b>{}.</b> {sentence}", escape::text(&unit(target_name(target)))),
            })
        })
        .collect();
    match &sentences[..] {
        [] => String::new(),
        [only] => format!("<p class=\"verdict\">{only}</p>"),
        several => {
            let items: String = several.iter().map(|sentence| format!("<li>{sentence}")).collect();
            format!("<ul class=\"verdict\">{items}</ul>")
        }
    }
}

fn of_number(run: &RunRecord, record: &RegressionRecord) -> Option<String> {
    let metrics = &record.metrics;
    if metrics.n == 0 {
        return None;
    }
    let mut out = format!(
        "{} errors are typically <b>±\u{a0}{}</b> (median absolute error, in the units of {}); ",
        rows(run, metrics.n),
        significant(record.median_error, 3),
        escape::text(&unit(&record.name))
    );
    let errors = deviation(metrics.coverage_95, LEVEL, metrics.n);
    let judged = match () {
        () if errors < -CHANCE => ": <strong>too narrow</strong>",
        () if errors > CHANCE => ": wider than they need be",
        () => "",
    };
    let _ = write!(
        out,
        "95\u{a0}% intervals held <b>{}</b> of the observations{judged}; ",
        percent(metrics.coverage_95)
    );
    if let Some(comparison) = &record.baselines {
        out += &against(comparison, "CRPS", "", &|metrics| metrics.crps);
        out += &elsewhere(comparison, "CRPS", [metrics.crps, comparison.model.crps], metrics.n);
    }
    let bins = record.by_familiarity.iter().map(|bin| (bin.range, bin.rows));
    Some(finished(out, &unfamiliar(bins)))
}

fn of_classes(run: &RunRecord, record: &ClassificationRecord) -> Option<String> {
    let metrics = &record.metrics;
    if metrics.n == 0 {
        return None;
    }
    let supports: Vec<usize> = metrics.confusion.iter().map(|row| row.iter().sum()).collect();
    let most = (0..supports.len()).max_by_key(|&class| supports[class])?;
    let mut out = format!(
        "{} <b>{}</b> are classified correctly (always <span class=\"name\">“{}”</span> would be right for {}); ",
        rows(run, metrics.n),
        percent(metrics.accuracy),
        escape::text(&escape::truncate(&class_name(record, most), 40)),
        percent(supports[most] as f64 / metrics.n as f64)
    );
    let stated = metrics.reliability.iter().filter_map(|bin| Some(bin.count as f64 * bin.confidence?));
    let confidence = stated.sum::<f64>() / metrics.n as f64;
    let errors = deviation(metrics.accuracy, confidence, metrics.n);
    let judged = match () {
        () if errors < -CHANCE => ": <strong>overconfident</strong>",
        () if errors > CHANCE => ": underconfident",
        () if errors.is_finite() => ", as it should be within chance",
        () => "",
    };
    let _ = write!(
        out,
        "the probability that it states for its choice is {} on average{judged} (calibration error ECE {}); ",
        percent(confidence),
        percent(metrics.ece)
    );
    match &record.baselines {
        Some(comparison) => {
            out += &against(comparison, "NLL", "\u{a0}nats", &|metrics| metrics.nll);
            // A few mistakes decide over the NLL: the share of right answers must differ too.
            let there = &comparison.model;
            if deviation(metrics.accuracy, there.accuracy, metrics.n.min(there.n)).abs() > CHANCE {
                out += &elsewhere(comparison, "NLL", [metrics.nll, there.nll], metrics.n);
            }
        }
        None => {
            let _ = write!(out, "NLL {}\u{a0}nats; ", significant(metrics.nll, 3));
        }
    }
    let bins = record.by_familiarity.iter().map(|bin| (bin.range, bin.rows));
    Some(finished(out, &unfamiliar(bins)))
}

fn finished(out: String, unfamiliar: &str) -> String {
    let out = out + unfamiliar;
    format!("{}.", out.trim_end_matches([';', ' ']))
}

/// `On 4,000 unseen rows`; of a path, its last part.
fn rows(run: &RunRecord, n: usize) -> String {
    match run.rows {
        EvaluatedRows::Given => format!(
            "On {} of {}",
            counted(n, "row", "rows"),
            escape::text(&escape::truncate(run.evaluated_on.rsplit('/').next().unwrap_or_default(), 60))
        ),
        EvaluatedRows::Unseen => format!("On {}", counted(n, "unseen row", "unseen rows")),
        EvaluatedRows::Validation => {
            format!("On {}, which also chose the epoch,", counted(n, "validation row", "validation rows"))
        }
        EvaluatedRows::OutOfFold => format!(
            "On {}, each predicted by members that never saw it,",
            counted(n, "training row", "training rows")
        ),
        EvaluatedRows::Training => {
            format!("On {}, which says little about new ones,", counted(n, "training row", "training rows"))
        }
    }
}

/// The model against the best of the simple models, by a score of which less is better.
fn against<M>(
    comparison: &BaselineComparison<M>,
    score: &str,
    units: &str,
    value: &dyn Fn(&M) -> f64,
) -> String {
    let own = value(&comparison.model);
    let others = comparison.baselines.iter().map(|(baseline, metrics)| (*baseline, value(metrics)));
    let finite = others.filter(|(_, score)| score.is_finite());
    let Some((best, least)) = finite.min_by(|a, b| a.1.total_cmp(&b.1)) else { return String::new() };
    let name = best.name();
    let mut out = match &comparison.other_rows {
        Some(rows) => format!("on {rows}, it is "),
        None => String::new(),
    };
    let numbers = format!("{score} {} against {}{units}", significant(own, 3), significant(least, 3));
    let ratio = own / least;
    out += &match () {
        // A score without a zero has no shares.
        () if own < 0.0 || least <= 0.0 => match own < least {
            true => format!("better than the {name} baseline ({numbers})"),
            false => not_better(name, &numbers),
        },
        () if ratio < 1.0 - ALIKE => {
            let share = significant(100.0 * (1.0 - ratio), 2);
            format!("better than the {name} baseline by <b>{share}\u{a0}%</b> ({numbers})")
        }
        () if ratio < 1.0 => format!(
            "<strong>hardly better than the {name} baseline</strong> ({numbers}): the simpler model may serve as well"
        ),
        () => not_better(name, &numbers),
    };
    if best == Baseline::Neighbours {
        let linear = comparison.baselines.iter().find(|(baseline, _)| *baseline == Baseline::Linear);
        if let Some((_, metrics)) = linear {
            let _ =
                write!(out, ", the best of the simple models (linear: {})", significant(value(metrics), 3));
        }
    }
    out + "; "
}

/// What follows from a score that is far from the one of other rows, those that were held out during training.
fn elsewhere<M>(
    comparison: &BaselineComparison<M>,
    score: &str,
    [here, there]: [f64; 2],
    rows: usize,
) -> String {
    let ratio = here / there;
    let said = match () {
        () if comparison.other_rows.is_none() || rows < ENOUGH_ROWS || here <= 0.0 || there <= 0.0 => {
            return String::new();
        }
        () if ratio < 1.0 / FAR => "far smaller: <strong>these rows may include training rows</strong>",
        () if ratio > FAR => "far larger: <strong>these rows are unlike those of the training run</strong>",
        () => return String::new(),
    };
    format!("here its {score} of {} is {said}; ", significant(here, 3))
}

fn not_better(name: &str, numbers: &str) -> String {
    format!(
        "<strong>not better than the {name} baseline</strong> ({numbers}): the simpler model may serve as well"
    )
}

/// How many rows are unlike the training rows; nothing where the model does not say.
fn unfamiliar(bins: impl Iterator<Item = ([f64; 2], usize)>) -> String {
    let (mut all, mut unlike) = (0, 0);
    for (range, rows) in bins {
        all += rows;
        unlike += if range[1] <= UNFAMILIAR { rows } else { 0 };
    }
    if all == 0 {
        return String::new();
    }
    let share = unlike as f64 / all as f64;
    if unlike == 0 {
        return "no row is unlike the training rows".into();
    }
    let are = if unlike == 1 { "row is" } else { "rows are" };
    if share > MANY_UNFAMILIAR && deviation(share, UNFAMILIAR, all) > CHANCE {
        return format!(
            "<strong>{} {are} unlike the training rows</strong> ({}, where 1\u{a0}% is usual): predictions of these extrapolate",
            count(unlike),
            percent(share)
        );
    }
    format!("{} {are} unlike the training rows ({}; 1\u{a0}% is usual)", count(unlike), percent(share))
}
