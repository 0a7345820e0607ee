//! `ign config template`: a configuration file with every key, its meaning and its default.
//!
//! The words are those of `docs/configuration.md`, whose tables are read here, so that they are written once; the defaults are
//! those of the program.

use crate::failure::Failure;
use crate::ui::output::print_raw;
use inducing::Settings;
use inducing::config::ProblemKind;
use std::fmt::Write;
use toml::{Table, Value};

const DOCUMENT: &str = include_str!("../../configuration.md");
/// Comments are no wider than this.
const WIDTH: usize = 100;

/// Kinds of problems by name; their defaults differ.
const KINDS: [(&str, ProblemKind); 6] = [
    ("regression", ProblemKind::Regression),
    ("classification", ProblemKind::Classification),
    ("images", ProblemKind::Images),
    ("text-regression", ProblemKind::TextRegression),
    ("text-classification", ProblemKind::TextClassification),
    ("graphs", ProblemKind::Graphs),
];

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print every key with its meaning and its default, commented out: remove the `#` of what you set
    Template {
        /// Whose defaults: numbers or classes from tables, images, tables with texts, graphs
        #[arg(long = "for", value_name = "KIND", default_value = "regression",
              value_parser = KINDS.map(|(name, _)| name))]
        kind: String,
        /// `default`, `single` or `paper`
        #[arg(long, default_value = "default")]
        preset: String,
    },
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Command::Template { kind, preset } = &args.command;
    print_raw(template(kind, preset)?.trim_end())
}

fn template(kind: &str, preset: &str) -> Result<String, Failure> {
    let problem =
        KINDS.iter().find(|(name, _)| *name == kind).map_or(ProblemKind::Regression, |(_, problem)| *problem);
    let config = Settings::default().preset(preset).resolve(problem)?;
    let defaults = Value::try_from(&config).expect("a configuration is plain data");
    let mut text = format!(
        "# A run of `ign train --config FILE`: every key with its default, for {kind}, preset {preset}.\n\
         # As it is this file changes nothing: remove the `#` before a key to set it.\n"
    );
    let mut section = String::new();
    for key in documented() {
        if key.section != section {
            section.clone_from(&key.section);
            let _ = write!(text, "\n[{section}]\n");
        }
        let value = match key.name.as_str() {
            "preset" => Value::from(preset).to_string(),
            _ => lookup(&defaults, &key).map_or_else(|| key.example(), ToString::to_string),
        };
        text.push('\n');
        for line in wrapped(&key.meaning).into_iter().chain(wrapped(&key.kind)) {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, "#{} = {value}", key.name);
    }
    Ok(text)
}

/// A key as the document has it.
#[derive(Debug, Default)]
struct Key {
    /// Empty at the top level.
    section: String,
    /// With dots below a section.
    name: String,
    kind: String,
    meaning: String,
    default: String,
}

impl Key {
    /// A value for a key that is absent by default.
    fn example(&self) -> String {
        let is_value = |text: &&str| format!("x = {text}").parse::<Table>().is_ok();
        let default = self.default.split([' ', '`']).find(|word| !word.is_empty()).filter(is_value);
        let quoted = self.kind.split('"').nth(1).map(|text| format!("\"{text}\""));
        default.map(str::to_owned).or(quoted).unwrap_or_else(|| "\"NAME\"".to_owned())
    }
}

fn lookup<'a>(defaults: &'a Value, key: &Key) -> Option<&'a Value> {
    let section = if key.section.is_empty() { Some(defaults) } else { defaults.get(&key.section) };
    key.name.split('.').try_fold(section?, |value, part| value.get(part))
}

/// The rows of the tables whose second column is a key's type, in the order of the document.
fn documented() -> Vec<Key> {
    let (mut keys, mut section, mut inside) = (Vec::<Key>::new(), String::new(), false);
    for line in DOCUMENT.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let name = heading.split(['[', ']']).nth(1).unwrap_or_default();
            (section, inside) = (name.to_owned(), false);
        }
        let Some(row) = line.strip_prefix('|').and_then(|row| row.strip_suffix('|')) else {
            inside = false;
            continue;
        };
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if cells[..] == ["key", "type", "meaning", "default", "paper"] {
            inside = true;
            continue;
        }
        let [name, kind, meaning, default, _] = cells[..] else { continue };
        if !inside || name.starts_with("---") {
            continue;
        }
        match (name.is_empty(), keys.last_mut()) {
            // Further values of the key above.
            (true, Some(key)) => {
                let _ = write!(key.meaning, "; {}: {}", plain(kind), plain(meaning));
            }
            _ => keys.push(Key {
                section: section.clone(),
                name: name.trim_matches('`').to_owned(),
                kind: plain(kind),
                meaning: plain(meaning),
                default: default.to_owned(),
            }),
        }
    }
    keys
}

