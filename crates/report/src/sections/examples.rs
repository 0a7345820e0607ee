//! Examples as HTML, and lists of them: the most uncertain and the worst predictions.

use super::{Context, card_grid, class_name};
use crate::example_pool::{Entry, EntryBody, ExamplePool};
use crate::palette::SERIES;
use crate::{
    Body, ClassificationRecord, Example, Graph, RegressionPoint, RegressionRecord, escape, number_format,
};
use std::fmt::Write;

/// Examples in a list.
pub(crate) const MAX_SHOWN: usize = 12;
/// Cells of an example that are shown.
const MAX_CELLS: usize = 12;

/// An example as HTML.
pub(crate) fn html(pool: &ExamplePool<'_>, entry: &Entry<'_>) -> String {
    match &entry.body {
        EntryBody::Cells(set, cells) => cells_html(pool.columns(*set), cells),
        EntryBody::Image(image) => {
            let (sheet, size, place) = pool.grid.place(*image);
            format!(
                "<span class=\"pic p{sheet}\" role=\"img\" aria-label=\"{}\" \
                 style=\"background-size:{size};background-position:{place}\"></span>",
                escape::text(&escape::truncate(entry.name, 120))
            )
        }
        EntryBody::Graph(graph, placed) => graph_html(pool, graph, placed),
    }
}

fn cells_html(columns: &[String], cells: &[String]) -> String {
    let mut out = String::from("<table class=\"cells\">");
    for (k, cell) in cells.iter().enumerate().take(MAX_CELLS) {
        let name = columns.get(k).map_or("", String::as_str);
        let (name, cell) = (escape::truncate(name, 40), escape::truncate(cell, 300));
        let _ = if cell.chars().count() > 18 {
            write!(
                out,
                "<tr><td colspan=2 class=\"long\"><b>{}</b> {}",
                escape::text(&name),
                escape::text(&cell)
            )
        } else {
            write!(out, "<tr><th scope=row>{}<td>{}", escape::text(&name), escape::text(&cell))
        };
    }
    if cells.len() > MAX_CELLS {
        let _ = write!(
            out,
            "<tr><td colspan=2 class=\"quiet\">and {} more",
            number_format::count(cells.len() - MAX_CELLS)
        );
    }
    out + "</table>"
}

fn graph_html(pool: &ExamplePool<'_>, graph: &Graph, placed: &crate::graph_layout::PlacedGraph) -> String {
    let mut edges = String::new();
    let at = |place: usize| placed.at[place].map(|x| u16::from(x) + 6);
    for &[a, b] in &placed.edges {
        let ([x0, y0], [x1, y1]) = (at(a), at(b));
        let _ = write!(edges, "M{x0} {y0}L{x1} {y1}");
    }
    let mut groups = vec![String::new(); SERIES.len() + 1];
    let mut used = Vec::new();
    for (place, &node) in placed.nodes.iter().enumerate() {
        let label = pool.label(graph, node);
        if let Some(label) = label
            && !used.contains(&label)
        {
            used.push(label);
        }
        let group = label.map_or(0, |label| label.min(SERIES.len()));
        let [x, y] = at(place);
        let _ = write!(groups[group], "M{x} {y}h0");
    }
    let width = if placed.nodes.len() > 60 { 4 } else { 7 };
    let mut out = format!(
        "<svg class=\"graph\" viewBox=\"0 0 112 112\" role=\"img\" aria-label=\"graph with {}\">\
         <path class=\"s-muted\" d=\"{edges}\"/>",
        number_format::counted(graph.nodes, "node", "nodes")
    );
    for (group, d) in groups.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
        let class = SERIES.get(group).map_or("others", |paint| paint.class);
        let _ = write!(out, "<path class=\"node s-{class}\" stroke-width=\"{width}\" d=\"{d}\"/>");
    }
    out.push_str("</svg>");
    used.sort_unstable();
    if !used.is_empty() {
        out.push_str("<span class=\"labels\">");
        for &label in used.iter().take(6) {
            let class = SERIES.get(label).map_or("others", |paint| paint.class);
            let name = escape::truncate(pool.label_name(label), 14);
            let _ = write!(
                out,
                "<span><i class=\"b-{class}\"></i>{}</span> ",
                escape::text(&escape::or_placeholder(&name))
            );
        }
        out.push_str(if used.len() > 6 { "…</span>" } else { "</span>" });
    }
    if placed.nodes.len() < graph.nodes {
        let (drawn, all) = (number_format::count(placed.nodes.len()), number_format::count(graph.nodes));
        let _ = write!(out, "<span class=\"quiet\">{drawn} of {all} nodes shown</span>");
    }
    out
}

