//! ISO-8601 dates and date-times.

use chrono::{DateTime, NaiveDate};

pub(super) const SECOND: i64 = 1_000_000;
pub(super) const DAY: i64 = 86_400 * SECOND;

/// Microseconds since 1970-01-01 UTC of `YYYY-MM-DD[(T| )HH:MM[:SS[.f…]][Z|±HH[:MM]]]`; no zone means UTC.
///
/// Anything else is `None`; `notation.rs` reads more.
pub(crate) fn parse_datetime(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() < 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let year = i32::try_from(digits(&bytes[..4])?).ok()?;
    let date = NaiveDate::from_ymd_opt(year, digits(&bytes[5..7])?, digits(&bytes[8..10])?)?;
    let days = i64::from(date.to_epoch_days());
    match bytes.get(10) {
        None => Some(days * DAY),
        Some(b'T' | b't' | b' ') => Some(days * DAY + parse_time(&bytes[11..])?),
        Some(_) => None,
    }
}

/// Microseconds since midnight UTC of `HH:MM[:SS[.f…]][zone]`.
pub(super) fn parse_time(bytes: &[u8]) -> Option<i64> {
    let clock_end =
        bytes.iter().position(|b| matches!(b, b'Z' | b'z' | b'+' | b'-' | b' ')).unwrap_or(bytes.len());
    let (clock, zone) = bytes.split_at(clock_end);
    let (hour, minute) = hours_and_minutes(clock.get(..5)?)?;
    let mut micros = (hour * 60 + minute) * 60 * SECOND;
    match clock.get(5..)? {
        [] => {}
        [b':', seconds @ ..] => {
            let whole = i64::from(digits(seconds.get(..2)?)?);
            // 60 is a leap second; it is taken as the first second of the next minute.
            micros += (whole <= 60).then_some(whole * SECOND)?;
            match seconds.get(2..)? {
                [] => {}
                [b'.' | b',', fraction @ ..]
                    if !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit) =>
                {
                    micros += (0..6)
                        .fold(0, |sum, i| sum * 10 + i64::from(fraction.get(i).map_or(0, |d| d - b'0')));
                }
                _ => return None,
            }
        }
        _ => return None,
    }
    Some(micros - zone_offset(zone)?)
}

/// Microseconds that local time is ahead of UTC.
fn zone_offset(zone: &[u8]) -> Option<i64> {
    let zone = zone.strip_prefix(b" ").unwrap_or(zone);
    let (sign, offset) = match zone {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', offset @ ..] => (1, offset),
        [b'-', offset @ ..] => (-1, offset),
        _ => return None,
    };
    let (hours, minutes) = match offset {
        [a, b] => hours_and_minutes(&[*a, *b, b':', b'0', b'0'])?,
        [a, b, c, d] => hours_and_minutes(&[*a, *b, b':', *c, *d])?,
        _ => hours_and_minutes(offset)?,
    };
    Some(sign * (hours * 60 + minutes) * 60 * SECOND)
}

fn hours_and_minutes(bytes: &[u8]) -> Option<(i64, i64)> {
    let [a, b, b':', c, d] = bytes else { return None };
    let (hours, minutes) = (digits(&[*a, *b])?, digits(&[*c, *d])?);
    (hours < 24 && minutes < 60).then_some((hours.into(), minutes.into()))
}

/// The number that these digits are; none has more than nine.
pub(super) fn digits(bytes: &[u8]) -> Option<u32> {
    if bytes.is_empty() || bytes.len() > 9 {
        return None;
    }
    bytes.iter().try_fold(0, |sum, b| b.is_ascii_digit().then(|| sum * 10 + u32::from(b - b'0')))
}

/// `2016-01-11T17:00:00` with microseconds where there are any.
pub(crate) fn format_datetime(micros: i64) -> String {
    match DateTime::from_timestamp_micros(micros) {
        Some(time) => time.naive_utc().format("%Y-%m-%dT%H:%M:%S%.f").to_string(),
        None => format!("{micros} µs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_dates_are_read_and_nothing_else() {
        let noon = 1_452_531_600 * SECOND; // 2016-01-11 17:00:00 UTC
        for text in [
            "2016-01-11 17:00:00",
            "2016-01-11T17:00",
            "2016-01-11T17:00:00Z",
            "2016-01-11T17:00:00.000000Z",
            "2016-01-11 19:30:00+02:30",
            "2016-01-11T16:00:00-01",
            "2016-01-11T18:00:00 +0100",
        ] {
            assert_eq!(parse_datetime(text), Some(noon), "{text}");
        }
        assert_eq!(parse_datetime("2016-01-11"), Some(noon - 17 * 3600 * SECOND));
        assert_eq!(parse_datetime("1969-12-31T23:59:59.5"), Some(-SECOND / 2));
        for text in [
            "11/01/2016",
            "2016-13-01",
            "2016-02-30",
            "20160111",
            "2016-01-11X",
            "2016-01-11T25:00",
            "2016-1-1",
        ] {
            assert_eq!(parse_datetime(text), None, "{text}");
        }
    }

    #[test]
    fn formatting_then_parsing_is_the_identity() {
        for micros in [0, -1, 1, 1_452_531_600_123_456, -62_000_000_000_000_000] {
            assert_eq!(parse_datetime(&format_datetime(micros)), Some(micros));
        }
    }
}
