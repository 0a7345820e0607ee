//! The inducing points that predictions are based on.

use super::{Block, Context, Section, card_grid, examples};
use crate::example_pool::{self, EntryBody, MAX_LISTED_POINTS};
use crate::figure::bars::{self, Bar, HorizontalBars};
use crate::figure::{PageFigure, Placement, gallery};
use crate::palette::{ACCENT, OTHERS};
use crate::{
    Body, ClassificationRecord, InducingPointRecord, NearestExample, NetworkRecord, TargetRecord, escape,
    number_format,
};
use std::fmt::Write;

/// Nearest examples that are shown without a click.
const VISIBLE_NEAREST: usize = 3;
/// Longer cells are texts.
const SHORT_CELL: usize = 48;
/// Cards that are shown without a click.
const VISIBLE_CARDS: usize = 12;
/// Networks whose inducing points are listed.
const MAX_NETWORKS: usize = 12;
/// Classes that fit a figure.
const MAX_CLASSES: usize = 30;

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let networks: Vec<&NetworkRecord> =
        context.model.networks.iter().filter(|n| !n.inducing.is_empty()).collect();
    let first = *networks.first()?;
    let (nearest_from, assigned_from) = (&context.model.nearest_from, &context.model.assigned_from);
    let intro = format!(
        "A prediction compares an input with {} in feature space. Each card shows the pseudo-label, that is, the value \
         the inducing point stands for; the nearest examples out of {} from {}; and how many of {} from {} are assigned \
         to it because they are more similar to it than to any other. Similarity is the kernel relative to its maximum.",
        number_format::counted(first.inducing.len(), "learned inducing point", "learned inducing points"),
        number_format::counted(nearest_from.inputs, "input", "inputs"),
        escape::text(&nearest_from.description),
        number_format::counted(assigned_from.inputs, "input", "inputs"),
        escape::text(&assigned_from.description),
    );
    let mut blocks = Vec::new();
    let mut figures: Vec<PageFigure> = Vec::new();
    let classes = context.model.targets.iter().find_map(|t| match t {
        TargetRecord::Classification(record) => Some(record),
        TargetRecord::Regression(_) => None,
    });
    figures.extend(gallery_figure(context, first));
    figures.extend(classes.and_then(|classes| points_per_class(context, first, classes)));
    if !figures.is_empty() {
        blocks.push(Block::Figures(figures));
    }
    for (k, network) in networks.iter().enumerate().take(MAX_NETWORKS) {
        let list = list(context, network);
        blocks.push(Block::Html(if networks.len() > 1 {
            let open = if k == 0 { " open" } else { "" };
            let name = escape::text(&escape::truncate(&escape::or_placeholder(&network.name), 60));
            format!("<details{open}><summary>{name}</summary>{list}</details>")
        } else {
            list
        }));
    }
    if networks.len() > MAX_NETWORKS {
        let left_out = number_format::count(networks.len() - MAX_NETWORKS);
        blocks.push(Block::Html(format!("<p class=\"quiet\">{left_out} more networks are not listed.</p>")));
    }
    Some(context.section("inducing", "Inducing points", intro, blocks))
}

fn list(context: Context<'_>, network: &NetworkRecord) -> String {
    let inducing = &network.inducing;
    let order = example_pool::listed(inducing);
    let unused = inducing.iter().filter(|point| point.assigned == 0).count();
    let mut out = format!(
        "<p>{} nearest to {}; {}.",
        number_format::counted(network.distinct_nearest, "distinct example is", "distinct examples are"),
        number_format::counted(inducing.len(), "inducing point", "inducing points"),
        match unused {
            0 => "every one has inputs assigned to it".to_owned(),
            n => format!(
                "{} no inputs assigned to {}",
                number_format::counted(n, "has", "have"),
                if n == 1 { "it" } else { "them" }
            ),
        }
    );
    if inducing.len() > MAX_LISTED_POINTS {
        let _ = write!(out, " The {MAX_LISTED_POINTS} with most assigned inputs are listed.");
    }
    let most = inducing.iter().map(|point| point.assigned).max().unwrap_or(0).max(1);
    let total: usize = inducing.iter().map(|point| point.assigned).sum();
    let cards: Vec<String> = order.iter().map(|&m| card(context, m, &inducing[m], most, total)).collect();
    let narrow = order.first().is_some_and(|&m| is_drawing(context, &inducing[m]));
    let (visible, class) =
        if narrow { (2 * VISIBLE_CARDS, "cards narrow") } else { (VISIBLE_CARDS, "cards") };
    out + "</p>" + &card_grid(&cards, visible, class)
}

