//! [`DatePattern`]: a notation that the user describes, such as `%d/%m/%Y %H:%M`.

use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{DateTime, Datelike, NaiveTime, Weekday};

/// A compiled pattern of the C function `strftime`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatePattern {
    text: String,
    items: Vec<Item<'static>>,
}

impl DatePattern {
    /// Refuses a pattern that does not say which day it is.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let refuse = |what: &str| {
            format!("the pattern {text:?} {what}; write one such as %d/%m/%Y %H:%M or %Y%m%d, or day-first")
        };
        let items = StrftimeItems::new(text).parse_to_owned();
        let items = items.map_err(|_| refuse("holds a code that is not known"))?;
        let pattern = DatePattern { text: text.to_owned(), items };
        // Monday, the first of a week: a pattern of weeks alone means it.
        let monday = DateTime::from_timestamp(1_608_560_730, 0).unwrap_or_default();
        let written = monday.format_with_items(pattern.items.iter()).to_string();
        let read = pattern.read(&written).and_then(DateTime::from_timestamp_micros);
        match read.map(|read| read.date_naive()) {
            Some(day) if day == monday.date_naive() => Ok(pattern),
            _ => Err(refuse("does not say day, month and year, or the hour without am or pm")),
        }
    }

    /// Microseconds since 1970-01-01 UTC; a pattern without a time means midnight.
    pub(crate) fn read(&self, text: &str) -> Option<i64> {
        let mut parsed = Parsed::new();
        parse(&mut parsed, text, self.items.iter()).ok()?;
        if parsed.isoweek().is_some() && parsed.weekday().is_none() {
            parsed.set_weekday(Weekday::Mon).ok()?;
        }
        let date = parsed.to_naive_date().ok()?;
        let time = match (parsed.hour_mod_12(), parsed.minute()) {
            (None, None) => NaiveTime::MIN,
            (Some(_), None) => {
                parsed.set_minute(0).ok()?;
                parsed.to_naive_time().ok()?
            }
            _ => parsed.to_naive_time().ok()?,
        };
        let offset = i64::from(parsed.offset().unwrap_or(0)) * super::iso::SECOND;
        // `31/12/20` read by `%Y` would be a day of the year 20.
        (date.year() >= 100).then(|| date.and_time(time).and_utc().timestamp_micros() - offset)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::dates::iso::parse_datetime;

    #[test]
    fn a_pattern_reads_what_it_describes_and_nothing_else() {
        for (pattern, text, meaning) in [
            ("%d/%m/%Y %H:%M", "31/12/2020 14:05", "2020-12-31T14:05"),
            ("%m-%d-%y", "12-31-20", "2020-12-31"),
            ("%Y%m%d", "20201231", "2020-12-31"),
            ("%Y%m%d%H%M%S", "20201231140530", "2020-12-31T14:05:30"),
            ("%B %d, %Y %I:%M %p", "December 31, 2020 02:05 PM", "2020-12-31T14:05"),
            ("%d-%b-%y", "31-Dec-20", "2020-12-31"),
            ("%Y/%j", "2020/366", "2020-12-31"),
            ("%G-W%V-%u", "2020-W53-4", "2020-12-31"),
            ("%G-W%V", "2020-W53", "2020-12-28"),
            ("%Y-%m-%d %H", "2020-12-31 14", "2020-12-31T14:00"),
            ("%d.%m.%Y %H:%M %z", "31.12.2020 14:05 +0100", "2020-12-31T13:05"),
        ] {
            let compiled = DatePattern::new(pattern).expect(pattern);
            assert_eq!(compiled.read(text), parse_datetime(meaning), "{pattern}");
            for other in ["2020-12-31X", "31/02/2020 14:05", "20201331", "2021-W53-1", "31/12/20", ""] {
                assert_eq!(compiled.read(other), None, "{pattern} {other}");
            }
        }
    }

    #[test]
    fn a_pattern_without_a_day_is_refused() {
        for pattern in ["", "%H:%M", "%Y-%m", "%d/%m", "day-frist", "%Q", "%Y-%m-%d %I:%M", "%s"] {
            assert!(DatePattern::new(pattern).is_err(), "{pattern}");
        }
    }
}
