//! Histograms, and horizontal bars for named values.

use super::axis::Axis;
use super::frame::{Area, Canvas, Frame, WIDTH};
use super::legend;
use crate::palette::{ACCENT, MUTED, Paint};
use crate::{Histogram, escape, number_format};

/// Counts between edges.
pub(crate) fn histogram(title: &str, x_title: &str, histogram: &Histogram, desc: &str) -> String {
    let counts = || histogram.counts.iter().map(|&n| n as f64);
    let most = counts().fold(1.0, f64::max);
    let frame = Frame {
        title,
        x_title,
        y_title: "Rows",
        x: Axis::around(histogram.edges.iter().copied()),
        y: Axis::exact(0.0, most * 1.05),
        legend: Vec::new(),
        height: 220.0,
    };
    let (mut canvas, area, bottom) = frame.open();
    for (edges, count) in histogram.edges.windows(2).zip(counts()) {
        if let (Some([left, top]), Some([right, base])) = (area.at(edges[0], count), area.at(edges[1], 0.0))
            && count > 0.0
        {
            // A single row must still be visible.
            let height = (base - top).max(1.0);
            canvas.rect(ACCENT, [left + 0.5, base - height, right - left - 1.0, height], "");
        }
    }
    canvas.close(bottom, desc, "")
}

/// A horizontal bar.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// Label at the end of the bar.
    pub(crate) text: String,
    pub(crate) paint: Paint,
}

/// Titles of a horizontal bar chart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HorizontalBars<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_title: &'a str,
    pub(crate) y_title: &'a str,
    pub(crate) desc: &'a str,
}

const BAR: f64 = 22.0;

/// One bar below the other, with names on the left and values on the right.
pub(crate) fn horizontal(frame: HorizontalBars<'_>, bars: &[Bar]) -> String {
    let mut canvas = Canvas::new(WIDTH, frame.title);
    let top = legend::draw(&mut canvas, &[], 34.0);
    canvas.text("y-title", 4.0, top + 10.0, "start", frame.y_title);
    let letters = |text: &str| text.chars().count() as f64 * 7.2;
    let widest = |width: &dyn Fn(&Bar) -> f64| bars.iter().map(width).fold(30.0, f64::max);
    let left = widest(&|bar| letters(&short_name(&bar.name))).min(170.0) + 14.0;
    let right = widest(&|bar| letters(&bar.text)).min(90.0) + 10.0;
    let values = bars.iter().map(|bar| bar.value).filter(|v| v.is_finite());
    let (low, high) = values.fold((0.0_f64, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
    let area = Area {
        left,
        top: top + 18.0,
        width: WIDTH - left - right,
        height: BAR * bars.len().max(1) as f64,
        x: if low < high { Axis::exact(low.max(-1e300), high.min(1e300)) } else { Axis::exact(0.0, 1.0) },
        y: Axis::exact(0.0, 1.0),
    };
    canvas.x_axis(&area, &area.x_ticks(), true);
    for (k, bar) in bars.iter().enumerate() {
        let y = area.top + BAR * k as f64;
        canvas.text("tick", left - 7.0, y + 15.0, "end", &short_name(&bar.name));
        let zero = area.x(0.0).unwrap_or(left);
        let end = area.x(bar.value).unwrap_or(zero);
        canvas.rect(bar.paint, [zero.min(end), y + 4.0, (end - zero).abs(), BAR - 8.0], " rx=\"2\"");
        canvas.text("value", zero.max(end) + 5.0, y + 15.0, "start", &bar.text);
    }
    if low < 0.0
        && let Some(zero) = area.x(0.0)
    {
        canvas.line(MUTED, 1.0, &format!("M{zero:.1} {:.1}V{:.1}", area.top, area.bottom()), "");
    }
    canvas.text("x-title", area.left + area.width / 2.0, area.bottom() + 38.0, "middle", frame.x_title);
    canvas.close(area.bottom() + 48.0, frame.desc, "")
}

fn short_name(name: &str) -> String {
    escape::truncate(&escape::or_placeholder(name), 23).into_owned()
}

/// A bar labelled with its value.
pub(crate) fn bar(name: &str, value: f64, paint: Paint) -> Bar {
    Bar { name: name.into(), value, text: number_format::significant(value, 3), paint }
}
