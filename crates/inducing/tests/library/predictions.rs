//! Rows are predicted each for itself.

use crate::fixture::{encoded, linear, model, predict, reordered, tiny};
use inducing::Model;
use inducing::dataset::Inputs;
use inducing::model::RegressionBatch;

/// f32 features may be summed in another order when a row stands elsewhere in its block: a few units of the last of
/// seven digits, which the solve with K_zz magnifies.
const TOLERANCE: f64 = 1e-4;

#[track_caller]
fn assert_close(a: &RegressionBatch, b: &RegressionBatch) {
    let pairs = [(&a.mean, &b.mean), (&a.std, &b.std), (&a.std_latent, &b.std_latent)];
    for (a, b) in pairs.into_iter().flat_map(|(a, b)| a.iter().zip(b)) {
        assert!((a - b).abs() <= TOLERANCE * a.abs().max(0.1), "{a} {b}");
    }
}

fn chosen(prediction: &RegressionBatch, rows: &[usize]) -> RegressionBatch {
    let pick = |values: &[f64]| rows.iter().map(|&row| values[row]).collect();
    RegressionBatch {
        mean: pick(&prediction.mean),
        std: pick(&prediction.std),
        std_latent: pick(&prediction.std_latent),
        density: rows.iter().map(|&row| prediction.density[row].clone()).collect(),
        familiarity: rows.iter().filter_map(|&row| prediction.familiarity.get(row).copied()).collect(),
    }
}

fn rows(model: &Model, inputs: &Inputs, rows: &[usize]) -> RegressionBatch {
    model.predict_numbers(inputs, rows).expect("a model of numbers")
}

#[test]
fn permuted_rows_have_permuted_predictions() {
    let table = linear(3000, 0); // more than one block
    let model = model(&table, &tiny(&["encoder.members=2"]));
    let x = encoded(&model, &table);
    let order: Vec<usize> = (0..3000).map(|i| (i * 1999 + 7) % 3000).collect(); // 1999 and 3000 are coprime
    let straight = predict(&model, &x);
    assert_close(&predict(&model, &reordered(&x, &order)), &chosen(&straight, &order));
    assert_close(&rows(&model, &x, &order), &chosen(&straight, &order));
}

#[test]
fn a_row_alone_is_predicted_as_among_others() {
    let table = linear(300, 0);
    let model = model(&table, &tiny(&[]));
    let x = encoded(&model, &table);
    let all = predict(&model, &x);
    for row in [0, 1, 150, 299] {
        assert_close(&rows(&model, &x, &[row]), &chosen(&all, &[row]));
    }
    assert_eq!(rows(&model, &x, &[]), chosen(&all, &[]));
}

#[test]
fn a_repeated_prediction_has_the_same_bits() {
    let table = linear(300, 0);
    let model = model(&table, &tiny(&[]));
    let x = encoded(&model, &table);
    assert_eq!(predict(&model, &x), predict(&model, &x));
}

/// Dropout belongs to training; predictions must not know of it.
#[test]
fn the_latent_deviation_is_part_of_the_whole_and_never_more() {
    let table = linear(300, 0);
    for more in [&[][..], &["encoder.dropout=0.5"], &["gp.kernel=matern52"], &["train.recalibrate=false"]] {
        let model = model(&table, &tiny(more));
        let prediction = predict(&model, &encoded(&model, &table));
        for (std, latent) in prediction.std.iter().zip(&prediction.std_latent) {
            assert!(*latent >= 0.0 && latent <= std, "{more:?}: {latent} {std}");
        }
    }
}
