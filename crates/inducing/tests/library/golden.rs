//! Model files kept as they were written: every later version reads them and predicts the same.
//!
//! `v1.ign` and `v2-classes.ign` were written by the programs of formats 1 and 2 and cannot be made again. Those of
//! formats 3 to 7 were made by `cargo run --release -p inducing --example golden`, once before the release that first wrote
//! that format; a change that needs them remade has broken a promise.

use crate::fixture::numbers;
use data::{ReadOptions, Source, Table, TableSchema, read_table};
use inducing::model::{ClassificationBatch, FORMAT_VERSION, Predictions, TargetUse};
use inducing::{Dataset, Model, Prediction};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name].iter().collect()
}

fn load(name: &str) -> Model {
    let bytes = std::fs::metadata(path(name)).expect("part of the repository").len();
    assert!(bytes < 100_000, "{bytes} bytes are too many for a repository");
    Model::load(path(name)).expect("a promise")
}

fn schema(model: &Model) -> &TableSchema {
    model.header().schema.table().expect("a model of a table")
}

/// Predictions of a file, and what is said of it.
fn predicted(model: &Model, name: &str) -> (Predictions, Vec<String>) {
    let data = Dataset::read(path(name)).expect("part of the repository");
    let notes = model.encode_data(&data, TargetUse::Ignored).expect("the model's inputs").notes;
    (model.predict(&data).expect("the model's inputs"), notes)
}

fn expected(name: &str) -> Table {
    read_table(&Source::Path(path(name)), &ReadOptions::default()).expect("readable")
}

/// Of the number itself and of the target's deviation. On the machine that wrote the file the bits are the same. Other
/// processors have other vector instructions: features in f32 then differ in the seventh digit. One unit there moves
/// means by 3e-7 of themselves and latent deviations, small differences of large numbers, by 1e-5 of
/// themselves; as shares of the target's deviation both are below this. The latent functions of classes have a deviation of about one.
const TOLERANCE: f64 = 4e-6;

#[track_caller]
fn assert_close(what: &str, ours: &[f64], expected: &[f64], unit: f64) {
    assert_eq!(ours.len(), expected.len(), "{what}");
    for (row, (ours, expected)) in ours.iter().zip(expected).enumerate() {
        let close = (ours - expected).abs() <= TOLERANCE * (expected.abs() + unit);
        assert!(close, "row {row}: {what} is {ours} instead of {expected}");
    }
}

#[test]
fn a_model_file_of_format_1_still_gives_its_predictions() {
    let model = load("v1.ign");
    assert_eq!(model.header().format_version, 1);
    let (predictions, notes) = predicted(&model, "input.csv");
    assert_eq!(notes, ["column `colour`: 2 rows hold a category that was never seen in training"]);
    let prediction = predictions.as_regression().expect("a model of numbers");
    let expected = expected("predictions.csv");
    let shifted = |p: f64| -> Vec<f64> {
        let quantiles = |row: Prediction| match row {
            Prediction::Regression(row) => row.targets().iter().map(|y| y.quantile(p)).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        predictions.iter().flat_map(quantiles).collect()
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
            let what = format!("{target}_{name}");
            let expected = numbers(&expected, &what);
            assert_close(&what, &ours, expected, model.header().schema.numbers()[output].std);
        }
    }
}

#[test]
fn a_model_file_of_classes_still_gives_its_predictions() {
    let model = load("v2-classes.ign");
    assert_eq!(model.header().format_version, 2);
    let classes = model.header().schema.classes().expect("classes").to_vec();
    assert_eq!(classes, ["cheap", "dear", "fair"]);
    let (predictions, notes) = predicted(&model, "v2-classes-input.csv");
    assert_eq!(notes, ["column `colour`: 2 rows hold a category that was never seen in training"]);
    let prediction = predictions.as_classification().expect("a model of classes");
    assert_same_classes(prediction, &classes, "v2-classes-predictions.csv");
}

