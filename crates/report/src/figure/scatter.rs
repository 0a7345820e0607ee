//! Scatter plots: one path for each colour, so that thousands of points draw fast.
//!
//! Each mark is `M x y` followed by relative commands: the page's script moves marks by rewriting `x y`.

use super::frame::{Frame, coordinate};
use super::legend::{CROSS, DIAMOND};
use crate::palette::{INK, MUTED, PAPER, Paint};
use std::fmt::Write;

/// Shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Dot,
    Cross,
    Diamond,
}

/// Marks of one shape and colour.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) shape: Shape,
    pub(crate) paint: Paint,
    /// Id and values of each mark.
    pub(crate) marks: Vec<(i64, [f64; 2])>,
}

/// A dashed line for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guide {
    None,
    /// Where both values are the same.
    Diagonal,
    /// Where the vertical value is zero.
    Zero,
}

/// A scatter plot.
#[derive(Debug)]
pub(crate) struct Scatter<'a> {
    /// Unique among all figures of a page.
    pub(crate) name: &'a str,
    pub(crate) frame: Frame<'a>,
    /// PageFigure in this order.
    pub(crate) groups: Vec<Group>,
    /// What is exact.
    pub(crate) guide: Guide,
    pub(crate) desc: &'a str,
}

impl Scatter<'_> {
    /// The drawing, and the ids of its marks in order. Marks that are not finite are left out.
    pub(crate) fn draw(&self) -> (String, Vec<i64>) {
        let (mut canvas, area, bottom) = self.frame.open();
        let total: usize = self.groups.iter().map(|g| g.marks.len()).sum();
        let dot = match total {
            0..=150 => 8.0,
            151..=600 => 6.0,
            _ => 4.6,
        };
        let clip = format!("clip-{}", self.name);
        let [left, top, width, height] = [area.left, area.top, area.width, area.height];
        let _ = writeln!(
            canvas.body,
            "<clipPath id=\"{clip}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n\
             <g clip-path=\"url(#{clip})\">",
            coordinate(left - 4.0),
            coordinate(top - 4.0),
            coordinate(width + 8.0),
            coordinate(height + 8.0)
        );
        let [low, high] = [area.x.low.max(area.y.low), area.x.high.min(area.y.high)];
        let ends = match self.guide {
            Guide::None => None,
            Guide::Diagonal => area.at(low, low).zip(area.at(high, high)),
            Guide::Zero => area.at(area.x.low, 0.0).zip(area.at(area.x.high, 0.0)),
        };
        if let Some(([x0, y0], [x1, y1])) = ends {
            let d = format!("M{} {}L{} {}", coordinate(x0), coordinate(y0), coordinate(x1), coordinate(y1));
            canvas.line(MUTED, 1.2, &d, " stroke-dasharray=\"5 4\" data-line=\"\"");
        }
        let mut order = Vec::new();
        for group in &self.groups {
            let mut d = String::new();
            for &(id, [x, y]) in &group.marks {
                let Some([x, y]) = area.at(x, y) else { continue };
                let _ = write!(d, "M{} {}{}", coordinate(x), coordinate(y), group.shape.path());
                order.push(id);
            }
            if d.is_empty() {
                continue;
            }
            match group.shape {
                Shape::Dot => {
                    canvas.line(
                        group.paint,
                        dot,
                        &d,
                        " stroke-linecap=\"round\" stroke-opacity=\"0.8\" data-marks=\"\"",
                    );
                }
                Shape::Cross => {
                    canvas.line(group.paint, 2.0, &d, " stroke-linecap=\"round\" data-marks=\"\"")
                }
                Shape::Diamond => {
                    // Many filled diamonds would hide the rows beneath.
                    let (width, fill) = if group.marks.len() > 64 { (0.8, 0.0) } else { (1.6, 0.9) };
                    let _ = writeln!(
                        canvas.body,
                        "<path class=\"s-ink f-paper\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{width}\" \
                         fill-opacity=\"{fill}\" d=\"{d}\" data-marks=\"\"/>",
                        PAPER.hex, INK.hex
                    );
                }
            }
        }
        canvas.body.push_str("</g>\n");
        let more = format!(
            "{} data-x=\"{:e} {:e}\" data-y=\"{:e} {:e}\"",
            area.attribute(),
            area.x.low,
            area.x.high,
            area.y.low,
            area.y.high
        );
        (canvas.close(bottom, self.desc, &more), order)
    }
}

impl Shape {
    fn path(self) -> &'static str {
        match self {
            Self::Dot => "h0",
            Self::Cross => CROSS,
            Self::Diamond => DIAMOND,
        }
    }
}
