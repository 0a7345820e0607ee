//! Classes against `oracle/laplace.py`: 50-digit arithmetic, another method to the mode, no shared code.

use crate::oracle::{assert_within, fixture, kernel, numbers};
use inducing_gp::{Coupling, InducingPoints, Kernel, Likelihood, Link, Objective, Posterior, Process};
use serde_json::Value as Json;

/// The bar; the mode is known to 1e-9 and its error counts squared, K_zz has a condition number of at most 1e5.
const TOLERANCE: f64 = 1e-8;

fn number(json: &Json) -> f64 {
    json.as_f64().expect("a number")
}

fn inducing(case: &Json) -> InducingPoints<f64> {
    InducingPoints::new(&numbers(&case["z"]), &numbers(&case["w"]), &numbers(&case["b"]))
}

#[test]
fn loss_and_gradients_equal_the_reference() {
    let cases = fixture("laplace.json");
    let mut compared = [0, 0];
    for case in cases["cases"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("name");
        let (kernel, inducing) = (kernel(&case["kernel"]), inducing(case));
        let coupling = match case["coupling"].as_str() {
            Some("batch") => Coupling::Batch,
            _ if inducing.outputs() == 1 => Coupling::Rows,
            // The reference sums the classes' own likelihoods; ours is that of the normalised probability.
            _ => continue,
        };
        compared[usize::from(coupling == Coupling::Rows)] += 1;
        let (phi, y) = (numbers(&case["phi"]), numbers(&case["y"]));
        let mut objective = Objective::new(phi.len() / inducing.dim(), &kernel, &inducing, 1);
        let (likelihood, jitter) = (Likelihood::Probit { weights: &[] }, number(&case["jitter"]));
        let process = Process { kernel: &kernel, inducing: &inducing, likelihood, jitter, coupling };
        let value = objective.evaluate_batch(&process, &phi, &y).expect(name);
        let gradient = objective.gradient();
        let close = |key: &str, ours: &[f64]| {
            assert_within(TOLERANCE, &format!("{name} {key}"), ours, &numbers(&case[key]))
        };
        close("loss", &[value.loss]);
        close("d_phi", &gradient.phi);
        close("d_z", &gradient.z);
        close("d_w", &gradient.w);
        close("d_b", &gradient.b);
        close("d_log_scale", &gradient.log_kernel[..1]);
        let shape = if case["d_log_gamma"].is_null() { "d_log_offset" } else { "d_log_gamma" };
        close(shape, &gradient.log_kernel[1..]);
        assert_eq!(gradient.log_sigma, vec![0.0; inducing.outputs()], "{name}: labels have no noise");
    }
    assert!(compared[0] >= 13 && compared[1] >= 3, "{compared:?} cases");
}

#[test]
fn latent_functions_and_probabilities_of_new_points_equal_the_reference() {
    for case in fixture("laplace.json")["cases"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("name");
        let inducing = inducing(case);
        let (c, star) = (inducing.outputs(), numbers(&case["phi_star"]));
        let rows = star.len() / inducing.dim();
        let posterior =
            Posterior::new(kernel(&case["kernel"]), inducing, number(&case["jitter"]), 1).expect(name);
        let latent = posterior.predict(&star, rows);
        let close = |key: &str, ours: &[f64]| {
            assert_within(TOLERANCE, &format!("{name} {key}"), ours, &numbers(&case[key]))
        };
        close("mean", &latent.mean);
        close("var_latent", &latent.var);
        let each = |i: usize| inducing_gp::cdf(latent.mean[i] / (1.0 + latent.var[i / c]).sqrt());
        close("probability", &(0..latent.mean.len()).map(each).collect::<Vec<_>>());
        let of_row = |(mean, var): (&[f64], &f64)| inducing_gp::class_probabilities(Link::Probit, mean, *var);
        let p: Vec<f64> = latent.mean.chunks(c).zip(&latent.var).flat_map(of_row).collect();
        if c == 1 {
            close("probability", &p.iter().skip(1).step_by(2).copied().collect::<Vec<_>>());
        } else {
            close("class_probability", &p);
        }
    }
}

#[test]
fn log_cdf_and_its_derivatives_equal_the_reference_from_minus_to_plus_a_thousand() {
    let table = fixture("laplace.json");
    let table = table["log_normal_cdf"].as_array().expect("a table");
    assert!(table.len() >= 70);
    for row in table {
        let z = number(&row["z"]);
        let ours = inducing_gp::log_cdf_derivatives(z);
        for (key, ours) in [("value", ours.value), ("d1", ours.d1), ("d2", ours.d2), ("d3", ours.d3)] {
            let reference = number(&row[key]);
            // Relative, except where the promise is a zero: right of 21 all are below 1e-94.
            let close = (ours - reference).abs() <= 1e-14 * reference.abs() + 1e-94;
            assert!(close, "{key} at {z}: {ours:e} instead of {reference:e}");
        }
        let alone = inducing_gp::log_cdf(z);
        assert!((alone - number(&row["value"])).abs() <= 1e-14 * alone.abs() + 1e-94, "{z}");
    }
}

/// One row whose prior has this mean and variance: an inducing point at such a distance that k_zx = s/2.
fn one_row(mean: f64, var: f64, coupling: Coupling) -> f64 {
    let scale = var / 0.75; // s − (s/2)²/s
    let kernel = Kernel::Rbf { scale, gamma: std::f64::consts::LN_2 };
    let inducing = InducingPoints::new(&[1.0], &[0.0], &[2.0 * mean]);
    let mut objective = Objective::new(1, &kernel, &inducing, 1);
    let (likelihood, jitter) = (Likelihood::Probit { weights: &[] }, 1e-14 * scale);
    let process = Process { kernel: &kernel, inducing: &inducing, likelihood, jitter, coupling };
    -objective.evaluate_batch(&process, &[0.0], &[1.0]).expect("well-posed").loss
}

/// Of log Z, which reaches −450; the jitter of 1e-14 is part of it.
#[track_caller]
fn assert_log_z(what: &str, ours: f64, reference: f64) {
    assert!(
        (ours - reference).abs() <= TOLERANCE * (1.0 + reference.abs()),
        "{what}: {ours} not {reference}"
    );
}

#[test]
fn one_row_equals_the_integral_alone_and_laplace_s_approximation_in_a_batch_within_the_documented_bound() {
    let fixture = fixture("laplace.json");
    let bounds = fixture["laplace_1d_bound"].as_array().expect("bounds");
    let points = fixture["laplace_1d"].as_array().expect("points");
    assert!(points.len() >= 100 && bounds.len() >= 9);
    for point in points {
        let (mean, var) = (number(&point["mean"]), number(&point["var"]));
        let (batch, rows) = (one_row(mean, var, Coupling::Batch), one_row(mean, var, Coupling::Rows));
        assert_log_z(&format!("mean {mean}, var {var}"), batch, number(&point["log_z"]));
        assert_log_z(&format!("mean {mean}, var {var}, exact"), rows, number(&point["log_z_exact"]));
        let bound =
            bounds.iter().find(|bound| number(&bound["var"]) == var).expect("a bound for each variance");
        let room = number(&bound["max_error"]) + TOLERANCE * (1.0 + rows.abs());
        assert!((batch - rows).abs() <= room, "mean {mean}, var {var}: {batch} {rows}");
    }
}
