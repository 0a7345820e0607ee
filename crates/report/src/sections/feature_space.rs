//! The encoder's features and the inducing points, projected on two principal components.

use super::scatters::{by_value, class_groups, class_legend, interactive, range};
use super::{Block, ClassColours, Context, Section, target_name, unit};
use crate::figure::axis::Axis;
use crate::figure::frame::Frame;
use crate::figure::legend::Key;
use crate::figure::scatter::{Group, Guide, Scatter, Shape};
use crate::figure::{PageFigure, Placement};
use crate::palette::INK;
use crate::{FeatureSpace, TargetRecord, number_format};

/// Targets that have a figure each.
const MAX_TARGETS: usize = 4;

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let space = context.model.features.as_ref()?;
    let targets = context.model.targets.iter().enumerate().take(MAX_TARGETS);
    let figures: Vec<PageFigure> = targets.map(|(t, target)| draw(context, t, target, space)).collect();
    let intro = format!(
        "The encoder maps every input to {}; inputs with nearby features get similar predictions. The figure shows the \
         features after a principal component analysis (PCA). Diamonds are the inducing points, the learned reference \
         points that every prediction is based on.",
        number_format::counted(space.dim, "feature", "features")
    );
    let placement = if figures.len() == 1 { Placement::Side } else { Placement::Half };
    let figures = figures.into_iter().map(|figure| figure.with_placement(placement)).collect();
    Some(context.section("features", "Feature space", intro, vec![Block::Figures(figures)]))
}

fn draw(context: Context<'_>, t: usize, target: &TargetRecord, space: &FeatureSpace) -> PageFigure {
    let name = context.target_id("feature-space", t);
    let at = |k: usize| space.points.get(k).copied().unwrap_or([f64::NAN; 2]);
    let (mut groups, mut legend) = match target {
        TargetRecord::Regression(record) => {
            let (low, high) = range(record.points.iter().map(|p| p.truth), 0.02, 0.98);
            let marks: Vec<_> =
                record.points.iter().enumerate().map(|(k, p)| (k as i64, at(k), p.truth)).collect();
            let ends = (number_format::significant(low, 2), number_format::significant(high, 2));
            (by_value(&marks, low, high), vec![Key::Ramp(unit(&record.name), ends.0, ends.1)])
        }
        TargetRecord::Classification(record) => {
            let colours = ClassColours::new(record);
            let mut groups = class_groups(record, &colours, &|_| [0.0; 2]);
            for (id, place) in groups.iter_mut().flat_map(|g| &mut g.marks) {
                *place = at(*id as usize);
            }
            let mut legend = class_legend(record, &colours);
            if record.points.iter().any(|p| p.truth != p.predicted) {
                legend.push(Key::Cross("misclassified".into()));
            }
            (groups, legend)
        }
    };
    let inducing = space.inducing.iter().enumerate().map(|(m, at)| (-1 - m as i64, *at)).collect();
    groups.push(Group { shape: Shape::Diamond, paint: INK, marks: inducing });
    if !space.inducing.is_empty() {
        legend.push(Key::Diamond("inducing point".into()));
    }
    let all = || space.points.iter().chain(&space.inducing);
    let title = if context.model.targets.len() > 1 {
        format!("Features, coloured by {}", unit(target_name(target)))
    } else {
        "Features and inducing points".into()
    };
    let axis = |k: usize| {
        format!(
            "PC {} ({} of the variance)",
            k + 1,
            number_format::percent(space.explained_variance_ratio[k])
        )
    };
    let scatter = Scatter {
        name: &name,
        frame: Frame {
            title: &title,
            x_title: &axis(0),
            y_title: &axis(1),
            x: Axis::around(all().map(|at| at[0])),
            y: Axis::around(all().map(|at| at[1])),
            legend,
            height: 330.0,
        },
        groups,
        guide: Guide::None,
        desc: "The first two principal components of the features of rows and inducing points.",
    };
    let others = match space.dim.saturating_sub(2) {
        0 => String::new(),
        n => format!(
            " Points that are close here may be far apart along the other {}.",
            number_format::counted(n, "component", "components")
        ),
    };
    let caption = format!(
        "The first two principal components explain {} of the variance; the axes are scaled independently.{others}",
        number_format::percent(space.explained_variance_ratio.iter().sum())
    );
    interactive(context, t, name.clone(), &scatter, &caption)
}
