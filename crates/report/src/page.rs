//! The page: everything in one file, and nothing in it runs but its own script.

use crate::figure::{Drawn, Figure, Room};
use crate::pool::Pool;
use crate::sections::{self, Block, Section, target_name};
use crate::{Report, TargetRecord, data, escape, number, sprite};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// One self-contained HTML page.
///
/// It loads nothing, and a content security policy lets nothing run but the script whose hash it names; names and
/// cells are text wherever they stand.
pub fn render(report: &Report) -> String {
    let pool = Pool::new(report);
    let sections = sections::all(report, &pool);
    let title = escape::text(&escape::cut(&escape::shown(&report.title), 200));
    let hash = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    let data = escape::json(&data::json(report, &pool, &sections));
    let mut out = String::with_capacity(1 << 20);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src \
         'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"{}\">\n<title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the figures</a>\n\
         <header><h1>{title}</h1><p>{}</p></header>\n<div class=\"columns\">\n{}<main id=\"main\">\n",
        escape::text(&report.made_by),
        sheets(&pool),
        judged(report),
        contents(&sections)
    );
    for section in &sections {
        write_section(&mut out, section);
    }
    let _ = write!(
        out,
        "</main>\n</div>\n<footer>{}</footer>\n<div id=\"tip\" role=\"status\" hidden></div>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        footer(report)
    );
    out
}

/// The figures of the page, in its order.
pub fn figures(report: &Report) -> Vec<Figure> {
    let pool = Pool::new(report);
    let blocks = sections::all(report, &pool).into_iter().flat_map(|section| section.blocks);
    let figures = blocks.flat_map(|block| match block {
        Block::Figures(figures) => figures,
        Block::Html(_) => Vec::new(),
    });
    figures.map(|drawn| drawn.figure).collect()
}

/// A class for each sheet of pictures.
fn sheets(pool: &Pool<'_>) -> String {
    let grid = &pool.grid;
    if grid.pictures == 0 {
        return String::new();
    }
    let mut out = format!(".pic{{aspect-ratio:{:.4}}}", grid.aspect);
    if grid.longest <= sprite::SMALL {
        out.push_str(".pic{image-rendering:pixelated}");
    }
    for (k, url) in pool.sheets().iter().enumerate() {
        let _ = write!(out, ".p{k}{{background-image:url({url})}}");
    }
    out
}

fn judged(report: &Report) -> String {
    let mut names: Vec<&str> = Vec::new();
    for target in report.models.iter().flat_map(|model| &model.targets) {
        if !names.contains(&target_name(target)) {
            names.push(target_name(target));
        }
    }
    let names: Vec<String> = names
        .iter()
        .take(4)
        .map(|name| format!("<b>{}</b>", escape::text(&escape::cut(&escape::shown(name), 60))))
        .collect();
    let rows =
        report.models.first().and_then(|model| model.targets.first()).map_or(0, |target| rows(target).1);
    format!(
        "Predictions of {}, judged on {} ({})",
        names.join(", "),
        escape::text(&escape::cut(&report.judged_on, 200)),
        number::counted(rows, "row", "rows")
    )
}

/// Drawn, and in all.
fn rows(target: &TargetRecord) -> (usize, usize) {
    match target {
        TargetRecord::Number(record) => (record.points.len(), record.metrics.n),
        TargetRecord::Classes(record) => (record.points.len(), record.metrics.n),
    }
}

fn contents(sections: &[Section]) -> String {
    let mut out = String::from("<nav aria-label=\"Contents\"><ol>");
    for section in sections {
        let class = if section.level > 2 { " class=\"sub\"" } else { "" };
        let heading = escape::text(&escape::cut(&section.heading, 32));
        let _ = write!(out, "<li{class}><a href=\"#{}\">{heading}</a>", section.id);
    }
    out + "</ol></nav>\n"
}

fn write_section(out: &mut String, section: &Section) {
    let (id, level, heading) = (&section.id, section.level, escape::text(&section.heading));
    let _ = write!(
        out,
        "<section id=\"{id}\" class=\"l{level}\" aria-labelledby=\"{id}-h\">\n<h{level} id=\"{id}-h\">{heading}</h{level}>\n"
    );
    if !section.intro.is_empty() {
        let _ = writeln!(out, "<p class=\"intro\">{}</p>", section.intro);
    }
    for block in &section.blocks {
        match block {
            Block::Html(html) => out.push_str(html),
            Block::Figures(figures) => {
                out.push_str("<div class=\"figures\">\n");
                let half = |drawn: &Drawn| drawn.room == Room::Half;
                // The last of an odd number of halves would stand beside nothing.
                let alone = figures.iter().filter(|d| half(d)).count() % 2 == 1;
                let last = figures.iter().rposition(half).filter(|_| alone);
                for (k, drawn) in figures.iter().enumerate() {
                    write_figure(out, drawn, if last == Some(k) { Room::Side } else { drawn.room });
                }
                out.push_str("</div>\n");
            }
        }
    }
    out.push_str("</section>\n");
}

fn write_figure(out: &mut String, drawn: &Drawn, room: Room) {
    let Figure { name, title, svg } = &drawn.figure;
    let room = match room {
        Room::Half => "",
        Room::Side => " class=\"side\"",
        Room::Full => " class=\"full\"",
    };
    let focus = if drawn.marks.is_some() {
        let label = escape::text(&format!("{title}: arrow keys go from mark to mark, plus and minus zoom"));
        format!(" tabindex=\"0\" role=\"group\" aria-label=\"{label}\"")
    } else {
        String::new()
    };
    let _ = write!(
        out,
        "<figure id=\"{name}\"{room}>\n<div class=\"plot\"{focus}>{svg}</div>\n<figcaption>{} \
         <a class=\"svg js\" href=\"#{name}\" aria-label=\"Save the figure {name} as SVG\">SVG</a></figcaption>\n</figure>\n",
        drawn.caption
    );
}

fn footer(report: &Report) -> String {
    let mut drawn: Vec<(usize, usize)> =
        report.models.iter().filter_map(|m| m.targets.first()).map(rows).collect();
    drawn.dedup();
    let mut out = format!(
        "<p>Made by {}; judged on {}. ",
        escape::text(&report.made_by),
        escape::text(&escape::cut(&report.judged_on, 200))
    );
    for (points, all) in drawn {
        if points < all {
            let _ = write!(
                out,
                "{} of {} rows are drawn: the most uncertain, the worst and a random part of the others; all figures of \
                 merit are of all rows. ",
                number::count(points),
                number::count(all)
            );
        } else {
            let _ = write!(out, "All {} are drawn. ", number::counted(all, "row", "rows"));
        }
    }
    out + "The page is one file and loads nothing.</p>"
}
