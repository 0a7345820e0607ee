//! Cross-fitted members, neighbours, one density: what must hold near the data and away from it.

use crate::fixture::{
    bytes, classes, encoded, model, noise, normal, on_threads, predict, predict_classes, reordered, resolve,
    small_members, table,
};
use inducing::config::ProblemKind;
use inducing::model::{Component, Density, RegressionBatch, Score};
use inducing::{Dataset, Error, Model, Trainer};

/// A wave with a gap from 0 to 2, noisier on the right.
fn wave(rows: usize) -> data::Table {
    let x: Vec<f64> = (0..rows)
        .map(|i| {
            let u = 6.0 * noise(i as u64) - 4.0; // [-4, 2)
            if u < 0.0 { u } else { u + 2.0 }
        })
        .collect();
    let y = x.iter().enumerate().map(|(i, x)| {
        let spread = if *x < 0.0 { 0.03 } else { 0.25 };
        (1.5 * x).sin() + spread * normal(9_000 + i as u64)
    });
    table([("x", x.clone()), ("y", y.collect())])
}

fn at(points: &[f64]) -> data::Table {
    table([("x", points.to_vec()), ("y", vec![0.0; points.len()])])
}

fn of(model: &Model, points: &[f64]) -> RegressionBatch {
    predict(model, &encoded(model, &at(points)))
}

#[test]
fn a_wave_is_unsure_in_its_gap_and_beyond_and_noisier_where_it_is() {
    let model = model(&wave(300), &small_members(ProblemKind::Regression, &[]));
    let prediction = of(&model, &[-3.0, -1.0, 1.0, 3.0, 40.0]);
    let [left, inside, gap, right, far] = prediction.std[..] else { panic!("five rows") };
    assert!(gap > 3.0 * inside && gap > 3.0 * left, "{:?}", prediction.std);
    assert!(right > 2.0 * inside, "{:?}", prediction.std);
    let own = wave(300);
    let data::Column::Number(y) = &own.columns()[1] else { panic!("numbers") };
    let mean = y.iter().sum::<f64>() / 300.0;
    let deviation = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 300.0).sqrt();
    assert!(far >= 0.99 * deviation, "{far} {deviation}");
    assert!(
        prediction.familiarity[4] == 0.0 && prediction.familiarity[1] > 0.02,
        "{:?}",
        prediction.familiarity
    );
    assert!(prediction.std_latent.iter().zip(&prediction.std).all(|(latent, std)| latent <= &(std * 1.2)));
}

#[test]
fn networks_of_blocked_folds_widen_a_gap_and_are_not_part_of_the_model() {
    let train = |blocks: &str| model(&wave(300), &small_members(ProblemKind::Regression, &[blocks]));
    let (without, with) = (train("train.blocked_folds=0"), train("train.blocked_folds=1"));
    assert_eq!(with.heads().count(), without.heads().count());
    let stack = |model: &Model| model.header().ensemble.as_ref().expect("an ensemble").stacks[0].clone();
    assert_eq!(stack(&without).gap_weights, [0.0; 2]);
    assert!(stack(&with).gap_weights != [0.0; 2], "the middle of a wave is not what its sides suggest");
    let points: Vec<f64> = (-50..50).map(|i| f64::from(i) / 10.0).collect();
    let (narrow, wide) = (of(&without, &points), of(&with, &points));
    assert_eq!(narrow.mean, wide.mean);
    let pairs = || narrow.std_latent.iter().zip(&wide.std_latent);
    assert!(pairs().all(|(narrow, wide)| wide >= narrow) && pairs().any(|(narrow, wide)| wide > narrow));
}