/// An example and labelled values, as HTML.
fn card(context: Context<'_>, example: usize, lines: &[(&str, String)]) -> String {
    let Some(entry) = context.pool.entry(context.m, example) else { return String::new() };
    let mut out = format!(
        "<article class=\"card\"><h4>{}</h4>",
        escape::text(&escape::truncate(&escape::or_placeholder(entry.name), 60))
    );
    out.push_str(&html(context.pool, entry));
    out.push_str("<dl>");
    for (name, value) in lines {
        let _ = write!(out, "<dt>{name}<dd>{value}");
    }
    out + "</dl></article>"
}

fn list(context: Context<'_>, heading: &str, help: &str, cards: &[String]) -> String {
    if cards.is_empty() {
        return String::new();
    }
    let rows = matches!(context.model.examples.first(), Some(Example { body: Body::Cells(_), .. }));
    let grid = card_grid(cards, if rows { 4 } else { 8 }, "cards");
    format!("<h3>{heading}</h3><p class=\"how\">{help}</p>{grid}")
}

/// Indices of the largest finite scores, largest first.
fn largest(scores: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut scores: Vec<(usize, f64)> = scores.enumerate().filter(|(_, score)| score.is_finite()).collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1));
    scores.into_iter().take(MAX_SHOWN).map(|(place, _)| place).collect()
}

/// The largest standard deviations, and the errors that are largest relative to theirs.
pub(super) fn of_regression(context: Context<'_>, record: &RegressionRecord) -> String {
    let z_score = |p: &RegressionPoint| (p.truth - p.mean) / p.std;
    let show = |place: usize| {
        let p = &record.points[place];
        let lines = [
            ("Observed", number_format::format_number(p.truth)),
            (
                "Predicted",
                format!("{} ± {}", number_format::format_number(p.mean), number_format::format_number(p.std)),
            ),
            ("z-score", number_format::tick(z_score(p), 0.1)),
        ];
        card(context, p.example, &lines)
    };
    let uncertain: Vec<String> = largest(record.points.iter().map(|p| p.std)).into_iter().map(show).collect();
    let surprising = largest(record.points.iter().map(|p| z_score(p).abs()));
    let surprising: Vec<String> = surprising.into_iter().map(show).collect();
    let (low, high) =
        record.points.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), p| (l.min(p.std), h.max(p.std)));
    let help = match low > 0.95 * high {
        true => {
            "The predicted standard deviation is nearly the same everywhere, so this ranking means little."
        }
        false => "The largest predicted standard deviations.",
    };
    list(context, "Most uncertain predictions", help, &uncertain)
        + &list(
            context,
            "Largest standardised errors",
            "The z-score is the error divided by the predicted standard deviation. If errors were Gaussian, 1 in 370 \
             would lie beyond ±3.",
            &surprising,
        )
}

/// The largest entropies, and the most confident mistakes.
pub(super) fn of_classification(context: Context<'_>, record: &ClassificationRecord) -> String {
    let show = |place: usize| {
        let p = &record.points[place];
        // Isolated, so that a right-to-left name does not reorder the percentage.
        let class = |class: usize, probability: f64| {
            let name = escape::text(&escape::truncate(&class_name(record, class), 40));
            format!("<span class=\"name\">{name}</span> ({})", number_format::percent(probability))
        };
        let lines = [
            ("True class", class(p.truth, p.p_truth)),
            ("Predicted", class(p.predicted, p.p)),
            ("Entropy", format!("{} nats", number_format::significant(p.entropy, 3))),
        ];
        card(context, p.example, &lines)
    };
    let uncertain: Vec<String> =
        largest(record.points.iter().map(|p| p.entropy)).into_iter().map(show).collect();
    let mistakes = record.points.iter().map(|p| if p.truth == p.predicted { f64::NAN } else { p.p });
    let mistakes: Vec<String> = largest(mistakes).into_iter().map(show).collect();
    list(
        context,
        "Most uncertain predictions",
        "The highest predictive entropy. Percentages are predicted probabilities.",
        &uncertain,
    ) + &list(
        context,
        "Most confident mistakes",
        "Misclassified with high confidence: often a labelling error, or a kind of input that the training data lack.",
        &mistakes,
    )
}
