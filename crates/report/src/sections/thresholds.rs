//! ROC and precision–recall curves, and what becomes of the rows at a threshold.

use super::{Block, ClassColours, Context, Section, class_name, table};
use crate::figure::PageFigure;
use crate::figure::axis::Axis;
use crate::figure::curve::{Curves, Line};
use crate::figure::frame::Frame;
use crate::figure::legend::{self, Key};
use crate::number_format::{count, format_number, percent, significant};
use crate::page_data::rounded;
use crate::palette::{ACCENT, DASHES, MUTED};
use crate::{ClassThresholds, ClassificationRecord, OperatingPoint, TargetRecord, escape};
use serde_json::{Value, json};
use std::fmt::Write;

/// Thresholds of the table, in percent.
const SHOWN: [u32; 9] = [10, 20, 30, 40, 50, 60, 70, 80, 90];
const COLUMNS: [&str; 7] = [
    "Threshold",
    "Precision",
    "Recall",
    "True positives",
    "False positives",
    "False negatives",
    "True negatives",
];

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let record = context.model.targets.iter().find_map(|target| match target {
        TargetRecord::Classification(record) => Some(record),
        TargetRecord::Regression(_) => None,
    })?;
    if record.thresholds.is_empty() {
        return None;
    }
    let id = context.id("thresholds");
    let mut html = slider(&id, record);
    let two = record.classes.len() == 2;
    if let (true, [curve]) = (two, &record.thresholds[..]) {
        html += &threshold_table(curve);
    }
    html += &class_table(record);
    let intro = match two {
        true => format!(
            "A row is flagged as {}, the rarer class, where its probability reaches a threshold. A low threshold finds \
             more of them (recall) and flags more others (precision falls). 50\u{a0}% is right only where both kinds of \
             mistake cost the same.",
            name(record, record.thresholds[0].class, 40)
        ),
        false => {
            let n = record.thresholds.len() as f64;
            let macro_mean = |of: &dyn Fn(&ClassThresholds) -> f64| {
                format_number(record.thresholds.iter().map(of).sum::<f64>() / n)
            };
            let which = match record.classes.len() - record.thresholds.len().min(record.classes.len()) {
                0 => "",
                _ => "The most frequent classes are shown. ",
            };
            format!(
                "Each class against all others: a row is flagged as a class where its probability reaches a threshold. \
                 {which}Means over the classes (macro): average precision {}, AUROC {}.",
                macro_mean(&|curve| curve.average_precision),
                macro_mean(&|curve| curve.auroc)
            )
        }
    };
    let figures = vec![precision_recall(context, record), roc(context, record)];
    let blocks = vec![Block::Html(html), Block::Figures(figures)];
    Some(context.section("thresholds", "Precision, recall and thresholds", intro, blocks))
}

fn name(record: &ClassificationRecord, class: usize, max: usize) -> String {
    let name = escape::truncate(&class_name(record, class), max).into_owned();
    format!("<span class=\"name\">{}</span>", escape::text(&name))
}

/// Filled and moved by the page's script.
fn slider(id: &str, record: &ClassificationRecord) -> String {
    let mut choice = String::new();
    if record.thresholds.len() > 1 {
        let _ = write!(choice, "<label for=\"{id}-class\">Class</label> <select id=\"{id}-class\">");
        for (k, curve) in record.thresholds.iter().enumerate() {
            let name = escape::truncate(&class_name(record, curve.class), 40).into_owned();
            let _ = write!(choice, "<option value=\"{k}\">{}</option>", escape::text(&name));
        }
        choice += "</select> ";
    }
    format!(
        "<div class=\"threshold js\" data-of=\"{id}\">{choice}<label for=\"{id}-at\">Threshold</label> \
         <input type=\"range\" id=\"{id}-at\" min=\"0\" max=\"1\" step=\"1\" value=\"0\"> \
         <output for=\"{id}-at\" aria-live=\"polite\"></output></div>"
    )
}

/// Classes, their rows and operating points, for the page's script.
pub(crate) fn data(record: &ClassificationRecord) -> Value {
    let of_curve = |curve: &ClassThresholds| {
        let points: Vec<Value> = curve
            .points
            .iter()
            .map(|point| json!([rounded(point.threshold), point.true_positives, point.false_positives]))
            .collect();
        json!({ "positives": curve.positives, "negatives": curve.negatives, "points": points })
    };
    record.thresholds.iter().map(of_curve).collect()
}

fn threshold_table(curve: &ClassThresholds) -> String {
    let line = |share: &u32| {
        let nothing = OperatingPoint { threshold: 1.0, true_positives: 0, false_positives: 0 };
        let point = curve.at(f64::from(*share) / 100.0).unwrap_or(&nothing);
        let cells = vec![
            percent(curve.precision(point)),
            percent(curve.recall(point)),
            count(point.true_positives),
            count(point.false_positives),
            count(curve.positives - point.true_positives),
            count(curve.negatives - point.false_positives),
        ];
        (format!("{share}\u{a0}%"), cells)
    };
    table::html("thresholds", &COLUMNS, "", SHOWN.iter().map(line))
}

