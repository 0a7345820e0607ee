//! [`DateFormat`]: how the dates of one column are read.

use std::fmt;
use std::str::FromStr;

use chrono::DateTime;
use serde::{Deserialize, Serialize};

use super::iso::SECOND;
use super::notation::{Order, read_date};
use super::pattern::DatePattern;
use crate::table::cell::{Cell, parse_number};

/// How the dates of a column are written.
///
/// ```
/// use inducing_data::DateFormat;
/// let format: DateFormat = "day-first".parse()?;
/// assert_eq!(format.to_string(), "day-first");
/// assert!("%d/%m/%Y".parse::<DateFormat>().is_ok());
/// assert!("day-frist".parse::<DateFormat>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DateFormat(Notation);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Notation {
    /// ISO 8601, names of months, the year first: one meaning each.
    #[default]
    Unambiguous,
    /// The same, and numbers in this order.
    Numbers(Order),
    EpochSeconds,
    EpochMilliseconds,
    Pattern(DatePattern),
}

const NAMES: [(&str, Notation); 6] = [
    ("unambiguous", Notation::Unambiguous),
    ("day-first", Notation::Numbers(Order::Day)),
    ("month-first", Notation::Numbers(Order::Month)),
    ("year-first", Notation::Numbers(Order::Year)),
    ("epoch-seconds", Notation::EpochSeconds),
    ("epoch-milliseconds", Notation::EpochMilliseconds),
];

impl DateFormat {
    /// Dates whose numbers stand in this order.
    pub(crate) fn of_order(order: Order) -> Self {
        DateFormat(Notation::Numbers(order))
    }

    pub(crate) fn epoch(milliseconds: bool) -> Self {
        DateFormat(if milliseconds { Notation::EpochMilliseconds } else { Notation::EpochSeconds })
    }

    /// `20201231`.
    pub(crate) fn compact() -> Self {
        let pattern = DatePattern::new("%Y%m%d").expect("year, month and day make a date");
        DateFormat(Notation::Pattern(pattern))
    }

    /// The order of numbers, if it is settled.
    pub(crate) fn order(&self) -> Option<Order> {
        match self.0 {
            Notation::Numbers(order) => Some(order),
            _ => None,
        }
    }

    /// Whether it says nothing that the texts do not say themselves.
    pub(crate) fn is_plain(&self) -> bool {
        self.0 == Notation::Unambiguous
    }

    pub(crate) fn is_epoch(&self) -> bool {
        matches!(self.0, Notation::EpochSeconds | Notation::EpochMilliseconds)
    }

    pub(crate) fn is_pattern(&self) -> bool {
        matches!(self.0, Notation::Pattern(_))
    }

    /// Microseconds since 1970-01-01 UTC of a cell that has a value.
    pub(crate) fn read(&self, cell: Cell<'_>) -> Option<i64> {
        match (&self.0, cell) {
            (_, Cell::DateTime(micros)) => Some(micros),
            (Notation::Unambiguous, Cell::Text(text)) => match read_date(text)? {
                super::notation::Written::Certain(micros) => Some(micros),
                super::notation::Written::Numbers(_) => None,
            },
            (Notation::Numbers(order), Cell::Text(text)) => read_date(text)?.by(*order),
            (Notation::EpochSeconds, _) => since_epoch(cell, SECOND as f64),
            (Notation::EpochMilliseconds, _) => since_epoch(cell, SECOND as f64 / 1e3),
            (Notation::Pattern(pattern), Cell::Text(text)) => pattern.read(text),
            // Parquet and JSON: 20201231 without quotes.
            (Notation::Pattern(pattern), Cell::Number(value)) => pattern.read(&value.to_string()),
            _ => None,
        }
    }

    /// What a cell has to look like, for error messages.
    pub(crate) fn expected(&self) -> String {
        match &self.0 {
            Notation::Unambiguous => "a date such as 2020-12-31, 2020-12-31T14:05:00Z or 31 Dec 2020".into(),
            Notation::Numbers(Order::Day) => "a date with the day first, such as 31/12/2020".into(),
            Notation::Numbers(Order::Month) => "a date with the month first, such as 12/31/2020".into(),
            Notation::Numbers(Order::Year) => "a date with the year first, such as 20/12/31".into(),
            Notation::EpochSeconds => "seconds since 1970, such as 1609372800".into(),
            Notation::EpochMilliseconds => "milliseconds since 1970, such as 1609372800000".into(),
            Notation::Pattern(pattern) => format!("a date written as {}", pattern.as_str()),
        }
    }
}

fn since_epoch(cell: Cell<'_>, micros: f64) -> Option<i64> {
    let value = match cell {
        Cell::Number(value) => value,
        Cell::Text(text) => parse_number(text)?,
        Cell::Missing | Cell::Boolean(_) | Cell::DateTime(_) => return None,
    };
    let micros = (value * micros).round();
    // The calendar ends before 64 bits do.
    (micros.abs() < i64::MAX as f64)
        .then_some(micros as i64)
        .filter(|micros| DateTime::from_timestamp_micros(*micros).is_some())
}

impl FromStr for DateFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, notation)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(DateFormat(notation.clone()));
        }
        if text.contains('%') {
            return DatePattern::new(text).map(|pattern| DateFormat(Notation::Pattern(pattern)));
        }
        let names: Vec<&str> = NAMES.iter().skip(1).map(|(name, _)| *name).collect();
        Err(format!(
            "{text:?} is no format of dates: expected {} or a pattern such as %d/%m/%Y %H:%M",
            names.join(", ")
        ))
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Notation::Pattern(pattern) => f.write_str(pattern.as_str()),
            named => {
                f.write_str(NAMES.iter().find(|(_, notation)| notation == named).map_or("", |(name, _)| name))
            }
        }
    }
}

impl TryFrom<String> for DateFormat {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<DateFormat> for String {
    fn from(format: DateFormat) -> Self {
        format.to_string()
    }
}
