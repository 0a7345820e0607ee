//! Scores against the oracle's (`oracle/`, mpmath and scipy).

use inducing::metrics::{Metrics, normal_cdf, normal_quantile};
use serde_json::Value;

fn oracle() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../gp/tests/fixtures/metrics.json");
    let text = std::fs::read_to_string(path).expect("the oracle's file is part of the repository");
    serde_json::from_str(&text).expect("JSON")
}

fn list(case: &Value, key: &str) -> Vec<f64> {
    case[key].as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// A thousand deviations off, `u(2Φ(u) − 1) + 2φ(u) − 1/√π` keeps 13 digits; sums of a few dozen terms cost two more.
const TOLERANCE: f64 = 1e-9;

#[test]
fn every_score_equals_the_oracle() {
    let oracle = oracle();
    let cases = oracle["cases"].as_array().expect("a list");
    assert!(cases.len() >= 8);
    for case in cases {
        let metrics = Metrics::gaussian(&list(case, "y"), &list(case, "mean"), &list(case, "std"));
        let ours = serde_json::to_value(metrics).expect("plain data");
        for key in [
            "n",
            "rmse",
            "mae",
            "r2",
            "nll",
            "crps",
            "coverage_50",
            "coverage_90",
            "coverage_95",
            "sharpness",
        ] {
            let (ours, expected) = (ours[key].as_f64(), case[key].as_f64());
            let equal = match (ours, expected) {
                (Some(ours), Some(expected)) => (ours - expected).abs() <= TOLERANCE * expected.abs(),
                _ => ours == expected,
            };
            assert!(equal, "{}: {key} is {ours:?} instead of {expected:?}", case["name"]);
        }
    }
}

#[test]
fn normal_quantiles_equal_the_oracle_in_both_tails() {
    for point in oracle()["normal_quantile"].as_array().expect("a list") {
        let (p, x) = (point["p"].as_f64().expect("a number"), point["x"].as_f64().expect("a number"));
        let ours = normal_quantile(p);
        // Near p = ½ the quantile vanishes and 1 − p has lost its digits: 1e-15 absolute is what 64 bits can know.
        assert!((ours - x).abs() <= TOLERANCE * x.abs() + 1e-15, "p = {p}: {ours} instead of {x}");
    }
    assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
}

#[test]
fn the_quantile_inverts_the_distribution_function() {
    for i in 1..2000 {
        let x = -8.0 + 0.004 * f64::from(i);
        let p = normal_cdf(x);
        // Below zero p has full relative precision, and dx = dp/φ is then about 1e-16·p/φ < 1e-16/|x|.
        if x < 0.0 {
            assert!((normal_quantile(p) - x).abs() < 1e-12, "{x}");
        }
        assert!((normal_cdf(-x) - (1.0 - p)).abs() < 1e-15, "{x}"); // Φ(−x) = 1 − Φ(x) to the last bit
    }
}
