//! The page: one file, in which nothing runs but its own script.

use crate::example_pool::ExamplePool;
use crate::figure::{Figure, PageFigure, Placement};
use crate::sections::{self, Block, Section, target_name};
use crate::{RunRecord, TargetRecord, escape, number_format, page_data, sprite};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of [`SCRIPT`] for the content security policy; a test computes it anew.
const SCRIPT_HASH: &str = "HgYfNPL7ihyKTuOYJCegYWKjAM/KTxCuEgw1KPFsKSw=";

/// One self-contained HTML page.
///
/// It loads nothing, and a content security policy lets nothing run but the page's own script. Strings of the record are
/// always text, never mark-up; numbers that are not finite are left out of the figures.
///
/// ```
/// # use inducing_report::{EvaluatedRows, RunRecord, render};
/// let run = RunRecord {
///     title: "<b>Prices</b>".into(),
///     evaluated_on: "test.csv".into(),
///     rows: EvaluatedRows::Given,
///     generator: "ign".into(),
///     notes: vec![],
///     models: vec![],
/// };
/// assert!(render(&run).contains("<title>&lt;b&gt;Prices&lt;/b&gt;</title>"));
/// ```
pub fn render(run: &RunRecord) -> String {
    let pool = ExamplePool::new(run);
    let sections = sections::all(run, &pool);
    let title = escape::text(&escape::truncate(&escape::or_placeholder(&run.title), 200));
    let data = escape::json(&page_data::json(run, &pool, &sections));
    let mut out = String::with_capacity(1 << 20);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src \
         'unsafe-inline'; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"{}\">\n<title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to content</a>\n\
         <header><h1>{title}</h1><p>{}</p></header>\n<div class=\"columns\">\n{}<main id=\"main\">\n",
        escape::text(&run.generator),
        sheets(&pool),
        subtitle(run),
        contents(&sections)
    );
    for part in sections.chunk_by(|a, b| a.expert == b.expert) {
        write_part(&mut out, part);
    }
    let _ = write!(
        out,
        "</main>\n</div>\n<footer>{}</footer>\n<div id=\"tip\" role=\"status\" hidden></div>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        footer(run)
    );
    out
}

/// The figures of the page in order, as SVG.
///
/// ```
/// # use inducing_report::{RunRecord, figures};
/// # fn write(run: &RunRecord, folder: &std::path::Path) -> std::io::Result<()> {
/// for figure in figures(run) {
///     std::fs::write(folder.join(figure.name).with_extension("svg"), figure.svg)?;
/// }
/// # Ok(())
/// # }
/// ```
pub fn figures(run: &RunRecord) -> Vec<Figure> {
    let pool = ExamplePool::new(run);
    let blocks = sections::all(run, &pool).into_iter().flat_map(|section| section.blocks);
    let figures = blocks.flat_map(|block| match block {
        Block::Figures(figures) => figures,
        Block::Html(_) => Vec::new(),
    });
    figures.map(|shown| shown.figure).collect()
}

