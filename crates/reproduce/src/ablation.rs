//! The page's ablation: what more inducing points do to the variance, and to the predictions.

use crate::experiment::{ABLATED, ABLATION, Experiment, INDUCING, Preset};
use crate::notes::Notes;
use crate::page::{Page, absent};
use crate::summary::{Figure, Summary};
use crate::tables::{digits, row_of, with_deviation};
use std::collections::BTreeSet;

/// What a table of the ablation shows of a summary, and with how many digits after the point.
type Shown = fn(&Summary) -> Option<(Figure, usize)>;

/// The section, with the drawing's name if there is one.
pub(crate) fn section(page: &Page, notes: &Notes, drawing: Option<&str>) -> String {
    let mut text = String::from(
        "## Ablation: inducing points against variance\n\n\
         Mean variance of the latent function over the test part (paper, section 5), of normalised targets.\n\n",
    );
    if let Some(drawing) = drawing {
        text += &format!("![Variance against the number of inducing points]({drawing})\n\n");
    }
    text += &table(page, |summary| score(summary, "variance_latent"));
    if let Some(note) = notes.of(ABLATION, "") {
        text += &format!("{note}\n\n");
    }
    // Without records both would be as empty as the first.
    if drawing.is_some() {
        text += "The error meanwhile: RMSE, of IMDB-Text the accuracy in %.\n\n";
        text += &table(page, |summary| {
            let accuracy = summary.scores.get("accuracy").map(|figure| (figure.times(100.0), 2));
            accuracy.or_else(|| score(summary, "rmse"))
        });
        text += "And the NLL:\n\n";
        text += &table(page, |summary| score(summary, "nll"));
    }
    text
}

fn score(summary: &Summary, name: &str) -> Option<(Figure, usize)> {
    summary.scores.get(name).map(|&figure| (figure, digits(figure.mean)))
}

/// A row for each set and preset, a column for each number of inducing points.
fn table(page: &Page, shown: Shown) -> String {
    let heads = INDUCING.map(|m| format!("M = {m}"));
    let mut text =
        row_of(["set".to_owned(), "preset".into()].into_iter().chain(heads).chain(["repeats".into()]));
    text += &format!("|---|---|{}---|\n", "---|".repeat(INDUCING.len()));
    for name in ABLATED {
        let title = Experiment::from_name(name).map_or(name, |experiment| experiment.title);
        for preset in Preset::ALL {
            let points = INDUCING.map(|m| page.ablated(name, preset, m));
            let mut cells = points.each_ref().map(|point| match point.as_ref().and_then(shown) {
                Some((figure, digits)) => with_deviation(figure, digits),
                None => "–".to_owned(),
            });
            if points.iter().all(Option::is_none) {
                cells = INDUCING.map(|_| String::new());
                absent(name).clone_into(&mut cells[0]);
            }
            let ends = [title.to_owned(), preset.name().to_owned()];
            text += &row_of(ends.into_iter().chain(cells).chain([repeats(&points)]));
        }
    }
    text + "\n"
}

/// How many repeats there are, fewest to most.
fn repeats(points: &[Option<Summary>]) -> String {
    let counts: BTreeSet<usize> = points.iter().flatten().map(|point| point.repeats).collect();
    match (counts.first(), counts.last()) {
        (Some(a), Some(b)) if a != b => format!("{a}–{b}"),
        (Some(a), _) => a.to_string(),
        _ => "0".into(),
    }
}
