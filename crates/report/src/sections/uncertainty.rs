//! How sure the model is, and whether it is right to be.

use super::{Block, ClassColours, Context, Section, examples, unit};
use crate::figure::axis::Axis;
use crate::figure::curve::{Curves, Line};
use crate::figure::frame::Frame;
use crate::figure::legend::{self, Key};
use crate::figure::scatter::{Group, Scatter, Shape};
use crate::figure::{Drawn, Marks, bars, matrix};
use crate::palette::{ACCENT, OTHERS, SEQUENCE, step};
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

fn mean_std(context: Context<'_>, t: usize, record: &NumberRecord) -> Drawn {
    let (name, unit) = (context.target_id("mean-variance", t), unit(&record.name));
    let error = |p: &crate::NumberPoint| (p.truth - p.mean).abs();
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

fn predicted_observed(context: Context<'_>, t: usize, record: &NumberRecord) -> Drawn {
    let (name, unit) = (context.target_id("predicted-observed", t), unit(&record.name));
    let both = record.points.iter().flat_map(|p| [p.mean, p.truth]);
    let axis = Axis::around(both);
    let deviations = |p: &crate::NumberPoint| p.std;
    let (low, high) = range(record.points.iter().map(deviations), 0.02, 0.98);
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

fn class_scatter(context: Context<'_>, t: usize, record: &ClassRecord) -> Drawn {
    let name = context.target_id("mean-variance", t);
    let place = |p: &crate::ClassPoint| {
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
            escape::text(&escape::cut(super::class_name(record, 1), 40))
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
    place: &dyn Fn(&crate::ClassPoint) -> [f64; 2],
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

/// A line of [`coverage`] or [`reliability`]: colour, dashes, what it is, and its dots.
pub(super) type Named = (Line, String);

pub(super) fn coverage_lines(record: &NumberRecord) -> Vec<Named> {
    let line = |value: &dyn Fn(&crate::Coverage) -> f64| {
        record.coverage.iter().map(|c| [100.0 * c.level, 100.0 * value(c)]).collect::<Vec<_>>()
    };
    let after = (Line::new(ACCENT, "", line(&|c| c.after)), "as delivered".to_owned());
    let differs = record.coverage.iter().any(|c| c.before != c.after);
    let before = (Line::new(OTHERS, "6 4", line(&|c| c.before)), "before recalibration".to_owned());
    if differs { vec![before, after] } else { vec![after] }
}

pub(super) fn coverage(name: &str, lines: &[Named]) -> Drawn {
    let title = "Do intervals hold what they promise?";
    let curves = Curves {
        frame: Frame {
            title,
            x_title: "Promised: level of the interval (%)",
            y_title: "Held: rows inside their interval (%)",
            x: Axis::exact(0.0, 100.0),
            y: Axis::exact(0.0, 100.0),
            legend: keys(lines),
            height: 280.0,
        },
        lines: lines.iter().map(|(line, _)| line.clone()).collect(),
        diagonal: true,
        desc: "Share of rows inside their central interval against its level; the dotted diagonal is perfect.",
    };
    let caption = "A 90 % interval should hold 90 % of the observations: on the dotted line. Below it the model is too \
                   sure of itself, above it too careful.";
    Drawn::new(name, title, curves.draw(), caption.into())
}

pub(super) fn reliability_line(bins: &[ign::class_metrics::Bin]) -> (Vec<[f64; 2]>, Vec<f64>) {
    let most = bins.iter().map(|b| b.count).max().unwrap_or(0).max(1) as f64;
    let filled = || bins.iter().filter(|b| b.count > 0);
    let at = filled().filter_map(|b| Some([100.0 * b.confidence?, 100.0 * b.accuracy?])).collect();
    (at, filled().map(|b| 2.0 + 5.0 * (b.count as f64 / most).sqrt()).collect())
}

pub(super) fn reliability_lines(record: &ClassRecord) -> Vec<Named> {
    let line = |paint, dash, bins: &[_]| {
        let (at, dots) = reliability_line(bins);
        Line { paint, dash, at, dots }
    };
    let before = record.metrics.uncalibrated.as_ref();
    before
        .map(|u| (line(OTHERS, "6 4", &u.reliability), "before recalibration".to_owned()))
        .into_iter()
        .chain([(line(ACCENT, "", &record.metrics.reliability), "as delivered".to_owned())])
        .collect()
}

pub(super) fn reliability(name: &str, lines: &[Named]) -> Drawn {
    let title = "Are probabilities what they say?";
    let curves = Curves {
        frame: Frame {
            title,
            x_title: "Stated: probability of the predicted class (%)",
            y_title: "True: predictions that are right (%)",
            x: Axis::exact(0.0, 100.0),
            y: Axis::exact(0.0, 100.0),
            legend: keys(lines),
            height: 280.0,
        },
        lines: lines.iter().map(|(line, _)| line.clone()).collect(),
        diagonal: true,
        desc: "Share of right predictions against their stated probability; the dotted diagonal is perfect.",
    };
    let caption = "Of all predictions made with 80 %, 80 % should be right: on the dotted line. Each dot is a group of \
                   rows of similar confidence; the larger the dot, the more rows.";
    Drawn::new(name, title, curves.draw(), caption.into())
}

fn keys(lines: &[Named]) -> Vec<Key> {
    lines.iter().map(|(line, says)| Key::Line(line.paint, line.dash, legend::name(says))).collect()
}

/// What errors of classes are called.
pub(super) const CLASS_RISK: &str = "Mistakes among the rows kept (%)";

pub(super) fn number_risk(record: &NumberRecord) -> String {
    format!("RMSE of the rows kept ({})", unit(&record.name))
}

/// Colour, dashes, shares and errors, name.
pub(super) type RiskLine<'a> = (crate::palette::Paint, &'static str, &'a [[f64; 2]], String);

pub(super) fn risk(name: &str, y_title: &str, lines: &[RiskLine<'_>]) -> Drawn {
    let title = "Errors when only the surest are kept";
    let times = if y_title == CLASS_RISK { 100.0 } else { 1.0 };
    let drawn: Vec<Line> = lines
        .iter()
        .map(|(paint, dash, risk, _)| {
            Line::new(*paint, dash, risk.iter().map(|[kept, error]| [100.0 * kept, times * error]).collect())
        })
        .collect();
    let named = lines.iter().filter(|(_, _, _, says)| !says.is_empty());
    let curves = Curves {
        frame: Frame {
            title,
            x_title: "Rows kept, the surest first (%)",
            y_title,
            x: Axis::exact(0.0, 100.0),
            y: Axis::from_zero(drawn.iter().flat_map(|l| &l.at).map(|at| at[1]).chain([0.0])),
            legend: named.map(|(paint, dash, _, says)| Key::Line(*paint, dash, legend::name(says))).collect(),
            height: 240.0,
        },
        lines: drawn,
        diagonal: false,
        desc: "Error of the rows that remain when the least certain are left out.",
    };
    let caption = "If the least certain rows are given to someone else, the error of the rest should fall: the line \
                   should rise to the right. A flat line would mean that the stated uncertainty says nothing.";
    Drawn::new(name, title, curves.draw(), caption.into())
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
