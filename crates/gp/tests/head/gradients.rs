//! Every gradient of the objective against central differences in f64.

use crate::common::{Problem, assert_gradient, kernels, uniform};
use inducing_gp::Coupling;

/// The bar: relative error ≤ 1e-6; fourth-order differences leave room below it.
const TOLERANCE: f64 = 1e-6;

fn check(problem: &Problem) {
    check_to(problem, TOLERANCE);
}

/// Every gradient against central differences, to this relative error.
pub(crate) fn check_to(problem: &Problem, tolerance: f64) {
    let (_, gradient) = problem.evaluate();
    let moved = |change: &dyn Fn(&mut Problem)| {
        let mut moved = problem.clone();
        change(&mut moved);
        moved.evaluate().0.loss
    };
    assert_gradient("phi", &gradient.phi, tolerance, |i, h| moved(&|p| p.phi[i] += h));
    assert_gradient("z", &gradient.z, tolerance, |i, h| moved(&|p| p.inducing.z[i] += h));
    assert_gradient("w", &gradient.w, tolerance, |i, h| moved(&|p| p.inducing.w[i] += h));
    assert_gradient("b", &gradient.b, tolerance, |i, h| moved(&|p| p.inducing.b[i] += h));
    assert_gradient("log σ", &gradient.log_sigma, tolerance, |i, h| moved(&|p| p.log_sigma[i] += h));
    assert_gradient("log kernel", &gradient.log_kernel, tolerance, |i, h| {
        moved(&|p| {
            let mut log = p.kernel.log_parameters();
            log[i] += h;
            p.kernel = p.kernel.with_log_parameters(log);
        })
    });
}

#[test]
fn every_parameter_s_gradient_equals_central_differences_for_every_kernel() {
    for (seed, kernel) in kernels().into_iter().enumerate() {
        for shape in [[6, 5, 3, 1], [4, 9, 2, 2], [1, 1, 1, 1], [3, 2, 1, 3]] {
            check(&Problem::random(kernel, shape, seed as u64));
        }
    }
}

#[test]
fn gradients_of_independent_rows_equal_central_differences_for_every_kernel() {
    for (seed, kernel) in kernels().into_iter().enumerate() {
        for shape in [[6, 5, 3, 1], [4, 9, 2, 2]] {
            let coupling = Coupling::Rows;
            check(&Problem { coupling, ..Problem::random(kernel, shape, 100 + seed as u64) });
        }
    }
}

#[test]
fn gradients_hold_across_the_blocks_of_the_factorisation() {
    // 70 inducing points and 67 rows: several diagonal blocks in both Cholesky factors, the last not of full size.
    let problem = Problem::random(kernels()[0], [67, 70, 2, 1], 11);
    let (_, gradient) = problem.evaluate();
    let moved = |i: usize, h: f64| {
        let mut moved = problem.clone();
        moved.inducing.z[i] += h;
        moved.evaluate().0.loss
    };
    assert_gradient("z", &gradient.z, TOLERANCE, moved);
}

#[test]
fn the_slope_in_a_random_direction_holds_where_long_sums_are_cut() {
    // 540 inducing points and 530 rows: more than are summed in registers at a time.
    for (seed, kernel) in kernels().into_iter().enumerate() {
        let problem = Problem::random(kernel, [530, 540, 3, 2], 40 + seed as u64);
        let mut next = uniform(seed as u64);
        let mut direction = |count: usize| (0..count).map(|_| next() - 0.5).collect::<Vec<f64>>();
        let [phi, z, w] =
            [&problem.phi, &problem.inducing.z, &problem.inducing.w].map(|x| direction(x.len()));
        let moved = |_, h: f64| {
            let mut moved = problem.clone();
            let parts = [(&mut moved.phi, &phi), (&mut moved.inducing.z, &z), (&mut moved.inducing.w, &w)];
            for (x, direction) in parts {
                x.iter_mut().zip(direction).for_each(|(x, d)| *x += h * d);
            }
            moved.evaluate().0.loss
        };
        let (_, gradient) = problem.evaluate();
        let parts = [(&gradient.phi, &phi), (&gradient.z, &z), (&gradient.w, &w)];
        let dot = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert_gradient("a direction", &[parts.into_iter().map(dot).sum()], TOLERANCE, moved);
    }
}

#[test]
fn a_batch_whose_rows_coincide_with_each_other_and_with_inducing_points_has_the_right_gradient() {
    let mut problem = Problem::random(kernels()[0], [4, 4, 2, 1], 5);
    problem.phi.copy_from_slice(&problem.inducing.z.clone());
    problem.phi.copy_within(0..2, 2);
    check(&problem);
}

#[test]
fn single_precision_gradients_follow_double_precision_with_jitter_1e_3() {
    let mut problem = Problem::random(kernels()[0], [32, 40, 8, 2], 3);
    problem.jitter = 1e-3;
    let (_, double) = problem.evaluate();
    let (_, single) = problem.evaluate_in::<f32>(1);
    let largest = double.z.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
    for (d, s) in double.z.iter().zip(&single.z) {
        // f32 has 1.2e-7, amplified by the condition number of K_zz (about 1e4 here).
        assert!((d - f64::from(*s)).abs() < 5e-3 * largest, "{d} {s}");
    }
}

/// Two evaluations at once, each for two threads, in pools of one thread, of two and of three.
#[test]
fn threads_that_wait_for_one_another_come_to_an_end() {
    let problem = Problem::random(kernels()[0], [128, 200, 16, 1], 8);
    let expected = problem.evaluate_in::<f64>(1);
    for threads in 1..4 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let evaluate = || (0..3).map(|_| problem.evaluate_in::<f64>(2)).collect::<Vec<_>>();
        let (a, b) = pool.install(|| rayon::join(evaluate, evaluate));
        assert!(a.iter().chain(&b).all(|found| *found == expected), "{threads} threads");
    }
}

#[test]
fn two_threads_give_the_same_bytes_as_one() {
    let problem = Problem::random(kernels()[0], [128, 200, 16, 1], 8);
    assert_eq!(problem.evaluate_in::<f64>(1), problem.evaluate_in::<f64>(2));
}
