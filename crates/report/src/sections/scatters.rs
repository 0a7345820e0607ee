//! Predictions as points: each mark is a row whose example the page shows on hover.

use super::{ClassColours, Context, class_name, unit};
use crate::figure::axis::Axis;
use crate::figure::frame::Frame;
use crate::figure::legend::{self, Key};
use crate::figure::scatter::{Group, Guide, Scatter, Shape};
use crate::figure::{Marks, PageFigure};
use crate::palette::{OTHERS, SEQUENCE, step};
use crate::{
    ClassificationPoint, ClassificationRecord, RegressionPoint, RegressionRecord, escape, number_format,
};

/// Marks coloured by value, the largest on top.
pub(super) fn by_value(marks: &[(i64, [f64; 2], f64)], low: f64, high: f64) -> Vec<Group> {
    let mut groups: Vec<Group> =
        SEQUENCE.map(|paint| Group { shape: Shape::Dot, paint, marks: Vec::new() }).into();
    for &(id, at, value) in marks {
        groups[step((value - low) / (high - low))].marks.push((id, at));
    }
    groups
}

/// Two quantiles of the finite values, always distinct.
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

/// From zero where standard deviations hardly differ: otherwise the fourth digit would look like a difference.
fn std_range(record: &RegressionRecord) -> (f64, f64) {
    let (low, high) = range(record.points.iter().map(|p| p.std), 0.02, 0.98);
    if low > 0.8 * high { (0.0, high) } else { (low, high) }
}

pub(super) fn mean_std(context: Context<'_>, t: usize, record: &RegressionRecord) -> PageFigure {
    let (name, unit) = (context.target_id("mean-variance", t), unit(&record.name));
    let error = |p: &RegressionPoint| (p.truth - p.mean).abs();
    let (_, high) = range(record.points.iter().map(error), 0.0, 0.98);
    let marks: Vec<_> =
        record.points.iter().enumerate().map(|(k, p)| (k as i64, [p.mean, p.std], error(p))).collect();
    let scatter = Scatter {
        name: &name,
        frame: Frame {
            title: "Predicted mean and standard deviation",
            x_title: &format!("Predicted mean ({unit})"),
            y_title: &format!("Predicted standard deviation ({unit})"),
            x: Axis::around(record.points.iter().map(|p| p.mean)),
            y: Axis::from_zero(record.points.iter().map(|p| p.std)),
            legend: vec![Key::Ramp(
                "Absolute error".into(),
                "0".into(),
                format!("≥ {}", number_format::significant(high, 2)),
            )],
            height: 280.0,
        },
        groups: by_value(&marks, 0.0, high),
        guide: Guide::None,
        desc: "Each point is a row: predicted mean, predicted standard deviation and, as colour, absolute error.",
    };
    let caption = "Each point is a row. If the uncertainty is informative, rows with a larger predicted standard deviation \
                   have larger errors (colour).";
    interactive(context, t, name.clone(), &scatter, caption)
}

pub(super) fn predicted_observed(context: Context<'_>, t: usize, record: &RegressionRecord) -> PageFigure {
    let (name, unit) = (context.target_id("predicted-observed", t), unit(&record.name));
    let both = record.points.iter().flat_map(|p| [p.mean, p.truth]);
    let axis = Axis::around(both);
    let (low, high) = std_range(record);
    let marks: Vec<_> =
        record.points.iter().enumerate().map(|(k, p)| (k as i64, [p.mean, p.truth], p.std)).collect();
    let ends = (number_format::significant(low, 2), number_format::significant(high, 2));
    let scatter = Scatter {
        name: &name,
        frame: Frame {
            title: "Predicted and observed values",
            x_title: &format!("Predicted mean ({unit})"),
            y_title: &format!("Observed ({unit})"),
            x: axis.clone(),
            y: axis,
            legend: vec![Key::Ramp("Standard deviation".into(), ends.0, ends.1)],
            height: 280.0,
        },
        groups: by_value(&marks, low, high),
        guide: Guide::Diagonal,
        desc: "Each point is a row; on the dashed diagonal the prediction is exact.",
    };
    let caption = "On the dashed line the prediction is exact. Rows far from it should have a large predicted standard \
                   deviation (colour).";
    interactive(context, t, name.clone(), &scatter, caption)
}

