//! The page's section of test parts that are unlike the training part: gaps and clusters of tables, and the wave.

use crate::experiment::{Experiment, GROUPS, Preset};
use crate::notes::Notes;
use crate::page::Page;
use crate::score::mean;
use crate::summary::{Figure, Summary};
use crate::tables::{digits, row_of, with_deviation};
use crate::variant::Variant;

/// The wave's name in the catalogue.
pub(crate) const WAVE: &str = "wave";

/// How to read the section.
const REMARK: &str = "Test rows that are unlike the training rows. *Gaps*: the rows strictly between the quantiles ⅓ and ⅔ of an input are held out, for \
    each input with at least twenty distinct values. *Clusters*: each of five clusters is held out in turn (k-means on the standardised inputs, the \
    largest first). The baseline is one Gaussian for all rows, with the mean and deviation of the training targets. The worst is that of all parts: \
    the highest NLL, the lowest coverage. Familiarity is the share of rows held out in training that were at least as far from the other rows, one half on \
    average within the data; models without neighbours have none.\n\n";

/// Scores of a part: ours, then the baseline's.
const NLL: [&str; 2] = ["nll", "baseline_nll"];
const COVERAGE: [&str; 2] = ["coverage_95", "baseline_coverage_95"];

/// One set with one preset.
struct Set {
    experiment: &'static Experiment,
    preset: Preset,
    parts: Vec<(Variant, Summary)>,
}

/// The section, with the name of the wave's drawing if there is one.
pub(crate) fn section(page: &Page, notes: &Notes, drawing: Option<&str>) -> String {
    let mut text = format!("## Away from the data\n\n{REMARK}");
    let (mut sets, mut absent) = (Vec::new(), Vec::new());
    let names = GROUPS.iter().filter(|(name, ..)| name.starts_with("gaps")).flat_map(|(.., names)| *names);
    for experiment in names.filter_map(|name| Experiment::from_name(name)) {
        let with = |preset| Set { experiment, preset, parts: page.parts(experiment, preset) };
        let own: Vec<Set> = Preset::ALL.map(with).into_iter().filter(|set| !set.parts.is_empty()).collect();
        if own.is_empty() {
            absent.push(format!("`{}`", experiment.name));
        }
        sets.extend(own);
    }
    for preset in Preset::ALL {
        text += &verdict(&sets, preset);
    }
    if !sets.is_empty() {
        text += &overview(&sets);
    }
    if !absent.is_empty() {
        text += &format!("Not run yet: {}.\n\n", absent.join(", "));
    }
    for set in &sets {
        text += &details(set);
        if let Some(note) = notes.of(set.experiment.name, set.preset.name()) {
            text += &format!("{note}\n\n");
        }
    }
    text + &wave(page, notes, drawing)
}

/// A score of a part; NaN where it was not finite.
fn score(summary: &Summary, name: &str) -> f64 {
    summary.scores.get(name).map_or(f64::NAN, |figure| figure.mean)
}

/// All parts of a preset in a line.
fn verdict(sets: &[Set], preset: Preset) -> String {
    let own: Vec<&Set> = sets.iter().filter(|set| set.preset == preset).collect();
    let parts: Vec<(&Set, &(Variant, Summary))> =
        own.iter().flat_map(|set| set.parts.iter().map(move |part| (*set, part))).collect();
    let of =
        |name: &str| -> Vec<f64> { parts.iter().map(|(_, (_, summary))| score(summary, name)).collect() };
    let [nll, baseline] = NLL.map(of);
    let [covers, base_covers] = COVERAGE.map(of);
    let lowest = covers.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at);
    let Some((set, (variant, _))) = lowest.map(|at| parts[at]) else { return String::new() };
    let better = nll.iter().zip(&baseline).filter(|(ours, baseline)| ours < baseline).count();
    format!(
        "**Preset `{}`**, {} of {}: the 95 % intervals cover {} % on average and {} % at worst ({}, {}), the baseline's {} % and {} %. \
         The NLL is {} on average and {} in the median, the baseline's {} and {}; it is lower in {better} parts.\n\n",
        preset.name(),
        counted(parts.len(), "part"),
        counted(own.len(), "set"),
        percent(mean(&covers)),
        percent(lowest_of(&covers)),
        set.experiment.title,
        variant.title(),
        percent(mean(&base_covers)),
        percent(lowest_of(&base_covers)),
        plain(mean(&nll)),
        plain(median(&nll)),
        plain(mean(&baseline)),
        plain(median(&baseline)),
    )
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// One part can outweigh all others in a mean of likelihoods; here it cannot.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    }
}

