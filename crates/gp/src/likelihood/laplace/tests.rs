//! Modes, evidences and gradients of Laplace's approximation against differences, integrals and plain formulas.

use super::*;
use crate::normal_cdf::{FRAC_1_SQRT_2PI, cdf, log_cdf, log_cdf_derivatives};
use crate::{Link, class_loss};
use proptest::prelude::*;

/// One output's batch in double precision.
#[derive(Clone)]
struct Problem {
    cov: Mat<f64>,
    mean: Vec<f64>,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
}

struct Answer {
    loss: f64,
    steps: usize,
    d_mean: Vec<f64>,
    g: Mat<f64>,
    beta: Vec<f64>,
}

/// Uniform on (−1, 1), from a seed.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// `scale · exp(−‖a−b‖²)` over points on a line.
fn rbf(points: &[f64], scale: f64) -> Mat<f64> {
    Mat::from_fn(points.len(), points.len(), |i, j| scale * (-(points[i] - points[j]).powi(2)).exp())
}

impl Problem {
    /// Points in [−3, 3] with random means and labels.
    fn random(n: usize, scale: f64, reach: f64, seed: u64) -> Self {
        let mut random = uniform(seed);
        let points: Vec<f64> = (0..n).map(|_| 3.0 * random()).collect();
        let mean = (0..n).map(|_| reach * random()).collect();
        let y = (0..n).map(|_| random().signum()).collect();
        Self { cov: rbf(&points, scale), mean, y, weights: None }
    }

    fn evaluate_as<T: Real>(&self) -> Answer {
        let n = self.y.len();
        let convert = |x: &[f64]| -> Vec<T> { x.iter().map(|&x| T::from_f64(x)).collect() };
        // Above the diagonal stands what must never be read.
        let cov = Mat::from_fn(n, n, |i, j| T::from_f64(if i >= j { self.cov[(i, j)] } else { f64::NAN }));
        let mut g = Mat::<T>::zeros(n, n);
        let mut laplace = Laplace::with_size(n, 1);
        let (mean, y, weights) = (convert(&self.mean), convert(&self.y), self.weights.as_deref());
        laplace.set_covariance(cov.as_ref());
        let value = laplace.evaluate(&mean, &y, weights, g.as_mut()).expect("B is positive definite");
        let g = Mat::from_fn(n, n, |i, j| if i >= j { g[(i, j)].to_f64() } else { 0.0 });
        Answer { loss: value.loss, steps: value.steps, d_mean: laplace.d_mean, g, beta: laplace.beta }
    }

    fn evaluate(&self) -> Answer {
        self.evaluate_as::<f64>()
    }
}

/// Fourth-order central difference.
fn slope(step: f64, loss: impl Fn(f64) -> f64) -> f64 {
    (8.0 * (loss(step) - loss(-step)) - (loss(2.0 * step) - loss(-2.0 * step))) / (12.0 * step)
}

fn assert_gradient(name: &str, problem: &Problem) {
    let n = problem.y.len();
    let answer = problem.evaluate();
    let loss = |change: &dyn Fn(&mut Problem)| {
        let mut changed = problem.clone();
        change(&mut changed);
        changed.evaluate().loss
    };
    let mut pairs = Vec::new();
    for i in 0..n {
        pairs.push((answer.d_mean[i], slope(1e-3, |h| loss(&|p| p.mean[i] += h)), format!("a[{i}]")));
        for j in 0..=i {
            let twice = if i == j { 1.0 } else { 2.0 };
            let numeric = slope(1e-3, |h| loss(&|p| p.cov[(i, j)] += h));
            pairs.push((twice * answer.g[(i, j)], numeric, format!("K[{i},{j}]")));
        }
    }
    let size = pairs.iter().fold(0.0, |size: f64, pair| size.max(pair.1.abs()));
    for (analytic, numeric, what) in pairs {
        // Of the largest entry: the loss's rounding over the step, and the fifth derivative times step⁴.
        // Measured: 2e-11.
        assert!((analytic - numeric).abs() < 1e-9 * size, "{name}, {what}: {analytic:e}, not {numeric:e}");
    }
}

