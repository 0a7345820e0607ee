//! How sure the model is, and whether it is right to be.

use super::curves::{
    CLASS_RISK, coverage, coverage_lines, number_risk, reliability, reliability_lines, risk,
};
use super::scatters::{class_scatter, mean_std, predicted_observed};
use super::{Block, Context, Section, examples, unit};
use crate::figure::{Drawn, bars, matrix};
use crate::palette::ACCENT;
use crate::{ClassRecord, NumberRecord, TargetRecord, escape, number};

/// One section, with a heading for each target where there are several.
pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let mut blocks = Vec::new();
    for (t, target) in context.model.targets.iter().enumerate() {
        if context.model.targets.len() > 1 {
            let name = super::target_name(target);
            blocks.push(Block::Html(format!(
                "<h3 class=\"target\">{}</h3>",
                escape::text(&escape::shown(name))
            )));
        }
        match target {
            TargetRecord::Number(record) => {
                blocks.push(Block::Figures(of_number(context, t, record)));
                blocks.push(Block::Html(examples::of_number(context, record)));
            }
            TargetRecord::Classes(record) => {
                blocks.push(Block::Figures(of_classes(context, t, record)));
                blocks.push(Block::Html(examples::of_classes(context, record)));
            }
        }
    }
    let intro = "Each prediction comes with a statement of how sure the model is; these figures show whether \
                 that statement can be trusted. <span class=\"js\">Point at a mark, tap it, or go from mark to mark \
                 with the arrow keys to see the example behind it.</span>";
    (!blocks.is_empty())
        .then(|| context.section("uncertainty", "How sure, and rightly so?", intro.into(), blocks))
}

fn of_number(context: Context<'_>, t: usize, record: &NumberRecord) -> Vec<Drawn> {
    vec![
        mean_std(context, t, record),
        predicted_observed(context, t, record),
        coverage(&context.target_id("coverage", t), &coverage_lines(record)),
        risk(
            &context.target_id("risk", t),
            &number_risk(record),
            &[(ACCENT, "", &record.risk, String::new())],
        ),
        spread(context, t, record),
    ]
}

fn of_classes(context: Context<'_>, t: usize, record: &ClassRecord) -> Vec<Drawn> {
    let mut drawn = vec![
        class_scatter(context, t, record),
        reliability(&context.target_id("reliability", t), &reliability_lines(record)),
        risk(&context.target_id("risk", t), CLASS_RISK, &[(ACCENT, "", &record.risk, String::new())]),
        entropy(context, t, record),
    ];
    if record.classes.len() <= matrix::MOST {
        let title = "Which classes are mistaken for which";
        let desc = "Counts of rows by true class and predicted class.";
        let svg = matrix::draw(title, &record.classes, &record.metrics.confusion, desc);
        let caption = "Each row is a true class, each column what was predicted; the stronger a cell’s colour, the larger its \
                       share of the row. Right predictions lie on the diagonal.";
        drawn.push(Drawn::new(context.target_id("confusion", t), title, svg, caption.into()));
    }
    drawn
}

fn spread(context: Context<'_>, t: usize, record: &NumberRecord) -> Drawn {
    let title = "How wide the predictions are";
    let x_title = format!("Predicted standard deviation ({})", unit(&record.name));
    let svg =
        bars::histogram(title, &x_title, &record.spread, "Counts of rows by their predicted deviation.");
    let caption = "The further left, the sharper the predictions; worth something only as long as intervals hold what \
                   they promise.";
    Drawn::new(context.target_id("sharpness", t), title, svg, caption.into())
}

fn entropy(context: Context<'_>, t: usize, record: &ClassRecord) -> Drawn {
    let title = "How undecided the predictions are";
    let x_title = "Entropy of the probabilities (nats)";
    let svg = bars::histogram(
        title,
        x_title,
        &record.spread,
        "Counts of rows by the entropy of their probabilities.",
    );
    let largest = (record.classes.len().max(1) as f64).ln();
    let caption = format!(
        "0 means that all probability is with one class; {} that all {} classes seem equally likely.",
        number::significant(largest, 3),
        number::count(record.classes.len())
    );
    Drawn::new(context.target_id("entropy", t), title, svg, caption)
}
