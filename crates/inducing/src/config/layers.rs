//! Presets, file and overrides, one over the other.

use super::{Config, ConfigError, DataConfig, unknown_key};
use crate::error::Error;
use toml::{Table, Value};

/// What is learned, where the best settings differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// Numbers from a table.
    Regression,
    /// Classes from a table.
    Classification,
    /// Classes of images.
    Images,
    /// Numbers from a table with texts.
    TextRegression,
    /// Classes from a table with texts.
    TextClassification,
    /// Classes of graphs.
    Graphs,
    /// Numbers from inputs of a custom encoder.
    CustomRegression,
    /// Classes of inputs of a custom encoder.
    CustomClassification,
}

/// The paper's setting, as far as it says.
const PAPER: &str = include_str!("../presets/paper.toml");
/// The best known.
const DEFAULT: &str = include_str!("../presets/default.toml");
/// What it has otherwise for images.
const PAPER_IMAGES: &str = include_str!("../presets/paper-images.toml");
/// For texts.
const PAPER_TEXT: &str = include_str!("../presets/paper-text.toml");
/// And for graphs.
const PAPER_GRAPHS: &str = include_str!("../presets/paper-graphs.toml");
/// What the best known has otherwise for classes from tables.
const CLASSES: &str = include_str!("../presets/default-classes.toml");
/// What it has otherwise for tables without texts, unless the preset is `single`.
const ENSEMBLE: &str = include_str!("../presets/default-ensemble.toml");
/// What it has otherwise for images.
const IMAGES: &str = include_str!("../presets/default-images.toml");
/// What it has otherwise for tables with texts.
const TEXT: &str = include_str!("../presets/default-text.toml");
/// What it has otherwise for classes of texts.
const TEXT_CLASSES: &str = include_str!("../presets/default-text-classes.toml");
/// What it has otherwise for graphs.
const GRAPHS: &str = include_str!("../presets/default-graphs.toml");
/// For images in a dense network.
const DENSE: &str = include_str!("../presets/default-dense.toml");
/// And for images in a convolutional network.
const CNN: &str = include_str!("../presets/default-cnn.toml");

/// What the user says of a run, before the data have been looked at: a preset, a TOML file, single keys.
///
/// ```
/// use inducing::config::{ProblemKind, Settings};
/// let settings = Settings::default().preset("paper").set("train.epochs=3");
/// assert_eq!(settings.resolve(ProblemKind::Regression)?.train.epochs, 3);
/// assert!(settings.set("train.epoch=3").resolve(ProblemKind::Regression).is_err());
/// # Ok::<(), inducing::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    preset: Option<String>,
    file: Option<(String, String)>,
    overrides: Vec<String>,
}

impl Settings {
    /// `default`; `single` for one network on a table in place of cross-fitted members and neighbours; or `paper` for the paper's
    /// setting.
    #[must_use]
    pub fn preset(mut self, name: impl Into<String>) -> Self {
        self.preset = Some(name.into());
        self
    }

    /// A whole run as TOML; `name` is for error messages.
    #[must_use]
    pub fn toml(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.file = Some((name.into(), text.into()));
        self
    }

    /// One key, as `key=value`; later ones win.
    #[must_use]
    pub fn set(mut self, assignment: impl Into<String>) -> Self {
        self.overrides.push(assignment.into());
        self
    }

    /// The configuration for a kind of problem.
    pub fn resolve(&self, kind: ProblemKind) -> Result<Config, Error> {
        let file = self.file.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        Ok(Config::resolve(kind, self.preset.as_deref(), file, &self.overrides)?)
    }

    /// Keys that are spelled as they were in earlier versions, with their new names.
    pub fn renamed_keys(&self) -> Vec<(String, String)> {
        let file = self.file.as_ref().and_then(|(_, text)| text.parse::<Table>().ok());
        let lines = self.overrides.iter().filter_map(|given| assignment(given).ok());
        let mut found: Vec<_> =
            file.into_iter().chain(lines).flat_map(|mut tree| rename(&mut tree)).collect();
        found.dedup();
        found
    }

