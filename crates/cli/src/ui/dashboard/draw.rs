//! A frame: what the state of a run looks like on a screen of any size.
//!
//! ```text
//! likelihood · epoch 12 · step 1234 of 9000        85.2 steps/s · 0:42 · about 1:31 left
//! ███████░░░░░░░░░░░░░░░░░░░░░░░░░░ 14 % ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
//! ┌ training loss ───────────────────────────┐┌ validation NLL ─────────────────────────┐
//! ┌ validation RMSE ─────────────────────────┐┌ noise ──────────────────────────────────┐
//! notices ───────────────────────────────────────────────────────────────────────────────
//! q or Ctrl-C: stop and save a checkpoint
//! ```
//! A small screen has fewer charts, then no notices, and at last nothing but how far the run is.

use super::curve::{Curve, Plot};
use super::view::{Figures, View};
use crate::ui::output::number;
use crate::ui::progress::phase_name;
use inducing::train::Phase;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, Gauge, GraphType, Paragraph};
use std::time::Duration;

/// A chart below this is no use.
const CHART: (u16, u16) = (36, 7);
/// Lines of notices.
const NOTICES: u16 = 6;
const COLOURS: [Color; 6] =
    [Color::Cyan, Color::Yellow, Color::Green, Color::Magenta, Color::Blue, Color::Red];
const DIM: Style = Style::new().fg(Color::DarkGray);

/// Draws a frame.
pub(super) fn draw(frame: &mut Frame<'_>, view: &View) {
    let area = frame.area();
    let (place, pace) = (place(view), pace(view));
    let side_by_side = place.width() + 2 + pace.width() <= usize::from(area.width);
    let status = if side_by_side || area.height < 5 { 1 } else { 2 };
    let room = area.height.saturating_sub(status + 2);
    let notices = match u16::try_from(view.notices.len()).unwrap_or(NOTICES).min(NOTICES) {
        0 => 0,
        lines => (lines + 1).min(room / 3),
    };
    let rows = [
        Constraint::Length(1),
        Constraint::Length(status),
        Constraint::Min(0),
        Constraint::Length(notices),
        Constraint::Length(1),
    ];
    let [gauge, status, charts, notices, hint] = Layout::vertical(rows).areas(area);
    frame.render_widget(Paragraph::new(place), status);
    if side_by_side || status.height > 1 {
        let below = u16::from(!side_by_side);
        let line = Rect { y: status.y + below, height: status.height.saturating_sub(below), ..status };
        let side = if side_by_side { Alignment::Right } else { Alignment::Left };
        frame.render_widget(Paragraph::new(pace).alignment(side), line);
    }
    draw_gauge(frame, gauge, view);
    draw_charts(frame, charts, view);
    draw_notices(frame, notices, &view.notices);
    let text = if view.stopping {
        Line::styled(
            "stopping; what has been learned is being saved (q or Ctrl-C again to give up at once)",
            Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD),
        )
    } else {
        Line::styled("q or Ctrl-C: stop and save a checkpoint", DIM)
    };
    frame.render_widget(text, hint);
}

/// Where the run is.
fn place(view: &View) -> Line<'static> {
    let Some(phase) = view.phase else { return Line::from("getting ready") };
    let mut parts = vec![phase_name(phase).to_owned()];
    if let Some((epoch, k)) = view.epoch {
        let networks = view.networks.len();
        let which = if networks > 1 { format!("network {} of {networks}, ", k + 1) } else { String::new() };
        parts.push(format!("{which}epoch {epoch}"));
    }
    if view.planned > 0 {
        parts.push(format!("step {} of {}", view.done, view.planned));
    }
    Line::styled(parts.join(" · "), Style::new().add_modifier(Modifier::BOLD))
}

/// How fast it is.
fn pace(view: &View) -> Line<'static> {
    let speed = view.speed.per_second().map(|speed| format!("{} steps/s", figure(speed)));
    let elapsed = Some(format!("{} elapsed", clock(view.elapsed)));
    let left = view.speed.left(view.elapsed, view.planned).filter(|_| !view.stopping);
    let left = left.map(|left| format!("about {} left", clock(left)));
    let parts: Vec<String> = [speed, elapsed, left].into_iter().flatten().collect();
    Line::from(parts.join(" · "))
}

fn draw_gauge(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let ratio = (view.done as f64 / view.planned.max(1) as f64).clamp(0.0, 1.0);
    let gauge = Gauge::default()
        .ratio(ratio)
        .label(format!("{:.0} %", (100.0 * ratio).floor()))
        .use_unicode(true)
        .gauge_style(Style::new().fg(Color::Cyan).bg(Color::DarkGray));
    frame.render_widget(gauge, area);
}

/// What a chart shows.
struct Panel<'a> {
    title: String,
    unit: &'static str,
    curves: Vec<&'a Curve>,
    /// The best value where one is better than another.
    best: Option<f64>,
}

