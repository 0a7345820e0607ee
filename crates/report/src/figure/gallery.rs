//! The paper's figure of the inducing points: the nearest images and, beside them, the same images refined.

use super::frame::{Canvas, coordinate};
use crate::palette::PAPER;
use crate::{Body, Example, Image, InducingPointRecord, sprite};
use std::fmt::Write;

/// Images in a row.
const ACROSS: usize = 8;
/// Width of a full grid.
const SIDE: f64 = 280.0;
/// Title of the figure.
pub(crate) const TITLE: &str = "Inducing points as images";

/// The drawing, and whether it has refined images.
pub(crate) struct Gallery {
    pub(crate) svg: String,
    pub(crate) refined: bool,
}

/// One image for each inducing point, or two grids side by side where images were refined: those at the same position
/// belong to the same inducing point. `None` where examples are not images.
pub(crate) fn draw<'a>(
    points: impl Iterator<Item = &'a InducingPointRecord>,
    examples: &'a [Example],
) -> Option<Gallery> {
    let image = |example: usize| match &examples.get(example)?.body {
        Body::Image(image) => Some(image),
        Body::Cells(_) | Body::Graph(_) => None,
    };
    let pairs = points.filter_map(|point| {
        let refined = point.refined.as_ref().and_then(|refined| image(refined.example));
        Some((image(point.nearest.first()?.example)?, refined))
    });
    let (nearest, refined): (Vec<&Image>, Vec<Option<&Image>>) = pairs.unzip();
    if nearest.is_empty() {
        return None;
    }
    let any_refined = refined.iter().any(Option::is_some);
    let grids = if any_refined { 2.0 } else { 1.0 };
    let mut canvas = Canvas::new(grids * SIDE + (grids - 1.0) * 20.0 + 8.0, TITLE);
    canvas.text("x-title", 4.0, 42.0, "start", "Nearest images");
    let mut height = grid(&mut canvas, &nearest, 4.0);
    if any_refined {
        // Where an image was not refined the nearest one stands in, so that positions still match.
        let refined: Vec<&Image> = nearest.iter().zip(refined).map(|(n, r)| r.unwrap_or(n)).collect();
        let left = SIDE + 24.0;
        canvas.text("y-title", left, 42.0, "start", "Refined images");
        height = height.max(grid(&mut canvas, &refined, left));
    }
    let desc =
        "The images nearest to the inducing points and, at the same positions, the same images refined.";
    Some(Gallery { svg: canvas.close(52.0 + height + 8.0, desc, ""), refined: any_refined })
}

fn grid(canvas: &mut Canvas, images: &[&Image], left: f64) -> f64 {
    let across = ACROSS.min(images.len().max(1));
    let (url, aspect) = sprite::single(images, across);
    // Bounded, however tall and narrow the images are.
    let width = (SIDE * across as f64 / ACROSS as f64).min(3.0 * SIDE * aspect);
    let height = width / aspect;
    let small = images.iter().all(|p| p.width.max(p.height) <= sprite::SMALL);
    let rendering =
        if small { " image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\"" } else { "" };
    let _ = writeln!(
        canvas.body,
        "<image x=\"{}\" y=\"52\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\"{rendering} href=\"{url}\"/>",
        coordinate(left),
        coordinate(width),
        coordinate(height)
    );
    // White lines between the images.
    let rows = images.len().div_ceil(across).max(1);
    let (mut lines, right, bottom) = (String::new(), left + width, 52.0 + height);
    for column in 1..across {
        let _ = write!(
            lines,
            "M{} 52V{}",
            coordinate(left + width * column as f64 / across as f64),
            coordinate(bottom)
        );
    }
    for row in 1..rows {
        let _ = write!(
            lines,
            "M{} {}H{}",
            coordinate(left),
            coordinate(52.0 + height * row as f64 / rows as f64),
            coordinate(right)
        );
    }
    if !lines.is_empty() {
        canvas.line(PAPER, 2.0, &lines, "");
    }
    height
}
