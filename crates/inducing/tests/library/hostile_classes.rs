//! Files of models of classes that no one wrote by accident: right checksum, wrong contents (see `hostile_files.rs`).

use crate::fixture::{
    bytes, classes, prepared, prepared_images, stripes, tiny_classes, tiny_images, trained,
};
use crate::hostile_files::{altered_file, load};
use serde_json::{Value, json};
use std::sync::LazyLock;

const SMALL: [&str; 3] = ["encoder.hidden=[4]", "encoder.features=4", "gp.inducing=4"];

fn of_table(more: &[&str]) -> Vec<u8> {
    let config = tiny_classes(&[&SMALL[..], more].concat());
    let prepared = prepared(&classes(120, &["low", "middle", "top"], 0), &config);
    bytes(&trained(&prepared.expect("a table to learn from"), &config, 1))
}

static SHARED: LazyLock<Vec<u8>> = LazyLock::new(|| of_table(&["train.validation_share=0.3"]));
static INDEPENDENT: LazyLock<Vec<u8>> = LazyLock::new(|| of_table(&["gp.multiclass=independent"]));
static SOFTMAX: LazyLock<Vec<u8>> = LazyLock::new(|| of_table(&["head=softmax"]));
static IMAGES: LazyLock<Vec<u8>> = LazyLock::new(|| of_images(&[]));
static CONVOLUTIONS: LazyLock<Vec<u8>> =
    LazyLock::new(|| of_images(&["encoder.kind=cnn", "encoder.stem=8", "encoder.blocks=[8]"]));

fn of_images(more: &[&str]) -> Vec<u8> {
    let config = tiny_images(&[&SMALL[..], more].concat());
    let prepared = prepared_images(&stripes(60, 3, 0), &config).expect("images to learn from");
    bytes(&trained(&prepared, &config, 1))
}

#[test]
fn files_that_are_only_rewritten_are_still_models() {
    for file in [&SHARED, &INDEPENDENT, &SOFTMAX, &IMAGES, &CONVOLUTIONS] {
        load(&altered_file(file, |_| {})).expect("without this the other tests prove nothing");
    }
}

#[track_caller]
fn refused(file: &[u8], alter: impl Fn(&mut Value)) {
    let error = load(&altered_file(file, alter)).map(|_| ()).expect_err("an impossible model");
    assert!(matches!(error, inducing::Error::File(_)), "{error}");
}

#[test]
fn classes_that_contradict_the_tensors_are_refused() {
    refused(&SHARED, |h| h["schema"]["targets"]["levels"] = json!(["low", "middle"]));
    refused(&SHARED, |h| h["schema"]["targets"]["levels"] = json!(["low"]));
    refused(&SHARED, |h| h["schema"]["targets"]["levels"] = json!([]));
    refused(&SHARED, |h| h["schema"]["targets"]["counts"] = json!([1, 2]));
    refused(&SHARED, |h| {
        h["schema"]["targets"]["levels"] = json!(["low", "middle", "top", "more"]);
        h["schema"]["targets"]["counts"] = json!([1, 1, 1, 1]);
    });
    refused(&SHARED, |h| h["schema"]["targets"] = json!([{ "name": "y", "mean": 0.0, "std": 1.0 }]));
    refused(&SHARED, |h| {
        h["calibration"] = json!([{ "latent": 1.0, "knots": [], "noise": [1.0], "quantiles": [] }])
    });
}

/// Predictions of two classes of one name could not be told apart.
#[test]
fn classes_of_one_name_are_refused() {
    refused(&SHARED, |h| h["schema"]["targets"]["levels"] = json!(["low", "low", "top"]));
    refused(&IMAGES, |h| h["schema"]["classes"] = json!(["left", "left", "right"]));
}

#[test]
fn values_that_no_recalibration_yields_are_refused() {
    for key in ["slope", "latent"] {
        for value in [json!(0.0), json!(-1.0), json!(null), json!("steep")] {
            refused(&SHARED, |h| h["class_calibration"][key] = value.clone());
        }
    }
    refused(&SHARED, |h| h["class_calibration"]["more"] = json!(1));
}

#[test]
fn another_head_than_the_file_holds_is_refused() {
    refused(&SHARED, |h| h["config"]["head"] = json!("softmax"));
    refused(&SOFTMAX, |h| h["config"]["head"] = json!("gp"));
    refused(&SOFTMAX, |h| h["config"]["head"] = json!("svm"));
    refused(&SHARED, |h| h["config"]["gp"]["link"] = json!("cauchit"));
}

