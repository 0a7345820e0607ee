//! Identities that hold for every model.

use crate::common::{Problem, kernels, uniform};
use inducing_gp::{Coupling, InducingPoints, Kernel, Posterior};
use proptest::prelude::*;

fn any_kernel() -> impl Strategy<Value = Kernel> {
    (0..4usize, -1.0..1.0, -1.5..1.0).prop_map(|(family, log_scale, log_shape)| {
        kernels()[family].with_log_parameters([log_scale, log_shape])
    })
}

fn posterior(problem: &Problem) -> Posterior<f64> {
    Posterior::new(problem.kernel, problem.inducing.clone(), problem.jitter, 1).expect("well-posed")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Proposition 2 of the paper.
    #[test]
    fn one_more_inducing_point_never_increases_a_variance(
        kernel in any_kernel(), m in 1..90usize, d in 1..5usize, seed: u64
    ) {
        let mut problem = Problem::random(kernel, [8, m + 1, d, 1], seed);
        let more = posterior(&problem).predict(&problem.phi, 8);
        problem.inducing.z.truncate(m * d);
        let fewer = posterior(&problem).predict(&problem.phi, 8);
        for (more, fewer) in more.var.iter().zip(&fewer.var) {
            prop_assert!(*more <= fewer + 1e-9, "{more} > {fewer}"); // rounding of two factorisations
        }
    }

    #[test]
    fn a_variance_lies_between_zero_and_the_prior_s(kernel in any_kernel(), m in 1..40usize, seed: u64) {
        let problem = Problem::random(kernel, [16, m, 3, 1], seed);
        let prior = |phi: &[f64]| match kernel {
            Kernel::Linear { scale, offset } => scale * phi.iter().map(|x| x * x).sum::<f64>() + offset,
            Kernel::Rbf { scale, .. } | Kernel::Matern32 { scale, .. } | Kernel::Matern52 { scale, .. } => scale,
        };
        for (var, phi) in posterior(&problem).predict(&problem.phi, 16).var.iter().zip(problem.phi.chunks(3)) {
            prop_assert!(*var >= 0.0 && *var <= prior(phi) * (1.0 + 1e-12));
        }
    }

    #[test]
    fn the_order_of_inducing_points_does_not_matter(kernel in any_kernel(), seed: u64) {
        let problem = Problem::random(kernel, [5, 70, 2, 2], seed);
        let mut reversed = problem.clone();
        reversed.inducing.z = problem.inducing.z.chunks(2).rev().flatten().copied().collect();
        let (a, b) = (posterior(&problem).predict(&problem.phi, 5), posterior(&reversed).predict(&problem.phi, 5));
        for (x, y) in a.mean.iter().zip(&b.mean).chain(a.var.iter().zip(&b.var)) {
            prop_assert!((x - y).abs() < 1e-8, "{x} {y}");
        }
    }

    /// With one row there is nothing to couple; with many, the loss is the mean of the rows' own.
    #[test]
    fn the_loss_of_independent_rows_is_the_mean_of_their_losses(kernel in any_kernel(), seed: u64) {
        let rows = Problem { coupling: Coupling::Rows, ..Problem::random(kernel, [5, 4, 2, 1], seed) };
        let alone = |i: usize| {
            let mut one = Problem { coupling: Coupling::Batch, ..rows.clone() };
            one.phi = rows.phi[2 * i..2 * i + 2].to_vec();
            one.y = vec![rows.y[i]];
            one.evaluate().0.loss
        };
        let mean = (0..5).map(alone).sum::<f64>() / 5.0;
        prop_assert!((rows.evaluate().0.loss - mean).abs() < 1e-9);
    }

    #[test]
    fn the_loss_of_two_outputs_is_the_sum_of_their_losses(seed: u64) {
        let both = Problem::random(kernels()[0], [6, 5, 3, 2], seed);
        let mut sum = 0.0;
        for output in 0..2 {
            let pick = |x: &[f64]| x.iter().skip(output).step_by(2).copied().collect::<Vec<_>>();
            let mut one = both.clone();
            one.inducing = InducingPoints::new(&both.inducing.z, &pick(&both.inducing.w), &pick(&both.inducing.b));
            one.y = pick(&both.y);
            one.log_sigma = pick(&both.log_sigma);
            sum += one.evaluate().0.loss;
        }
        prop_assert!((both.evaluate().0.loss - sum).abs() < 1e-9);
    }
}

#[test]
fn variance_vanishes_at_inducing_points_and_returns_to_the_prior_far_away() {
    let problem = Problem::random(Kernel::paper(), [1, 12, 3, 1], 1);
    let posterior = Posterior::new(problem.kernel, problem.inducing.clone(), 1e-10, 1).expect("well-posed");
    for var in posterior.predict(&problem.inducing.z, 12).var {
        assert!(var < 1e-7); // the jitter
    }
    assert_eq!(posterior.predict(&[1e3; 3], 1).var, [1.0]);
    assert_eq!(posterior.predict(&[1e3; 3], 1).mean, [0.0]);
}

