//! Predictions as columns: which of them, under which names, with how many digits.

use super::{ClassificationBatch, Model, Predictions, RegressionBatch};
use crate::dataset::Inputs;
use crate::error::Error;
use crate::explain::Effects;
use data::arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use data::arrow_schema::{DataType, Field};
use std::sync::Arc;

/// Each value once, in the order of its first appearance.
pub(crate) fn distinct<T: PartialEq + Clone>(values: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for value in values {
        if !kept.contains(value) {
            kept.push(value.clone());
        }
    }
    kept
}

/// What to write of each row.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColumnRequest<'a> {
    /// `default` (as is nothing), `all`, or names of columns.
    pub columns: &'a [String],
    /// Probabilities of central intervals, for example 0.9.
    pub intervals: &'a [f64],
    /// Quantiles, for example 0.05.
    pub quantiles: &'a [f64],
    /// Values of each target at which its density is given.
    pub density: usize,
    /// Columns of the input that are copied.
    pub keep: &'a [String],
    /// Which columns of the input move a row's prediction, and which make it unsure.
    pub explain: bool,
}

/// One column that a prediction adds.
#[derive(Debug, Clone, PartialEq)]
enum Column {
    /// The row's number, from 1.
    Row,
    Label,
    Probability(usize),
    LatentMean(usize),
    LatentStd(usize),
    Mean,
    Std,
    StdLatent,
    Familiarity,
    Quantile(f64),
    Density(f64),
    /// Columns of the input that move the prediction up.
    Up,
    /// Those that move it down.
    Down,
    /// Those that make it unsure.
    Unsure,
}

/// The columns of a prediction as `ign predict` writes them, with names that stay distinct for several targets.
///
/// ```no_run
/// use inducing::{Dataset, Model};
/// use inducing::model::{ColumnRequest, PredictionColumns};
/// let model = Model::load("price.ign")?;
/// let columns = PredictionColumns::new(&model, &ColumnRequest { intervals: &[0.9], ..ColumnRequest::default() })?;
/// for block in model.stream(&Dataset::read("new.csv")?, &[])? {
///     let block = block?;
///     let arrays = columns.values(&model, &block.inputs, &block.predictions, block.first_row)?;
///     assert_eq!(arrays.len(), columns.fields().len());
/// }
/// # Ok::<(), inducing::Error>(())
/// ```
#[derive(Debug)]
pub struct PredictionColumns {
    fields: Vec<Arc<Field>>,
    /// Each with the output that it is of.
    columns: Vec<(usize, Column)>,
    /// Significant digits in text formats; `None` for all.
    digits: Option<usize>,
    explain: bool,
}

/// The interval that a prediction of numbers has where none is asked for.
const USUAL_INTERVAL: f64 = 0.9;
/// Significant digits where no other number is asked for.
const USUAL_DIGITS: usize = 6;

impl PredictionColumns {
    /// What is asked for of a model; without names the usual columns.
    pub fn new(model: &Model, request: &ColumnRequest<'_>) -> Result<Self, Error> {
        let is_none = |p: &&f64| !(**p > 0.0 && **p < 1.0);
        if let Some(p) = request.intervals.iter().chain(request.quantiles).find(is_none) {
            return Err(Error::Request(format!(
                "intervals and quantiles have probabilities between 0 and 1, and {p} is none\nhint: write 0.9 for 90 %"
            )));
        }
        let schema = &model.header().schema;
        let classes = schema.classes();
        let usual = ["default".to_owned()];
        let columns = if request.columns.is_empty() { &usual } else { request.columns };
        let request = &ColumnRequest { columns, ..*request };
        let is = |word: &str| matches!(request.columns, [only] if only == word);
        let mut named: Vec<(usize, String, Column)> = Vec::new();
        if !is("all")
            && request.keep.is_empty()
            && schema.table().is_some()
            && (is("default") || request.columns.iter().any(|name| name == "row"))
        {
            named.push((0, "row".into(), Column::Row));
        }
        let known = |name: &str| match classes {
            Some(_) => matches!(name, "row" | "familiarity" | "label" | "p" | "latent_mean" | "latent_std"),
            None => matches!(name, "row" | "familiarity" | "mean" | "std" | "std_latent"),
        };
        if let Some(name) = request.columns.iter().find(|name| !is("all") && !is("default") && !known(name)) {
            let names = match classes {
                Some(_) => "row, label, p, familiarity, latent_mean, latent_std",
                None => "row, mean, std, familiarity, std_latent; `--interval` and `--quantiles` add others",
            };
            return Err(Error::Request(format!(
                "a prediction has no column `{name}`\nhint: there are {names}; or say `all`"
            )));
        }
        let outputs = if classes.is_some() { 1 } else { schema.outputs() };
        for k in 0..outputs {
            let prefix = match schema.numbers() {
                numbers if numbers.len() > 1 => format!("{}_", numbers[k].name),
                _ => String::new(),
            };
            let own = of_output(model, k, request, classes);
            named.extend(own.into_iter().map(|(name, column)| (k, format!("{prefix}{name}"), column)));
        }
        let field = |(_, name, column): &(usize, String, Column)| {
            // A copied column keeps its name; ours is renamed.
            let name = if request.keep.contains(name) { format!("{name}_predicted") } else { name.clone() };
            let kind = match column {
                Column::Row => DataType::UInt64,
                Column::Label | Column::Up | Column::Down | Column::Unsure => DataType::Utf8,
                _ => DataType::Float64,
            };
            Arc::new(Field::new(name, kind, false))
        };
        Ok(Self {
            fields: named.iter().map(field).collect(),
            columns: named.into_iter().map(|(k, _, column)| (k, column)).collect(),
            digits: (!is("all")).then_some(USUAL_DIGITS),
            explain: request.explain,
        })
    }

