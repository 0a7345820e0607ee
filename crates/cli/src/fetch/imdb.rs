//! The archive of aclImdb as JSON lines: one object a review, first those against, each kind by number.
//!
//! ```text
//! aclImdb/train/neg/17_3.txt  →  {"id": 17, "rating": 3, "label": 0, "text": "…"}   in train.jsonl
//! ```

use super::problem::FetchProblem;
use super::unpack::{Packed, Unpacked};
use crate::signals::stop_requested;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};

/// What a review's path says; the order is that of the lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// Which of the files that are wanted.
    part: usize,
    /// 0 against, 1 for.
    label: u8,
    id: u32,
}

/// Files of JSON lines, one for each part: `train.jsonl` of the folder `train`.
pub(crate) fn json_lines(packed: Packed<'_>) -> Result<Vec<Unpacked<'_>>, FetchProblem> {
    let files = packed.download.files;
    let limit: u64 = files.iter().map(|file| file.limit).sum();
    let mut left = limit;
    let mut reviews = BTreeMap::new();
    let mut archive = tar::Archive::new(packed.plain_tar()?);
    for entry in archive.entries().map_err(|error| packed.damaged(error))? {
        if stop_requested() {
            return Err(FetchProblem::Interrupted);
        }
        let entry = entry.map_err(|error| packed.damaged(error))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let parts: Vec<&str> = files.iter().map(|file| file.name.trim_end_matches(".jsonl")).collect();
        let Some((place, rating)) = place_of(&path, &parts) else { continue };
        let mut text = String::new();
        entry
            .take(left + 1)
            .read_to_string(&mut text)
            .map_err(|error| packed.damaged(format!("{path}: {error}")))?;
        left = left
            .checked_sub(text.len() as u64)
            .ok_or_else(|| FetchProblem::TooLarge { name: packed.name.clone(), limit })?;
        reviews.insert(place, (rating, text));
    }
    let mut written = Vec::new();
    for (part, wanted) in files.iter().enumerate() {
        let of_part = || reviews.iter().filter(|(place, _)| place.part == part);
        if of_part().next().is_none() {
            return Err(packed.no_member(&format!("reviews for {}", wanted.name)));
        }
        let file = packed.temporary()?;
        write(&file, of_part().map(|(place, (rating, text))| (place, *rating, text.as_str())))
            .map_err(|error| FetchProblem::disk(packed.scratch, &error))?;
        written.push((wanted, file));
    }
    Ok(written)
}

/// `…/train/neg/17_3.txt`; `None` is something else: lists of addresses, bags of words, reviews without a label.
fn place_of(path: &str, parts: &[&str]) -> Option<(Place, u8)> {
    let mut from_end = path.rsplit('/');
    let (id, rating) = from_end.next()?.strip_suffix(".txt")?.split_once('_')?;
    let label = ["neg", "pos"].iter().position(|folder| from_end.clone().next() == Some(folder))?;
    let folder = from_end.nth(1)?;
    let part = parts.iter().position(|part| *part == folder)?;
    Some((Place { part, label: label as u8, id: id.parse().ok()? }, rating.parse().ok()?))
}

fn write<'a>(file: &File, reviews: impl Iterator<Item = (&'a Place, u8, &'a str)>) -> std::io::Result<()> {
    let mut out = BufWriter::new(file);
    for (Place { label, id, .. }, rating, text) in reviews {
        let text = serde_json::Value::from(text);
        writeln!(out, r#"{{"id": {id}, "rating": {rating}, "label": {label}, "text": {text}}}"#)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labelled_reviews_have_a_place() {
        let parts = ["train", "test"];
        let place = |path: &str| place_of(path, &parts).map(|(p, rating)| (p.part, p.label, p.id, rating));
        assert_eq!(place("aclImdb/train/neg/17_3.txt"), Some((0, 0, 17, 3)));
        assert_eq!(place("aclImdb/test/pos/0_10.txt"), Some((1, 1, 0, 10)));
        for path in [
            "aclImdb/train/unsup/17_0.txt",
            "aclImdb/train/urls_neg.txt",
            "aclImdb/train/neg/",
            "aclImdb/imdb.vocab",
            "aclImdb/other/neg/1_1.txt",
            "neg/1_1.txt",
        ] {
            assert_eq!(place(path), None, "{path}");
        }
    }
}
