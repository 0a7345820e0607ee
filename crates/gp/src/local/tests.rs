use super::*;
use proptest::prelude::*;

const FAMILIES: [Matern; 3] = [Matern::Half, Matern::ThreeHalves, Matern::FiveHalves];

fn process(family: Matern, groups: Vec<usize>) -> LocalProcess {
    let lengths = groups.iter().max().map_or(0, |last| last + 1);
    let log_lengths = (0..lengths).map(|i| 0.3 - 0.2 * i as f64).collect();
    LocalProcess { family, groups, log_lengths, log_scale: 0.4, log_noise: -2.5 }
}

fn rows(k: usize, d: usize) -> (Vec<f64>, Vec<f64>) {
    let differences = (0..k * d).map(|i| (1.7 * i as f64 + 0.3).sin()).collect();
    (differences, (0..k).map(|i| (0.9 * i as f64).cos()).collect())
}

#[test]
fn the_gradient_equals_central_differences() {
    for family in FAMILIES {
        for (k, groups) in [(1, vec![0]), (5, vec![0, 1, 2]), (40, vec![0, 1, 0, 2])] {
            let process = process(family, groups);
            let (differences, labels) = rows(k, process.groups.len());
            let value = |process: &LocalProcess| {
                let mut to = LocalGradient::default();
                process
                    .add_log_density(&differences, &labels, 0.7, &mut LocalSpace::default(), &mut to)
                    .expect("finite");
                to
            };
            let gradient = value(&process);
            let mut by: Vec<f64> = gradient.log_lengths.clone();
            by.extend([gradient.log_scale, gradient.log_noise]);
            for (i, by) in by.iter().enumerate() {
                let moved = |h: f64| {
                    let mut process = process.clone();
                    let lengths = process.log_lengths.len();
                    match i {
                        i if i < lengths => process.log_lengths[i] += h,
                        i if i == lengths => process.log_scale += h,
                        _ => process.log_noise += h,
                    }
                    value(&process).value
                };
                let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((numeric - by).abs() < 1e-6 * (1.0 + by.abs()), "{family:?} {k} {i}: {numeric} {by}");
            }
        }
    }
}

#[test]
fn neighbours_on_one_spot_are_one_with_less_noise() {
    let process = process(Matern::ThreeHalves, vec![0, 0]);
    let once = LocalProcess { log_noise: process.log_noise - 4f64.ln(), ..process.clone() };
    let space = &mut LocalSpace::default();
    let (mean, var) = process.condition(&[0.5; 8], &[1.0, 2.0, 3.0, 4.0], space).expect("finite");
    let (expected, expected_var) = once.condition(&[0.5; 2], &[2.5], space).expect("finite");
    assert!((mean - expected).abs() < 1e-9 && (var - expected_var).abs() < 1e-9);
}

#[test]
fn without_neighbours_or_far_from_them_it_is_the_prior() {
    let process = process(Matern::Half, vec![0]);
    let space = &mut LocalSpace::default();
    let prior = (0.0, process.log_scale.exp());
    assert_eq!(process.condition(&[], &[], space), Some(prior));
    let (mean, var) = process.condition(&[1e9], &[3.0], space).expect("finite");
    assert!(mean.abs() < 1e-12 && (var - prior.1).abs() < 1e-12);
    assert_eq!(process.condition(&[f64::NAN], &[3.0], space), None);
    assert_eq!(process.condition(&[f64::INFINITY], &[3.0], space), None);
}

proptest! {
    /// Proposition 2 of the paper: one more row never raises a variance.
    #[test]
    fn another_neighbour_never_raises_a_variance(
        differences in proptest::collection::vec(-3.0..3.0_f64, 2..24),
        family in proptest::sample::select(&FAMILIES[..]),
    ) {
        let process = process(family, vec![0]);
        let space = &mut LocalSpace::default();
        let mut last = f64::INFINITY;
        for k in 1..=differences.len() {
            let (_, var) = process.condition(&differences[..k], &vec![0.0; k], space).expect("finite");
            prop_assert!(var <= last + 1e-9);
            last = var;
        }
    }
}
