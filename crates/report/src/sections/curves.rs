//! Lines that say whether stated uncertainties can be trusted, of one model or of several.

use super::unit;
use crate::figure::Drawn;
use crate::figure::axis::Axis;
use crate::figure::curve::{Curves, Line};
use crate::figure::frame::Frame;
use crate::figure::legend::{self, Key};
use crate::palette::{ACCENT, OTHERS, Paint};
use crate::{ClassRecord, Coverage, NumberRecord};
use ign::class_metrics::Bin;

/// A line of [`coverage`] or [`reliability`], and what it is.
pub(super) type Named = (Line, String);

pub(super) fn coverage_lines(record: &NumberRecord) -> Vec<Named> {
    let line = |value: &dyn Fn(&Coverage) -> f64| {
        record.coverage.iter().map(|c| [100.0 * c.level, 100.0 * value(c)]).collect::<Vec<_>>()
    };
    let after = (Line::new(ACCENT, "", line(&|c| c.after)), "as delivered".to_owned());
    let differs = record.coverage.iter().any(|c| c.before != c.after);
    let before = (Line::new(OTHERS, "6 4", line(&|c| c.before)), "before recalibration".to_owned());
    if differs { vec![before, after] } else { vec![after] }
}

pub(super) fn coverage(name: &str, lines: &[Named]) -> Drawn {
    let title = "Do intervals hold what they promise?";
    let curves = Curves {
        frame: Frame {
            title,
            x_title: "Promised: level of the interval (%)",
            y_title: "Held: rows inside their interval (%)",
            x: Axis::exact(0.0, 100.0),
            y: Axis::exact(0.0, 100.0),
            legend: keys(lines),
            height: 280.0,
        },
        lines: lines.iter().map(|(line, _)| line.clone()).collect(),
        diagonal: true,
        desc: "Share of rows inside their central interval against its level; the dotted diagonal is perfect.",
    };
    let caption = "A 90 % interval should hold 90 % of the observations: on the dotted line. Below it the model is too \
                   sure of itself, above it too careful.";
    Drawn::new(name, title, curves.draw(), caption.into())
}

pub(super) fn reliability_line(bins: &[Bin]) -> (Vec<[f64; 2]>, Vec<f64>) {
    let most = bins.iter().map(|b| b.count).max().unwrap_or(0).max(1) as f64;
    let filled = || bins.iter().filter(|b| b.count > 0);
    let at = filled().filter_map(|b| Some([100.0 * b.confidence?, 100.0 * b.accuracy?])).collect();
    (at, filled().map(|b| 2.0 + 5.0 * (b.count as f64 / most).sqrt()).collect())
}

pub(super) fn reliability_lines(record: &ClassRecord) -> Vec<Named> {
    let line = |paint, dash, bins: &[_]| {
        let (at, dots) = reliability_line(bins);
        Line { paint, dash, at, dots }
    };
    let before = record.metrics.uncalibrated.as_ref();
    before
        .filter(|before| before.reliability != record.metrics.reliability)
        .map(|u| (line(OTHERS, "6 4", &u.reliability), "before recalibration".to_owned()))
        .into_iter()
        .chain([(line(ACCENT, "", &record.metrics.reliability), "as delivered".to_owned())])
        .collect()
}

pub(super) fn reliability(name: &str, lines: &[Named]) -> Drawn {
    let title = "Are probabilities what they say?";
    let curves = Curves {
        frame: Frame {
            title,
            x_title: "Stated: probability of the predicted class (%)",
            y_title: "True: predictions that are right (%)",
            x: Axis::exact(0.0, 100.0),
            y: Axis::exact(0.0, 100.0),
            legend: keys(lines),
            height: 280.0,
        },
        lines: lines.iter().map(|(line, _)| line.clone()).collect(),
        diagonal: true,
        desc: "Share of right predictions against their stated probability; the dotted diagonal is perfect.",
    };
    let caption = "Of all predictions made with 80 %, 80 % should be right: on the dotted line. Each dot is a group of \
                   rows of similar confidence; the larger the dot, the more rows.";
    Drawn::new(name, title, curves.draw(), caption.into())
}

fn keys(lines: &[Named]) -> Vec<Key> {
    lines.iter().map(|(line, says)| Key::Line(line.paint, line.dash, legend::name(says))).collect()
}

/// What errors of classes are called.
pub(super) const CLASS_RISK: &str = "Mistakes among the rows kept (%)";

pub(super) fn number_risk(record: &NumberRecord) -> String {
    format!("RMSE of the rows kept ({})", unit(&record.name))
}

/// Colour, dashes, shares and errors, name.
pub(super) type RiskLine<'a> = (Paint, &'static str, &'a [[f64; 2]], String);

pub(super) fn risk(name: &str, y_title: &str, lines: &[RiskLine<'_>]) -> Drawn {
    let title = "Errors when only the surest are kept";
    let times = if y_title == CLASS_RISK { 100.0 } else { 1.0 };
    let drawn: Vec<Line> = lines
        .iter()
        .map(|(paint, dash, risk, _)| {
            Line::new(*paint, dash, risk.iter().map(|[kept, error]| [100.0 * kept, times * error]).collect())
        })
        .collect();
    let named = lines.iter().filter(|(_, _, _, says)| !says.is_empty());
    let curves = Curves {
        frame: Frame {
            title,
            x_title: "Rows kept, the surest first (%)",
            y_title,
            x: Axis::exact(0.0, 100.0),
            y: Axis::from_zero(drawn.iter().flat_map(|l| &l.at).map(|at| at[1]).chain([0.0])),
            legend: named.map(|(paint, dash, _, says)| Key::Line(*paint, dash, legend::name(says))).collect(),
            height: 240.0,
        },
        lines: drawn,
        diagonal: false,
        desc: "Error of the rows that remain when the least certain are left out.",
    };
    let none = curves.lines.iter().flat_map(|line| &line.at).all(|at| at[1] == 0.0);
    let caption = if none {
        "Nothing is wrong, whatever is kept."
    } else {
        "If the least certain rows are given to someone else, the error of the rest should fall: the line should rise to the \
         right. A flat line would mean that the stated uncertainty says nothing."
    };
    Drawn::new(name, title, curves.draw(), caption.into())
}
