//! Whether the predicted uncertainty can be trusted.

use super::conditional;
use super::curves::{ERROR_RATE, coverage, coverage_lines, risk, rmse_of_kept};
use super::scatters::{class_scatter, mean_std, predicted_observed, residuals};
use super::{Block, Context, Section, class_name, examples, reliability, table, unit};
use crate::figure::{PageFigure, bars, matrix};
use crate::palette::ACCENT;
use crate::{ClassificationRecord, RegressionRecord, TargetRecord, escape, number_format};

/// One section, with a heading for each target where there are several.
pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let mut blocks = Vec::new();
    for (t, target) in context.model.targets.iter().enumerate() {
        if context.model.targets.len() > 1 {
            let name = escape::text(&escape::or_placeholder(super::target_name(target)));
            blocks.push(Block::Html(format!("<h3 class=\"target\">{name}</h3>")));
        }
        match target {
            TargetRecord::Regression(record) => {
                blocks.push(Block::Figures(of_regression(context, t, record)));
                blocks.push(Block::Html(conditional::coverage_by_familiarity(&record.by_familiarity)));
                if let Some(sliced) = &record.by_slice {
                    blocks.push(Block::Html(conditional::worst_slices(sliced)));
                    let figure = conditional::slice_figure(context, t, sliced);
                    blocks.extend(figure.map(|figure| Block::Figures(vec![figure])));
                }
                blocks.push(Block::Html(examples::of_regression(context, record)));
            }
            TargetRecord::Classification(record) => {
                blocks.push(Block::Figures(of_classification(context, t, record)));
                blocks.push(Block::Html(confusion_table(record)));
                blocks.push(Block::Html(conditional::accuracy_by_familiarity(&record.by_familiarity)));
                blocks.push(Block::Html(examples::of_classification(context, record)));
            }
        }
    }
    let intro = "Every prediction comes with an uncertainty. These figures show whether it is calibrated: are errors as \
                 large and as frequent as the model says? <span class=\"js\">Hover over a point, tap it, or move from \
                 point to point with the arrow keys to see the example behind it.</span>";
    (!blocks.is_empty())
        .then(|| context.section("uncertainty", "Uncertainty and calibration", intro.into(), blocks))
}

fn of_regression(context: Context<'_>, t: usize, record: &RegressionRecord) -> Vec<PageFigure> {
    vec![
        mean_std(context, t, record),
        predicted_observed(context, t, record),
        residuals(context, t, record),
        coverage(&context.target_id("coverage", t), &coverage_lines(record)),
        risk(
            &context.target_id("risk", t),
            &rmse_of_kept(record),
            &[(ACCENT, "", &record.risk_curve, String::new())],
        ),
        std_histogram(context, t, record),
    ]
}

fn of_classification(context: Context<'_>, t: usize, record: &ClassificationRecord) -> Vec<PageFigure> {
    let mut figures = vec![
        class_scatter(context, t, record),
        reliability::figure(&context.target_id("reliability", t), &reliability::lines(record)),
        risk(&context.target_id("risk", t), ERROR_RATE, &[(ACCENT, "", &record.risk_curve, String::new())]),
        entropy_histogram(context, t, record),
    ];
    if record.classes.len() <= matrix::MAX_CLASSES {
        let title = "Confusion matrix";
        let desc = "Counts of rows by true class and predicted class.";
        let svg = matrix::draw(title, &record.classes, &record.metrics.confusion, desc);
        let caption = "Rows are true classes, columns predicted classes; the stronger the colour, the larger the share of \
                       the true class. Correct predictions are on the diagonal.";
        figures.push(PageFigure::new(context.target_id("confusion", t), title, svg, caption.into()));
    }
    figures
}

/// The confusion matrix in numbers.
fn confusion_table(record: &ClassificationRecord) -> String {
    let names: Vec<String> = (0..record.classes.len())
        .map(|class| {
            let name = escape::truncate(&class_name(record, class), 24).into_owned();
            format!("<span class=\"name\">{}</span>", escape::text(&name))
        })
        .collect();
    if names.len() > matrix::MAX_CLASSES || record.metrics.confusion.len() != names.len() {
        return String::new();
    }
    let columns: Vec<String> =
        names.iter().map(|name| format!("<span class=\"quiet\">predicted</span> {name}")).collect();
    let columns: Vec<&str> =
        std::iter::once("True class").chain(columns.iter().map(String::as_str)).collect();
    let cells = |counts: &Vec<usize>| counts.iter().map(|count| number_format::count(*count)).collect();
    let lines = names.iter().cloned().zip(record.metrics.confusion.iter().map(cells));
    let html = table::html("confusion", &columns, "", lines);
    format!("<details><summary>Confusion matrix as a table</summary>{html}</details>")
}

fn std_histogram(context: Context<'_>, t: usize, record: &RegressionRecord) -> PageFigure {
    let title = "Distribution of the standard deviation";
    let x_title = format!("Predicted standard deviation ({})", unit(&record.name));
    let desc = "Histogram of the predicted standard deviations.";
    let svg = bars::histogram(title, &x_title, &record.std_histogram, desc);
    let caption = "Sharpness: smaller is better, as long as the intervals are calibrated.";
    PageFigure::new(context.target_id("sharpness", t), title, svg, caption.into())
}

fn entropy_histogram(context: Context<'_>, t: usize, record: &ClassificationRecord) -> PageFigure {
    let title = "Distribution of the predictive entropy";
    let desc = "Histogram of the predictive entropy.";
    let svg = bars::histogram(title, "Predictive entropy (nats)", &record.entropy_histogram, desc);
    let classes = record.classes.len();
    let caption = format!(
        "0 means that one class has all the probability; {} means that all {} are equally likely.",
        number_format::significant((classes.max(1) as f64).ln(), 3),
        number_format::counted(classes, "class", "classes")
    );
    PageFigure::new(context.target_id("entropy", t), title, svg, caption)
}
