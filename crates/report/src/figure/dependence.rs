//! Small figures of partial dependence: a line with a band for numbers, dots with bars for categories.

use super::axis::{Axis, Tick};
use super::curve::Line;
use super::frame::{Area, Canvas, Frame, coordinate};
use super::legend::Key;
use crate::escape;
use crate::palette::{MUTED, Paint};
use inducing::explain::DependenceGrid;

/// Narrower than other figures: they stand three in a row.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 150.0;
const ROW: f64 = 20.0;
/// Length of the marks below the line that show where rows are.
const RUG: f64 = 6.0;

/// One line, and how far its band reaches to both sides.
#[derive(Debug, Clone)]
pub(crate) struct Band {
    pub(crate) paint: Paint,
    pub(crate) dash: &'static str,
    pub(crate) mean: Vec<f64>,
    /// Empty for no band.
    pub(crate) half: Vec<f64>,
}

/// What is drawn of one column.
#[derive(Debug)]
pub(crate) struct Dependence<'a> {
    /// The column.
    pub(crate) title: &'a str,
    /// What is predicted.
    pub(crate) y_title: &'a str,
    pub(crate) grid: &'a DependenceGrid,
    pub(crate) bands: Vec<Band>,
    /// Of the prediction, shared by all columns.
    pub(crate) axis: Axis,
    pub(crate) legend: Vec<Key>,
    pub(crate) desc: &'a str,
}

impl Dependence<'_> {
    pub(crate) fn draw(&self) -> String {
        match self.grid {
            DependenceGrid::Numbers { values, deciles } => self.numbers(values, deciles),
            DependenceGrid::Levels { names, shares } => self.levels(names, shares),
        }
    }

    fn numbers(&self, values: &[f64], deciles: &[f64]) -> String {
        let frame = Frame {
            title: self.title,
            x_title: self.title,
            y_title: self.y_title,
            x: Axis::around(values.iter().copied()),
            y: self.axis.clone(),
            legend: self.legend.clone(),
            height: HEIGHT,
        };
        let (mut canvas, area, bottom) = frame.open_wide(WIDTH);
        for band in &self.bands {
            band.fill(&mut canvas, &area, values);
        }
        for band in &self.bands {
            let at = values.iter().zip(&band.mean).map(|(x, y)| [*x, *y]).collect();
            Line::new(band.paint, band.dash, at).draw(&mut canvas, &area);
        }
        let inside = deciles.iter().filter(|x| (area.x.low..=area.x.high).contains(*x));
        for x in inside.filter_map(|x| area.x(*x)) {
            let (x, y) = (coordinate(x), coordinate(area.bottom()));
            canvas.line(MUTED, 1.0, &format!("M{x} {y}v-{RUG}"), "");
        }
        canvas.close(bottom, self.desc, "")
    }

    fn levels(&self, names: &[String], shares: &[f64]) -> String {
        let mut canvas = Canvas::new(WIDTH, self.title);
        let top = super::legend::draw(&mut canvas, &self.legend, 34.0);
        canvas.text("y-title", 4.0, top + 10.0, "start", "Value, and its share of the rows");
        let label = |k: usize| {
            let name = escape::truncate(&escape::or_placeholder(&names[k]), 16).into_owned();
            format!("{name} · {}", crate::number_format::percent(shares.get(k).copied().unwrap_or(f64::NAN)))
        };
        let labels: Vec<String> = (0..names.len()).map(label).collect();
        let letters = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let left = (letters as f64 * 7.2 + 14.0).min(170.0);
        let area = Area {
            left,
            top: top + 20.0,
            width: WIDTH - left - 16.0,
            height: ROW * names.len().max(1) as f64,
            x: self.axis.clone(),
            y: Axis::exact(0.0, 1.0),
        };
        canvas.x_axis(&area, &ticks(&area), true);
        for (k, label) in labels.iter().enumerate() {
            let y = area.top + ROW * (k as f64 + 0.5);
            canvas.text("tick", left - 7.0, y + 4.0, "end", label);
            for band in &self.bands {
                band.dot(&mut canvas, &area, k, y);
            }
        }
        canvas.text("x-title", area.left + area.width / 2.0, area.bottom() + 38.0, "middle", self.y_title);
        canvas.close(area.bottom() + 48.0, self.desc, "")
    }
}

/// As many as fit, of up to three: the area is narrow.
fn ticks(area: &Area) -> Vec<Tick> {
    let fit = |ticks: &Vec<Tick>| {
        let letters = ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(1);
        letters as f64 * 7.8 + 8.0 < area.width / ticks.len().max(1) as f64
    };
    (1..=3).rev().map(|wanted| area.x.ticks(wanted)).find(fit).unwrap_or_else(|| area.x_ticks())
}

impl Band {
    /// Mean and both ends of the band at the k-th value.
    fn ends(&self, k: usize) -> Option<[f64; 3]> {
        let mean = *self.mean.get(k)?;
        let half = self.half.get(k).copied().unwrap_or(0.0);
        (mean.is_finite() && half.is_finite()).then_some([mean - half, mean, mean + half])
    }

    fn fill(&self, canvas: &mut Canvas, area: &Area, values: &[f64]) {
        let at = |k: usize, end: usize| area.at(*values.get(k)?, self.ends(k)?[end]);
        let there = (0..values.len()).filter_map(|k| at(k, 2));
        let back = (0..values.len()).rev().filter_map(|k| at(k, 0));
        let points: Vec<String> =
            there.chain(back).map(|[x, y]| format!("{} {}", coordinate(x), coordinate(y))).collect();
        if self.half.is_empty() || points.len() < 4 {
            return;
        }
        let fill = self.paint.fill();
        canvas.body += &format!("<path {fill} fill-opacity=\"0.18\" d=\"M{}z\"/>\n", points.join("L"));
    }

    fn dot(&self, canvas: &mut Canvas, area: &Area, k: usize, y: f64) {
        let Some(ends) = self.ends(k) else { return };
        let [Some(low), Some(mean), Some(high)] = ends.map(|value| area.x(value)) else { return };
        let y = coordinate(y);
        if !self.half.is_empty() {
            let d = format!("M{} {y}H{}", coordinate(low), coordinate(high));
            canvas.line(self.paint, 6.0, &d, " stroke-opacity=\"0.25\" stroke-linecap=\"round\"");
        }
        let fill = self.paint.fill();
        canvas.body += &format!("<circle {fill} cx=\"{}\" cy=\"{y}\" r=\"3.5\"/>\n", coordinate(mean));
    }
}
