//! The landmarks that predictions are made from.

use super::{Block, Context, Section, examples};
use crate::figure::bars::{self, Bar, Lying};
use crate::figure::{Drawn, Room, gallery};
use crate::palette::{ACCENT, OTHERS};
use crate::pool::{self, Kind, MOST_INDUCING};
use crate::{
    Body, ClassRecord, InducingRecord, Neighbour, NetworkRecord, Picture, TargetRecord, escape, number,
};
use std::fmt::Write;

/// Neighbours that are shown at once.
const SHOWN: usize = 3;
/// Longer cells are texts.
const TEXT: usize = 48;
/// Inducing points whose cards are shown at once.
const FIRST: usize = 12;
/// More networks than this are not listed.
const MOST_NETWORKS: usize = 12;
/// More classes than this do not fit a figure.
const MOST_CLASSES: usize = 30;

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let networks: Vec<&NetworkRecord> =
        context.model.networks.iter().filter(|n| !n.inducing.is_empty()).collect();
    let first = *networks.first()?;
    let (from, inputs) = &context.model.neighbours_from;
    let (leaning_from, leaning) = &context.model.leaning_from;
    let intro = format!(
        "The model remembers {} and predicts by comparing an input with them. For each you see what it stands for (its \
         pseudo-label), the examples nearest to it among {} of {}, and how many of {} of {} lean on it, that is, are more \
         similar to it than to any other.",
        number::counted(
            first.inducing.len(),
            "landmark, its inducing point,",
            "landmarks, its inducing points,"
        ),
        number::counted(*inputs, "input", "inputs"),
        escape::text(from),
        number::counted(*leaning, "input", "inputs"),
        escape::text(leaning_from),
    );
    let mut blocks = vec![];
    let mut figures: Vec<Drawn> = Vec::new();
    let classes = context.model.targets.iter().find_map(|t| match t {
        TargetRecord::Classes(record) => Some(record),
        TargetRecord::Number(_) => None,
    });
    figures.extend(gallery_figure(context, first));
    figures.extend(classes.and_then(|classes| balance(context, first, classes)));
    if !figures.is_empty() {
        blocks.push(Block::Figures(figures));
    }
    for (k, network) in networks.iter().enumerate().take(MOST_NETWORKS) {
        let list = list(context, network);
        blocks.push(Block::Html(if networks.len() > 1 {
            let open = if k == 0 { " open" } else { "" };
            let name = escape::text(&escape::cut(&escape::shown(&network.name), 60));
            format!("<details{open}><summary>{name}</summary>{list}</details>")
        } else {
            list
        }));
    }
    if networks.len() > MOST_NETWORKS {
        let left_out = number::count(networks.len() - MOST_NETWORKS);
        blocks.push(Block::Html(format!("<p class=\"quiet\">{left_out} more networks are not listed.</p>")));
    }
    Some(context.section("inducing", "What the model remembers", intro, blocks))
}

fn list(context: Context<'_>, network: &NetworkRecord) -> String {
    let inducing = &network.inducing;
    let order = pool::listed(inducing);
    let unused = inducing.iter().filter(|point| point.leaning == 0).count();
    let mut out = format!(
        "<p>{} the nearest of {}{}.",
        number::counted(network.distinct, "example is", "different examples are"),
        number::counted(inducing.len(), "inducing point", "inducing points"),
        match unused {
            0 => "; every one is leaned on".to_owned(),
            n => format!("; nothing leans on {}", number::count(n)),
        }
    );
    if inducing.len() > MOST_INDUCING {
        let _ = write!(out, " The {MOST_INDUCING} most leaned on are listed.");
    }
    let most = inducing.iter().map(|point| point.leaning).max().unwrap_or(0).max(1);
    let total: usize = inducing.iter().map(|point| point.leaning).sum();
    let cards: Vec<String> = order.iter().map(|&m| card(context, m, &inducing[m], most, total)).collect();
    let narrow =
        if order.first().is_some_and(|&m| is_drawing(context, &inducing[m])) { " narrow" } else { "" };
    let (first, rest) = cards.split_at(cards.len().min(if narrow.is_empty() { FIRST } else { 2 * FIRST }));
    let _ = write!(out, "</p><div class=\"cards{narrow}\">{}</div>", first.concat());
    if !rest.is_empty() {
        let _ = write!(
            out,
            "<details><summary>Show {} more</summary><div class=\"cards{narrow}\">{}</div></details>",
            rest.len(),
            rest.concat()
        );
    }
    out
}

