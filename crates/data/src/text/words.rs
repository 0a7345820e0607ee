//! The words of a text: what a reader would point at, in lower case.
//!
//! Words are the segments of Unicode's word boundaries (UAX #29) that hold a letter or a digit, or are an
//! emoji: `don't` is one word, `well-known` two, Chinese signs one each. A curly apostrophe is a straight one,
//! and the line breaks of HTML are blanks. Text without letters beyond ASCII, which is most of most files,
//! takes a faster path with the same result.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

/// The text with `<br>`, `<br/>` and `<br />` (in any case) as blanks.
pub(crate) fn without_breaks(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut replaced = String::new();
    let mut done = 0;
    for at in memchr::memchr_iter(b'<', bytes) {
        if let Some(length) = break_length(&bytes[at..]) {
            replaced.push_str(&text[done..at]);
            replaced.push(' ');
            done = at + length;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    replaced.push_str(&text[done..]);
    Cow::Owned(replaced)
}

/// Bytes of the line break that stands at the start, if one does.
fn break_length(bytes: &[u8]) -> Option<usize> {
    let [b'<', b'b' | b'B', b'r' | b'R', rest @ ..] = bytes else { return None };
    let tails: [&[u8]; 3] = [b">", b"/>", b" />"];
    let tail = tails.iter().find(|tail| rest.starts_with(tail))?;
    Some(3 + tail.len())
}

/// Calls `each` with every word of a piece of text that holds no blanks; `word` is memory to work in.
pub(crate) fn words_of(piece: &str, word: &mut String, each: &mut impl FnMut(&str)) {
    if piece.is_ascii() {
        return ascii_words_of(piece, word, each);
    }
    for segment in piece.split_word_bounds() {
        if !segment.chars().any(|c| c.is_alphanumeric() || is_emoji(c)) {
            continue;
        }
        word.clear();
        for c in segment.chars() {
            match c {
                '\u{2019}' => word.push('\''),
                '\u{fe0e}' | '\u{fe0f}' => {} // whether a heart is drawn in colour
                c if c.is_ascii() => word.push(c.to_ascii_lowercase()),
                c => word.extend(c.to_lowercase()),
            }
        }
        each(word);
    }
}

/// The same for ASCII alone: rules WB5 to WB13b of UAX #29 for its letters, digits and signs.
fn ascii_words_of(piece: &str, word: &mut String, each: &mut impl FnMut(&str)) {
    let bytes = piece.as_bytes();
    let letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let inner = |at: usize| letter(at) || digit(at) || bytes.get(at) == Some(&b'_');
    let mut end = 0;
    while end < bytes.len() {
        let start = end;
        let mut speaks = false;
        loop {
            if inner(end) {
                speaks |= bytes[end] != b'_';
                end += 1;
                continue;
            }
            let between_letters = end > start && letter(end - 1) && letter(end + 1);
            let between_digits = end > start && digit(end - 1) && digit(end + 1);
            match bytes.get(end) {
                Some(b'.' | b'\'') if between_letters || between_digits => end += 1,
                Some(b':') if between_letters => end += 1,
                Some(b',' | b';') if between_digits => end += 1,
                _ => break,
            }
        }
        if speaks {
            word.clear();
            word.push_str(&piece[start..end]);
            word.make_ascii_lowercase();
            each(word);
        }
        end += 1; // the sign that ended the word, or stands alone
    }
}

/// Images in the sense of a reader: faces, hands, hearts, flags, stars.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{231a}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b50}' | '\u{2b55}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let (mut found, mut word) = (Vec::new(), String::new());
        for piece in without_breaks(text).split_ascii_whitespace() {
            words_of(piece, &mut word, &mut |word| found.push(word.to_owned()));
        }
        found
    }

    #[test]
    fn words_are_what_a_reader_points_at() {
        for (text, expected) in [
            ("I DON'T like it - at all!", vec!["i", "don't", "like", "it", "at", "all"]),
            ("don\u{2019}t 'quoted' rock'n'roll", vec!["don't", "quoted", "rock'n'roll"]),
            ("3.14 1,000 7/10 v2_0 __", vec!["3.14", "1,000", "7", "10", "v2_0"]),
            ("End.<br /><br/>New<BR>line < br>", vec!["end", "new", "line", "br"]),
            ("Straße ÉCOLE", vec!["straße", "école"]),
            ("我喜欢", vec!["我", "喜", "欢"]),
            ("سينما رائعة", vec!["سينما", "رائعة"]),
            ("סרט נהדר", vec!["סרט", "נהדר"]),
            ("good 👍🏽 ❤\u{fe0f}! 🇩🇪", vec!["good", "👍🏽", "❤", "🇩🇪"]),
            ("!!! ... —", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_path_for_ascii_finds_the_words_of_the_standard(piece in "[ -~]{0,40}") {
            for piece in piece.split(' ') {
                let (mut found, mut word) = (Vec::new(), String::new());
                ascii_words_of(piece, &mut word, &mut |word| found.push(word.to_owned()));
                let segments = piece.split_word_bounds();
                let spoken = segments.filter(|segment| segment.chars().any(char::is_alphanumeric));
                prop_assert_eq!(found, spoken.map(str::to_ascii_lowercase).collect::<Vec<_>>());
            }
        }

        #[test]
        fn signs_between_ascii_words_do_not_matter(words_in in prop::collection::vec("[a-z0-9]{1,8}", 0..20)) {
            prop_assert_eq!(&words(&words_in.join(" ")), &words_in);
            prop_assert_eq!(&words(&words_in.join(" -- ")), &words_in);
            prop_assert_eq!(&words(&words_in.join("<br />\t\n")), &words_in);
            prop_assert_eq!(&words(&words_in.join("!").to_uppercase()), &words_in);
        }
    }
}
