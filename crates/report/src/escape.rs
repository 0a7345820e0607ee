//! Strings from data on their way into HTML, SVG, JSON and file names.

use std::borrow::Cow;

/// Text or an attribute value, in HTML and SVG alike.
///
/// Control characters are not allowed in XML 1.0, and characters that change the direction of writing could make one
/// name look like another: both become U+FFFD. Isolates only keep a name apart from what is around it, which the page does
/// by its style: they are left out. Line breaks and tabs become spaces.
pub(crate) fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars().filter_map(harmless) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The same for JSON: without the escapes of mark-up.
pub(crate) fn plain(raw: &str) -> String {
    raw.chars().filter_map(harmless).collect()
}

fn harmless(c: char) -> Option<char> {
    match c {
        '\u{2066}'..='\u{2069}' => None,
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
        '\u{202a}'..='\u{202e}' | '\u{fffe}' | '\u{ffff}' => Some('\u{fffd}'),
        c if c.is_control() => Some('\u{fffd}'),
        c => Some(c),
    }
}

/// JSON that can stand inside a script element: nothing in it closes the element or opens a comment.
pub(crate) fn json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// At most `max` characters; a longer string ends in `…`.
pub(crate) fn truncate(raw: &str, max: usize) -> Cow<'_, str> {
    match raw.char_indices().nth(max) {
        None => Cow::Borrowed(raw),
        Some(_) => {
            let kept: String = raw.chars().take(max.saturating_sub(1)).collect();
            Cow::Owned(format!("{}…", kept.trim_end()))
        }
    }
}

/// The name, or `(empty)` if nothing of it is visible.
pub(crate) fn or_placeholder(raw: &str) -> Cow<'_, str> {
    if raw.trim().is_empty() { Cow::Borrowed("(empty)") } else { Cow::Borrowed(raw) }
}

/// Part of a file name: at most 24 lower-case letters, digits and single hyphens.
pub(crate) fn slug(raw: &str) -> String {
    let mut out = String::new();
    for c in raw.chars().take(200) {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() >= 24 {
            break;
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_markup() {
        assert_eq!(text("<b a=\"1\">&'"), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
        assert_eq!(text("a\u{0}b\u{1b}c\nd\u{202e}e"), "a\u{fffd}b\u{fffd}c d\u{fffd}e");
    }

    #[test]
    fn an_isolated_name_is_the_name() {
        assert_eq!(text("\u{2068}malignant\u{2069}"), "malignant");
        assert_eq!(plain("\u{2067}\u{5d0}\u{2069}"), "\u{5d0}");
    }

    #[test]
    fn json_does_not_close_its_element() {
        let value = serde_json::json!(["</script><!--", "&"]);
        let json = json(&value);
        assert!(!json.contains('<') && !json.contains('>'), "{json}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).ok(), Some(value));
    }

    #[test]
    fn truncation_keeps_whole_characters() {
        assert_eq!(truncate("äöü", 3), "äöü");
        assert_eq!(truncate("äöüß", 3), "äö…");
    }

    #[test]
    fn slugs_are_safe_in_file_names() {
        assert_eq!(slug("../Price (€)/m²"), "price-m");
        assert_eq!(slug("\u{0}"), "");
        assert!(slug(&"x y".repeat(100)).len() <= 24);
    }
}