/// Scores of each class when the most probable one is chosen, and areas under its curves.
fn class_table(record: &ClassificationRecord) -> String {
    let columns = ["Class", "Rows", "Precision", "Recall", "F1", "Average precision", "AUROC"];
    let line = |curve: &ClassThresholds| {
        let scores = record.metrics.classes.get(curve.class);
        let score = |of: &dyn Fn(&inducing::metrics::ClassScores) -> f64| scores.map_or(f64::NAN, of);
        let cells = vec![
            count(curve.positives),
            percent(score(&|class| class.precision)),
            percent(score(&|class| class.recall)),
            significant(score(&|class| class.f1), 3),
            format_number(curve.average_precision),
            format_number(curve.auroc),
        ];
        (name(record, curve.class, 40), cells)
    };
    let caption = "Precision, recall and F1 where the most probable class is chosen";
    table::html("classes", &columns, caption, record.thresholds.iter().map(line))
}

fn precision_recall(context: Context<'_>, record: &ClassificationRecord) -> PageFigure {
    let at = |curve: &ClassThresholds, point: &OperatingPoint| {
        [100.0 * curve.recall(point), 100.0 * curve.precision(point)]
    };
    let mut lines = lines(record, &|curve| {
        let first = curve.points.first().map(|point| [0.0, at(curve, point)[1]]);
        first.into_iter().chain(curve.points.iter().map(|point| at(curve, point))).collect()
    });
    let mut keys = keys(record);
    if let ([curve], 2) = (&record.thresholds[..], record.classes.len()) {
        let share = 100.0 * curve.positives as f64 / (curve.positives + curve.negatives) as f64;
        lines.insert(0, Line::new(MUTED, "2 3", vec![[0.0, share], [100.0, share]]));
        keys.push(Key::Line(MUTED, "2 3", "by chance".into()));
    }
    let caption = format!(
        "Of the rows that a threshold flags, how many are right, against how many of the class it finds. The area below is \
         the average precision{}.",
        area(record, &|curve| curve.average_precision)
    );
    draw(
        context,
        "precision-recall",
        "Precision and recall",
        [
            "Recall: share of the class that is found (%)",
            "Precision: share of the flagged that are right (%)",
        ],
        (lines, keys, false),
        caption,
    )
}

fn roc(context: Context<'_>, record: &ClassificationRecord) -> PageFigure {
    let lines = lines(record, &|curve| {
        let at =
            |point: &OperatingPoint| [100.0 * curve.false_positive_rate(point), 100.0 * curve.recall(point)];
        std::iter::once([0.0, 0.0]).chain(curve.points.iter().map(at)).collect()
    });
    let caption = format!(
        "How many of the class are found, against how many others are flagged by mistake; the diagonal is chance. Where the \
         class is rare, precision and recall say more. The area below is the AUROC{}.",
        area(record, &|curve| curve.auroc)
    );
    draw(
        context,
        "roc",
        "ROC curve",
        [
            "False-positive rate: share of the others flagged (%)",
            "Recall: share of the class that is found (%)",
        ],
        (lines, keys(record), true),
        caption,
    )
}

/// Of a single curve.
fn area(record: &ClassificationRecord, of: &dyn Fn(&ClassThresholds) -> f64) -> String {
    match &record.thresholds[..] {
        [only] => format!(" ({})", format_number(of(only))),
        _ => " (in the table)".into(),
    }
}

fn lines(record: &ClassificationRecord, at: &dyn Fn(&ClassThresholds) -> Vec<[f64; 2]>) -> Vec<Line> {
    let colours = ClassColours::new(record);
    let line = |(k, curve): (usize, &ClassThresholds)| match record.thresholds.len() {
        1 => Line::new(ACCENT, "", at(curve)),
        _ => Line::new(colours.of(curve.class), DASHES[k % DASHES.len()], at(curve)),
    };
    record.thresholds.iter().enumerate().map(line).collect()
}

fn keys(record: &ClassificationRecord) -> Vec<Key> {
    let colours = ClassColours::new(record);
    let key = |(k, curve): (usize, &ClassThresholds)| {
        let (paint, dash) = match record.thresholds.len() {
            1 => (ACCENT, ""),
            _ => (colours.of(curve.class), DASHES[k % DASHES.len()]),
        };
        Key::Line(paint, dash, legend::name(&class_name(record, curve.class)))
    };
    record.thresholds.iter().enumerate().map(key).collect()
}

fn draw(
    context: Context<'_>,
    id: &str,
    title: &'static str,
    [x_title, y_title]: [&str; 2],
    (lines, legend, diagonal): (Vec<Line>, Vec<Key>, bool),
    caption: String,
) -> PageFigure {
    let curves = Curves {
        frame: Frame {
            title,
            x_title,
            y_title,
            x: Axis::exact(0.0, 100.0),
            y: Axis::exact(0.0, 100.0),
            legend,
            height: 280.0,
        },
        lines,
        diagonal,
        desc: "One line for each class that is told apart from the others.",
    };
    PageFigure::new(context.id(id), title, curves.draw(), caption)
}
