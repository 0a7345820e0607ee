//! The confusion matrix as a heat map.

use super::frame::{Canvas, WIDTH, coordinate};
use crate::escape;
use crate::number_format;
use crate::palette::{ACCENT, GRID};

/// More classes do not fit.
pub(crate) const MAX_CLASSES: usize = 20;

/// Rows by true class, columns by predicted class; the colour is the share of the row.
pub(crate) fn draw(title: &str, classes: &[String], confusion: &[Vec<usize>], desc: &str) -> String {
    let k = classes.len().max(1);
    let names: Vec<String> =
        classes.iter().map(|name| escape::truncate(&escape::or_placeholder(name), 14).into_owned()).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(1);
    let mut canvas = Canvas::new(WIDTH, title);
    let left = longest as f64 * 7.4 + 16.0;
    let side = (WIDTH - left - 12.0) / k as f64;
    let height = side.min(44.0);
    // Names that are wider than a cell are rotated.
    let rotated = longest as f64 * 7.4 > side - 4.0;
    let above = if rotated { longest as f64 * 7.0 + 10.0 } else { 20.0 };
    canvas.text("y-title", 4.0, 44.0, "start", "True class (rows)");
    canvas.text("x-title", WIDTH - 12.0, 44.0, "end", "Predicted class (columns)");
    let top = 52.0 + above;
    for (row, counts) in confusion.iter().enumerate().take(names.len()) {
        let y = top + row as f64 * height;
        let total: usize = counts.iter().sum();
        canvas.text("tick", left - 8.0, y + height / 2.0 + 4.0, "end", &names[row]);
        for (column, &count) in counts.iter().enumerate().take(k) {
            let x = left + column as f64 * side;
            let share = count as f64 / total.max(1) as f64;
            let cell = [x + 0.75, y + 0.75, side - 1.5, height - 1.5];
            canvas.rect(GRID, cell, " rx=\"2\" fill-opacity=\"0.45\"");
            if count == 0 {
                continue;
            }
            // One row among thousands must still be visible.
            let opacity = format!(" rx=\"2\" fill-opacity=\"{}\"", coordinate(0.08 + 0.92 * share));
            canvas.rect(ACCENT, cell, &opacity);
            let text = number_format::count(count);
            if text.chars().count() as f64 * 6.6 < side - 2.0 {
                let class = if share > 0.5 { "on-accent" } else { "cell" };
                canvas.text(class, x + side / 2.0, y + height / 2.0 + 4.0, "middle", &text);
            }
        }
    }
    for (column, name) in names.iter().enumerate() {
        let x = left + (column as f64 + 0.5) * side;
        if rotated {
            let (x, y) = (coordinate(x + 4.0), coordinate(top - 7.0));
            canvas.body.push_str(&format!("<g transform=\"translate({x} {y}) rotate(-90)\">"));
            canvas.text("tick", 0.0, 0.0, "start", name);
            canvas.body.push_str("</g>\n");
        } else {
            canvas.text("tick", x, top - 7.0, "middle", name);
        }
    }
    canvas.close(top + k as f64 * height + 10.0, desc, "")
}
