//! Texts that look like numbers in a notation that is not read: `1,5`, `$1,200`.

use std::fmt;

/// Share of the distinct texts of a column that have to look alike.
const SHARE: f64 = 0.9;
const CURRENCIES: [char; 6] = ['$', '€', '£', '¥', '₹', '₩'];

/// A notation that people write and this crate does not guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `1,5` or `1,234`, `1.234.567`, `1 000`.
    Separators,
    /// `$12` or `12 €`.
    Currency,
    /// `12 %`.
    Percent,
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Notation::Separators => "numbers with commas or separators",
            Notation::Currency => "numbers with currency signs",
            Notation::Percent => "numbers with percent signs",
        })
    }
}

impl Notation {
    /// What to write instead.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Notation::Separators => {
                "write numbers with a decimal point instead of a comma and without separators"
            }
            Notation::Currency => "write numbers without the currency sign and separators",
            Notation::Percent => "write numbers without the percent sign",
        }
    }
}

/// The notation of nearly all of these texts, with an example, if they share one that is not read.
pub(crate) fn foreign_notation<'a>(
    texts: impl IntoIterator<Item = &'a String>,
) -> Option<(Notation, &'a String)> {
    let (mut found, mut all, mut alike, mut plain) = (None, 0, 0, 0);
    for text in texts {
        all += 1;
        match notation_of(text) {
            Some(notation) => {
                alike += 1;
                found = found.or(Some((notation, text)));
            }
            None => plain += usize::from(text.parse::<f64>().is_ok()),
        }
    }
    // Plain numbers go along with `1,234`; a column of plain numbers alone is no matter for this.
    (f64::from(alike) + plain as f64 >= SHARE * f64::from(all)).then_some(found).flatten()
}

pub(crate) fn notation_of(text: &str) -> Option<Notation> {
    let text = text.trim();
    if text.len() > 32 || !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let unsigned = text.strip_prefix(['-', '+', '(']).unwrap_or(text).trim_end_matches(')');
    if let Some(number) = unsigned.strip_suffix('%') {
        return is_amount(number.trim()).then_some(Notation::Percent);
    }
    let bare = unsigned.trim_start_matches(CURRENCIES).trim_end_matches(CURRENCIES).trim();
    let is_code = |code: &str| ["USD", "EUR", "GBP", "CHF"].contains(&code);
    let bare = match bare.rsplit_once(' ') {
        Some((number, code)) if is_code(code) => number,
        _ => bare,
    };
    if bare.len() < unsigned.len() {
        return is_amount(bare).then_some(Notation::Currency);
    }
    (is_amount(bare) && bare.parse::<f64>().is_err()).then_some(Notation::Separators)
}

/// Digits, in groups of three or not, with a decimal part after a point or comma or without one.
fn is_amount(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let grouped = |text: &str| {
        let Some(separator) = text.chars().find(|c| !c.is_ascii_digit()) else { return digits(text) };
        let mut groups = text.split(separator);
        matches!(separator, '.' | ',' | '\'' | ' ' | '\u{a0}' | '\u{202f}')
            && groups.next().is_some_and(|first| digits(first) && first.len() <= 3)
            && groups.all(|group| digits(group) && group.len() == 3)
    };
    grouped(text)
        || text.rsplit_once(['.', ',']).is_some_and(|(whole, decimals)| {
            digits(decimals) && grouped(whole) && !whole.contains(&text[whole.len()..=whole.len()])
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_foreign_notation_is_recognised() {
        for (text, expected) in [
            ("1,5", Notation::Separators),
            ("-1,234.50", Notation::Separators),
            ("1.234.567", Notation::Separators),
            ("1 000", Notation::Separators),
            ("$12", Notation::Currency),
            ("-£1,200.00", Notation::Currency),
            ("12,50 €", Notation::Currency),
            ("12 EUR", Notation::Currency),
            ("12.5 %", Notation::Percent),
        ] {
            assert_eq!(notation_of(text), Some(expected), "{text}");
        }
        for text in [
            "red",
            "31/12/2016",
            "A1",
            "12",
            "1.5",
            "10-20",
            "192.168.0.1",
            "3 rooms",
            "",
            "x,y",
            "route 66",
            "1e5",
            "0.1.2.3",
            "1 2",
            "$",
            "%",
        ] {
            assert_eq!(notation_of(text), None, "{text}");
        }
    }

    #[test]
    fn one_strange_text_does_not_make_a_column_of_numbers() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
        assert!(foreign_notation(&texts(&["1,5", "red", "blue"])).is_none());
        assert!(foreign_notation(&texts(&["1", "2"])).is_none());
        let mixed = texts(&["950", "1,200", "870"]);
        assert_eq!(foreign_notation(&mixed), Some((Notation::Separators, &mixed[1])));
    }
}
