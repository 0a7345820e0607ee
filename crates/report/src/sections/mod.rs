//! The parts of the page, in their order. Each is built once, for the page and for the figures alone.

mod compare;
mod curves;
mod examples;
mod features;
mod inducing;
mod inputs;
mod scatters;
mod summary;
mod training;
mod uncertainty;

use crate::figure::Drawn;
use crate::palette::{OTHERS, Paint, SERIES};
use crate::pool::Pool;
use crate::{ClassRecord, ModelRecord, Report, TargetRecord, escape};
use std::collections::HashSet;

/// A part of the page.
#[derive(Debug)]
pub(crate) struct Section {
    /// Unique.
    pub(crate) id: String,
    /// 2 for a part of the page, 3 for a part of a model among several.
    pub(crate) level: u8,
    pub(crate) heading: String,
    /// How to read it, as HTML.
    pub(crate) intro: String,
    pub(crate) blocks: Vec<Block>,
}

/// What a section holds.
#[derive(Debug)]
pub(crate) enum Block {
    Html(String),
    /// Side by side where there is room.
    Figures(Vec<Drawn>),
}

/// The model that a section is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) report: &'a Report,
    pub(crate) model: &'a ModelRecord,
    /// Its place among the models.
    pub(crate) m: usize,
    pub(crate) pool: &'a Pool<'a>,
}

impl Context<'_> {
    /// Unique among the models of the page.
    fn id(&self, name: &str) -> String {
        if self.report.models.len() > 1 { format!("m{}-{name}", self.m + 1) } else { name.into() }
    }

    /// The same, for one of the model's targets.
    fn target_id(&self, name: &str, target: usize) -> String {
        if self.model.targets.len() < 2 {
            return self.id(name);
        }
        let slug = escape::slug(target_name(&self.model.targets[target]));
        let hyphen = if slug.is_empty() { "" } else { "-" };
        self.id(&format!("{name}-{}{hyphen}{slug}", target + 1))
    }

    fn section(&self, id: &str, heading: &str, intro: String, blocks: Vec<Block>) -> Section {
        let level = if self.report.models.len() > 1 { 3 } else { 2 };
        Section { id: self.id(id), level, heading: heading.into(), intro, blocks }
    }
}

/// All sections of the page.
pub(crate) fn all<'a>(report: &'a Report, pool: &'a Pool<'a>) -> Vec<Section> {
    let mut sections = vec![summary::section(report)];
    for (m, model) in report.models.iter().enumerate() {
        let context = Context { report, model, m, pool };
        if report.models.len() > 1 {
            sections.push(Section {
                id: format!("m{}", m + 1),
                level: 2,
                heading: escape::shown(&model.name).into_owned(),
                intro: String::new(),
                blocks: vec![Block::Html(summary::facts(model))],
            });
        }
        sections.extend(uncertainty::section(context));
        sections.extend(features::section(context));
        sections.extend(inducing::section(context));
        sections.extend(training::section(context));
        sections.extend(inputs::section(context));
    }
    let mut taken = HashSet::new();
    for section in &sections {
        for block in &section.blocks {
            if let Block::Figures(figures) = block {
                for drawn in figures {
                    debug_assert!(
                        taken.insert(drawn.figure.name.clone()),
                        "two figures called {}",
                        drawn.figure.name
                    );
                }
            }
        }
    }
    sections
}

/// What is predicted.
pub(crate) fn target_name(target: &TargetRecord) -> &str {
    match target {
        TargetRecord::Number(number) => &number.name,
        TargetRecord::Classes(classes) => &classes.name,
    }
}

/// A target's name as a unit.
pub(crate) fn unit(name: &str) -> String {
    escape::cut(&escape::shown(name), 20).into_owned()
}

/// The name of a class that may not be there.
pub(crate) fn class_name(classes: &ClassRecord, class: usize) -> &str {
    classes.classes.get(class).map_or("?", |name| if name.trim().is_empty() { "(empty)" } else { name })
}

/// Colours of classes: each its own up to ten, else the most frequent nine.
#[derive(Debug)]
pub(crate) struct ClassColours {
    paints: Vec<Paint>,
    /// Those with a colour of their own, by how often they occur.
    pub(crate) own: Vec<usize>,
    /// How many share the last colour.
    pub(crate) others: usize,
}

impl ClassColours {
    pub(crate) fn new(record: &ClassRecord) -> Self {
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
