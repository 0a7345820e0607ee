//! Scores of classes and of out-of-distribution inputs against the oracle's (`oracle/class_metrics.py`: exact fractions, scikit-learn).

use inducing::metrics::{ClassMetrics, OodMetrics};
use serde_json::Value;

/// Sums of at most ninety terms in doubles, against exact fractions.
const TOLERANCE: f64 = 1e-12;

fn oracle() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../gp/tests/fixtures/class_metrics.json");
    let text = std::fs::read_to_string(path).expect("the oracle's file is part of the repository");
    serde_json::from_str(&text).expect("JSON")
}

/// Any nesting of numbers, in order.
fn numbers(json: &Value) -> Vec<f64> {
    match json {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

#[track_caller]
fn assert_equal(what: &str, ours: &Value, expected: &Value) {
    match (ours, expected) {
        (Value::Array(ours), Value::Array(expected)) => {
            assert_eq!(ours.len(), expected.len(), "{what}");
            ours.iter().zip(expected).for_each(|(ours, expected)| assert_equal(what, ours, expected));
        }
        (Value::Object(ours), Value::Object(expected)) => {
            assert!(ours.keys().eq(expected.keys()), "{what}");
            expected
                .iter()
                .for_each(|(key, value)| assert_equal(&format!("{what} {key}"), &ours[key], value));
        }
        _ => {
            let equal = match (ours.as_f64(), expected.as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE * (1.0 + b.abs()),
                (a, b) => a == b,
            };
            assert!(equal, "{what}: {ours} instead of {expected}");
        }
    }
}

#[test]
fn every_score_of_classes_equals_the_oracle() {
    let oracle = oracle();
    let cases = oracle["cases"].as_array().expect("a list");
    assert!(cases.len() >= 12);
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let k = case["p"][0].as_array().expect("a row").len();
        let labels: Vec<String> = (0..k).map(|class| format!("class {class}")).collect();
        let y: Vec<u32> = numbers(&case["y"]).iter().map(|&y| y as u32).collect();
        let metrics = ClassMetrics::new(&numbers(&case["p"]), &y, &labels);
        let ours = serde_json::to_value(&metrics).expect("plain data");
        for key in ["n", "accuracy", "nll", "brier", "ece", "auroc", "confusion", "reliability"] {
            assert_equal(&format!("{name}: {key}"), &ours[key], &case[key]);
        }
        for (class, scores) in metrics.classes.iter().enumerate() {
            assert_eq!(scores.label, labels[class]);
            let ours = serde_json::to_value(scores).expect("plain data");
            for key in ["precision", "recall", "f1", "support"] {
                assert_equal(&format!("{name}: {key} of {class}"), &ours[key], &case[key][class]);
            }
        }
    }
}

#[test]
fn every_score_of_out_of_distribution_inputs_equals_the_oracle() {
    let oracle = oracle();
    let cases = oracle["out_of_distribution"].as_array().expect("a list");
    assert!(cases.len() >= 8);
    for case in cases {
        let metrics = OodMetrics::new(&numbers(&case["inside"]), &numbers(&case["outside"]));
        let ours = serde_json::to_value(metrics.expect("some of both")).expect("plain data");
        for key in ["auroc", "aupr", "fpr95"] {
            assert_equal(&format!("{}: {key}", case["name"]), &ours[key], &case[key]);
        }
    }
}

#[test]
fn without_inputs_of_both_kinds_there_is_no_score_of_telling_them_apart() {
    assert_eq!(OodMetrics::new(&[], &[1.0]), None);
    assert_eq!(OodMetrics::new(&[1.0], &[]), None);
}

#[test]
fn scores_survive_their_json() {
    let labels = ["a", "b"].map(String::from);
    let metrics = ClassMetrics::new(&[0.9, 0.1, 0.3, 0.7], &[0, 0], &labels);
    let both = metrics.clone().beside(ClassMetrics::new(&[0.6, 0.4, 0.5, 0.5], &[0, 0], &labels));
    for metrics in [metrics, both] {
        let score = inducing::model::Score::Classes(metrics);
        let json = serde_json::to_string(&score).expect("plain data");
        assert_eq!(serde_json::from_str::<inducing::model::Score>(&json).expect("just written"), score);
    }
}
