use proptest::prelude::*;

use super::*;
use crate::table::cell::Cell;
use crate::table::dates::format::DateFormat;
use chrono::{DateTime, Timelike};

fn certain(text: &str) -> Option<String> {
    match read_date(text)? {
        Written::Certain(micros) => Some(crate::table::dates::iso::format_datetime(micros)),
        Written::Numbers(_) => None,
    }
}

#[test]
fn dates_with_one_meaning_are_read_whatever_their_notation() {
    for (text, meaning) in [
        ("2020-12-31", "2020-12-31T00:00:00"),
        ("2020/12/31", "2020-12-31T00:00:00"),
        ("2020.12.31 9:05", "2020-12-31T09:05:00"),
        ("2020-1-2", "2020-01-02T00:00:00"),
        ("31 Dec 2020", "2020-12-31T00:00:00"),
        ("31. December 2020", "2020-12-31T00:00:00"),
        ("31-Dec-20", "2020-12-31T00:00:00"),
        ("31-DEC-99 23:59:59", "1999-12-31T23:59:59"),
        ("December 31, 2020", "2020-12-31T00:00:00"),
        ("31st December 2020", "2020-12-31T00:00:00"),
        ("Sept 1st, 2020", "2020-09-01T00:00:00"),
        ("Thursday, December 31, 2020 at 2:05 PM", "2020-12-31T14:05:00"),
        ("Thu, 31 Dec 2020 14:05:30 GMT", "2020-12-31T14:05:30"),
        ("31 Dec 2020 14:05 +01:00", "2020-12-31T13:05:00"),
        ("Dec 31, 2020 12:05am", "2020-12-31T00:05:00"),
        ("31 Dec 2020 17:05 PM", "2020-12-31T17:05:00"),
        ("Dec 31, 2020 12:05 pm", "2020-12-31T12:05:00"),
        ("2020-W53-4", "2020-12-31T00:00:00"),
        ("2020-W53", "2020-12-28T00:00:00"),
    ] {
        assert_eq!(certain(text).as_deref(), Some(meaning), "{text}");
    }
}

#[test]
fn impossible_dates_and_other_texts_are_no_dates() {
    for text in [
        "31/02/2020",
        "02/31/2020",
        "29.02.2021",
        "32/01/2020",
        "13/13/2020",
        "0/1/2020",
        "31 Feb 2020",
        "Fri, 31 Dec 2020",
        "2021-W53",
        "2020-W00-1",
        "2020-W53-8",
        "2020-13-01",
        "2020/02/30",
        "31/12/2020 25:00",
        "31/12/2020 13:05 AM",
        "31/12/2020 0:05 AM",
        "31/12/202",
        "31/12-2020",
        "1/2",
        "20201231",
        "1609459200",
        "14:05",
        "192.168.0.1",
        "1.5.2",
        "Dec 2020",
        "may",
        "3 rooms in 2020",
        "",
    ] {
        assert_eq!(read_date(text), None, "{text}");
    }
}

#[test]
fn numbers_have_a_meaning_for_each_order_in_which_there_is_such_a_day() {
    let days = |text: &str| {
        let Some(Written::Numbers(by_order)) = read_date(text) else { panic!("{text}") };
        let day =
            |micros: i64| DateTime::from_timestamp_micros(micros).map(|time| time.date_naive().to_string());
        by_order.map(|micros| micros.and_then(day).unwrap_or_default())
    };
    assert_eq!(days("01/02/2020"), ["2020-02-01", "2020-01-02", ""]);
    assert_eq!(days("31.12.2020 14:05"), ["2020-12-31", "", ""]);
    assert_eq!(days("12-31-2020"), ["", "2020-12-31", ""]);
    assert_eq!(days("20/12/31"), ["2031-12-20", "", "2020-12-31"]);
    assert_eq!(days("20.12.31"), ["2031-12-20", "", ""], "with points the year is last");
    assert_eq!(days("31/12/99"), ["1999-12-31", "", ""]);
}

/// Notations as `strftime` writes them, with the format that reads them and the smallest unit that they keep.
const NOTATIONS: [(&str, &str, i64); 16] = [
    ("%d/%m/%Y", "day-first", DAY),
    ("%-d.%-m.%Y %H:%M", "day-first", 60),
    ("%d-%m-%Y %H:%M:%S", "day-first", 1),
    ("%d/%m/%y %-I:%M %p", "day-first", 60),
    ("%m/%d/%Y", "month-first", DAY),
    ("%-m/%-d/%y %-I:%M:%S %p", "month-first", 1),
    ("%m-%d-%Y %H:%M", "month-first", 60),
    ("%y/%m/%d", "year-first", DAY),
    ("%d %b %Y %H:%M:%S", "unambiguous", 1),
    ("%A, %B %d, %Y", "unambiguous", DAY),
    ("%d-%b-%y", "unambiguous", DAY),
    ("%Y/%m/%d %I:%M:%S%P", "unambiguous", 1),
    ("%G-W%V-%u", "unambiguous", DAY),
    ("%Y%m%d", "%Y%m%d", DAY),
    ("%d.%m.%Y um %H:%M", "%d.%m.%Y um %H:%M", 60),
    ("%s", "epoch-seconds", 1),
];

proptest! {
    #[test]
    fn what_is_written_in_a_notation_is_read_as_the_same_instant(
        second in -31_000_000i64..3_100_000_000, // 1969 to 2068, the years that two digits stand for
    ) {
        for (pattern, format, unit) in NOTATIONS {
            let unit = if unit == DAY { 86_400 } else { unit };
            let second = second.div_euclid(unit) * unit;
            let time = DateTime::from_timestamp(second, 0).expect("a time in the calendar");
            let text = time.format(pattern).to_string();
            let format: DateFormat = format.parse().expect("a format");
            prop_assert_eq!(format.read(Cell::Text(&text)), Some(second * 1_000_000), "{} {}", pattern, text);
        }
    }

    #[test]
    fn a_day_that_the_calendar_does_not_have_is_no_date(day in 1u32..40, month in 1u32..15, year in 1900u32..2100) {
        let there_is = NaiveDate::from_ymd_opt(year as i32, month, day).is_some();
        let format: DateFormat = "day-first".parse().expect("a format");
        let text = format!("{day}/{month}/{year}");
        prop_assert_eq!(format.read(Cell::Text(&text)).is_some(), there_is, "{}", text);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,40}", dates in "[0-9a-zA-Z/.: ,W+-]{0,30}") {
        let _ = (read_date(&text), read_date(&dates));
    }

    #[test]
    fn any_time_of_day_is_read_with_its_half(minute in 0u32..1440) {
        let time = chrono::NaiveTime::from_num_seconds_from_midnight_opt(minute * 60, 0).expect("of a day");
        for pattern in ["%H:%M", "%-I:%M %p", "%I:%M%P", "%H:%M:00.0"] {
            let text = time.format(pattern).to_string();
            let expected = i64::from(time.num_seconds_from_midnight()) * 1_000_000;
            prop_assert_eq!(time_of_day(&text), Some(expected), "{}", text);
        }
    }
}