#[track_caller]
fn assert_same_classes(prediction: &ClassificationBatch, classes: &[String], name: &str) {
    let expected = expected(name);
    let columns = [
        ("p", &prediction.p),
        ("latent_mean", &prediction.latent_mean),
        ("latent_std", &prediction.latent_std),
    ];
    for (name, values) in columns {
        for (k, class) in classes.iter().enumerate() {
            let ours: Vec<f64> = values.iter().skip(k).step_by(classes.len()).copied().collect();
            let what = format!("{name}_{class}");
            assert_close(&what, &ours, numbers(&expected, &what), 1.0);
        }
    }
}

#[test]
fn model_files_of_texts_still_give_their_predictions() {
    for format in [3, 4, 5] {
        let model = load(&format!("v{format}-text.ign"));
        assert_eq!(model.header().format_version, format);
        let (predictions, _) = predicted(&model, &format!("v{format}-text-input.csv"));
        let prediction = predictions.as_regression().expect("a model of numbers");
        let expected = expected(&format!("v{format}-text-predictions.csv"));
        let columns =
            [("mean", &prediction.mean), ("std", &prediction.std), ("std_latent", &prediction.std_latent)];
        for (name, ours) in columns {
            let unit = model.header().schema.numbers()[0].std;
            assert_close(name, ours, numbers(&expected, name), unit);
        }
    }
}

#[test]
fn model_files_of_graphs_still_give_their_predictions() {
    for format in [3, 4, 5] {
        let model = load(&format!("v{format}-graphs.ign"));
        assert_eq!(model.header().format_version, format);
        let schema = model.header().schema.graphs().expect("a model of graphs");
        assert_eq!(schema.classes, ["net", "tree"]);
        let input = format!("v{format}-graphs-input.jsonl");
        let data = Dataset::read(path(&input)).expect("part of the repository");
        let encoded = model.encode_data(&data, TargetUse::Ignored).expect("the model's inputs");
        let unseen = schema.encode(encoded.data.graphs().expect("graphs")).expect("features").unseen;
        assert!(unseen > 0, "some labels of nodes were never seen");
        let (predictions, _) = predicted(&model, &input);
        let prediction = predictions.as_classification().expect("a model of classes");
        assert_same_classes(prediction, &schema.classes, &format!("v{format}-graphs-predictions.csv"));
    }
}

#[test]
fn model_files_of_ensembles_still_give_their_predictions() {
    for version in ["v5", "v6", "v7"] {
        an_ensemble_still_gives_its_predictions(version);
    }
    let family =
        |name: &str| load(name).header().ensemble.as_ref().expect("an ensemble").stacks[0].process.family;
    assert_eq!(family("v6-table.ign"), gp::Matern::FiveHalves, "new in version 6");
    let scale = load("v7-table.ign").header().schema.numbers()[0].scale;
    assert!(
        matches!(scale.transform, data::Transform::Asinh { .. }) && scale.reach.is_some(),
        "new in version 7"
    );
    let classes = load("v7-classes.ign");
    assert!(classes.header().ensemble.as_ref().is_some_and(|ensemble| ensemble.linear_classes.is_some()));
}

fn an_ensemble_still_gives_its_predictions(version: &str) {
    let file = |name: &str| format!("{version}-{name}");
    let model = load(&file("table.ign"));
    assert!(model.keeps_rows() && model.header().ensemble.is_some());
    let (predictions, notes) = predicted(&model, &file("table-input.csv"));
    assert_eq!(notes, ["column `colour`: 2 rows hold a category that was never seen in training"]);
    let prediction = predictions.as_regression().expect("a model of numbers");
    let table = expected(&file("table-predictions.csv"));
    let columns = [
        ("mean", &prediction.mean),
        ("std", &prediction.std),
        ("std_latent", &prediction.std_latent),
        ("familiarity", &prediction.familiarity),
    ];
    for (name, ours) in columns {
        assert_close(name, ours, numbers(&table, name), model.header().schema.numbers()[0].std);
    }
    assert!(prediction.familiarity.contains(&0.0), "rows with absent cells, and one that is far away");
    let model = load(&file("classes.ign"));
    let (predictions, _) = predicted(&model, &file("table-input.csv"));
    let prediction = predictions.as_classification().expect("a model of classes");
    let classes = model.header().schema.classes().expect("classes").to_vec();
    assert_same_classes(prediction, &classes, &file("classes-predictions.csv"));
}

