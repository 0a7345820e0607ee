//! Permutation importance: which columns the predictions and their uncertainty depend on.

use super::{Block, Context, Section};
use crate::figure::PageFigure;
use crate::figure::bars::{self, Bar, HorizontalBars};
use crate::palette::{ACCENT, SERIES};
use crate::{ColumnEffect, escape, number_format};

/// Relative changes of the uncertainty below this are negligible.
const NEGLIGIBLE: f64 = 0.01;
/// More columns do not fit.
const MAX_COLUMNS: usize = 30;

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
            " The {} least important of {} columns are not shown.",
            number_format::count(n),
            number_format::count(importance.columns.len())
        ),
    };
    let intro = format!(
        "Each column is shuffled across {}, which destroys its information. The more the predictions change, the more \
         the model relies on that column. Bars are means over {}.{left_out}",
        number_format::counted(importance.rows, "row", "rows"),
        number_format::counted(importance.repeats, "shuffle", "shuffles")
    );
    Some(context.section("importance", "Permutation importance", intro, vec![Block::Figures(figures)]))
}

fn uncertainty_bar(column: &ColumnEffect) -> Bar {
    let percent = 100.0 * column.uncertainty_change;
    let text = format!("{}\u{a0}%", number_format::significant(percent, 2));
    Bar { text, ..bars::bar(&column.name, percent, SERIES[6]) }
}