#[test]
fn scores_out_of_fold_are_those_of_rows_never_seen() {
    let model = model(&wave(400), &small_members(ProblemKind::Regression, &[]));
    let Score::Number(scores) = &model.header().metrics["out_of_fold"]["y"] else { panic!("numbers") };
    assert!((0.88..=0.99).contains(&scores.coverage_95), "{scores:?}");
    // New rows of the same wave.
    let all = wave(1400);
    let rows: Vec<usize> = (400..1400).collect();
    let data::Column::Number(y) = &all.columns()[1] else { panic!("numbers") };
    let y: Vec<f64> = rows.iter().map(|&row| y[row]).collect();
    let prediction = model.predict_numbers(&encoded(&model, &all), &rows).expect("numbers");
    let Score::Number(new) = &model.score(&prediction, &y).expect("as many")["y"] else { panic!("numbers") };
    assert!((new.rmse / scores.rmse - 1.0).abs() < 0.25, "{new:?} {scores:?}");
    assert!((new.coverage_95 - 0.95).abs() < 0.05, "{new:?}");
}

#[test]
fn a_row_is_predicted_to_the_bit_alone_in_company_from_a_file_and_on_two_threads() {
    let (table, config) = (wave(200), small_members(ProblemKind::Regression, &[]));
    let one = on_threads(1, || model(&table, &config));
    let two = on_threads(2, || model(&table, &config));
    assert_eq!(bytes(&one), bytes(&two));
    let x = encoded(&one, &table);
    let all = predict(&one, &x);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.ign");
    one.save(&path).expect("writable");
    assert_eq!(predict(&Model::load(&path).expect("whole"), &x), all);
    for row in [0, 77, 199] {
        let alone = predict(&one, &reordered(&x, &[row]));
        assert_eq!((alone.mean[0], alone.std[0]), (all.mean[row], all.std[row]));
        assert_eq!(alone.density[0], all.density[row]);
    }
}

#[test]
fn classes_far_from_all_rows_have_their_frequencies() {
    let rows = classes(300, &["low", "high"], 0);
    let model = model(&rows, &small_members(ProblemKind::Classification, &[]));
    let near = predict_classes(&model, &encoded(&model, &rows));
    assert!(near.p.chunks(2).all(|p| (p[0] + p[1] - 1.0).abs() < 1e-12));
    let Score::Classes(scores) = &model.header().metrics["out_of_fold"]["y"] else { panic!("classes") };
    assert!(scores.accuracy > 0.75 && scores.nll < 0.6, "{scores:?}");
    let inputs = inducing::dataset::Inputs::Table(inducing::dataset::Matrix {
        x: vec![1e4, -1e4],
        width: 2,
        ..Default::default()
    });
    let far = predict_classes(&model, &inputs);
    let counts = model.header().schema.class_counts();
    let share = counts[0] as f64 / (counts[0] + counts[1]) as f64;
    assert!((far.p[0] - share).abs() < 1e-9 && far.familiarity == [0.0], "{:?}", far.p);
}

#[test]
fn awkward_tables_are_learned_or_refused_but_never_panic() {
    let same = |n: usize| {
        table([
            ("x", vec![1.0; n]),
            ("z", (0..n).map(|i| i as f64).collect()),
            ("y", (0..n).map(|i| (i % 5) as f64 + 0.01 * normal(i as u64)).collect()),
        ])
    };
    let copies = |n: usize| {
        table([
            ("x", (0..n).map(|i| (i % 3) as f64).collect()),
            ("y", (0..n).map(|i| (i % 3) as f64 + 0.01 * normal(i as u64)).collect()),
        ])
    };
    for table in [same(40), copies(60), wave(5), wave(9), wave(17)] {
        let config = small_members(ProblemKind::Regression, &["train.pretrain_min_steps=20"]);
        let model = model(&table, &config);
        let prediction = predict(&model, &encoded(&model, &table));
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        assert!(
            finite(&prediction.mean)
                && finite(&prediction.std)
                && prediction.std.iter().all(|&std| std > 0.0)
        );
    }
    let rare = classes(24, &["a", "b", "c"], 1);
    let model = crate::fixture::model(
        &rare,
        &small_members(ProblemKind::Classification, &["train.pretrain_min_steps=20"]),
    );
    assert!(predict_classes(&model, &encoded(&model, &rare)).p.iter().all(|p| (0.0..=1.0).contains(p)));
}

