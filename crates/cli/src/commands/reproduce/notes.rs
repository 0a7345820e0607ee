//! Reasons written by hand: `results-notes.toml` beside the page, `row = "…"` or `row-preset = "…"`, and what the ablation
//! shows, `ablation = "…"`.

use crate::commands::Failure;
use std::collections::BTreeMap;
use std::path::Path;

/// Reasons by row.
#[derive(Debug, Default)]
pub(crate) struct Notes(BTreeMap<String, String>);

impl Notes {
    /// Those that belong to a page; none where there is no file.
    pub(crate) fn beside(page: &Path) -> Result<Self, Failure> {
        let stem = page.file_stem().map_or("results".into(), |stem| stem.to_string_lossy());
        let path = page.with_file_name(format!("{stem}-notes.toml"));
        let Ok(text) = std::fs::read_to_string(&path) else { return Ok(Self::default()) };
        toml::from_str(&text).map(Self).map_err(|error| {
            Failure::Usage(format!(
                "{}: {}\nhint: every line is a row's name and a text, for example `pm25 = \"…\"`",
                path.display(),
                error.to_string().trim_end()
            ))
        })
    }

    /// The reason for a row and a preset.
    pub(crate) fn of(&self, row: &str, preset: &str) -> Option<&str> {
        let own = self.0.get(&format!("{row}-{preset}")).or_else(|| self.0.get(row));
        own.map(|text| text.trim()).filter(|text| !text.is_empty())
    }
}
