//! What all figures with two axes share: background, title, legend, grid, ticks and axis titles.
//!
//! ```text
//! title
//! legend
//! y title
//! 10 ┤
//!  5 ┤        area
//!  0 └────┬────┬────
//!         1    2
//!              x title
//! ```

use super::axis::{Axis, Tick};
use super::legend::{self, Key};
use crate::escape;
use crate::palette::{GRID, INK, MUTED, PAPER, Paint};
use std::fmt::Write;

/// Width of the figures, in SVG units.
pub(crate) const WIDTH: f64 = 440.0;
/// Width of a letter of a tick label. Generous: the page enlarges them on phones.
const LETTER: f64 = 7.8;

/// An SVG in the making.
#[derive(Debug)]
pub(crate) struct Canvas {
    pub(crate) width: f64,
    pub(crate) body: String,
    title: String,
}

/// The plotting area.
#[derive(Debug, Clone)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

/// Everything around the data.
#[derive(Debug, Clone)]
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_title: &'a str,
    pub(crate) y_title: &'a str,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) legend: Vec<Key>,
    /// Height of the area.
    pub(crate) height: f64,
}

impl Frame<'_> {
    /// Draws everything but the data. Returns the plotting area and the height of the whole drawing.
    pub(crate) fn open(&self) -> (Canvas, Area, f64) {
        self.open_wide(WIDTH)
    }

    /// The same of another width.
    pub(crate) fn open_wide(&self, width: f64) -> (Canvas, Area, f64) {
        let mut canvas = Canvas::new(width, self.title);
        let top = legend::draw(&mut canvas, &self.legend, 34.0);
        let y_ticks = self.y.ticks(5);
        let area = Area::beneath(&mut canvas, self, top, &y_ticks);
        canvas.x_axis(&area, &area.x_ticks(), true);
        canvas.text(
            "x-title",
            area.left + area.width / 2.0,
            area.top + area.height + 38.0,
            "middle",
            self.x_title,
        );
        let bottom = area.top + area.height + 48.0;
        (canvas, area, bottom)
    }
}

impl Area {
    /// Draws the vertical axis and its title beneath `top`.
    pub(crate) fn beneath(canvas: &mut Canvas, frame: &Frame<'_>, top: f64, y_ticks: &[Tick]) -> Self {
        let letters = y_ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(1);
        let left = (letters as f64 * LETTER + 12.0).clamp(28.0, 130.0);
        canvas.text("y-title", 4.0, top + 10.0, "start", frame.y_title);
        let area = Self {
            left,
            top: top + 25.0,
            width: canvas.width - left - 16.0,
            height: frame.height,
            x: frame.x.clone(),
            y: frame.y.clone(),
        };
        canvas.y_axis(&area, y_ticks);
        area
    }

    /// As many ticks as fit.
    pub(crate) fn x_ticks(&self) -> Vec<Tick> {
        let mut wanted = (self.width / 68.0) as usize;
        loop {
            let ticks = self.x.ticks(wanted);
            let letters = ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(1);
            let each = self.width / ticks.len().saturating_sub(1).max(1) as f64;
            if wanted <= 1 || letters as f64 * LETTER + 14.0 < each {
                return ticks;
            }
            wanted -= 1;
        }
    }

    /// Attributes of the drawing that tell the page's script where the area is.
    pub(crate) fn attribute(&self) -> String {
        let [left, top, width, height] = [self.left, self.top, self.width, self.height].map(coordinate);
        format!(" data-area=\"{left} {top} {width} {height}\"")
    }

    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn x(&self, value: f64) -> Option<f64> {
        Some(self.left + self.x.position(value)? * self.width)
    }

    pub(crate) fn y(&self, value: f64) -> Option<f64> {
        Some(self.top + (1.0 - self.y.position(value)?) * self.height)
    }

    /// Coordinates of a point; `None` if it is not finite.
    pub(crate) fn at(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        (x.is_finite() && y.is_finite()).then_some(())?;
        Some([self.x(x)?, self.y(y)?])
    }
}

