//! A text column as an input of a table.

use super::Tokenizer;
use crate::error::Notice;
use crate::schema::{EncodeOptions, Encoding};

/// The words of a text column, or none (with a notice) if there is nothing to tell its texts apart.
pub(crate) fn fit_text(
    name: &str,
    texts: &[Option<String>],
    declared: bool,
    rows: &[usize],
    options: &EncodeOptions,
    notices: &mut Vec<Notice>,
) -> Option<Encoding> {
    let column = name.to_owned();
    let texts: Vec<&str> = rows.iter().map(|row| texts[*row].as_deref().unwrap_or_default()).collect();
    if texts.iter().all(|text| *text == texts[0]) {
        notices.push(Notice::ConstantColumnDropped { column });
        return None;
    }
    let tokenizer = Tokenizer::fit(&texts, &options.text);
    if tokenizer.words().is_empty() {
        notices.push(Notice::NoKnownWords { column, min_count: options.text.min_count });
        return None;
    }
    if !declared {
        notices.push(Notice::TextRecognised { column, words: tokenizer.counts().words_a_text() });
    }
    Some(Encoding::Text { tokenizer })
}
