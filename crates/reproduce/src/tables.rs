//! The page's tables: our figures beside the paper's, then scores that the paper does not give.

use crate::experiment::{Experiment, GROUPS, Preset, Printed};
use crate::machine::duration;
use crate::page::{Page, absent};
use crate::summary::{Figure, Summary};

/// What stands where a repeat has no figure: scores that are not finite are not recorded.
pub(crate) const NOT_FINITE: &str = "not finite";

/// One table of the paper.
pub(crate) struct Table {
    title: &'static str,
    pub(crate) rows: &'static [&'static str],
    /// The methods that the paper compares with.
    others: &'static [&'static str],
    /// Whether classes are learned: accuracy instead of an error.
    pub(crate) classes: bool,
    /// How to read it.
    remark: &'static str,
}

/// The tables in the paper's order.
pub(crate) fn tables() -> [Table; 4] {
    let [(_, _, table1), (_, _, table2), ..] = GROUPS;
    let baseline = &["the paper's baseline"];
    [
        Table {
            title: "Table 1: regression (RMSE, lower is better)",
            rows: table1,
            others: &["sgGP", "EGP", "SGPR", "SVGP"],
            classes: false,
            remark: "Columns are those that the paper's sizes stand for: PM2.5 with the row number and the wind as four inputs, Energy \
                     without the date, Query as the counts of the first 100,000 rows. Bike-hour's target is the sum of two of its fifteen inputs, \
                     so the row below it leaves these two out; the paper has no such row. The comparators' figures are of other protocols: \
                     their Borehole has noise on its targets (`--noise` adds it here), their Bike-hour other inputs.",
        },
        Table {
            title: "Toy-MNIST (accuracy, %)",
            rows: &["toy-mnist"],
            others: &[],
            classes: true,
            remark: "The digits 5 and 6; preset `paper` with the paper's 64 inducing points.",
        },
        Table {
            title: "Table 2: images (accuracy, %)",
            rows: table2,
            others: &["DGP", "NNGP", "DIWP"],
            classes: true,
            remark: "The paper trains one network per class against the rest, with 32 inducing points for MNIST and 16 for CIFAR-10. \
                     Preset `paper` runs both that way and with one network for all classes, as `default` does.",
        },
        Table {
            title: "Texts and graphs (accuracy, %)",
            rows: &["imdb-text", "imdb-graph"],
            others: baseline,
            classes: true,
            remark: "The baseline is a plain classifier on the same network, in the paper. A repeat of the graphs is ten folds; the deviation \
                     is between repeats.",
        },
    ]
}

impl Table {
    /// Its experiments, with each noise that there are records of.
    pub(crate) fn experiments(&self, page: &Page) -> Vec<(&'static Experiment, Option<f64>)> {
        let known = self.rows.iter().filter_map(|name| Experiment::from_name(name));
        known.flat_map(|e| page.noises(e).into_iter().map(move |noise| (e, noise))).collect()
    }

    /// The score that is compared, as it is printed.
    pub(crate) fn score(&self, summary: &Summary) -> Option<Figure> {
        let (name, factor) = if self.classes { ("accuracy", 100.0) } else { ("rmse", 1.0) };
        Some(summary.scores.get(name)?.times(factor))
    }

    /// Digits after the point.
    fn digits(&self, figure: Figure) -> usize {
        if self.classes { 2 } else { digits(figure.mean) }
    }
}

/// The row's name with its noise.
pub(crate) fn title((experiment, noise): (&Experiment, Option<f64>)) -> String {
    match noise {
        Some(noise) => format!("{} with noise {noise}", experiment.title),
        None => experiment.title.to_owned(),
    }
}

/// A heading, the comparison, and under it what the predictions are worth.
pub(crate) fn comparison(page: &Page, table: &Table) -> String {
    let heads = ["set", "size", "`paper`", "`default`", "the paper's IGN"];
    let mut text = format!("## {}\n\n{}\n\n", table.title, table.remark);
    text += &row_of(heads.iter().chain(table.others).map(|&head| head.to_owned()));
    text += &format!("|---|---|{}\n", "---|".repeat(3 + table.others.len()));
    for (experiment, noise) in table.experiments(page) {
        let ours = Preset::ALL.map(|preset| {
            if !experiment.presets.contains(&preset) {
                return ("–".to_owned(), None);
            }
            match page.summary(experiment, preset, noise).map(|summary| table.score(&summary)) {
                Some(Some(figure)) => (with_deviation(figure, table.digits(figure)), Some(figure.mean)),
                Some(None) => (NOT_FINITE.to_owned(), None),
                None => (absent(experiment.name).to_owned(), None),
            }
        });
        // The paper's figures are of rows without noise of ours.
        let theirs = std::iter::once(&experiment.paper).chain(experiment.others);
        let theirs = theirs.map(|printed| printed_cell(printed.filter(|_| noise.is_none()), table.classes));
        let cells: Vec<(String, Option<f64>)> = ours.into_iter().chain(theirs).collect();
        let means = cells.iter().filter_map(|(_, mean)| *mean);
        let best = means.reduce(if table.classes { f64::max } else { f64::min });
        let cells = cells.into_iter().map(|(text, mean)| match mean {
            Some(mean) if Some(mean) == best => format!("**{text}**"),
            _ => text,
        });
        let ends = [title((experiment, noise)), experiment.size.to_owned()];
        text += &row_of(ends.into_iter().chain(cells));
    }
    text + "\n" + &details(page, table)
}

