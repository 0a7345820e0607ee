//! Coverage and risk–coverage curves, of one model or of several.

use super::unit;
use crate::figure::PageFigure;
use crate::figure::axis::Axis;
use crate::figure::curve::{Curves, Line};
use crate::figure::frame::Frame;
use crate::figure::legend::{self, Key};
use crate::palette::{ACCENT, OTHERS, Paint};
use crate::{CoveragePoint, RegressionRecord};

/// A line and its name in the legend.
pub(super) type Named = (Line, String);

pub(super) const CALIBRATED: &str = "calibrated";
pub(super) const UNCALIBRATED: &str = "uncalibrated";

pub(super) fn coverage_lines(record: &RegressionRecord) -> Vec<Named> {
    let line = |value: &dyn Fn(&CoveragePoint) -> f64| {
        record.coverage.iter().map(|c| [100.0 * c.level, 100.0 * value(c)]).collect::<Vec<_>>()
    };
    let calibrated = (Line::new(ACCENT, "", line(&|c| c.calibrated)), CALIBRATED.to_owned());
    let uncalibrated = (Line::new(OTHERS, "6 4", line(&|c| c.uncalibrated)), UNCALIBRATED.to_owned());
    let differs = record.coverage.iter().any(|c| c.uncalibrated != c.calibrated);
    if differs { vec![uncalibrated, calibrated] } else { vec![calibrated] }
}

pub(super) fn coverage(name: &str, lines: &[Named]) -> PageFigure {
    calibration_plot(
        name,
        lines,
        "Coverage of prediction intervals",
        ["Nominal level of the interval (%)", "Empirical coverage: rows inside (%)"],
        "Share of rows inside their prediction interval against its level; the dotted diagonal is perfect.",
        "A 90 % prediction interval should contain 90 % of the observations (dotted line). Below the line the model is \
         overconfident, above it underconfident.",
    )
}

/// Both axes from 0 to 100 %, with the diagonal.
pub(super) fn calibration_plot(
    name: &str,
    lines: &[Named],
    title: &str,
    [x_title, y_title]: [&str; 2],
    desc: &str,
    caption: &str,
) -> PageFigure {
    let key = |(line, text): &Named| Key::Line(line.paint, line.dash, legend::name(text));
    let curves = Curves {
        frame: Frame {
            title,
            x_title,
            y_title,
            x: Axis::exact(0.0, 100.0),
            y: Axis::exact(0.0, 100.0),
            legend: lines.iter().map(key).collect(),
            height: 280.0,
        },
        lines: lines.iter().map(|(line, _)| line.clone()).collect(),
        diagonal: true,
        desc,
    };
    PageFigure::new(name, title, curves.draw(), caption.into())
}

/// Vertical axis of a classifier's risk–coverage curve.
pub(super) const ERROR_RATE: &str = "Error rate of the rows kept (%)";

/// Vertical axis of a regressor's risk–coverage curve.
pub(super) fn rmse_of_kept(record: &RegressionRecord) -> String {
    format!("RMSE of the rows kept ({})", unit(&record.name))
}

/// Colour, dashes, shares and errors, name.
pub(super) type RiskLine<'a> = (Paint, &'static str, &'a [[f64; 2]], String);

pub(super) fn risk(name: &str, y_title: &str, lines: &[RiskLine<'_>]) -> PageFigure {
    let title = "Error without the least certain rows";
    let times = if y_title == ERROR_RATE { 100.0 } else { 1.0 };
    let drawn: Vec<Line> = lines
        .iter()
        .map(|(paint, dash, risk, _)| {
            Line::new(*paint, dash, risk.iter().map(|[kept, error]| [100.0 * kept, times * error]).collect())
        })
        .collect();
    let named = lines.iter().filter(|(_, _, _, text)| !text.is_empty());
    let curves = Curves {
        frame: Frame {
            title,
            x_title: "Rows kept, most certain first (%)",
            y_title,
            x: Axis::exact(0.0, 100.0),
            y: Axis::from_zero(drawn.iter().flat_map(|l| &l.at).map(|at| at[1]).chain([0.0])),
            legend: named.map(|(paint, dash, _, text)| Key::Line(*paint, dash, legend::name(text))).collect(),
            height: 240.0,
        },
        lines: drawn,
        diagonal: false,
        desc: "Error of the rows that remain when the least certain are dropped.",
    };
    let perfect = curves.lines.iter().flat_map(|line| &line.at).all(|at| at[1] == 0.0);
    let caption = match perfect {
        true => "Risk–coverage curve: there are no errors, whatever share of the rows is kept.",
        false => {
            "Risk–coverage curve: the error of the rows that remain when the least certain are dropped. It should rise to \
             the right; a flat line means that the uncertainty says nothing about the error."
        }
    };
    PageFigure::new(name, title, curves.draw(), caption.into())
}
