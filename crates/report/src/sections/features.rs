//! What the network makes of its inputs, in two dimensions.

use super::scatters::{by_value, class_groups, class_legend, interactive, range};
use super::{Block, ClassColours, Context, Section, target_name, unit};
use crate::figure::axis::Axis;
use crate::figure::frame::Frame;
use crate::figure::legend::Key;
use crate::figure::scatter::{Group, Scatter, Shape};
use crate::figure::{Drawn, Room};
use crate::palette::INK;
use crate::{FeatureSpace, TargetRecord, number};

/// More targets than this are not drawn one by one.
const MOST_TARGETS: usize = 4;

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let space = context.model.features.as_ref()?;
    let targets = context.model.targets.iter().enumerate().take(MOST_TARGETS);
    let figures: Vec<Drawn> = targets.map(|(t, target)| draw(context, t, target, space)).collect();
    let intro = format!(
        "The model turns each input into {} and treats inputs alike whose features lie close together. This is the flat \
         view of that space which keeps most of its spread; diamonds are the inducing points, the landmarks that every \
         prediction is made from.",
        number::counted(space.dim, "number, its feature,", "numbers, its features,")
    );
    let room = if figures.len() == 1 { Room::Side } else { Room::Half };
    let figures = figures.into_iter().map(|drawn| drawn.with_room(room)).collect();
    Some(context.section("features", "What the model sees", intro, vec![Block::Figures(figures)]))
}

fn draw(context: Context<'_>, t: usize, target: &TargetRecord, space: &FeatureSpace) -> Drawn {
    let name = context.target_id("feature-space", t);
    let at = |k: usize| space.points.get(k).copied().unwrap_or([f64::NAN; 2]);
    let (mut groups, mut legend) = match target {
        TargetRecord::Number(record) => {
            let (low, high) = range(record.points.iter().map(|p| p.truth), 0.02, 0.98);
            let marks: Vec<_> =
                record.points.iter().enumerate().map(|(k, p)| (k as i64, at(k), p.truth)).collect();
            let ends = (number::significant(low, 2), number::significant(high, 2));
            (by_value(&marks, low, high), vec![Key::Ramp(unit(&record.name), ends.0, ends.1)])
        }
        TargetRecord::Classes(record) => {
            let colours = ClassColours::new(record);
            let mut groups = class_groups(record, &colours, &|_| [0.0; 2]);
            for (id, place) in groups.iter_mut().flat_map(|g| &mut g.marks) {
                *place = at(*id as usize);
            }
            let mut legend = class_legend(record, &colours);
            if record.points.iter().any(|p| p.truth != p.predicted) {
                legend.push(Key::Cross("predicted wrongly".into()));
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
    let axis = |direction: &str, share: f64| {
        format!("{direction} direction ({} of the variance)", number::percent(share))
    };
    let scatter = Scatter {
        name: &name,
        frame: Frame {
            title: &title,
            x_title: &axis("First", space.explained[0]),
            y_title: &axis("Second", space.explained[1]),
            x: Axis::around(all().map(|at| at[0])),
            y: Axis::around(all().map(|at| at[1])),
            legend,
            height: 330.0,
        },
        groups,
        diagonal: false,
        desc: "The first two principal components of the features of rows and inducing points.",
    };
    let explained: f64 = space.explained.iter().sum();
    let caption = format!(
        "Two principal components keep {} of the spread, each drawn to a scale of its own; what lies together here may still \
         be apart in the other {}.",
        number::percent(explained),
        number::counted(space.dim.saturating_sub(2), "direction", "directions")
    );
    interactive(context, t, name.clone(), &scatter, &caption)
}
