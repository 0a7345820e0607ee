//! The legend: keys above the plotting area.

use super::frame::{Canvas, coordinate};
use crate::escape;
use crate::palette::{INK, PAPER, Paint, SEQUENCE};
use std::fmt::Write;

/// One entry.
#[derive(Debug, Clone)]
pub(crate) enum Key {
    /// A dot.
    Dot(Paint, String),
    /// A cross.
    Cross(String),
    /// An inducing point.
    Diamond(String),
    /// A line with its dashes.
    Line(Paint, &'static str, String),
    /// The colour scale: its name, and the values at its ends.
    Ramp(String, String, String),
}

const ROW: f64 = 19.0;
/// Width of a letter, in the wider of the fonts.
const LETTER: f64 = 7.3;
const STEP: f64 = 15.0;

/// Draws the keys from `top` on; returns where they end.
pub(crate) fn draw(canvas: &mut Canvas, keys: &[Key], top: f64) -> f64 {
    if keys.is_empty() {
        return top - 6.0;
    }
    let (mut x, mut y) = (4.0, top);
    for key in keys {
        let width = width(key);
        if x > 4.0 && x + width > canvas.width - 8.0 {
            (x, y) = (4.0, y + ROW);
        }
        entry(canvas, key, x, y);
        x += width;
    }
    y + ROW + 3.0
}

fn letters(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

fn width(key: &Key) -> f64 {
    match key {
        Key::Dot(_, text) | Key::Cross(text) | Key::Diamond(text) => letters(text) + 28.0,
        Key::Line(_, _, text) => letters(text) + 44.0,
        Key::Ramp(name, low, high) => letters(name) + letters(low) + letters(high) + 40.0 + STEP * 7.0,
    }
}

fn entry(canvas: &mut Canvas, key: &Key, x: f64, y: f64) {
    let middle = y + 5.0;
    match key {
        Key::Dot(paint, text) => {
            let fill = paint.fill();
            let _ = writeln!(
                canvas.body,
                "<circle {fill} cx=\"{}\" cy=\"{}\" r=\"4.5\"/>",
                coordinate(x + 6.0),
                coordinate(middle)
            );
            canvas.text("key", x + 16.0, y + 9.0, "start", text);
        }
        Key::Cross(text) => {
            let at = format!("M{} {}{CROSS}", coordinate(x + 6.0), coordinate(middle));
            canvas.line(INK, 1.8, &at, " stroke-linecap=\"round\"");
            canvas.text("key", x + 16.0, y + 9.0, "start", text);
        }
        Key::Diamond(text) => {
            let (fill, at) = (PAPER.hex, format!("M{} {}{DIAMOND}", coordinate(x + 6.0), coordinate(middle)));
            let _ = writeln!(
                canvas.body,
                "<path class=\"s-ink f-paper\" fill=\"{fill}\" stroke=\"{}\" stroke-width=\"1.6\" d=\"{at}\"/>",
                INK.hex
            );
            canvas.text("key", x + 16.0, y + 9.0, "start", text);
        }
        Key::Line(paint, dash, text) => {
            let at = format!("M{} {}h24", coordinate(x + 1.0), coordinate(middle));
            let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
            canvas.line(*paint, 2.2, &at, &dash);
            canvas.text("key", x + 31.0, y + 9.0, "start", text);
        }
        Key::Ramp(name, low, high) => {
            canvas.text("key", x, y + 9.0, "start", &format!("{name}:"));
            let from = x + letters(name) + 12.0;
            canvas.text("key", from, y + 9.0, "start", low);
            let from = from + letters(low) + 5.0;
            for (k, paint) in SEQUENCE.iter().enumerate() {
                canvas.rect(*paint, [from + k as f64 * STEP, y, STEP, 10.0], "");
            }
            canvas.text("key", from + STEP * 7.0 + 5.0, y + 9.0, "start", high);
        }
    }
}

/// Relative to the centre.
pub(crate) const CROSS: &str = "m-3.4-3.4l6.8 6.8m0-6.8l-6.8 6.8";
/// Relative to the centre.
pub(crate) const DIAMOND: &str = "m0-6l5 6-5 6-5-6z";

/// A name that fits into a key.
pub(crate) fn name(raw: &str) -> String {
    escape::truncate(&escape::or_placeholder(raw), 22).into_owned()
}
