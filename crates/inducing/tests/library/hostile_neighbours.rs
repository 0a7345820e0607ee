//! Model files whose kept rows lie, with a right checksum: refused, or of no harm.

use crate::hostile_files::{altered_file, load};
use serde_json::{Value, json};

fn golden(name: &str) -> Vec<u8> {
    let path: std::path::PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name].iter().collect();
    std::fs::read(path).expect("part of the repository")
}

/// The file with one number of a tensor replaced, and the checksum made right again.
fn with_number(bytes: &[u8], tensor: &str, at: usize, value: f32) -> Vec<u8> {
    let split = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let outer: Value = serde_json::from_slice(&bytes[8..split]).expect("a safetensors header");
    let start = outer[tensor]["data_offsets"][0].as_u64().expect("a tensor of that name") as usize;
    let mut bytes = bytes.to_vec();
    bytes[split + start + 4 * at..][..4].copy_from_slice(&value.to_le_bytes());
    altered_file(&bytes, |_| {})
}

#[track_caller]
fn refused(bytes: &[u8]) {
    let error = load(bytes).map(|_| ()).expect_err("an impossible model");
    assert!(matches!(error, inducing::Error::File(_)), "{error}");
}

#[test]
fn numbers_of_kept_rows_that_cannot_be_are_refused() {
    let table = golden("v5-table.ign");
    load(&with_number(&table, "neighbours.y", 0, 0.5)).expect("the test's own machinery works");
    for value in [f32::NAN, f32::INFINITY] {
        for tensor in ["neighbours.x", "neighbours.y", "neighbours.errors", "neighbours.folds"] {
            refused(&with_number(&table, tensor, 3, value));
        }
    }
    refused(&with_number(&table, "neighbours.errors", 0, -1.0));
    for member in [-3.0, 0.5, 99.0] {
        refused(&with_number(&table, "neighbours.folds", 0, member));
    }
    let classes = golden("v5-classes.ign");
    for class in [-1.0, 0.5, 3.0] {
        refused(&with_number(&classes, "neighbours.y", 0, class));
    }
}

#[test]
fn sizes_and_values_of_what_joins_them_that_cannot_be_are_refused() {
    let altered = |name: &str, alter: &dyn Fn(&mut Value)| altered_file(&golden(name), alter);
    let stack = |key: &'static str, value: Value| {
        altered("v5-table.ign", &move |h: &mut Value| h["ensemble"]["stacks"][0][key] = value.clone())
    };
    for (key, value) in [
        ("count", json!(0)),
        ("count", json!(100_000)),
        ("linear", json!([1.0])),
        ("weights", json!([-1.0, 1.0, 1.0])),
        ("parts", json!([1.0, 1.0, -1.0, 0.0, 0.0])),
        ("noise", json!(0.0)),
        ("caution", json!(-1.0)),
        ("gap_weights", json!([0.1, -1.0])),
        ("gap_thresholds", json!([-0.1, 0.0])),
        ("shape", json!([])),
        ("shape", json!([[1.0, 0.0, 0.0]])),
        ("reach", json!(0.0)),
        ("bandwidth", json!(0.0)),
        ("distances", json!([2.0, 1.0])),
    ] {
        refused(&stack(key, value));
    }
    refused(&altered("v5-table.ign", &|h| h["ensemble"]["stacks"] = json!([])));
    let process = |h: &mut Value| h["ensemble"]["stacks"][0]["process"]["groups"] = json!([0, 7]);
    refused(&altered("v5-table.ign", &process));
    refused(&altered("v5-classes.ign", &|h| h["ensemble"]["class_stack"]["frequencies"] = json!([1.0])));
    refused(&altered("v5-classes.ign", &|h| h["ensemble"]["class_stack"]["reach"] = json!(-1.0)));
    refused(&altered("v5-text.ign", &|h| h["feature_stack"]["count"] = json!(0)));
    refused(&altered("v5-text.ign", &|h| h["feature_stack"]["reconstruction"] = json!([1.0])));
    refused(&altered("v5-graphs.ign", &|h| h["feature_stack"]["frequencies"] = json!([])));
    refused(&altered("v5-graphs.ign", &|h| {
        h.as_object_mut().expect("an object").remove("feature_stack");
    }));
}