#[test]
fn whitened_coordinates_give_the_variance_and_the_mean_of_any_pseudo_labels() {
    let (n, m, d, c) = (700, 37, 4, 2); // blocks and strips that are not full
    for kernel in kernels() {
        let problem = Problem::random(kernel, [n, m, d, c], 9);
        let prior = |x: &[f64]| match kernel {
            Kernel::Linear { scale, offset } => scale * x.iter().map(|x| x * x).sum::<f64>() + offset,
            Kernel::Rbf { scale, .. } | Kernel::Matern32 { scale, .. } | Kernel::Matern52 { scale, .. } => {
                scale
            }
        };
        let with_labels = |r: &[f64]| {
            let inducing = problem.inducing.clone();
            Posterior::with_pseudo_labels(kernel, inducing, r, problem.jitter, 2).expect("well-posed")
        };
        let alone = posterior(&problem);
        let a = alone.whiten(&problem.phi, n); // [N, M]
        assert_eq!(a, with_labels(&vec![0.0; m * c]).whiten(&problem.phi, n)); // on two threads
        assert_eq!(a[m..2 * m], alone.whiten(&problem.phi[d..2 * d], 1)[..]); // without the others
        // Pseudo-labels K_zz q are moved by L v with v = L⁻¹K_zz q, which are the whitened inducing points times q.
        let z: Vec<&[f64]> = problem.inducing.z.chunks(d).collect();
        let k_zz = |i: usize, j: usize| kernel.similarity(z[i], z[j]) * (prior(z[i]) * prior(z[j])).sqrt();
        let q: Vec<f64> = (0..m * c).map(|i| (1.3 * i as f64).sin()).collect(); // [M, C]
        let times_q = |left: &dyn Fn(usize) -> f64, output: usize| {
            (0..m).map(|j| left(j) * q[j * c + output]).sum::<f64>()
        };
        let r: Vec<f64> = (0..m * c).map(|i| times_q(&|j| k_zz(i / c, j), i % c)).collect();
        let whitened_z = alone.whiten(&problem.inducing.z, m); // [M, M]
        let v: Vec<f64> = (0..m * c).map(|i| times_q(&|j| whitened_z[j * m + i / c], i % c)).collect();
        let latent = with_labels(&r).predict(&problem.phi, n);
        for (i, a) in a.chunks(m).enumerate() {
            let var = prior(&problem.phi[i * d..][..d]) - a.iter().map(|a| a * a).sum::<f64>();
            assert!((var.max(0.0) - latent.var[i]).abs() < 1e-12, "{kernel:?}: {var} {}", latent.var[i]);
            for output in 0..c {
                let mean = (0..m).map(|j| a[j] * v[j * c + output]).sum::<f64>();
                // Rounding, times a condition number of K_zz of some 1e6.
                let expected = latent.mean[i * c + output];
                assert!((mean - expected).abs() < 1e-8, "{kernel:?}: {mean} {expected}");
            }
        }
    }
}

#[test]
fn repeated_inducing_points_climb_the_jitter_ladder_instead_of_failing() {
    let mut problem = Problem::random(Kernel::paper(), [4, 30, 2, 1], 2);
    problem.inducing.z = problem.inducing.z[..2].repeat(30);
    problem.jitter = 0.0;
    let (value, _) = problem.evaluate();
    assert!(value.jitter > 0.0 && value.loss.is_finite());
}

#[test]
fn a_feature_that_is_not_finite_is_an_error_and_not_a_number() {
    let mut problem = Problem::random(Kernel::paper(), [4, 5, 2, 1], 2);
    problem.inducing.z[3] = f64::NAN;
    assert!(Posterior::new(problem.kernel, problem.inducing, 1e-4, 1).is_err());
}

#[test]
fn prediction_does_not_depend_on_threads_or_on_what_else_is_in_the_block() {
    let problem = Problem::random(kernels()[2], [700, 65, 4, 2], 9);
    let alone = posterior(&problem);
    let shared =
        Posterior::new(problem.kernel, problem.inducing.clone(), problem.jitter, 2).expect("well-posed");
    let all = alone.predict(&problem.phi, 700);
    assert_eq!(all, shared.predict(&problem.phi, 700));
    let mut next = uniform(4);
    for _ in 0..20 {
        let row = (next() * 700.0) as usize;
        let one = alone.predict(&problem.phi[row * 4..row * 4 + 4], 1);
        assert!((one.var[0] - all.var[row]).abs() < 1e-12);
        assert!((one.mean[0] - all.mean[row * 2]).abs() < 1e-12);
    }
}
