//! [`Column`]: the values of one column, all of one type.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, TimestampMicrosecondArray};

use super::dates::iso::format_datetime;
use super::options::ColumnType;

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Finite numbers; NaN means missing.
    Number(Vec<f64>),
    /// Truth values; `None` means missing.
    Boolean(Vec<Option<bool>>),
    /// Names, each row as a position in `levels`.
    Category {
        /// Position in `levels`; `None` means missing.
        codes: Vec<Option<u32>>,
        /// Distinct names, in order of appearance.
        levels: Vec<String>,
    },
    /// Words in their order; `None` means missing, which is read as an empty text.
    Text(Vec<Option<String>>),
    /// Microseconds since 1970-01-01 UTC; `None` means missing.
    DateTime(Vec<Option<i64>>),
}

impl Column {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Column::Number(values) => values.len(),
            Column::Boolean(values) => values.len(),
            Column::Category { codes, .. } => codes.len(),
            Column::Text(texts) => texts.len(),
            Column::DateTime(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the values.
    #[must_use]
    pub fn column_type(&self) -> ColumnType {
        match self {
            Column::Number(_) => ColumnType::Number,
            Column::Boolean(_) => ColumnType::Boolean,
            Column::Category { .. } => ColumnType::Category,
            Column::Text(_) => ColumnType::Text,
            Column::DateTime(_) => ColumnType::DateTime,
        }
    }

    /// Whether the row has no value.
    #[must_use]
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Column::Number(values) => values[row].is_nan(),
            Column::Boolean(values) => values[row].is_none(),
            Column::Category { codes, .. } => codes[row].is_none(),
            Column::Text(texts) => texts[row].is_none(),
            Column::DateTime(values) => values[row].is_none(),
        }
    }

    /// The row's value as a person writes it; empty if it is missing.
    #[must_use]
    pub fn text(&self, row: usize) -> String {
        match self {
            Column::Number(values) if values[row].is_nan() => String::new(),
            Column::Number(values) => values[row].to_string(),
            Column::Boolean(values) => values[row].map_or(String::new(), |value| value.to_string()),
            Column::Category { codes, levels } => {
                codes[row].map_or(String::new(), |code| levels[code as usize].clone())
            }
            Column::Text(texts) => texts[row].clone().unwrap_or_default(),
            Column::DateTime(values) => values[row].map_or(String::new(), format_datetime),
        }
    }

    /// The values of these rows, in their order.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        fn pick<T: Clone>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row].clone()).collect()
        }
        match self {
            Column::Number(values) => Column::Number(pick(values, rows)),
            Column::Boolean(values) => Column::Boolean(pick(values, rows)),
            Column::Category { codes, levels } => {
                Column::Category { codes: pick(codes, rows), levels: levels.clone() }
            }
            Column::Text(texts) => Column::Text(pick(texts, rows)),
            Column::DateTime(values) => Column::DateTime(pick(values, rows)),
        }
    }

    /// The values of several columns of one type, one after the other. Of the levels of a category those stay that a row has, in order of
    /// appearance: of many rows there may be millions.
    ///
    /// # Panics
    /// If there is no column, or their types differ.
    pub(super) fn concat(parts: Vec<Self>) -> Self {
        macro_rules! joined {
            ($kind:path) => {{
                let values = parts.into_iter().map(|part| match part {
                    $kind(values) => values,
                    _ => panic!("columns of different types do not follow each other"),
                });
                $kind(values.flatten().collect())
            }};
        }
        match parts.first().expect("a column to begin with") {
            Column::Number(_) => joined!(Column::Number),
            Column::Boolean(_) => joined!(Column::Boolean),
            Column::Text(_) => joined!(Column::Text),
            Column::DateTime(_) => joined!(Column::DateTime),
            Column::Category { .. } => joined_categories(parts),
        }
    }

    pub(super) fn to_array(&self) -> ArrayRef {
        match self {
            Column::Number(values) => {
                let present = values.iter().map(|value| (!value.is_nan()).then_some(*value));
                Arc::new(present.collect::<Float64Array>())
            }
            Column::Boolean(values) => Arc::new(values.iter().copied().collect::<BooleanArray>()),
            Column::Category { codes, levels } => {
                let texts = codes.iter().map(|code| code.map(|code| levels[code as usize].as_str()));
                Arc::new(texts.collect::<StringArray>())
            }
            Column::Text(texts) => Arc::new(texts.iter().map(Option::as_deref).collect::<StringArray>()),
            Column::DateTime(values) => {
                Arc::new(values.iter().copied().collect::<TimestampMicrosecondArray>())
            }
        }
    }
}

/// See [`Column::concat`].
fn joined_categories(parts: Vec<Column>) -> Column {
    let (mut codes, mut levels, mut known) = (Vec::new(), Vec::new(), HashMap::new());
    for part in parts {
        let Column::Category { codes: own, levels: own_levels } = part else {
            panic!("columns of different types do not follow each other")
        };
        let mut places: Vec<Option<u32>> = vec![None; own_levels.len()];
        codes.extend(own.into_iter().map(|code| {
            let code = code? as usize;
            Some(*places[code].get_or_insert_with(|| {
                let level = &own_levels[code];
                *known.entry(level.clone()).or_insert_with(|| {
                    levels.push(level.clone());
                    levels.len() as u32 - 1
                })
            }))
        }));
    }
    Column::Category { codes, levels }
}
