//! Which rows of a pool are worth a label: what must hold of a single row, of a batch, and of every kind of model.

use crate::fixture::{
    all, classes, encoded, model, noise, normal, on_threads, small_members, stripes, table, tiny,
    tiny_classes, tiny_images,
};
use data::Table;
use inducing::config::ProblemKind;
use inducing::model::{Prediction, TargetUse};
use inducing::suggest::SuggestError;
use inducing::{Config, Dataset, Error, Goal, Model, SuggestOptions, Suggestion, Trainer};
use std::sync::LazyLock;

/// Small members that keep rows.
fn small(kind: ProblemKind) -> Config {
    small_members(kind, &["train.crossfit_repeats=1"])
}

/// A model of sin(1.5x) that has seen −4 to 0 and 2 to 4.
static WAVE: LazyLock<Model> = LazyLock::new(|| {
    let x: Vec<f64> = (0..200)
        .map(|i| {
            let u = 6.0 * noise(i) - 4.0;
            if u < 0.0 { u } else { u + 2.0 }
        })
        .collect();
    let y = x.iter().zip(0..).map(|(x, i)| (1.5 * x).sin() + 0.03 * normal(9_000 + i)).collect();
    model(&table([("x", x), ("y", y)]), &small(ProblemKind::Regression))
});

fn pool(x: &[f64]) -> Dataset {
    Dataset::from_table(table([("x", x.to_vec())]))
}

/// `count` values from `low` on.
fn steps(low: f64, step: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| low + step * i as f64).collect()
}

fn suggested(model: &Model, data: &Dataset, count: usize, goal: Goal) -> Vec<Suggestion> {
    model.suggest(data, &SuggestOptions { count, goal, target: None }).expect("rows to choose from")
}

/// The values of x that are suggested.
fn chosen(x: &[f64], count: usize, goal: Goal) -> Vec<f64> {
    suggested(&WAVE, &pool(x), count, goal).iter().map(|suggestion| x[suggestion.row]).collect()
}

