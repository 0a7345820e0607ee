//! Columns that say how rows belong together, follow each other, and count.

use crate::config::{ConfigError, DataConfig};
use crate::error::Error;
use data::{Column, Related, Table};
use std::collections::HashMap;

/// What relates the rows of a table.
pub(super) fn related(table: &Table, rows: &[usize], config: &DataConfig) -> Result<Related, Error> {
    match (&config.group, &config.time_column) {
        (None, None) => Ok(Related::Nothing),
        (Some(_), Some(_)) => Err(refuse(
            "data.group and data.time_column exclude each other",
            "say how new rows will come: from new groups, or from later times",
        )),
        (Some(name), None) => {
            check(name, "group", config)?;
            let groups = groups(table.column(name)?, table.rows());
            if rows.iter().all(|&row| groups[row] == groups[rows[0]]) {
                let problem = format!("column `{name}` has one group only");
                return Err(refuse(&problem, "name a column with several groups, or leave `--group` out"));
            }
            Ok(Related::Groups(groups))
        }
        (None, Some(name)) => {
            check(name, "time", config)?;
            let times: Vec<f64> = match table.column(name)? {
                Column::Number(values) => values.clone(),
                Column::DateTime(values) => {
                    values.iter().map(|micros| micros.map_or(f64::NAN, |micros| micros as f64)).collect()
                }
                other => {
                    let problem = format!(
                        "time column `{name}` is of type {}, not a date or a number",
                        other.column_type()
                    );
                    return Err(refuse(&problem, "`data.date_format` says how dates are written"));
                }
            };
            if let Some(&row) = rows.iter().find(|&&row| !times[row].is_finite()) {
                let problem = format!("time column `{name}` has no value in row {}", row + 1);
                return Err(refuse(&problem, "fill it, or leave that row out"));
            }
            Ok(Related::Times(times))
        }
    }
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