fn lowest_of(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// NaN is worse than any number.
fn highest_of(values: &[f64]) -> f64 {
    values
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
}

/// A row for each set and kind of part.
fn overview(sets: &[Set]) -> String {
    let heads = [
        "set",
        "preset",
        "held out",
        "parts",
        "RMSE",
        "NLL",
        "worst",
        "CRPS",
        "95 % covers",
        "worst",
        "baseline: NLL",
        "worst",
        "95 % covers",
        "worst",
        "familiarity",
    ];
    let mut text = row_of(heads.map(str::to_owned));
    text += &format!("|{}\n", "---|".repeat(heads.len()));
    for Set { experiment, preset, parts } in sets {
        for (kind, clusters) in [("gaps", false), ("clusters", true)] {
            let is_own = |variant: &Variant| matches!(variant, Variant::Cluster(_)) == clusters;
            let own: Vec<&Summary> =
                parts.iter().filter(|(variant, _)| is_own(variant)).map(|(_, summary)| summary).collect();
            if own.is_empty() {
                continue;
            }
            let all = experiment.variants().iter().filter(|variant| is_own(variant)).count();
            let count = if own.len() == all { all.to_string() } else { format!("{} of {all}", own.len()) };
            let of = |name: &str| own.iter().map(|summary| score(summary, name)).collect::<Vec<f64>>();
            let nll = NLL.map(|name| [plain(mean(&of(name))), plain(highest_of(&of(name)))]);
            let covers = COVERAGE.map(|name| [percent(mean(&of(name))), percent(lowest_of(&of(name)))]);
            let cells = [
                &[experiment.title.to_owned(), preset.name().to_owned(), kind.to_owned(), count][..],
                &[plain(mean(&of("rmse")))],
                &nll[0],
                &[plain(mean(&of("crps")))],
                &covers[0],
                &nll[1],
                &covers[1],
                &[plain(mean(&of("familiarity")))],
            ];
            text += &row_of(cells.concat());
        }
    }
    text + "\n"
}

/// A row for each part of a set.
fn details(set: &Set) -> String {
    let Set { experiment, preset, parts } = set;
    let heads = ["held out", "rows", "repeats", "RMSE", "NLL", "CRPS", "95 % covers", "familiarity"];
    let baseline = ["baseline: RMSE", "NLL", "CRPS", "95 % covers"];
    let mut text = format!("### {}, `{}`\n\n", experiment.title, preset.name());
    text += &row_of(heads.iter().chain(&baseline).map(|&head| head.to_owned()));
    text += &format!("|{}\n", "---|".repeat(heads.len() + baseline.len()));
    for (variant, summary) in parts {
        let figure = |name: &str| plain(score(summary, name));
        let covers = COVERAGE.map(|name| percent(score(summary, name)));
        text += &row_of([
            variant.title(),
            summary.test_rows.to_string(),
            summary.repeats.to_string(),
            figure("rmse"),
            figure("nll"),
            figure("crps"),
            covers[0].clone(),
            figure("familiarity"),
            figure("baseline_rmse"),
            figure("baseline_nll"),
            figure("baseline_crps"),
            covers[1].clone(),
        ]);
    }
    text + "\n"
}

/// The wave: its drawing, and a row for each preset.
fn wave(page: &Page, notes: &Notes, drawing: Option<&str>) -> String {
    let mut text = String::from(
        "### A wave with a gap\n\n\
         `sin(2.2x) + 0.3x` with noise of deviation 0.08, from x = 1.5 on 0.30; 1,600 draws of x in −4 … 4, less those in the gap −1.9 … −0.7. \
         *Wider in the gap*: the deviation in its middle over the mean deviation of the data on its left. *Wider in the noise*: the mean deviation \
         where x > 1.5 over the same; the noise itself is 3.75 times as wide. *Beyond*: 4 < |x| < 5.\n\n",
    );
    if let Some(drawing) = drawing {
        text +=
            &format!("![A noisy wave with a gap in the data, and what the model says of it]({drawing})\n\n");
    }
    let Some(experiment) = Experiment::from_name(WAVE) else { return text };
    let scores: [(&str, &str, f64); 12] = [
        ("wider in the gap", "gap_std_ratio", 1.0),
        ("wider in the noise", "noise_std_ratio", 1.0),
        ("NLL in the gap", "gap_nll", 1.0),
        ("baseline", "baseline_gap_nll", 1.0),
        ("95 % covers", "gap_coverage_95", 100.0),
        ("NLL beyond", "beyond_nll", 1.0),
        ("baseline", "baseline_beyond_nll", 1.0),
        ("95 % covers", "beyond_coverage_95", 100.0),
        ("inside: RMSE", "rmse", 1.0),
        ("NLL", "nll", 1.0),
        ("NLL of the truth", "truth_nll", 1.0),
        ("95 % covers", "coverage_95", 100.0),
    ];
    let summaries = Preset::ALL.map(|preset| Some((preset, page.summary(experiment, preset, None)?)));
    if summaries.iter().all(Option::is_none) {
        return text + "Not run yet.\n\n";
    }
    let heads = ["preset", "repeats"].into_iter().chain(scores.iter().map(|(head, ..)| *head));
    text += &row_of(heads.map(str::to_owned));
    text += &format!("|---|---|{}\n", "---|".repeat(scores.len()));
    for (preset, summary) in summaries.iter().flatten() {
        let cell = |(_, name, factor): &(&str, &str, f64)| {
            summary.scores.get(*name).map_or("–".to_owned(), |figure| {
                let figure = figure.times(*factor);
                with_deviation(figure, if *factor > 1.0 { 1 } else { digits(figure.mean) })
            })
        };
        let ends = [preset.name().to_owned(), summary.repeats.to_string()];
        text += &row_of(ends.into_iter().chain(scores.iter().map(cell)));
    }
    text += "\n";
    if let Some(note) = notes.of(WAVE, Preset::Default.name()) {
        text += &format!("{note}\n\n");
    }
    text
}

fn plain(x: f64) -> String {
    let figure = Figure { mean: x, std: None };
    if x.is_finite() { with_deviation(figure, digits(x)) } else { "–".to_owned() }
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1}", 100.0 * share) } else { "–".to_owned() }
}