/// The charts that have something to show.
fn panels(view: &View) -> Vec<Panel<'_>> {
    let (phase, loss) = match view.loss.last() {
        Some(_) => (Phase::Likelihood, &view.loss),
        None => (Phase::Pretraining, &view.pretraining_loss),
    };
    let title = format!("training loss, {}", phase_name(phase));
    let mut panels = vec![Panel { title, unit: "", curves: vec![loss], best: None }];
    type Of = fn(&Figures) -> &Curve;
    type Best = fn(&Curve) -> Option<f64>;
    const DEVIATIONS: &str = ", standardised";
    let figures: [(&str, &str, Of, Option<Best>); 4] = [
        ("validation NLL", "", |f| &f.nll, Some(Curve::least)),
        ("validation accuracy", "", |f| &f.accuracy, Some(Curve::most)),
        ("validation RMSE", DEVIATIONS, |f| &f.rmse, Some(Curve::least)),
        ("noise", DEVIATIONS, |f| &f.noise, None),
    ];
    for (title, unit, of, best) in figures {
        let curves: Vec<&Curve> = view.networks.iter().map(of).collect();
        let best = best.zip(curves.first()).and_then(|(best, curve)| best(curve));
        panels.push(Panel { title: title.into(), unit, curves, best });
    }
    panels.retain(|panel| panel.curves.iter().any(|curve| curve.last().is_some()));
    panels
}

fn draw_charts(frame: &mut Frame<'_>, area: Rect, view: &View) {
    if area.width < CHART.0 || area.height < CHART.1 {
        return;
    }
    let mut panels = panels(view);
    if panels.is_empty() {
        let text = Line::styled("curves begin with the first step", DIM).centered();
        frame.render_widget(text, Rect { y: area.y + area.height / 2, height: 1, ..area });
        return;
    }
    let columns = if area.width >= 2 * CHART.0 && panels.len() > 1 { 2 } else { 1 };
    panels.truncate(columns * usize::from(area.height / CHART.1));
    let rows = panels.len().div_ceil(columns);
    let bands = Layout::vertical(vec![Constraint::Fill(1); rows]).split(area);
    for (band, panels) in bands.iter().zip(panels.chunks(columns)) {
        let cells = Layout::horizontal(vec![Constraint::Fill(1); panels.len()]).split(*band);
        cells.iter().zip(panels).for_each(|(&cell, panel)| draw_chart(frame, cell, panel));
    }
}

fn draw_chart(frame: &mut Frame<'_>, area: Rect, panel: &Panel<'_>) {
    let values = match panel.curves[..] {
        [curve] => {
            let best = panel.best.map_or(String::new(), |best| format!(" (best {})", figure(best)));
            curve.last().map_or(String::new(), |last| format!("  {}{best}", figure(last)))
        }
        ref several => format!("  {} networks", several.len()),
    };
    let plot = Plot::new(&panel.curves);
    let scale = if plot.as_ref().is_some_and(|plot| plot.logarithmic) { ", log scale" } else { "" };
    let title = Line::from(format!(" {}{values}{}{scale} ", panel.title, panel.unit));
    let block = Block::bordered().border_style(DIM).title(title.style(Style::new().fg(Color::Reset)));
    let Some(plot) = plot else { return frame.render_widget(block, area) };
    let datasets = plot.points.iter().zip(COLOURS.into_iter().cycle()).map(|(points, colour)| {
        let line = Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line);
        line.style(Style::new().fg(colour)).data(points)
    });
    let chart = Chart::new(datasets.collect())
        .block(block)
        .x_axis(Axis::default().bounds(plot.x).labels(plot.x.map(|x| format!("{x:.0}"))).style(DIM))
        .y_axis(Axis::default().bounds(plot.y).labels(plot.ends().map(figure)).style(DIM));
    frame.render_widget(chart, area);
}

/// The last ones that fit, a line each: they are printed whole when the view is gone.
fn draw_notices(frame: &mut Frame<'_>, area: Rect, notices: &[String]) {
    let block = Block::new().borders(Borders::TOP).border_style(DIM).title("notices");
    let inner = block.inner(area);
    let first = notices.len().saturating_sub(usize::from(inner.height));
    let lines: Vec<Line<'_>> = notices[first..].iter().map(|text| cut(text, inner.width)).collect();
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(lines), inner);
}

/// A text that ends with dots where it is too wide.
fn cut(text: &str, width: u16) -> Line<'_> {
    if Line::from(text).width() <= usize::from(width) {
        return Line::from(text);
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if Line::from(&*short).width() >= usize::from(width) {
            short.pop();
            break;
        }
    }
    Line::from(short + "…")
}

/// Four significant digits, and no more letters than an axis has room for.
fn figure(x: f64) -> String {
    if x.abs() >= 1e6 || (x != 0.0 && x.abs() < 1e-4) { format!("{x:.2e}") } else { number(x) }
}

/// Hours only where there are some.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}