    /// Names and types.
    pub fn fields(&self) -> &[Arc<Field>] {
        &self.fields
    }

    /// Significant digits in text formats; `None` for all.
    #[must_use]
    pub fn digits(&self) -> Option<usize> {
        self.digits
    }

    /// The same with this many significant digits; `None` for all.
    #[must_use]
    pub fn with_digits(self, digits: Option<usize>) -> Self {
        Self { digits, ..self }
    }

    /// Values of rows from `first_row` on, counted from 0.
    pub fn values(
        &self,
        model: &Model,
        inputs: &Inputs,
        predictions: &Predictions,
        first_row: usize,
    ) -> Result<Vec<ArrayRef>, Error> {
        let rows = predictions.len();
        let effects = match self.explain {
            true => Some(model.effects(inputs, &(0..rows).collect::<Vec<_>>())?),
            false => None,
        };
        let classes = model.header().schema.classes().unwrap_or_default();
        let array = |(k, column): &(usize, Column)| -> ArrayRef {
            let texts = |up: bool, of: fn(&Effects, usize, usize) -> Vec<(&str, f64)>| -> ArrayRef {
                let effects = effects.as_ref().expect("explanations were asked for");
                Arc::new(StringArray::from_iter_values((0..rows).map(|i| largest(&of(effects, i, *k), up))))
            };
            match (column, predictions.as_classification(), predictions.as_regression()) {
                (Column::Row, ..) => {
                    let first = first_row as u64 + 1;
                    Arc::new(UInt64Array::from_iter_values(first..first + rows as u64))
                }
                (Column::Label, Some(batch), _) => {
                    Arc::new(StringArray::from_iter_values(batch.labels().map(|class| &classes[class])))
                }
                (Column::Up, ..) => texts(true, Effects::of_prediction),
                (Column::Down, ..) => texts(false, Effects::of_prediction),
                (Column::Unsure, ..) => texts(true, Effects::of_spread),
                (column, Some(batch), _) => self.floats(class_values(batch, column)),
                (column, None, Some(batch)) => self.floats(number_values(batch, model.outputs(), *k, column)),
                (_, None, None) => self.floats(Vec::new()),
            }
        };
        Ok(self.columns.iter().map(array).collect())
    }

    fn floats(&self, mut values: Vec<f64>) -> ArrayRef {
        if let Some(digits) = self.digits {
            values.iter_mut().for_each(|x| *x = rounded(*x, digits));
        }
        Arc::new(Float64Array::from(values))
    }
}