/// Without mark-up: links are their text.
fn plain(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    while let Some((before, link)) = rest.split_once("](") {
        let (own, after) = (before.rfind('['), link.split_once(')'));
        let (Some(at), Some((_, after))) = (own, after) else { break };
        let _ = write!(text, "{}{}", &before[..at], &before[at + 1..]);
        rest = after;
    }
    (text + rest).replace(['`', '*'], "")
}

/// Lines of whole words.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is one");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= WIDTH {
            let _ = write!(last, " {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use inducing::config::{
        DataConfig, EncoderConfig, GpConfig, GraphConfig, NeighboursConfig, TextConfig, TrainConfig,
    };
    use serde::de::DeserializeOwned;

    fn resolved(kind: ProblemKind, text: &str) -> inducing::Config {
        Settings::default().toml("template", text).resolve(kind).expect("a valid configuration")
    }

    /// Without the `#` of keys, but for those that are absent by default.
    fn uncommented(kind: &str, defaults: &Value) -> String {
        let absent: Vec<String> = documented()
            .iter()
            .filter(|key| lookup(defaults, key).is_none())
            .map(|key| format!("#{} = ", key.name))
            .collect();
        let text = template(kind, "default").expect("a template");
        let line = |line: &str| match line.strip_prefix('#') {
            Some(key) if !key.starts_with(' ') && !absent.iter().any(|start| line.starts_with(start)) => {
                key.to_owned()
            }
            _ => line.to_owned(),
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_template_changes_nothing_as_it_is_and_says_the_defaults_of_every_kind() {
        for (name, kind) in KINDS {
            let default = Settings::default().resolve(kind).expect("valid");
            assert_eq!(resolved(kind, &template(name, "default").expect("a template")), default, "{name}");
            let defaults = Value::try_from(&default).expect("plain data");
            assert_eq!(resolved(kind, &uncommented(name, &defaults)), default, "{name}");
        }
    }

    #[test]
    fn keys_that_are_absent_by_default_have_an_example_that_is_valid() {
        let text = template("regression", "default").expect("a template");
        for key in ["task", "time_column", "group", "weight", "bounds", "test_share"] {
            let line = text.lines().find(|line| line.starts_with(&format!("#{key} = "))).expect(key);
            resolved(ProblemKind::Regression, &format!("[data]\n{}", &line[1..]));
        }
    }

    /// Keys that a section takes, by what its deserialiser says.
    fn keys_of<T: DeserializeOwned + std::fmt::Debug>(section: &str, whole: &Value) -> Vec<String> {
        let mut tree = section.split('.').fold(whole.clone(), |tree, part| tree[part].clone());
        tree.as_table_mut().expect("a section").insert("no_such_key".into(), 1.into());
        let error = tree.try_into::<T>().expect_err("no such key").to_string();
        let (_, known) = error.split_once("expected one of ").expect("a list of keys");
        known.split('`').skip(1).step_by(2).map(|key| format!("{section}.{key}")).collect()
    }

    #[test]
    fn every_key_of_the_configuration_is_in_the_template() {
        let config = Settings::default().resolve(ProblemKind::Regression).expect("valid");
        let whole = Value::try_from(&config).expect("plain data");
        let there: Vec<String> =
            documented().iter().map(|key| format!("{}.{}", key.section, key.name)).collect();
        let keys = [
            keys_of::<DataConfig>("data", &whole),
            keys_of::<inducing::data::TextOptions>("data.text", &whole),
            keys_of::<EncoderConfig>("encoder", &whole),
            keys_of::<TextConfig>("encoder.text", &whole),
            keys_of::<GraphConfig>("encoder.graph", &whole),
            keys_of::<GpConfig>("gp", &whole),
            keys_of::<TrainConfig>("train", &whole),
            keys_of::<NeighboursConfig>("neighbours", &whole),
        ]
        .concat();
        assert!(keys.len() > 70, "{} keys", keys.len());
        for key in keys {
            let is_old = !Settings::default().set(format!("{key}=1")).renamed_keys().is_empty();
            let is_section =
                whole.get("x").is_none() && there.iter().any(|other| other.starts_with(&format!("{key}.")));
            assert!(is_old || is_section || there.contains(&key), "`{key}` is not in docs/configuration.md");
        }
    }

    #[test]
    fn mark_up_goes_and_words_stay() {
        assert_eq!(plain("see [the map](a.md#b) of *one* `key`, [0, 1)"), "see the map of one key, [0, 1)");
        assert_eq!(wrapped(&"word ".repeat(30)).len(), 2);
    }
}