#[test]
fn more_neighbours_than_a_model_may_have_are_refused_before_training() {
    for key in ["neighbours.count", "neighbours.feature_count"] {
        let error = resolve(ProblemKind::Regression, "ensemble", &[&format!("{key}=1025")]);
        assert!(error.expect_err("too many").to_string().contains(key));
    }
}

#[test]
fn without_neighbours_no_row_is_kept() {
    let model = model(
        &wave(100),
        &small_members(ProblemKind::Regression, &["neighbours.count=0", "train.pretrain_min_steps=20"]),
    );
    assert!(!model.keeps_rows() && model.header().ensemble.is_some());
    let prediction = of(&model, &[0.5]);
    assert!(prediction.familiarity.is_empty() && prediction.std[0] > 0.0);
}

#[test]
fn an_interrupted_ensemble_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    let rows: Vec<String> = (0..60).map(|i| format!("{},{}", i, (f64::from(i) / 9.0).sin())).collect();
    std::fs::write(&path, format!("x,y\n{}\n", rows.join("\n"))).expect("writable");
    let data = Dataset::read(&path).and_then(|data| data.target("y")).expect("a table");
    let trainer = || {
        let config = small_members(ProblemKind::Regression, &["train.pretrain_min_steps=20"]);
        Trainer::new(&data).config(config)
    };
    let whole = trainer().fit().expect("a model");
    let mut left = 40;
    let stopped = trainer().on_event(move |_| {
        left -= 1;
        left > 0
    });
    let Err(Error::Stopped { checkpoint }) = stopped.fit() else { panic!("it was stopped") };
    let resumed = trainer().resume(*checkpoint).fit().expect("a model");
    assert_eq!(bytes(&whole), bytes(&resumed));
}

#[test]
fn a_density_is_one_thing_in_all_its_forms() {
    let component = |weight, mean, std| Component { weight, mean, std };
    let density = Density::mixture(vec![
        component(2.0, -1.0, 0.3),
        component(1.0, 2.0, 0.05),
        component(1.0, 0.0, 2.0),
    ]);
    let (step, mut cdf, mut crps, y) = (1e-3, 0.0, 0.0, 0.7);
    let mut last = f64::NEG_INFINITY;
    for i in -15_000..15_000 {
        let x = f64::from(i) * step;
        cdf += step * density.pdf(x + 0.5 * step);
        let p = density.cdf(x + step);
        assert!((cdf - p).abs() < 1e-5, "{x}");
        let below =
            if x + 0.5 * step < y { density.cdf(x + 0.5 * step) } else { 1.0 - density.cdf(x + 0.5 * step) };
        crps += step * below * below;
    }
    assert!((density.crps(y) - crps).abs() < 1e-5, "{} {crps}", density.crps(y));
    for i in 1..1000 {
        let p = f64::from(i) / 1000.0;
        let q = density.quantile(p);
        assert!(q >= last && (density.cdf(q) - p).abs() < 1e-9);
        last = q;
    }
    let moment = 0.5 * (1.0 + 0.09) + 0.25 * (4.0 + 0.0025) + 0.25 * 4.0;
    assert!((density.second_moment_about(0.0) - moment).abs() < 1e-12);
}

#[test]
fn labels_on_a_grid_have_their_probability_on_it() {
    // Mostly zeros, the rest ones and twos, by where x lies.
    let x: Vec<f64> = (0..400).map(|i| 4.0 * noise(i)).collect();
    let y = x
        .iter()
        .enumerate()
        .map(|(i, x)| if noise(7_000 + i as u64) < 0.8 { 0.0 } else { x.floor().min(2.0) });
    let rows = table([("x", x.clone()), ("y", y.collect())]);
    let model = model(&rows, &small_members(ProblemKind::Regression, &["data.task=\"regression\""]));
    let prediction = predict(&model, &encoded(&model, &rows));
    let near_zero = |density: &Density| density.cdf(0.25) - density.cdf(-0.25);
    let share = prediction.density.iter().map(near_zero).sum::<f64>() / 400.0;
    // Four fifths, and the quarter of the rest that lies below one.
    assert!((share - 0.85).abs() < 0.06, "{share}");
}