    /// Whether a single key was set to a value; what a preset or a file says does not count.
    pub(crate) fn sets(&self, key: &str) -> bool {
        let names = |given: &String| {
            let mut line = assignment(given).ok()?;
            rename(&mut line);
            let mut value = Value::Table(line);
            for key in key.split('.') {
                match value {
                    Value::Table(mut table) => value = table.remove(key)?,
                    _ => break,
                }
            }
            Some(())
        };
        self.overrides.iter().any(|given| names(given).is_some())
    }

    /// A TOML file that says the same: preset, file and single keys in one.
    ///
    /// ```
    /// use inducing::config::Settings;
    /// let settings = Settings::default().preset("paper").toml("run.toml", "[train]\nepochs = 9").set("gp.inducing=64");
    /// let text = settings.to_toml()?;
    /// assert_eq!(text, "preset = \"paper\"\n\n[gp]\ninducing = 64\n\n[train]\nepochs = 9\n");
    /// # Ok::<(), inducing::Error>(())
    /// ```
    pub fn to_toml(&self) -> Result<String, Error> {
        let file = self.file.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let mut tree = over_presets(file, &self.overrides)?;
        if let Some(preset) = &self.preset {
            tree.insert("preset".into(), preset.clone().into());
        }
        Ok(toml::to_string(&tree).expect("a tree of values is TOML"))
    }

    /// What it says of reading, which must be known before the kind of problem is.
    pub fn data(&self) -> Result<DataConfig, Error> {
        Ok(self.resolve(ProblemKind::Regression)?.data)
    }
}

impl Config {
    /// Layers, from the bottom: preset `default`, what it has otherwise for this kind of problem, the preset asked
    /// for (by `preset` or by the file's `preset` key), the file, single `key=value` overrides.
    pub(crate) fn resolve(
        kind: ProblemKind,
        preset: Option<&str>,
        file: Option<(&str, &str)>,
        overrides: &[String],
    ) -> Result<Self, ConfigError> {
        let mut upper = over_presets(file, overrides)?;
        let named = match upper.remove("preset") {
            None => None,
            Some(Value::String(name)) => Some(name),
            Some(other) => return Err(ConfigError::Preset { given: other.to_string() }),
        };
        let mut tree = parse("preset default", DEFAULT)?;
        let known = tree.clone();
        let (paper, ensemble) = match preset.map(str::to_owned).or(named).as_deref() {
            None | Some("default" | "ensemble") => (false, true),
            Some("single") => (false, false),
            Some("paper") => (true, false),
            Some(other) => return Err(ConfigError::Preset { given: other.into() }),
        };
        let encoder = upper.get("encoder").and_then(|e| e.get("kind")).and_then(Value::as_str);
        let (convolutions, dense) = (encoder == Some("cnn"), encoder.is_none_or(|kind| kind == "mlp"));
        let layers: &[(&str, &str)] = match (kind, paper) {
            (ProblemKind::Regression | ProblemKind::CustomRegression, false) => &[],
            (ProblemKind::Classification | ProblemKind::CustomClassification, false) => {
                &[("preset default, classes", CLASSES)]
            }
            (ProblemKind::Images, false) if convolutions => {
                &[("preset default, images", IMAGES), ("preset default, cnn", CNN)]
            }
            (ProblemKind::Images, true) if convolutions => &[
                ("preset paper", PAPER),
                ("preset paper, images", PAPER_IMAGES),
                ("preset default, cnn", CNN),
            ],
            (ProblemKind::Images, true) => &[("preset paper", PAPER), ("preset paper, images", PAPER_IMAGES)],
            (ProblemKind::Images, false) if dense => {
                &[("preset default, images", IMAGES), ("preset default, dense", DENSE)]
            }
            (ProblemKind::Images, false) => &[("preset default, images", IMAGES)],
            (ProblemKind::TextRegression, false) => &[("preset default, texts", TEXT)],
            (ProblemKind::TextClassification, false) => &[
                ("preset default, classes", CLASSES),
                ("preset default, texts", TEXT),
                ("preset default, classes of texts", TEXT_CLASSES),
            ],
            (ProblemKind::Graphs, false) => {
                &[("preset default, classes", CLASSES), ("preset default, graphs", GRAPHS)]
            }
            (
                ProblemKind::Regression
                | ProblemKind::Classification
                | ProblemKind::CustomRegression
                | ProblemKind::CustomClassification,
                true,
            ) => &[("preset paper", PAPER)],
            (ProblemKind::TextRegression | ProblemKind::TextClassification, true) => {
                &[("preset paper", PAPER), ("preset paper, texts", PAPER_TEXT)]
            }
            (ProblemKind::Graphs, true) => &[("preset paper", PAPER), ("preset paper, graphs", PAPER_GRAPHS)],
        };
        for (name, text) in layers {
            merge(&mut tree, parse(name, text)?);
        }
        if ensemble && matches!(kind, ProblemKind::Regression | ProblemKind::Classification) {
            merge(&mut tree, parse("preset default, ensemble", ENSEMBLE)?);
        }
        merge(&mut tree, upper);
        let place = file.map_or("configuration", |(name, _)| name);
        let config: Self =
            Value::Table(tree).try_into().map_err(|e: toml::de::Error| ConfigError::Invalid {
                file: place.into(),
                reason: unknown_key::explained(e.to_string().trim_end(), &known),
            })?;
        config.check().map_err(|reason| ConfigError::Invalid { file: place.into(), reason })?;
        Ok(config)
    }
}