#[test]
fn gradients_equal_central_differences() {
    let easy = Problem::random(8, 1.0, 1.0, 1);
    let right = Problem { y: vec![1.0; 8], mean: vec![2.5; 8], ..easy.clone() };
    let wrong = Problem { y: vec![-1.0; 8], mean: vec![6.0; 8], ..easy.clone() };
    let mut contradictory = Problem { cov: rbf(&[0.3; 8], 2.0), ..easy.clone() };
    contradictory.y = (0..8).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let weighted = Problem { weights: Some((0..8).map(|i| 0.3 * f64::from(i)).collect()), ..easy.clone() };
    let wide = Problem::random(8, 50.0, 10.0, 2);
    let mut certain = easy.clone();
    (0..8).for_each(|j| (certain.cov[(3, j)], certain.cov[(j, 3)]) = (0.0, 0.0)); // a row without variance
    let problems = [
        ("easy", easy),
        ("all on the right side", right),
        ("all on the wrong side", wrong),
        ("contradictory", contradictory),
        ("weighted", weighted),
        ("wide", wide),
        ("certain", certain),
    ];
    for (name, problem) in &problems {
        assert_gradient(name, problem);
    }
}

#[test]
fn gradients_hold_across_the_strips_of_the_products_and_in_a_used_work_space() {
    let n = 77;
    let problem = Problem::random(n, 3.0, 3.0, 8);
    let mut random = uniform(9);
    let d_mean: Vec<f64> = (0..n).map(|_| random()).collect();
    let d_cov = Mat::from_fn(n, n, |_, _| random());
    let moved = |h: f64| {
        let mut moved = problem.clone();
        (0..n).for_each(|i| moved.mean[i] += h * d_mean[i]);
        (0..n).for_each(|j| (j..n).for_each(|i| moved.cov[(i, j)] += h * d_cov[(i, j)]));
        moved
    };
    let mut laplace = Laplace::with_size(n, 1);
    let mut evaluate = |problem: &Problem| {
        let mut g = Mat::zeros(n, n);
        let (mean, y) = (&problem.mean, &problem.y);
        laplace.set_covariance(problem.cov.as_ref());
        let value = laplace.evaluate(mean, y, None, g.as_mut());
        (value.expect("B is positive definite").loss, laplace.d_mean.clone(), g)
    };
    let (loss, by_mean, by_cov) = evaluate(&problem);
    let mut expected: f64 = (0..n).map(|i| by_mean[i] * d_mean[i]).sum();
    for j in 0..n {
        expected += by_cov[(j, j)] * d_cov[(j, j)];
        expected += (j + 1..n).map(|i| 2.0 * by_cov[(i, j)] * d_cov[(i, j)]).sum::<f64>();
        assert!((0..j).all(|i| by_cov[(i, j)] == 0.0), "only the lower triangle is written");
    }
    let losses = [1e-4, -1e-4, 2e-4, -2e-4].map(|h| evaluate(&moved(h)).0);
    let numeric = (8.0 * (losses[0] - losses[1]) - (losses[2] - losses[3])) / 12e-4;
    assert!((expected / numeric - 1.0).abs() < 1e-8, "{expected} {numeric}");
    let (again, mean_again, cov_again) = evaluate(&problem);
    assert!(again == loss && mean_again == by_mean && cov_again == by_cov);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn newton_converges_from_zero_in_twenty_steps(
        n in 1..60usize, log_scale in -9.0..4.7, reach in 0.0..50.0, seed: u64
    ) {
        let mut problem = Problem::random(n, f64::exp(log_scale), reach, seed);
        if seed % 2 == 0 {
            problem.weights = Some((0..n).map(|i| 0.1 * (1.0 + (i % 50) as f64)).collect());
        }
        let answer = problem.evaluate();
        prop_assert!(answer.steps <= 20, "{} steps", answer.steps);
        // At the mode β = ∇log p(y|a + Kβ).
        for i in 0..n {
            let f = problem.mean[i] + (0..n).map(|j| problem.cov[(i, j)] * answer.beta[j]).sum::<f64>();
            let weight = problem.weights.as_ref().map_or(1.0, |weights| weights[i]);
            let u = weight * problem.y[i] * log_cdf_derivatives(problem.y[i] * f).d1;
            prop_assert!((u - answer.beta[i]).abs() < 1e-8 * (1.0 + u.abs()), "{u} {}", answer.beta[i]);
        }
        prop_assert!(answer.loss > -1e-9 && answer.loss.is_finite());
    }
}

