//! Parts of dates from microseconds since 1970-01-01 UTC, in integers.
//!
//! A day's place in the calendar by counting from March of the year 0 in eras of 400 years, whose months then follow one formula (Howard
//! Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`).

use crate::graph::{Attribute, Graph, Type, Value};
use data::DatePart;

const SECOND: f64 = 1e6;
const DAY: f64 = 86_400.0 * SECOND;

/// A date `[N, 1]` in pieces, 64-bit integers.
pub(crate) struct Date {
    micros: Value,
    within: Value,
    days: Value,
    year_day: Value,
    month: Value,
    day: Value,
}

impl Graph {
    /// `a / x` rounded down, and the rest.
    fn divide(&mut self, a: Value, x: f64) -> [Value; 2] {
        let by = self.number(a, x);
        let rest = self.node("Mod", &[a, by], vec![Attribute::Int("fmod", 0)], Type::I64);
        let whole = self.sub(a, rest);
        [self.over(whole, x), rest]
    }

    /// The pieces of a date in whole microseconds, 64-bit floats.
    pub(crate) fn date(&mut self, micros: Value) -> Date {
        let whole = self.cast(micros, Type::I64);
        let [days, within] = self.divide(whole, DAY);
        let from_march = self.plus(days, 719_468.0); // days since 0000-03-01
        let [era, of_era] = self.divide(from_march, 146_097.0);
        // Years of the era: days without the leap days before them, over 365.
        let [cycles, _] = self.divide(of_era, 1460.0);
        let [centuries, _] = self.divide(of_era, 36_524.0);
        let [eras, _] = self.divide(of_era, 146_096.0);
        let days_of_years = self.sub(of_era, cycles);
        let days_of_years = self.add(days_of_years, centuries);
        let days_of_years = self.sub(days_of_years, eras);
        let [years, _] = self.divide(days_of_years, 365.0);
        let [fourths, _] = self.divide(years, 4.0);
        let [hundredths, _] = self.divide(years, 100.0);
        let before = self.times(years, 365.0);
        let before = self.add(before, fourths);
        let before = self.sub(before, hundredths);
        let of_year = self.sub(of_era, before); // from 1 March, from 0
        let fifths = self.times(of_year, 5.0);
        let fifths = self.plus(fifths, 2.0);
        let [months, _] = self.divide(fifths, 153.0); // from March, from 0
        let before = self.times(months, 153.0);
        let before = self.plus(before, 2.0);
        let [before, _] = self.divide(before, 5.0);
        let day = self.sub(of_year, before);
        let day = self.plus(day, 1.0);
        let is_new_year = self.is_number("GreaterOrEqual", months, 10.0);
        let (later, sooner) = (self.plus(months, 3.0), self.plus(months, -9.0));
        let month = self.choose(is_new_year, sooner, later);
        // 1 January is day 306 from 1 March; 1 March is day 60 or, in a leap year, 61.
        let era_years = self.times(era, 400.0);
        let year = self.add(years, era_years);
        let is_leap = {
            let [_, by_4] = self.divide(year, 4.0);
            let [_, by_100] = self.divide(year, 100.0);
            let [_, by_400] = self.divide(year, 400.0);
            let [fourth, hundredth, fourth_century] =
                [by_4, by_100, by_400].map(|rest| self.is_number("Equal", rest, 0.0));
            let usual = self.map("Not", hundredth);
            let century = self.is("Or", usual, fourth_century);
            self.is("And", fourth, century)
        };
        let leap_day = self.cast(is_leap, Type::I64);
        let from_january = self.plus(of_year, 60.0);
        let from_january = self.add(from_january, leap_day);
        let in_new_year = self.plus(of_year, -305.0);
        let year_day = self.choose(is_new_year, in_new_year, from_january);
        Date { micros, within, days, year_day, month, day }
    }

    /// One part of a date, 64-bit floats.
    pub(crate) fn date_part(&mut self, date: &Date, part: DatePart) -> Value {
        let whole = match part {
            DatePart::Seconds => return self.over(date.micros, SECOND),
            DatePart::Hour => {
                let [seconds, _] = self.divide(date.within, SECOND);
                let seconds = self.wide(seconds);
                return self.over(seconds, 3600.0);
            }
            DatePart::Month => date.month,
            DatePart::DayOfMonth => date.day,
            DatePart::DayOfYear => date.year_day,
            DatePart::DayOfWeek => {
                let from_monday = self.plus(date.days, 3.0); // 1970-01-01 was a Thursday
                let [_, day] = self.divide(from_monday, 7.0);
                day
            }
        };
        self.wide(whole)
    }
}