/// Scores that the paper does not give, and what the runs cost.
fn details(page: &Page, table: &Table) -> String {
    let scores: &[(&str, &str, f64)] = if table.classes {
        &[
            ("NLL", "nll", 1.0),
            ("ECE", "ece", 1.0),
            ("Brier", "brier", 1.0),
            ("var f", "variance_latent", 1.0),
        ]
    } else {
        &[
            ("NLL", "nll", 1.0),
            ("NLL, constant variance", "constant_nll", 1.0),
            ("CRPS", "crps", 1.0),
            ("50 % covers", "coverage_50", 100.0),
            ("90 % covers", "coverage_90", 100.0),
            ("95 % covers", "coverage_95", 100.0),
            ("var y", "variance", 1.0),
        ]
    };
    let heads = ["set", "preset", "repeats"].into_iter().chain(scores.iter().map(|(head, ..)| *head));
    let heads = heads.chain(["inputs", "steps", "time of the fastest repeat", "threads"]);
    let mut text = row_of(heads.map(str::to_owned));
    text += &format!("|---|---|{}\n", "---|".repeat(scores.len() + 5));
    let mut remarks = String::new();
    let mut any = false;
    for (experiment, noise) in table.experiments(page) {
        for &preset in experiment.presets {
            let Some(summary) = page.summary(experiment, preset, noise) else { continue };
            any = true;
            let score = |(_, name, factor): &(&str, &str, f64)| {
                summary.scores.get(*name).map_or("–".to_owned(), |figure| {
                    let figure = figure.times(*factor);
                    with_deviation(figure, if *factor > 1.0 { 1 } else { digits(figure.mean) })
                })
            };
            let ends = [title((experiment, noise)), preset.name().to_owned(), summary.repeats.to_string()];
            let costs = [
                if summary.inputs == 0 { "–".to_owned() } else { summary.inputs.to_string() },
                format!("{:.0}", summary.steps),
                duration(summary.seconds),
                summary.threads.to_string(),
            ];
            text += &row_of(ends.into_iter().chain(scores.iter().map(score)).chain(costs));
            remarks += &remark(&title((experiment, noise)), preset, &summary);
        }
    }
    match any {
        true => text + "\n" + &remarks,
        false => String::new(),
    }
}

/// What is special about the runs of a row.
fn remark(title: &str, preset: Preset, summary: &Summary) -> String {
    let mut text = String::new();
    if let Some((epochs, of)) = &summary.stopped {
        let epochs: Vec<String> = epochs.iter().map(usize::to_string).collect();
        text += &format!(
            "{title}, `{}`: stopped after epoch {} of {of}, the first at whose end 1 % of the training rows, held out for \
             this, had an error at or below the paper's figure.\n\n",
            preset.name(),
            epochs.join(", ")
        );
    }
    if summary.outdated > 0 {
        text += &format!(
            "{title}, `{}`: left out are records of an earlier configuration, {} in all.\n\n",
            preset.name(),
            summary.outdated
        );
    }
    text
}

fn printed_cell(printed: Printed, classes: bool) -> (String, Option<f64>) {
    match printed {
        None => ("–".to_owned(), None),
        Some((mean, std)) => {
            let text = with_deviation(Figure { mean, std: Some(std) }, if classes { 2 } else { 3 });
            (text, Some(mean))
        }
    }
}

/// `0.178 ± 0.011`; a single repeat has no deviation; tiny and huge numbers have an exponent.
pub(crate) fn with_deviation(figure: Figure, digits: usize) -> String {
    let far = figure.mean != 0.0 && !(1e-3..1e6).contains(&figure.mean.abs());
    let number = |x: f64| if far { format!("{x:.1e}") } else { format!("{x:.digits$}") }.replace('-', "−");
    match figure.std {
        Some(std) => format!("{} ± {}", number(figure.mean), number(std)),
        None => number(figure.mean),
    }
}

/// Three digits after the point as in the paper, one more for small numbers, and so on.
pub(crate) fn digits(x: f64) -> usize {
    match x.abs() {
        x if x >= 0.1 => 3,
        _ => 4,
    }
}

/// A line of a table.
pub(crate) fn row_of(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |\n", cells.into_iter().collect::<Vec<_>>().join(" | "))
}
