//! The search for settings: what it may change, what chooses, and when it ends.

use crate::fixture::{TINY, classes, linear};
use inducing::config::Settings;
use inducing::tune::{End, Scoring, Trial, TuneEvent, Tuned, Tuner};
use inducing::{Dataset, Error, Model, Trainer};
use std::time::Duration;

/// Tiny settings as a file: a single key that is set would not be searched.
fn tiny() -> Settings {
    let lines = TINY.map(|line| line.replacen('.', "]\n", 1).replace('=', " = "));
    let mut tree = toml::Table::new();
    for line in lines {
        for (section, keys) in format!("[{line}").parse::<toml::Table>().expect("a section with a key") {
            let all = tree.entry(section).or_insert_with(|| toml::Table::new().into());
            all.as_table_mut().expect("a section").extend(keys.as_table().expect("keys").clone());
        }
    }
    Settings::default().toml("tiny", tree.to_string())
}

fn data() -> Dataset {
    Dataset::from_table(linear(120, 0)).target("y").expect("a column of this name")
}

fn tuned(tuner: Tuner<'_>) -> Tuned {
    tuner.threads(1).run(&mut |_| true).expect("the search succeeds")
}

/// What does not depend on the clock.
fn timeless(trials: &[Trial]) -> Vec<Trial> {
    trials.iter().map(|trial| Trial { seconds: 0.0, ..trial.clone() }).collect()
}

#[test]
fn the_first_trial_is_the_settings_given_and_the_best_is_never_worse() {
    let data = data();
    for (scoring, sign) in [(Scoring::Nll, 1.0), (Scoring::Rmse, 1.0), (Scoring::Crps, 1.0)] {
        let tuned = tuned(Tuner::new(&data).settings(tiny()).scoring(scoring).trials(5));
        assert_eq!((tuned.trials.len(), tuned.end), (5, End::Trials));
        assert!(tuned.trials[0].settings.is_empty());
        assert!(tuned.trials[1..].iter().all(|trial| !trial.settings.is_empty()));
        let model = Trainer::new(&data).settings(tiny()).fit().expect("trains");
        assert_eq!(tuned.trials[0].score, scoring.of(&model), "the score is that of a plain training");
        let best = tuned.best().score.expect("a score");
        for trial in &tuned.trials {
            assert!(trial.score.is_none_or(|score| sign * best <= sign * score), "{trial:?}");
        }
        assert_eq!(scoring.of(&tuned.model), Some(best), "the model is that of the best trial");
    }
}

#[test]
fn the_same_seed_gives_the_same_trials_and_another_seed_others() {
    let data = data();
    let run =
        |seed: u64| tuned(Tuner::new(&data).settings(tiny().set(format!("seed={seed}"))).trials(9)).trials;
    let first = run(0);
    assert_eq!(timeless(&first), timeless(&run(0)));
    let settings = |trials: &[Trial]| trials.iter().map(|trial| trial.settings.clone()).collect::<Vec<_>>();
    assert_ne!(settings(&first), settings(&run(1)));
    let mut distinct = settings(&first);
    distinct.dedup();
    assert_eq!(distinct.len(), 9, "no settings are tried twice");
}

#[test]
fn keys_that_the_user_sets_stay_and_those_of_a_file_are_searched() {
    let data = data();
    let fixed = ["train.weight_decay=0.2", "encoder.hidden=[16]", "train.warm_epochs=2"];
    let settings = fixed.iter().fold(tiny(), |all, key| all.set(*key));
    let trials = tuned(Tuner::new(&data).settings(settings).trials(12)).trials;
    let moved = |key: &str| trials.iter().any(|trial| trial.settings.contains_key(key));
    assert!(!moved("train.weight_decay") && !moved("encoder.hidden") && !moved("train.pretrain_epochs"));
    assert!(moved("gp.inducing") && moved("encoder.features"));
    assert!(
        !trials.iter().flat_map(|trial| trial.settings.keys()).any(|key| key == "train.validation_share")
    );
}

#[test]
fn the_test_part_does_not_choose() {
    let data = data();
    let model = Trainer::new(&data).settings(tiny()).set("data.test_share=0.3").fit().expect("trains");
    let nll = |part: &str| match &model.header().metrics[part]["y"] {
        inducing::model::Score::Number(metrics) => Some(metrics.nll),
        inducing::model::Score::Classes(_) => None,
    };
    assert_ne!(nll("test"), nll("validation"));
    assert_eq!(Scoring::Nll.of(&model), nll("validation"));
}

