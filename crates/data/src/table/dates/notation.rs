//! Dates as people write them: `31/12/2020 2:05 PM`, `31-Dec-20`, `December 31, 2020`, `2020-W53-4`.

use chrono::{Datelike, NaiveDate, Weekday};
use serde::{Deserialize, Serialize};

use super::iso::{DAY, digits, parse_datetime, parse_time};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// No date is longer: `Wednesday, September 30th, 2020 at 12:05:30.123456 PM +01:00`.
const LONGEST: usize = 64;
/// Two digits from here on are a year of the last century, as in POSIX; one of this century below.
const LAST_CENTURY: u32 = 69;

/// The order of the numbers in `01/02/2020` or `01/02/03`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Day,
    Month,
    /// With years of two digits; with four there is no doubt.
    Year,
}

impl Order {
    pub(crate) const ALL: [Order; 3] = [Order::Day, Order::Month, Order::Year];
}

/// What a text is as a date, in microseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Written {
    /// One instant.
    Certain(i64),
    /// Numbers that can stand in several orders, each with its instant if there is such a day; one of them there is.
    Numbers([Option<i64>; 3]),
}

impl Written {
    /// The instant in this order of numbers.
    pub(crate) fn by(self, order: Order) -> Option<i64> {
        match self {
            Written::Certain(micros) => Some(micros),
            Written::Numbers(by_order) => by_order[order as usize],
        }
    }
}

/// The meaning of a text as a date, if it has one. Compact dates (`20201231`) and epochs are numbers here.
pub(crate) fn read_date(text: &str) -> Option<Written> {
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Some(micros) = parse_datetime(text) {
        return Some(Written::Certain(micros));
    }
    let (date, time) = split_time(text)?;
    let time = time.map_or(Some(0), time_of_day)?;
    let at = |day: NaiveDate| i64::from(day.to_epoch_days()) * DAY + time;
    if let Some(day) = iso_week(date).or_else(|| with_month_name(date)) {
        return Some(Written::Certain(at(day)));
    }
    let separator = ['/', '.', '-'].into_iter().find(|separator| date.contains(*separator))?;
    let mut parts = date.split(separator).map(str::trim);
    let parts = [parts.next()?, parts.next()?, parts.next().filter(|_| parts.next().is_none())?];
    if parts[0].len() == 4 {
        return ymd(year(parts[0])?, small(parts[1])?, small(parts[2])?).map(|day| Written::Certain(at(day)));
    }
    let (first, second) = (small(parts[0])?, small(parts[1])?);
    let last = year(parts[2])?;
    // `20.12.31` is nobody's way to begin with the year.
    let year_first = (separator != '.' && parts[2].len() == 2 && parts[0].len() == 2).then_some(());
    let by_order = [
        ymd(last, second, first),
        ymd(last, first, second),
        year_first.and_then(|()| ymd(year(parts[0])?, second, small(parts[2])?)),
    ];
    let by_order = by_order.map(|day| day.map(at));
    by_order.iter().any(Option::is_some).then_some(Written::Numbers(by_order))
}

/// The date, and the time from the hour on.
fn split_time(text: &str) -> Option<(&str, Option<&str>)> {
    let Some(colon) = text.find(':') else { return Some((text, None)) };
    let before = text[..colon].trim_end_matches(|c: char| c.is_ascii_digit());
    let time = &text[before.len()..];
    let date = before.strip_suffix(['T', 't']).filter(|date| date.ends_with(|c: char| c.is_ascii_digit()));
    let date = date.or_else(|| {
        let date = before.strip_suffix([' ', ','])?.trim_end();
        Some(date.strip_suffix(" at").unwrap_or(date).trim_end_matches([' ', ',']))
    })?;
    Some((date, Some(time)))
}

