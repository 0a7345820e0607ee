//! Rows that count more than others, and rows that do not count.

use crate::fixture::{noise, small_members};
use data::{Column, Table};
use inducing::config::ProblemKind;
use inducing::{Dataset, Model, Trainer};

/// `x`, classes that say nothing of it, and a weight for each class.
fn mixed(rows: usize, weights: [f64; 3]) -> Table {
    let class = |i: usize| i % 3;
    let codes = (0..rows).map(|i| Some(class(i) as u32)).collect();
    let columns = vec![
        ("x".into(), Column::Number((0..rows).map(|i| noise(i as u64)).collect())),
        ("w".into(), Column::Number((0..rows).map(|i| weights[class(i)]).collect())),
        ("class".into(), Column::Category { codes, levels: ["a", "b", "c"].map(String::from).into() }),
    ];
    Table::new("t", columns).expect("equal lengths")
}

fn trained(table: &Table) -> Model {
    let mut config = small_members(ProblemKind::Classification, &["data.weight=w", "neighbours.count=8"]);
    config.data.target = vec!["class".into()];
    let data = Dataset::from_table(table.clone()).target("class").expect("there");
    Trainer::new(&data).config(config).fit().expect("trains")
}

#[test]
fn classes_of_next_to_no_weight_are_not_predicted_whatever_the_neighbours_say() {
    let table = mixed(120, [1000.0, 1e-4, 1e-4]);
    let predictions = trained(&table).predict(&Dataset::from_table(table)).expect("predicts");
    let p = &predictions.as_classification().expect("classes").p;
    let least = p.chunks_exact(3).map(|p| p[0]).fold(1.0, f64::min);
    assert!(least > 0.9, "{least}");
}

#[test]
fn a_class_of_rows_without_weight_is_as_if_it_were_not_there() {
    let model = trained(&mixed(120, [0.0, 1.0, 1.0]));
    assert_eq!(model.header().schema.classes().expect("classes"), ["b", "c"]);
}

/// `x` that says nothing, and a target of 10 in one half of the rows and −10 in the other, which weighs a tenth.
fn halves(rows: usize) -> Table {
    let sign = |i: usize| if noise(7_000 + i as u64) < 0.5 { 1.0 } else { -1.0 };
    let columns = vec![
        ("x".into(), Column::Number((0..rows).map(|i| noise(i as u64)).collect())),
        ("w".into(), Column::Number((0..rows).map(|i| if sign(i) > 0.0 { 1.0 } else { 0.1 }).collect())),
        ("y".into(), Column::Number((0..rows).map(|i| 10.0 * sign(i) + noise(90_000 + i as u64)).collect())),
    ];
    Table::new("t", columns).expect("equal lengths")
}

#[test]
fn numbers_are_predicted_as_if_rows_stood_there_as_often_as_they_weigh() {
    let table = halves(300);
    for (kind, more) in [
        ("ensemble", &["neighbours.count=8"][..]),
        ("single", &["train.crossfit_folds=0", "neighbours.count=0"]),
    ] {
        let all = [&["data.weight=w", "data.target_transform=none"][..], more].concat();
        let mut config = small_members(ProblemKind::Regression, &all);
        config.data.target = vec!["y".into()];
        let data = Dataset::from_table(table.clone()).target("y").expect("there");
        let model = Trainer::new(&data).config(config).fit().expect("trains");
        let predictions = model.predict(&data).expect("predicts");
        let mean = predictions.as_regression().expect("numbers").mean.iter().sum::<f64>() / 300.0;
        // (10 · 1 − 10 · .1)/1.1 = 8.2, and .5 of noise.
        assert!((mean - 8.7).abs() < 1.2, "{kind}: {mean}");
    }
}
