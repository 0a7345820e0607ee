//! [`TableSchema::fit`]: what each column means, learned from the training rows alone.

use std::collections::HashMap;

use crate::error::{DataError, Notice, Problem};
use crate::schema::classes::ClassTarget;
use crate::schema::outliers::check_input;
use crate::schema::scale::{Scale, Scaling, mean_and_std, median};
use crate::schema::target::{Target, TargetColumn, target_values};
use crate::schema::target_scale::TargetScale;
use crate::schema::task::{Task, recognise_task};
use crate::schema::{DatePart, EncodeOptions, Encoding, InputColumn, TableSchema};
use crate::table::dates::format::DateFormat;
use crate::table::{Column, Table};
use crate::text::fit_text;

/// The square of a smaller standard deviation vanishes, and with it all metrics.
const SMALLEST_DEVIATION: f64 = 1e-150;
/// From this number of distinct texts on, a column can be an identifier.
const IDENTIFIER_LEVELS: usize = 10;
/// It is one if this share of its rows or more are distinct.
const IDENTIFIER_SHARE: f64 = 0.9;

impl TableSchema {
    /// Fits the schema on `rows` of `table`; every column that is not a target becomes an input.
    ///
    /// Without a `task` the target decides, see [`recognise_task`]. Columns that cannot help (constant,
    /// without values, identifiers) are left out with a [`Notice`].
    ///
    /// # Errors
    /// If there are fewer than 2 rows, a target is unusable, there are several targets of classes, or no
    /// input is left.
    ///
    /// # Panics
    /// If a row is beyond the table.
    pub fn fit(
        table: &Table,
        targets: &[String],
        task: Option<Task>,
        rows: &[usize],
        options: &EncodeOptions,
    ) -> Result<(TableSchema, Vec<Notice>), DataError> {
        let failed = |problem| DataError::new(table.file(), problem);
        if targets.is_empty() {
            return Err(failed(Problem::NoTarget));
        }
        if let Some(problem) = options.text.fault() {
            return Err(failed(problem));
        }
        let (mut inputs, mut notices) = (Vec::new(), Vec::new());
        let task = match task {
            Some(task) => task,
            None => {
                let (task, notice) = recognise_task(table, targets)?;
                notices.extend(notice);
                task
            }
        };
        let fitted = match (task, targets) {
            (Task::Regression, _) => {
                let fitted: Result<_, DataError> =
                    targets.iter().map(|name| fit_target(table, name, rows)).collect();
                Target::Numbers(fitted?)
            }
            (Task::Classification, [name]) => {
                Target::Classes(ClassTarget::fit(table, name, rows, &mut notices)?)
            }
            (Task::Classification, _) => {
                return Err(failed(Problem::SeveralClassTargets { targets: targets.len() }));
            }
        };
        for (name, column) in table.names().iter().zip(table.columns()) {
            if targets.contains(name) || options.exclude.contains(name) {
                continue;
            }
            let declared = table.is_declared(name);
            notices.extend(check_input(table, (name, column), rows, options.scaling));
            if let Some(encoding) = fit_input(name, column, declared, rows, options, &mut notices) {
                let encoding = encoding.with_date_format(table.date_format(name));
                inputs.push(InputColumn { name: name.clone(), encoding });
            }
        }
        if inputs.is_empty() {
            return Err(failed(Problem::NoInputs));
        }
        Ok((TableSchema { inputs, targets: fitted }, notices))
    }
}

fn fit_target(table: &Table, name: &str, rows: &[usize]) -> Result<TargetColumn, DataError> {
    let all = target_values(table, name)?;
    let failed = |problem| Err(DataError::new(table.file(), problem).in_column(name));
    if rows.len() < 2 {
        return failed(Problem::TooFewRows { rows: rows.len() });
    }
    let values: Vec<f64> = rows.iter().map(|row| all[*row]).filter(|value| !value.is_nan()).collect();
    match values[..] {
        [] => return failed(Problem::TargetAllMissing { rows: rows.len() }),
        [_] => return failed(Problem::TooFewRows { rows: 1 }),
        [value, ..] if values.iter().all(|other| *other == value) => {
            return failed(Problem::ConstantTarget { value, rows: values.len() });
        }
        _ => {}
    }
    let (mean, std) = mean_and_std(&values);
    if std < SMALLEST_DEVIATION {
        return failed(Problem::TargetTooSmall { deviation: std, least: SMALLEST_DEVIATION });
    }
    Ok(TargetColumn { name: name.to_owned(), mean, std, scale: TargetScale::default() })
}

