//! Presets, file and overrides, one over the other.

use super::{Config, ConfigError};
use toml::{Table, Value};

/// What is learned from, where the best settings differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers from a table.
    Numbers,
    /// Classes from a table.
    Classes,
    /// Classes of pictures.
    Images,
    /// Numbers from a table with texts.
    TextNumbers,
    /// Classes from a table with texts.
    TextClasses,
    /// Classes of graphs.
    Graphs,
}

/// The paper's setting, as far as it says.
const PAPER: &str = include_str!("../presets/paper.toml");
/// The best known.
const DEFAULT: &str = include_str!("../presets/default.toml");
/// What it has otherwise for pictures.
const PAPER_IMAGES: &str = include_str!("../presets/paper-images.toml");
/// For texts.
const PAPER_TEXT: &str = include_str!("../presets/paper-text.toml");
/// And for graphs.
const PAPER_GRAPHS: &str = include_str!("../presets/paper-graphs.toml");
/// What the best known has otherwise for classes from tables.
const CLASSES: &str = include_str!("../presets/default-classes.toml");
/// What it has otherwise for pictures.
const IMAGES: &str = include_str!("../presets/default-images.toml");
/// What it has otherwise for tables with texts.
const TEXT: &str = include_str!("../presets/default-text.toml");
/// What it has otherwise for classes of texts.
const TEXT_CLASSES: &str = include_str!("../presets/default-text-classes.toml");
/// What it has otherwise for graphs.
const GRAPHS: &str = include_str!("../presets/default-graphs.toml");
/// For pictures in a dense network.
const DENSE: &str = include_str!("../presets/default-dense.toml");
/// And for pictures in a convolutional network.
const CNN: &str = include_str!("../presets/default-cnn.toml");

impl Config {
    /// Layers, from the bottom: preset `default`, what it has otherwise for this kind of problem, the preset asked
    /// for (by `preset` or by the file's `preset` key), the file, single `key=value` overrides.
    pub fn resolve(
        kind: Kind,
        preset: Option<&str>,
        file: Option<(&str, &str)>,
        overrides: &[String],
    ) -> Result<Self, ConfigError> {
        let parse = |name: &str, text: &str| {
            text.parse::<Table>().map_err(|e| ConfigError::Invalid {
                file: name.into(),
                reason: e.to_string().trim_end().into(),
            })
        };
        let mut from_file = match file {
            Some((name, text)) => parse(name, text)?,
            None => Table::new(),
        };
        let named = match from_file.remove("preset") {
            None => None,
            Some(Value::String(name)) => Some(name),
            Some(other) => return Err(ConfigError::Preset { given: other.to_string() }),
        };
        let mut upper = from_file;
        for given in overrides {
            let malformed = || ConfigError::Override { given: given.clone() };
            let (key, value) = given.split_once('=').ok_or_else(malformed)?;
            // A line of TOML, so that quoted keys work too; a value that is none is taken as a string.
            let line = format!("{key} = {value}").parse::<Table>();
            let line = line.or_else(|_| format!("{key} = {}", Value::from(value)).parse::<Table>());
            merge(&mut upper, line.map_err(|_| malformed())?);
        }
        let mut tree = parse("preset default", DEFAULT)?;
        let paper = match preset.map(str::to_owned).or(named).as_deref() {
            None | Some("default") => false,
            Some("paper") => true,
            Some(other) => return Err(ConfigError::Preset { given: other.into() }),
        };
        let encoder = upper.get("encoder").and_then(|e| e.get("kind")).and_then(Value::as_str);
        let (convolutions, dense) = (encoder == Some("cnn"), encoder.is_none_or(|kind| kind == "mlp"));
        let layers: &[(&str, &str)] = match (kind, paper) {
            (Kind::Numbers, false) => &[],
            (Kind::Classes, false) => &[("preset default, classes", CLASSES)],
            (Kind::Images, false) if convolutions => {
                &[("preset default, images", IMAGES), ("preset default, cnn", CNN)]
            }
            (Kind::Images, true) if convolutions => &[
                ("preset paper", PAPER),
                ("preset paper, images", PAPER_IMAGES),
                ("preset default, cnn", CNN),
            ],
            (Kind::Images, true) => &[("preset paper", PAPER), ("preset paper, images", PAPER_IMAGES)],
            (Kind::Images, false) if dense => {
                &[("preset default, images", IMAGES), ("preset default, dense", DENSE)]
            }
            (Kind::Images, false) => &[("preset default, images", IMAGES)],
            (Kind::TextNumbers, false) => &[("preset default, texts", TEXT)],
            (Kind::TextClasses, false) => &[
                ("preset default, classes", CLASSES),
                ("preset default, texts", TEXT),
                ("preset default, classes of texts", TEXT_CLASSES),
            ],
            (Kind::Graphs, false) => {
                &[("preset default, classes", CLASSES), ("preset default, graphs", GRAPHS)]
            }
            (Kind::Numbers | Kind::Classes, true) => &[("preset paper", PAPER)],
            (Kind::TextNumbers | Kind::TextClasses, true) => {
                &[("preset paper", PAPER), ("preset paper, texts", PAPER_TEXT)]
            }
            (Kind::Graphs, true) => &[("preset paper", PAPER), ("preset paper, graphs", PAPER_GRAPHS)],
        };
        for (name, text) in layers {
            merge(&mut tree, parse(name, text)?);
        }
        merge(&mut tree, upper);
        let place = file.map_or("configuration", |(name, _)| name);
        let config: Self = Value::Table(tree).try_into().map_err(|e: toml::de::Error| {
            ConfigError::Invalid { file: place.into(), reason: e.to_string().trim_end().into() }
        })?;
        config.check().map_err(|reason| ConfigError::Invalid { file: place.into(), reason })?;
        Ok(config)
    }
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