fn card(context: Context<'_>, m: usize, point: &InducingRecord, most: usize, total: usize) -> String {
    let mut out = format!(
        "<article class=\"card inducing\"><h4><span class=\"quiet\">{}</span> {}</h4>",
        m + 1,
        escape::text(&escape::cut(&escape::shown(&point.label), 60))
    );
    let share = 100.0 * point.leaning as f64 / most as f64;
    let of_all = if total > 0 { number::percent(point.leaning as f64 / total as f64) } else { "–".into() };
    let _ = write!(
        out,
        "<p class=\"lean\"><span class=\"meter\"><i style=\"width:{share:.1}%\"></i></span> <span>{} lean on it <span class=\"quiet\">({of_all})</span></span></p>",
        number::count(point.leaning)
    );
    let mut nearest = point.nearest.iter();
    if is_drawing(context, point) {
        if let Some(neighbour) = nearest.next() {
            out.push_str("<div class=\"pair stack\">");
            out.push_str(&picture(context, neighbour.example, &format!("nearest: {}", neighbour.truth)));
            if let Some(refined) = &point.refined {
                out.push_str(&picture(context, refined.example, "moved towards it"));
            }
            out.push_str("</div>");
            let _ = write!(out, "<p class=\"quiet\">distance {}", number::significant(neighbour.distance, 3));
            if let Some(refined) = &point.refined {
                let _ = write!(out, " → {}", number::significant(refined.after, 3));
            }
            out.push_str("</p>");
        }
        let others: String = nearest.take(SHOWN).map(|n| picture(context, n.example, &n.truth)).collect();
        if !others.is_empty() {
            let _ = write!(
                out,
                "<details><summary>next nearest</summary><div class=\"pair\">{others}</div></details>"
            );
        }
    } else {
        let rows: Vec<String> = nearest.map(|n| neighbour(context, n)).collect();
        let (first, rest) = rows.split_at(rows.len().min(SHOWN));
        out.push_str(&first.concat());
        if !rest.is_empty() {
            let _ = write!(out, "<details><summary>{} more</summary>{}</details>", rest.len(), rest.concat());
        }
        if let Some(refined) = &point.refined
            && let Some(entry) = context.pool.entry(context.m, refined.example)
        {
            let _ = write!(
                out,
                "<details class=\"neighbour\"><summary><b>moved towards it</b> <span class=\"quiet\">distance {} → {}</span></summary>{}</details>",
                number::significant(refined.before, 3),
                number::significant(refined.after, 3),
                examples::html(context.pool, entry)
            );
        }
    }
    out + "</article>"
}

/// Whether there is something to look at, rather than to read.
fn is_drawing(context: Context<'_>, point: &InducingRecord) -> bool {
    let nearest = point.nearest.first().and_then(|n| context.model.examples.get(n.example));
    nearest.is_some_and(|example| !matches!(example.body, Body::Cells(_)))
}

fn body_picture(context: Context<'_>, example: usize) -> Option<&Picture> {
    match &context.model.examples.get(example)?.body {
        Body::Picture(picture) => Some(picture),
        Body::Cells(_) | Body::Graph(_) => None,
    }
}

fn picture(context: Context<'_>, example: usize, says: &str) -> String {
    let Some(entry) = context.pool.entry(context.m, example) else { return String::new() };
    let says = escape::text(&escape::cut(says, 40));
    format!(
        "<span class=\"captioned\">{}<span class=\"quiet\">{says}</span></span>",
        examples::html(context.pool, entry)
    )
}

