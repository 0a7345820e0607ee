//! Predictions as points: each mark is a row that the page can show.

use super::{ClassColours, Context, class_name, unit};
use crate::figure::axis::Axis;
use crate::figure::frame::Frame;
use crate::figure::legend::{self, Key};
use crate::figure::scatter::{Group, Scatter, Shape};
use crate::figure::{Drawn, Marks};
use crate::palette::{OTHERS, SEQUENCE, step};
use crate::{ClassPoint, ClassRecord, NumberPoint, NumberRecord, escape, number};

/// Marks in the colours of the sequence, the smallest values first and so beneath the others.
pub(super) fn by_value(marks: &[(i64, [f64; 2], f64)], low: f64, high: f64) -> Vec<Group> {
    let mut groups: Vec<Group> =
        SEQUENCE.map(|paint| Group { shape: Shape::Dot, paint, marks: Vec::new() }).into();
    for &(id, at, value) in marks {
        groups[step((value - low) / (high - low))].marks.push((id, at));
    }
    groups
}

/// The values below which these shares of the finite ones lie; never the same twice.
pub(super) fn range(values: impl Iterator<Item = f64>, low: f64, high: f64) -> (f64, f64) {
    let mut values: Vec<f64> = values.filter(|v| v.is_finite()).map(|v| v.clamp(-1e300, 1e300)).collect();
    values.sort_by(f64::total_cmp);
    let at =
        |share: f64| values.get(((values.len() as f64 - 1.0) * share).round().max(0.0) as usize).copied();
    match (at(low), at(high)) {
        (Some(a), Some(b)) if a < b => (a, b),
        (Some(a), _) => (a, a + a.abs().max(1e-290)),
        _ => (0.0, 1.0),
    }
}

/// Where deviations hardly differ, colours from zero on: else the fourth digit would look like a difference.
fn range_of_deviations(record: &NumberRecord) -> (f64, f64) {
    let (low, high) = range(record.points.iter().map(|p| p.std), 0.02, 0.98);
    if low > 0.8 * high { (0.0, high) } else { (low, high) }
}

pub(super) fn mean_std(context: Context<'_>, t: usize, record: &NumberRecord) -> Drawn {
    let (name, unit) = (context.target_id("mean-variance", t), unit(&record.name));
    let error = |p: &NumberPoint| (p.truth - p.mean).abs();
    let (_, high) = range(record.points.iter().map(error), 0.0, 0.98);
    let marks: Vec<_> =
        record.points.iter().enumerate().map(|(k, p)| (k as i64, [p.mean, p.std], error(p))).collect();
    let scatter = Scatter {
        name: &name,
        frame: Frame {
            title: "Predicted mean against deviation",
            x_title: &format!("Predicted mean ({unit})"),
            y_title: &format!("Predicted standard deviation ({unit})"),
            x: Axis::around(record.points.iter().map(|p| p.mean)),
            y: Axis::from_zero(record.points.iter().map(|p| p.std)),
            legend: vec![Key::Ramp(
                "Absolute error".into(),
                "0".into(),
                format!("≥ {}", number::significant(high, 2)),
            )],
            height: 280.0,
        },
        groups: by_value(&marks, 0.0, high),
        diagonal: false,
        desc: "Each dot is a row: what is predicted, how far off it may be, and by colour how far off it was.",
    };
    let caption = "The standard deviation is the root of the predicted variance. Where the model says “unsure” \
                   (high up), errors should be larger (further along the colours).";
    interactive(context, t, name.clone(), &scatter, caption)
}

pub(super) fn predicted_observed(context: Context<'_>, t: usize, record: &NumberRecord) -> Drawn {
    let (name, unit) = (context.target_id("predicted-observed", t), unit(&record.name));
    let both = record.points.iter().flat_map(|p| [p.mean, p.truth]);
    let axis = Axis::around(both);
    let (low, high) = range_of_deviations(record);
    let marks: Vec<_> =
        record.points.iter().enumerate().map(|(k, p)| (k as i64, [p.mean, p.truth], p.std)).collect();
    let ends = (number::significant(low, 2), number::significant(high, 2));
    let scatter = Scatter {
        name: &name,
        frame: Frame {
            title: "Predicted against observed",
            x_title: &format!("Predicted mean ({unit})"),
            y_title: &format!("Observed ({unit})"),
            x: axis.clone(),
            y: axis,
            legend: vec![Key::Ramp("Deviation".into(), ends.0, ends.1)],
            height: 280.0,
        },
        groups: by_value(&marks, low, high),
        diagonal: true,
        desc: "Each dot is a row; on the dashed diagonal the prediction is exact.",
    };
    let caption = "On the dashed line a prediction is exact. Where dots are far from it, the model \
                   should have been unsure: further along the colours.";
    interactive(context, t, name.clone(), &scatter, caption)
}

