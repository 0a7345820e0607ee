//! Which inputs matter: permutation importance for the predictions and for their uncertainty.

use super::{Block, Context, Section, table};
use crate::figure::PageFigure;
use crate::figure::bars::{self, Bar, HorizontalBars};
use crate::palette::{ACCENT, SERIES};
use crate::{ColumnEffect, PermutationImportance, escape, number_format};

/// Relative changes of the uncertainty below this are negligible.
const NEGLIGIBLE: f64 = 0.01;
/// Bars of a figure; more are in the table.
const MAX_COLUMNS: usize = 15;
/// Columns in the table.
const MAX_LISTED: usize = 500;

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let importance = context.model.importance.as_ref()?;
    let shown = &importance.columns[..importance.columns.len().min(MAX_COLUMNS)];
    let metric = escape::truncate(&importance.metric, 40);
    let errors: Vec<Bar> = shown.iter().map(|c| bars::bar(&c.name, c.error_increase, ACCENT)).collect();
    let mut by_uncertainty: Vec<&ColumnEffect> = importance.columns.iter().collect();
    by_uncertainty.sort_by(|a, b| b.uncertainty_change.total_cmp(&a.uncertainty_change));
    let uncertainties: Vec<Bar> = by_uncertainty.into_iter().take(MAX_COLUMNS).map(uncertainty_bar).collect();
    let negligible = importance.columns.iter().all(|column| column.uncertainty_change < NEGLIGIBLE);
    let uncertainty_caption = match negligible {
        true => {
            "Mean absolute change, relative to the mean uncertainty. No single column changes it noticeably."
        }
        false => {
            "Mean absolute change, relative to the mean uncertainty. A long bar means that the uncertainty depends on this \
             column."
        }
    };
    let draw = |name: &str, title: &'static str, x_title: &str, bars: &[Bar], caption: &str| {
        let desc = "One bar for each column, largest first.";
        let svg = bars::horizontal(HorizontalBars { title, x_title, y_title: "Column", desc }, bars);
        PageFigure::new(context.id(name), title, svg, caption.into())
    };
    let figures = vec![
        draw(
            "importance-error",
            "Effect on the error",
            &format!("Increase in {metric}"),
            &errors,
            "A long bar means that predictions are much worse without this column; near 0 the model does not need it.",
        ),
        draw(
            "importance-uncertainty",
            "Effect on the uncertainty",
            "Change of the predicted uncertainty (%)",
            &uncertainties,
            uncertainty_caption,
        ),
    ];
    let left_out = match importance.columns.len() - shown.len() {
        0 => String::new(),
        n => format!(
            " The figures leave out the {} least important of {} columns.",
            number_format::count(n),
            number_format::count(importance.columns.len())
        ),
    };
    let intro = format!(
        "Permutation importance: each column is shuffled across {}, which destroys its information. The more the predictions \
         change, the more the model relies on that column; of columns that say the same, each may seem to matter little. \
         Bars are means over {}.{left_out}",
        number_format::counted(importance.rows, "row", "rows"),
        number_format::counted(importance.repeats, "shuffle", "shuffles")
    );
    let blocks = vec![Block::Figures(figures), Block::Html(list(importance))];
    Some(context.section("importance", "Which inputs matter", intro, blocks))
}

/// The same in numbers.
fn list(importance: &PermutationImportance) -> String {
    let metric = format!("Increase in {}", escape::text(&escape::truncate(&importance.metric, 40)));
    let columns = ["Column", &metric, "Change of the uncertainty"];
    let line = |column: &ColumnEffect| {
        let name = escape::text(&escape::truncate(&escape::or_placeholder(&column.name), 60));
        let cells = vec![
            number_format::format_number(column.error_increase),
            number_format::percent(column.uncertainty_change),
        ];
        (name, cells)
    };
    let lines = importance.columns.iter().take(MAX_LISTED).map(line);
    let html = table::html("importance", &columns, "", lines);
    let count = number_format::counted(importance.columns.len().min(MAX_LISTED), "column", "columns");
    format!("<details><summary>{count} as a table</summary>{html}</details>")
}

fn uncertainty_bar(column: &ColumnEffect) -> Bar {
    let percent = 100.0 * column.uncertainty_change;
    let text = format!("{}\u{a0}%", number_format::significant(percent, 2));
    Bar { text, ..bars::bar(&column.name, percent, SERIES[6]) }
}
