//! The ablation as a drawing: a panel for each set, variance against the number of inducing points, both on log scales.

use crate::experiment::{ABLATED, Experiment, INDUCING, Preset};
use crate::page::Page;
use crate::summary::Figure;
use std::fmt::Write;

/// A panel and the space around it.
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 62.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 40.0;
const RIGHT: f64 = 14.0;
const ACROSS: usize = 3;

/// Points of a line: position among the numbers of inducing points, and the variance there.
type Line = Vec<(usize, Figure)>;

/// The drawing; `None` where there is nothing to draw.
pub(crate) fn ablation(page: &Page) -> Option<String> {
    let line = |name: &str, preset: Preset| -> Line {
        let point = |(at, &m): (usize, &usize)| {
            let figure = *page.ablated(name, preset, m)?.scores.get("variance_latent")?;
            (figure.mean > 0.0).then_some((at, figure))
        };
        INDUCING.iter().enumerate().filter_map(point).collect()
    };
    let panels: Vec<(&str, [Line; 2])> = ABLATED
        .iter()
        .map(|&name| (name, Preset::ALL.map(|preset| line(name, preset))))
        .filter(|(_, lines)| lines.iter().any(|line| !line.is_empty()))
        .collect();
    if panels.is_empty() {
        return None;
    }
    let (columns, rows) = (panels.len().min(ACROSS), panels.len().div_ceil(ACROSS));
    let (step_x, step_y) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM);
    let (width, height) = (columns as f64 * step_x, rows as f64 * step_y + 28.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>Mean variance of the latent function against the number of inducing points</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (at, (name, lines)) in panels.iter().enumerate() {
        let origin = ((at % ACROSS) as f64 * step_x + LEFT, (at / ACROSS) as f64 * step_y + TOP);
        panel(&mut svg, origin, name, lines);
    }
    for (at, preset) in Preset::ALL.into_iter().enumerate() {
        let (x, y) = (LEFT + 130.0 * at as f64, height - 12.0);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{}\" stroke-width=\"2\"/>{}<text x=\"{:.1}\" y=\"{y:.1}\">preset {}</text>",
            y - 4.0,
            x + 22.0,
            y - 4.0,
            colour(preset),
            mark(preset, x + 11.0, y - 4.0),
            x + 28.0,
            preset.name(),
        );
    }
    Some(svg + "</svg>\n")
}

fn panel(svg: &mut String, (left, top): (f64, f64), name: &str, lines: &[Line; 2]) {
    let title = Experiment::from_name(name).map_or(name, |experiment| experiment.title);
    let bounds = lines.iter().flatten().flat_map(|(_, figure)| [low(*figure), high(*figure)]);
    let (least, most) = bounds.fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    // A little room around everything.
    let room = 0.04 + 0.05 * (most / least).log10();
    let (bottom, ceiling) = (least.log10() - room, most.log10() + room);
    let x = |at: usize| left + WIDTH * (at as f64 + 0.5) / INDUCING.len() as f64;
    let y = |value: f64| top + HEIGHT * (ceiling - value.log10()) / (ceiling - bottom);
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"13\" text-anchor=\"middle\">{title}</text>\n<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#888\"/>",
        left + WIDTH / 2.0,
        top - 10.0,
    );
    for (at, m) in INDUCING.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{m}</text>",
            x(at),
            top + HEIGHT + 15.0
        );
    }
    for value in ticks(bottom, ceiling) {
        let at = y(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{left:.1}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left + WIDTH,
            left - 5.0,
            at + 4.0,
            if value < 1e-3 { format!("{value:.0e}") } else { value.to_string() },
        );
    }
    let (middle, beside) = (top + HEIGHT / 2.0, left - 50.0);
    let _ = writeln!(
        svg,
        "<text x=\"{beside:.1}\" y=\"{middle:.1}\" text-anchor=\"middle\" transform=\"rotate(-90 {beside:.1} {middle:.1})\">variance</text>",
    );
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">inducing points</text>",
        left + WIDTH / 2.0,
        top + HEIGHT + 31.0
    );
    for (preset, line) in Preset::ALL.into_iter().zip(lines) {
        let colour = colour(preset);
        let points: Vec<String> =
            line.iter().map(|(at, figure)| format!("{:.1},{:.1}", x(*at), y(figure.mean))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.join(" ")
        );
        for (at, figure) in line {
            let _ = writeln!(
                svg,
                "<line x1=\"{0:.1}\" y1=\"{1:.1}\" x2=\"{0:.1}\" y2=\"{2:.1}\" stroke=\"{colour}\"/>{3}",
                x(*at),
                y(low(*figure)),
                y(high(*figure)),
                mark(preset, x(*at), y(figure.mean)),
            );
        }
    }
}

/// 1, 2 and 5 times powers of ten between two logarithms; where these are many, powers alone, and where few, all digits.
fn ticks(bottom: f64, ceiling: f64) -> Vec<f64> {
    let all = |steps: &[i32], apart: i32| -> Vec<f64> {
        let powers = (bottom.floor() as i32..=ceiling.ceil() as i32).filter(|power| power % apart == 0);
        let values = powers.flat_map(|power| steps.iter().map(move |step| (*step, power)));
        // By way of text, so that 0.02 is 0.02.
        let values = values.filter_map(|(step, power)| format!("{step}e{power}").parse::<f64>().ok());
        values.filter(|value| (bottom..=ceiling).contains(&value.log10())).collect()
    };
    let fine = all(&[1, 2, 5], 1);
    match fine.len() {
        0 | 1 => all(&[1, 2, 3, 4, 5, 6, 7, 8, 9], 1),
        2..=7 => fine,
        _ => all(&[1], if ceiling - bottom > 6.0 { 2 } else { 1 }),
    }
}

/// A point: round for `paper`, square for `default`.
fn mark(preset: Preset, x: f64, y: f64) -> String {
    let colour = colour(preset);
    match preset {
        Preset::Paper => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"),
        Preset::Default => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\" fill=\"{colour}\"/>",
            x - 3.0,
            y - 3.0
        ),
    }
}

/// The bar's lower end, above zero even where the deviation is larger than the mean.
fn low(figure: Figure) -> f64 {
    (figure.mean - figure.std.unwrap_or(0.0)).max(figure.mean / 10.0)
}

fn high(figure: Figure) -> f64 {
    figure.mean + figure.std.unwrap_or(0.0)
}

fn colour(preset: Preset) -> &'static str {
    match preset {
        Preset::Paper => "#c0504d",
        Preset::Default => "#1f77b4",
    }
}