/// Microseconds since midnight UTC of `H:MM[:SS[.f…]][ AM|PM][zone]`.
fn time_of_day(text: &str) -> Option<i64> {
    let text = text.strip_suffix(" UTC").or_else(|| text.strip_suffix(" GMT")).unwrap_or(text);
    let (hour, rest) = text.split_at(text.find(':')?);
    let hour = small(hour)?;
    let end = rest.len().checked_sub(2)?;
    let half =
        rest.get(end..).filter(|half| half.eq_ignore_ascii_case("am") || half.eq_ignore_ascii_case("pm"));
    let Some(half) = half else { return parse_time(format!("{hour:02}{rest}").as_bytes()) };
    let afternoon = half.eq_ignore_ascii_case("pm");
    let hour = match hour {
        1..=12 => hour % 12 + if afternoon { 12 } else { 0 },
        13..=23 if afternoon => hour, // as some programs write it, and clear enough
        _ => return None,
    };
    parse_time(format!("{hour:02}{}", rest[..end].trim_end()).as_bytes())
}

/// `2020-W53-4`; without a day, Monday.
fn iso_week(text: &str) -> Option<NaiveDate> {
    let (year, week) = text.split_once("-W")?;
    let (week, day) = week.split_once('-').unwrap_or((week, "1"));
    if year.len() != 4 || week.len() != 2 || day.len() != 1 {
        return None;
    }
    let day = digits(day.as_bytes())?.checked_sub(1)?;
    let year = i32::try_from(digits(year.as_bytes())?).ok()?;
    NaiveDate::from_isoywd_opt(
        year,
        digits(week.as_bytes())?,
        Weekday::try_from(u8::try_from(day).ok()?).ok()?,
    )
}

/// `31 Dec 2020`, `December 31st, 2020`, `2020-Dec-31`, `31-Dec-20`, with the day of the week before it or without.
fn with_month_name(text: &str) -> Option<NaiveDate> {
    if !text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let mut words = text.split([' ', ',', '-', '/', '.']).filter(|word| !word.is_empty());
    let mut first = words.next()?;
    let weekday = weekday(first);
    if weekday.is_some() {
        first = words.next()?;
    }
    let [a, b, c] = [first, words.next()?, words.next().filter(|_| words.next().is_none())?];
    let date = if let Some(month) = month(a) {
        ymd(year(c)?, month, day_of_month(b)?)
    } else if a.len() == 4 && a.bytes().all(|byte| byte.is_ascii_digit()) {
        ymd(year(a)?, month(b)?, day_of_month(c)?)
    } else {
        ymd(year(c)?, month(b)?, day_of_month(a)?)
    }?;
    weekday.is_none_or(|weekday| weekday == date.weekday()).then_some(date)
}

fn month(word: &str) -> Option<u32> {
    let is = |name: &&str| {
        let short = if *name == "september" && word.len() == 4 { 4 } else { 3 };
        word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(&name[..short])
    };
    MONTHS.iter().position(is).map(|month| month as u32 + 1)
}

fn weekday(word: &str) -> Option<Weekday> {
    if word.starts_with(|c: char| c.is_ascii_digit()) { None } else { word.parse().ok() }
}

/// `31` or `31st`.
fn day_of_month(word: &str) -> Option<u32> {
    let ending = ["st", "nd", "rd", "th"].into_iter().find_map(|ending| word.strip_suffix(ending));
    small(ending.unwrap_or(word))
}

/// A number of one or two digits.
fn small(text: &str) -> Option<u32> {
    if matches!(text.len(), 1 | 2) { digits(text.as_bytes()) } else { None }
}

/// A year of two or four digits.
fn year(text: &str) -> Option<u32> {
    match (text.len(), digits(text.as_bytes())?) {
        (4, year) => (year >= 1000).then_some(year),
        (2, year) => Some(year + if year < LAST_CENTURY { 2000 } else { 1900 }),
        _ => None,
    }
}

fn ymd(year: u32, month: u32, day: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

#[cfg(test)]
mod tests;
