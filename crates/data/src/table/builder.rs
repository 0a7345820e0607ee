//! Columns under construction: cells in, [`Column`] out.

use std::collections::HashMap;

use crate::error::Problem;
use crate::table::Column;
use crate::table::cell::{Cell, finite, parse_declared_boolean, parse_number};
use crate::table::dates::format::DateFormat;
use crate::table::dates::iso::format_datetime;
use crate::table::options::ColumnType;

/// A column of known type that grows cell by cell.
#[derive(Debug)]
pub(crate) enum Builder {
    Number(Vec<f64>),
    Boolean(Vec<Option<bool>>),
    Category { codes: Vec<Option<u32>>, levels: Vec<String>, code_of: HashMap<String, u32> },
    Text(Vec<Option<String>>),
    DateTime { values: Vec<Option<i64>>, format: DateFormat },
}

impl Builder {
    /// Nothing to build for an ignored column; `format` is that of dates.
    pub(crate) fn new(column_type: ColumnType, format: DateFormat) -> Option<Self> {
        match column_type {
            ColumnType::Number => Some(Builder::Number(Vec::new())),
            ColumnType::Boolean => Some(Builder::Boolean(Vec::new())),
            ColumnType::Category => {
                Some(Builder::Category { codes: Vec::new(), levels: Vec::new(), code_of: HashMap::new() })
            }
            ColumnType::Text => Some(Builder::Text(Vec::new())),
            ColumnType::DateTime => Some(Builder::DateTime { values: Vec::new(), format }),
            ColumnType::Ignore => None,
        }
    }

    pub(crate) fn push(&mut self, cell: Cell<'_>) -> Result<(), Problem> {
        match self {
            Builder::Number(values) => values.push(number(cell)?),
            Builder::Boolean(values) => values.push(boolean(cell)?),
            Builder::DateTime { values, format } => values.push(datetime(cell, format)?),
            Builder::Text(texts) => texts.push((cell != Cell::Missing).then(|| text_of(cell))),
            Builder::Category { codes, levels, code_of } => {
                let code = match cell {
                    Cell::Missing => None,
                    Cell::Text(text) => Some(level_code(text, levels, code_of)),
                    typed => Some(level_code(&text_of(typed), levels, code_of)),
                };
                codes.push(code);
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Column {
        match self {
            Builder::Number(values) => Column::Number(values),
            Builder::Boolean(values) => Column::Boolean(values),
            Builder::Category { codes, levels, .. } => Column::Category { codes, levels },
            Builder::Text(texts) => Column::Text(texts),
            Builder::DateTime { values, .. } => Column::DateTime(values),
        }
    }
}

fn level_code(text: &str, levels: &mut Vec<String>, code_of: &mut HashMap<String, u32>) -> u32 {
    if let Some(code) = code_of.get(text) {
        return *code;
    }
    let code = u32::try_from(levels.len()).expect("four billion distinct texts exceed memory");
    levels.push(text.to_owned());
    code_of.insert(text.to_owned(), code);
    code
}

fn number(cell: Cell<'_>) -> Result<f64, Problem> {
    match cell {
        Cell::Missing => Ok(f64::NAN),
        Cell::Number(value) => finite(value, || value.to_string()),
        Cell::Boolean(value) => Ok(f64::from(u8::from(value))),
        Cell::DateTime(_) => Err(Problem::ExpectedNumber { got: text_of(cell) }),
        Cell::Text(text) => match parse_number(text) {
            Some(value) => finite(value, || text.to_owned()),
            None => Err(Problem::ExpectedNumber { got: text.to_owned() }),
        },
    }
}

fn boolean(cell: Cell<'_>) -> Result<Option<bool>, Problem> {
    let value = match cell {
        Cell::Missing => return Ok(None),
        Cell::Boolean(value) => Some(value),
        Cell::Number(value) if value == 0.0 || value == 1.0 => Some(value == 1.0),
        Cell::Text(text) => parse_declared_boolean(text),
        Cell::Number(_) | Cell::DateTime(_) => None,
    };
    value.map(Some).ok_or_else(|| Problem::ExpectedBoolean { got: text_of(cell) })
}

fn datetime(cell: Cell<'_>, format: &DateFormat) -> Result<Option<i64>, Problem> {
    if cell == Cell::Missing {
        return Ok(None);
    }
    let refused = || Problem::ExpectedDateTime { format: format.clone(), got: text_of(cell) };
    format.read(cell).map(Some).ok_or_else(refused)
}

fn text_of(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Number(value) => value.to_string(),
        Cell::Boolean(value) => value.to_string(),
        Cell::DateTime(micros) => format_datetime(micros),
        Cell::Text(text) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_cell_becomes_the_same_level_as_its_text() {
        let mut builder = Builder::new(ColumnType::Category, DateFormat::default()).expect("not ignored");
        for cell in
            [Cell::Text("5"), Cell::Number(5.0), Cell::Missing, Cell::Boolean(true), Cell::Text("true")]
        {
            builder.push(cell).expect("a category takes anything");
        }
        let levels = vec!["5".to_owned(), "true".to_owned()];
        let codes = vec![Some(0), Some(0), None, Some(1), Some(1)];
        assert_eq!(builder.finish(), Column::Category { codes, levels });
    }

    #[test]
    fn infinite_numbers_are_refused_however_they_are_written() {
        for cell in
            [Cell::Text("1e999"), Cell::Text("-inf"), Cell::Text("Infinity"), Cell::Number(f64::INFINITY)]
        {
            let refused = Builder::Number(Vec::new()).push(cell);
            assert!(matches!(refused, Err(Problem::InfiniteNumber { .. })), "{cell:?}");
        }
    }
}
