//! The wave as a drawing: training rows, the truth, the prediction with its intervals of 50 and of 90 %.

use crate::away::WAVE;
use crate::experiment::{Experiment, Preset};
use crate::page::Page;
use crate::records::Record;
use crate::wave::{FAR, Point, grid, training_rows, truth};
use std::fmt::Write;

/// The drawing, and its frame in it.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 12.0;
const BOTTOM: f64 = 34.0;
/// What is beyond these is drawn at the frame.
const LOW: f64 = -4.2;
const HIGH: f64 = 4.2;

/// The drawing of the first repeat of preset `default`; `None` where there is none.
pub(crate) fn wave(page: &Page) -> Option<String> {
    let records = page.current(Experiment::from_name(WAVE)?, Preset::Default);
    let record = records.into_iter().find(|record| record.curve.len() == grid().len())?;
    Some(draw(record))
}

fn draw(record: &Record) -> String {
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n\
         <title>A noisy wave with a gap in the data: the intervals widen in the gap and beyond the ends</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    band(&mut svg, &record.curve, [1, 2], "#cfe3f7");
    band(&mut svg, &record.curve, [3, 4], "#9cc7ee");
    svg += "<g fill-opacity=\"0.35\">";
    // Half of the rows: all would hide the bands.
    for (x, y) in training_rows(record.seed).into_iter().step_by(2).filter(|(_, y)| (LOW..HIGH).contains(y)) {
        let _ = write!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.3\"/>", across(x), down(y));
    }
    svg += "</g>\n";
    let of_truth = grid().into_iter().map(truth);
    line(&mut svg, of_truth, "stroke=\"#222\" stroke-width=\"1.2\" stroke-dasharray=\"5 4\"");
    line(&mut svg, record.curve.iter().map(|point| point[0]), "stroke=\"#0b61b8\" stroke-width=\"2\"");
    let _ = writeln!(
        svg,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>",
        right - LEFT,
        bottom - TOP
    );
    for x in FAR.0 as i32..=FAR.1 as i32 {
        let at = across(f64::from(x));
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{bottom:.1}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"#888\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x}</text>",
            bottom + 4.0,
            HEIGHT - 14.0
        );
    }
    for y in LOW as i32..=HIGH as i32 {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{y}</text>",
            LEFT - 8.0,
            down(f64::from(y)) + 4.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\"><tspan fill=\"#0b61b8\">prediction</tspan>, its 50 % and 90 % intervals; dashed: the truth; dots: training rows</text>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">x</text>",
        LEFT + 12.0,
        TOP + 20.0,
        (right + LEFT) / 2.0,
        HEIGHT - 1.0
    );
    svg + "</svg>\n"
}

fn across(x: f64) -> f64 {
    LEFT + (x - FAR.0) / (FAR.1 - FAR.0) * (WIDTH - LEFT - RIGHT)
}

fn down(y: f64) -> f64 {
    TOP + (HIGH - y.clamp(LOW, HIGH)) / (HIGH - LOW) * (HEIGHT - BOTTOM - TOP)
}

fn points(ys: impl Iterator<Item = f64>) -> Vec<String> {
    grid().into_iter().zip(ys).map(|(x, y)| format!("{:.1},{:.1}", across(x), down(y))).collect()
}

fn line(svg: &mut String, ys: impl Iterator<Item = f64>, style: &str) {
    let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" {style}/>", points(ys).join(" "));
}

/// There along the upper ends, back along the lower.
fn band(svg: &mut String, curve: &[Point], [low, high]: [usize; 2], colour: &str) {
    let mut outline = points(curve.iter().map(|point| point[high]));
    outline.extend(points(curve.iter().map(|point| point[low])).into_iter().rev());
    let _ = writeln!(svg, "<polygon points=\"{}\" fill=\"{colour}\"/>", outline.join(" "));
}
