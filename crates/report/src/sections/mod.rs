//! The sections of the page, in order. [`render`](crate::render) and [`figures`](crate::figures) share them.

mod baselines;
mod compare;
mod conditional;
mod curves;
mod dependence;
mod examples;
mod feature_space;
mod importance;
mod inducing_points;
mod reliability;
mod scatters;
mod summary;
mod table;
pub(crate) mod thresholds;
mod training;
mod uncertainty;
mod verdict;

use crate::example_pool::ExamplePool;
use crate::figure::PageFigure;
use crate::palette::{OTHERS, Paint, SERIES};
use crate::{Body, ClassificationRecord, ModelRecord, RunRecord, TargetRecord, escape};
use std::borrow::Cow;

/// A section of the page.
#[derive(Debug)]
pub(crate) struct Section {
    /// Unique.
    pub(crate) id: String,
    /// Of the heading: 2, or 3 where several models have sections of their own.
    pub(crate) level: u8,
    pub(crate) heading: String,
    /// Whether it shows the inside of the model, which most readers need not see.
    pub(crate) expert: bool,
    /// How to read it, as HTML.
    pub(crate) intro: String,
    pub(crate) blocks: Vec<Block>,
}

/// What a section holds.
#[derive(Debug)]
pub(crate) enum Block {
    Html(String),
    /// Side by side where there is room.
    Figures(Vec<PageFigure>),
}

/// The model that a section is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) run: &'a RunRecord,
    pub(crate) model: &'a ModelRecord,
    /// Its index among the models.
    pub(crate) m: usize,
    pub(crate) pool: &'a ExamplePool<'a>,
}

impl Context<'_> {
    /// An id that no other model uses.
    fn id(&self, name: &str) -> String {
        if self.run.models.len() > 1 { format!("m{}-{name}", self.m + 1) } else { name.into() }
    }

    /// An id that no other target uses, even one of the same name.
    fn target_id(&self, name: &str, target: usize) -> String {
        if self.model.targets.len() < 2 {
            return self.id(name);
        }
        let slug = escape::slug(target_name(&self.model.targets[target]));
        let hyphen = if slug.is_empty() { "" } else { "-" };
        self.id(&format!("{name}-{}{hyphen}{slug}", target + 1))
    }

    fn shows_images(&self) -> bool {
        self.model.examples.iter().any(|example| matches!(example.body, Body::Image(_)))
    }

    fn section(&self, id: &str, heading: &str, intro: String, blocks: Vec<Block>) -> Section {
        let level = if self.run.models.len() > 1 { 3 } else { 2 };
        Section { id: self.id(id), level, heading: heading.into(), expert: false, intro, blocks }
    }
}

/// All sections of the page.
pub(crate) fn all<'a>(run: &'a RunRecord, pool: &'a ExamplePool<'a>) -> Vec<Section> {
    let mut sections = vec![summary::section(run)];
    for (m, model) in run.models.iter().enumerate() {
        let context = Context { run, model, m, pool };
        if run.models.len() > 1 {
            sections.push(Section {
                id: format!("m{}", m + 1),
                level: 2,
                heading: escape::or_placeholder(&model.name).into_owned(),
                expert: false,
                intro: String::new(),
                blocks: vec![Block::Html(verdict::verdict(run, model) + &baselines::tables(model))],
            });
        }
        sections.extend(importance::section(context));
        sections.extend(dependence::section(context));
        sections.extend(uncertainty::section(context));
        sections.extend(thresholds::section(context));
        // Images say at a glance what a model has learned; rows and graphs do not.
        let (shown, hidden): (Vec<_>, Vec<_>) =
            inducing_points::section(context).into_iter().partition(|_| context.shows_images());
        sections.extend(shown);
        let experts = feature_space::section(context)
            .into_iter()
            .chain(hidden)
            .chain(training::section(context))
            .chain(summary::configuration(context));
        sections.extend(experts.map(|section| Section { expert: true, ..section }));
    }
    sections
}

/// The first cards, and the rest behind a click.
fn card_grid(cards: &[String], visible: usize, class: &str) -> String {
    let grid = |cards: &[String]| format!("<div class=\"{class}\">{}</div>", cards.concat());
    match cards.split_at(cards.len().min(visible)) {
        (first, []) => grid(first),
        (first, rest) => format!(
            "{}<details><summary>Show {} more</summary>{}</details>",
            grid(first),
            rest.len(),
            grid(rest)
        ),
    }
}

/// Name of a target.
pub(crate) fn target_name(target: &TargetRecord) -> &str {
    match target {
        TargetRecord::Regression(number) => &number.name,
        TargetRecord::Classification(classes) => &classes.name,
    }
}

/// A target's name, short enough to serve as the unit of an axis.
pub(crate) fn unit(name: &str) -> String {
    escape::truncate(&escape::or_placeholder(name), 20).into_owned()
}

/// Name of a class; `?` for an index that does not exist.
pub(crate) fn class_name(classes: &ClassificationRecord, class: usize) -> Cow<'_, str> {
    classes.classes.get(class).map_or(Cow::Borrowed("?"), |name| escape::or_placeholder(name))
}

/// Colours of classes: one each for up to ten, otherwise for the most frequent nine.
#[derive(Debug)]
pub(crate) struct ClassColours {
    paints: Vec<Paint>,
    /// Classes with a colour of their own.
    pub(crate) own: Vec<usize>,
    /// How many classes share the last colour.
    pub(crate) others: usize,
}

impl ClassColours {
    pub(crate) fn new(record: &ClassificationRecord) -> Self {
        let k = record.classes.len();
        let mut own: Vec<usize> = (0..k).collect();
        if k > SERIES.len() + 1 {
            let mut seen = vec![0_usize; k];
            for point in &record.points {
                if let Some(n) = seen.get_mut(point.truth) {
                    *n += 1;
                }
            }
            own.sort_by_key(|&class| (usize::MAX - seen[class], class));
            own.truncate(SERIES.len());
        }
        let mut paints = vec![OTHERS; k];
        for (place, &class) in own.iter().enumerate() {
            paints[class] = SERIES.get(place).copied().unwrap_or(OTHERS);
        }
        let others = k - own.len();
        Self { paints, own, others }
    }

    pub(crate) fn of(&self, class: usize) -> Paint {
        self.paints.get(class).copied().unwrap_or(OTHERS)
    }
}
