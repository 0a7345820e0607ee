//! Away from the data: absent cells, rows that join later, features of single networks.

use crate::fixture::{
    bytes, classes, encoded, model, noise, normal, predict, predict_classes, small_members, stripes, table,
};
use data::Column;
use inducing::config::ProblemKind;
use inducing::model::{Score, TargetUse};
use inducing::{Dataset, Model, Trainer};

/// `y = 3a + b/2 + noise`, with gaps in `b` where asked for.
fn sums(rows: usize, seed: u64, gaps: bool) -> data::Table {
    let column = |k: u64| (0..rows as u64).map(|i| normal(seed * 100_000 + 3 * i + k)).collect::<Vec<_>>();
    let (a, b, e) = (column(0), column(1), column(2));
    let y = (0..rows).map(|i| 3.0 * a[i] + 0.5 * b[i] + 0.1 * e[i]).collect();
    let b = b.into_iter().enumerate().map(|(i, b)| if gaps && i % 3 == 0 { f64::NAN } else { b }).collect();
    table([("a", a), ("b", b), ("y", y)])
}

fn without(table: &data::Table, column: &str) -> data::Table {
    let columns = table.names().iter().zip(table.columns()).map(|(name, values)| match values {
        Column::Number(values) if name == column => {
            (name.clone(), Column::Number(vec![f64::NAN; values.len()]))
        }
        values => (name.clone(), values.clone()),
    });
    data::Table::new("memory", columns.collect()).expect("distinct names and equal lengths")
}

fn y_of(table: &data::Table) -> Vec<f64> {
    let Column::Number(y) = &table.columns()[table.columns().len() - 1] else { panic!("numbers") };
    y.clone()
}

#[test]
fn a_cell_that_was_never_empty_in_training_widens_by_what_it_is_worth() {
    let model = model(&sums(300, 0, false), &small_members(ProblemKind::Regression, &[]));
    let new = sums(200, 1, false);
    let whole = predict(&model, &encoded(&model, &new));
    let [no_a, no_b] = ["a", "b"].map(|name| predict(&model, &encoded(&model, &without(&new, name))));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // `a` is worth a deviation of 3, `b` of 0.5.
    assert!(mean(&no_a.std) > 2.0 && mean(&no_a.std) < 4.5, "{}", mean(&no_a.std));
    assert!(mean(&no_b.std) > 0.35 && mean(&no_b.std) < 1.2, "{}", mean(&no_b.std));
    assert!(mean(&whole.std) < 0.3, "{}", mean(&whole.std));
    assert!(no_a.familiarity.iter().chain(&no_b.familiarity).all(|&p| p == 0.0));
    for prediction in [no_a, no_b] {
        let Score::Number(scores) = &model.score(&prediction, &y_of(&new)).expect("as many")["y"] else {
            panic!("numbers")
        };
        assert!((0.85..=1.0).contains(&scores.coverage_95), "{scores:?}");
    }
}

#[test]
fn a_cell_that_was_empty_in_training_is_nothing_new() {
    let model = model(&sums(300, 0, true), &small_members(ProblemKind::Regression, &[]));
    let prediction = predict(&model, &encoded(&model, &without(&sums(50, 1, false), "b")));
    assert!(prediction.familiarity.iter().any(|&p| p > 0.1), "{:?}", prediction.familiarity);
}

#[test]
fn a_row_with_nothing_in_it_is_of_any_class() {
    let rows = classes(300, &["low", "high"], 0);
    let empty = without(&without(&rows, "a"), "b");
    let counts = |model: &Model| {
        let counts = model.header().schema.class_counts();
        counts[0] as f64 / (counts[0] + counts[1]) as f64
    };
    for more in [&[][..], &["neighbours.count=0"]] {
        let model = model(&rows, &small_members(ProblemKind::Classification, more));
        let prediction = predict_classes(&model, &encoded(&model, &empty));
        // Thirty-two rows stand in for it: a share of a half is uncertain by a tenth.
        assert!((prediction.p[0] - counts(&model)).abs() < 0.25, "{} {}", prediction.p[0], counts(&model));
        let known = predict_classes(&model, &encoded(&model, &rows));
        assert!(known.p.chunks(2).any(|p| p[0] > 0.9), "it does say something of whole rows");
    }
}

#[test]
fn absent_cells_of_one_row_change_no_other_row() {
    let model = model(&sums(200, 0, false), &small_members(ProblemKind::Regression, &[]));
    let new = sums(60, 1, false);
    let mut b = match &new.columns()[1] {
        Column::Number(b) => b.clone(),
        _ => panic!("numbers"),
    };
    b[7] = f64::NAN;
    let columns =
        [("a", new.columns()[0].clone()), ("b", Column::Number(b)), ("y", new.columns()[2].clone())];
    let columns = columns.map(|(name, column)| (name.to_owned(), column));
    let holed = data::Table::new("memory", columns.into()).expect("equal lengths");
    let (whole, holed) = (predict(&model, &encoded(&model, &new)), predict(&model, &encoded(&model, &holed)));
    for row in 0..60 {
        assert_eq!(whole.mean[row] == holed.mean[row], row != 7, "{row}");
    }
}

