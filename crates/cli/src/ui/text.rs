//! Text from files, made safe to print: names in a model file may hold escape sequences.

use std::borrow::Cow;
use std::fmt::Write;

/// Shows control characters as `\u{1b}` instead of sending them to the terminal; lines stay lines.
pub(crate) fn terminal_safe(text: &str) -> Cow<'_, str> {
    escape(text, |letter| letter.is_control() && !matches!(letter, '\n' | '\t'))
}

/// The same for a name, which must not break its line either.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, char::is_control)
}

/// JSON or TOML with the control characters escaped that they allow in strings (DEL and U+0080 to U+009F, some of which
/// terminals obey).
pub(crate) fn json_safe(json: &str) -> Cow<'_, str> {
    let harmless = |letter: char| !letter.is_control() || letter == '\n';
    if json.chars().all(harmless) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 8);
    for letter in json.chars() {
        match harmless(letter) {
            true => safe.push(letter),
            false => write!(safe, "\\u{:04x}", u32::from(letter)).expect("memory"),
        }
    }
    Cow::Owned(safe)
}

/// `1 row`, `2 rows`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn escape(text: &str, dangerous: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&dangerous) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match dangerous(letter) {
            true => safe.extend(letter.escape_default()),
            false => safe.push(letter),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_and_plain_text_is_left_alone() {
        assert_eq!(terminal_safe("a\u{1b}[31mb\u{9b}2J\r\nc\td"), "a\\u{1b}[31mb\\u{9b}2J\\r\nc\td");
        assert_eq!(one_line("a\nb"), "a\\nb");
        assert!(matches!(terminal_safe("Ωμέγα 50 % → 7\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn safe_json_holds_the_same_strings() {
        let value = serde_json::json!({ "name": "a\u{1b}b\u{7f}c\u{9b}d", "n": [1, 2.5] });
        let text = value.to_string();
        let safe = json_safe(&text);
        assert!(!safe.chars().any(char::is_control), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("JSON"), value);
    }
}
