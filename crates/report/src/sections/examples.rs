//! Examples in the page's own text, and lists of them: the least certain, the most surely wrong.

use super::{Context, class_name};
use crate::palette::SERIES;
use crate::pool::{Entry, Kind, Pool};
use crate::{Body, ClassRecord, Example, Graph, NumberRecord, escape, number};
use std::fmt::Write;

/// Examples of a list.
pub(crate) const MOST_SHOWN: usize = 12;
/// Cells of an example that are shown.
const MOST_CELLS: usize = 12;

/// An example as HTML.
pub(crate) fn html(pool: &Pool<'_>, entry: &Entry<'_>) -> String {
    match &entry.kind {
        Kind::Cells(set, cells) => cells_html(pool.columns(*set), cells),
        Kind::Picture(picture) => {
            let (sheet, size, place) = pool.grid.place(*picture);
            format!(
                "<span class=\"pic p{sheet}\" role=\"img\" aria-label=\"{}\" \
                 style=\"background-size:{size};background-position:{place}\"></span>",
                escape::text(&escape::cut(entry.name, 120))
            )
        }
        Kind::Graph(graph, placed) => graph_html(pool, graph, placed),
    }
}

fn cells_html(columns: &[String], cells: &[String]) -> String {
    let mut out = String::from("<table class=\"cells\">");
    for (k, cell) in cells.iter().enumerate().take(MOST_CELLS) {
        let name = columns.get(k).map_or("", String::as_str);
        let (name, cell) = (escape::cut(name, 40), escape::cut(cell, 300));
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
    if cells.len() > MOST_CELLS {
        let _ = write!(
            out,
            "<tr><td colspan=2 class=\"quiet\">and {} more",
            number::count(cells.len() - MOST_CELLS)
        );
    }
    out + "</table>"
}

fn graph_html(pool: &Pool<'_>, graph: &Graph, placed: &crate::layout::Placed) -> String {
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
        "<svg class=\"graph\" viewBox=\"0 0 112 112\" role=\"img\" aria-label=\"a graph of {}\">\
         <path class=\"s-muted\" d=\"{edges}\"/>",
        number::counted(graph.nodes, "node", "nodes")
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
            let name = escape::cut(pool.label_name(label), 14);
            let _ = write!(
                out,
                "<span><i class=\"b-{class}\"></i>{}</span> ",
                escape::text(&escape::shown(&name))
            );
        }
        out.push_str(if used.len() > 6 { "…</span>" } else { "</span>" });
    }
    if placed.nodes.len() < graph.nodes {
        let (drawn, all) = (number::count(placed.nodes.len()), number::count(graph.nodes));
        let _ = write!(out, "<span class=\"quiet\">{drawn} of {all} nodes are drawn</span>");
    }
    out
}

fn card(context: Context<'_>, example: usize, lines: &[(&str, String)]) -> String {
    let Some(entry) = context.pool.entry(context.m, example) else { return String::new() };
    let mut out = format!(
        "<article class=\"card\"><h4>{}</h4>",
        escape::text(&escape::cut(&escape::shown(entry.name), 60))
    );
    out.push_str(&html(context.pool, entry));
    out.push_str("<dl>");
    for (name, value) in lines {
        let _ = write!(out, "<dt>{name}<dd>{}", escape::text(value));
    }
    out + "</dl></article>"
}

fn list(context: Context<'_>, heading: &str, how: &str, cards: &[String]) -> String {
    if cards.is_empty() {
        return String::new();
    }
    let rows = matches!(context.model.examples.first(), Some(Example { body: Body::Cells(_), .. }));
    let (first, rest) = cards.split_at(cards.len().min(if rows { 4 } else { 8 }));
    let mut out =
        format!("<h3>{heading}</h3><p class=\"how\">{how}</p><div class=\"cards\">{}</div>", first.concat());
    if !rest.is_empty() {
        let _ = write!(
            out,
            "<details><summary>Show {} more</summary><div class=\"cards\">{}</div></details>",
            rest.len(),
            rest.concat()
        );
    }
    out
}

/// Places of the largest finite scores, the largest first.
fn largest(scores: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut scores: Vec<(usize, f64)> = scores.enumerate().filter(|(_, score)| score.is_finite()).collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1));
    scores.into_iter().take(MOST_SHOWN).map(|(place, _)| place).collect()
}

/// The widest deviations, and the errors that are largest by their own deviation.
pub(super) fn of_number(context: Context<'_>, record: &NumberRecord) -> String {
    let show = |place: usize| {
        let p = &record.points[place];
        let lines = [
            ("Observed", number::number(p.truth)),
            ("Predicted", format!("{} ± {}", number::number(p.mean), number::number(p.std))),
            ("Off by", format!("{} deviations", number::tick((p.truth - p.mean) / p.std, 0.1))),
        ];
        card(context, p.example, &lines)
    };
    let unsure: Vec<String> = largest(record.points.iter().map(|p| p.std)).into_iter().map(show).collect();
    let surprise = record.points.iter().map(|p| ((p.truth - p.mean) / p.std).abs());
    let wrong: Vec<String> = largest(surprise).into_iter().map(show).collect();
    let (low, high) =
        record.points.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), p| (l.min(p.std), h.max(p.std)));
    let says = match low > 0.95 * high {
        true => "The stated deviation is nearly the same for all rows: it tells none apart.",
        false => "The rows whose stated deviation is the largest.",
    };
    list(context, "The least certain", says, &unsure)
        + &list(
            context,
            "The largest surprises",
            "Errors that are large by the model’s own measure: beyond 3 deviations about one in 400 is expected.",
            &wrong,
        )
}

/// The largest entropies, and the mistakes with the highest probability.
pub(super) fn of_classes(context: Context<'_>, record: &ClassRecord) -> String {
    let show = |place: usize| {
        let p = &record.points[place];
        let lines = [
            (
                "Truth",
                format!(
                    "\u{2068}{}\u{2069} ({})",
                    escape::cut(class_name(record, p.truth), 40),
                    number::percent(p.p_truth)
                ),
            ),
            (
                "Predicted",
                format!(
                    "\u{2068}{}\u{2069} ({})",
                    escape::cut(class_name(record, p.predicted), 40),
                    number::percent(p.p)
                ),
            ),
            ("Entropy", format!("{} nats", number::significant(p.entropy, 3))),
        ];
        card(context, p.example, &lines)
    };
    let unsure: Vec<String> =
        largest(record.points.iter().map(|p| p.entropy)).into_iter().map(show).collect();
    let mistakes = record.points.iter().map(|p| if p.truth == p.predicted { f64::NAN } else { p.p });
    let wrong: Vec<String> = largest(mistakes).into_iter().map(show).collect();
    list(
        context,
        "The least certain",
        "The rows whose probabilities are the least clear; percentages are probabilities.",
        &unsure,
    ) + &list(
        context,
        "The most surely wrong",
        "Wrong, and sure of it: often a wrong label, or something that the training data lack.",
        &wrong,
    )
}