#[test]
fn members_of_an_ensemble_are_judged_out_of_fold() {
    let data = data();
    let settings = tiny().set("train.crossfit_folds=3").set("neighbours.count=4");
    let model = Trainer::new(&data).settings(settings).fit().expect("trains");
    let inducing::model::Score::Number(scores) = &model.header().metrics["out_of_fold"]["y"] else {
        panic!("numbers")
    };
    assert_eq!(Scoring::Crps.of(&model), Some(scores.crps));
}

#[test]
fn without_time_there_is_the_first_trial_alone() {
    let tuned = tuned(Tuner::new(&data()).settings(tiny()).budget(Duration::ZERO));
    assert_eq!((tuned.trials.len(), tuned.end), (1, End::Budget));
}

#[test]
fn a_resumed_search_goes_on_as_if_it_had_not_stopped() {
    let data = data();
    let tuner = || Tuner::new(&data).settings(tiny());
    let whole = tuned(tuner().trials(10));
    let part = tuned(tuner().trials(4));
    let resumed = tuned(tuner().trials(10).resume(part.trials.clone(), Some(part.model)));
    assert_eq!(timeless(&whole.trials), timeless(&resumed.trials));
    assert_eq!(whole.best().number, resumed.best().number);
    // A model that is lost or another one is trained again.
    let other = || Trainer::new(&data).settings(tiny()).set("train.epochs=1").fit().expect("trains");
    for model in [None, Some(other())] {
        let best =
            part.trials.iter().min_by(|a, b| a.score.partial_cmp(&b.score).expect("numbers")).expect("one");
        let again = tuned(tuner().trials(4).resume(part.trials.clone(), model));
        assert_eq!(timeless(&again.trials), timeless(&part.trials));
        assert_eq!(Scoring::Nll.of(&again.model), best.score);
    }
}

#[test]
fn a_stop_keeps_what_is_done_and_before_the_first_trial_there_is_nothing_to_keep() {
    let data = data();
    let stop_after = |trials: usize| {
        let mut done = 0;
        Tuner::new(&data).settings(tiny()).threads(1).run(&mut |event| {
            done += usize::from(matches!(event, TuneEvent::Finished { .. }));
            done < trials
        })
    };
    let tuned = stop_after(3).expect("there are trials");
    assert_eq!((tuned.trials.len(), tuned.end), (3, End::Stopped));
    assert!(matches!(stop_after(0), Err(Error::Stopped { .. })));
}

#[test]
fn the_listener_gets_the_model_of_each_trial_that_is_the_best_so_far() {
    let mut scores = Vec::new();
    let data = data();
    let tuned = Tuner::new(&data)
        .settings(tiny())
        .trials(6)
        .threads(1)
        .run(&mut |event| {
            if let TuneEvent::Finished { trial, best: Some(model) } = event {
                assert_eq!(Scoring::Nll.of(model), trial.score);
                scores.extend(trial.score);
            }
            true
        })
        .expect("the search succeeds");
    assert!(scores.windows(2).all(|pair| pair[1] < pair[0]), "{scores:?}");
    assert_eq!(scores.last().copied(), tuned.best().score);
}

#[test]
fn the_settings_of_the_best_are_a_file_that_gives_its_model() {
    let data = data();
    let tuned = tuned(Tuner::new(&data).settings(tiny().set("seed=3")).trials(6));
    let text = tuned.settings.to_toml().expect("valid");
    let again = Trainer::new(&data).settings(Settings::default().toml("tuned", text)).fit().expect("trains");
    let bytes = |model: &Model| model.header().config.clone();
    assert_eq!(bytes(&again), bytes(&tuned.model));
    assert_eq!(Scoring::Nll.of(&again), tuned.best().score);
}

#[test]
fn classes_are_chosen_by_accuracy_and_a_score_of_another_task_is_refused() {
    let of_classes = Dataset::from_table(classes(120, &["a", "b"], 0)).target("y").expect("a column");
    let tuned = tuned(Tuner::new(&of_classes).settings(tiny()).scoring(Scoring::Accuracy).trials(4));
    let best = tuned.best().score.expect("a score");
    assert!(tuned.trials.iter().all(|trial| trial.score.is_none_or(|score| score <= best)), "more is better");
    let refused = |data: &Dataset, scoring: Scoring, settings: Settings| {
        Tuner::new(data)
            .settings(settings)
            .scoring(scoring)
            .run(&mut |_| true)
            .expect_err("refused")
            .to_string()
    };
    assert!(refused(&of_classes, Scoring::Crps, tiny()).contains("`crps` is no score of classes"));
    assert!(refused(&data(), Scoring::Accuracy, tiny()).contains("`accuracy` is no score of numbers"));
    let all =
        tiny().set("train.validation_share=0").set("train.stop_on=never").set("train.recalibrate=false");
    assert!(refused(&data(), Scoring::Nll, all).contains("no rows to choose by"));
}
