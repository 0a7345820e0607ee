//! Model files that no one wrote by accident: right checksum, wrong contents. None may be loaded, and none may
//! bring the program down.

use crate::fixture::{linear, model, tiny};
use inducing::Model;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// A model file, cheap enough to be altered a thousand times.
fn model_file() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("m.ign");
        model(&linear(60, 0), &tiny(&["encoder.hidden=[4]", "encoder.features=4", "gp.inducing=4"]))
            .save(&path)
            .expect("writable");
        std::fs::read(path).expect("just written")
    })
}

pub(crate) fn load(bytes: &[u8]) -> Result<Model, inducing::Error> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.ign");
    std::fs::write(&path, bytes).expect("a temporary folder is writable");
    Model::load(&path)
}

/// The file with its document altered and the checksum made right again.
fn altered(alter: impl Fn(&mut Value)) -> Vec<u8> {
    altered_file(model_file(), alter)
}

/// The same of any model file.
pub(crate) fn altered_file(bytes: &[u8], alter: impl Fn(&mut Value)) -> Vec<u8> {
    let split = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let mut outer: Value = serde_json::from_slice(&bytes[8..split]).expect("a safetensors header");
    let document =
        outer["__metadata__"]["ign"].as_str().expect("the document").split_once(' ').expect("a checksum").1;
    let mut inner: Value = serde_json::from_str(document).expect("JSON");
    alter(&mut inner);
    let text = inner.to_string();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(text.as_bytes());
    let tensors: std::collections::BTreeMap<String, Value> = outer
        .as_object()
        .expect("an object")
        .clone()
        .into_iter()
        .filter(|(name, _)| name != "__metadata__")
        .collect();
    for (name, tensor) in &tensors {
        let number = |value: &Value| value.as_u64().expect("a number") as usize;
        let shape: Vec<usize> = tensor["shape"].as_array().expect("a list").iter().map(number).collect();
        let (start, end) = (number(&tensor["data_offsets"][0]), number(&tensor["data_offsets"][1]));
        hasher.update(format!("{name}{shape:?}").as_bytes());
        hasher.update(&bytes[split + start..split + end]);
    }
    outer["__metadata__"]["ign"] = format!("{:08x} {text}", hasher.finalize()).into();
    let header = outer.to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[split..]].concat()
}

#[test]
fn a_file_that_is_only_rewritten_is_still_the_model() {
    load(&altered(|_| {})).expect("this is the test's own machinery: without it the others prove nothing");
}

#[track_caller]
fn refused(alter: impl Fn(&mut Value)) {
    let error = load(&altered(alter)).map(|_| ()).expect_err("an impossible model");
    assert!(matches!(error, inducing::Error::File(_)), "{error}");
}

#[test]
fn sizes_that_contradict_the_tensors_are_refused() {
    refused(|h| h["encoder"]["hidden"] = json!([5]));
    refused(|h| h["encoder"]["hidden"] = json!([]));
    refused(|h| h["encoder"]["hidden"] = json!([0]));
    refused(|h| h["encoder"]["features"] = json!(8));
    refused(|h| h["encoder"]["features"] = json!(0));
    refused(|h| h["encoder"]["members"] = json!(2));
    refused(|h| h["encoder"]["members"] = json!(0));
    refused(|h| h["encoder"]["width"] = json!(3));
    refused(|h| h["encoder"]["numeric"] = json!(3));
    refused(|h| h["encoder"]["skip"] = json!(false));
    refused(|h| h["encoder"]["periodic"] = json!(null));
    refused(|h| h["calibration"] = json!([]));
    refused(|h| h["schema"]["targets"] = json!([]));
    refused(|h| h["feature_scale"]["shift"] = json!([0.0]));
}

#[test]
fn missing_and_unknown_fields_are_refused() {
    refused(|h| h["surprise"] = json!(1));
    refused(|h| {
        h.as_object_mut().expect("an object").remove("schema");
    });
    refused(|h| h["config"]["train"]["epochs"] = json!(-1));
    refused(|h| h["config"]["gp"]["jitter"] = json!(0));
    refused(|h| h["schema"]["targets"][0]["std"] = json!("wide"));
}

