//! One value on its way from a file into a column, and how text becomes a number or a boolean.

use crate::error::Problem;

/// One value as its file gives it: text from CSV, typed from Parquet and JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    Missing,
    Number(f64),
    Boolean(bool),
    /// Microseconds since 1970-01-01 UTC.
    DateTime(i64),
    /// Text without surrounding blanks.
    Text(&'a str),
}

impl Cell<'_> {
    /// A typed number, where NaN means missing.
    pub(crate) fn number(value: f64) -> Self {
        if value.is_nan() { Cell::Missing } else { Cell::Number(value) }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Cell::Missing => "a missing value",
            Cell::Number(_) => "a number",
            Cell::Boolean(_) => "a boolean",
            Cell::DateTime(_) => "a date",
            Cell::Text(_) => "text",
        }
    }
}

/// The texts that mean "no value".
#[derive(Debug, Clone)]
pub(crate) struct MissingValues {
    texts: Vec<String>,
    /// Bit n is set if a text of n bytes exists: most cells are cleared by one look at their length.
    lengths: u64,
}

impl MissingValues {
    pub(crate) fn new(texts: &[String]) -> Self {
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
        let lengths = texts.iter().fold(0, |bits, text| bits | 1 << text.len().min(63));
        MissingValues { texts, lengths }
    }

    /// The cell that a text stands for.
    pub(crate) fn cell<'a>(&self, text: &'a str) -> Cell<'a> {
        let text = text.trim();
        let possible = self.lengths >> text.len().min(63) & 1 == 1;
        if possible && self.texts.iter().any(|missing| missing == text) {
            Cell::Missing
        } else {
            Cell::Text(text)
        }
    }
}

/// A number as Rust and C write it; infinite for `inf` and for what exceeds 64-bit floats, never NaN.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let first = *text.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.' | b'i' | b'I')) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| !value.is_nan())
}

/// `true`/`false` and `yes`/`no` in any case.
pub(crate) fn parse_boolean(text: &str) -> Option<bool> {
    if !matches!(text.len(), 2..=5) {
        return None;
    }
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("true") || is("yes") {
        Some(true)
    } else if is("false") || is("no") {
        Some(false)
    } else {
        None
    }
}

/// What the user calls a boolean when the column is declared as one: 0/1, t/f and y/n too.
pub(crate) fn parse_declared_boolean(text: &str) -> Option<bool> {
    parse_boolean(text).or(match text {
        "1" | "1.0" | "t" | "T" | "y" | "Y" => Some(true),
        "0" | "0.0" | "f" | "F" | "n" | "N" => Some(false),
        _ => None,
    })
}

/// The number, or why it is refused.
pub(crate) fn finite(value: f64, text: impl FnOnce() -> String) -> Result<f64, Problem> {
    if value.is_finite() { Ok(value) } else { Err(Problem::InfiniteNumber { got: text() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_a_cell_do_not_count() {
        let missing = MissingValues::new(&["".into(), "NA".into()]);
        assert_eq!(missing.cell("  "), Cell::Missing);
        assert_eq!(missing.cell(" NA "), Cell::Missing);
        assert_eq!(missing.cell(" 12.5 "), Cell::Text("12.5"));
        assert_eq!(missing.cell("na"), Cell::Text("na"));
    }

    #[test]
    fn words_are_not_numbers_and_overflow_is_infinite() {
        for word in ["nan", "NaN", "e5", "1,5", "1 2", "0x10", "--1", ""] {
            assert_eq!(parse_number(word), None, "{word}");
        }
        for (text, value) in
            [("+5", 5.0), (".5", 0.5), ("5.", 5.0), ("-1e-3", -0.001), ("1e999", f64::INFINITY)]
        {
            assert_eq!(parse_number(text), Some(value), "{text}");
        }
    }

    #[test]
    fn zero_and_one_are_booleans_only_when_declared() {
        assert_eq!(parse_boolean("Yes"), Some(true));
        assert_eq!(parse_boolean("1"), None);
        assert_eq!(parse_declared_boolean("1"), Some(true));
    }
}