fn refused(model: &Model, data: &Dataset, options: &SuggestOptions) -> SuggestError {
    match model.suggest(data, options) {
        Err(Error::Suggest(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_of_a_wave_are_suggested_in_its_gap_and_beyond_its_ends_and_lie_apart() {
    let x = steps(-6.0, 0.05, 241); // −6 to 6
    let found = chosen(&x, 12, Goal::Learn);
    let unknown = found.iter().filter(|x| x.abs() > 3.9 || (0.0..2.0).contains(*x)).count();
    assert!(unknown >= 10, "{found:?}");
    assert!(found.iter().any(|x| (0.3..1.7).contains(x)), "nothing in the gap: {found:?}");
    assert!(found.iter().any(|x| *x > 4.5) && found.iter().any(|x| *x < -4.5), "{found:?}");
    for (i, a) in found.iter().enumerate() {
        // Twelve rows in six units of unknown ground: neighbours in the pool, 0.05 apart, would be wasted.
        assert!(found[..i].iter().all(|b| (a - b).abs() > 0.12), "{found:?}");
    }
}

#[test]
fn scores_fall_from_row_to_row_and_the_first_is_the_variance_of_its_prediction() {
    let found = suggested(&WAVE, &pool(&steps(-6.0, 0.1, 121)), 30, Goal::Learn);
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let Prediction::Regression(first) = &found[0].prediction else { panic!("a number") };
    let std = WAVE.header().schema.numbers()[0].std;
    let var = (first.targets()[0].std_latent / std).powi(2);
    assert!((found[0].score / var - 1.0).abs() < 1e-9, "{} {var}", found[0].score);
}

#[test]
fn of_two_copies_only_one_is_suggested_while_other_rows_are_informative() {
    let x: Vec<f64> = steps(-5.0, 0.25, 41).into_iter().flat_map(|x| [x, x]).collect();
    let mut found = chosen(&x, 12, Goal::Learn);
    found.sort_by(f64::total_cmp);
    found.dedup();
    assert_eq!(found.len(), 12, "{found:?}");
}

#[test]
fn the_largest_and_the_smallest_value_are_sought_where_they_are() {
    let x = steps(-4.0, 0.05, 80); // the known left side: maximum at −π, minimum at −π/3
    let largest = chosen(&x, 1, Goal::Maximise { best: None });
    assert!((largest[0] + std::f64::consts::PI).abs() < 0.5, "{largest:?}");
    let smallest = chosen(&x, 1, Goal::Minimise { best: None });
    assert!((smallest[0] + std::f64::consts::FRAC_PI_3).abs() < 0.5, "{smallest:?}");
    // Even where no improvement is above the smallest number, the order is right.
    let unreachable = suggested(&WAVE, &pool(&x), 1, Goal::Maximise { best: Some(1e6) });
    assert_eq!(unreachable[0].score, 0.0);
}

#[test]
fn a_chosen_row_counts_as_the_best_value_of_the_next_ones() {
    let x: Vec<f64> = steps(-3.4, 0.05, 12).into_iter().flat_map(|x| [x, x]).collect();
    let found = suggested(&WAVE, &pool(&x), 2, Goal::Maximise { best: Some(0.0) });
    // Every row near the maximum improves on zero by about one, on the first by its deviation alone.
    assert!(found[0].score > 0.8 && found[1].score < 0.3, "{} {}", found[0].score, found[1].score);
}

#[test]
fn all_rows_are_suggested_once_where_there_are_fewer_than_asked_for_and_copies_in_their_order() {
    let found = suggested(&WAVE, &pool(&[1.0, 1.0, 1.0]), 50, Goal::Learn);
    assert_eq!(found.iter().map(|suggestion| suggestion.row).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn the_same_rows_are_suggested_on_one_thread_and_on_two() {
    let data = pool(&steps(-6.0, 0.005, 2400)); // more than one block of every loop
    for goal in [Goal::Learn, Goal::Minimise { best: None }] {
        let [one, two] = [1, 2].map(|threads| on_threads(threads, || suggested(&WAVE, &data, 15, goal)));
        assert_eq!(one, two);
    }
}

#[test]
fn a_model_without_rows_suggests_by_its_features_and_asks_for_the_best_value() {
    let rows = crate::fixture::linear(200, 0);
    let model = model(&rows, &tiny(&[]));
    let data =
        Dataset::from_table(table([("a", vec![0.1, 0.2, 9.0, 0.0]), ("b", vec![0.1, 0.1, -9.0, 0.2])]));
    assert_eq!(suggested(&model, &data, 1, Goal::Learn)[0].row, 2);
    let options = |best| SuggestOptions { goal: Goal::Maximise { best }, ..SuggestOptions::default() };
    assert_eq!(refused(&model, &data, &options(None)), SuggestError::NoBest);
    assert!(matches!(refused(&model, &data, &options(Some(f64::NAN))), SuggestError::BestNotFinite { .. }));
    assert_eq!(model.suggest(&data, &options(Some(1.0))).expect("a best value")[0].row, 2); // 2a − b = 27
}

#[test]
fn of_several_targets_all_count_to_learn_and_one_to_maximise() {
    let column = |k: u64| (0..150).map(|i| normal(4 * i + k)).collect::<Vec<f64>>();
    let (a, b) = (column(0), column(1));
    let p = a.iter().zip(column(2)).map(|(a, e)| 3.0 * a + 0.1 * e).collect();
    let q = a.iter().zip(column(3)).map(|(a, e)| -50.0 * a + e).collect();
    let rows = table([("a", a), ("b", b), ("p", p), ("q", q)]);
    let data = Dataset::from_table(rows).with_targets(&["p".into(), "q".into()]).expect("two columns");
    let model = Trainer::new(&data).config(small(ProblemKind::Regression)).fit().expect("a model");
    let line = Dataset::from_table(table([("a", steps(-2.0, 0.1, 41)), ("b", vec![0.0; 41])]));
    let options =
        |goal, target: Option<&str>| SuggestOptions { count: 1, goal, target: target.map(Into::into) };
    let both = model.suggest(&line, &options(Goal::Learn, None)).expect("both count")[0].score;
    let each =
        ["p", "q"].map(|name| model.suggest(&line, &options(Goal::Learn, Some(name))).expect("one")[0].score);
    assert!(both <= each[0] + each[1] && both >= each[0].max(each[1]), "{both} {each:?}");
    let most = Goal::Maximise { best: None };
    // p rises with a and q falls.
    let [p, q] = ["p", "q"].map(|name| model.suggest(&line, &options(most, Some(name))).expect("one")[0].row);
    assert!(p > 30 && q < 10, "{p} {q}");
    assert!(matches!(refused(&model, &line, &options(most, None)), SuggestError::SeveralTargets { .. }));
    let unknown = refused(&model, &line, &options(Goal::Learn, Some("r")));
    assert!(unknown.to_string().contains("p, q"), "{unknown}");
}

/// Rows along a line through both classes: 2a − b from −6 to 6.
fn line() -> Table {
    table([("a", steps(-2.4, 0.08, 61)), ("b", steps(1.2, -0.04, 61))])
}

#[test]
fn classes_are_asked_for_where_the_model_wavers_and_not_where_it_is_sure() {
    let rows = classes(300, &["low", "high"], 0);
    let ensemble = model(&rows, &small(ProblemKind::Classification));
    let single = model(&rows, &tiny_classes(&["train.pretrain_min_steps=200"]));
    let softmax = model(&rows, &tiny_classes(&["train.pretrain_min_steps=200", "head=\"softmax\""]));
    for model in [&ensemble, &single, &softmax] {
        let data = Dataset::from_table(line());
        let found = suggested(model, &data, 61, Goal::Learn);
        assert!(found.iter().all(|s| s.score >= 0.0 && s.score <= 2f64.ln() + 1e-12));
        let p = |s: &Suggestion| match &s.prediction {
            Prediction::Classification(class) => class.probability(),
            other => panic!("{other:?}"),
        };
        let mean = |part: &[Suggestion]| part.iter().map(p).sum::<f64>() / part.len() as f64;
        assert!(mean(&found[..10]) < mean(&found[51..]), "{} {}", mean(&found[..10]), mean(&found[51..]));
        let options = SuggestOptions { goal: Goal::Minimise { best: None }, ..SuggestOptions::default() };
        assert_eq!(refused(model, &data, &options), SuggestError::Classes);
    }
    // A row unlike all others is worth what is not known of any row: the entropy of the frequencies.
    let far = Dataset::from_table(table([("a", vec![0.0, 900.0]), ("b", vec![0.0, 900.0])]));
    let first = &suggested(&ensemble, &far, 1, Goal::Learn)[0];
    let counts = ensemble.header().schema.class_counts();
    let share = |k: usize| counts[k] as f64 / (counts[0] + counts[1]) as f64;
    let usual = -share(0) * share(0).ln() - share(1) * share(1).ln();
    assert!(first.row == 1 && (first.score - usual).abs() < 1e-9, "{} {usual}", first.score);
}

#[test]
fn images_are_suggested_like_rows() {
    let set = Dataset::from_images(stripes(60, 1, 0));
    let model = Trainer::new(&set).config(tiny_images(&[])).fit().expect("a model");
    let found = suggested(&model, &Dataset::from_images(stripes(20, 1, 1)), 5, Goal::Learn);
    assert_eq!(found.len(), 5);
}

#[test]
fn a_pool_that_is_encoded_already_gives_the_same_rows_and_an_empty_one_is_refused() {
    let x = steps(-6.0, 0.5, 25);
    let inputs = encoded(&WAVE, &table([("x", x.clone())]));
    let options = SuggestOptions { count: 4, ..SuggestOptions::default() };
    let direct = WAVE.suggest_inputs(&inputs, &options).expect("rows");
    assert_eq!(direct, WAVE.suggest(&pool(&x), &options).expect("rows"));
    let data = WAVE.encode_data(&pool(&x), TargetUse::Ignored).expect("rows");
    assert_eq!(all(&data.inputs).len(), 25);
    assert!(matches!(refused(&WAVE, &pool(&[]), &options), SuggestError::EmptyPool { .. }));
}