#[test]
fn without_variance_the_evidence_is_the_likelihood() {
    let mut problem = Problem::random(9, 0.0, 5.0, 4);
    problem.cov = Mat::zeros(9, 9);
    let likelihood: f64 = problem.mean.iter().zip(&problem.y).map(|(a, y)| log_cdf(y * a)).sum();
    assert!((problem.evaluate().loss + likelihood).abs() < 1e-13);
}

/// `log ∫ Φ(y f) N(f; a, k) df` by the trapezoid rule, whose error is far below rounding for such an integrand.
fn integrated(a: f64, k: f64, y: f64) -> f64 {
    let (points, reach) = (4000, 12.0);
    let width = 2.0 * reach / f64::from(points);
    let sum: f64 = (0..=points)
        .map(|i| {
            let s = f64::from(i) * width - reach;
            (-0.5 * s * s).exp() * cdf(y * (a + k.sqrt() * s))
        })
        .sum();
    (sum * width * FRAC_1_SQRT_2PI).ln()
}

#[test]
fn evidence_of_one_row_equals_the_integral_exactly_or_within_laplace_s_error() {
    for k in [0.0, 0.01, 0.3, 1.0, 4.0, 30.0] {
        for a in [-4.0, -1.5, 0.0, 0.7, 3.0] {
            let problem =
                Problem { cov: Mat::from_fn(1, 1, |_, _| k), mean: vec![a], y: vec![1.0], weights: None };
            let exact = -integrated(a, k, 1.0);
            let rows = class_loss(Link::Probit, &[a], k, 1, &mut [0.0]).0;
            assert!((rows - exact).abs() < 1e-10, "rows: {rows}, not {exact}");
            // Measured: 0.001 at k = 0.3, 0.009 at 1, 0.07 at 4, 0.23 at 30, of either sign.
            let laplace = problem.evaluate().loss;
            let bound = (0.018 * k).min(0.25);
            assert!((laplace - exact).abs() <= bound + 1e-10, "k {k}, a {a}: {laplace}, not {exact}");
        }
    }
}

#[test]
fn single_precision_agrees_with_double() {
    for (seed, scale) in [(5, 0.1), (6, 1.0), (7, 20.0)] {
        let mut double = Problem::random(50, scale, 4.0, seed);
        // Both see the same numbers.
        double.cov = Mat::from_fn(50, 50, |i, j| f64::from(double.cov[(i, j)] as f32));
        double.mean.iter_mut().for_each(|a| *a = f64::from(*a as f32));
        let single = double.evaluate_as::<f32>();
        let double = double.evaluate();
        // Measured: 2e-8, 7e-7, 2e-6.
        assert!((single.loss / double.loss - 1.0).abs() < 2e-7, "{} {}", single.loss, double.loss);
        for i in 0..50 {
            assert!((single.d_mean[i] - double.d_mean[i]).abs() < 1e-5);
            for j in 0..=i {
                assert!((single.g[(i, j)] - double.g[(i, j)]).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn means_that_are_not_finite_are_an_error() {
    let mut laplace = Laplace::<f64>::with_size(1, 1);
    let (cov, mut g) = (Mat::from_fn(1, 1, |_, _| 1.0), Mat::zeros(1, 1));
    for mean in [f64::NAN, f64::INFINITY] {
        laplace.set_covariance(cov.as_ref());
        let result = laplace.evaluate(&[mean], &[-1.0], None, g.as_mut());
        assert!(matches!(result, Err(Error::NotFinite { .. })));
    }
}