pub(super) fn class_scatter(context: Context<'_>, t: usize, record: &ClassRecord) -> Drawn {
    let name = context.target_id("mean-variance", t);
    let place = |p: &ClassPoint| {
        if record.has_variance {
            [p.latent_mean, p.latent_std * p.latent_std]
        } else {
            [100.0 * p.p, p.entropy]
        }
    };
    let colours = ClassColours::new(record);
    let mut groups = class_groups(record, &colours, &place);
    let wrong = groups.split_off(groups.len() / 2);
    let any_wrong = wrong.iter().any(|g| !g.marks.is_empty());
    groups.extend(wrong);
    let mut legend = class_legend(record, &colours);
    if any_wrong {
        legend.push(Key::Cross("predicted wrongly".into()));
    }
    let titles = if record.has_variance {
        [
            "Latent mean against latent variance",
            "Mean of the latent function",
            "Variance of the latent function",
        ]
    } else {
        [
            "Confidence against entropy",
            "Probability of the predicted class (%)",
            "Entropy of all probabilities (nats)",
        ]
    };
    let scatter = Scatter {
        name: &name,
        frame: Frame {
            title: titles[0],
            x_title: titles[1],
            y_title: titles[2],
            x: Axis::around(record.points.iter().map(|p| place(p)[0])),
            y: Axis::from_zero(record.points.iter().map(|p| place(p)[1])),
            legend,
            height: 280.0,
        },
        groups,
        diagonal: false,
        desc: "Each mark is a row, coloured by its true class; crosses are wrong predictions.",
    };
    let caption = match (record.has_variance, record.classes.len()) {
        (true, 2) => format!(
            "The latent function is the score from which probabilities are made: far right means “{}”, far left the \
             other class. High up, the model knows little about this part of the data.",
            escape::text(&escape::cut(class_name(record, 1), 40))
        ),
        (true, _) => {
            "The latent function is the score of the predicted class: far right means a clear decision. High \
                      up, the model knows little about this part of the data."
                .into()
        }
        (false, _) => {
            "At the right the model is sure; entropy is 0 where all probability is with one class. Crosses \
                       should lie to the left."
                .into()
        }
    };
    interactive(context, t, name.clone(), &scatter, &caption)
}

/// First the right ones by class, then as many groups of wrong ones.
pub(super) fn class_groups(
    record: &ClassRecord,
    colours: &ClassColours,
    place: &dyn Fn(&ClassPoint) -> [f64; 2],
) -> Vec<Group> {
    // The others first: beneath the classes that have a colour.
    let paints: Vec<_> =
        std::iter::once(OTHERS).chain(colours.own.iter().map(|&class| colours.of(class))).collect();
    let group = |shape: Shape| paints.iter().map(move |&paint| Group { shape, paint, marks: Vec::new() });
    let mut groups: Vec<Group> = group(Shape::Dot).chain(group(Shape::Cross)).collect();
    for (k, p) in record.points.iter().enumerate() {
        let paint = colours.of(p.truth);
        let found = paints.iter().position(|&known| known == paint).unwrap_or(0);
        let wrong = if p.truth == p.predicted { 0 } else { paints.len() };
        groups[found + wrong].marks.push((k as i64, place(p)));
    }
    groups
}

pub(super) fn class_legend(record: &ClassRecord, colours: &ClassColours) -> Vec<Key> {
    let own =
        colours.own.iter().map(|&class| Key::Dot(colours.of(class), legend::name(&record.classes[class])));
    let others = (colours.others > 0)
        .then(|| Key::Dot(OTHERS, number::counted(colours.others, "other class", "other classes")));
    own.chain(others).collect()
}

/// A scatter whose marks the page can show.
pub(super) fn interactive(
    context: Context<'_>,
    t: usize,
    name: String,
    scatter: &Scatter<'_>,
    caption: &str,
) -> Drawn {
    let (svg, order) = scatter.draw();
    let marks = Some(Marks { model: context.m, target: t, order });
    Drawn { marks, ..Drawn::new(name, scatter.frame.title, svg, caption.into()) }
}
