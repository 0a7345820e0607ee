//! Exported models: what they are made of, and what is refused. `oracle/check-onnx` runs them; these tests need no runtime.
//!
//! The models are those that `crates/inducing/tests/golden` keeps, of every version of the format.

mod reader;
mod refusals;
mod structure;

use inducing::Model;
use std::path::PathBuf;

/// A stored model.
pub(crate) fn golden(name: &str) -> Model {
    let folder = [env!("CARGO_MANIFEST_DIR"), "..", "inducing", "tests", "golden", name];
    Model::load(folder.iter().collect::<PathBuf>()).expect("a promise")
}

/// Stored models of tables.
pub(crate) const TABLES: [&str; 8] = [
    "v1.ign",
    "v2-classes.ign",
    "v5-table.ign",
    "v5-classes.ign",
    "v6-table.ign",
    "v6-classes.ign",
    "v7-table.ign",
    "v7-classes.ign",
];