fn card(context: Context<'_>, m: usize, point: &InducingPointRecord, most: usize, total: usize) -> String {
    let mut out = format!(
        "<article class=\"card inducing\"><h4><span class=\"quiet\">{}</span> {}</h4>",
        m + 1,
        escape::text(&escape::truncate(&escape::or_placeholder(&point.pseudo_label), 60))
    );
    let share = 100.0 * point.assigned as f64 / most as f64;
    let of_all =
        if total > 0 { number_format::percent(point.assigned as f64 / total as f64) } else { "–".into() };
    let _ = write!(
        out,
        "<p class=\"assigned\"><span class=\"meter\"><i style=\"width:{share:.1}%\"></i></span> <span>{} assigned <span class=\"quiet\">({of_all})</span></span></p>",
        number_format::count(point.assigned)
    );
    let mut nearest = point.nearest.iter();
    if is_drawing(context, point) {
        if let Some(neighbour) = nearest.next() {
            out.push_str("<div class=\"pair stack\">");
            out.push_str(&captioned(context, neighbour.example, &format!("nearest: {}", neighbour.truth)));
            if let Some(refined) = &point.refined {
                out.push_str(&captioned(context, refined.example, "refined"));
            }
            out.push_str("</div>");
            let _ = write!(
                out,
                "<p class=\"quiet\">distance {}",
                number_format::significant(neighbour.distance, 3)
            );
            if let Some(refined) = &point.refined {
                let _ = write!(out, " → {}", number_format::significant(refined.distance_after, 3));
            }
            out.push_str("</p>");
        }
        let others: String =
            nearest.take(VISIBLE_NEAREST).map(|n| captioned(context, n.example, &n.truth)).collect();
        if !others.is_empty() {
            let _ = write!(
                out,
                "<details><summary>next nearest</summary><div class=\"pair\">{others}</div></details>"
            );
        }
    } else {
        let rows: Vec<String> = nearest.map(|n| neighbour(context, n)).collect();
        let (first, rest) = rows.split_at(rows.len().min(VISIBLE_NEAREST));
        out.push_str(&first.concat());
        if !rest.is_empty() {
            let _ = write!(out, "<details><summary>{} more</summary>{}</details>", rest.len(), rest.concat());
        }
        if let Some(refined) = &point.refined
            && let Some(entry) = context.pool.entry(context.m, refined.example)
        {
            let _ = write!(
                out,
                "<details class=\"neighbour\"><summary><b>refined</b> <span class=\"quiet\">distance {} → {}</span></summary>{}</details>",
                number_format::significant(refined.distance_before, 3),
                number_format::significant(refined.distance_after, 3),
                examples::html(context.pool, entry)
            );
        }
    }
    out + "</article>"
}

/// Whether examples are images or graphs.
fn is_drawing(context: Context<'_>, point: &InducingPointRecord) -> bool {
    let nearest = point.nearest.first().and_then(|n| context.model.examples.get(n.example));
    nearest.is_some_and(|example| !matches!(example.body, Body::Cells(_)))
}

fn captioned(context: Context<'_>, example: usize, text: &str) -> String {
    let Some(entry) = context.pool.entry(context.m, example) else { return String::new() };
    let text = escape::text(&escape::truncate(text, 40));
    format!(
        "<span class=\"captioned\">{}<span class=\"quiet\">{text}</span></span>",
        examples::html(context.pool, entry)
    )
}

/// A text is shown at once, other rows on a click.
fn neighbour(context: Context<'_>, neighbour: &NearestExample) -> String {
    let Some(entry) = context.pool.entry(context.m, neighbour.example) else { return String::new() };
    let truth = escape::truncate(&escape::or_placeholder(&neighbour.truth), 40).into_owned();
    let (truth, name) = (escape::text(&truth), escape::text(&escape::truncate(entry.name, 40)));
    let similarity =
        format!("<span class=\"quiet\">similarity {}</span>", number_format::percent(neighbour.similarity));
    let text = match &entry.body {
        EntryBody::Cells(_, cells) => cells.iter().find(|cell| cell.chars().count() > SHORT_CELL),
        EntryBody::Image(_) | EntryBody::Graph(..) => None,
    };
    match text {
        Some(text) => {
            let text = escape::text(&escape::truncate(text, 160));
            format!("<p class=\"neighbour\"><b>{truth}</b> {text} {similarity}</p>")
        }
        None => format!(
            "<details class=\"neighbour\"><summary><b>{truth}</b> {name} {similarity}</summary>{}</details>",
            examples::html(context.pool, entry)
        ),
    }
}

fn gallery_figure(context: Context<'_>, network: &NetworkRecord) -> Option<PageFigure> {
    let points = example_pool::listed(&network.inducing).into_iter().map(|m| &network.inducing[m]);
    let drawn = gallery::draw(points, &context.model.examples)?;
    let caption = match drawn.refined {
        true => {
            "Images at the same position belong to the same inducing point, those with most assigned inputs first. Refined \
             images were optimised until their features are as close to the inducing point as they get."
        }
        false => "The nearest image of each inducing point, those with most assigned inputs first.",
    };
    let figure = PageFigure::new(context.id("gallery"), gallery::TITLE, drawn.svg, caption.into());
    Some(figure.with_placement(Placement::Full))
}

fn points_per_class(
    context: Context<'_>,
    network: &NetworkRecord,
    classes: &ClassificationRecord,
) -> Option<PageFigure> {
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
    if counts.len() > MAX_CLASSES {
        order.sort_by_key(|&class| (usize::MAX - counts[class], class));
        order.truncate(MAX_CLASSES);
    }
    let bar = |name: &str, count: usize, paint| Bar {
        text: number_format::count(count),
        ..bars::bar(name, count as f64, paint)
    };
    let mut bars: Vec<Bar> =
        order.iter().map(|&class| bar(&classes.classes[class], counts[class], ACCENT)).collect();
    let left_out = counts.iter().sum::<usize>() - order.iter().map(|&c| counts[c]).sum::<usize>();
    if left_out > 0 || counts.len() > order.len() {
        bars.push(bar(&format!("{} others", counts.len() - order.len()), left_out, OTHERS));
    }
    let title = "Inducing points per class";
    let frame = HorizontalBars {
        title,
        x_title: "Number of inducing points",
        y_title: "Class of the pseudo-label",
        desc: "Counts of inducing points by the class of their pseudo-label.",
    };
    let caption = "A class without inducing points can only be predicted by excluding the others.";
    Some(PageFigure::new(context.id("pseudo-labels"), title, bars::horizontal(frame, &bars), caption.into()))
}
