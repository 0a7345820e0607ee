//! What is said of a key that does not exist: its section, and the key that was probably meant.

use super::layers::RENAMED;
use toml::Table;

/// A message of the deserialiser. Where a key is unknown, its section and the nearest key stand in place of all keys. `sections`
/// tells keys that stand in a wrong one.
///
/// ```text
/// unknown field `epohcs`, expected one of `epochs`, …      unknown key `epohcs` in [train]
/// in `train`                                           →   hint: did you mean `epochs`?
/// ```
pub(super) fn explained(message: &str, sections: &Table) -> String {
    read(message, sections).unwrap_or_else(|| message.to_owned())
}

fn read(message: &str, sections: &Table) -> Option<String> {
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    let (given, known) = first.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let is_current = |name: &&str| RENAMED.iter().all(|(_, old, _)| old != name);
    let known = known.split('`').skip(1).step_by(2).filter(is_current).map(str::to_owned);
    let known: Vec<String> = known.collect();
    let (place, keys) = match rest.trim().strip_prefix("in `").and_then(|rest| rest.strip_suffix('`')) {
        Some(section) => {
            (format!("in [{section}]"), format!("`ign config template` lists the keys of [{section}]"))
        }
        None => {
            let sections: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            ("at the top level".into(), format!("there stand {}", sections.join(", ")))
        }
    };
    let elsewhere = sections.iter().find(|(_, keys)| keys.get(given).is_some());
    let hint = match (data::nearest(given, &known), elsewhere) {
        (Some(nearest), _) => format!("did you mean `{nearest}`?"),
        (None, Some((section, _))) => format!("did you mean `{section}.{given}`?"),
        (None, None) => keys,
    };
    Some(format!("unknown key `{given}` {place}\nhint: {hint}"))
}
