//! Gradients beside central differences of the plain loops.

use super::*;

/// Compares with differences of the plain loops, for some `most` of the parameters.
fn check_gradient(shape: &TextShape, mode: Mode, most: usize) {
    let (encoder, theta) = generic(shape, 6);
    let inputs = inputs(shape);
    let c: Vec<f32> = (0..ROWS.len() * shape.features).map(|i| (i as f32 * 0.9 + 0.4).cos()).collect();
    let analytic = gradient(&encoder, &theta, (&inputs, &ROWS), mode, &c);
    let mut theta: Vec<f64> = theta.into_iter().map(f64::from).collect();
    let scalar = |theta: &[f64]| {
        let phi = oracle(shape, theta, &inputs, mode);
        phi.iter().zip(&c).map(|(phi, &c)| phi * f64::from(c)).sum::<f64>()
    };
    let largest = analytic.iter().fold(0.0_f64, |largest, &g| largest.max(f64::from(g).abs()));
    for index in (0..theta.len()).step_by(theta.len().div_ceil(most)) {
        // In f64 rounding is 1e-14/1e-6, and a kink within ±1e-6 hardly ever happens.
        let (at, h) = (theta[index], 1e-6);
        theta[index] = at + h;
        let up = scalar(&theta);
        theta[index] = at - h;
        let numeric = (up - scalar(&theta)) / (2.0 * h);
        theta[index] = at;
        let difference = (numeric - f64::from(analytic[index])).abs();
        // Our own f32: 1e-5 of the largest sum of terms. Written so that a gradient that is no number fails.
        assert!(
            difference < 3e-5 * largest + 1e-4 * numeric.abs(),
            "{shape:?}: parameter {index}: {numeric} and {}, largest {largest}",
            analytic[index]
        );
    }
}

/// One and two members, one and two texts, with and without other columns, all poolings, 0 to 2 blocks.
fn small_shapes() -> Vec<TextShape> {
    let poolings = [Pooling::Mean, Pooling::Max, Pooling::MeanMax];
    let mut shapes = Vec::new();
    for (members, towers, with_table) in [
        (1, 1, false),
        (1, 1, true),
        (1, 2, false),
        (1, 2, true),
        (2, 1, false),
        (2, 1, true),
        (2, 2, false),
        (2, 2, true),
    ] {
        let small = |place: usize| TowerShape {
            vocabulary: 5,
            length: 4,
            feed_forward: 3,
            ..tower(4, 2, place % 3, poolings[(place / 2) % 3])
        };
        shapes.push(TextShape {
            towers: (0..towers).map(|tower| small(shapes.len() + 2 * tower)).collect(),
            beside: with_table.then(|| beside(members)),
            features: 3 * members,
            members,
            dropout: 0.0,
            word_dropout: 0.0,
        });
    }
    shapes
}

#[test]
fn every_gradient_of_small_networks_is_that_of_differences_of_the_plain_loops() {
    for shape in small_shapes() {
        check_gradient(&shape, Mode::Predict, usize::MAX);
    }
}

#[test]
fn every_gradient_under_dropout_is_that_of_differences_of_the_same_draw() {
    for shape in small_shapes() {
        let shape = TextShape { dropout: 0.3, word_dropout: 0.2, ..shape };
        check_gradient(&shape, Mode::Train { seed: 9 }, usize::MAX);
    }
}

#[test]
fn gradients_of_wide_networks_and_long_texts_are_those_of_differences_of_the_plain_loops() {
    for shape in shapes() {
        check_gradient(&shape, Mode::Predict, 150);
        let shape = TextShape { dropout: 0.3, word_dropout: 0.2, ..shape };
        check_gradient(&shape, Mode::Train { seed: 9 }, 40);
    }
}

#[test]
fn members_do_not_see_each_other() {
    let (encoder, theta) = generic(&tiny(), 5);
    let inputs = inputs(&tiny());
    // Weights on the first member's features alone.
    let c: Vec<f32> = (0..ROWS.len() * 6).map(|i| if i % 6 < 3 { 1.0 } else { 0.0 }).collect();
    let gradient = gradient(&encoder, &theta, (&inputs, &ROWS), Mode::Predict, &c);
    for slot in encoder.layout().slots() {
        let mine = slot.param.of(&gradient);
        let other = ["towers.2", "towers.3"].iter().any(|tower| slot.name.starts_with(tower));
        if other {
            assert!(mine.iter().all(|&g| g == 0.0), "{}", slot.name);
        } else if slot.name.starts_with("towers") {
            assert!(mine.iter().any(|&g| g != 0.0), "{}", slot.name);
        } else {
            let (first, second) = mine.split_at(mine.len() / 2);
            assert!(first.iter().any(|&g| g != 0.0) && second.iter().all(|&g| g == 0.0), "{}", slot.name);
        }
    }
}
