//! Effects of columns: they add up, and a row's are its own.

use crate::fixture::small_members;
use data::{Column, Table};
use inducing::config::ProblemKind;
use inducing::model::TargetUse;
use inducing::{Dataset, Model, Trainer};

/// `y = 3a − 2b` and a column that means nothing, in pseudo-random rows.
fn table(rows: usize) -> Table {
    let value = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 1009) as f64 / 1009.0;
    let column = |f: &dyn Fn(usize) -> f64| Column::Number((0..rows).map(f).collect());
    let columns = vec![
        column(&|i| value(i, 1)),
        column(&|i| value(i * i + 3, 2)),
        column(&|i| value(i * i * i + 5, 3)),
        column(&|i| 3.0 * value(i, 1) - 2.0 * value(i * i + 3, 2)),
    ];
    let names = ["a", "b", "c", "y"].map(String::from);
    Table::new("memory", names.into_iter().zip(columns).collect()).expect("columns of one length")
}

fn model(more: &[&str]) -> Model {
    let config = small_members(ProblemKind::Regression, more);
    Trainer::new(&Dataset::from_table(table(240))).config(config).fit().expect("a model")
}

#[test]
fn effects_add_up_to_differences_of_predictions_and_do_not_depend_on_other_rows() {
    for more in [&["train.blocked_folds=0"][..], &["train.blocked_folds=0", "neighbours.count=0"]] {
        let model = model(more);
        let new =
            model.encode_data(&Dataset::from_table(table(40)), TargetUse::Ignored).expect("the same columns");
        let rows: Vec<usize> = (0..40).collect();
        let effects = model.effects(&new.inputs, &rows).expect("a table");
        let mean = model.predict_numbers(&new.inputs, &rows).expect("numbers").mean;
        let sum = |i: usize| effects.prediction[3 * i..3 * i + 3].iter().sum::<f64>();
        for i in 1..40 {
            // All rows start from the same background, so differences of sums are differences of predictions.
            assert!((sum(i) - sum(0) - (mean[i] - mean[0])).abs() < 1e-9, "{i}");
        }
        if !more.contains(&"neighbours.count=0") {
            let alone = model.effects(&new.inputs, &[7]).expect("a table");
            assert_eq!(alone.prediction[..], effects.prediction[21..24]);
        }
    }
}

#[test]
fn the_effects_of_a_linear_function_are_its_terms() {
    let model = model(&["train.blocked_folds=0"]);
    let new =
        model.encode_data(&Dataset::from_table(table(60)), TargetUse::Ignored).expect("the same columns");
    let effects = model.effects(&new.inputs, &(0..60).collect::<Vec<_>>()).expect("a table");
    let value = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 1009) as f64 / 1009.0;
    for i in 1..60 {
        let difference = |j: usize| effects.prediction[3 * i + j] - effects.prediction[j];
        // The network is not exactly linear.
        assert!((difference(0) - 3.0 * (value(i, 1) - value(0, 1))).abs() < 0.25, "a of row {i}");
        assert!(difference(2).abs() < 0.2, "c of row {i}");
    }
    assert_eq!(effects.of_prediction(0, 0).len(), 3);
}
