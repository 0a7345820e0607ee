//! Which columns matter.

use super::{Block, Context, Section};
use crate::figure::Drawn;
use crate::figure::bars::{self, Bar, Lying};
use crate::palette::{ACCENT, SERIES};
use crate::{ColumnImportance, escape, number};

/// A change of the stated uncertainty that nobody would notice.
const HARDLY: f64 = 0.01;
/// More columns do not fit.
const MOST: usize = 30;

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let importance = context.model.importance.as_ref()?;
    let shown = &importance.columns[..importance.columns.len().min(MOST)];
    let measure = escape::cut(&importance.measure, 40);
    let error_title = format!("Growth of the error ({measure})");
    let errors: Vec<Bar> = shown.iter().map(|c| bars::bar(&c.name, c.error, ACCENT)).collect();
    let mut by_spread: Vec<&ColumnImportance> = importance.columns.iter().collect();
    by_spread.sort_by(|a, b| b.spread.total_cmp(&a.spread));
    let spreads: Vec<Bar> = by_spread.into_iter().take(MOST).map(spread).collect();
    let spread_caption = match importance.columns.iter().all(|column| column.spread < HARDLY) {
        true => {
            "How much the stated uncertainty moves, up or down, against its mean: hardly at all, whichever column it is."
        }
        false => {
            "How much the stated uncertainty moves, up or down, against its mean. A long bar: how sure the model is depends \
             on this column."
        }
    };
    let draw = |name: &str, title: &'static str, x_title: &str, bars: &[Bar], caption: &str| {
        let desc = "One bar for each column, the most important first.";
        let svg = bars::lying(Lying { title, x_title, y_title: "Column", desc }, bars);
        Drawn::new(context.id(name), title, svg, caption.into())
    };
    let figures = vec![
        draw(
            "importance-error",
            "What the error owes to each column",
            &error_title,
            &errors,
            "A long bar: without this column, predictions are much worse. Near 0: the model does not need it.",
        ),
        draw(
            "importance-uncertainty",
            "What certainty owes to each column",
            "Change of the stated uncertainty (%)",
            &spreads,
            spread_caption,
        ),
    ];
    let left_out = importance.columns.len() - shown.len();
    let left_out = match left_out {
        0 => String::new(),
        n => format!(
            " The {} least important of {} columns are left out.",
            number::count(n),
            number::count(importance.columns.len())
        ),
    };
    let intro = format!(
        "One column at a time is shuffled among {}, which takes away what it says; bars are means of {}. What this does to the error and to the \
         stated uncertainty shows what the model uses.{left_out}",
        number::counted(importance.rows, "row", "rows"),
        number::counted(importance.shuffles, "shuffle", "shuffles")
    );
    Some(context.section("inputs", "Which inputs matter", intro, vec![Block::Figures(figures)]))
}

fn spread(column: &ColumnImportance) -> Bar {
    let says = format!("{}\u{a0}%", number::significant(100.0 * column.spread, 2));
    Bar { says, ..bars::bar(&column.name, 100.0 * column.spread, SERIES[6]) }
}