/// A CSS class for each sheet of thumbnails.
fn sheets(pool: &ExamplePool<'_>) -> String {
    let grid = &pool.grid;
    if grid.images == 0 {
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

fn subtitle(run: &RunRecord) -> String {
    let mut names: Vec<&str> = Vec::new();
    for target in run.models.iter().flat_map(|model| &model.targets) {
        if !names.contains(&target_name(target)) {
            names.push(target_name(target));
        }
    }
    let names: Vec<String> = names
        .iter()
        .take(4)
        .map(|name| format!("<b>{}</b>", escape::text(&escape::truncate(&escape::or_placeholder(name), 60))))
        .collect();
    let rows = run.models.first().and_then(|model| model.targets.first()).map_or(0, |target| rows(target).1);
    format!(
        "Predicting {} · evaluated on {} ({})",
        names.join(", "),
        escape::text(&escape::truncate(&run.evaluated_on, 200)),
        number_format::counted(rows, "row", "rows")
    )
}

/// PageFigure, and in all.
fn rows(target: &TargetRecord) -> (usize, usize) {
    match target {
        TargetRecord::Regression(record) => (record.points.len(), record.metrics.n),
        TargetRecord::Classification(record) => (record.points.len(), record.metrics.n),
    }
}

fn contents(sections: &[Section]) -> String {
    let mut out = String::from("<nav aria-label=\"Contents\"><ol>");
    let mut before = false;
    for section in sections {
        if section.expert && !before {
            let class = if section.level > 2 { " class=\"sub\"" } else { "" };
            let _ = write!(out, "<li{class}><a href=\"#{}-experts\">For experts</a>", section.id);
        }
        before = section.expert;
        let class = if section.level > 2 || section.expert { " class=\"sub\"" } else { "" };
        let heading = escape::text(&escape::truncate(&section.heading, 32));
        let _ = write!(out, "<li{class}><a href=\"#{}\">{heading}</a>", section.id);
    }
    out + "</ol></nav>\n"
}

/// Sections one after the other; those for experts behind a click.
fn write_part(out: &mut String, sections: &[Section]) {
    let [first, ..] = sections else { return };
    if first.expert {
        let level = first.level;
        let names: Vec<String> = sections.iter().map(|s| escape::text(&s.heading).to_lowercase()).collect();
        let _ = writeln!(
            out,
            "<details class=\"experts\" id=\"{}-experts\"><summary><h{level}>For experts</h{level}> <span class=\"quiet\">{}</span></summary>",
            first.id,
            names.join(", ")
        );
    }
    sections.iter().for_each(|section| write_section(out, section));
    if first.expert {
        out.push_str("</details>\n");
    }
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
                let thirds = figures.iter().any(|drawn| drawn.placement == Placement::Third);
                out.push_str(if thirds {
                    "<div class=\"figures thirds\">\n"
                } else {
                    "<div class=\"figures\">\n"
                });
                let half = |drawn: &PageFigure| drawn.placement == Placement::Half;
                // The last of an odd number of halves would stand beside nothing.
                let alone = figures.iter().filter(|d| half(d)).count() % 2 == 1;
                let last = figures.iter().rposition(half).filter(|_| alone);
                for (k, drawn) in figures.iter().enumerate() {
                    write_figure(out, drawn, if last == Some(k) { Placement::Side } else { drawn.placement });
                }
                out.push_str("</div>\n");
            }
        }
    }
    out.push_str("</section>\n");
}

fn write_figure(out: &mut String, drawn: &PageFigure, placement: Placement) {
    let Figure { name, title, svg } = &drawn.figure;
    let class = match placement {
        Placement::Third | Placement::Half => "",
        Placement::Side => " class=\"side\"",
        Placement::Full => " class=\"full\"",
    };
    let focus = if drawn.marks.is_some() {
        let label =
            escape::text(&format!("{title}: arrow keys move from point to point, plus and minus zoom"));
        format!(" tabindex=\"0\" role=\"group\" aria-label=\"{label}\"")
    } else {
        String::new()
    };
    let _ = write!(
        out,
        "<figure id=\"{name}\"{class}>\n<div class=\"plot\"{focus}>{svg}</div>\n<figcaption>{} \
         <a class=\"svg js\" href=\"#{name}\" aria-label=\"Save figure {name} as SVG\">SVG</a></figcaption>\n</figure>\n",
        drawn.caption
    );
}

fn footer(run: &RunRecord) -> String {
    let mut counts: Vec<(usize, usize)> =
        run.models.iter().filter_map(|m| m.targets.first()).map(rows).collect();
    counts.dedup();
    let mut out = format!(
        "<p>Generated by {}; evaluated on {}. ",
        escape::text(&run.generator),
        escape::text(&escape::truncate(&run.evaluated_on, 200))
    );
    for (plotted, all) in counts {
        if plotted < all {
            let _ = write!(
                out,
                "{} of {} rows are plotted: the most uncertain, those with the largest errors and a random sample of the \
                 rest; all metrics use all rows. ",
                number_format::count(plotted),
                number_format::count(all)
            );
        } else {
            let _ = write!(out, "{} plotted. ", number_format::counted(all, "row is", "rows are"));
        }
    }
    out + "This page is a single file and loads nothing from elsewhere.</p>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_names_the_hash_of_the_script() {
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
        assert_eq!(SCRIPT_HASH, hash, "script.js has changed: set SCRIPT_HASH to the right-hand side");
    }
}
