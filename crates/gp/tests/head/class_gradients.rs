//! The likelihoods of classes through the whole head: every gradient against central differences, and what must not change it.

use crate::common::{Labels, Problem, kernels};
use crate::gradients::check_to;
use inducing_gp::{Coupling, InducingPoints, Kernel, Link, Objective};
use proptest::prelude::*;

/// The bar; what is left are fourth-order differences of a loss whose mode is known to 1e-9.
const TOLERANCE: f64 = 1e-5;

/// For two classes and for three; a batch of several strips, ragged at the end.
const SHAPES: [[usize; 4]; 2] = [[9, 5, 2, 1], [10, 6, 3, 3]];

/// What a batch can be judged by: Laplace's approximation is made for the probit alone.
const WAYS: [(Link, Coupling); 3] =
    [(Link::Probit, Coupling::Batch), (Link::Probit, Coupling::Rows), (Link::Logit, Coupling::Rows)];

#[track_caller]
fn check_all(kernels: &[Kernel], (link, coupling): (Link, Coupling)) {
    for (seed, &kernel) in kernels.iter().enumerate() {
        for shape in SHAPES {
            for labels in Labels::ALL {
                let problem = Problem::of_classes(kernel, shape, labels, 40 + seed as u64);
                check_to(&Problem { link, coupling, ..problem }, TOLERANCE);
            }
        }
    }
}

#[test]
fn gradients_of_a_coupled_batch_equal_central_differences_for_every_kernel_and_kind_of_labels() {
    check_all(&kernels(), (Link::Probit, Coupling::Batch));
}

#[test]
fn gradients_of_independent_rows_equal_central_differences_for_every_kernel_and_kind_of_labels() {
    check_all(&kernels(), (Link::Probit, Coupling::Rows));
    check_all(&kernels(), (Link::Logit, Coupling::Rows));
}

/// Latent functions of up to 20: the likelihood is a step there, and the mode far from the prior mean.
#[test]
fn gradients_hold_under_a_wide_prior() {
    let wide = [Kernel::Rbf { scale: 40.0, gamma: 0.7 }, Kernel::Matern52 { scale: 40.0, gamma: 0.7 }];
    WAYS.into_iter().for_each(|way| check_all(&wide, way));
}

#[test]
fn a_batch_on_its_inducing_points_has_the_right_gradient() {
    for (link, coupling) in WAYS {
        let mut problem = Problem::of_classes(kernels()[0], [6, 6, 2, 1], Labels::Easy, 3);
        problem.phi.copy_from_slice(&problem.inducing.z.clone());
        check_to(&Problem { link, coupling, ..problem }, TOLERANCE);
    }
}

#[test]
fn equal_weights_of_one_are_no_weights() {
    for (link, coupling) in WAYS {
        let problem = Problem::of_classes(kernels()[1], [10, 6, 3, 3], Labels::Easy, 7);
        let ones = Problem { labelled: Some(vec![1.0; 10]), link, coupling, ..problem };
        let none = Problem { labelled: Some(Vec::new()), ..ones.clone() };
        assert_eq!(ones.evaluate(), none.evaluate());
    }
}

