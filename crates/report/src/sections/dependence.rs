//! Partial dependence: what is predicted on average as one column moves.

use super::{Block, ClassColours, Context, Section, class_name, target_name, unit};
use crate::figure::axis::Axis;
use crate::figure::dependence::{Band, Dependence};
use crate::figure::legend::{self, Key};
use crate::figure::{PageFigure, Placement};
use crate::palette::{ACCENT, DASHES, Paint};
use crate::{ClassificationRecord, TargetRecord, escape, number_format};
use inducing::explain::{DependenceCurve, PartialDependence};

/// Targets that have figures.
const MAX_TARGETS: usize = 4;
/// Lines of a figure: more classes cannot be told apart.
const MAX_CLASSES: usize = 5;
/// Half the width of a band, in latent standard deviations.
const DEVIATIONS: f64 = 2.0;

/// A line of every figure: the curve's index, its colour and its name.
type Style = (usize, Paint, &'static str, Option<String>);

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let moved = &context.model.dependence;
    let rows = moved.first()?.rows;
    let mut blocks = Vec::new();
    let mut banded = false;
    for (t, target) in context.model.targets.iter().enumerate().take(MAX_TARGETS) {
        if context.model.targets.len() > 1 {
            let name = escape::text(&escape::or_placeholder(target_name(target)));
            blocks.push(Block::Html(format!("<h3 class=\"target\">{name}</h3>")));
        }
        let (figures, with_bands) = of_target(context, t, target);
        banded |= with_bands;
        blocks.push(Block::Figures(figures));
    }
    let band = match banded {
        true => {
            " The band is ± 2 standard deviations of the latent function, averaged over the rows: how sure the model is of \
             a single row's value, without noise."
        }
        false => "",
    };
    let intro = format!(
        "The mean prediction as one column moves over its observed values while all others stay as they are (partial \
         dependence), for the columns that matter most, over {}.{band} All figures share the scale of the prediction. Ticks \
         at the bottom are the deciles of the column: where they are far apart there are few rows. Where columns depend on \
         each other, some of these combinations never occur.",
        number_format::counted(rows, "row", "rows")
    );
    Some(context.section("dependence", "What happens as an input changes", intro, blocks))
}

fn of_target(context: Context<'_>, t: usize, target: &TargetRecord) -> (Vec<PageFigure>, bool) {
    let (styles, y_title, probability) = match target {
        TargetRecord::Regression(record) => {
            (vec![(t, ACCENT, "", None)], format!("Mean prediction ({})", unit(&record.name)), false)
        }
        TargetRecord::Classification(record) => class_styles(record),
    };
    let bands = |moved: &PartialDependence| -> Vec<Band> {
        let times = if probability { 100.0 } else { 1.0 };
        let band = |style: &Style| Some(band(moved.curves.get(style.0)?, style, times, styles.len() == 1));
        styles.iter().filter_map(band).collect()
    };
    let all: Vec<Vec<Band>> = context.model.dependence.iter().map(bands).collect();
    let with_bands = all.iter().flatten().any(|band| !band.half.is_empty());
    let axis = axis(all.iter().flatten(), probability);
    let draw = |(k, (moved, bands)): (usize, (&PartialDependence, Vec<Band>))| {
        let title = escape::truncate(&escape::or_placeholder(&moved.name), 32).into_owned();
        let key =
            |(_, paint, dash, name): &Style| Some(Key::Line(*paint, dash, legend::name(name.as_ref()?)));
        let figure = Dependence {
            title: &title,
            y_title: &y_title,
            grid: &moved.grid,
            bands,
            axis: axis.clone(),
            legend: styles.iter().filter_map(key).collect(),
            desc: "Mean prediction at values of one column.",
        };
        let name = format!("{}-{}", context.target_id("dependence", t), k + 1);
        let caption = spread(moved, &styles, probability);
        PageFigure::new(name, title.clone(), figure.draw(), caption).with_placement(Placement::Third)
    };
    (context.model.dependence.iter().zip(all).enumerate().map(draw).collect(), with_bands)
}

/// Of two classes the one that is told apart, of several the most frequent; title of the axis.
fn class_styles(record: &ClassificationRecord) -> (Vec<Style>, String, bool) {
    if record.classes.len() == 2 {
        let class = record.thresholds.first().map_or(1, |curve| curve.class);
        let title = format!("Probability of {} (%)", unit(&class_name(record, class)));
        return (vec![(class, ACCENT, "", None)], title, true);
    }
    let colours = ClassColours::new(record);
    let order: Vec<usize> = match record.thresholds.is_empty() {
        true => (0..record.classes.len()).collect(),
        false => record.thresholds.iter().map(|curve| curve.class).collect(),
    };
    let style = |(k, class): (usize, usize)| {
        (class, colours.of(class), DASHES[k % DASHES.len()], Some(class_name(record, class).into_owned()))
    };
    (
        order.into_iter().take(MAX_CLASSES).enumerate().map(style).collect(),
        "Mean probability (%)".into(),
        true,
    )
}

/// In units of the prediction, or in percent; a band only where it stands alone.
fn band(curve: &DependenceCurve, (_, paint, dash, _): &Style, times: f64, alone: bool) -> Band {
    let half: Vec<f64> = curve.std.iter().map(|std| times * DEVIATIONS * std).collect();
    let known = alone && half.iter().any(|half| *half > 0.0);
    let mean = curve.mean.iter().map(|mean| times * mean).collect();
    Band { paint: *paint, dash, mean, half: if known { half } else { Vec::new() } }
}

fn axis<'a>(bands: impl Iterator<Item = &'a Band>, probability: bool) -> Axis {
    let ends = bands.flat_map(|band| {
        let half = |k: usize| band.half.get(k).copied().unwrap_or(0.0);
        let of_value = move |(k, mean): (usize, &f64)| [mean - half(k), mean + half(k)];
        band.mean.iter().enumerate().flat_map(of_value)
    });
    match probability {
        true => Axis::around(ends.map(|end| end.clamp(0.0, 100.0))),
        false => Axis::around(ends),
    }
}

/// How far the prediction moves.
fn spread(moved: &PartialDependence, styles: &[Style], probability: bool) -> String {
    let range = |(k, ..): &Style| {
        let mean = &moved.curves.get(*k)?.mean;
        let low = mean.iter().copied().fold(f64::INFINITY, f64::min);
        let high = mean.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low <= high).then_some((low, high))
    };
    let show = |value: f64| match probability {
        true => number_format::percent(value),
        false => number_format::significant(value, 3),
    };
    match styles.iter().filter_map(range).max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0))) {
        Some((low, high)) if styles.len() == 1 => format!("From {} to {}.", show(low), show(high)),
        Some((low, high)) => format!("The most changed class: from {} to {}.", show(low), show(high)),
        None => "No value is known.".into(),
    }
}
