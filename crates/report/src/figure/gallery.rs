//! The paper's figure: the pictures nearest to the inducing points, and beside them the pictures
//! that were moved towards them.

use super::frame::{Canvas, short};
use crate::palette::PAPER;
use crate::{Picture, sprite};
use std::fmt::Write;

/// Pictures in a row.
const ACROSS: usize = 8;
/// Of a grid.
const SIDE: f64 = 280.0;

/// Two grids side by side; pictures in the same place belong to the same inducing point.
pub(crate) fn draw(title: &str, nearest: &[&Picture], refined: &[&Picture], desc: &str) -> String {
    let grids = if refined.is_empty() { 1.0 } else { 2.0 };
    let mut canvas = Canvas::new(grids * SIDE + (grids - 1.0) * 20.0 + 8.0, title);
    canvas.text("x-title", 4.0, 42.0, "start", "Nearest pictures");
    let mut height = grid(&mut canvas, nearest, 4.0);
    if !refined.is_empty() {
        let left = SIDE + 24.0;
        canvas.text("y-title", left, 42.0, "start", "Moved towards the points");
        height = height.max(grid(&mut canvas, refined, left));
    }
    canvas.close(52.0 + height + 8.0, desc, "")
}

fn grid(canvas: &mut Canvas, pictures: &[&Picture], left: f64) -> f64 {
    let across = ACROSS.min(pictures.len().max(1));
    let (url, aspect) = sprite::single(pictures, across);
    // Tall and narrow pictures do not make an endless sheet.
    let width = (SIDE * across as f64 / ACROSS as f64).min(3.0 * SIDE * aspect);
    let height = width / aspect;
    let small = pictures.iter().all(|p| p.width.max(p.height) <= sprite::SMALL);
    let rendering =
        if small { " image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\"" } else { "" };
    let _ = writeln!(
        canvas.body,
        "<image x=\"{}\" y=\"52\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\"{rendering} href=\"{url}\"/>",
        short(left),
        short(width),
        short(height)
    );
    // Lines of paper between the pictures.
    let rows = pictures.len().div_ceil(across).max(1);
    let (mut lines, right, bottom) = (String::new(), left + width, 52.0 + height);
    for column in 1..across {
        let _ =
            write!(lines, "M{} 52V{}", short(left + width * column as f64 / across as f64), short(bottom));
    }
    for row in 1..rows {
        let _ = write!(
            lines,
            "M{} {}H{}",
            short(left),
            short(52.0 + height * row as f64 / rows as f64),
            short(right)
        );
    }
    if !lines.is_empty() {
        canvas.line(PAPER, 2.0, &lines, "");
    }
    height
}
