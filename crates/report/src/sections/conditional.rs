//! Whether the uncertainty is right everywhere: tables by familiarity, and in slices of the rows by one input.

use super::{Context, table};
use crate::figure::axis::Axis;
use crate::figure::curve::{Curves, Line};
use crate::figure::frame::Frame;
use crate::figure::legend::{self, Key};
use crate::figure::{PageFigure, Placement};
use crate::number_format::{count, counted, format_number, percent, significant};
use crate::palette::{DASHES, MUTED, series};
use crate::record::conditional::{CHANCE, FEWEST_ROWS, LEVEL, deviation, standard_error};
use crate::{CoverageSlice, FamiliarityAccuracy, FamiliarityCoverage, SlicedColumn, SlicedCoverage, escape};

/// Slices in the table.
const MAX_SLICES: usize = 8;
/// Columns in the figure: more lines cannot be told apart.
const MAX_LINES: usize = 4;

const FAMILIARITY: &str = "Familiarity says how usual a row is, from 0 to 1: at 0.05, only 5\u{a0}% of the training rows are as \
                           far from the rows most like them. Near 0, the model has seen nothing like it.";
const TWO_ERRORS: &str = "by more than two standard errors, which is more than chance usually does";

/// Numbers by familiarity; nothing for a model that says none.
pub(super) fn coverage_by_familiarity(bins: &[FamiliarityCoverage]) -> String {
    if bins.is_empty() {
        return String::new();
    }
    let out = format!(
        "<h3>Coverage by familiarity</h3><p class=\"intro\">{FAMILIARITY} There the error may be larger, but the predicted \
         standard deviation should grow with it, so that still about 95\u{a0}% of the rows are inside their 95\u{a0}% interval. \
         Intervals are called too narrow or too wide where that share is missed {TWO_ERRORS}.</p>"
    );
    let columns = ["Familiarity", "Rows", "Inside 95 %", "Inside 50 %", "Mean std", "RMSE", "95 % intervals"];
    let line = |bin: &FamiliarityCoverage| {
        let cells = vec![
            count(bin.rows),
            percent(bin.coverage_95),
            percent(bin.coverage_50),
            format_number(bin.mean_std),
            format_number(bin.rmse),
            verdict(bin.coverage_95, LEVEL, bin.rows, ["too narrow", "too wide"]),
        ];
        (familiarity(bin.range), cells)
    };
    out + &table::html("coverage by familiarity", &columns, "", bins.iter().map(line))
}

/// Classes by familiarity; nothing for a model that says none.
pub(super) fn accuracy_by_familiarity(bins: &[FamiliarityAccuracy]) -> String {
    if bins.is_empty() {
        return String::new();
    }
    let out = format!(
        "<h3>Accuracy by familiarity</h3><p class=\"intro\">{FAMILIARITY} There the accuracy may be lower, but the confidence \
         should fall with it. The model is called over- or underconfident where accuracy and confidence differ \
         {TWO_ERRORS}.</p>"
    );
    let columns = ["Familiarity", "Rows", "Accuracy", "Mean confidence", "Probabilities"];
    let line = |bin: &FamiliarityAccuracy| {
        let cells = vec![
            count(bin.rows),
            percent(bin.accuracy),
            percent(bin.confidence),
            verdict(bin.accuracy, bin.confidence, bin.rows, ["overconfident", "underconfident"]),
        ];
        (familiarity(bin.range), cells)
    };
    out + &table::html("accuracy by familiarity", &columns, "", bins.iter().map(line))
}

/// The worst slices of all inputs.
pub(super) fn worst_slices(sliced: &SlicedCoverage) -> String {
    let mut worst: Vec<(&str, &CoverageSlice)> = sliced.worst.iter().flat_map(slices_of).collect();
    worst.sort_by(|a, b| b.1.deviation().abs().total_cmp(&a.1.deviation().abs()));
    worst.truncate(MAX_SLICES);
    if worst.is_empty() {
        return String::new();
    }
    let out = format!(
        "<h3>Coverage by slice</h3><p class=\"intro\">Intervals can be right on average and wrong in places. Here the rows are \
         sorted by one column and cut into slices of about equal size, for {} in turn: {}. In each, about 95\u{a0}% of the rows \
         should be inside their 95\u{a0}% interval. The largest deviation is <b>{} points</b>; chance alone would give about {}. \
         {} by more than two standard errors, where chance would give about {}.</p>",
        counted(sliced.inputs, "column of numbers", "columns of numbers"),
        counted(sliced.slices, "slice", "slices"),
        significant(100.0 * sliced.largest, 2),
        significant(100.0 * sliced.largest_by_chance, 2),
        counted(sliced.deviating, "slice deviates", "slices deviate"),
        significant(sliced.deviating_by_chance, 2)
    );
    let columns = ["Column", "Values", "Rows", "Inside 95 %", "95 % intervals"];
    let line = |(name, slice): (&str, &CoverageSlice)| {
        let name = escape::text(&escape::truncate(&escape::or_placeholder(name), 32));
        let cells = vec![
            values(slice.range),
            count(slice.rows),
            percent(slice.coverage),
            verdict(slice.coverage, LEVEL, slice.rows, ["too narrow", "too wide"]),
        ];
        (name, cells)
    };
    out + &table::html("coverage by slice", &columns, "", worst.into_iter().map(line))
}

