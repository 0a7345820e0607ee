//! Small panels one above the other with a shared horizontal axis: training curves.

use super::axis::Axis;
use super::curve::Line;
use super::frame::{Area, Canvas, WIDTH, coordinate};
use super::legend::{self, Key};
use crate::palette::{MUTED, Paint};

/// One panel.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) y_title: String,
    pub(crate) curves: Vec<TrainingCurve>,
    pub(crate) scale: Scale,
}

/// Of the vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    FromZero,
    Log,
}

/// One line over the steps, and its point at the best epoch.
#[derive(Debug, Clone)]
pub(crate) struct TrainingCurve {
    pub(crate) paint: Paint,
    pub(crate) dash: &'static str,
    pub(crate) at: Vec<[f64; 2]>,
    pub(crate) best: Option<[f64; 2]>,
}

/// Panels with a shared axis.
#[derive(Debug)]
pub(crate) struct Panels<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_title: &'a str,
    pub(crate) panels: Vec<Panel>,
    pub(crate) legend: Vec<Key>,
    /// The best epoch, if it is the same for all curves.
    pub(crate) best_step: Option<f64>,
    pub(crate) desc: &'a str,
}

const HEIGHT: f64 = 110.0;
/// Dashes of the line at the best epoch.
pub(crate) const BEST_EPOCH_DASH: &str = "3 3";

impl Panels<'_> {
    pub(crate) fn draw(&self) -> String {
        let mut canvas = Canvas::new(WIDTH, self.title);
        let mut top = legend::draw(&mut canvas, &self.legend, 34.0);
        let steps = self.panels.iter().flat_map(|p| &p.curves).flat_map(|l| &l.at).map(|at| at[0]);
        let x = Axis::from_zero(steps);
        let y_axes: Vec<Axis> = self.panels.iter().map(Panel::axis).collect();
        // One left edge for all panels: the widest labels decide.
        let y_ticks: Vec<_> = y_axes.iter().map(|axis| axis.ticks(4)).collect();
        let widest = y_ticks.iter().flatten().max_by_key(|(_, text)| text.chars().count()).cloned();
        let left =
            widest.map_or(40.0, |(_, text)| (text.chars().count() as f64 * 7.8 + 12.0).clamp(28.0, 130.0));
        let mut bottom = top;
        for (k, ((panel, y), ticks)) in self.panels.iter().zip(&y_axes).zip(&y_ticks).enumerate() {
            canvas.text("y-title", 4.0, top + 10.0, "start", &panel.y_title);
            let area = Area {
                left,
                top: top + 25.0,
                width: WIDTH - left - 16.0,
                height: HEIGHT,
                x: x.clone(),
                y: y.clone(),
            };
            let last = k + 1 == self.panels.len();
            canvas.y_axis(&area, ticks);
            canvas.x_axis(&area, &area.x_ticks(), last);
            self.mark_best(&mut canvas, &area);
            for curve in &panel.curves {
                curve.draw(&mut canvas, &area);
            }
            bottom = area.bottom();
            top = bottom + 12.0;
        }
        canvas.text("x-title", left + (WIDTH - left - 16.0) / 2.0, bottom + 38.0, "middle", self.x_title);
        canvas.close(bottom + 48.0, self.desc, "")
    }

    fn mark_best(&self, canvas: &mut Canvas, area: &Area) {
        let Some(x) = self.best_step.and_then(|step| area.x(step)) else { return };
        let d = format!("M{} {}V{}", coordinate(x), coordinate(area.top), coordinate(area.bottom()));
        canvas.line(MUTED, 1.5, &d, &format!(" stroke-dasharray=\"{BEST_EPOCH_DASH}\""));
    }
}

impl Panel {
    fn axis(&self) -> Axis {
        let values = || self.curves.iter().flat_map(|l| &l.at).map(|at| at[1]);
        match self.scale {
            Scale::Linear => Axis::around(values()),
            Scale::FromZero => Axis::from_zero(values().chain([0.0])),
            Scale::Log => Axis::log(values()),
        }
    }
}

impl TrainingCurve {
    fn draw(&self, canvas: &mut Canvas, area: &Area) {
        let line = Line::new(self.paint, self.dash, self.at.clone());
        line.draw(canvas, area);
        if let Some(best) = self.best {
            let dot = Line { at: vec![best], dots: vec![4.0], ..line };
            dot.draw(canvas, area);
        }
    }
}
