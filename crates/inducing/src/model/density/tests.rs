use super::*;

/// Two Gaussians on every kind of scale, with bounds.
fn densities() -> Vec<Density> {
    let scales = [
        (Transform::Identity, Some(-0.5), Some(1.5)),
        (Transform::Log { offset: 0.2 }, Some(0.0), None),
        (Transform::Logit { lower: -0.1, upper: 2.1 }, Some(0.0), Some(2.0)),
        (Transform::Asinh { centre: 0.4, width: 0.3 }, None, None),
    ];
    let two = |shift: f64| {
        Density::mixture(vec![
            Component { weight: 0.7, mean: shift - 0.4, std: 0.4 },
            Component { weight: 0.3, mean: shift + 0.6, std: 0.2 },
        ])
    };
    scales
        .into_iter()
        .map(|(transform, lower, upper)| {
            two(0.3).on_scale(&Arc::new(TargetScale { transform, lower, upper, reach: None }))
        })
        .collect()
}

/// Equally probable values: what the density says, as a sample without chance.
fn values(density: &Density, count: usize) -> Vec<f64> {
    (0..count).map(|i| density.quantile((i as f64 + 0.5) / count as f64)).collect()
}

#[test]
fn quantiles_invert_the_distribution_function_and_its_slope_is_the_density() {
    for density in densities() {
        for p in [0.2, 0.4, 0.6, 0.8] {
            let y = density.quantile(p);
            let is_inside = density.scale.as_ref().is_some_and(|s| s.clamp(y + 1e-3) == y + 1e-3)
                && density.scale.as_ref().is_some_and(|s| s.clamp(y - 1e-3) == y - 1e-3);
            if is_inside {
                assert!((density.cdf(y) - p).abs() < 1e-9, "{density:?} {p}");
                let h = 1e-5;
                let slope = (density.cdf(y + h) - density.cdf(y - h)) / (2.0 * h);
                // Central differences are right to h².
                assert!((density.pdf(y) - slope).abs() < 1e-5 * (1.0 + slope), "{density:?} {p}");
            }
        }
    }
}

#[test]
fn nothing_lies_outside_of_the_range() {
    for density in densities() {
        let scale = *density.scale.clone().expect("a scale, and finite moments");
        for p in [1e-9, 0.01, 0.99, 1.0 - 1e-9] {
            assert_eq!(scale.clamp(density.quantile(p)), density.quantile(p));
        }
        if let Some(lower) = scale.lower {
            assert_eq!((density.cdf(lower - 1e-6), density.pdf(lower - 1e-6)), (0.0, 0.0));
        }
        if let Some(upper) = scale.upper {
            assert_eq!((density.cdf(upper), density.pdf(upper + 1e-6)), (1.0, 0.0));
        }
    }
}

#[test]
fn moments_and_crps_are_those_of_the_values_that_the_density_gives() {
    for density in densities() {
        let values = values(&density, 4000);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let std = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        let (own_mean, own_std) = density.moments().expect("a scale, and finite moments");
        // Both leave out a ten-thousandth in the tails, in other ways.
        assert!((own_mean - mean).abs() < 2e-3 * std && (own_std / std - 1.0).abs() < 5e-3, "{density:?}");
        for y in [values[40], mean, values[3960]] {
            let to_y = values.iter().map(|v| (v - y).abs()).sum::<f64>() / n;
            // E|X − X'|/2 of sorted values.
            let apart =
                values.iter().enumerate().map(|(i, v)| (2.0 * i as f64 + 1.0 - n) * v).sum::<f64>() / (n * n);
            assert!((density.crps(y) - (to_y - apart)).abs() < 2e-3 * std, "{density:?} {y}");
        }
    }
}

#[test]
fn a_gaussian_on_a_logarithmic_scale_is_the_log_normal() {
    let (m, s) = (0.7, 0.25_f64);
    let scale = Arc::new(TargetScale {
        transform: Transform::Log { offset: 0.0 },
        lower: Some(0.0),
        ..TargetScale::default()
    });
    let density = Density::mixture(vec![Component { weight: 1.0, mean: m, std: s }]).on_scale(&scale);
    let (mean, std) = density.moments().expect("a scale, and finite moments");
    let expected = (m + s * s / 2.0).exp();
    assert!((mean / expected - 1.0).abs() < 1e-3, "{mean} {expected}");
    assert!((std / (expected * ((s * s).exp() - 1.0).sqrt()) - 1.0).abs() < 5e-3);
    assert!((density.log_pdf(2.0) + gaussian_nll(2.0_f64.ln(), m, s) + 2.0_f64.ln()).abs() < 1e-12);
}