fn slices_of(column: &SlicedColumn) -> impl Iterator<Item = (&str, &CoverageSlice)> {
    column.slices.iter().map(|slice| (column.name.as_str(), slice))
}

/// Coverage from the smallest to the largest values of the columns with the worst slices.
pub(super) fn slice_figure(context: Context<'_>, t: usize, sliced: &SlicedCoverage) -> Option<PageFigure> {
    let shown = &sliced.worst[..sliced.worst.len().min(MAX_LINES)];
    let mut sizes: Vec<usize> = shown.iter().flat_map(|c| &c.slices).map(|slice| slice.rows).collect();
    sizes.sort_unstable();
    let error = standard_error(LEVEL, *sizes.get(sizes.len() / 2)?);
    let chance = [LEVEL - CHANCE * error, LEVEL + CHANCE * error].map(|share| 100.0 * share.min(1.0));
    let level = |y: f64, dash| Line::new(MUTED, dash, vec![[0.0, y], [100.0, y]]);
    let mut lines = vec![level(100.0 * LEVEL, ""), level(chance[0], "2 3"), level(chance[1], "2 3")];
    let mut keys = vec![Key::Line(MUTED, "2 3", "95\u{a0}% ± chance".into())];
    for (k, column) in shown.iter().enumerate() {
        let (paint, dash) = (series(k), DASHES[k % DASHES.len()]);
        let at = places(&column.slices);
        keys.push(Key::Line(paint, dash, legend::name(&escape::or_placeholder(&column.name))));
        lines.push(Line { dots: vec![3.5; at.len()], ..Line::new(paint, dash, at) });
    }
    let lowest = lines.iter().flat_map(|line| &line.at).map(|at| at[1]).fold(90.0, f64::min);
    let title = "Coverage from small to large values";
    let curves = Curves {
        frame: Frame {
            title,
            x_title: "Rows, sorted by the column (%)",
            y_title: "Rows inside their 95 % interval (%)",
            x: Axis::exact(0.0, 100.0),
            y: Axis::exact((lowest / 10.0).floor().max(0.0) * 10.0, 101.0),
            legend: keys,
            height: 280.0,
        },
        lines,
        diagonal: false,
        desc: "Share of rows inside their 95 % interval, in slices of the rows sorted by one column.",
    };
    let caption = "One line for each of the columns with the worst slices. A good line stays between the two horizontal dotted \
                   lines; below them, intervals are too narrow for these values.";
    let figure = PageFigure::new(context.target_id("slices", t), title, curves.draw(), caption.into());
    Some(figure.with_placement(Placement::Side))
}

/// The middle of each slice among the rows with a value, and its coverage, both in percent.
fn places(slices: &[CoverageSlice]) -> Vec<[f64; 2]> {
    let known = || slices.iter().filter(|slice| slice.range.is_some());
    let all = known().map(|slice| slice.rows).sum::<usize>() as f64;
    let mut before = 0.0;
    let place = |slice: &CoverageSlice| {
        let rows = slice.rows as f64;
        before += rows;
        [100.0 * (before - rows / 2.0) / all, 100.0 * slice.coverage]
    };
    known().map(place).collect()
}

/// Whether a share of rows is as expected, or too low or too high for chance.
fn verdict(share: f64, expected: f64, rows: usize, [low, high]: [&str; 2]) -> String {
    let errors = deviation(share, expected, rows);
    match () {
        () if rows < FEWEST_ROWS => "few rows".into(),
        () if errors < -CHANCE => format!("<b>{low}</b>"),
        () if errors > CHANCE => format!("<b>{high}</b>"),
        // Neither nothing expected nor nothing found says anything.
        () if !(share.is_finite() && expected.is_finite()) => "–".into(),
        () => "as promised".into(),
    }
}

fn familiarity([from, to]: [f64; 2]) -> String {
    match (from, to) {
        (from, to) if from <= 0.0 => format!("below {}", format_number(to)),
        (from, to) if to >= 1.0 => format!("{} and more", format_number(from)),
        (from, to) => format!("{} to {}", format_number(from), format_number(to)),
    }
}

fn values(range: Option<[f64; 2]>) -> String {
    let Some([from, to]) = range else { return "empty".into() };
    let (from, to) = (format_number(from), format_number(to));
    if from == to { from } else { format!("{from} to {to}") }
}