pub(super) fn residuals(context: Context<'_>, t: usize, record: &RegressionRecord) -> PageFigure {
    let (name, unit) = (context.target_id("residuals", t), unit(&record.name));
    let residual = |p: &RegressionPoint| p.truth - p.mean;
    let (low, high) = std_range(record);
    let marks: Vec<_> =
        record.points.iter().enumerate().map(|(k, p)| (k as i64, [p.mean, residual(p)], p.std)).collect();
    let ends = (number_format::significant(low, 2), number_format::significant(high, 2));
    let scatter = Scatter {
        name: &name,
        frame: Frame {
            title: "Residuals",
            x_title: &format!("Predicted mean ({unit})"),
            y_title: &format!("Observed − predicted ({unit})"),
            x: Axis::around(record.points.iter().map(|p| p.mean)),
            y: Axis::around(record.points.iter().map(residual).chain([0.0])),
            legend: vec![Key::Ramp("Standard deviation".into(), ends.0, ends.1)],
            height: 280.0,
        },
        groups: by_value(&marks, low, high),
        guide: Guide::Zero,
        desc: "Each point is a row: predicted mean and residual; on the dashed line the prediction is exact.",
    };
    let caption = "A good cloud has no shape of its own: its middle stays on the dashed line. A curve means that the mean is \
                   wrong in places; a funnel is no harm where the predicted standard deviation (colour) grows with it.";
    interactive(context, t, name.clone(), &scatter, caption)
}

pub(super) fn class_scatter(context: Context<'_>, t: usize, record: &ClassificationRecord) -> PageFigure {
    let name = context.target_id("mean-variance", t);
    let place = |p: &ClassificationPoint| {
        if record.has_latent_variance {
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
        legend.push(Key::Cross("misclassified".into()));
    }
    let titles = if record.has_latent_variance {
        ["Latent mean and variance", "Latent mean", "Latent variance"]
    } else {
        [
            "Confidence and entropy",
            "Confidence: probability of the predicted class (%)",
            "Predictive entropy (nats)",
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
        guide: Guide::None,
        desc: "Each mark is a row, coloured by its true class; crosses are misclassified.",
    };
    let caption = match (record.has_latent_variance, record.classes.len()) {
        (true, 2) => format!(
            "The latent function is the score that is turned into a probability: large values favour “{}”, small values \
             the other class. A large variance marks inputs that are far from the inducing points.",
            escape::text(&escape::truncate(&class_name(record, 1), 40))
        ),
        (true, _) => {
            "The latent function is the score of the predicted class, before it is turned into a probability. A large \
             variance marks inputs that are far from the inducing points."
                .into()
        }
        (false, _) => {
            "The entropy is 0 where one class has all the probability. Confident predictions are at the bottom right; \
             misclassified rows should be on the left."
                .into()
        }
    };
    interactive(context, t, name.clone(), &scatter, &caption)
}

/// One group for each class of correct predictions, then one for each class of misclassified rows.
pub(super) fn class_groups(
    record: &ClassificationRecord,
    colours: &ClassColours,
    place: &dyn Fn(&ClassificationPoint) -> [f64; 2],
) -> Vec<Group> {
    // Classes without a colour of their own come first, beneath the rest.
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

pub(super) fn class_legend(record: &ClassificationRecord, colours: &ClassColours) -> Vec<Key> {
    let own =
        colours.own.iter().map(|&class| Key::Dot(colours.of(class), legend::name(&record.classes[class])));
    let others = (colours.others > 0)
        .then(|| Key::Dot(OTHERS, number_format::counted(colours.others, "other class", "other classes")));
    own.chain(others).collect()
}

/// A scatter plot whose marks show their example on hover.
pub(super) fn interactive(
    context: Context<'_>,
    t: usize,
    name: String,
    scatter: &Scatter<'_>,
    caption: &str,
) -> PageFigure {
    let (svg, order) = scatter.draw();
    let marks = Some(Marks { model: context.m, target: t, order });
    PageFigure { marks, ..PageFigure::new(name, scatter.frame.title, svg, caption.into()) }
}