#[test]
fn added_rows_teach_and_the_file_keeps_them() {
    // A curve that is learned on the left; the new rows are on the right.
    let part = |rows: usize, from: f64, seed: u64| {
        let x: Vec<f64> = (0..rows as u64).map(|i| from + 3.0 * noise(seed * 10_000 + i)).collect();
        let y = x
            .iter()
            .enumerate()
            .map(|(i, x)| (1.3 * x).sin() + 0.02 * normal(seed * 77 + i as u64))
            .collect();
        table([("x", x), ("y", y)])
    };
    let mut model = model(&part(200, -3.0, 1), &small_members(ProblemKind::Regression, &[]));
    let (more, test) = (part(150, 0.0, 2), part(100, 0.0, 3));
    let rmse = |model: &Model| {
        let prediction = predict(model, &encoded(model, &test));
        let Score::Number(scores) = &model.score(&prediction, &y_of(&test)).expect("as many")["y"] else {
            panic!("numbers")
        };
        scores.rmse
    };
    let before = rmse(&model);
    let update = model.update(&Dataset::from_table(more.clone())).expect("rows of its schema");
    assert_eq!((update.added, update.kept, model.header().rows[0]), (150, 350, 350));
    let after = rmse(&model);
    assert!(after < 0.5 * before, "{before} {after}");
    let number = |scores: &inducing::model::Scores| match &scores["y"] {
        Score::Number(scores) => scores.rmse,
        Score::Classes(_) => panic!("numbers"),
    };
    let told = number(&update.after.expect("enough rows"));
    assert!(told < 0.5 * number(&update.before) && (told / after - 1.0).abs() < 1.0, "{told} {after}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.ign");
    model.save(&path).expect("writable");
    let mut read = Model::load(&path).expect("whole");
    assert_eq!(bytes(&read), bytes(&model));
    let again = read.update(&Dataset::from_table(more)).expect("once more");
    assert_eq!((again.added, again.kept), (0, 350), "rows that are there already do not count twice");
    assert_eq!(bytes(&read), bytes(&model));
}

#[test]
fn added_classes_join_the_neighbours() {
    let mut model =
        model(&classes(200, &["low", "high"], 0), &small_members(ProblemKind::Classification, &[]));
    let update = model.update(&Dataset::from_table(classes(100, &["low", "high"], 1))).expect("its schema");
    assert_eq!((update.added, update.kept), (100, 300));
    let prediction = predict_classes(&model, &encoded(&model, &classes(50, &["low", "high"], 2)));
    assert!(prediction.p.iter().all(|p| (0.0..=1.0).contains(p)));
}

#[test]
fn an_update_is_refused_where_it_cannot_be() {
    let rows = sums(120, 0, false);
    let quick = ["train.pretrain_min_steps=20"];
    let mut plain = model(
        &rows,
        &small_members(ProblemKind::Regression, &[&quick[..], &["neighbours.count=0"]].concat()),
    );
    let error = plain.update(&Dataset::from_table(rows.clone())).expect_err("it keeps no rows");
    assert!(error.to_string().contains("keeps training rows"), "{error}");
    let mut model = model(&rows, &small_members(ProblemKind::Regression, &quick));
    let before = bytes(&model);
    let other = table([("a", vec![1.0, 2.0]), ("y", vec![1.0, 2.0])]);
    let error = model.update(&Dataset::from_table(other)).expect_err("a column is missing");
    assert!(error.to_string().contains("`b`"), "{error}");
    assert_eq!(bytes(&model), before);
}

/// Settings with which a few hundred images are learned in a second.
const IMAGES: [&str; 6] = [
    "train.pretrain_epochs=12",
    "train.epochs=1",
    "gp.inducing=16",
    "encoder.hidden=[32]",
    "encoder.features=8",
    "encoder.augment=false",
];

#[test]
fn images_of_noise_are_unfamiliar_and_of_any_class() {
    let set = stripes(600, 1, 0);
    let data = Dataset::from_images(set.clone());
    let model =
        IMAGES.iter().fold(Trainer::new(&data), |trainer, key| trainer.set(*key)).fit().expect("a model");
    assert!(model.keeps_rows() && model.header().feature_stack.is_some());
    let mut other = stripes(100, 1, 5);
    // Uniform over all bytes, where the training images have their stripes.
    other.pixels.iter_mut().enumerate().for_each(|(i, x)| *x = (255.99 * noise(9_000_000 + i as u64)) as u8);
    let inputs =
        |set| model.encode_data(&Dataset::from_images(set), TargetUse::Ignored).expect("images").inputs;
    let (inside, outside) = (inputs(stripes(100, 1, 6)), inputs(other));
    let rows: Vec<usize> = (0..100).collect();
    let [inside, outside] = [inside, outside].map(|x| model.predict_classes(&x, &rows).expect("classes"));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert!(
        mean(&inside.familiarity) > 0.3 && mean(&outside.familiarity) < 0.1,
        "{} {}",
        mean(&inside.familiarity),
        mean(&outside.familiarity)
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.ign");
    model.save(&path).expect("writable");
    let read = Model::load(&path).expect("whole");
    let again = read.predict_classes(&inputs(stripes(100, 1, 6)), &rows).expect("classes");
    assert_eq!(again, inside);
}