/// Where words begin and end, and which are the same, is part of what the file promises.
#[test]
fn the_golden_model_of_texts_knows_odd_words() {
    let model = load("v3-text.ign");
    let kinds: Vec<String> =
        schema(&model).columns().iter().map(|(name, kind)| format!("{name} {kind}")).collect();
    assert_eq!(kinds, ["review text", "price number"]);
    let (_, tokenizer) = schema(&model).text_columns().next().expect("a text");
    for word in ["don't", "it's", "שלום", "مرحبا", "👎", "👍🏽", "東", "naïve", "straße", "great"]
    {
        assert!(tokenizer.words().iter().any(|known| known == word), "{word}: {:?}", tokenizer.words());
    }
    assert!(!tokenizer.words().iter().any(|word| word == "br"), "a line break is no word");
    let network = serde_json::to_value(&model.header().encoder).expect("plain data");
    assert!(network["beside"]["periodic"].is_object() && network["members"] == 2);
    assert_eq!(network["towers"][0]["pooling"], "mean_max");
}

#[test]
fn the_golden_model_of_graphs_has_every_feature_of_nodes() {
    let model = load("v3-graphs.ign");
    let schema = serde_json::to_value(&model.header().schema).expect("plain data");
    assert_eq!(schema["degree"], serde_json::json!({ "one_hot": { "cap": 3 } }));
    assert_eq!(schema["node_levels"], serde_json::json!(["C", "N", "O"]));
    assert_eq!(schema["attributes"].as_array().map(Vec::len), Some(1));
    let network = serde_json::to_value(&model.header().encoder).expect("plain data");
    assert!(network["kind"] == "gin" && network["rounds"] == 2 && network["members"] == 2);
    assert!(model.header().class_calibration.is_some());
}

#[test]
fn the_golden_models_know_every_kind_of_column() {
    for name in ["v1.ign", "v2-classes.ign"] {
        let model = load(name);
        let kinds: Vec<String> =
            schema(&model).columns().iter().map(|(name, kind)| format!("{name} {kind}")).collect();
        assert_eq!(kinds, ["size number", "colour category", "sold boolean", "day date_time", "hour number"]);
        let network = serde_json::to_value(&model.header().encoder).expect("plain data");
        assert!(network["periodic"].is_object() && network["skip"] == true && network["members"] == 2);
        assert_eq!(
            network["tables"] == serde_json::json!([]),
            name != "v1.ign",
            "serial columns of numbers have tables"
        );
    }
    let (numbers, classes) = (load("v1.ign"), load("v2-classes.ign"));
    assert!(!numbers.header().calibration[0].quantiles.is_empty());
    assert!(classes.header().class_calibration.is_some_and(|c| c.slope != 1.0 && c.latent != 1.0));
}

/// The files of the newest format are part of the promise too.
#[test]
fn there_are_golden_files_of_every_format() {
    let of = |name: &str| load(name).header().format_version;
    let files = ["v1.ign", "v2-classes.ign", "v3-text.ign", "v3-graphs.ign", "v4-text.ign", "v4-graphs.ign"];
    assert_eq!(files.map(of), [1, 2, 3, 3, 4, 4]);
    for version in [5, 6, 7] {
        let kinds = ["text", "graphs", "table", "classes"];
        assert_eq!(kinds.map(|kind| of(&format!("v{version}-{kind}.ign"))), [version; 4]);
    }
    assert_eq!(FORMAT_VERSION, 7, "a new format needs golden files of its own: examples/golden.rs");
}
