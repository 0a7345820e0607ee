//! Reasons written by hand: `results-notes.toml` beside the page, `row = "…"` or `row-preset = "…"`, and what the ablation
//! shows, `ablation = "…"`.

use crate::Error;
use crate::experiment::{ABLATION, Experiment};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// Reasons by row.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The name of their file.
    pub(crate) file: String,
    texts: BTreeMap<String, String>,
}

impl Notes {
    /// Those that belong to a page; none where there is no file.
    pub(crate) fn beside(page: &Path) -> Result<Self, Error> {
        let stem = page.file_stem().map_or("results".into(), |stem| stem.to_string_lossy());
        let file = format!("{stem}-notes.toml");
        let path = page.with_file_name(&file);
        let refuse = |reason: &str| {
            let hint = "every line is a row's name and a text, for example `pm25 = \"…\"`";
            Error::Usage(format!("{}: {}\nhint: {hint}", path.display(), reason.trim_end()))
        };
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { file, ..Self::default() }),
            text => text.map_err(|error| refuse(&error.to_string()))?,
        };
        let texts: BTreeMap<String, String> =
            toml::from_str(&text).map_err(|error| refuse(&error.to_string()))?;
        match texts.keys().find(|key| !is_known(key)) {
            Some(key) => Err(refuse(&format!("there is no row `{key}`"))),
            None => Ok(Self { file, texts }),
        }
    }

    /// The reason for a row and a preset.
    pub(crate) fn of(&self, row: &str, preset: &str) -> Option<&str> {
        let own = self.texts.get(&format!("{row}-{preset}")).or_else(|| self.texts.get(row));
        own.map(|text| text.trim()).filter(|text| !text.is_empty())
    }
}

/// Whether a key names the ablation, or a row with a preset, with both or by itself.
fn is_known(key: &str) -> bool {
    let row = ["-paper", "-default", "-presets"].iter().find_map(|ending| key.strip_suffix(ending));
    key == ABLATION || Experiment::from_name(row.unwrap_or(key)).is_some()
}
