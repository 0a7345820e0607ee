//! A model file of format 1, kept as it was written: every later version reads it and predicts the same.
//!
//! The folder `tests/golden` is made by `cargo run --release -p ign --example golden`, and only before the first
//! release; afterwards a change that needs it remade has broken a promise.

use data::{ReadOptions, Source, read_columns, read_table};
use ign::{Matrix, Model};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name].iter().collect()
}

/// Of the number itself and of the target's deviation. On the machine that wrote the file the bits are the same. Other
/// processors have other vector instructions: features in f32 then differ in the seventh digit. One unit there moves
/// means by 3e-7 of themselves and latent deviations, small differences of large numbers, by 1e-6; as shares of the
/// target's deviation both are far below this.
const TOLERANCE: f64 = 1e-6;

#[test]
fn a_model_file_of_format_1_still_gives_its_predictions() {
    let bytes = std::fs::metadata(path("v1.ign")).expect("part of the repository").len();
    assert!(bytes < 100_000, "{bytes} bytes are too many for a repository");
    let model = Model::load(&path("v1.ign"), 1).expect("a promise");
    assert_eq!(model.header().format_version, 1);
    let options = ReadOptions::default();
    let rows = read_columns(&Source::Path(path("input.csv")), &options, &model.header().schema.columns());
    let encoded = model.header().schema.encode(&rows.expect("readable"), None).expect("the model's columns");
    assert_eq!(encoded.unseen.get("colour"), Some(&2), "two rows hold a colour that was never seen");
    let prediction = model.predict(&Matrix { x: encoded.x, width: encoded.width });
    let expected = read_table(&Source::Path(path("predictions.csv")), &options).expect("readable");
    let calibration = &model.header().calibration;
    let shifted = |p: f64| -> Vec<f64> {
        let pairs = prediction.mean.iter().zip(&prediction.std).enumerate();
        pairs.map(|(i, (mean, std))| mean + std * calibration[i % 2].quantile(p)).collect()
    };
    let columns = [
        ("mean", prediction.mean.clone()),
        ("std", prediction.std.clone()),
        ("std_latent", prediction.std_latent.clone()),
        ("q5", shifted(0.05)),
        ("q95", shifted(0.95)),
    ];
    for (name, values) in columns {
        for (output, target) in ["price", "weight"].into_iter().enumerate() {
            let ours: Vec<f64> = values.iter().skip(output).step_by(2).copied().collect();
            let expected = crate::fixture::numbers(&expected, &format!("{target}_{name}"));
            assert_eq!(ours.len(), expected.len());
            for (row, (ours, expected)) in ours.iter().zip(expected).enumerate() {
                let unit = expected.abs() + model.header().schema.targets[output].std;
                let close = (ours - expected).abs() <= TOLERANCE * unit;
                assert!(close, "row {row}: {target}_{name} is {ours} instead of {expected}");
            }
        }
    }
}

#[test]
fn the_golden_model_knows_every_kind_of_column() {
    let model = Model::load(&path("v1.ign"), 1).expect("a promise");
    let kinds: Vec<String> =
        model.header().schema.columns().iter().map(|(name, kind)| format!("{name} {kind}")).collect();
    assert_eq!(kinds, ["size number", "colour category", "sold boolean", "day date_time", "hour number"]);
    let encoder = &model.header().encoder;
    assert!(encoder.periodic.is_some() && encoder.skip && encoder.members == 2 && !encoder.tables.is_empty());
    assert!(!model.header().calibration[0].quantiles.is_empty());
}
