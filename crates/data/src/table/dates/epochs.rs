//! [`Epochs`]: what the numbers in a column of dates count.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::format::DateFormat;
use crate::error::{At, Problem};

/// Larger numbers are milliseconds since 1970 (from 1973 on), smaller ones seconds (until 5138).
const MILLISECONDS: f64 = 1e11;
/// Smaller numbers are no epochs: as seconds they are of 1973 or before.
const SECONDS: f64 = 1e8;

/// Numbers that are dates.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Epochs {
    /// With the bits of the number: JSON knows no infinite ones.
    first: Option<(At, u64)>,
    /// The bits of the smallest and the largest.
    range: Option<(u64, u64)>,
    /// How many are dates such as 20201231.
    compact: u64,
}

impl Epochs {
    /// Takes one number into account.
    pub(crate) fn push(&mut self, value: f64, at: At) {
        self.first.get_or_insert((at, value.to_bits()));
        self.widen(value, value);
        self.compact += u64::from(is_compact_date(value));
    }

    /// Takes the numbers of the next file into account.
    pub(crate) fn extend(&mut self, next: Self) {
        self.first = self.first.or(next.first);
        if let Some((low, high)) = next.range() {
            self.widen(low, high);
        }
        self.compact += next.compact;
    }

    fn widen(&mut self, to_low: f64, to_high: f64) {
        let (low, high) = self.range().unwrap_or((to_low, to_high));
        self.range = Some((low.min(to_low).to_bits(), high.max(to_high).to_bits()));
    }

    fn range(&self) -> Option<(f64, f64)> {
        self.range.map(|(low, high)| (f64::from_bits(low), f64::from_bits(high)))
    }

    /// The one format that reads so many cells, all of them numbers.
    pub(crate) fn resolve(&self, cells: u64) -> Result<DateFormat, (At, Problem)> {
        if self.compact == cells {
            return Ok(DateFormat::compact());
        }
        match (self.first, self.range()) {
            (_, Some((low, _))) if low >= MILLISECONDS => Ok(DateFormat::epoch(true)),
            (_, Some((low, high))) if low >= SECONDS && high < MILLISECONDS => Ok(DateFormat::epoch(false)),
            (Some((at, got)), _) => Err((at, Problem::UnclearEpoch { got: f64::from_bits(got) })),
            (None, _) => Ok(DateFormat::default()),
        }
    }
}

/// Whether a number is a date such as 20201231.
fn is_compact_date(value: f64) -> bool {
    if value.fract() != 0.0 || !(1e7..1e8).contains(&value) {
        return false;
    }
    let number = value as u32;
    i32::try_from(number / 10_000)
        .is_ok_and(|year| NaiveDate::from_ymd_opt(year, number / 100 % 100, number % 100).is_some())
}
