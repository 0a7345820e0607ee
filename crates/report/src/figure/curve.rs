//! Line plots: calibration and risk–coverage curves.

use super::frame::{Area, Canvas, Frame, coordinate};
use crate::palette::{MUTED, Paint};
use std::fmt::Write;

/// One line.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) paint: Paint,
    pub(crate) dash: &'static str,
    pub(crate) at: Vec<[f64; 2]>,
    /// Radius of the dot at each point; no dots if empty.
    pub(crate) dots: Vec<f64>,
    /// Both ends of the error bar at each point; no bars if empty.
    pub(crate) bars: Vec<[f64; 2]>,
}

/// Lines in one plot.
#[derive(Debug)]
pub(crate) struct Curves<'a> {
    pub(crate) frame: Frame<'a>,
    pub(crate) lines: Vec<Line>,
    /// Whether the diagonal is drawn.
    pub(crate) diagonal: bool,
    pub(crate) desc: &'a str,
}

impl Curves<'_> {
    pub(crate) fn draw(&self) -> String {
        let (mut canvas, area, bottom) = self.frame.open();
        if self.diagonal
            && let (Some([x0, y0]), Some([x1, y1])) =
                (area.at(area.x.low, area.y.low), area.at(area.x.high, area.y.high))
        {
            let d = format!("M{} {}L{} {}", coordinate(x0), coordinate(y0), coordinate(x1), coordinate(y1));
            canvas.line(MUTED, 1.2, &d, " stroke-dasharray=\"2 3\"");
        }
        for line in &self.lines {
            line.draw(&mut canvas, &area);
        }
        canvas.close(bottom, self.desc, &area.attribute())
    }
}

impl Line {
    /// A line without dots.
    pub(crate) fn new(paint: Paint, dash: &'static str, at: Vec<[f64; 2]>) -> Self {
        Self { paint, dash, at, dots: Vec::new(), bars: Vec::new() }
    }

    /// The line has gaps where a value is not finite; a value between two gaps is a dot.
    pub(crate) fn draw(&self, canvas: &mut Canvas, area: &Area) {
        let mut d = String::new();
        let mut pen_down = false;
        let places: Vec<_> = self.at.iter().map(|&[x, y]| area.at(x, y)).collect();
        for (k, place) in places.iter().enumerate() {
            let Some([x, y]) = place else {
                pen_down = false;
                continue;
            };
            let _ = write!(d, "{}{} {}", if pen_down { "L" } else { "M" }, coordinate(*x), coordinate(*y));
            if !pen_down && places.get(k + 1).is_none_or(Option::is_none) {
                d.push_str("h0");
            }
            pen_down = true;
        }
        if d.is_empty() {
            return;
        }
        let dash =
            if self.dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", self.dash) };
        let lonely = if d.contains('h') { " stroke-linecap=\"round\"" } else { "" };
        canvas.line(
            self.paint,
            if lonely.is_empty() { 2.2 } else { 4.0 },
            &d,
            &format!("{dash}{lonely} stroke-linejoin=\"round\""),
        );
        for (place, ends) in self.at.iter().zip(&self.bars) {
            let [from, to] = ends.map(|end| area.at(place[0], end));
            if let (Some([x, y0]), Some([_, y1])) = (from, to) {
                let (left, y0, y1) = (coordinate(x - 3.0), coordinate(y0), coordinate(y1));
                let d = format!("M{left} {y0}h6M{left} {y1}h6M{} {y0}V{y1}", coordinate(x));
                canvas.line(self.paint, 1.4, &d, "");
            }
        }
        for (place, radius) in places.iter().zip(&self.dots) {
            if let Some([x, y]) = place
                && *radius > 0.0
            {
                let fill = self.paint.fill();
                let _ = writeln!(
                    canvas.body,
                    "<circle {fill} cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                    coordinate(*x),
                    coordinate(*y),
                    coordinate(*radius)
                );
            }
        }
    }
}
