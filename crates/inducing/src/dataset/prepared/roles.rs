//! Columns that say how rows belong together, follow each other, and count.

use crate::config::{ConfigError, DataConfig};
use crate::error::Error;
use data::{Column, Notice, Related, Table};
use std::collections::HashMap;

/// What relates the rows of a table.
pub(super) fn related(table: &Table, rows: &[usize], config: &DataConfig) -> Result<Related, Error> {
    let groups = config.group.as_ref().map(|name| groups_of(table, rows, name, config)).transpose()?;
    let times = config.time_column.as_ref().map(|name| times_of(table, rows, name, config)).transpose()?;
    Ok(match (groups, times) {
        (None, None) => Related::Nothing,
        (Some(groups), None) => Related::Groups(groups),
        (None, Some(times)) => Related::Times(times),
        (Some(groups), Some(times)) => Related::groups_in_time(&groups, times),
    })
}

fn groups_of(table: &Table, rows: &[usize], name: &String, config: &DataConfig) -> Result<Vec<u32>, Error> {
    check(name, "group", config)?;
    let groups = groups(table.column(name)?, table.rows());
    if rows.iter().all(|&row| groups[row] == groups[rows[0]]) {
        let problem = format!("column `{name}` has one group only");
        return Err(refuse(&problem, "name a column with several groups, or leave `--group` out"));
    }
    Ok(groups)
}

fn times_of(table: &Table, rows: &[usize], name: &String, config: &DataConfig) -> Result<Vec<f64>, Error> {
    check(name, "time", config)?;
    let times: Vec<f64> = match table.column(name)? {
        Column::Number(values) => values.clone(),
        Column::DateTime(values) => {
            values.iter().map(|micros| micros.map_or(f64::NAN, |micros| micros as f64)).collect()
        }
        other => {
            let problem =
                format!("time column `{name}` is of type {}, not a date or a number", other.column_type());
            return Err(refuse(&problem, "`data.date_format` says how dates are written"));
        }
    };
    if let Some(&row) = rows.iter().find(|&&row| !times[row].is_finite()) {
        let problem = format!("time column `{name}` has no value in row {}", row + 1);
        return Err(refuse(&problem, "fill it, or leave that row out"));
    }
    Ok(times)
}

/// What a split of groups in time leaves out; refused where that is most of it.
pub(super) fn left_out(
    related: &Related,
    rows: &[usize],
    parts: &[Vec<usize>; 3],
    config: &DataConfig,
) -> Result<Option<Notice>, Error> {
    let Related::GroupsInTime { .. } = related else { return Ok(None) };
    let test = parts[2].len();
    let count = rows.len() - parts.iter().map(Vec::len).sum::<usize>();
    let wants_test = config.folds > 0 || config.held_out_share(rows.len()) > 0.0;
    if wants_test && config.fold == 0 && test < count.max(1) {
        let problem =
            "the last groups begin before the others end: hardly a row is of a new group and of a later time";
        return Err(refuse(
            problem,
            "say how new rows will come: `--group` for new groups, `--time-column` for later times",
        ));
    }
    let (group, time) = (config.group.clone(), config.time_column.clone());
    Ok((count > 0 && config.folds == 0).then(|| Notice::EarlierRowsLeftOut {
        count,
        group: group.unwrap_or_default(),
        time: time.unwrap_or_default(),
    }))
}

/// Equal cells are one group; every empty cell is a group of its own.
fn groups(column: &Column, rows: usize) -> Vec<u32> {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut next = 0;
    (0..rows)
        .map(|row| {
            let key = match column {
                _ if column.is_missing(row) => None,
                Column::Number(values) => Some(values[row].to_bits().to_string()),
                Column::Boolean(values) => Some(format!("{:?}", values[row])),
                Column::Category { codes, .. } => Some(format!("{:?}", codes[row])),
                Column::DateTime(values) => Some(format!("{:?}", values[row])),
                Column::Text(texts) => texts[row].clone(),
            };
            let mut new = || {
                next += 1;
                next - 1
            };
            match key {
                None => new(),
                Some(key) => *known.entry(key).or_insert_with(new),
            }
        })
        .collect()
}

/// Weights of all rows, one on average over the training rows; empty without a column of weights.
pub(super) fn row_weights(table: &Table, train: &[usize], config: &DataConfig) -> Result<Vec<f64>, Error> {
    let Some(name) = &config.weight else { return Ok(Vec::new()) };
    check(name, "weight", config)?;
    let Column::Number(weights) = table.column(name)? else {
        let problem = format!("weight column `{name}` is not a column of numbers");
        return Err(refuse(&problem, "weights are numbers from 0 on"));
    };
    if let Some(row) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        let problem = match weights[row] {
            weight if weight.is_nan() => format!("weight column `{name}` has no value in row {}", row + 1),
            weight => format!("weight column `{name}` has {weight} in row {}", row + 1),
        };
        return Err(refuse(&problem, "weights are numbers from 0 on; 0 leaves a row out of the fit"));
    }
    let mean = train.iter().map(|&row| weights[row]).sum::<f64>() / train.len().max(1) as f64;
    if mean <= 0.0 || !mean.is_finite() {
        return Err(refuse(
            &format!("weight column `{name}` is 0 for all training rows"),
            "give some rows weight",
        ));
    }
    Ok(weights.iter().map(|weight| weight / mean).collect())
}

/// Refuses a target in another role.
fn check(name: &String, role: &str, config: &DataConfig) -> Result<(), Error> {
    if config.target.contains(name) {
        let problem = format!("`{name}` cannot be both the target and the {role} column");
        return Err(refuse(&problem, "name another column"));
    }
    Ok(())
}

fn refuse(problem: &str, hint: &str) -> Error {
    let (file, reason) = ("configuration".into(), format!("{problem}\nhint: {hint}"));
    ConfigError::Invalid { file, reason }.into()
}