/// The encoding of one input, or none (with a notice) if it cannot help.
fn fit_input(
    name: &str,
    column: &Column,
    declared: bool,
    rows: &[usize],
    options: &EncodeOptions,
    notices: &mut Vec<Notice>,
) -> Option<Encoding> {
    let column_name = || name.to_owned();
    let gaps = rows.iter().filter(|row| column.is_missing(**row)).count();
    if gaps == rows.len() {
        notices.push(Notice::AllMissingColumnDropped { column: column_name() });
        return None;
    }
    if let Column::Text(texts) = column {
        return fit_text(name, texts, declared, rows, options, notices);
    }
    let missing = gaps > 0 && options.missing_indicator;
    if let Column::Category { codes, .. } = column {
        let distinct = frequencies(codes, rows).len();
        let present = rows.len() - gaps;
        let many = distinct > IDENTIFIER_LEVELS && !declared;
        if many && distinct as f64 >= IDENTIFIER_SHARE * present as f64 {
            notices.push(Notice::IdentifierLikeColumnDropped {
                column: column_name(),
                distinct,
                rows: present,
            });
            return None;
        }
        if distinct > options.max_categories.max(1) {
            let kept = options.max_categories.max(1) - 1;
            notices.push(Notice::RareLevelsMerged { column: column_name(), levels: distinct, kept });
        }
    }
    let encoding = match column {
        Column::Number(values) => fit_number(values, rows, options, missing),
        Column::Boolean(values) => fit_boolean(values, rows, missing),
        Column::Category { codes, levels } => fit_category(codes, levels, rows, options, missing),
        Column::DateTime(values) => fit_datetime(values, rows, options, missing),
        Column::Text(_) => None, // settled above
    };
    let encoding = encoding.or_else(|| {
        let column_type = column.column_type();
        missing.then(|| Encoding::MissingOnly { column_type, format: DateFormat::default() })
    });
    match encoding {
        None => notices.push(Notice::ConstantColumnDropped { column: column_name() }),
        Some(_) if gaps > 0 => notices.push(Notice::MissingImputed { column: column_name(), count: gaps }),
        Some(_) => {}
    }
    encoding
}

fn fit_number(values: &[f64], rows: &[usize], options: &EncodeOptions, missing: bool) -> Option<Encoding> {
    let present: Vec<f64> = rows.iter().map(|row| values[*row]).filter(|value| value.is_finite()).collect();
    let scale = Scale::fit(options.scaling, &present)?;
    let one_hot = few_integers(&present, options.discrete_levels);
    let impute = median(present, f64::total_cmp)?;
    Some(Encoding::Number { impute, scale, one_hot, missing })
}

/// The distinct values if all are integers and there are 3 to `limit` of them, else none.
fn few_integers(values: &[f64], limit: usize) -> Vec<f64> {
    let mut distinct: Vec<f64> = Vec::new();
    for value in values {
        if value.fract() != 0.0 {
            return Vec::new();
        }
        if !distinct.contains(value) {
            if distinct.len() == limit {
                return Vec::new();
            }
            distinct.push(*value);
        }
    }
    distinct.sort_unstable_by(f64::total_cmp);
    if distinct.len() < 3 { Vec::new() } else { distinct }
}

fn fit_boolean(values: &[Option<bool>], rows: &[usize], missing: bool) -> Option<Encoding> {
    let present = || rows.iter().filter_map(|row| values[*row]);
    let (all, yes) = (present().count(), present().filter(|value| *value).count());
    (yes > 0 && yes < all).then_some(Encoding::Boolean { impute: 2 * yes > all, missing })
}

fn fit_category(
    codes: &[Option<u32>],
    levels: &[String],
    rows: &[usize],
    options: &EncodeOptions,
    missing: bool,
) -> Option<Encoding> {
    let mut counted: Vec<(usize, &str)> = frequencies(codes, rows)
        .into_iter()
        .map(|(code, count)| (count, levels[code as usize].as_str()))
        .collect();
    if counted.len() < 2 {
        return None;
    }
    let limit = options.max_categories.max(1);
    let other = counted.len() > limit;
    if other {
        // Most frequent first; the name decides between equals, so that the choice can be repeated.
        counted.sort_unstable_by(|(a, x), (b, y)| b.cmp(a).then(x.cmp(y)));
        counted.truncate(limit - 1);
    }
    let mut kept: Vec<String> = counted.into_iter().map(|(_, level)| level.to_owned()).collect();
    kept.sort_unstable();
    Some(Encoding::Category { levels: kept, other, missing })
}

fn frequencies(codes: &[Option<u32>], rows: &[usize]) -> HashMap<u32, usize> {
    let mut counts = HashMap::new();
    for code in rows.iter().filter_map(|row| codes[*row]) {
        *counts.entry(code).or_insert(0) += 1;
    }
    counts
}

fn fit_datetime(
    values: &[Option<i64>],
    rows: &[usize],
    options: &EncodeOptions,
    missing: bool,
) -> Option<Encoding> {
    let present: Vec<i64> = rows.iter().filter_map(|row| values[*row]).collect();
    // Seconds since 1970 differ by minutes in 32 bits, so the parts of a date are always scaled.
    let scaling = if options.scaling == Scaling::None { Scaling::Standard } else { options.scaling };
    let parts: Vec<(DatePart, Scale)> = DatePart::ALL
        .into_iter()
        .filter_map(|part| {
            let numbers: Vec<f64> = present.iter().map(|micros| part.extract(*micros)).collect();
            Some((part, Scale::fit(scaling, &numbers)?))
        })
        .collect();
    let impute = median(present, i64::cmp)?;
    (!parts.is_empty()).then_some(Encoding::DateTime {
        impute,
        parts,
        missing,
        format: DateFormat::default(),
    })
}
