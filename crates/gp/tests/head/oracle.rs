//! The head against `oracle/regression.py`: 50-digit arithmetic, naive loops, no shared code.

use inducing_gp::{Coupling, InducingPoints, Kernel, Likelihood, Objective, Posterior, Process};
use serde_json::Value as Json;

/// The bar; both sides start from the same doubles, K_zz has a condition number of at most 1e5.
const TOLERANCE: f64 = 1e-9;

pub(crate) fn fixture(name: &str) -> Json {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("fixture")).expect("json")
}

/// Any nesting of numbers, in order.
pub(crate) fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

pub(crate) fn kernel(json: &Json) -> Kernel {
    serde_json::from_value(json.clone()).expect("a kernel")
}

#[track_caller]
fn assert_close(what: &str, ours: &[f64], reference: &[f64]) {
    assert_within(TOLERANCE, what, ours, reference);
}

/// Of the largest number of the reference, or absolute below 1.
#[track_caller]
pub(crate) fn assert_within(tolerance: f64, what: &str, ours: &[f64], reference: &[f64]) {
    assert_eq!(ours.len(), reference.len(), "{what}");
    let scale = reference.iter().fold(1.0_f64, |a, x| a.max(x.abs()));
    for (a, b) in ours.iter().zip(reference) {
        assert!((a - b).abs() <= tolerance * scale, "{what}: {a} instead of {b}");
    }
}

#[test]
fn loss_gradients_and_predictions_equal_the_reference() {
    let cases = fixture("regression.json");
    let cases = cases["cases"].as_array().expect("cases");
    assert!(cases.len() >= 16, "all kernels and shapes are there");
    for case in cases {
        let name = case["name"].as_str().expect("name");
        let kernel = kernel(&case["kernel"]);
        let inducing = InducingPoints::new(&numbers(&case["z"]), &numbers(&case["w"]), &numbers(&case["b"]));
        let sigma = numbers(&case["sigma"]);
        let log_sigma: Vec<f64> = sigma.iter().map(|s| s.ln()).collect();
        let (phi, y) = (numbers(&case["phi"]), numbers(&case["y"]));
        let jitter = case["jitter"].as_f64().expect("jitter");
        let mut objective = Objective::new(phi.len() / inducing.dim(), &kernel, &inducing, 1);
        let likelihood = Likelihood::Gaussian { log_sigma: &log_sigma, weights: &[] };
        let coupling = Coupling::Batch;
        let process = Process { kernel: &kernel, inducing: &inducing, likelihood, jitter, coupling };
        let value = objective.evaluate_batch(&process, &phi, &y).expect(name);
        let gradient = objective.gradient();
        assert_close(name, &[value.loss], &numbers(&case["loss"]));
        for (key, ours) in [
            ("d_phi", &gradient.phi),
            ("d_z", &gradient.z),
            ("d_w", &gradient.w),
            ("d_b", &gradient.b),
            ("d_log_sigma", &gradient.log_sigma),
        ] {
            assert_close(&format!("{name} {key}"), ours, &numbers(&case[key]));
        }
        let shape = if case["d_log_gamma"].is_null() { "d_log_offset" } else { "d_log_gamma" };
        assert_close(name, &gradient.log_kernel[..1], &numbers(&case["d_log_scale"]));
        assert_close(name, &gradient.log_kernel[1..], &numbers(&case[shape]));

        let star = numbers(&case["phi_star"]);
        let rows = star.len() / inducing.dim();
        let latent = Posterior::new(kernel, inducing, jitter, 1).expect(name).predict(&star, rows);
        assert_close(&format!("{name} mean"), &latent.mean, &numbers(&case["mean"]));
        assert_close(&format!("{name} var"), &latent.var, &numbers(&case["var_latent"]));
    }
}

#[test]
fn inducing_points_on_the_data_with_the_data_s_labels_are_the_exact_gaussian_process() {
    for case in fixture("exact_gp.json")["cases"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("name");
        let z = numbers(&case["z"]);
        let d = case["z"][0].as_array().expect("rows").len();
        let c = case["r"][0].as_array().expect("rows").len();
        let inducing = InducingPoints::new(&z, &vec![0.0; d * c], &vec![0.0; c]); // w and b are not used
        let jitter = case["jitter"].as_f64().expect("jitter");
        let posterior =
            Posterior::with_pseudo_labels(kernel(&case["kernel"]), inducing, &numbers(&case["r"]), jitter, 1)
                .expect(name);
        let star = numbers(&case["phi_star"]);
        let latent = posterior.predict(&star, star.len() / d);
        assert_close(&format!("{name} mean"), &latent.mean, &numbers(&case["mean"]));
        assert_close(&format!("{name} var"), &latent.var, &numbers(&case["var_latent"]));
    }
}
