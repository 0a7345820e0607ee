//! [`DatePart`]: the numbers that a model sees of a date.

use chrono::{DateTime, Datelike, Timelike};
use serde::{Deserialize, Serialize};

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

/// A number drawn from a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// Seconds since 1970-01-01 UTC: the trend.
    Seconds,
    /// 1 to 12.
    Month,
    /// 1 to 31.
    DayOfMonth,
    /// 0 to 24, minutes and seconds as the fraction.
    Hour,
    /// 0 (Monday) to 6.
    DayOfWeek,
    /// 1 to 366.
    DayOfYear,
}

impl DatePart {
    /// All parts, in the order of the matrix.
    pub const ALL: [DatePart; 6] = [
        DatePart::Seconds,
        DatePart::Month,
        DatePart::DayOfMonth,
        DatePart::Hour,
        DatePart::DayOfWeek,
        DatePart::DayOfYear,
    ];

    /// The part's name within a feature name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DatePart::Seconds => "seconds",
            DatePart::Month => "month",
            DatePart::DayOfMonth => "day_of_month",
            DatePart::Hour => "hour",
            DatePart::DayOfWeek => "day_of_week",
            DatePart::DayOfYear => "day_of_year",
        }
    }

    /// The part of a time in microseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn extract(self, micros: i64) -> f64 {
        if self == DatePart::Seconds {
            return micros as f64 / SECOND as f64;
        }
        // Beyond ±262,000 years chrono has no calendar; such a time is far outside any training range.
        let time = DateTime::from_timestamp_micros(micros).unwrap_or_default();
        match self {
            DatePart::Seconds => unreachable!("returned above"),
            DatePart::Month => time.month().into(),
            DatePart::DayOfMonth => time.day().into(),
            DatePart::Hour => f64::from(time.num_seconds_from_midnight()) / 3600.0,
            DatePart::DayOfWeek => time.weekday().num_days_from_monday().into(),
            DatePart::DayOfYear => time.ordinal().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::dates::iso::parse_datetime;

    #[test]
    fn parts_of_a_known_monday_evening() {
        let time = parse_datetime("2016-01-11T17:30:00").expect("valid");
        let parts = DatePart::ALL.map(|part| part.extract(time));
        assert_eq!(parts, [1_452_533_400.0, 1.0, 11.0, 17.5, 0.0, 11.0]);
    }
}