#[test]
fn more_or_fewer_networks_than_the_file_holds_are_refused() {
    refused(&INDEPENDENT, |h| h["others"] = json!([]));
    refused(&INDEPENDENT, |h| {
        h["others"].as_array_mut().expect("a list").pop();
    });
    refused(&INDEPENDENT, |h| {
        let others = h["others"].as_array_mut().expect("a list");
        others.push(others[0].clone());
    });
    let one: Value = json!({
        "feature_scale": { "scale": 1.0, "shift": [0.0, 0.0, 0.0, 0.0] },
        "kernel": { "family": "rbf", "scale": 1.0, "gamma": 1.0 }, "best_epoch": 0, "history": []
    });
    refused(&SHARED, |h| h["others"] = json!([one, one]));
    refused(&INDEPENDENT, |h| h["others"][1]["feature_scale"]["scale"] = json!(0.0));
    refused(&INDEPENDENT, |h| h["others"][1]["feature_scale"]["shift"] = json!([0.0]));
    refused(&INDEPENDENT, |h| h["others"][1]["surprise"] = json!(1));
}

#[test]
fn images_that_contradict_the_network_are_refused() {
    refused(&IMAGES, |h| h["schema"]["height"] = json!(7));
    refused(&IMAGES, |h| h["schema"]["width"] = json!(0));
    refused(&IMAGES, |h| h["schema"]["channels"] = json!(1));
    refused(&IMAGES, |h| h["schema"]["mean"] = json!([0.5]));
    refused(&IMAGES, |h| h["schema"]["std"] = json!([0.5, 0.5]));
    refused(&IMAGES, |h| h["schema"]["std"] = json!([0.5, 0.0, 0.5]));
    refused(&IMAGES, |h| h["schema"]["std"] = json!([0.5, -1.0, 0.5]));
    refused(&IMAGES, |h| h["schema"]["mean"] = json!([0.5, 1e300, 0.5])); // infinite in 32 bits
    refused(&IMAGES, |h| h["schema"]["classes"] = json!(["left"]));
    refused(&IMAGES, |h| h["schema"]["counts"] = json!([1]));
    refused(&IMAGES, |h| h["schema"]["surprise"] = json!(1));
}

/// 6 × 6 × 3 = 108 are the network's inputs: other colours with the same number of values have no pixels to show.
#[test]
fn images_of_impossible_colours_are_refused() {
    refused(&IMAGES, |h| {
        h["schema"]["height"] = json!(9);
        h["schema"]["channels"] = json!(2);
        h["schema"]["mean"] = json!([0.5, 0.5]);
        h["schema"]["std"] = json!([0.5, 0.5]);
    });
}

/// The product must not wrap around: (2⁶² + 9)·4·3 is 108 in 64 bits, as 6 · 6 · 3 is.
#[test]
fn images_of_impossible_size_are_refused() {
    refused(&IMAGES, |h| {
        h["schema"]["height"] = json!((1_u64 << 62) + 9);
        h["schema"]["width"] = json!(4);
    });
}

#[test]
fn convolutions_that_contradict_tensors_or_images_are_refused() {
    for (key, value) in [
        ("height", json!(5)),
        ("width", json!(7)),
        ("channels", json!(1)),
        ("channels", json!(0)),
        ("stem", json!(0)),
        ("stem", json!(16)),
        ("blocks", json!([])),
        ("blocks", json!([16])),
        ("blocks", json!([8, 8])),
        ("blocks", json!([8, 8, 8, 8, 8])),
        ("convolutions", json!(0)),
        ("convolutions", json!(7)),
        ("group", json!(0)),
        ("group", json!(3)),
        ("features", json!(5)),
        ("features", json!(0)),
        ("surprise", json!(1)),
    ] {
        refused(&CONVOLUTIONS, |h| h["encoder"][key] = value.clone());
    }
    // As many numbers, in another order: 4 × 9 for 6 × 6.
    refused(&CONVOLUTIONS, |h| {
        h["encoder"]["height"] = json!(4);
        h["encoder"]["width"] = json!(9);
    });
}

/// Far more than any address space holds, so that a test which fails does not fill the machine's memory first.
const HUGE: u64 = 1 << 50;

#[test]
fn impossibly_many_channels_convolutions_and_features_are_refused_without_making_room_for_them() {
    refused(&CONVOLUTIONS, |h| h["encoder"]["stem"] = json!(HUGE));
    refused(&CONVOLUTIONS, |h| h["encoder"]["blocks"] = json!([HUGE]));
    refused(&CONVOLUTIONS, |h| h["encoder"]["convolutions"] = json!(HUGE));
    refused(&CONVOLUTIONS, |h| h["encoder"]["features"] = json!(HUGE));
    refused(&CONVOLUTIONS, |h| h["encoder"]["height"] = json!(HUGE));
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    for file in [&INDEPENDENT, &CONVOLUTIONS] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.ign");
        for bit in (0..8 * file.len()).step_by(8 * file.len() / 800 + 1) {
            let mut flipped = file.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).expect("a temporary folder is writable");
            assert!(inducing::Model::load(&path).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        }
    }
}
