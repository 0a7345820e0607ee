//! Models that ONNX's operators cannot read, and options that do not suit.

use crate::golden;
use example::CloudEncoder;
use inducing::dataset::Labels;
use inducing::{Dataset, Trainer};
use onnx_export::{ExportError, ExportOptions, InputForm, export};

#[allow(dead_code, unreachable_pub)]
#[path = "../../../inducing/examples/custom_encoder.rs"]
mod example;

#[track_caller]
fn assert_refused(refused: Result<Vec<u8>, ExportError>, words: &str) {
    let message = refused.expect_err("it cannot be exported").to_string();
    assert!(message.contains(words) && message.contains("\nhint: "), "{message}");
    assert!(message.starts_with(|c: char| c.is_lowercase() || c == '`'), "{message}");
}

#[test]
fn texts_graphs_and_custom_encoders_are_refused_whatever_is_asked() {
    let (clouds, spreads) = example::clouds(120, 5);
    let data =
        Dataset::custom::<CloudEncoder>(clouds, Labels::Numbers(spreads), "spread", &8).expect("a shape");
    let settings =
        ["gp.inducing=8", "train.pretrain_epochs=1", "train.pretrain_min_steps=0", "train.epochs=1"];
    let custom = settings.into_iter().fold(Trainer::new(&data), Trainer::set).fit().expect("well-posed");
    for inputs in [InputForm::Columns, InputForm::Array, InputForm::Features] {
        let options = ExportOptions { inputs, ..ExportOptions::default() };
        for name in ["v3-text.ign", "v5-text.ign", "v7-text.ign"] {
            assert_refused(export(&golden(name), &options), "texts");
        }
        for name in ["v3-graphs.ign", "v5-graphs.ign", "v7-graphs.ign"] {
            assert_refused(export(&golden(name), &options), "graphs");
        }
        assert_refused(export(&custom, &options), "a custom encoder");
    }
}

#[test]
fn quantiles_outside_of_zero_and_one_are_refused() {
    let model = golden("v7-table.ign");
    for p in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        let options = ExportOptions { quantiles: vec![0.5, p], ..ExportOptions::default() };
        assert_refused(export(&model, &options), "quantiles lie between 0 and 1");
    }
}

#[test]
fn a_table_with_words_is_no_array() {
    let options = ExportOptions { inputs: InputForm::Array, ..ExportOptions::default() };
    assert_refused(export(&golden("v7-table.ign"), &options), "`--array` is for tables of numbers");
}