/// A text is shown at once, other rows on demand.
fn neighbour(context: Context<'_>, neighbour: &Neighbour) -> String {
    let Some(entry) = context.pool.entry(context.m, neighbour.example) else { return String::new() };
    let truth = escape::cut(&escape::shown(&neighbour.truth), 40).into_owned();
    let (truth, name) = (escape::text(&truth), escape::text(&escape::cut(entry.name, 40)));
    let similar = format!("<span class=\"quiet\">{} similar</span>", number::percent(neighbour.similarity));
    let text = match &entry.kind {
        Kind::Cells(_, cells) => cells.iter().find(|cell| cell.chars().count() > TEXT),
        Kind::Picture(_) | Kind::Graph(..) => None,
    };
    match text {
        Some(text) => {
            let text = escape::text(&escape::cut(text, 160));
            format!("<p class=\"neighbour\"><b>{truth}</b> {text} {similar}</p>")
        }
        None => format!(
            "<details class=\"neighbour\"><summary><b>{truth}</b> {name} {similar}</summary>{}</details>",
            examples::html(context.pool, entry)
        ),
    }
}

fn gallery_figure(context: Context<'_>, network: &NetworkRecord) -> Option<Drawn> {
    let points = pool::listed(&network.inducing).into_iter().map(|m| &network.inducing[m]);
    let pairs: Vec<(&Picture, Option<&Picture>)> = points
        .filter_map(|point| {
            let nearest = body_picture(context, point.nearest.first()?.example)?;
            Some((nearest, point.refined.as_ref().and_then(|r| body_picture(context, r.example))))
        })
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let nearest: Vec<&Picture> = pairs.iter().map(|(nearest, _)| *nearest).collect();
    let any_refined = pairs.iter().any(|(_, refined)| refined.is_some());
    // Where one was not moved its nearest stands in, so that places still belong together.
    let refined: Vec<&Picture> =
        if any_refined { pairs.iter().map(|(n, r)| r.unwrap_or(n)).collect() } else { Vec::new() };
    let title = "What the inducing points look like";
    let desc = "Pictures nearest to the inducing points and, beside them, pictures moved towards the inducing points.";
    let caption = "Pictures in the same place belong to the same inducing point, the most leaned on first. The right \
                   ones were changed until the model sees them as close to the inducing point as it gets.";
    let caption = if any_refined { caption } else { "The most leaned on come first." };
    Some(
        Drawn::new(
            context.id("gallery"),
            title,
            gallery::draw(title, &nearest, &refined, desc),
            caption.into(),
        )
        .with_room(Room::Full),
    )
}

fn balance(context: Context<'_>, network: &NetworkRecord, classes: &ClassRecord) -> Option<Drawn> {
    let mut counts = vec![0_usize; classes.classes.len()];
    let mut unknown = 0;
    for point in &network.inducing {
        match point.class.and_then(|class| counts.get_mut(class)) {
            Some(count) => *count += 1,
            None => unknown += 1,
        }
    }
    if unknown == network.inducing.len() {
        return None;
    }
    let mut order: Vec<usize> = (0..counts.len()).collect();
    if counts.len() > MOST_CLASSES {
        order.sort_by_key(|&class| (usize::MAX - counts[class], class));
        order.truncate(MOST_CLASSES);
    }
    let bar = |name: &str, count: usize, paint| Bar {
        says: number::count(count),
        ..bars::bar(name, count as f64, paint)
    };
    let mut bars: Vec<Bar> =
        order.iter().map(|&class| bar(&classes.classes[class], counts[class], ACCENT)).collect();
    let left_out = counts.iter().sum::<usize>() - order.iter().map(|&c| counts[c]).sum::<usize>();
    if left_out > 0 || counts.len() > order.len() {
        bars.push(bar(&format!("{} others", counts.len() - order.len()), left_out, OTHERS));
    }
    let title = "Inducing points of each class";
    let frame = Lying {
        title,
        x_title: "Inducing points",
        y_title: "Class of the pseudo-label",
        desc: "Counts of inducing points by the class of their pseudo-label.",
    };
    let caption = "A class without any is known only as what the others are not.";
    Some(Drawn::new(context.id("pseudo-labels"), title, bars::lying(frame, &bars), caption.into()))
}