/// Names and columns of one output.
fn of_output(
    model: &Model,
    k: usize,
    request: &ColumnRequest<'_>,
    classes: Option<&[String]>,
) -> Vec<(String, Column)> {
    let named = |name: &str, column: Column| vec![(name.to_owned(), column)];
    let of_classes = |prefix: &str, column: fn(usize) -> Column| -> Vec<(String, Column)> {
        let names = classes.unwrap_or_default().iter().enumerate();
        names.map(|(class, name)| (format!("{prefix}_{name}"), column(class))).collect()
    };
    let intervals: Vec<f64> = distinct(request.intervals);
    let interval = |&level: &f64| {
        let name = percent(level);
        [
            (format!("lower_{name}"), Column::Quantile(0.5 - level / 2.0)),
            (format!("upper_{name}"), Column::Quantile(0.5 + level / 2.0)),
        ]
    };
    let asked: Vec<(String, Column)> = intervals.iter().flat_map(interval).collect();
    let word = |word: &str| -> Vec<(String, Column)> {
        match word {
            "label" => named("label", Column::Label),
            "p" => of_classes("p", Column::Probability),
            "latent_mean" => of_classes("latent_mean", Column::LatentMean),
            "latent_std" => of_classes("latent_std", Column::LatentStd),
            "mean" => named("mean", Column::Mean),
            "std" => named("std", Column::Std),
            "std_latent" => named("std_latent", Column::StdLatent),
            "familiarity" if model.keeps_rows() => named("familiarity", Column::Familiarity),
            _ => Vec::new(),
        }
    };
    let words =
        |words: &[&str]| -> Vec<(String, Column)> { words.iter().flat_map(|name| word(name)).collect() };
    let mut columns = match (request.columns, classes) {
        ([only], Some(_)) if only == "all" => {
            words(&["label", "p", "latent_mean", "latent_std", "familiarity"])
        }
        ([only], None) if only == "all" => {
            [words(&["mean", "std", "std_latent", "familiarity"]), asked].concat()
        }
        ([only], Some(_)) if only == "default" => words(&["label", "p", "familiarity"]),
        ([only], None) if only == "default" => {
            let usual = if asked.is_empty() { interval(&USUAL_INTERVAL).to_vec() } else { asked };
            [words(&["mean"]), usual, words(&["std", "familiarity"])].concat()
        }
        (names, _) => [names.iter().flat_map(|name| word(name)).collect(), asked].concat(),
    };
    let quantiles = distinct(request.quantiles);
    columns.extend(quantiles.iter().map(|&p| (format!("q{}", percent(p)), Column::Quantile(p))));
    columns.extend(
        model
            .target_grid(k, request.density)
            .into_iter()
            .map(|y| (format!("density_{y}"), Column::Density(y))),
    );
    if request.explain {
        columns.extend(
            [("up", Column::Up), ("down", Column::Down), ("unsure", Column::Unsure)]
                .map(|(name, column)| (name.to_owned(), column)),
        );
    }
    columns
}

fn number_values(batch: &RegressionBatch, c: usize, k: usize, column: &Column) -> Vec<f64> {
    let of = |values: &[f64]| values.iter().skip(k).step_by(c).copied().collect::<Vec<_>>();
    let densities = || batch.density.iter().skip(k).step_by(c);
    match column {
        Column::Mean => of(&batch.mean),
        Column::Std => of(&batch.std),
        Column::StdLatent => of(&batch.std_latent),
        Column::Familiarity => of(&batch.familiarity),
        Column::Quantile(p) => densities().map(|density| density.quantile(*p)).collect(),
        Column::Density(y) => densities().map(|density| density.pdf(*y)).collect(),
        _ => Vec::new(),
    }
}

fn class_values(batch: &ClassificationBatch, column: &Column) -> Vec<f64> {
    let of =
        |values: &[f64], class: usize| values.iter().skip(class).step_by(batch.classes).copied().collect();
    match column {
        Column::Probability(class) => of(&batch.p, *class),
        Column::LatentMean(class) => of(&batch.latent_mean, *class),
        Column::LatentStd(class) => of(&batch.latent_std, *class),
        Column::Familiarity => batch.familiarity.clone(),
        _ => Vec::new(),
    }
}

/// The columns with the largest effects of one sign, at most three, those that matter beside the largest of all.
fn largest(effects: &[(&str, f64)], up: bool) -> String {
    const SHOWN: usize = 3;
    const LEAST: f64 = 0.05;
    let most = effects.iter().map(|(_, effect)| effect.abs()).fold(0.0, f64::max);
    let counts = |effect: f64| if up { effect > LEAST * most } else { effect < -LEAST * most };
    let mut chosen: Vec<&(&str, f64)> = effects.iter().filter(|(_, effect)| counts(*effect)).collect();
    if !up {
        chosen.reverse();
    }
    let shown = chosen.iter().take(SHOWN).map(|(name, effect)| format!("{name} {:+}", rounded(*effect, 3)));
    shown.collect::<Vec<_>>().join(", ")
}

/// A number of this many significant digits.
fn rounded(x: f64, digits: usize) -> f64 {
    if x.is_finite() { format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x) } else { x }
}

/// 0.95 → `95`, 0.025 → `2.5`.
fn percent(p: f64) -> String {
    let text = format!("{:.12}", 100.0 * p);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
