//! Which public sets there are, and which of them are here.

use super::table::SETS;
use crate::commands::Failure;
use crate::output::print;
use data::NamedSet;
use std::path::Path;

/// What can be fetched, and how.
pub(crate) fn print_all(data_dir: Option<&Path>) -> Result<(), Failure> {
    print_sets(data_dir, false)?;
    let where_to = data_dir.map_or("DIR".into(), |data_dir| data_dir.display().to_string());
    print(&format!(
        "\n`ign data fetch NAME --data-dir {where_to}` fetches a set to where `ign train NAME` looks for it"
    ))
}

/// The named sets, where they come from, and whether they are there.
pub(crate) fn print_sets(data_dir: Option<&Path>, json: bool) -> Result<(), Failure> {
    for (set, (name, about)) in SETS.iter().flat_map(|set| set.names().map(move |name| (set, name))) {
        let there = data_dir.zip(NamedSet::from_name(name)).map(|(data_dir, named)| named.is_in(data_dir));
        if json {
            let line = serde_json::json!({
                "name": name, "kind": "public", "there": there, "description": about, "sources": set.urls(),
            });
            print(&line.to_string())?;
        } else {
            let there = there.map_or("?", |there| if there { "there" } else { "missing" });
            print(&format!("{name:<16} {there:<9}  {about}"))?;
        }
    }
    Ok(())
}