impl Canvas {
    pub(crate) fn new(width: f64, title: &str) -> Self {
        let mut canvas = Self { width, body: String::new(), title: title.into() };
        canvas.text("title", 4.0, 18.0, "start", title);
        canvas
    }

    /// A line of text in the style of its class.
    pub(crate) fn text(&mut self, class: &str, x: f64, y: f64, anchor: &str, text: &str) {
        let (size, paint, more) = match class {
            "title" => (14, INK, " font-weight=\"600\""),
            "x-title" | "y-title" => (12, MUTED, ""),
            "on-accent" => (12, PAPER, ""),
            "cell" => (12, INK, ""),
            _ => (12, MUTED, ""),
        };
        let anchor = if anchor == "start" { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        let (x, y, text) = (coordinate(x), coordinate(y), escape::text(text));
        let hex = paint.hex;
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{hex}\"{anchor}{more}>{text}</text>"
        );
    }

    /// A path; `more` are further attributes.
    pub(crate) fn line(&mut self, paint: Paint, width: f64, d: &str, more: &str) {
        let stroke = paint.stroke();
        let _ =
            writeln!(self.body, "<path {stroke} stroke-width=\"{}\" d=\"{d}\"{more}/>", coordinate(width));
    }

    /// A filled rectangle.
    pub(crate) fn rect(&mut self, paint: Paint, [x, y, w, h]: [f64; 4], more: &str) {
        let fill = paint.fill();
        let [x, y, w, h] = [x, y, w.max(0.0), h.max(0.0)].map(coordinate);
        let _ = writeln!(self.body, "<rect {fill} x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"{more}/>");
    }

    /// Grid lines and labels of the horizontal axis.
    pub(crate) fn x_axis(&mut self, area: &Area, ticks: &[Tick], labels: bool) {
        self.body.push_str("<g class=\"x-ticks\">\n");
        for (value, text) in ticks {
            let Some(x) = area.x(*value) else { continue };
            self.line(
                GRID,
                1.0,
                &format!("M{} {}V{}", coordinate(x), coordinate(area.top), coordinate(area.bottom())),
                "",
            );
            if labels {
                self.text("tick", x, area.bottom() + 17.0, "middle", text);
            }
        }
        self.body.push_str("</g>\n");
        let base =
            format!("M{} {}H{}", coordinate(area.left), coordinate(area.bottom()), coordinate(area.right()));
        self.line(MUTED, 1.0, &base, " stroke-opacity=\"0.5\"");
    }

    /// Grid lines and labels of the vertical axis.
    pub(crate) fn y_axis(&mut self, area: &Area, ticks: &[Tick]) {
        self.body.push_str("<g class=\"y-ticks\">\n");
        for (value, text) in ticks {
            let Some(y) = area.y(*value) else { continue };
            self.line(
                GRID,
                1.0,
                &format!("M{} {}H{}", coordinate(area.left), coordinate(y), coordinate(area.right())),
                "",
            );
            self.text("tick", area.left - 7.0, y + 4.0, "end", text);
        }
        self.body.push_str("</g>\n");
    }

    /// The whole drawing; `more` are further attributes of its root.
    pub(crate) fn close(self, height: f64, desc: &str, more: &str) -> String {
        let (width, height) = (coordinate(self.width), coordinate(height.ceil()));
        let (label, desc, paper) = (escape::text(&self.title), escape::text(desc), PAPER.fill());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{label}\" \
             font-family=\"system-ui,'DejaVu Sans',sans-serif\"{more}>\n<desc>{desc}</desc>\n\
             <rect {paper} width=\"{width}\" height=\"{height}\"/>\n{}</svg>",
            self.body
        )
    }
}

/// At most two decimals, and always finite.
pub(crate) fn coordinate(x: f64) -> String {
    let x = if x.is_finite() { x.clamp(-1e5, 1e5) } else { 0.0 };
    let written = format!("{x:.2}");
    let written = written.trim_end_matches('0').trim_end_matches('.');
    if written == "-0" { "0".into() } else { written.into() }
}