/// A row of weight 2 counts as two rows: exactly so where rows are independent.
#[test]
fn a_row_of_weight_two_counts_as_two_rows() {
    for link in [Link::Probit, Link::Logit] {
        let problem = Problem::of_classes(kernels()[0], [6, 5, 2, 3], Labels::Easy, 9);
        let mut once = Problem { link, coupling: Coupling::Rows, ..problem };
        let mut twice = once.clone();
        once.labelled = Some(vec![2.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        twice.labelled = Some(Vec::new());
        twice.phi.extend_from_within(..2);
        twice.y.extend_from_within(..3);
        let (once, twice) = (once.evaluate(), twice.evaluate());
        // Sums of six and of seven, each divided by its number; what is left is rounding.
        assert!((6.0 * once.0.loss - 7.0 * twice.0.loss).abs() < 1e-12);
        for (a, b) in once.1.z.iter().zip(&twice.1.z) {
            assert!((6.0 * a - 7.0 * b).abs() < 1e-12, "{a} {b}");
        }
    }
}

#[test]
fn two_threads_give_the_same_bytes_as_one() {
    for (link, coupling) in WAYS {
        for (outputs, labels) in [(1, Labels::Separable), (3, Labels::Easy), (3, Labels::Contradictory)] {
            let problem = Problem::of_classes(kernels()[0], [128, 200, 16, outputs], labels, 8);
            let problem = Problem { link, coupling, ..problem };
            for threads in [2, 3] {
                assert_eq!(problem.evaluate_in::<f64>(1), problem.evaluate_in::<f64>(threads), "{labels:?}");
            }
        }
    }
}

/// No batch may remember the one before it, or a run that goes on from a checkpoint would arrive elsewhere.
#[test]
fn a_work_space_that_has_seen_other_batches_gives_the_same_bytes() {
    for (link, coupling) in WAYS {
        let of = |labels, seed| {
            let problem = Problem::of_classes(kernels()[2], [40, 30, 3, 3], labels, seed);
            Problem { link, coupling, ..problem }
        };
        let (first, second) = (of(Labels::Contradictory, 1), of(Labels::Separable, 2));
        let mut objective = Objective::<f64>::new(40, &first.kernel, &first.inducing, 1);
        first.evaluate_with(&mut objective, &first.inducing);
        let value = second.evaluate_with(&mut objective, &second.inducing);
        assert_eq!((value, objective.gradient().clone()), second.evaluate());
    }
}

#[test]
fn single_precision_gradients_follow_double_precision_with_jitter_1e_3() {
    for (link, coupling) in WAYS {
        let problem = Problem::of_classes(kernels()[0], [32, 40, 8, 3], Labels::Easy, 3);
        let problem = Problem { link, coupling, jitter: 1e-3, ..problem };
        let (value, double) = problem.evaluate();
        let (single_value, single) = problem.evaluate_in::<f32>(1);
        let largest = double.z.iter().fold(0.0_f64, |a, g| a.max(g.abs()));
        assert!((value.loss - single_value.loss).abs() < 1e-3 * value.loss);
        for (d, s) in double.z.iter().zip(&single.z) {
            // f32 has 1.2e-7, amplified by the condition number of K_zz (about 1e4 here).
            assert!((d - f64::from(*s)).abs() < 5e-3 * largest, "{d} {s}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// One of the bars: from zero, on every batch, with prior means and deviations of up to 50.
    #[test]
    fn newton_needs_at_most_twenty_steps(
        family in 0..4usize, log_scale in -3.0..7.8_f64, n in 1..60usize, kind in 0..3usize, reach in 0.1..50.0_f64, seed: u64
    ) {
        let kernel = kernels()[family].with_log_parameters([log_scale, -0.5]);
        let mut problem = Problem::of_classes(kernel, [n, 8, 2, 1], Labels::ALL[kind], seed);
        problem.inducing = InducingPoints::new(
            &problem.inducing.z,
            &problem.inducing.w.iter().map(|w| reach * w).collect::<Vec<_>>(),
            &problem.inducing.b,
        );
        let (value, gradient) = problem.evaluate();
        prop_assert!(value.newton_steps <= 20, "{} steps", value.newton_steps);
        prop_assert!(value.loss.is_finite() && value.loss >= 0.0, "{}", value.loss);
        prop_assert!(gradient.z.iter().chain(&gradient.phi).all(|g| g.is_finite()));
    }

    /// One row has nothing to be coupled with; Laplace's approximation then differs from the integral by what the
    /// oracle's table says for a variance of up to 1.5 (0.02).
    #[test]
    fn one_row_alone_has_nearly_the_loss_of_independent_rows(family in 0..4usize, seed: u64) {
        let batch = Problem::of_classes(kernels()[family], [1, 5, 2, 1], Labels::Easy, seed);
        let batch = Problem { labelled: Some(Vec::new()), ..batch };
        let rows = Problem { coupling: Coupling::Rows, ..batch.clone() };
        let (batch, rows) = (batch.evaluate().0.loss, rows.evaluate().0.loss);
        prop_assert!((batch - rows).abs() < 0.02, "{batch} {rows}");
    }
}