/// Numbers that no training yields and that would make every prediction nonsense.
#[test]
fn values_that_no_training_yields_are_refused() {
    refused(|h| h["schema"]["targets"][0]["std"] = json!(0.0));
    refused(|h| h["schema"]["targets"][0]["std"] = json!(-1.0));
    refused(|h| h["calibration"][0]["latent"] = json!(-1.0));
    refused(|h| h["calibration"][0]["noise"] = json!([-1.0]));
    refused(|h| h["calibration"][0]["quantiles"] = json!([1.0, -1.0]));
    refused(|h| h["feature_scale"]["scale"] = json!(0.0));
}

/// Far more than any address space holds, so that a test which fails does not fill the machine's memory first.
const HUGE: u64 = 1 << 50;

/// The file with a table over its first column.
fn with_table(knots: u64, width: u64) -> impl Fn(&mut Value) {
    move |h| {
        h["encoder"]["tables"] = json!([{ "column": 0, "low": 0.0, "high": 1.0, "knots": knots }]);
        h["encoder"]["table_width"] = json!(width);
    }
}

// One test each: a file that is not refused here ends the process.

#[test]
fn a_table_without_two_knots_is_refused() {
    refused(with_table(1, 8));
    refused(with_table(0, 8));
}

#[test]
fn a_table_of_impossible_length_is_refused_without_making_room_for_it() {
    refused(with_table(HUGE, 8));
}

#[test]
fn a_table_of_impossible_width_is_refused_without_making_room_for_it() {
    refused(with_table(2, HUGE));
}

#[test]
fn impossibly_many_frequencies_are_refused_without_making_room_for_them() {
    refused(|h| h["encoder"]["periodic"]["frequencies"] = json!(HUGE));
}

#[test]
fn an_embedding_of_impossible_width_is_refused_without_making_room_for_it() {
    refused(|h| h["encoder"]["periodic"]["width"] = json!(HUGE));
}

#[test]
fn impossibly_many_units_are_refused_without_making_room_for_them() {
    refused(|h| h["encoder"]["hidden"] = json!([HUGE]));
    refused(|h| h["encoder"]["hidden"] = json!([u64::MAX, 1])); // the sum must not wrap around
}

/// 3a + (a + 1)b + (b + 1)c + 4(c + 1) with these units is 2¹²⁸ + 25, and the file holds 7·3 + 4 = 25 numbers: the sum of
/// products must not wrap around in 128 bits either.
#[test]
fn units_whose_parameters_wrap_around_to_those_of_the_file_are_refused() {
    let settings = [
        "encoder.hidden=[3]",
        "encoder.features=4",
        "encoder.frequencies=0",
        "encoder.skip=false",
        "encoder.lookup=false",
        "gp.inducing=4",
    ];
    let file = crate::fixture::bytes(&model(&linear(60, 0), &tiny(&settings)));
    let units = json!([u64::MAX - 12, u64::MAX - 2, 12]);
    let error = load(&altered_file(&file, |h| h["encoder"]["hidden"] = units.clone())).map(|_| ());
    assert!(matches!(error, Err(inducing::Error::File(_))), "{error:?}");
}

#[test]
fn impossibly_many_members_are_refused_without_making_room_for_them() {
    refused(|h| h["encoder"]["members"] = json!(HUGE));
}

/// All bits of the checksum, which nothing else guards; of the rest a sample in steps of 11, which meets every position
/// of a byte (all bits of a header have been tried once: 40,000, in eight seconds).
#[test]
fn no_flipped_bit_goes_unnoticed() {
    let bytes = model_file();
    let start = bytes.windows(7).position(|w| w == b"\"ign\":\"").expect("the document") + 7;
    let chosen = (0..8 * (start + 9)).chain((8 * (start + 9)..8 * bytes.len()).step_by(11));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.ign");
    let unnoticed = |bit: &usize| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, flipped).expect("a temporary folder is writable");
        Model::load(&path).is_ok()
    };
    let bits: Vec<usize> = chosen.filter(unnoticed).collect();
    let shown: Vec<String> = bits
        .iter()
        .map(|bit| format!("bit {} of byte {} ({:?})", bit % 8, bit / 8, char::from(bytes[bit / 8])))
        .collect();
    assert!(bits.is_empty(), "{shown:?}");
}