fn parse(name: &str, text: &str) -> Result<Table, ConfigError> {
    let invalid = |e: toml::de::Error| ConfigError::Invalid {
        file: name.into(),
        reason: e.to_string().trim_end().into(),
    };
    text.parse().map_err(invalid)
}

/// What lies over the presets: the file, which may name one, and single keys.
fn over_presets(file: Option<(&str, &str)>, overrides: &[String]) -> Result<Table, ConfigError> {
    let mut upper = match file {
        Some((name, text)) => parse(name, text)?,
        None => Table::new(),
    };
    rename(&mut upper);
    for given in overrides {
        let mut line = assignment(given)?;
        rename(&mut line);
        merge(&mut upper, line);
    }
    Ok(upper)
}

/// A `key=value` as a tree.
fn assignment(given: &str) -> Result<Table, ConfigError> {
    let malformed = || ConfigError::Override { given: given.to_owned() };
    let (key, value) = given.split_once('=').ok_or_else(malformed)?;
    // A line of TOML, so that quoted keys work too; a value that is none is taken as a string.
    let line = format!("{key} = {value}").parse::<Table>();
    let line = line.or_else(|_| format!("{key} = {}", Value::from(value)).parse::<Table>());
    line.map_err(|_| malformed())
}

/// Keys that were renamed: old and new. The old ones go on working.
pub(super) const RENAMED: [(&str, &str, &str); 8] = [
    ("train", "warm_epochs", "pretrain_epochs"),
    ("train", "warm_steps", "pretrain_min_steps"),
    ("train", "warm_max_steps", "pretrain_max_steps"),
    ("train", "warm_batch_size", "pretrain_batch_size"),
    ("train", "warm_learning_rate", "pretrain_learning_rate"),
    ("train", "reseed", "reinitialise_unused"),
    ("train", "refit", "head_refit"),
    ("encoder", "tables", "lookup"),
];

/// Gives renamed keys their new names; returns what was found, as `old` and `new`.
fn rename(tree: &mut Table) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (section, old, new) in RENAMED {
        let Some(Value::Table(table)) = tree.get_mut(section) else { continue };
        if let Some(value) = table.remove(old) {
            table.entry(new).or_insert(value);
            found.push((format!("{section}.{old}"), format!("{section}.{new}")));
        }
    }
    found
}

/// Lays `upper` over `lower`, table by table.
fn merge(lower: &mut Table, upper: Table) {
    for (key, value) in upper {
        match (lower.get_mut(&key), value) {
            (Some(Value::Table(lower)), Value::Table(upper)) => merge(lower, upper),
            (_, value) => {
                lower.insert(key, value);
            }
        }
    }
}
