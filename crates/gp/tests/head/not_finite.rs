//! What is not finite never lowers a variance: a broken feature is no knowledge.

use crate::common::{Problem, kernels};
use inducing_gp::{Coupling, Kernel, Link, Posterior, Real};

const D: usize = 3;

/// Kinds of broken rows, and a huge one whose square overflows in single precision.
fn broken() -> Vec<[f64; D]> {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    vec![[nan; D], [0.1, nan, 0.2], [inf, 0.0, 0.0], [-inf, inf, 0.3], [0.0, -inf, nan], [inf; D], [-inf; D]]
}

fn prior<T: Real>(kernel: &Kernel) -> T {
    match *kernel {
        Kernel::Rbf { scale, .. } | Kernel::Matern32 { scale, .. } | Kernel::Matern52 { scale, .. } => {
            T::from_f64(scale)
        }
        Kernel::Linear { .. } => T::from_f64(f64::INFINITY),
    }
}

fn posterior<T: Real>(problem: &Problem, threads: usize) -> Posterior<T> {
    let points = &problem.inducing;
    let inducing = inducing_gp::InducingPoints::new(&cast(&points.z), &cast(&points.w), &cast(&points.b));
    Posterior::new(problem.kernel, inducing, 1e-3, threads).expect("well-posed")
}

fn cast<T: Real>(x: &[f64]) -> Vec<T> {
    x.iter().map(|&x| T::from_f64(x)).collect()
}

/// Broken rows among good ones, near a block's end too.
fn check<T: Real>() {
    for (seed, kernel) in kernels().into_iter().enumerate() {
        for m in [1, 7, 40] {
            let problem = Problem::random(kernel, [300, m, D, 2], seed as u64);
            let posterior = posterior::<T>(&problem, 2);
            let (mut phi, good) = (problem.phi.clone(), posterior.predict(&cast(&problem.phi), 300));
            let at = [0, 5, 6, 63, 255, 256, 299];
            for (row, broken) in at.into_iter().zip(broken()) {
                phi[row * D..(row + 1) * D].copy_from_slice(&broken);
            }
            let found = posterior.predict(&cast(&phi), 300);
            for row in 0..300 {
                let (mean, var) = (&found.mean[2 * row..2 * row + 2], found.var[row]);
                if at.contains(&row) {
                    assert!(
                        mean.iter().all(|mean| mean.to_f64().is_nan()),
                        "{kernel:?}, row {row}: {mean:?}"
                    );
                    assert_eq!(var.to_f64(), prior::<T>(&kernel).to_f64(), "{kernel:?}, row {row}");
                } else {
                    assert_eq!(mean, &good.mean[2 * row..2 * row + 2], "{kernel:?}, row {row}");
                    assert_eq!(var.to_f64(), good.var[row].to_f64(), "{kernel:?}, row {row}");
                }
            }
        }
    }
}

#[test]
fn a_row_that_is_not_finite_has_the_prior_variance_and_leaves_the_others_alone_in_f32() {
    check::<f32>();
}

#[test]
fn a_row_that_is_not_finite_has_the_prior_variance_and_leaves_the_others_alone_in_f64() {
    check::<f64>();
}

/// Finite numbers whose squares are not: far away, not near.
#[test]
fn a_row_too_large_for_its_squares_has_the_prior_variance() {
    for kernel in kernels() {
        let problem = Problem::random(kernel, [1, 40, D, 1], 3);
        let single = posterior::<f32>(&problem, 1);
        let double = posterior::<f64>(&problem, 1);
        for sign in [1.0, -1.0] {
            let var = single.predict(&[sign as f32 * 1e30; D], 1).var[0];
            assert_eq!(var, prior::<f32>(&kernel), "{kernel:?}");
            let var = double.predict(&[sign * 1e300; D], 1).var[0];
            assert_eq!(var, prior::<f64>(&kernel), "{kernel:?}");
        }
    }
}

#[test]
fn a_batch_with_a_row_that_is_not_finite_is_an_error_for_every_kernel_and_likelihood() {
    for kernel in kernels() {
        for broken in broken() {
            for coupling in [Coupling::Batch, Coupling::Rows] {
                let mut regression = Problem { coupling, ..Problem::random(kernel, [6, 5, D, 1], 1) };
                regression.phi[..D].copy_from_slice(&broken);
                assert!(regression.try_evaluate().is_err(), "{kernel:?}, {broken:?}, {coupling:?}");
                for link in [Link::Probit, Link::Logit] {
                    let labelled = Some(Vec::new());
                    let y = vec![1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
                    let classes = Problem { labelled, link, y, ..regression.clone() };
                    assert!(
                        classes.try_evaluate().is_err(),
                        "{kernel:?}, {broken:?}, {coupling:?}, {link:?}"
                    );
                }
            }
        }
    }
}
